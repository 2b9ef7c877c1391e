// Row swaps of a column-major matrix. LAPACK's laswp.
//
// Few swaps are made step by step, in place. For many, where each row comes from is found first; then each column is read into
// shared memory as a whole, of several blocks if need be (a cluster), and written as it is to be: memory is read and written
// once, and contiguously.
#include <algorithm>

#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/pivots.cuh"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/kernels.hpp"

namespace devobj::cuda {
namespace {

constexpr int most_pivots = 128;    // of one step: they change at most 256 rows, a thread each
constexpr int columns_at_once = 8;  // of a block; their loads are under way together

// The steps k1, k1 + chunk, ... (or backward) are taken one after the other by every block for columns of its own.
// In a step with p pivots, of 2 p threads the first p take the rows of the step, the others the rows they are swapped
// with, each row once. A thread finds the row that its row comes from, and then all read before one writes.
template <class E>
__global__ void __launch_bounds__(2 * most_pivots)
    laswp_kernel(Block<E> A, std::int64_t k1, std::int64_t k2, Strided<std::int32_t> ipiv, bool forward) {
  __shared__ std::int32_t pivot[most_pivots];
  const int chunk = blockDim.x / 2, t = threadIdx.x;
  const std::int64_t steps = (k2 - k1 + chunk - 1) / chunk;
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t first = k1 + (forward ? step : steps - 1 - step) * chunk;
    const int p = static_cast<int>(min(std::int64_t(chunk), k2 - first));
    if (t < p) pivot[t] = read_pivot(ipiv[first + t], A.rows, first + t);
    __syncthreads();

    std::int64_t row = -1;  // this thread's, or -1 if it has none
    if (t < p) {
      row = first + t;
    } else if (t >= chunk && t - chunk < p) {
      row = pivot[t - chunk];
      if (row >= first && row < first + p) row = -1;
      for (int i = 0; i < t - chunk; ++i)
        if (pivot[i] == row) row = -1;
    }
    const std::int64_t source = row < 0 ? row : source_of(row, pivot, first, p, forward);

    for (std::int64_t j0 = std::int64_t(blockIdx.x) * columns_at_once; j0 < A.cols;
         j0 += std::int64_t(gridDim.x) * columns_at_once) {
      E value[columns_at_once];
#pragma unroll
      for (int u = 0; u < columns_at_once; ++u)
        if (source != row && j0 + u < A.cols) value[u] = A(source, j0 + u);
      __syncthreads();
#pragma unroll
      for (int u = 0; u < columns_at_once; ++u)
        if (source != row && j0 + u < A.cols) A(row, j0 + u) = value[u];
    }
    __syncthreads();  // before the next step reads the rows, and writes the pivots
  }
}

// Pivots from which columns are moved as a whole, and rows for each.
constexpr std::int64_t many_pivots = 512, most_rows_for_a_pivot = 8;

constexpr int tracing = 128;
constexpr int pivots_at_once = 1024;  // in shared memory

/// source[i]: the row that all swaps bring to row i. A thread follows a row back.
__global__ void __launch_bounds__(tracing)
    laswp_sources_kernel(std::int64_t rows, std::int64_t k1, std::int64_t k2, Strided<std::int32_t> ipiv, bool forward,
                         std::int32_t* source) {
  __shared__ std::int32_t pivot[pivots_at_once];
  const std::int64_t mine = blockIdx.x * std::int64_t(tracing) + threadIdx.x;
  const std::int64_t steps = (k2 - k1 + pivots_at_once - 1) / pivots_at_once;
  std::int64_t row = mine;
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t first = k1 + (forward ? steps - 1 - step : step) * pivots_at_once;
    const int count = static_cast<int>(min(std::int64_t(pivots_at_once), k2 - first));
    for (int i = threadIdx.x; i < count; i += tracing) pivot[i] = read_pivot(ipiv[first + i], rows, first + i);
    __syncthreads();
    row = source_of(row, pivot, first, count, forward);
    __syncthreads();
  }
  if (mine < rows) source[mine] = static_cast<std::int32_t>(row);
}

/// The place in block `rank` of the cluster that corresponds to one in this block's shared memory.
template <class E>
__device__ const E* remote_pointer(const E* pointer, int rank) {
  const E* there = pointer;
#if __CUDA_ARCH__ >= 900
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(pointer), "r"(rank));
#endif
  return there;
}

constexpr int moving = 512;

/// A, whose rows come from `source`. A cluster of blocks takes a column at a time, each block `share` rows of it.
template <class E>
__global__ void __launch_bounds__(moving)
    laswp_columns_kernel(Block<E> A, const std::int32_t* source, int share, int blocks) {
  extern __shared__ __align__(16) unsigned char bytes[];
  E* const column = reinterpret_cast<E*>(bytes);
  const int rank = blocks > 1 ? cluster_rank() : 0;
  const int first = rank * share, rows = static_cast<int>(min(std::int64_t(share), A.rows - first));
  const auto meet = [&] {
    if (blocks > 1) {
      cluster_arrive();
      cluster_wait();
    } else {
      __syncthreads();
    }
  };
  for (std::int64_t j = blockIdx.x / blocks; j < A.cols; j += gridDim.x / blocks) {
#pragma unroll 4
    for (int i = threadIdx.x; i < rows; i += moving) column[i] = A(first + i, j);
    meet();
#pragma unroll 4
    for (int i = threadIdx.x; i < rows; i += moving) {
      const int from = source[first + i], owner = from / share;
      const E* const there = column + (from - owner * share);
      A(first + i, j) = owner == rank ? *there : *remote_pointer(there, owner);
    }
    meet();
  }
}

/// False if a column finds no room.
template <class E>
bool move_columns(Block<E> A, std::int64_t k1, std::int64_t k2, Strided<std::int32_t> ipiv, bool forward, Queue& q) {
  constexpr auto kernel = laswp_columns_kernel<E>;
  // several blocks on a multiprocessor, if clusters need not be larger than eight for it
  const std::int64_t most = static_cast<std::int64_t>(shared_memory_limit(q.device())), several = most / 3;
  const auto bytes = [&](int blocks) { return ceil_div(A.rows, std::int64_t(blocks)) * std::int64_t(sizeof(E)); };
  int blocks = 1;
  if (bytes(1) > several && clusters_usable(kernel))
    while (blocks < 8 && bytes(blocks) > several) blocks *= 2;
  if (bytes(blocks) > most || A.rows > INT32_MAX) return false;
  auto* const source = static_cast<std::int32_t*>(q.workspace(static_cast<std::size_t>(A.rows) * sizeof(std::int32_t)));
  laswp_sources_kernel<<<static_cast<unsigned>(ceil_div(A.rows, std::int64_t(tracing))), tracing, 0, stream_of(q)>>>(
      A.rows, k1, k2, ipiv, forward, source);
  allow_shared_memory(kernel, q.device(), "laswp");
  const ClusterLaunch launch(std::min<std::int64_t>(A.cols, 1 << 20) * blocks, blocks, moving, bytes(blocks),
                             stream_of(q));
  cudaLaunchConfig_t config = launch.config;
  if (blocks == 1) config.numAttrs = 0;
  check(cudaLaunchKernelEx(&config, kernel, A, static_cast<const std::int32_t*>(source),
                           static_cast<int>(ceil_div(A.rows, std::int64_t(blocks))), blocks),
        "laswp");
  q.launched("laswp");
  return true;
}

}  // namespace

template <class T>
void laswp(View<T> A, std::int64_t k1, std::int64_t k2, View<std::int32_t> ipiv, bool forward, Queue& q) {
  if (A.empty() || k2 <= k1) return;
  DeviceScope scope(q.device());
  if (k2 - k1 >= std::max(many_pivots, A.rows / most_rows_for_a_pivot) &&
      move_columns(block_of(A), k1, k2, vector_of(ipiv), forward, q))
    return;
  int chunk = warp_size;
  while (chunk < most_pivots && chunk < k2 - k1) chunk *= 2;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(ceil_div(A.cols, columns_at_once), 1 << 20));
  laswp_kernel<<<blocks, 2 * chunk, 0, stream_of(q)>>>(block_of(A), k1, k2, vector_of(ipiv), forward);
  q.launched("laswp");
}

#define INSTANTIATE(T) template void laswp(View<T>, std::int64_t, std::int64_t, View<std::int32_t>, bool, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
