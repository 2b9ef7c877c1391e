// gemm_3m: C = alpha op(A) op(B) + beta C for complex matrices by cuBLAS's gemm3m, with three real products instead of four.
#include "kernels/cuda/cublas.hpp"
#include "kernels/cuda/scale_part.hpp"
#include "kernels/native.hpp"

namespace devobj::cuda {

template <class T>
void gemm_3m(Op opA, Op opB, T alpha, View<T> A, View<T> B, T beta, View<T> C, Queue& q) {
  if (C.empty()) return;
  if (A.empty()) return scale_part("gemm_3m", Uplo::General, beta, C, q);
  call_cublas("gemm_3m", q, cublasZgemm3m_64, to_cublas(opA), to_cublas(opB), C.rows, C.cols,
              opA == Op::NoTrans ? A.cols : A.rows, raw(&alpha), raw(A.data), A.ld, raw(B.data), B.ld, raw(&beta),
              raw(C.data), C.ld);
}

template void gemm_3m(Op, Op, std::complex<double>, View<std::complex<double>>, View<std::complex<double>>,
                      std::complex<double>, View<std::complex<double>>, Queue&);

}  // namespace devobj::cuda
