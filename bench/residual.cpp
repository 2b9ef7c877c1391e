#include "residual.hpp"

#include <algorithm>
#include <complex>
#include <limits>
#include <type_traits>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "devobj/qr.hpp"
#include "kernels/dispatch_precision.hpp"

namespace bench {

using namespace devobj;

namespace {

template <class T>
constexpr bool is_single = sizeof(real_t<T>) == sizeof(float);
template <class T>
using precise_t = std::conditional_t<is_complex<T>, std::complex<double>, double>;

template <class T>
Residual scaled(View<T> D, View<T> A, Queue& q) {
  const double eps = std::numeric_limits<real_t<T>>::epsilon();
  const double longer = static_cast<double>(std::max(A.rows, A.cols));
  Residual r;
  r.scaled = lange<T>(Norm::One, D, q) / (lange<T>(Norm::One, A, q) * longer * eps);
  r.largest = lange<T>(Norm::Max, D, q) / (lange<T>(Norm::Max, A, q) * eps);
  return r;
}

template <class T>
Residual of_lu(View<T> A, View<T> LU, View<std::int32_t> ipiv, Queue& q) {
  const std::int64_t m = A.rows, n = A.cols, k = diagonal(A);
  Matrix<T> L(m, k, q), U(k, n, q), D(m, n, q);
  // L: the strict lower trapezoid under a unit diagonal
  lacpy<T>(Uplo::Lower, LU({0, m}, {0, k}), L, q);
  laset<T>(Uplo::Upper, T(0), T(1), L, q);
  // U: the upper trapezoid
  laset<T>(Uplo::Lower, T(0), T(0), U, q);
  lacpy<T>(Uplo::Upper, LU({0, k}, {0, n}), U, q);
  // D = P A - L U
  devobj::copy<T>(A, D, q);
  laswp<T>(D, 0, k, ipiv, true, q);
  gemm<T>(Op::NoTrans, Op::NoTrans, T(-1), L, U, T(1), D, q);
  return scaled<T>(D, A, q);
}

template <class T>
Residual of_qr(View<T> A, View<T> QR, View<T> tau, Queue& q) {
  const std::int64_t m = A.rows, n = A.cols, k = diagonal(A);
  Matrix<T> D(m, n, q);
  // D = Q R - A, R the upper trapezoid over zeros
  laset<T>(Uplo::General, T(0), T(0), D, q);
  lacpy<T>(Uplo::Upper, QR({0, k}, {0, n}), D({0, k}, {0, n}), q);
  ormqr<T>(Side::Left, Op::NoTrans, QR({0, m}, {0, k}), tau, D, q);
  axpy<T>(T(-1), A, D, q);
  return scaled<T>(D, A, q);
}

/// A of single precision in double precision.
template <class T>
Matrix<precise_t<T>> precise(View<T> A, Queue& q) {
  Matrix<precise_t<T>> P(A.rows, A.cols, q);
  widen<precise_t<T>>(A, false, P, q);
  return P;
}
/// In units of single precision's eps.
Residual in_single(Residual r) {
  constexpr double ratio = std::numeric_limits<double>::epsilon() / double(std::numeric_limits<float>::epsilon());
  return {r.scaled * ratio, r.largest * ratio};
}

}  // namespace

template <class T>
Residual lu_residual(View<T> A, View<T> LU, View<std::int32_t> ipiv, Queue& q) {
  if constexpr (is_single<T>)
    return in_single(of_lu<precise_t<T>>(precise(A, q), precise(LU, q), ipiv, q));
  else
    return of_lu<T>(A, LU, ipiv, q);
}

template <class T>
Residual qr_residual(View<T> A, View<T> QR, View<T> tau, Queue& q) {
  if constexpr (is_single<T>)
    return in_single(of_qr<precise_t<T>>(precise(A, q), precise(QR, q), precise(tau, q), q));
  else
    return of_qr<T>(A, QR, tau, q);
}

template <class T>
double solution_residual(View<T> A, View<T> X, View<T> B, Queue& q) {
  const double a = lange<T>(Norm::One, A, q), b = lange<T>(Norm::One, B, q), x = lange<T>(Norm::One, X, q),
               unit = static_cast<double>(A.rows) * std::numeric_limits<real_t<T>>::epsilon();
  Matrix<T> R(B.rows, B.cols, q);
  devobj::copy<T>(B, R, q);
  gemm<T>(Op::NoTrans, Op::NoTrans, T(-1), A, X, T(1), R, q);
  if (A.rows == A.cols) return lange<T>(Norm::One, R, q) / (a * x * unit);
  Matrix<T> G(X.rows, X.cols, q);
  gemm<T>(adjoint<T>, Op::NoTrans, T(1), A, R, T(0), G, q);
  return lange<T>(Norm::One, G, q) / (a * (b + a * x) * unit);
}

#define INSTANTIATE(T)                                                         \
  template Residual lu_residual(View<T>, View<T>, View<std::int32_t>, Queue&); \
  template Residual qr_residual(View<T>, View<T>, View<T>, Queue&);            \
  template double solution_residual(View<T>, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace bench
