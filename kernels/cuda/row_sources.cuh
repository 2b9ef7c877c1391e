// Where rows come from that many swaps exchange, for all rows at once: of each part of the swaps by itself, all parts beside each other;
// from part to part a row is followed by who asks.
#pragma once

#include "kernels/cuda/pivots.cuh"

namespace devobj::cuda {

constexpr int tracing = 128;  // threads that follow a row from part to part
constexpr int part_threads = 512;

/// tables[p * rows + i]: the row that the swaps parts.begin(p) ... parts.end(p) - 1 bring to row i. A block with a part: rows that a swap
/// has to do with are followed back by a thread each, the others stay.
template <class Parts>
__global__ void __launch_bounds__(part_threads)
    part_sources_kernel(std::int64_t rows, Strided<std::int32_t> ipiv, const __grid_constant__ Parts parts,
                        bool forward, std::int32_t* tables) {
  const auto part = static_cast<int>(blockIdx.x);
  const std::int64_t begin = parts.begin(part), end = parts.end(part), count = end - begin;
  std::int32_t* const table = tables + part * rows;
  for (std::int64_t i = threadIdx.x; i < rows; i += part_threads) table[i] = static_cast<std::int32_t>(i);
  __syncthreads();
  for (std::int64_t first = 0; first < 2 * count; first += part_threads) {
    const std::int64_t t = first + threadIdx.x, swap = begin + t % count;
    const std::int64_t row = t < count ? swap : read_pivot(ipiv[swap], rows, swap);
    const std::int64_t source = source_of(row, ipiv, begin, end, rows, forward);
    table[row] = static_cast<std::int32_t>(source);  // the same by all threads that have this row
  }
}

}  // namespace devobj::cuda
