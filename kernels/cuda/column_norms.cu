// column_norms: the norms of the columns of an upper triangle.
#include "kernels/cuda/grid.cuh"
#include "kernels/kernels.hpp"
#include "kernels/scaled_squares.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 256;

// One block per column; its threads' sums are added in a tree.
template <class E, class R> __global__ void column_norms_kernel(Block<E> A, R* norms) {
  __shared__ ScaledSquares shared[threads];
  for (std::int64_t j = blockIdx.x; j < A.cols; j += gridDim.x) {
    const std::int64_t n = j + 1 < A.rows ? j + 1 : A.rows;
    ScaledSquares squares;
    for (std::int64_t i = threadIdx.x; i < n; i += threads) {
      const E a = A(i, j);
      if constexpr (is_device_complex<E>) {
        squares.add(a.x);
        squares.add(a.y);
      } else {
        squares.add(a);
      }
    }
    shared[threadIdx.x] = squares;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) shared[threadIdx.x].add(shared[threadIdx.x + half]);
      __syncthreads();
    }
    if (threadIdx.x == 0) norms[j] = static_cast<R>(shared[0].root());
    __syncthreads();
  }
}

}  // namespace

template <class T> void column_norms(View<T> A, real_t<T>* norms, Queue& q) {
  if (A.empty()) return;
  const int blocks = static_cast<int>(std::min<std::int64_t>(A.cols, 65535));
  column_norms_kernel<<<blocks, threads, 0, stream_of(q)>>>(block_of(A), norms);
  q.launched("column_norms");
}

#define INSTANTIATE(T) template void column_norms<T>(View<T>, real_t<T>*, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
