// mixed: gesv_mixed beside gesv (n x n), gels_mixed beside gels (2 n x n), data on the backend. Matrices are uniform.
#include <algorithm>
#include <cstdio>

#include "devobj/devobj.hpp"
#include "matrices.hpp"
#include "modes.hpp"
#include "report.hpp"
#include "residual.hpp"

namespace bench {

using namespace devobj;

namespace {

/// A, B as they came and as the routine gets them.
template <class T>
struct System {
  System(std::int64_t m, std::int64_t n, std::int64_t nrhs, std::uint64_t seed, Queue& queue)
      : q(queue), A(m, n, q), W(m, n, q), B(m, nrhs, q), X(m, nrhs, q), ipiv(n, 1, q) {
    const HostMatrix<T> a = uniform<T>(m, n, seed), b = uniform<T>(m, nrhs, seed + 1);
    to_device<T>(HostArray<const T>(a.data.get(), m, n, m), A, q);
    to_device<T>(HostArray<const T>(b.data.get(), m, nrhs, m), B, q);
  }
  template <class Solve>
  double ms(const Repeat& repeat, Solve solve) {
    return median_ms(
        repeat,
        [&] {
          devobj::copy<T>(A, W, q);
          devobj::copy<T>(B, X, q);
        },
        solve, [&] { q.wait(); });
  }
  double residual() { return solution_residual<T>(A, X({0, A.cols}, {0, B.cols}), B, q); }
  Queue& q;
  Matrix<T> A, W, B, X;
  Matrix<std::int32_t> ipiv;
};

template <class T>
void measure(char type, const std::string& routine, std::int64_t n, const Options& o, Queue& q, Report& report) {
  const bool square = routine == "gesv";
  System<T> s(square ? n : 2 * n, n, o.nrhs, o.seed, q);
  Row row = report.row();
  row.routine = routine;
  row.type = type;
  row.m = s.A.rows;
  row.n = n;
  const bool randomized = o.method == Method::randomized;
  const Method in_double = randomized ? Method::automatic : o.method;
  row.method = randomized ? "mixed-randomized" : "mixed";
  row.peer = routine;
  const std::string what = routine + " " + type + " " + std::to_string(n);

  report.progress(what + " mixed");
  MixedResult done;
  row.ms = s.ms(o.repeat, [&] {
    done = square ? gesv_mixed<T>(s.W, s.ipiv, s.X, q, LuOptions{o.method, o.block})
                  : gels_mixed<T>(Op::NoTrans, s.W, s.X, q, QrOptions{o.method, o.block});
  });
  row.residual = s.residual();
  report.progress(what);
  std::int64_t info = 0;
  row.peer_ms = s.ms(o.repeat, [&] {
    info = square ? gesv<T>(s.W, s.ipiv, s.X, q, LuOptions{in_double, o.block})
                  : gels<T>(Op::NoTrans, s.W, s.X, q, QrOptions{in_double, o.block});
  });
  row.peer_residual = s.residual();
  if (done.info != 0 || info != 0)
    report.failure(what + ": info is " + std::to_string(done.info) + " and " + std::to_string(info));
  char rate[40];
  std::snprintf(rate, sizeof rate, "%lld iterations", static_cast<long long>(done.iterations));
  report.add(row, rate);
}

}  // namespace

int run_mixed(const Options& o, Queue& q) {
  std::vector<std::int64_t> sizes = o.sizes;
  if (sizes.empty()) sizes = parse_sizes(q.on_cuda() ? "1000,2000,4000,8000,16000" : "500,1000,2000");
  Report report(o, q, static_cast<int>(2 * sizes.size() * o.types.size() * o.routines.size()));
  for (const std::string& routine : o.routines)
    for (const char type : o.types)
      for (const std::int64_t n : sizes) try {
          if (type == 'd')
            measure<double>(type, routine, n, o, q, report);
          else
            measure<std::complex<double>>(type, routine, n, o, q, report);
        } catch (const std::exception& e) {
          report.failure(routine + " " + type + " " + std::to_string(n) + ": " + e.what());
        }
  return report.exit_code();
}

}  // namespace bench
