// Rows of a product's C that are in another place (DisplacedRows, native.hpp), brought to it by the blocks that update C, shortly before
// they read it: of a tile, whose C comes to the L2 cache then anyway.
#pragma once

#include "kernels/cuda/grid.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {

/// DisplacedRows in real numbers. Those of a complex element are below each other in a column of C, and of `rows`.
template <class R>
struct Displaced {
  const std::int32_t* from;
  std::int64_t first;
  Block<R> rows;  // their transpose
};
template <class T>
Displaced<real_t<T>> displaced_of(const DisplacedRows<T>& d) {
  using R = real_t<T>;
  constexpr std::int64_t words = sizeof(T) / sizeof(R);
  return {d.from, d.first, {reinterpret_cast<R*>(d.rows.data), words * d.rows.rows, d.rows.cols, words * d.rows.ld}};
}

/// Where C's rows `row` + lane, + lane + 32, ... are, in real numbers, of which an element has `words`.
template <int words, int segments, class R>
__device__ __forceinline__ void places_of_rows(const Displaced<R>& displaced, const Block<R>& C, std::int64_t row,
                                               std::int32_t (&from)[segments]) {
#pragma unroll
  for (int s = 0; s < segments; ++s) {
    const std::int64_t r = row + s * warp_size + threadIdx.x % warp_size;
    from[s] = r < C.rows ? __ldg(displaced.from + r / words) : 0;
  }
}
/// By a warp: of these rows those that are in another place, in each lane's columns, if they are C's.
template <int words, int segments, int each, class R>
__device__ __forceinline__ void bring_displaced(const Displaced<R>& displaced, const Block<R>& C, std::int64_t row,
                                                const std::int32_t (&from)[segments],
                                                const std::int64_t (&columns)[each]) {
  unsigned left[segments], all = 0;
#pragma unroll
  for (int s = 0; s < segments; ++s) {
    const std::int64_t r = row + s * warp_size + threadIdx.x % warp_size;
    left[s] = __ballot_sync(~0u, r < C.rows && from[s] != displaced.first + r / words);
    all |= left[s];
  }
  while (all != 0) {  // a row of each segment at once
    R x[segments][each] = {};
#pragma unroll
    for (int s = 0; s < segments; ++s) {
      if (left[s] == 0) continue;
      const int lane = __ffs(static_cast<int>(left[s])) - 1;
      const std::int32_t place = __shfl_sync(~0u, from[s], lane);
      const int word = static_cast<int>((row + s * warp_size + lane) % words);
#pragma unroll
      for (int i = 0; i < each; ++i)
        if (columns[i] < C.cols) x[s][i] = displaced.rows(columns[i] * words + word, place);
    }
    all = 0;
#pragma unroll
    for (int s = 0; s < segments; ++s) {
      if (left[s] == 0) continue;
      const int lane = __ffs(static_cast<int>(left[s])) - 1;
#pragma unroll
      for (int i = 0; i < each; ++i)
        if (columns[i] < C.cols) C(row + s * warp_size + lane, columns[i]) = x[s][i];
      left[s] &= left[s] - 1;
      all |= left[s];
    }
  }
  __syncwarp();
}
/// The same of a whole tile.
template <int words, int tile_rows, int tile_cols, class R>
__device__ __forceinline__ void bring_displaced(const Displaced<R>& displaced, const Block<R>& C, std::int64_t row,
                                                std::int64_t col) {
  static_assert(tile_rows % warp_size == 0);
  std::int32_t from[tile_rows / warp_size];
  places_of_rows<words>(displaced, C, row, from);
  constexpr int each = (tile_cols + warp_size - 1) / warp_size;
  std::int64_t columns[each];
#pragma unroll
  for (int i = 0; i < each; ++i) {
    const int column = i * warp_size + static_cast<int>(threadIdx.x % warp_size);
    columns[i] = column < tile_cols ? col + column : C.cols;
  }
  bring_displaced<words>(displaced, C, row, from, columns);
}

}  // namespace devobj::cuda
