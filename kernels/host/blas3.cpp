// BLAS level 3 on the host: the vendor's BLAS.
#include "kernels/host/blas_fortran.hpp"
#include "kernels/kernels.hpp"

namespace devobj::host {

using fortran::BlasInt;

/// With alpha = 0 the sum is made empty, since OpenBLAS's kernels for small matrices would read A and B all the same.
template <class T>
void gemm(Op opA, Op opB, T alpha, View<T> A, View<T> B, T beta, View<T> C, Queue& q) {
  if (C.empty()) return;
  const BlasInt m(C.rows, "gemm", "rows of C"), n(C.cols, "gemm", "columns of C");
  const std::int64_t inner = opA == Op::NoTrans ? A.cols : A.rows;
  const BlasInt k(alpha == T(0) ? 0 : inner, "gemm", "columns of op(A)");
  const BlasInt lda(A.ld, "gemm", "ld of A"), ldb(B.ld, "gemm", "ld of B"), ldc(C.ld, "gemm", "ld of C");
  q.submit("gemm", [=] { fortran::gemm(opA, opB, m, n, k, alpha, A.data, lda, B.data, ldb, beta, C.data, ldc); });
}

template <class T>
void symm(Side side, Uplo uplo, T alpha, View<T> A, View<T> B, T beta, View<T> C, Queue& q) {
  if (C.empty()) return;
  const BlasInt m(C.rows, "symm", "rows of C"), n(C.cols, "symm", "columns of C");
  const BlasInt lda(A.ld, "symm", "ld of A"), ldb(B.ld, "symm", "ld of B"), ldc(C.ld, "symm", "ld of C");
  q.submit("symm", [=] { fortran::symm(side, uplo, m, n, alpha, A.data, lda, B.data, ldb, beta, C.data, ldc); });
}

template <class T>
void hemm(Side side, Uplo uplo, T alpha, View<T> A, View<T> B, T beta, View<T> C, Queue& q) {
  if (C.empty()) return;
  const BlasInt m(C.rows, "hemm", "rows of C"), n(C.cols, "hemm", "columns of C");
  const BlasInt lda(A.ld, "hemm", "ld of A"), ldb(B.ld, "hemm", "ld of B"), ldc(C.ld, "hemm", "ld of C");
  q.submit("hemm", [=] { fortran::hemm(side, uplo, m, n, alpha, A.data, lda, B.data, ldb, beta, C.data, ldc); });
}

template <class T>
void syrk(Uplo uplo, Op op, T alpha, View<T> A, T beta, View<T> C, Queue& q) {
  if (C.empty()) return;
  const BlasInt n(C.rows, "syrk", "rows of C"), k(op == Op::NoTrans ? A.cols : A.rows, "syrk", "columns of op(A)");
  const BlasInt lda(A.ld, "syrk", "ld of A"), ldc(C.ld, "syrk", "ld of C");
  q.submit("syrk", [=] { fortran::syrk(uplo, op, n, k, alpha, A.data, lda, beta, C.data, ldc); });
}

template <class T>
void herk(Uplo uplo, Op op, real_t<T> alpha, View<T> A, real_t<T> beta, View<T> C, Queue& q) {
  if (C.empty()) return;
  const BlasInt n(C.rows, "herk", "rows of C"), k(op == Op::NoTrans ? A.cols : A.rows, "herk", "columns of op(A)");
  const BlasInt lda(A.ld, "herk", "ld of A"), ldc(C.ld, "herk", "ld of C");
  q.submit("herk", [=] { fortran::herk<T>(uplo, op, n, k, alpha, A.data, lda, beta, C.data, ldc); });
}

template <class T>
void trmm(Side side, Uplo uplo, Op op, Diag diag, T alpha, View<T> A, View<T> B, Queue& q) {
  if (B.empty()) return;
  const BlasInt m(B.rows, "trmm", "rows of B"), n(B.cols, "trmm", "columns of B");
  const BlasInt lda(A.ld, "trmm", "ld of A"), ldb(B.ld, "trmm", "ld of B");
  q.submit("trmm", [=] { fortran::trmm(side, uplo, op, diag, m, n, alpha, A.data, lda, B.data, ldb); });
}

template <class T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, View<T> A, View<T> B, Queue& q) {
  if (B.empty()) return;
  const BlasInt m(B.rows, "trsm", "rows of B"), n(B.cols, "trsm", "columns of B");
  const BlasInt lda(A.ld, "trsm", "ld of A"), ldb(B.ld, "trsm", "ld of B");
  // for one column OpenBLAS's trsm takes up to four times as long
  if (side == Side::Left && B.cols == 1 && alpha == T(1))
    return q.submit("trsm", [=] { fortran::trsv(uplo, op, diag, m, A.data, lda, B.data, BlasInt(1, "trsm", "1")); });
  q.submit("trsm", [=] { fortran::trsm(side, uplo, op, diag, m, n, alpha, A.data, lda, B.data, ldb); });
}

#define INSTANTIATE(T)                                                             \
  template void gemm<T>(Op, Op, T, View<T>, View<T>, T, View<T>, Queue&);          \
  template void symm<T>(Side, Uplo, T, View<T>, View<T>, T, View<T>, Queue&);      \
  template void hemm<T>(Side, Uplo, T, View<T>, View<T>, T, View<T>, Queue&);      \
  template void syrk<T>(Uplo, Op, T, View<T>, T, View<T>, Queue&);                 \
  template void herk<T>(Uplo, Op, real_t<T>, View<T>, real_t<T>, View<T>, Queue&); \
  template void trmm<T>(Side, Uplo, Op, Diag, T, View<T>, View<T>, Queue&);        \
  template void trsm<T>(Side, Uplo, Op, Diag, T, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
