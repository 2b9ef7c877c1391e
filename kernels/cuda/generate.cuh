// B(i, j) = f(i, j) over a matrix or a triangle of it: the kernel behind lacpy, laset and unit_lower.
#pragma once

#include "kernels/cuda/grid.cuh"

namespace devobj::cuda {

inline constexpr int generate_threads = 256;
inline constexpr int generate_columns = 4;  // columns of a thread: as many loads are under way at once

__device__ inline bool in_part(Uplo part, std::int64_t i, std::int64_t j) {
  return part == Uplo::General || (part == Uplo::Upper ? i <= j : i >= j);
}

// A block of tile_rows x tile_cols threads (256 together) writes tile_rows x 4 tile_cols elements:
//
//            tile_cols     tile_cols     tile_cols     tile_cols
//            +-----------+-------------+-------------+-----------+
//  tile_rows | u = 0     | u = 1       | u = 2       | u = 3     |   a thread has the same place in the four parts
//            +-----------+-------------+-------------+-----------+
//
// blockIdx.x counts tiles downwards, blockIdx.y to the right.
template <class E, class Target, class F>
__global__ void __launch_bounds__(generate_threads) generate_kernel(Uplo part, Target B, F f) {
  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= B.rows) return;
  const std::int64_t tile = std::int64_t(blockDim.y) * generate_columns;
  for (std::int64_t j0 = blockIdx.y * tile; j0 < B.cols; j0 += gridDim.y * tile) {
    E value[generate_columns];
#pragma unroll
    for (int u = 0; u < generate_columns; ++u) {
      const std::int64_t j = j0 + u * std::int64_t(blockDim.y) + threadIdx.y;
      if (j < B.cols && in_part(part, i, j)) value[u] = f(i, j);
    }
#pragma unroll
    for (int u = 0; u < generate_columns; ++u) {
      const std::int64_t j = j0 + u * std::int64_t(blockDim.y) + threadIdx.y;
      if (j < B.cols && in_part(part, i, j)) B(i, j) = value[u];
    }
  }
}

/// B(i, j) = f(i, j), of type E, for the elements of `part`; f must not read what is written. B is a Block or has one's
/// rows, cols and B(i, j).
template <class E, class Target, class F>
void generate(const char* name, Uplo part, Target B, F f, Queue& q) {
  if (B.rows == 0 || B.cols == 0) return;
  int tile_rows = generate_threads;
  while (tile_rows > 1 && tile_rows / 2 >= B.rows) tile_rows /= 2;
  const dim3 block(tile_rows, generate_threads / tile_rows);
  const std::int64_t tiles_right = ceil_div(B.cols, std::int64_t(block.y) * generate_columns);
  const dim3 grid(static_cast<unsigned>(ceil_div(B.rows, tile_rows)),
                  static_cast<unsigned>(std::min(tiles_right, max_grid_y)));
  DeviceScope scope(q.device());
  generate_kernel<E><<<grid, block, 0, stream_of(q)>>>(part, B, f);
  q.launched(name);
}

}  // namespace devobj::cuda
