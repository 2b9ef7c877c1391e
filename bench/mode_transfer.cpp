// transfer: the rate of copies between host arrays of several kinds and the device, against one raw copy of as many
// bytes from pinned memory (cudaMemcpyAsync; memcpy on the host backend) in the same run; and what a call of the C API
// costs.
#include <cstring>
#include <vector>

#include "cuda_side.hpp"
#include "devobj/blas.hpp"
#include "devobj/devobj.h"
#include "devobj/matrix.hpp"
#include "matrices.hpp"
#include "modes.hpp"
#include "raw_blas.hpp"
#include "report.hpp"

namespace bench {

using namespace devobj;

namespace {

/// How the elements lie in the host's memory.
enum class Layout { pageable, pinned, every_2nd_row, column_block };

const char* name(Layout layout) {
  switch (layout) {
    case Layout::pageable:
      return "pageable";
    case Layout::pinned:
      return "pinned";
    case Layout::every_2nd_row:
      return "every_2nd_row";
    default:
      return "column_block";
  }
}

/// `bytes` of host memory, page-locked on a GPU if asked for.
std::shared_ptr<void> host_memory(std::int64_t bytes, bool page_locked) {
  if constexpr (cuda_built)
    if (page_locked) return cuda::pinned(static_cast<std::size_t>(bytes));
  return {::operator new(static_cast<std::size_t>(bytes)), [](void* p) { ::operator delete(p); }};
}

/// A rows x cols section of a larger array: the element (i, j) is at i * row_stride + j * col_stride.
template <class T>
struct Section {
  Section(Layout layout, std::int64_t rows_, std::int64_t cols_)
      : rows(rows_), cols(cols_), row_stride(layout == Layout::every_2nd_row ? 2 : 1) {
    col_stride = layout == Layout::every_2nd_row  ? 2 * rows
                 : layout == Layout::column_block ? rows + rows / 2 + 1
                                                  : rows;
    memory = host_memory(size() * static_cast<std::int64_t>(sizeof(T)), layout == Layout::pinned);
  }
  std::int64_t size() const { return col_stride * cols; }
  T* data() const { return static_cast<T*>(memory.get()); }
  HostArray<T> array() const { return {data(), rows, cols, row_stride, col_stride}; }
  HostArray<const T> constant() const { return {data(), rows, cols, row_stride, col_stride}; }

  std::int64_t rows, cols, row_stride, col_stride;
  std::shared_ptr<void> memory;
};

/// The elements of `back` that are not as they should be: `sent`'s inside the section, `gap` outside.
template <class T>
std::int64_t wrong_elements(const Section<T>& sent, const Section<T>& back, T gap) {
  std::int64_t wrong = 0;
  for (std::int64_t j = 0; j < back.cols; ++j)
    for (std::int64_t i = 0; i < back.col_stride; ++i) {
      const bool inside = i % back.row_stride == 0 && i / back.row_stride < back.rows;
      const std::int64_t at = i + j * back.col_stride;
      wrong += back.data()[at] != (inside ? sent.data()[at] : gap);
    }
  return wrong;
}

/// Milliseconds of one raw copy of `bytes` each way: to the device, to the host.
struct RawRate {
  double to_device = 0, to_host = 0;
};

RawRate raw_rate(std::int64_t bytes, void* device, const Options& o, Queue& q) {
  const auto size = static_cast<std::size_t>(bytes);
  const auto host = host_memory(bytes, q.on_cuda());
  std::memset(host.get(), 1, size);
  const auto copy = [&](void* to, const void* from) {
    if constexpr (cuda_built)
      if (q.on_cuda()) return cuda::memcpy_async(to, from, size, q.stream());
    std::memcpy(to, from, size);
  };
  const auto wait = [&] {
    if constexpr (cuda_built)
      if (q.on_cuda()) cuda::stream_wait(q.stream());
  };
  RawRate rate;
  rate.to_device = median_ms(
      o.repeat, [] {}, [&] { copy(device, host.get()); }, wait);
  rate.to_host = median_ms(
      o.repeat, [] {}, [&] { copy(host.get(), device); }, wait);
  return rate;
}

void add_rate(Row row, const char* routine, double ms, double raw_ms, std::int64_t bytes, Report& report) {
  row.routine = routine;
  row.ms = ms;
  row.peer_ms = raw_ms;
  char rate[48];
  std::snprintf(rate, sizeof rate, "%.4g GB/s %.0f%%", static_cast<double>(bytes) / (ms * 1e6), 100 * raw_ms / ms);
  report.add(row, rate);
}

/// All layouts of one size, both ways; what came back is compared element by element.
template <class T>
void measure(char type, std::int64_t bytes, const Options& o, Queue& q, Report& report) {
  const std::int64_t elements = std::max<std::int64_t>(1, bytes / static_cast<std::int64_t>(sizeof(T)));
  std::int64_t rows = 1;
  while (4 * rows * rows <= elements) rows *= 2;
  const std::int64_t cols = elements / rows, actual = rows * cols * static_cast<std::int64_t>(sizeof(T));
  Matrix<T> A(rows, cols, q);
  const RawRate raw = raw_rate(actual, A.data, o, q);
  std::vector<Layout> layouts = {Layout::pageable, Layout::every_2nd_row, Layout::column_block};
  if (q.on_cuda()) layouts.push_back(Layout::pinned);

  for (const Layout layout : layouts) {
    Row row = report.row();
    row.type = type;
    row.m = rows;
    row.n = cols;
    row.method = name(layout);
    row.peer = q.on_cuda() ? "cudaMemcpyAsync, pinned" : "memcpy";
    report.progress(std::string(name(layout)) + " " + std::to_string(actual) + " bytes");
    const Section<T> sent(layout, rows, cols), back(layout, rows, cols);
    fill_uniform(sent.data(), sent.size(), o.seed);
    const T gap = T(2);  // outside the range of the elements
    std::fill_n(back.data(), back.size(), gap);

    const auto wait = [&] { q.wait(); };
    const double there = median_ms(
        o.repeat, [] {}, [&] { to_device<T>(sent.constant(), A, q); }, wait);
    const double home = median_ms(
        o.repeat, [] {}, [&] { to_host<T>(A, back.array(), q); }, wait);
    add_rate(row, "to_device", there, raw.to_device, actual, report);
    add_rate(row, "to_host", home, raw.to_host, actual, report);
    if (const std::int64_t wrong = wrong_elements(sent, back, gap); wrong != 0)
      report.failure(std::string(name(layout)) + ", " + std::to_string(actual) + " bytes: " + std::to_string(wrong) +
                     " elements came back wrong");
  }
}

/// Throws the text of the last error if a call of the C API failed.
void check(devobj_status status) {
  if (status != DEVOBJ_SUCCESS) fail(static_cast<Status>(status), devobj_last_error());
}

/// The calling thread's open library, for a scope.
struct Open {
  explicit Open(Backend backend) { check(devobj_open(static_cast<devobj_backend>(backend), -1)); }
  ~Open() { devobj_close(); }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
};

/// Microseconds per call of devobj_scal and devobj_copy on 1 x 1 objects, many calls to a wait, and of the bare calls.
void measure_overhead(const Options& o, Queue& q, Report& report) {
  constexpr int calls = 1000;
  const auto repeated = [](auto call) {
    return [call] {
      for (int i = 0; i < calls; ++i) call();
    };
  };
  const Open open(q.backend());
  devobj_handle x = 0, y = 0;
  check(devobj_allocate(DEVOBJ_REAL, 1, 1, &x));
  check(devobj_allocate(DEVOBJ_REAL, 1, 1, &y));
  check(devobj_laset('G', {1, 0}, {1, 0}, x));
  Matrix<float> u(1, 1, q), v(1, 1, q);
  laset<float>(Uplo::General, 1, 1, u, q);
  RawBlas blas(q);
  const auto wait = [&] { q.wait(); };
  const auto c_wait = [] { check(devobj_wait()); };

  const auto add = [&](const char* routine, const char* peer, double ours, double raw) {
    Row row = report.row();
    row.routine = routine;
    row.type = 's';
    row.m = row.n = 1;
    row.method = "c_api";
    row.peer = peer;
    row.ms = ours / calls;
    row.peer_ms = raw / calls;
    char rate[48];
    std::snprintf(rate, sizeof rate, "%+.3f us a call", 1000 * (ours - raw) / calls);
    report.add(row, rate);
  };
  report.progress("overhead of a call");
  const double scal = median_ms(
      o.repeat, [] {}, repeated([&] {
        check(devobj_scal({1, 0}, x));
      }),
      c_wait);
  const double raw_scal = median_ms(
      o.repeat, [] {}, repeated([&] { blas.scal<float>(u); }), wait);
  add("scal", blas.name(), scal, raw_scal);
  const double copies = median_ms(
      o.repeat, [] {}, repeated([&] { check(devobj_copy(x, y)); }), c_wait);
  const auto raw_copy = [&] {
    if constexpr (cuda_built)
      if (q.on_cuda()) return cuda::memcpy_async(v.data, u.data, sizeof(float), q.stream());
    // a function the compiler cannot leave out
    static void* (*volatile copy)(void*, const void*, std::size_t) = std::memcpy;
    copy(v.data, u.data, sizeof(float));
  };
  const double raw_copies = median_ms(
      o.repeat, [] {}, repeated(raw_copy), wait);
  add("copy", q.on_cuda() ? "cudaMemcpyAsync" : "memcpy", copies, raw_copies);
  check(devobj_free(x));
  check(devobj_free(y));
}

}  // namespace

int run_transfer(const Options& o, Queue& q) {
  std::vector<std::int64_t> sizes = o.bytes;
  if (sizes.empty()) sizes = parse_bytes(q.on_cuda() ? "4K,64K,1M,16M,256M,1G" : "4K,64K,1M,16M,256M");
  Report report(o, q, static_cast<int>(o.types.size() * sizes.size() * (q.on_cuda() ? 4 : 3)) + 1);
  for (const char type : o.types)
    for (const std::int64_t bytes : sizes) try {
        with_type(type, [&]<class T>() { measure<T>(type, bytes, o, q, report); });
      } catch (const std::exception& e) {
        report.failure(std::string("transfer ") + type + " " + std::to_string(bytes) + " bytes: " + e.what());
      }
  try {
    measure_overhead(o, q, report);
  } catch (const std::exception& e) {
    report.failure(std::string("overhead of a call: ") + e.what());
  }
  return report.exit_code();
}

}  // namespace bench
