// What the calls of cuBLAS share. Its header is large: only for files that call it.
#pragma once

#include <cublas_v2.h>

#include "kernels/cuda/cuda_common.hpp"

namespace devobj::cuda {

inline void check(cublasStatus_t status, const char* routine) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(status == CUBLAS_STATUS_ALLOC_FAILED ? Status::out_of_memory : Status::device_error, routine, ": cuBLAS error ",
       static_cast<int>(status), ", ", cublasGetStatusString(status));
}

inline cublasOperation_t to_cublas(Op op) {
  return op == Op::NoTrans ? CUBLAS_OP_N : op == Op::Trans ? CUBLAS_OP_T : CUBLAS_OP_C;
}
inline cublasFillMode_t to_cublas(Uplo uplo) {
  return uplo == Uplo::Upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}
inline cublasDiagType_t to_cublas(Diag diag) { return diag == Diag::Unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT; }
inline cublasSideMode_t to_cublas(Side side) { return side == Side::Left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT; }

/// function(handle, arguments...) of cuBLAS on the queue, checked.
template <class Function, class... Arguments>
void call_cublas(const char* routine, Queue& q, Function function, Arguments... arguments) {
  DeviceScope scope(q.device());
  check(function(static_cast<cublasHandle_t>(q.blas()), arguments...), routine);
  q.launched(routine);
}

}  // namespace devobj::cuda
