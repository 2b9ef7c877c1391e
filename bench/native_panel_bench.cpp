// Times of the native LU's panel kernel, for tuning: microseconds per column for every shape that can hold the panel; and of what
// is between two panels, with as many columns, microseconds: exchange_solve and a product, and exchange_solve_subtract.
//
//   native-panel-bench [types=sd] [m=500,...] [n=128,...] [reps=7]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "kernels/device.hpp"
#include "kernels/native.hpp"
#include "matrices.hpp"

namespace {

using namespace devobj;

std::vector<std::int64_t> numbers(const std::string& list) {
  std::vector<std::int64_t> out;
  std::istringstream in(list);
  for (std::string item; std::getline(in, item, ',');) out.push_back(std::stoll(item));
  return out;
}

template <class T>
void measure(char type, std::int64_t m, std::int64_t n, int reps, Queue& q) {
  n = std::min(n, m);
  const auto host = bench::uniform<T>(m, n, 1);
  Matrix<T> A(m, n, q), W(m, n, q);
  Matrix<std::int32_t> ipiv(n, 1, q), lists(n, 2, q), info(1, 1, q);
  to_device<T>(HostArray<const T>(host.data.get(), m, n, m), A, q);
  cuda::fill_bytes(info.view().data, 0, sizeof(std::int32_t), q.stream());
  const Storage workspace(cuda::lu_panel_workspace<T>(n), q);
  const cuda::RowExchange exchange{lists.view().data, lists.view().data + n, n};
  const cuda::LuPanelShape chosen = cuda::lu_panel_shape<T>(m, n);
  auto time = [&](cuda::LuPanelShape shape) {
    std::vector<double> us;
    for (int r = -1; r < reps; ++r) {
      copy<T>(A, W, q);
      const Event start = q.record();
      cuda::lu_panel(W.view(), ipiv.view(), 0, info.view().data, exchange, const_cast<void*>(workspace.data()), shape,
                     nullptr, q);
      const Event end = q.record();
      const double ms = end.milliseconds_since(start);
      if (r >= 0) us.push_back(1000 * ms / static_cast<double>(n));
    }
    std::sort(us.begin(), us.end());
    std::printf("%c %lld x %lld  %s of %d blocks, %d threads, %d rows x %d columns per thread: %.2f us per column%s\n",
                type, static_cast<long long>(m), static_cast<long long>(n), shape.cluster ? "cluster" : "grid",
                shape.blocks, shape.threads, shape.rows, shape.width, us[us.size() / 2],
                shape.blocks == chosen.blocks && shape.threads == chosen.threads && shape.rows == chosen.rows &&
                        shape.cluster == chosen.cluster
                    ? "  <- chosen"
                    : "");
  };
  for (const cuda::LuPanelShape& shape : cuda::lu_panel_shapes<T>(m, n)) time(shape);
  const cuda::LuPanelShape beside = cuda::lu_panel_shape<T>(m, n, true);  // products
  if (beside.blocks != chosen.blocks) time(beside);

  if (n > cuda::exchange_solve_rows<T>(q) || n == m) return;
  // W is the panel of the last shape, which gave `exchange`; B stays zero
  Matrix<T> B(m, n, q);
  laset<T>(Uplo::General, 0, 0, B, q);
  const View<T> L = W, L11 = L({0, n}, {0, n}), L21 = L({n, m}, {0, n}), top = B({0, n}, {0, n}),
                below = B({n, m}, {0, n});
  const auto between = [&](const char* what, auto run) {
    std::vector<double> us;
    for (int r = -1; r < reps; ++r) {
      constexpr int times = 40;
      const Event start = q.record();
      for (int i = 0; i < times; ++i)
        if (!run()) return;
      const Event end = q.record();
      if (r >= 0) us.push_back(1000 * end.milliseconds_since(start) / times);
    }
    std::sort(us.begin(), us.end());
    std::printf("%c %lld x %lld  %s: %.2f us\n", type, static_cast<long long>(m), static_cast<long long>(n), what,
                us[us.size() / 2]);
  };
  between("exchange_solve and product", [&] {
    cuda::exchange_solve<T>(L11, false, B, false, exchange, n, nullptr, q);
    cuda::gemm(Op::NoTrans, Op::NoTrans, T(-1), L21, top, T(1), below, q);
    return true;
  });
  between("exchange_solve_subtract", [&] { return cuda::exchange_solve_subtract<T>(L, B, exchange, {}, q); });
}

}  // namespace

int main(int argc, char** argv) try {
  std::string types = "sd";
  std::vector<std::int64_t> ms{500, 1000, 2000, 4000, 10000, 20000, 40000}, ns{32, 128};
  int reps = 7;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], value = word.substr(word.find('=') + 1);
    if (word.rfind("types=", 0) == 0)
      types = value;
    else if (word.rfind("m=", 0) == 0)
      ms = numbers(value);
    else if (word.rfind("n=", 0) == 0)
      ns = numbers(value);
    else if (word.rfind("reps=", 0) == 0)
      reps = std::atoi(value.c_str());
    else
      return std::fprintf(stderr, "native-panel-bench: '%s' is not types=, m=, n= or reps=\n", argv[i]), 2;
  }
  Queue q(Backend::cuda);
  for (const char type : types)
    for (const auto n : ns)
      for (const auto m : ms) {
        if (type == 's') measure<float>(type, m, n, reps, q);
        if (type == 'd') measure<double>(type, m, n, reps, q);
        if (type == 'c') measure<std::complex<float>>(type, m, n, reps, q);
        if (type == 'z') measure<std::complex<double>>(type, m, n, reps, q);
      }
} catch (const std::exception& e) {
  std::fprintf(stderr, "native-panel-bench: %s\n", e.what());
  return 1;
}
