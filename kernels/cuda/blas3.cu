// BLAS level 3 on the GPU: cuBLAS, with empty sums and zero factors handled here.
#include "kernels/cuda/cublas.hpp"
#include "kernels/cuda/scale_part.hpp"

namespace devobj::cuda {

template <class T>
void gemm(Op opA, Op opB, T alpha, View<T> A, View<T> B, T beta, View<T> C, Queue& q) {
  if (C.empty()) return;
  if (A.empty() || alpha == T(0)) return scale_part("gemm", Uplo::General, beta, C, q);
  call_cublas("gemm", q, by_type<T>(cublasSgemm_64, cublasDgemm_64, cublasCgemm_64, cublasZgemm_64), to_cublas(opA),
              to_cublas(opB), C.rows, C.cols, opA == Op::NoTrans ? A.cols : A.rows, raw(&alpha), raw(A.data), A.ld,
              raw(B.data), B.ld, raw(&beta), raw(C.data), C.ld);
}

template <class T>
void symm(Side side, Uplo uplo, T alpha, View<T> A, View<T> B, T beta, View<T> C, Queue& q) {
  if (C.empty()) return;
  if (alpha == T(0)) return scale_part("symm", Uplo::General, beta, C, q);
  call_cublas("symm", q, by_type<T>(cublasSsymm_64, cublasDsymm_64, cublasCsymm_64, cublasZsymm_64), to_cublas(side),
              to_cublas(uplo), C.rows, C.cols, raw(&alpha), raw(A.data), A.ld, raw(B.data), B.ld, raw(&beta),
              raw(C.data), C.ld);
}

template <class T>
void hemm(Side side, Uplo uplo, T alpha, View<T> A, View<T> B, T beta, View<T> C, Queue& q) {
  if (C.empty()) return;
  if (alpha == T(0)) return scale_part("hemm", Uplo::General, beta, C, q);
  call_cublas("hemm", q, by_type<T>(cublasSsymm_64, cublasDsymm_64, cublasChemm_64, cublasZhemm_64), to_cublas(side),
              to_cublas(uplo), C.rows, C.cols, raw(&alpha), raw(A.data), A.ld, raw(B.data), B.ld, raw(&beta),
              raw(C.data), C.ld);
}

template <class T>
void syrk(Uplo uplo, Op op, T alpha, View<T> A, T beta, View<T> C, Queue& q) {
  if (C.empty()) return;
  if (A.empty() || alpha == T(0)) return scale_part("syrk", uplo, beta, C, q);
  call_cublas("syrk", q, by_type<T>(cublasSsyrk_64, cublasDsyrk_64, cublasCsyrk_64, cublasZsyrk_64), to_cublas(uplo),
              op == Op::NoTrans ? CUBLAS_OP_N : CUBLAS_OP_T, C.rows, op == Op::NoTrans ? A.cols : A.rows, raw(&alpha),
              raw(A.data), A.ld, raw(&beta), raw(C.data), C.ld);
}

template <class T>
void herk(Uplo uplo, Op op, real_t<T> alpha, View<T> A, real_t<T> beta, View<T> C, Queue& q) {
  if (C.empty()) return;
  if (A.empty() || alpha == 0) return scale_part("herk", uplo, T(beta), C, q, true);
  const cublasOperation_t adjoint = is_complex<T> ? CUBLAS_OP_C : CUBLAS_OP_T;
  call_cublas("herk", q, by_type<T>(cublasSsyrk_64, cublasDsyrk_64, cublasCherk_64, cublasZherk_64), to_cublas(uplo),
              op == Op::NoTrans ? CUBLAS_OP_N : adjoint, C.rows, op == Op::NoTrans ? A.cols : A.rows, &alpha,
              raw(A.data), A.ld, &beta, raw(C.data), C.ld);
}

template <class T>
void trmm(Side side, Uplo uplo, Op op, Diag diag, T alpha, View<T> A, View<T> B, Queue& q) {
  if (B.empty()) return;
  if (alpha == T(0)) return scale_part("trmm", Uplo::General, alpha, B, q);
  // cuBLAS writes the product to a third matrix, which may be B.
  call_cublas("trmm", q, by_type<T>(cublasStrmm_64, cublasDtrmm_64, cublasCtrmm_64, cublasZtrmm_64), to_cublas(side),
              to_cublas(uplo), to_cublas(op), to_cublas(diag), B.rows, B.cols, raw(&alpha), raw(A.data), A.ld,
              raw(B.data), B.ld, raw(B.data), B.ld);
}

template <class T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, View<T> A, View<T> B, Queue& q) {
  if (B.empty()) return;
  if (alpha == T(0)) return scale_part("trsm", Uplo::General, alpha, B, q);
  call_cublas("trsm", q, by_type<T>(cublasStrsm_64, cublasDtrsm_64, cublasCtrsm_64, cublasZtrsm_64), to_cublas(side),
              to_cublas(uplo), to_cublas(op), to_cublas(diag), B.rows, B.cols, raw(&alpha), raw(A.data), A.ld,
              raw(B.data), B.ld);
}

template <class T>
void scale(T alpha, View<T> B, Queue& q) {
  scale_part("scale", Uplo::General, alpha, B, q);
}

#define INSTANTIATE(T)                                                             \
  template void gemm<T>(Op, Op, T, View<T>, View<T>, T, View<T>, Queue&);          \
  template void symm<T>(Side, Uplo, T, View<T>, View<T>, T, View<T>, Queue&);      \
  template void hemm<T>(Side, Uplo, T, View<T>, View<T>, T, View<T>, Queue&);      \
  template void syrk<T>(Uplo, Op, T, View<T>, T, View<T>, Queue&);                 \
  template void herk<T>(Uplo, Op, real_t<T>, View<T>, real_t<T>, View<T>, Queue&); \
  template void trmm<T>(Side, Uplo, Op, Diag, T, View<T>, View<T>, Queue&);        \
  template void trsm<T>(Side, Uplo, Op, Diag, T, View<T>, View<T>, Queue&);        \
  template void scale<T>(T, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
