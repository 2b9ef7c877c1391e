// The rows of columns in another order: a column is read into shared memory as a whole, of several blocks if it finds no room in
// one's (a cluster), and written as it is to be, so that memory is read and written once, and contiguously.
#pragma once

#include <algorithm>

#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/grid.cuh"

namespace devobj::cuda {

/// What moves in a column: from row `first` on, to row i comes row source[i] (both from the column's first on).
struct MovedRows {
  std::int32_t first;
  const std::int32_t* source;
};

/// The place in block `rank` of the cluster that corresponds to one in this block's shared memory.
template <class E>
__device__ const E* remote_pointer(const E* pointer, int rank) {
  const E* there = pointer;
#if __CUDA_ARCH__ >= 900
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(pointer), "r"(rank));
#endif
  return there;
}

constexpr int most_moving_threads = 1024;

/// A cluster of blocks, or a block alone, takes a column at a time, each block `share` rows of it. moved(j): the MovedRows of column j.
template <bool alone, class E, class Moved>
__global__ void __launch_bounds__(most_moving_threads)
    move_columns_kernel(Block<E> A, const __grid_constant__ Moved moved, int share, int blocks) {
  extern __shared__ __align__(16) unsigned char bytes[];
  E* const column = reinterpret_cast<E*>(bytes);
  const int threads = static_cast<int>(blockDim.x), rank = alone ? 0 : cluster_rank();
  const int first = rank * share, end = static_cast<int>(min(std::int64_t(share), A.rows - first));
  const auto meet = [] {
    if constexpr (alone) {
      __syncthreads();
    } else {
      cluster_arrive();
      cluster_wait();
    }
  };
  for (std::int64_t j = blockIdx.x / blocks; j < A.cols; j += gridDim.x / blocks) {
    const MovedRows rows = moved(j);
    const int begin = max(rows.first - first, 0) + static_cast<int>(threadIdx.x);
    if constexpr (alone) {
#pragma unroll 4
      for (int i = begin; i < end; i += threads) copy_async(&column[i], &A(i, j));
      __pipeline_commit();
      __pipeline_wait_prior(0);
    } else {  // (racecheck does not know a cluster's barrier to be behind such copies)
#pragma unroll 4
      for (int i = begin; i < end; i += threads) column[i] = A(first + i, j);
    }
    meet();
#pragma unroll 4
    for (int i = begin; i < end; i += threads) {
      const int from = rows.source[first + i];
      if constexpr (alone) {
        A(i, j) = column[from];
      } else {
        const int owner = from / share;
        const E* const there = column + (from - owner * share);
        A(first + i, j) = owner == rank ? *there : *remote_pointer(there, owner);
      }
    }
    meet();
  }
}

struct MovingShape {
  int blocks = 0;  // of a cluster, 0: a column finds no room
  int threads = 0;
  std::size_t bytes = 0;
};
/// A single block if it can be: half of what two have is in the other's memory, and is read element by element, in up to twice the time.
template <class E, class Moved>
MovingShape moving_shape(std::int64_t rows, const Queue& q) {
  constexpr auto kernel = move_columns_kernel<false, E, Moved>;
  const auto most = shared_memory_limit(q.device());
  const auto bytes = [&](int blocks) { return static_cast<std::size_t>(ceil_div(rows, blocks)) * sizeof(E); };
  int blocks = 1;
  if (bytes(1) > most && clusters_usable(kernel))
    while (blocks < 8 && bytes(blocks) > most) blocks *= 2;
  if (bytes(blocks) > most || rows > INT32_MAX) return {};
  // where a multiprocessor has few blocks, these have as many threads as there can be
  return {blocks, bytes(blocks) > most / 4 ? most_moving_threads : most_moving_threads / 2, bytes(blocks)};
}

template <class E, class Moved>
void move_columns(const char* routine, Block<E> A, const Moved& moved, MovingShape shape, Queue& q) {
  const auto [blocks, threads, bytes] = shape;
  const auto kernel = blocks > 1 ? move_columns_kernel<false, E, Moved> : move_columns_kernel<true, E, Moved>;
  allow_shared_memory(kernel, q.device(), routine);
  const ClusterLaunch launch(std::min<std::int64_t>(A.cols, 1 << 20) * blocks, blocks, threads, bytes, stream_of(q));
  cudaLaunchConfig_t config = launch.config;
  if (blocks == 1) config.numAttrs = 0;
  check(cudaLaunchKernelEx(&config, kernel, A, moved, static_cast<int>(ceil_div(A.rows, blocks)), blocks), routine);
  q.launched(routine);
}

}  // namespace devobj::cuda
