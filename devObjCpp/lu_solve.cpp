// Solves with the factors of getrf.
#include "devobj/blas.hpp"
#include "devobj/lu.hpp"
#include "blas_checks.hpp"

namespace devobj {

template <class T> void getrs(Op op, View<T> LU, View<std::int32_t> ipiv, View<T> B, Queue& q) {
  const std::int64_t n = LU.rows;
  require_square("getrs", "LU", LU);
  require_pivots("getrs", "ipiv", ipiv, n);
  require(B.rows == n, "getrs: B has ", B.rows, " rows, but LU is ", n, " x ", n);
  require_op("getrs", "op", op);
  require_distinct("getrs", "B", B, "LU", LU);
  if (B.empty()) return;
  if (op == Op::NoTrans) {
    // X = U^-1 L^-1 P B
    laswp(B, 0, n, ipiv, true, q);
    trsm(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, T(1), LU, B, q);
    trsm(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(1), LU, B, q);
  } else {
    // X = P^T L^-T U^-T B
    trsm(Side::Left, Uplo::Upper, op, Diag::NonUnit, T(1), LU, B, q);
    trsm(Side::Left, Uplo::Lower, op, Diag::Unit, T(1), LU, B, q);
    laswp(B, 0, n, ipiv, false, q);
  }
}

template <class T>
std::int64_t gesv(View<T> A, View<std::int32_t> ipiv, View<T> B, Queue& q, LuOptions options) {
  require_square("gesv", "A", A);
  require_pivots("gesv", "ipiv", ipiv, A.rows);
  require(B.rows == A.rows, "gesv: B has ", B.rows, " rows, but A is ", A.rows, " x ", A.cols);
  require_distinct("gesv", "B", B, "A", A);
  const std::int64_t info = getrf(A, ipiv, q, options);
  if (info == 0) getrs(Op::NoTrans, A, ipiv, B, q);
  return info;
}

#define INSTANTIATE(T)                                                                   \
  template void getrs<T>(Op, View<T>, View<std::int32_t>, View<T>, Queue&);              \
  template std::int64_t gesv<T>(View<T>, View<std::int32_t>, View<T>, Queue&, LuOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
