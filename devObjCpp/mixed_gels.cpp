// gels_mixed: least squares and least norm by a single precision QR and refinement of the augmented system.
#include <algorithm>
#include <cmath>
#include <limits>

#include "blas_checks.hpp"
#include "devobj/blas.hpp"
#include "devobj/mixed.hpp"
#include "mixed_support.hpp"
#include "qr_dependence.hpp"
#include "qr_orthogonal.hpp"
#include "triangles.hpp"

namespace devobj {
namespace {

/// F = A if that is tall, otherwise A^H: F is m x n with m >= n. Its single precision factors solve
///   | I   F | | R |   | C |                    | R |
///   | F^H 0 | | X | = | G |  approximately for | X |.
template <class T>
class SingleFactors {
  using S = single_t<T>;

 public:
  SingleFactors(std::int64_t m, std::int64_t n, std::int64_t nrhs, bool wide, Math math, Queue& q)
      : F_(m, n, q),
        tau_(n, 1, q),
        C_(m, nrhs, q),
        G_(n, nrhs, q),
        scales_(n, 1, q),
        dependence_(n, std::numeric_limits<float>::epsilon() * std::sqrt(static_cast<double>(m)), q),
        Q_(Side::Left, m, n, nrhs, q, {.math = math}),
        triangle_(math, n, nrhs, q),
        q_(q) {
    if (wide) AH_ = Matrix<S>(n, m, q);
  }

  /// The copy of A.
  View<S> copy_of_A() const { return AH_.empty() ? F_.view() : AH_.view(); }
  View<S> C() const { return C_; }
  View<S> G() const { return G_; }

  /// F = Q U, and D = the norms of F's columns. False if F is rank-deficient: refinement could then end in any of many
  /// solutions. Waits.
  bool factor(View<double> D, const QrOptions& options) {
    if (!AH_.empty()) transpose(adjoint<S>, AH_.view(), F_.view(), q_);
    column_sizes(Norm::Fro, F_.view(), scales_.data, q_);
    widen(scales_.view(), false, D, q_);
    geqrf(F_.view(), tau_.view(), q_, options);
    return dependence_.first_dependent(U()) == 0;
  }

  /// C and G become R and X.
  void solve() {
    const View<S> upper = C_({0, G_.rows}, {0, C_.cols});
    // H = U^-H G,  D = Q^H C
    triangle_.solve(Uplo::Upper, adjoint<S>, Diag::NonUnit, U(), G(), q_);
    Q_.apply(adjoint<S>, F_.view(), tau_.view(), C());
    // X = U^-1 (D1 - H),  R = Q [H; D2]
    swap(upper, G(), q_);
    axpy(S(-1), upper, G(), q_);
    triangle_.solve(Uplo::Upper, Op::NoTrans, Diag::NonUnit, U(), G(), q_);
    Q_.apply(Op::NoTrans, F_.view(), tau_.view(), C());
  }

 private:
  View<S> U() const { return F_({0, F_.cols}, {0, F_.cols}); }
  Matrix<S> F_, AH_, tau_, C_, G_;
  Matrix<float> scales_;
  DependenceTest<S> dependence_;
  OrthogonalFactor<S> Q_;
  TriangleSolver<S> triangle_;
  Queue& q_;
};

/// The number of refinements, after which B is what gels leaves in it; or, nothing having been written, why there is no
/// refined solution.
template <class T>
std::int64_t solve_refined(Op op, View<T> A, View<T> B, Queue& q, const QrOptions& options) {
  const bool wide = A.rows < A.cols, least_squares = (op == Op::NoTrans) != wide;
  const std::int64_t m = std::max(A.rows, A.cols), n = std::min(A.rows, A.cols), nrhs = B.cols;
  const Op F = wide ? adjoint<T> : Op::NoTrans, FH = wide ? Op::NoTrans : adjoint<T>;  // op(A)
  const Range all{0, nrhs};
  SingleFactors<T> factors(m, n, nrhs, wide, options.math, q);
  // right-hand sides less left sides, the solution, and something of it in units of F's columns
  Matrix<T> C(m, nrhs, q), G(n, nrhs, q), R(m, nrhs, q), X(n, nrhs, q), in_units(n, nrhs, q);
  Matrix<double> D(n, 1, q);
  Matrix<std::int32_t> misfits(3, 1, q);
  Matrix<double> norms(nrhs, 1, q);
  Matrix<T> row(1, nrhs, q);
  mixed::Sizes sizes(nrhs, 4, q);

  auto set_right_hand_sides = [&] {
    laset(Uplo::General, T(0), T(0), least_squares ? G.view() : C.view(), q);
    if (least_squares)
      lacpy(Uplo::General, B, C.view(), q);
    else
      lacpy(Uplo::General, B({0, n}, all), G.view(), q);
  };
  set_right_hand_sides();
  narrow(A, factors.copy_of_A(), misfits.data, q);
  narrow(C.view(), factors.C(), misfits.data + 1, q);
  narrow(G.view(), factors.G(), misfits.data + 2, q);
  if (mixed::any(misfits, q)) return mixed::beyond_single;
  if (!factors.factor(D.view(), options)) return mixed::singular;

  constexpr double eps = std::numeric_limits<double>::epsilon();
  const double norm = std::sqrt(static_cast<double>(n));  // ||F D^-1|| is at most this
  const double of_rows = eps * norm, of_columns = eps * std::sqrt(static_cast<double>(m));
  std::int64_t iteration = 0;
  for (;; ++iteration) {
    // R, X += the solution for C, G by the single precision factors
    factors.solve();
    widen(factors.C(), iteration > 0, R.view(), q);
    widen(factors.G(), iteration > 0, X.view(), q);
    // C = B - R - F X,  G = -F^H R    or    C = -R - F X,  G = B - F^H R
    set_right_hand_sides();
    axpy(T(-1), R.view(), C.view(), q);
    gemm(F, Op::NoTrans, T(-1), A, X.view(), T(1), C.view(), q);
    gemm(FH, Op::NoTrans, T(-1), A, R.view(), T(1), G.view(), q);

    // ||C||, ||R||, ||D X||, ||D^-1 G||
    sizes.measure(Norm::Fro, 0, C.view());
    sizes.measure(Norm::Fro, 1, R.view());
    copy(X.view(), in_units.view(), q);
    scale_rows(D.data, false, in_units.view(), q);
    sizes.measure(Norm::Fro, 2, in_units.view());
    copy(G.view(), in_units.view(), q);
    scale_rows(D.data, true, in_units.view(), q);
    sizes.measure(Norm::Fro, 3, in_units.view());
    sizes.fetch();
    bool converged = true, fits = true;
    for (std::int64_t j = 0; j < nrhs; ++j) {
      const double c = sizes(0, j), r = sizes(1, j), x = sizes(2, j), g = sizes(3, j);
      const bool first = c <= of_rows * (norm * x + r), second = g <= of_columns * norm * r;
      const bool consistent = least_squares && r <= of_rows * norm * x;  // F X = B: what R's direction is is rounding
      fits = fits && mixed::fits_single(c) && mixed::fits_single(g);
      converged = converged && first && (second || consistent);
    }
    if (!fits) return mixed::beyond_single;
    if (converged) break;
    if (iteration == mixed::most_iterations) return mixed::not_converged;
    narrow(C.view(), factors.C(), misfits.data, q);  // they fit
    narrow(G.view(), factors.G(), misfits.data, q);
  }

  if (!least_squares) {
    copy(R.view(), B, q);
  } else {
    if (m > n && nrhs > 0) {
      column_sizes(Norm::Fro, R.view(), norms.data, q);
      std::vector<double> here(nrhs);
      to_host<double>(norms, {here.data(), nrhs, 1, nrhs}, q);
      const std::vector<T> lengths(here.begin(), here.end());
      to_device<T>({lengths.data(), 1, nrhs, 1}, row.view(), q);
    }
    // from here on nothing is allocated
    copy(X.view(), B({0, n}, all), q);
    if (m > n) {
      // below X a row of the residuals' norms, and zeros
      laset(Uplo::General, T(0), T(0), B({n, m}, all), q);
      copy(row.view(), B({n, n + 1}, all), q);
    }
  }
  q.wait();
  return iteration;
}

}  // namespace

template <class T>
MixedResult gels_mixed(Op op, View<T> A, View<T> B, Queue& q, QrOptions options) {
  const std::int64_t m = A.rows, n = A.cols;
  require(op == Op::NoTrans || op == adjoint<T>, "gels_mixed: op is '", static_cast<char>(op), "', must be 'N' or '",
          static_cast<char>(adjoint<T>), "' for this type");
  require(B.rows == std::max(m, n), "gels_mixed: B has ", B.rows, " rows, but A is ", m, " x ", n,
          " and B must have the larger of both");
  require_distinct("gels_mixed", "B", B, "A", A);
  require_options("gels_mixed", options, q);
  MixedResult result;
  if (!A.empty()) result.iterations = solve_refined(op, A, B, q, options);
  if (A.empty() || result.iterations < 0) result.info = gels(op, A, B, q, options);
  return result;
}

#define INSTANTIATE(T) template MixedResult gels_mixed<T>(Op, View<T>, View<T>, Queue&, QrOptions);
DEVOBJ_FOR_EACH_DOUBLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
