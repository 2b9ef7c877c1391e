// gels: least squares and minimum norm solutions by QR.
#include <algorithm>
#include <limits>

#include "blas_checks.hpp"
#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "devobj/qr.hpp"
#include "power_scaling.hpp"
#include "qr_dependence.hpp"
#include "qr_orthogonal.hpp"
#include "triangles.hpp"

namespace devobj {

template <class T>
std::int64_t gels(Op op, View<T> A, View<T> B, Queue& q, QrOptions options) {
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

  // 2^a A^H = Q R if A is wide, 2^a A = Q R otherwise. All memory but the factorization's own first.
  q.scratch(0);  // for the reductions below: none of them runs out of memory once A has been overwritten
  const bool wide = m < n, least_squares = (op == Op::NoTrans) != wide;
  const std::int64_t most = std::max(m, n);
  const int a = exponent_to_ordinary(A, q), b = exponent_to_ordinary(least_squares ? B : B({0, k}, {0, B.cols}), q);
  Matrix<T> tau(k, 1, q), copy;
  if (wide || a != 0) copy = Matrix<T>(most, k, q);
  DependenceTest<T> dependence(k, std::numeric_limits<real_t<T>>::epsilon() / 2.0 * static_cast<double>(most), q);
  OrthogonalFactor<T> Q(Side::Left, most, k, B.cols, q, {.math = options.math});
  const TriangleSolver<T> triangle(options.math, k, B.cols, q);
  const View<T> F = wide || a != 0 ? copy.view() : A, all_B = B, top = B({0, k}, {0, B.cols}),
                bottom = B({k, most}, {0, B.cols});

  if (wide)
    transpose(adjoint<T>, A, F, q);
  else if (a != 0)
    lacpy(Uplo::General, A, F, q);
  scale_by_power(a, F, q);
  geqrf(F, tau.view(), q, options);
  if (wide)
    transpose(adjoint<T>, F, A, q);
  else if (a != 0)
    lacpy(Uplo::General, F, A, q);
  const View<T> R = F({0, k}, {0, k});
  if (const std::int64_t i = dependence.first_dependent(R)) return i;

  if (least_squares) {
    // least squares: 2^(b - a) X = R^-1 (2^b Q^H B)(1:k)
    scale_by_power(b, all_B, q);
    Q.apply(adjoint<T>, F, tau.view(), all_B);
    triangle.solve(Uplo::Upper, Op::NoTrans, Diag::NonUnit, R, top, q);
    scale_by_power(a - b, top, q);
    scale_by_power(-b, bottom, q);
  } else {
    // least norm: 2^(b - a) X = Q [2^b R^-H B; 0]
    scale_by_power(b, top, q);
    triangle.solve(Uplo::Upper, adjoint<T>, Diag::NonUnit, R, top, q);
    laset(Uplo::General, T(0), T(0), bottom, q);
    Q.apply(Op::NoTrans, F, tau.view(), all_B);
    scale_by_power(a - b, all_B, q);
  }
  q.wait();
  return 0;
}

#define INSTANTIATE(T) template std::int64_t gels<T>(Op, View<T>, View<T>, Queue&, QrOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
