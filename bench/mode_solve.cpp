// solve: getrs with LU factors, beside cuSOLVER's or LAPACK's with factors of its own. Data is on the backend.
#include <algorithm>

#include "cuda_side.hpp"
#include "devobj/devobj.hpp"
#include "flops.hpp"
#include "matrices.hpp"
#include "modes.hpp"
#include "peers_solve.hpp"
#include "report.hpp"
#include "residual.hpp"

namespace bench {

using namespace devobj;

namespace {

/// A matrix, its factors, and right-hand sides.
template <class T>
class Systems {
 public:
  Systems(std::int64_t n, std::int64_t nrhs, std::uint64_t seed, Queue& queue)
      : q(queue), A(n, n, q), LU(n, n, q), B(n, nrhs, q), X(n, nrhs, q), ipiv(n, 1, q) {
    const HostMatrix<T> a = uniform<T>(n, n, seed), b = uniform<T>(n, nrhs, seed + 1);
    to_device<T>(HostArray<const T>(a.data.get(), n, n, n), A, q);
    to_device<T>(HostArray<const T>(b.data.get(), n, nrhs, n), B, q);
    devobj::copy<T>(A, LU, q);
    require(getrf<T>(LU, ipiv, q) == 0, "getrf: info is not 0");
  }
  /// Of so many right-hand sides; X has the solution then.
  double ours_ms(std::int64_t nrhs, const Repeat& repeat) {
    return median_ms(
        repeat, [&] { devobj::copy<T>(first(B, nrhs), first(X, nrhs), q); },
        [&] { getrs<T>(Op::NoTrans, LU, ipiv, first(X, nrhs), q); }, [&] { q.wait(); });
  }
  double peer_ms(std::int64_t nrhs, const Repeat& repeat) {
    if constexpr (cuda_built)
      if (q.on_cuda()) return cusolver_solve_ms<T>(A, first(B, nrhs), first(X, nrhs), repeat, q);
    return lapack_solve_ms<T>(A, first(B, nrhs), first(X, nrhs), repeat, q);
  }
  double residual(std::int64_t nrhs) { return solution_residual<T>(A, first(X, nrhs), first(B, nrhs), q); }

 private:
  static View<T> first(const Matrix<T>& M, std::int64_t columns) { return M.view()({0, M.view().rows}, {0, columns}); }
  Queue& q;
  Matrix<T> A, LU, B, X;
  Matrix<std::int32_t> ipiv;
};

template <class T>
void measure(char type, std::int64_t n, const Options& o, Queue& q, Report& report) {
  report.progress("getrf " + std::string(1, type) + " " + std::to_string(n));
  Systems<T> s(n, *std::max_element(o.right_hand_sides.begin(), o.right_hand_sides.end()), o.seed, q);
  for (const std::int64_t nrhs : o.right_hand_sides) {
    report.progress("getrs " + std::string(1, type) + " " + std::to_string(n) + ", " + std::to_string(nrhs));
    Row row = report.row();
    row.routine = "getrs";
    row.type = type;
    row.m = n;
    row.n = n;
    row.method = std::to_string(nrhs);
    row.peer = q.on_cuda() ? "cusolver" : "lapack";
    row.ms = s.ours_ms(nrhs, o.repeat);
    row.residual = s.residual(nrhs);
    row.peer_ms = s.peer_ms(nrhs, o.repeat);
    row.peer_residual = s.residual(nrhs);
    row.gflops = complex_factor(type) * 2 * static_cast<double>(n) * static_cast<double>(n) *
                 static_cast<double>(nrhs) / (*row.ms * 1e6);
    report.add(row);
  }
}

}  // namespace

int run_solve(const Options& o, Queue& q) {
  std::vector<std::int64_t> sizes = o.sizes;
  if (sizes.empty()) sizes = parse_sizes(q.on_cuda() ? "1000,2000,4000,8000,16000" : "500,1000,2000");
  Report report(o, q, static_cast<int>(o.types.size() * sizes.size() * (1 + o.right_hand_sides.size())));
  for (const char type : o.types)
    for (const std::int64_t n : sizes) try {
        with_type(type, [&]<class T>() { measure<T>(type, n, o, q, report); });
      } catch (const std::exception& e) {
        report.failure("getrs " + std::string(1, type) + " " + std::to_string(n) + ": " + e.what());
      }
  return report.exit_code();
}

}  // namespace bench
