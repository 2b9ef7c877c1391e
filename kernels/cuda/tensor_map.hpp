// Tensor maps (Hopper): how the bulk copy engine finds the boxes of a matrix.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/cuda_common.hpp"

namespace devobj::cuda {

/// The copy engine counts in 16 bytes: so many numbers.
template <class T>
inline constexpr std::int64_t copied_numbers = 16 / sizeof(T);
template <class T>
bool is_aligned(const T* column) {
  return reinterpret_cast<std::uintptr_t>(column) % 16 == 0;
}
/// Whether a tensor map can be made of this matrix.
template <class T>
bool has_tensor_map(View<T> X) {
  return is_aligned(X.data) && X.ld % copied_numbers<T> == 0 && X.ld < (std::int64_t(1) << 36);
}

/// A map of X, of float or double, as what has `dimensions`, with `strides` in bytes between the elements of each but the first. What the
/// driver says to it.
template <class T, int dimensions>
CUresult encode_tensor_map(CUtensorMap& map, const char* routine, View<T> X, const cuuint64_t (&sizes)[dimensions],
                           const cuuint64_t (&strides)[dimensions - 1], const cuuint32_t (&box)[dimensions]) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
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
  cuuint32_t steps[dimensions];
  std::fill_n(steps, dimensions, 1);
  constexpr auto type = sizeof(T) == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  return encode(&map, type, dimensions, X.data, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/// The boxes of X, of float or double, box_rows x box_cols, columns of 128 bytes below each other. What lies outside of X is zero,
/// and is not stored, but for what is in the last 16 bytes of a column that ends within them. In each 1024 bytes, which begin at a
/// multiple of 1024, 16-byte piece p of column c is at piece p ^ (c % 8).
template <class T>
CUtensorMap tensor_map(const char* routine, View<T> X, int box_rows, int box_cols) {
  CUtensorMap map{};
  const CUresult result =
      encode_tensor_map<T, 2>(map, routine, X, {static_cast<cuuint64_t>(X.rows), static_cast<cuuint64_t>(X.cols)},
                              {static_cast<cuuint64_t>(X.ld) * sizeof(T)},
                              {static_cast<cuuint32_t>(box_rows), static_cast<cuuint32_t>(box_cols)});
  if (result != CUDA_SUCCESS)
    fail(Status::device_error, routine, ": no tensor map of ", X.rows, " x ", X.cols, " elements, ld ", X.ld,
         ": CUDA error ", static_cast<int>(result));
  return map;
}
/// Of stacks of so many of these boxes: those that are below each other in X follow each other in shared memory. X has one at least, and
/// what is below its last whole box is outside. Whether there is such a map: its strides are not in order, which drivers (580) allow, though
/// their manual speaks of strides that grow.
template <class T>
bool stack_tensor_map(CUtensorMap& map, const char* routine, View<T> X, int box_rows, int box_cols, int boxes) {
  const auto rows = static_cast<cuuint64_t>(box_rows);
  return encode_tensor_map<T, 3>(map, routine, X, {rows, static_cast<cuuint64_t>(X.cols), X.rows / rows},
                                 {static_cast<cuuint64_t>(X.ld) * sizeof(T), rows * sizeof(T)},
                                 {static_cast<cuuint32_t>(box_rows), static_cast<cuuint32_t>(box_cols),
                                  static_cast<cuuint32_t>(boxes)}) == CUDA_SUCCESS;
}

}  // namespace devobj::cuda
