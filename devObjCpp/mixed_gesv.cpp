// gesv_mixed: linear systems by single precision factors and refinement.
#include <cmath>
#include <numeric>
#include <vector>

#include "blas_checks.hpp"
#include "devobj/blas.hpp"
#include "devobj/mixed.hpp"
#include "kernels/dispatch_randomized.hpp"
#include "lu_method.hpp"
#include "lu_solve.hpp"
#include "lu_window.hpp"
#include "mixed_support.hpp"

namespace devobj {
namespace {

/// getrf's factors of A rounded to single precision.
template <class T>
class PivotedFactors {
 public:
  PivotedFactors(View<T> A, std::int64_t right_hand_sides, Queue& q, const LuOptions& options)
      : LU_(A.rows, A.rows, q),
        D_(A.rows, right_hand_sides, q),
        ipiv_(A.rows, 1, q),
        misfit_(1, 1, q),
        options_(options) {}

  /// A in single precision. *misfit as narrow's.
  void set(View<T> A, std::int32_t* misfit, Queue& q) { narrow(A, LU_.view(), misfit, q); }
  /// Likewise for right-hand sides.
  void check(View<T> B, std::int32_t* misfit, Queue& q) { narrow(B, D_.view(), misfit, q); }
  /// info; waits.
  std::int64_t factor(Queue& q) { return getrf(LU_.view(), ipiv_.view(), q, options_); }
  /// X = A^-1 R, or X += A^-1 R if `add`.
  void solve(View<T> R, bool add, View<T> X, Queue& q) {
    narrow(R, D_.view(), misfit_.data, q);
    getrs(Op::NoTrans, LU_.view(), ipiv_.view(), D_.view(), q, options_);
    widen(D_.view(), add, X, q);
  }
  void pivots(View<std::int32_t> ipiv, Queue& q) const {
    copy(ipiv.cols == 1 ? ipiv_.view() : View<std::int32_t>(ipiv_.data, 1, ipiv_.rows), ipiv, q);
  }
  /// Whether refinements are made as long as dsgesv makes them.
  static constexpr bool patient = true;

 private:
  Matrix<single_t<T>> LU_, D_;
  Matrix<std::int32_t> ipiv_, misfit_;
  LuOptions options_;
};

/// Factors of U^T R A C V (randomized.hpp), with pivots from a window: A is beside a unit matrix if its order is no multiple
/// of 4.
template <class T>
class RandomizedFactors {
 public:
  RandomizedFactors(View<T> A, std::int64_t right_hand_sides, Queue& q, const LuOptions& options)
      : n_(A.rows),
        LU_(mixed_order(n_), mixed_order(n_), q),
        D_(LU_.rows, right_hand_sides, q),
        sizes_(n_, 2, q),
        order_(LU_.rows, 1, q),
        info_(1, 1, q),
        math_(options.math) {}

  void set(View<T> A, std::int32_t* misfit, Queue& q) {
    equilibration(A, rows(), columns(), q);
    mix_matrix(A, rows(), columns(), LU_.view(), misfit, q);
  }
  void check(View<T> B, std::int32_t* misfit, Queue& q) { narrow(B, D_({0, n_}, {0, D_.cols}), misfit, q); }
  std::int64_t factor(Queue& q) {
    getrf_window(LU_.view(), order_.view(), info_.view(), math_, q);
    std::int32_t info = 0;
    to_host<std::int32_t>(info_, {&info, 1, 1, 1}, q);
    return info;
  }
  void solve(View<T> R, bool add, View<T> X, Queue& q) {
    mix_rows(R, rows(), order_.data, D_.view(), q);
    solve_triangles(LU_.view(), D_.view(), math_, q);
    mix_solution(D_.view(), columns(), add, X, q);
  }
  /// No row of A was exchanged.
  void pivots(View<std::int32_t> ipiv, Queue& q) const {
    std::vector<std::int32_t> none(n_);
    std::iota(none.begin(), none.end(), 1);
    to_device<std::int32_t>({none.data(), ipiv.rows, ipiv.cols, ipiv.rows}, ipiv, q);
  }
  static constexpr bool patient = false;

 private:
  double* rows() const { return sizes_.data; }
  double* columns() const { return sizes_.data + n_; }
  std::int64_t n_;
  Matrix<single_t<T>> LU_, D_;
  Matrix<double> sizes_;
  Matrix<std::int32_t> order_, info_;
  Math math_;
};

/// dsgesv's iter: the number of refinements, after which B is the solution and ipiv has the pivots of the single precision
/// factors; or why there is no refined solution, nothing having been written.
template <template <class> class Factors, class T>
std::int64_t solve_refined(View<T> A, View<std::int32_t> ipiv, View<T> B, Queue& q, const LuOptions& options) {
  const std::int64_t n = A.rows, nrhs = B.cols;
  Factors<T> factors(A, nrhs, q, options);
  Matrix<T> X(n, nrhs, q), R(n, nrhs, q);
  Matrix<std::int32_t> misfits(2, 1, q);
  mixed::Sizes sizes(nrhs, 2, q);

  factors.set(A, misfits.data, q);
  factors.check(B, misfits.data + 1, q);
  const double limit = lange(Norm::Inf, A, q) * mixed::unit_roundoff * std::sqrt(static_cast<double>(n));
  if (mixed::any(misfits, q)) return mixed::beyond_single;
  if (factors.factor(q) > 0) return mixed::singular;

  std::vector<double> before(nrhs);
  for (std::int64_t iteration = 0;; ++iteration) {
    // X += A^-1 R by the single precision factors,  R = B - A X
    factors.solve(iteration > 0 ? R.view() : B, iteration > 0, X.view(), q);
    lacpy(Uplo::General, B, R.view(), q);
    if (nrhs == 1)
      gemv(Op::NoTrans, T(-1), A, X.view(), T(1), R.view(), q);
    else
      gemm(Op::NoTrans, Op::NoTrans, T(-1), A, X.view(), T(1), R.view(), q);

    sizes.measure(Norm::Max, 0, R.view());
    sizes.measure(Norm::Max, 1, X.view());
    sizes.fetch();
    bool converged = true, fits = true, hopeful = true;
    for (std::int64_t j = 0; j < nrhs; ++j) {
      const double r = sizes(0, j), x = sizes(1, j);
      fits = fits && mixed::fits_single(r);
      converged = converged && r <= x * limit;
      hopeful = hopeful && (r <= x * limit || iteration == 0 || r <= before[j] / 2);
      before[j] = r;
    }
    if (!fits) return mixed::beyond_single;
    if (converged) {
      copy(X.view(), B, q);
      factors.pivots(ipiv, q);
      q.wait();
      return iteration;
    }
    if (iteration == mixed::most_iterations || !(hopeful || factors.patient)) return mixed::not_converged;
  }
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
  const bool randomized = options.method == Method::randomized;
  if (randomized) options.method = Method::automatic;                // of getrf
  lu_method<single_t<T>>("gesv_mixed", A.rows, A.cols, q, options);  // its errors
  MixedResult result;
  if (A.empty()) {
    result.info = gesv(A, ipiv, B, q, options);
    return result;
  }
  result.iterations = mixed::singular;
  if (randomized && window_lu_possible(q)) result.iterations = solve_refined<RandomizedFactors>(A, ipiv, B, q, options);
  // a matrix of some structure can be regular, and its mixture not
  if (result.iterations == mixed::singular) result.iterations = solve_refined<PivotedFactors>(A, ipiv, B, q, options);
  if (result.iterations < 0) result.info = gesv(A, ipiv, B, q, options);
  return result;
}

#define INSTANTIATE(T) template MixedResult gesv_mixed<T>(View<T>, View<std::int32_t>, View<T>, Queue&, LuOptions);
DEVOBJ_FOR_EACH_DOUBLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
