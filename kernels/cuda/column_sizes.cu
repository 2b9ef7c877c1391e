// column_sizes: a norm of each column.
#include "kernels/cuda/grid.cuh"
#include "kernels/modulus.hpp"
#include "kernels/precision.hpp"
#include "kernels/scaled_squares.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 256;

struct Largest {
  double value = 0;
  template <class E>
  __device__ void add_element(E a) {
    value = larger(value, magnitude(a));
  }
  __device__ void add(const Largest& other) { value = larger(value, other.value); }
  __device__ double result() const { return value; }
};

struct Length {
  ScaledSquares squares;
  template <class E>
  __device__ void add_element(E a) {
    if constexpr (is_device_complex<E>) {
      squares.add(a.x);
      squares.add(a.y);
    } else {
      squares.add(a);
    }
  }
  __device__ void add(const Length& other) { squares.add(other.squares); }
  __device__ double result() const { return squares.root(); }
};

// One block per column; its threads' shares are put together in a tree.
template <class Share, class E, class R>
__global__ void __launch_bounds__(threads) column_sizes_kernel(Block<E> A, R* norms) {
  __shared__ alignas(8) unsigned char memory[threads * sizeof(Share)];
  auto shared = reinterpret_cast<Share*>(memory);
  for (std::int64_t j = blockIdx.x; j < A.cols; j += gridDim.x) {
    Share share;
#pragma unroll 4
    for (std::int64_t i = threadIdx.x; i < A.rows; i += threads) share.add_element(A(i, j));
    shared[threadIdx.x] = share;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) shared[threadIdx.x].add(shared[threadIdx.x + half]);
      __syncthreads();
    }
    if (threadIdx.x == 0) norms[j] = static_cast<R>(shared[0].result());
    __syncthreads();
  }
}

}  // namespace

template <class T>
void column_sizes(Norm norm, View<T> A, real_t<T>* norms, Queue& q) {
  if (A.cols == 0) return;
  DeviceScope scope(q.device());
  const int blocks = static_cast<int>(std::min<std::int64_t>(A.cols, 65535));
  if (norm == Norm::Max)
    column_sizes_kernel<Largest><<<blocks, threads, 0, stream_of(q)>>>(block_of(A), norms);
  else
    column_sizes_kernel<Length><<<blocks, threads, 0, stream_of(q)>>>(block_of(A), norms);
  q.launched("column_sizes");
}

#define INSTANTIATE(T) template void column_sizes<T>(Norm, View<T>, real_t<T>*, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
