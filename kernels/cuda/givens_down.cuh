// The rotations of tiles backwards, from rows of Q: see givens_tile.cuh.
#pragma once

#include <cuda_pipeline.h>

#include "kernels/cuda/givens_tile.cuh"
#include "kernels/cuda/overlapped_launch.cuh"

namespace devobj::cuda::givens {

/// Columns whose rotations are on their way from memory.
inline constexpr int ahead = 4;
/// What a block has in shared memory on the way down.
template <class E, int slots>
struct DownMemory {
  Rotation<E> rotations[warps][ahead][slots + warps];
  E first_rows[2][warps][width];
};

template <class E>
__device__ void fetch(Rotation<E>* to, const Rotation<E>* from) {
  constexpr std::size_t piece = sizeof(Rotation<E>) < 16 ? sizeof(Rotation<E>) : 16;
#pragma unroll
  for (std::size_t b = 0; b < sizeof(Rotation<E>); b += piece)
    __pipeline_memcpy_async(reinterpret_cast<char*>(to) + b, reinterpret_cast<const char*>(from) + b, piece);
}

// A block takes its triangle's rows of Q (the unit matrix at the root, where `tops` is null) to a tile's. All but the
// leaves' Q are by rows.
template <class E, int slots, bool of_triangles>
__global__ void __launch_bounds__(threads)
    down_kernel(const E* __restrict__ tops, const Rotation<E>* __restrict__ rotations, Block<E> Q) {
  constexpr int tile_rows = warps * slots, stride = rotations_of_column<slots>;
  extern __shared__ double2 dynamic[];
  auto& memory = *reinterpret_cast<DownMemory<E, slots>*>(dynamic);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t row0 = std::int64_t(blockIdx.x) * tile_rows;
  rotations += std::int64_t(blockIdx.x) * rotations_of_tile<slots>;

  // the rotations of column j, none for j < 0
  auto prefetch = [&](int j) {
    const Rotation<E>* from = rotations + j * stride;
    Rotation<E>* to = memory.rotations[warp][j % ahead];
    if (j >= 0) {
      if (lane < slots && (!of_triangles || lane <= (j | (group<E> - 1)))) fetch(to + lane, from + warp * slots + lane);
      if (lane < warps) fetch(to + slots + lane, from + warps * slots + lane);
    }
    __pipeline_commit();
  };
  auto top_row = [&](int j) {
    return tops != nullptr ? tops[(std::int64_t(blockIdx.x) * width + j) * width + lane]
                           : from_parts<E>(j == lane ? 1 : 0);
  };
  begin_overlapped();
#pragma unroll
  for (int a = 1; a <= ahead; ++a) prefetch(width - a);
  E y[slots];
#pragma unroll
  for (int i = 0; i < slots; ++i) y[i] = E{};
  E top = top_row(width - 1);
#pragma unroll 1
  for (int j = width - 1; j >= 0; --j) {
    const int first = j / slots;
    const Rotation<E>* own = memory.rotations[warp][j % ahead];
    auto& first_rows = memory.first_rows[j % 2];
    E t = top;
    if (j > 0) top = top_row(j - 1);
    first_rows[warp][lane] = y[0];
    __pipeline_wait_prior(ahead - 1);
    __syncwarp();
    Rotation<E> turns[warps], of_groups[2][group<E>];
    read(own + slots, turns);
    const Rotation<E> last = own[slots + warp];
    __syncthreads();
    E others[warps];
#pragma unroll
    for (int w = 1; w < warps; ++w) others[w] = first_rows[w][lane];
    // in both places: which one is the first group's is known only at run time for triangles
    const Rotation<E>* first_group = own + (of_triangles ? j / group<E> * group<E> : slots - group<E>);
    read(first_group, of_groups[0]);
    read(first_group, of_groups[1]);
    // the chain of warps, down to this one
#pragma unroll
    for (int w = warps - 1; w > 0; --w)
      if (w > warp && w > first) rotate_pair(t, others[w], turns[w].c, negative(turns[w].s));
    if (warp > first) {
      // t = S T + C y(0)
      E other = t;
      t = y[0];
      rotate_pair(t, other, last.c, last.s);
    }
    // the warp's chain
#pragma unroll
    for (int g = slots / group<E> - 1; g >= 0; --g) {
      if (of_triangles && j < g * group<E>) continue;
      if (g > 0) read(own + (g - 1) * group<E>, of_groups[(g + 1) % 2]);
#pragma unroll
      for (int u = group<E> - 1; u >= 0; --u) {
        const Rotation<E>& r = of_groups[g % 2][u];
        rotate_pair(t, y[g * group<E> + u], r.c, negative(r.s));
      }
    }
    __syncwarp();
    prefetch(j - ahead);
  }

  if constexpr (of_triangles) {
#pragma unroll
    for (int i = 0; i < slots; ++i)
      if (const std::int64_t row = row0 + warp * slots + i; row < Q.cols) Q(lane, row) = y[i];
  } else {
    auto& staged = *reinterpret_cast<E(*)[tile_rows][width + 1]>(dynamic);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < slots; ++i) staged[warp * slots + i][lane] = y[i];
    __syncthreads();
#pragma unroll 8
    for (int e = threadIdx.x; e < tile_rows * width; e += threads) {
      const int i = e % tile_rows, j = e / tile_rows;
      if (row0 + i < Q.rows) Q(row0 + i, j) = staged[i][j];
    }
  }
}

}  // namespace devobj::cuda::givens
