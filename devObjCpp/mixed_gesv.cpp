// gesv_mixed: linear systems by single precision factors and refinement.
#include <cmath>

#include "blas_checks.hpp"
#include "devobj/blas.hpp"
#include "devobj/mixed.hpp"
#include "mixed_support.hpp"

namespace devobj {
namespace {

/// dsgesv's iter: the number of refinements, after which B is the solution and ipiv has the single precision pivots; or
/// why there is no refined solution, nothing having been written.
template <class T>
std::int64_t solve_refined(View<T> A, View<std::int32_t> ipiv, View<T> B, Queue& q, const LuOptions& options) {
  using S = single_t<T>;
  const std::int64_t n = A.rows, nrhs = B.cols;
  Matrix<S> LU(n, n, q), D(n, nrhs, q);
  Matrix<T> X(n, nrhs, q), R(n, nrhs, q);
  Matrix<std::int32_t> pivots(n, 1, q), misfits(2, 1, q);
  mixed::Sizes sizes(nrhs, 2, q);

  narrow(A, LU.view(), misfits.data, q);
  narrow(B, D.view(), misfits.data + 1, q);
  const double limit = lange(Norm::Inf, A, q) * mixed::unit_roundoff * std::sqrt(static_cast<double>(n));
  if (mixed::any(misfits, q)) return mixed::beyond_single;
  if (getrf(LU.view(), pivots.view(), q, options) > 0) return mixed::singular;

  std::int64_t iteration = 0;
  for (;; ++iteration) {
    // D = A^-1 R by the single precision factors,  X += D
    getrs(Op::NoTrans, LU.view(), pivots.view(), D.view(), q, options);
    widen(D.view(), iteration > 0, X.view(), q);
    // R = B - A X
    lacpy(Uplo::General, B, R.view(), q);
    if (nrhs == 1)
      gemv(Op::NoTrans, T(-1), A, X.view(), T(1), R.view(), q);
    else
      gemm(Op::NoTrans, Op::NoTrans, T(-1), A, X.view(), T(1), R.view(), q);

    sizes.measure(Norm::Max, 0, R.view());
    sizes.measure(Norm::Max, 1, X.view());
    sizes.fetch();
    bool converged = true, fits = true;
    for (std::int64_t j = 0; j < nrhs; ++j) {
      const double r = sizes(0, j), x = sizes(1, j);
      fits = fits && mixed::fits_single(r);
      converged = converged && r <= x * limit;
    }
    if (!fits) return mixed::beyond_single;
    if (converged) break;
    if (iteration == mixed::most_iterations) return mixed::not_converged;
    narrow(R.view(), D.view(), misfits.data, q);  // they fit
  }
  copy(X.view(), B, q);
  copy(ipiv.cols == 1 ? pivots.view() : View<std::int32_t>(pivots.data, 1, n), ipiv, q);
  q.wait();
  return iteration;
}

}  // namespace

template <class T>
MixedResult gesv_mixed(View<T> A, View<std::int32_t> ipiv, View<T> B, Queue& q, LuOptions options) {
  require_square("gesv_mixed", "A", A);
  require_pivots("gesv_mixed", "ipiv", ipiv, A.rows);
  require(B.rows == A.rows, "gesv_mixed: B has ", B.rows, " rows, but A is ", A.rows, " x ", A.cols);
  require_distinct("gesv_mixed", "B", B, "A", A);
  require_distinct("gesv_mixed", "ipiv", ipiv, "A", A);
  require_distinct("gesv_mixed", "ipiv", ipiv, "B", B);
  MixedResult result;
  if (!A.empty()) result.iterations = solve_refined(A, ipiv, B, q, options);
  if (A.empty() || result.iterations < 0) result.info = gesv(A, ipiv, B, q, options);
  return result;
}

#define INSTANTIATE(T) template MixedResult gesv_mixed<T>(View<T>, View<std::int32_t>, View<T>, Queue&, LuOptions);
DEVOBJ_FOR_EACH_DOUBLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
