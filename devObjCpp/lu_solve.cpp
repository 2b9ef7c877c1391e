// Solves with the factors of getrf: getrs and gesv.
#include "lu_solve.hpp"

#include "blas_checks.hpp"
#include "devobj/blas.hpp"
#include "lu_method.hpp"
#include "lu_pivots.hpp"
#include "triangles.hpp"

namespace devobj {
namespace {

template <class T>
void solve_both(const TriangleSolver<T>& triangles, View<T> LU, View<T> B, Queue& q) {
  triangles.solve(Uplo::Lower, Op::NoTrans, Diag::Unit, LU, B, q);
  triangles.solve(Uplo::Upper, Op::NoTrans, Diag::NonUnit, LU, B, q);
}

}  // namespace

template <class T>
void solve_triangles(View<T> LU, View<T> B, Math math, Queue& q) {
  solve_both(TriangleSolver<T>(math, LU.rows, B.cols, q), LU, B, q);
}

template <class T>
void getrs(Op op, View<T> LU, View<std::int32_t> ipiv, View<T> B, Queue& q, LuOptions options) {
  const std::int64_t n = LU.rows;
  require_square("getrs", "LU", LU);
  require_pivots("getrs", "ipiv", ipiv, n);
  require(B.rows == n, "getrs: B has ", B.rows, " rows, but LU is ", n, " x ", n);
  require_op("getrs", "op", op);
  require_distinct("getrs", "B", B, "LU", LU);
  require_distinct("getrs", "B", B, "ipiv", ipiv);
  if (B.empty()) return;
  const TriangleSolver<T> triangles(options.math, n, B.cols, q);
  reserve_for_laswp(n, q);
  Matrix<std::int32_t> memory;
  const View<std::int32_t> pivots = contiguous_pivots(ipiv, memory, q);
  if (op == Op::NoTrans) {
    // X = U^-1 L^-1 P B
    laswp(B, 0, n, pivots, true, q);
    solve_both(triangles, LU, B, q);
  } else {
    // X = P^T L^-T U^-T B
    triangles.solve(Uplo::Upper, op, Diag::NonUnit, LU, B, q);
    triangles.solve(Uplo::Lower, op, Diag::Unit, LU, B, q);
    laswp(B, 0, n, pivots, false, q);
  }
}

template <class T>
std::int64_t gesv(View<T> A, View<std::int32_t> ipiv, View<T> B, Queue& q, LuOptions options) {
  require_square("gesv", "A", A);
  require_pivots("gesv", "ipiv", ipiv, A.rows);
  require(B.rows == A.rows, "gesv: B has ", B.rows, " rows, but A is ", A.rows, " x ", A.cols);
  require_distinct("gesv", "B", B, "A", A);
  require_distinct("gesv", "ipiv", ipiv, "A", A);
  require_distinct("gesv", "ipiv", ipiv, "B", B);
  lu_method<T>("gesv", A.rows, A.cols, q, options);  // its errors
  if (!B.empty()) {
    TriangleSolver<T>(options.math, A.rows, B.cols, q);  // its memory
    reserve_for_laswp(A.rows, q);
  }
  Matrix<std::int32_t> memory;  // before anything changes
  const View<std::int32_t> pivots = contiguous_pivots(ipiv, memory, q);
  const std::int64_t info = getrf(A, pivots, q, options);
  if (pivots.data != ipiv.data) copy(pivots, ipiv, q);
  if (info == 0) getrs(Op::NoTrans, A, pivots, B, q, options);
  return info;
}

#define INSTANTIATE(T)                                                                 \
  template void solve_triangles<T>(View<T>, View<T>, Math, Queue&);                    \
  template void getrs<T>(Op, View<T>, View<std::int32_t>, View<T>, Queue&, LuOptions); \
  template std::int64_t gesv<T>(View<T>, View<std::int32_t>, View<T>, Queue&, LuOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
