// gels: least squares and minimum norm solutions by QR.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "devobj/qr.hpp"
#include "kernels/dispatch.hpp"
#include "blas_checks.hpp"
#include "qr_orthogonal.hpp"

namespace devobj {
namespace {

// Finds columns that depend on those before them to working precision. R (upper) has its columns scaled to norm 1,
// R = S D; a few steps of inverse iteration on S^H S estimate the smallest singular value of S, from above.
template <class T> class DependenceTest {
  using Real = real_t<T>;

 public:
  /// For R of up to n columns, from a matrix whose larger size is `most`.
  DependenceTest(std::int64_t n, std::int64_t most, Queue& q)
      : norms_(n, 1, q), x_(n, 1, q), start_(n), limit_(std::numeric_limits<Real>::epsilon() / 2 * static_cast<Real>(most)),
        q_(q) {
    // numbers from 1/2 to 3/2 without any order, so that no vector one meets is orthogonal to them
    for (std::int64_t i = 0; i < n; ++i) {
      const double turns = 0.6180339887498949 * static_cast<double>(i + 1);
      start_[i] = T(static_cast<Real>((0.5 + turns - std::floor(turns)) / std::sqrt(static_cast<double>(n))));
    }
  }

  /// The first i such that R's columns 1 ... i are dependent, or 0. Waits.
  std::int64_t first_dependent(View<T> R) {
    const std::int64_t zero = first_zero_diagonal(R, q_), n = zero > 0 ? zero - 1 : R.cols;
    column_norms(R, norms_.data, q_);
    if (std::isnan(nrm2(norms_.view(), q_))) return 0;  // NaN in A goes on into the solution
    if (!dependent(R, n)) return zero;
    // the smallest singular value of the leading blocks falls with their size: bisection
    std::int64_t independent = 1, found = n;
    while (found - independent > 1) {
      const std::int64_t middle = (independent + found) / 2;
      (dependent(R, middle) ? found : independent) = middle;
    }
    return found;
  }

 private:
  /// Whether columns 1 ... n of R are dependent.
  bool dependent(View<T> R, std::int64_t n) {
    if (n <= 1) return false;
    const Range first{0, n};
    const View<T> block = R(first, first), x = x_(first, {0, 1});
    to_device<T>({start_.data(), n, 1, n}, x, q_);
    Real sigma = 1;
    for (int step = 0; step < 3; ++step) {
      // y = S^-H x = R^-H D x, z = S^-1 y = D R^-1 y;  ||y|| / ||z|| -> sigma_min with the steps
      scale_rows(norms_.data, false, x, q_);
      trsv(Uplo::Upper, adjoint<T>, Diag::NonUnit, block, x, q_);
      const Real y = nrm2(x, q_);
      trsv(Uplo::Upper, Op::NoTrans, Diag::NonUnit, block, x, q_);
      scale_rows(norms_.data, false, x, q_);
      const Real z = nrm2(x, q_);
      if (!std::isfinite(y) || !std::isfinite(z) || y == 0) return true;  // more than one small number on R's diagonal
      sigma = y / z;
      scal(T(1 / z), x, q_);
    }
    return sigma < limit_;
  }

  Matrix<Real> norms_;
  Matrix<T> x_;
  std::vector<T> start_;
  Real limit_;
  Queue& q_;
};

}  // namespace

template <class T> std::int64_t gels(Op op, View<T> A, View<T> B, Queue& q, QrOptions options) {
  const std::int64_t m = A.rows, n = A.cols, k = diagonal(A);
  require(op == Op::NoTrans || op == adjoint<T>, "gels: op is '", static_cast<char>(op), "', must be 'N' or '",
          static_cast<char>(adjoint<T>), "' for this type");
  require(B.rows == std::max(m, n), "gels: B has ", B.rows, " rows, but A is ", m, " x ", n,
          " and B must have the larger of both");
  require_distinct("gels", "B", B, "A", A);
  require_options("gels", options, q);
  if (k == 0) {
    laset(Uplo::General, T(0), T(0), B, q);
    return 0;
  }

  // A^H = Q R if A is wide, A = Q R otherwise. All memory but the factorization's own first.
  q.scratch(0);  // for the reductions below: none of them runs out of memory once A has been overwritten
  const bool wide = m < n;
  const std::int64_t most = std::max(m, n);
  Matrix<T> tau(k, 1, q), AH;
  if (wide) AH = Matrix<T>(n, m, q);
  DependenceTest<T> dependence(k, most, q);
  OrthogonalFactor<T> Q(Side::Left, most, k, B.cols, q);
  const View<T> F = wide ? AH.view() : A, all_B = B, top = B({0, k}, {0, B.cols}), bottom = B({k, most}, {0, B.cols});

  if (wide) transpose(adjoint<T>, A, F, q);
  geqrf(F, tau.view(), q, options);
  if (wide) transpose(adjoint<T>, F, A, q);
  const View<T> R = F({0, k}, {0, k});
  if (const std::int64_t i = dependence.first_dependent(R)) return i;

  if ((op == Op::NoTrans) != wide) {
    // least squares: X = R^-1 (Q^H B)(1:k)
    Q.apply(adjoint<T>, F, tau.view(), all_B);
    trsm(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(1), R, top, q);
  } else {
    // least norm: X = Q [R^-H B; 0]
    trsm(Side::Left, Uplo::Upper, adjoint<T>, Diag::NonUnit, T(1), R, top, q);
    laset(Uplo::General, T(0), T(0), bottom, q);
    Q.apply(Op::NoTrans, F, tau.view(), all_B);
  }
  q.wait();
  return 0;
}

#define INSTANTIATE(T) template std::int64_t gels<T>(Op, View<T>, View<T>, Queue&, QrOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
