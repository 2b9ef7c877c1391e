// Tensor maps (Hopper): how the bulk copy engine finds the boxes of a matrix.
#pragma once

#include <cuda.h>

#include "kernels/cuda/cuda_common.hpp"

namespace devobj::cuda {

/// The copy engine counts in 16 bytes.
inline bool is_aligned(const double* column) {
  return reinterpret_cast<std::uintptr_t>(column) % 16 == 0;
}
/// Whether a tensor map can be made of this matrix.
inline bool has_tensor_map(View<double> X) {
  return is_aligned(X.data) && X.ld % 2 == 0 && X.ld < (std::int64_t(1) << 36);
}

/// The boxes of X, box_rows x box_cols, columns of 128 bytes (box_rows == 16) below each other. What lies outside of X is zero,
/// and is not stored, but for what is in the last 16 bytes of a column that ends within them. In each 1024 bytes, which begin at a
/// multiple of 1024, 16-byte piece p of column c is at piece p ^ (c % 8).
inline CUtensorMap tensor_map(const char* routine, View<double> X, int box_rows, int box_cols) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  static const Encode encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
#else
    const cudaError_t error = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
    if (error != cudaSuccess) cudaGetLastError();
    return error == cudaSuccess && found == cudaDriverEntryPointSuccess ? reinterpret_cast<Encode>(function) : nullptr;
  }();
  if (!encode) fail(Status::device_error, routine, ": the driver has no tensor maps");
  CUtensorMap map{};
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(X.rows), static_cast<cuuint64_t>(X.cols)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(X.ld) * sizeof(double)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_rows), static_cast<cuuint32_t>(box_cols)}, steps[] = {1, 1};
  const CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 2, X.data, sizes, strides, box, steps,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    fail(Status::device_error, routine, ": no tensor map of ", X.rows, " x ", X.cols, " elements, ld ", X.ld,
         ": CUDA error ", static_cast<int>(result));
  return map;
}

}  // namespace devobj::cuda
