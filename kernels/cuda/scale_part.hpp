// scale_part: what is left of a level 2 or 3 product whose sum is empty or whose alpha is zero: C = beta C.
#pragma once

#include "kernels/cuda/grid.cuh"

namespace devobj::cuda {

/// The elements of C's part (Upper and Lower with the diagonal) *= beta; beta = 0 clears them without reading.
/// real_diagonal drops the imaginary part of the diagonal, as herk does. One thread per element, strided by the grid.
template <class E>
__global__ void scale_part_kernel(Uplo part, E beta, bool clear, bool real_diagonal, Block<E> C) {
  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t e = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; e < C.rows * C.cols; e += step) {
    const std::int64_t i = e % C.rows, j = e / C.rows;
    if ((part == Uplo::Upper && i > j) || (part == Uplo::Lower && i < j)) continue;
    E c = clear ? E{} : product(beta, C(i, j));
    if constexpr (is_device_complex<E>)
      if (real_diagonal && i == j) c.y = 0;
    C(i, j) = c;
  }
}

template <class T>
void scale_part(const char* routine, Uplo part, T beta, View<T> C, Queue& q, bool real_diagonal = false) {
  if (C.empty() || beta == T(1)) return;
  DeviceScope scope(q.device());
  scale_part_kernel<<<blocks_for(C.size()), threads_per_block, 0, stream_of(q)>>>(
      part, raw_value(beta), beta == T(0), real_diagonal, block_of(C));
  q.launched(routine);
}

/// The same for a vector.
template <class T> void scale_part(const char* routine, T beta, Vector<T> y, Queue& q) {
  if (y.n == 0) return;
  const View<T> row(y.data, 1, y.n, y.inc);
  scale_part(routine, Uplo::General, beta, row, q);
}

}  // namespace devobj::cuda
