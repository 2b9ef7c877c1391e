// gemm_batched: one product for each matrix of a batch, by cuBLAS.
#include "kernels/batched.hpp"
#include "kernels/cuda/cublas.hpp"

namespace devobj::cuda {

template <class T>
void gemm_batched(Batch<T> A, Batch<T> B, Batch<T> C, Queue& q) {
  if (C.empty() || A.cols == 0) return;
  const T minus_one(-1), one(1);
  call_cublas("gemm_batched", q,
              by_type<T>(cublasSgemmStridedBatched_64, cublasDgemmStridedBatched_64, cublasCgemmStridedBatched_64,
                         cublasZgemmStridedBatched_64),
              CUBLAS_OP_N, CUBLAS_OP_N, C.rows, C.cols, A.cols, raw(&minus_one), raw(A.data), A.ld,
              static_cast<long long>(A.stride), raw(B.data), B.ld, static_cast<long long>(B.stride), raw(&one),
              raw(C.data), C.ld, static_cast<long long>(C.stride), C.count);
}

#define INSTANTIATE(T) template void gemm_batched(Batch<T>, Batch<T>, Batch<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
