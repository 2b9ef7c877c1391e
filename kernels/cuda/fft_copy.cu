// B = factor A.
#include "kernels/cuda/grid.cuh"
#include "kernels/fft.hpp"

namespace devobj::cuda {
namespace {

// A thread takes every (grid)th element of A without gaps, counted along the columns.
template <class R>
__global__ void __launch_bounds__(threads_per_block)
    line_kernel(R factor, const R* A, R* B, std::int64_t n) {
  for (std::int64_t e = std::int64_t(blockIdx.x) * threads_per_block + threadIdx.x; e < n;
       e += std::int64_t(gridDim.x) * threads_per_block)
    B[e] = factor * A[e];
}

// Threads go along the rows, in steps of the grid's x; its y goes along the columns.
template <class R>
__global__ void __launch_bounds__(threads_per_block) block_kernel(R factor, Block<R> A, Block<R> B) {
  for (std::int64_t j = blockIdx.y; j < A.cols; j += gridDim.y)
    for (std::int64_t i = std::int64_t(blockIdx.x) * threads_per_block + threadIdx.x; i < A.rows;
         i += std::int64_t(gridDim.x) * threads_per_block)
      B(i, j) = factor * A(i, j);
}

}  // namespace

template <class R>
void fft_copy(R factor, View<R> A, View<R> B, Queue& q) {
  if (A.empty()) return;
  DeviceScope scope(q.device());
  if (A.contiguous() && B.contiguous()) {
    line_kernel<<<blocks_for(A.size()), threads_per_block, 0, stream_of(q)>>>(factor, A.data, B.data, A.size());
  } else {
    const dim3 grid(blocks_for(A.rows), static_cast<unsigned>(std::min(A.cols, max_grid_y)));
    block_kernel<<<grid, threads_per_block, 0, stream_of(q)>>>(factor, block_of(A), block_of(B));
  }
  q.launched("fft_copy");
}

template void fft_copy<float>(float, View<float>, View<float>, Queue&);
template void fft_copy<double>(double, View<double>, View<double>, Queue&);

}  // namespace devobj::cuda
