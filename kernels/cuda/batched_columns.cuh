// Several matrices in a warp: their columns between global and shared memory.
#pragma once

#include "kernels/cuda/batched.cuh"

namespace devobj::cuda {

inline constexpr int columns_threads = 128;
inline constexpr int columns_warps = columns_threads / warp_size;

/// The ld of such columns in shared memory. It is odd: lanes with a column each, or a row each, meet few conflicts of
/// banks.
__host__ __device__ inline int columns_ld(int m) {
  return m | 1;
}

/// `count` columns of m elements, 1 <= m <= 16 and m count <= 1024, of a warp's matrices, which lie side by side: column
/// c is at A + c lda and at S + c ld. Neighbouring lanes move neighbouring elements.
template <class E>
struct WarpColumns {
  E* A;
  std::int64_t lda;
  E* S;
  int m, count;

  __device__ void load() const {
    constexpr int at_once = 8;
    const int lane = threadIdx.x % warp_size, elements = m * count, ld = columns_ld(m), inverse = inverse_of_m();
    for (int e0 = lane; e0 < elements; e0 += at_once * warp_size) {
      E x[at_once];
#pragma unroll
      for (int r = 0; r < at_once; ++r) {
        const int e = e0 + r * warp_size, c = e * inverse >> 16;
        if (e < elements) x[r] = A[e - c * m + c * lda];
      }
#pragma unroll
      for (int r = 0; r < at_once; ++r) {
        const int e = e0 + r * warp_size, c = e * inverse >> 16;
        if (e < elements) S[e - c * m + c * ld] = x[r];
      }
    }
  }
  __device__ void store() const {
    const int lane = threadIdx.x % warp_size, elements = m * count, ld = columns_ld(m), inverse = inverse_of_m();
#pragma unroll 4
    for (int e = lane; e < elements; e += warp_size) {
      const int c = e * inverse >> 16;
      A[e - c * m + c * lda] = S[e - c * m + c * ld];
    }
  }

 private:
  /// 2^16 / m, rounded up: e / m is e times this / 2^16 for e < 4096.
  __device__ int inverse_of_m() const {
    return (65536 + m - 1) / m;
  }
};

/// The grid for matrices of which a warp has `per_warp`.
inline unsigned columns_blocks(std::int64_t matrices, int per_warp) {
  return static_cast<unsigned>(ceil_div(matrices, columns_warps * per_warp));
}
/// Elements of S for a warp's matrices of m x n.
__host__ __device__ inline int columns_elements(int m, int n, int per_warp) {
  return per_warp * n * columns_ld(m);
}

}  // namespace devobj::cuda
