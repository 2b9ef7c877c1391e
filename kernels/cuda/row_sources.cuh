// Where rows come from that many swaps exchange, for all rows at once: of each part of the swaps by itself, all parts beside each other;
// from part to part a row is followed by who asks.
#pragma once

#include "kernels/cuda/pivots.cuh"

namespace devobj::cuda {

constexpr int tracing = 128;

/// tables[p * rows + i]: the row that the swaps parts.begin(p) ... parts.end(p) - 1 bring to row i. A thread follows a row back.
template <class Parts>
__global__ void __launch_bounds__(tracing)
    part_sources_kernel(std::int64_t rows, Strided<std::int32_t> ipiv, const __grid_constant__ Parts parts,
                        bool forward, std::int32_t* tables) {
  const int part = static_cast<int>(blockIdx.y);
  const std::int64_t mine = blockIdx.x * std::int64_t(tracing) + threadIdx.x;
  const std::int64_t row = source_of(mine, ipiv, parts.begin(part), parts.end(part), rows, forward);
  if (mine < rows) tables[part * rows + mine] = static_cast<std::int32_t>(row);
}

inline dim3 tracing_blocks(std::int64_t rows, std::int64_t parts) {
  return {static_cast<unsigned>(ceil_div(rows, std::int64_t(tracing))), static_cast<unsigned>(parts)};
}

}  // namespace devobj::cuda
