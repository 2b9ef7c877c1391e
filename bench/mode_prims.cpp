// prims: what a parallel primitive costs beside the same one of CUB, cuSPARSE or the C++ standard library, called
// directly. The residual of a row is the distance of both results: max|y - y'| / (max|y'| eps) for sums of
// floating-point numbers (for scans divided by sqrt(n), as rounding errors walk); for histograms of them the elements
// in other bins, over n bins eps; else the number of elements that differ.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "devobj/prims.hpp"
#include "matrices.hpp"
#include "modes.hpp"
#include "raw_prims.hpp"
#include "repeated.hpp"
#include "report.hpp"

namespace bench {

using namespace devobj;

namespace {

constexpr std::int64_t elements_of_a_row = 16;  // of the sparse matrix
constexpr int bins = 256;

template <class T>
Matrix<T> upload(const std::vector<T>& x, Queue& q) {
  const auto n = static_cast<std::int64_t>(x.size());
  Matrix<T> X(n, 1, q);
  to_device<T>(HostArray<const T>(x.data(), n, 1, n), X, q);
  return X;
}
template <class T>
std::vector<T> download(View<T> X, std::int64_t n, Queue& q) {
  std::vector<T> x(static_cast<std::size_t>(n));
  if (n > 0) to_host<T>(X({0, n}, {0, 1}), HostArray<T>(x.data(), n, 1, n), q);
  return x;
}

/// The data of all routines for n elements. Segments and chosen elements: one in 16.
template <class T>
struct Data {
  Data(std::int64_t n_, std::uint64_t seed, Queue& queue) : n(n_), rows(n_ / elements_of_a_row), q(queue) {
    std::mt19937_64 random(seed);
    const auto count = static_cast<std::size_t>(n);
    std::vector<T> numbers(count);
    std::vector<std::int32_t> starts(count), numbered(count), index(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bits = random();
      if constexpr (std::is_integral_v<T>)
        numbers[i] = static_cast<T>(bits >> 32);
      else
        numbers[i] = static_cast<T>(2 * (static_cast<double>(bits >> 11) + 0.5) / 9007199254740992.0 - 1);
      starts[i] = (bits & 15) == 0;
      numbered[i] = (i == 0 ? 0 : numbered[i - 1]) + starts[i];
      index[i] = static_cast<std::int32_t>(i);
    }
    std::vector<std::int32_t> first(static_cast<std::size_t>(rows + 1)), places(count);
    for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<std::int32_t>(i * elements_of_a_row + 1);
    for (std::size_t e = 0; e < count; ++e) {  // a band: 16 neighbours
      const auto row = static_cast<std::int64_t>(e) / elements_of_a_row,
                 k = static_cast<std::int64_t>(e) % elements_of_a_row;
      places[e] =
          static_cast<std::int32_t>(std::clamp<std::int64_t>(row - 8 + k, 0, std::max<std::int64_t>(0, rows - 1)) + 1);
    }
    x = upload(numbers, q);
    heads = upload(starts, q);
    segments = upload(numbered, q);
    values = upload(index, q);
    offsets = upload(first, q);
    columns = upload(places, q);
    y = Matrix<T>(n, 1, q);
    sorted_values = Matrix<std::int32_t>(n, 1, q);
    counts = Matrix<std::int32_t>(bins, 1, q);
    if constexpr (std::is_integral_v<T>)
      lower = -1000000000, upper = 1000000000;
    else
      lower = T(-0.75), upper = T(0.75);
  }
  PrimOperands<T> operands() {
    PrimOperands<T> o;
    o.n = n;
    o.x = x.data;
    o.y = y.data;
    o.heads = heads.data;
    o.segments = segments.data;
    o.values = values.data;
    o.sorted_values = sorted_values.data;
    o.lower = lower;
    o.upper = upper;
    o.counts = counts.data;
    o.bins = bins;
    o.rows = rows;
    o.offsets = offsets.data;
    o.columns = columns.data;
    o.matrix_values = x.data;
    o.vector = x.data;
    o.value = &value;
    o.count = &count;
    return o;
  }
  /// Our call, and the bytes that it has to move.
  std::pair<std::function<void()>, double> ours(const std::string& name) {
    const double bytes = static_cast<double>(n) * sizeof(T), flags = static_cast<double>(n) * 4;
    if (name == "scan") return {[this] { scan<T>(Scan::inclusive, x, y, q); }, 2 * bytes};
    if (name == "segmented_scan")
      return {[this] { segmented_scan<T>(Scan::inclusive, x, heads, y, q); }, 2 * bytes + flags};
    if (name == "exclusive_scan") return {[this] { scan<T>(Scan::exclusive, x, y, q); }, 2 * bytes};
    if (name == "exclusive_segmented_scan")
      return {[this] { segmented_scan<T>(Scan::exclusive, x, heads, y, q); }, 2 * bytes + flags};
    if (name == "reduce_sum") return {[this] { value = static_cast<double>(reduce_sum<T>(x, q)); }, bytes};
    if (name == "reduce_min")
      return {[this] {
                const auto found = reduce_min<T>(x, q);
                value = static_cast<double>(found.value);
                count = found.position;
              },
              bytes};
    // as many passes as the keys have bytes, and one to count
    if (name == "sort_keys") return {[this] { sort_keys<T>(Order::ascending, x, y, q); }, (2 * sizeof(T) + 1) * bytes};
    if (name == "sort_pairs")
      return {[this] { sort_pairs<T, std::int32_t>(Order::ascending, x, values, y, sorted_values, q); },
              (2 * sizeof(T) + 1) * bytes + 2 * sizeof(T) * flags};
    if (name == "compact") return {[this] { count = compact<T>(x, heads, y, q); }, bytes * 17 / 16 + flags};
    if (name == "histogram") return {[this] { histogram<T>(x, lower, upper, counts, q); }, bytes};
    if constexpr (!std::is_integral_v<T>)
      return {
          [this] {
            spmv<T>(1, Csr<T>{rows, rows, offsets, columns, x, 1}, x({0, rows}, {0, 1}), 0, y({0, rows}, {0, 1}), q);
          },
          bytes + flags + static_cast<double>(rows) * (4 + 2 * sizeof(T))};
    return {};
  }

  std::int64_t n, rows;
  Queue& q;
  Matrix<T> x, y;
  Matrix<std::int32_t> heads, segments, values, sorted_values, counts, offsets, columns;
  T lower{}, upper{};
  double value = 0;
  std::int64_t count = 0;
};

/// What a call has left, for the comparison.
template <class T>
struct Result {
  std::vector<T> y;
  std::vector<std::int32_t> integers;
  double value = 0;
  std::int64_t count = 0;
};
template <class T>
Result<T> result_of(const std::string& name, Data<T>& d) {
  Result<T> r;
  if (name == "histogram")
    r.integers = download<std::int32_t>(d.counts, bins, d.q);
  else if (name == "reduce_sum" || name == "reduce_min")
    r.value = d.value;
  else
    r.y = download<T>(d.y, name == "compact" ? d.count : name == "spmv" ? d.rows : d.n, d.q);
  if (name == "sort_pairs") r.integers = download<std::int32_t>(d.sorted_values, d.n, d.q);
  if (name == "reduce_min" || name == "compact") r.count = d.count;
  return r;
}
template <class T>
double distance(const std::string& name, std::int64_t n, const Result<T>& a, const Result<T>& b) {
  if (a.y.size() != b.y.size() || a.count != b.count) return std::numeric_limits<double>::infinity();
  const bool plain_scan = name == "scan" || name == "exclusive_scan";
  const bool segments = name == "segmented_scan" || name == "exclusive_segmented_scan";
  if (!std::is_integral_v<T> && (plain_scan || segments || name == "spmv" || name == "reduce_sum")) {
    double difference = std::abs(a.value - b.value), largest = std::abs(b.value);
    // a sum that cancels is measured by its square root of the number of elements
    if (name == "reduce_sum") largest = std::max(largest, 1000.0);
    for (std::size_t i = 0; i < a.y.size(); ++i) {
      difference = std::max(difference, std::abs(static_cast<double>(a.y[i]) - static_cast<double>(b.y[i])));
      largest = std::max(largest, std::abs(static_cast<double>(b.y[i])));
    }
    // a running sum's rounding errors are a random walk
    if (plain_scan) largest *= std::sqrt(static_cast<double>(a.y.size()));
    return difference / (largest * static_cast<double>(std::numeric_limits<T>::epsilon()));
  }
  double different = a.value != b.value;
  if (name == "reduce_sum")  // the peer's sum of integers has 32 bits
    different = static_cast<std::uint32_t>(static_cast<std::int64_t>(a.value)) !=
                static_cast<std::uint32_t>(static_cast<std::int64_t>(b.value));
  for (std::size_t i = 0; i < a.y.size(); ++i) different += a.y[i] != b.y[i];
  for (std::size_t i = 0; i < a.integers.size(); ++i) different += std::abs(a.integers[i] - b.integers[i]);
  if (!std::is_integral_v<T> && name == "histogram")
    different /= static_cast<double>(std::numeric_limits<T>::epsilon()) * static_cast<double>(n) * bins;
  return different;
}

template <class T>
void measure(const std::string& name, char type, const Options& o, Data<T>& d, Report& report) {
  const auto [ours, bytes] = d.ours(name);
  if (!ours) return;
  Row row = report.row();
  row.routine = name;
  row.type = type;
  row.m = d.n;
  row.n = 1;
  row.method = "prims";
  row.peer = raw_prim_name(name.c_str(), d.q);
  report.progress(name + " " + row.type + " " + std::to_string(d.n));
  const auto raw = raw_prim<T>(name.c_str(), d.operands(), d.q);
  if (d.n <= (std::int64_t{1} << 22)) {
    raw();
    d.q.wait();
    const Result<T> expected = result_of(name, d);
    ours();
    row.residual = distance(name, d.n, result_of(name, d), expected);
  }
  const auto [ms, raw_ms] = turns_ms(o.repeat, ours, raw, [&] { d.q.wait(); });
  row.ms = ms;
  row.peer_ms = raw_ms;
  char rate[48];
  std::snprintf(rate, sizeof rate, "%.4g GB/s %+.1f%%", bytes / (ms * 1e6), 100 * (ms / raw_ms - 1));
  report.add(row, rate);
}

}  // namespace

int run_prims(const Options& o, Queue& q) {
  std::vector<std::int64_t> sizes = o.sizes;
  if (sizes.empty())
    sizes = parse_sizes(q.on_cuda() ? "65536,1048576,4194304,16777216,67108864" : "65536,1048576,4194304");
  Report report(o, q, static_cast<int>(o.types.size() * sizes.size() * o.primitives.size()));
  const auto with = [&]<class T>(T, char type, std::int64_t n) {
    Data<T> data(n, o.seed, q);
    for (const std::string& name : o.primitives) try {
        measure<T>(name, type, o, data, report);
      } catch (const std::exception& e) {
        report.failure(name + " " + type + " " + std::to_string(n) + ": " + e.what());
      }
  };
  for (const char type : o.types)
    for (const std::int64_t n : sizes) try {
        if (type == 'i')
          with(std::int32_t{}, type, n);
        else if (type == 's')
          with(float{}, type, n);
        else
          with(double{}, type, n);
      } catch (const std::exception& e) {
        report.failure(std::string("prims ") + type + " " + std::to_string(n) + ": " + e.what());
      }
  return report.exit_code();
}

}  // namespace bench
