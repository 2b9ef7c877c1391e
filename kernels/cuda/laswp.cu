// Row swaps of a column-major matrix. LAPACK's laswp.
//
// Few swaps are made step by step, in place. For many, where each row comes from is found first, for parts of the swaps, then for all;
// then columns are moved as a whole (move_columns.cuh).
#include <algorithm>

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/move_columns.cuh"
#include "kernels/cuda/row_sources.cuh"
#include "kernels/kernels.hpp"
#include "kernels/native.hpp"

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

/// Parts of the swaps k1 ... k2 - 1.
struct EvenParts {
  std::int64_t k1, k2, size;
  __host__ __device__ int count() const { return static_cast<int>(ceil_div(k2 - k1, size)); }
  __device__ std::int64_t begin(int part) const { return k1 + part * size; }
  __device__ std::int64_t end(int part) const { return min(begin(part) + size, k2); }
};
EvenParts parts_of(std::int64_t k1, std::int64_t k2) {
  constexpr std::int64_t least = 128, most_parts = 64;
  return {k1, k2, std::max(least, ceil_div(k2 - k1, most_parts))};
}

/// source[i]: the row that all swaps bring to row i; `tables`: what each part does.
__global__ void __launch_bounds__(tracing)
    laswp_sources_kernel(std::int64_t rows, int parts, bool forward, const std::int32_t* tables, std::int32_t* source) {
  const std::int64_t mine = blockIdx.x * std::int64_t(tracing) + threadIdx.x;
  if (mine >= rows) return;
  auto row = static_cast<std::int32_t>(mine);
  for (int i = 0; i < parts; ++i) row = tables[(forward ? parts - 1 - i : i) * rows + row];
  source[mine] = row;
}

/// All columns alike.
struct OneList {
  const std::int32_t* source;
  __device__ MovedRows operator()(std::int64_t) const { return {0, source}; }
};

/// False if a column finds no room.
template <class E>
bool swap_in_whole_columns(Block<E> A, std::int64_t k1, std::int64_t k2, Strided<std::int32_t> ipiv, bool forward,
                           Queue& q) {
  const MovingShape shape = moving_shape<E, OneList>(A.rows, q);
  if (shape.blocks == 0) return false;
  const EvenParts parts = parts_of(k1, k2);
  auto* const source = static_cast<std::int32_t*>(q.workspace(laswp_workspace(A.rows, k2 - k1)));
  std::int32_t* const tables = source + A.rows;
  part_sources_kernel<<<static_cast<unsigned>(parts.count()), part_threads, 0, stream_of(q)>>>(A.rows, ipiv, parts,
                                                                                               forward, tables);
  laswp_sources_kernel<<<static_cast<unsigned>(ceil_div(A.rows, std::int64_t(tracing))), tracing, 0, stream_of(q)>>>(
      A.rows, parts.count(), forward, tables, source);
  move_columns("laswp", A, OneList{source}, shape, q);
  return true;
}

}  // namespace

std::size_t laswp_workspace(std::int64_t rows, std::int64_t swaps) {
  return static_cast<std::size_t>(rows * (1 + parts_of(0, swaps).count())) * sizeof(std::int32_t);
}

template <class T>
void laswp(View<T> A, std::int64_t k1, std::int64_t k2, View<std::int32_t> ipiv, bool forward, Queue& q) {
  if (A.empty() || k2 <= k1) return;
  DeviceScope scope(q.device());
  if (k2 - k1 >= std::max(many_pivots, A.rows / most_rows_for_a_pivot) &&
      swap_in_whole_columns(block_of(A), k1, k2, vector_of(ipiv), forward, q))
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
