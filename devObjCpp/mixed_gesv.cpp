// gesv_mixed: linear systems by single precision factors and refinement.
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "blas_checks.hpp"
#include "devobj/blas.hpp"
#include "devobj/mixed.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/dispatch_randomized.hpp"
#include "lu_method.hpp"
#include "lu_solve.hpp"
#include "lu_window.hpp"
#include "mixed_gcr.hpp"
#include "mixed_iterate.hpp"
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
        rows_(A.rows, 1, q),
        options_(options) {}

  /// A in single precision. *misfit as narrow's.
  void set(View<T> A, std::int32_t* misfit, Queue& q) { narrow(A, LU_.view(), misfit, q); }
  /// Likewise for right-hand sides.
  void check(View<T> B, std::int32_t* misfit, Queue& q) { narrow(B, D_.view(), misfit, q); }
  /// A's infinity norm; waits.
  static double norm(View<T> A, Queue& q) { return lange(Norm::Inf, A, q); }
  /// info; waits.
  std::int64_t factor(Queue& q) {
    const std::int64_t info = getrf(LU_.view(), ipiv_.view(), q, options_);
    pivots_to_permutation(ipiv_.view(), rows_.view(), q);  // once: exchanges pivot by pivot take longer
    return info;
  }
  /// X = A^-1 R, or X += A^-1 R if `add`.
  void solve(View<T> R, bool add, View<T> X, Queue& q) {
    narrow_rows(R, rows_.data, D_.view(), q);
    solve_triangles(LU_.view(), D_.view(), options_.math, q);
    widen(D_.view(), add, X, q);
  }
  /// For solve_in_double.
  void widen_factors(Queue& q) {
    wide_ = Matrix<T>(LU_.rows, LU_.rows, q);
    widen(LU_.view(), false, wide_.view(), q);
  }
  /// X = A^-1 X by the same factors in double precision arithmetic. X has elements near 1.
  void solve_in_double(View<T> X, Queue& q) { getrs(Op::NoTrans, wide_.view(), ipiv_.view(), X, q, options_); }
  void pivots(View<std::int32_t> ipiv, Queue& q) const {
    copy(ipiv.cols == 1 ? ipiv_.view() : View<std::int32_t>(ipiv_.data, 1, ipiv_.rows), ipiv, q);
  }
  /// Whether refinements of many right-hand sides are made as long as dsgesv makes them.
  static constexpr bool patient = true;

 private:
  Matrix<single_t<T>> LU_, D_;
  Matrix<T> wide_;
  Matrix<std::int32_t> ipiv_, rows_;  // rows_: the permutation that ipiv_ makes
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
        sizes_(n_, 3, q),
        order_(LU_.rows, 1, q),
        info_(1, 1, q),
        math_(options.math) {}

  void set(View<T> A, std::int32_t* misfit, Queue& q) {
    equilibration(A, rows(), columns(), sums(), q);
    mix_matrix(A, rows(), columns(), LU_.view(), misfit, q);
  }
  void check(View<T> B, std::int32_t* misfit, Queue& q) { narrow(B, D_({0, n_}, {0, D_.cols}), misfit, q); }
  /// Of the A that was set.
  double norm(View<T>, Queue& q) const {
    mixed::Sizes largest(1, 1, q);
    largest.measure(Norm::Max, 0, View<double>(sums(), n_, 1));
    largest.fetch();
    return largest(0, 0);
  }
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
  void widen_factors(Queue& q) {
    wide_ = Matrix<T>(LU_.rows, LU_.rows, q);
    E_ = Matrix<T>(D_.rows, D_.cols, q);
    widen(LU_.view(), false, wide_.view(), q);
  }
  /// Solutions are mixed as sums of two single precision numbers, E = D + (E - D).
  void solve_in_double(View<T> X, Queue& q) {
    mix_rows(X, rows(), order_.data, D_.view(), q);
    widen(D_.view(), false, E_.view(), q);
    solve_triangles(wide_.view(), E_.view(), math_, q);
    narrow(E_.view(), D_.view(), info_.data, q);
    mix_solution(D_.view(), columns(), false, X, q);
    scal(single_t<T>(-1), D_.view(), q);
    widen(D_.view(), true, E_.view(), q);
    narrow(E_.view(), D_.view(), info_.data, q);
    mix_solution(D_.view(), columns(), true, X, q);
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
  double* sums() const { return sizes_.data + 2 * n_; }  // of |a| in A's rows
  std::int64_t n_;
  Matrix<single_t<T>> LU_, D_;
  Matrix<T> wide_, E_;
  Matrix<double> sizes_;
  Matrix<std::int32_t> order_, info_;
  Math math_;
};

/// A refinement is slow if it leaves more than this part of the residual.
constexpr double slow = 1.0 / 8;
/// Corrections after which the residual must be less than half of what it was.
constexpr int patience = 6;
/// Of B that a residual may be. If X is so large that the criterion allows more, A is singular as far as B tells.
constexpr double most_residual = 1e-3;

/// Goes on from an iterate that refinement improves slowly, with the best combination of corrections. They are made in double
/// precision arithmetic: only then are they one linear function of the residual, and what the factors have wrong in few
/// directions needs few corrections. `iteration` is that of the iterate; returns dsgesv's iter. Source: Carson & Higham,
/// "Accelerating the solution of linear systems by iterative refinement in three precisions", SIAM J. Sci. Comput. 40 (2018).
template <class Factors, class T>
std::int64_t minimize_residual(Factors& factors, mixed::Iterate<T>& iterate, View<T> A, std::int64_t iteration,
                               Queue& q) {
  factors.widen_factors(q);
  mixed::Corrections<T> corrections(A, iterate.X().cols, mixed::most_iterations - iteration, q);
  double best = std::numeric_limits<double>::infinity();
  for (int since_best = 0; iteration < mixed::most_iterations && since_best < patience;) {
    ++iteration;
    // Z = A^-1 R
    iterate.scaled_residual(corrections.next());
    factors.solve_in_double(corrections.next(), q);
    corrections.add();
    corrections.minimize(iterate.P());
    double excess = iterate.excess();
    if (excess <= 1) {  // but R has rounding errors of its own
      iterate.update_residual();
      excess = iterate.excess();
    }
    if (std::isnan(excess)) return mixed::beyond_single;
    if (excess <= 1) return iterate.demanding(most_residual) ? iteration : mixed::not_converged;
    const bool better = excess < best / 2;
    since_best = better ? 0 : since_best + 1;
    if (better) best = excess;
  }
  return mixed::not_converged;
}
/// The same if there is memory for it: gesv needs less.
template <class Factors, class T>
std::int64_t minimize_if_possible(Factors& factors, mixed::Iterate<T>& iterate, View<T> A, std::int64_t iteration,
                                  Queue& q) {
  try {
    return minimize_residual(factors, iterate, A, iteration, q);
  } catch (const Error& e) {
    if (e.status() != Status::out_of_memory) throw;
    return mixed::not_converged;
  }
}

/// X += A^-1 R, R = B - A X until X is good; of few right-hand sides only as long as this is not slow. Returns dsgesv's iter.
template <class Factors, class T>
std::int64_t refine(Factors& factors, mixed::Iterate<T>& iterate, View<T> A, View<T> B, Queue& q) {
  const bool minimizes = B.cols <= mixed::few;
  double before = std::numeric_limits<double>::infinity();
  for (std::int64_t iteration = 0;; ++iteration) {
    factors.solve(iteration > 0 ? iterate.R() : B, iteration > 0, iterate.X(), q);
    iterate.update_residual();
    const double excess = iterate.excess();
    if (std::isnan(excess)) return mixed::beyond_single;
    if (excess <= 1) return iteration;
    if (iteration == mixed::most_iterations) return mixed::not_converged;
    if (minimizes && !(excess < before * slow)) return minimize_if_possible(factors, iterate, A, iteration, q);
    if (!minimizes && !factors.patient && excess > before / 2) return mixed::not_converged;
    before = excess;
  }
}

/// dsgesv's iter: the number of refinements, after which B is the solution and ipiv has the pivots of the single precision
/// factors; or why there is no refined solution, nothing having been written.
template <template <class> class Factors, class T>
std::int64_t solve_refined(View<T> A, View<std::int32_t> ipiv, View<T> B, Queue& q, const LuOptions& options) {
  Factors<T> factors(A, B.cols, q, options);
  Matrix<std::int32_t> misfits(2, 1, q);
  factors.set(A, misfits.data, q);
  factors.check(B, misfits.data + 1, q);
  const double limit = factors.norm(A, q) * mixed::unit_roundoff * std::sqrt(static_cast<double>(A.rows));
  mixed::Iterate<T> iterate(A, B, limit, q);
  if (mixed::any(misfits, q)) return mixed::beyond_single;
  if (factors.factor(q) > 0) return mixed::singular;

  const std::int64_t iterations = refine(factors, iterate, A, B, q);
  if (iterations >= 0) {
    copy(iterate.X(), B, q);
    factors.pivots(ipiv, q);
    q.wait();
  }
  return iterations;
}

/// Order from which a real matrix is solved sooner by mixing than with pivots from whole columns, on GPUs that can.
constexpr std::int64_t randomized_least = 1000;

/// Whether the method is to be `randomized`, or 'automatic' finds it the fastest.
template <class T>
bool takes_randomized(Method method, std::int64_t n, const Queue& q) {
  if (method == Method::automatic && (is_complex<T> || n < randomized_least || !q.on_cuda())) return false;
  return (method == Method::automatic || method == Method::randomized) && window_lu_possible(q);
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
  const bool randomized = takes_randomized<T>(options.method, A.rows, q);
  if (options.method == Method::randomized) options.method = Method::automatic;  // of getrf
  lu_method<single_t<T>>("gesv_mixed", A.rows, A.cols, q, options);              // its errors
  MixedResult result;
  if (A.empty()) {
    result.info = gesv(A, ipiv, B, q, options);
    return result;
  }
  result.iterations = mixed::singular;
  if (randomized) result.iterations = solve_refined<RandomizedFactors>(A, ipiv, B, q, options);
  // a matrix of some structure can be regular, and its mixture not
  if (result.iterations == mixed::singular) result.iterations = solve_refined<PivotedFactors>(A, ipiv, B, q, options);
  if (result.iterations < 0) result.info = gesv(A, ipiv, B, q, options);
  return result;
}

#define INSTANTIATE(T) template MixedResult gesv_mixed<T>(View<T>, View<std::int32_t>, View<T>, Queue&, LuOptions);
DEVOBJ_FOR_EACH_DOUBLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
