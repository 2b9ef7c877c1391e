// gels: least squares and minimum norm solutions by QR.
#include <algorithm>
#include <cmath>
#include <limits>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "devobj/qr.hpp"
#include "kernels/dispatch.hpp"
#include "blas_checks.hpp"

namespace devobj {
namespace {

// The first i with a column i of R that depends on those before it to working precision, or 0.
// R (n x n, upper) has its columns scaled to norm 1, R = S D; a few steps of inverse iteration on S^H S give the
// smallest singular value of S, and the largest element of its vector belongs to a dependent column.
template <class T> std::int64_t dependent_column(View<T> R, std::int64_t m, Queue& q) {
  using Real = real_t<T>;
  const std::int64_t n = R.rows;
  if (n == 0) return 0;
  if (const std::int64_t i = first_zero_diagonal(R, q)) return i;

  Matrix<Real> norms(n, 1, q);
  column_norms(R, norms.data, q);
  Matrix<T> x(n, 1, q);
  laset(Uplo::General, T(1), T(1), x.view(), q);
  scal(T(1 / std::sqrt(static_cast<Real>(n))), x.view(), q);
  const Real limit = std::numeric_limits<Real>::epsilon() / 2 * static_cast<Real>(std::max(m, n));
  Real sigma = 1;
  for (int step = 0; step < 3; ++step) {
    // y = S^-H x = R^-H D x, z = S^-1 y = D R^-1 y;  ||y|| / ||z|| -> sigma_min with the steps
    scale_rows(norms.data, false, x.view(), q);
    trsv(Uplo::Upper, adjoint<T>, Diag::NonUnit, R, x.view(), q);
    const Real y = nrm2(x.view(), q);
    trsv(Uplo::Upper, Op::NoTrans, Diag::NonUnit, R, x.view(), q);
    scale_rows(norms.data, false, x.view(), q);
    const Real z = nrm2(x.view(), q);
    if (std::isnan(y) || std::isnan(z)) return 0;  // NaN in A goes on into the solution
    if (std::isinf(y) || std::isinf(z) || y == 0) return iamax(x.view(), q);
    sigma = y / z;
    scal(T(1 / z), x.view(), q);
  }
  return sigma < limit ? iamax(x.view(), q) : 0;
}

// Least squares by A = Q R (m >= n): X = R^-1 (Q^H B)(1:n).
template <class T> void solve_overdetermined(View<T> A, View<T> tau, View<T> B, Queue& q) {
  const std::int64_t n = A.cols;
  ormqr(Side::Left, adjoint<T>, A, tau, B({0, A.rows}, {0, B.cols}), q);
  trsm(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(1), A({0, n}, {0, n}), B({0, n}, {0, B.cols}), q);
}

// Minimum norm solution of A^H X = B by A = Q R (m >= n): X = Q [R^-H B; 0].
template <class T> void solve_minimum_norm(View<T> A, View<T> tau, View<T> B, Queue& q) {
  const std::int64_t m = A.rows, n = A.cols;
  trsm(Side::Left, Uplo::Upper, adjoint<T>, Diag::NonUnit, T(1), A({0, n}, {0, n}), B({0, n}, {0, B.cols}), q);
  laset(Uplo::General, T(0), T(0), B({n, m}, {0, B.cols}), q);
  ormqr(Side::Left, Op::NoTrans, A, tau, B({0, m}, {0, B.cols}), q);
}

}  // namespace

template <class T> std::int64_t gels(Op op, View<T> A, View<T> B, Queue& q, QrOptions options) {
  const std::int64_t m = A.rows, n = A.cols, k = diagonal(A);
  require(op == Op::NoTrans || op == adjoint<T>, "gels: op is '", static_cast<char>(op), "', must be 'N' or '",
          static_cast<char>(adjoint<T>), "' for this type");
  require(B.rows == std::max(m, n), "gels: B has ", B.rows, " rows, but A is ", m, " x ", n,
          " and B must have the larger of both");
  require_distinct("gels", "B", B, "A", A);
  if (k == 0) {
    laset(Uplo::General, T(0), T(0), B, q);
    return 0;
  }
  Matrix<T> tau(k, 1, q);
  if (m >= n) {
    geqrf(A, tau.view(), q, options);
    if (const std::int64_t i = dependent_column(A({0, n}, {0, n}), m, q)) return i;
    if (op == Op::NoTrans)
      solve_overdetermined(A, tau.view(), B, q);
    else
      solve_minimum_norm(A, tau.view(), B, q);
  } else {
    // A^H = Q R
    Matrix<T> AH(n, m, q);
    transpose(adjoint<T>, A, AH.view(), q);
    geqrf(AH.view(), tau.view(), q, options);
    transpose(adjoint<T>, AH.view(), A, q);
    if (const std::int64_t i = dependent_column(AH({0, m}, {0, m}), n, q)) return i;
    if (op == Op::NoTrans)
      solve_minimum_norm(AH.view(), tau.view(), B, q);
    else
      solve_overdetermined(AH.view(), tau.view(), B, q);
  }
  q.wait();
  return 0;
}

#define INSTANTIATE(T) template std::int64_t gels<T>(Op, View<T>, View<T>, Queue&, QrOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
