// BLAS level 2 on the GPU: cuBLAS, with empty sums and zero factors handled here.
#include "kernels/cuda/cublas.hpp"
#include "kernels/cuda/scale_part.hpp"

namespace devobj::cuda {

/// With an empty sum (A has no element) or alpha = 0, y = beta y, as the formula says.
template <class T>
void gemv(Op op, T alpha, View<T> A, Vector<T> x, T beta, Vector<T> y, Queue& q) {
  if (A.empty() || alpha == T(0)) return scale_part("gemv", beta, y, q);
  call_cublas("gemv", q, by_type<T>(cublasSgemv_64, cublasDgemv_64, cublasCgemv_64, cublasZgemv_64), to_cublas(op),
              A.rows, A.cols, raw(&alpha), raw(A.data), A.ld, raw(x.data), x.inc, raw(&beta), raw(y.data), y.inc);
}

template <class T>
void geru(T alpha, Vector<T> x, Vector<T> y, View<T> A, Queue& q) {
  if (A.empty() || alpha == T(0)) return;
  call_cublas("geru", q, by_type<T>(cublasSger_64, cublasDger_64, cublasCgeru_64, cublasZgeru_64), A.rows, A.cols,
              raw(&alpha), raw(x.data), x.inc, raw(y.data), y.inc, raw(A.data), A.ld);
}

template <class T>
void gerc(T alpha, Vector<T> x, Vector<T> y, View<T> A, Queue& q) {
  if (A.empty() || alpha == T(0)) return;
  call_cublas("gerc", q, by_type<T>(cublasSger_64, cublasDger_64, cublasCgerc_64, cublasZgerc_64), A.rows, A.cols,
              raw(&alpha), raw(x.data), x.inc, raw(y.data), y.inc, raw(A.data), A.ld);
}

template <class T>
void trmv(Uplo uplo, Op op, Diag diag, View<T> A, Vector<T> x, Queue& q) {
  if (A.empty()) return;
  call_cublas("trmv", q, by_type<T>(cublasStrmv_64, cublasDtrmv_64, cublasCtrmv_64, cublasZtrmv_64), to_cublas(uplo),
              to_cublas(op), to_cublas(diag), A.rows, raw(A.data), A.ld, raw(x.data), x.inc);
}

template <class T>
void trsv(Uplo uplo, Op op, Diag diag, View<T> A, Vector<T> x, Queue& q) {
  if (A.empty()) return;
  call_cublas("trsv", q, by_type<T>(cublasStrsv_64, cublasDtrsv_64, cublasCtrsv_64, cublasZtrsv_64), to_cublas(uplo),
              to_cublas(op), to_cublas(diag), A.rows, raw(A.data), A.ld, raw(x.data), x.inc);
}

#define INSTANTIATE(T)                                                    \
  template void gemv<T>(Op, T, View<T>, Vector<T>, T, Vector<T>, Queue&); \
  template void geru<T>(T, Vector<T>, Vector<T>, View<T>, Queue&);        \
  template void gerc<T>(T, Vector<T>, Vector<T>, View<T>, Queue&);        \
  template void trmv<T>(Uplo, Op, Diag, View<T>, Vector<T>, Queue&);      \
  template void trsv<T>(Uplo, Op, Diag, View<T>, Vector<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
