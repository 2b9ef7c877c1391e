// What LAPACK's pivots do to one row: row i <-> row ipiv(i), for i in order.
#pragma once

#include <cstdint>

#include "kernels/cuda/grid.cuh"

namespace devobj::cuda {

/// The row, counted from 0, that row `i` is swapped with: i itself if the entry is outside 1 ... rows.
__device__ inline std::int32_t read_pivot(std::int32_t entry, std::int64_t rows, std::int64_t i) {
  return entry >= 1 && entry <= rows ? entry - 1 : static_cast<std::int32_t>(i);
}

/// Where the row comes from that `count` swaps, first + i <-> pivot[i], bring to `row`: the swaps are undone from the
/// last to the first. Every thread of a warp reads the same pivots.
__device__ inline std::int64_t source_of(std::int64_t row, const std::int32_t* pivot, std::int64_t first, int count,
                                         bool forward) {
#pragma unroll 8
  for (int step = 0; step < count; ++step) {
    const int i = forward ? count - 1 - step : step;
    const std::int64_t here = first + i, there = pivot[i];
    row = row == here ? there : row == there ? here : row;
  }
  return row;
}

/// The row that the swaps k1 ... k2 - 1 of ipiv bring to `row` of `rows`. By all threads of a block.
__device__ inline std::int64_t source_of(std::int64_t row, Strided<std::int32_t> ipiv, std::int64_t k1, std::int64_t k2,
                                         std::int64_t rows, bool forward) {
  constexpr int at_once = 1024;
  __shared__ std::int32_t pivot[at_once];
  const std::int64_t steps = (k2 - k1 + at_once - 1) / at_once;
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t first = k1 + (forward ? steps - 1 - step : step) * at_once;
    const int count = static_cast<int>(min(std::int64_t(at_once), k2 - first));
    for (int i = threadIdx.x; i < count; i += blockDim.x) pivot[i] = read_pivot(ipiv[first + i], rows, first + i);
    __syncthreads();
    row = source_of(row, pivot, first, count, forward);
    __syncthreads();
  }
  return row;
}

}  // namespace devobj::cuda
