// A small square matrix in the registers of one block: of 16 x 16 threads, thread (r, c) holds the elements (r + 16 a,
// c + 16 b).
#pragma once

#include "kernels/cuda/reciprocal.cuh"

namespace devobj::cuda {

inline constexpr int side = 16;  // of the threads' square
inline constexpr int square_threads = side * side;

template <class E, int W>
struct Square {
  static constexpr int tile = W / side;
  E x[tile][tile];  // [a][b]

  template <class F>
  __device__ void each(F f) {
    const int r = threadIdx.x % side, c = threadIdx.x / side;
#pragma unroll
    for (int b = 0; b < tile; ++b) {
#pragma unroll
      for (int a = 0; a < tile; ++a) f(x[a][b], r + side * a, c + side * b);
    }
  }
};

/// f(a, r, k) for k = 16 a + r = 0, 1, ..., w - 1, a known to the compiler, while f is true.
template <int tile, class F>
__device__ __forceinline__ bool each_step(int w, F f) {
#pragma unroll
  for (int a = 0; a < tile; ++a) {
#pragma unroll 1
    for (int r = 0; r < side; ++r) {
      const int k = side * a + r;
      if (k >= w) return true;
      if (!f(a, r, k)) return false;
    }
  }
  return true;
}

template <class E>
__device__ E inverse_of(E a) {
  if constexpr (is_device_complex<E>) {
    const real_e<E> d = reciprocal_of_normal(square(a));
    return {a.x * d, -a.y * d};
  } else {
    return reciprocal_of_normal(a);
  }
}

}  // namespace devobj::cuda
