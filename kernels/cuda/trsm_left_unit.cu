// trsm_left_unit: B = L^-1 B for a unit lower triangle of up to 128 rows, the U12 = L11^-1 A12 of a column-major LU.
//
//   L          B (w x n)         A warp has 4 columns of B, or one; lane i of a warp has row i of each
//   +--+       +---------+       stripe of 32 rows. Stripe by stripe:
//   |D0|       | stripe 0|         stripe -= (tiles of L to the left) (solved stripes), which lie in shared memory
//   +--+--+    | stripe 1|         solve with the diagonal tile: x_k goes round by shuffle, lanes below subtract
//   |  |D1|    |   ...   |       The tiles of L go through shared memory, one in use, the next on its way.
#include "kernels/cuda/arithmetic.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

constexpr int tile = warp_size;
constexpr int most_stripes = 4;
constexpr int threads = 256;

template <class E>
__device__ E lane_value(E x, int lane) {
  return __shfl_sync(0xffffffff, x, lane);
}
template <>
__device__ cuComplex lane_value(cuComplex x, int lane) {
  return {__shfl_sync(0xffffffff, x.x, lane), __shfl_sync(0xffffffff, x.y, lane)};
}
template <>
__device__ cuDoubleComplex lane_value(cuDoubleComplex x, int lane) {
  return {__shfl_sync(0xffffffff, x.x, lane), __shfl_sync(0xffffffff, x.y, lane)};
}

template <class E, int columns_per_warp>
__global__ void __launch_bounds__(threads) trsm_left_unit_kernel(Block<E> L, Block<E> B) {
  __shared__ E part[2][tile][tile + 1];  // part[.][k][i] = L(i, k) of a tile; one is in use, the other is filled
  extern __shared__ __align__(16) unsigned char bytes[];
  // the warp's solved columns: solved[column][row]
  constexpr int most_solved = (most_stripes - 1) * tile;
  E* const solved = reinterpret_cast<E*>(bytes) + (threadIdx.x / warp_size) * columns_per_warp * most_solved;
  const int lane = threadIdx.x % warp_size, w = static_cast<int>(L.rows);
  const std::int64_t first =
      (blockIdx.x * std::int64_t(threads / warp_size) + threadIdx.x / warp_size) * columns_per_warp;

  // The tiles in the order of their use: (0, 0), (1, 0), (1, 1), (2, 0) ...
  constexpr int share = tile * tile / threads;
  E ahead[share];
  auto fetch = [&](int i0, int k0) {
#pragma unroll
    for (int e = 0; e < share; ++e) {
      const int i = i0 + lane, k = k0 + static_cast<int>(threadIdx.x) / warp_size + e * (threads / warp_size);
      ahead[e] = i < w && k < i ? L(i, k) : E{};
    }
  };
  int current = 0;
  auto next_tile = [&](int i0, int k0) {
    current ^= 1;
#pragma unroll
    for (int e = 0; e < share; ++e) part[current][threadIdx.x / warp_size + e * (threads / warp_size)][lane] = ahead[e];
    __syncthreads();
    if (k0 < i0)
      fetch(i0, k0 + tile);
    else
      fetch(i0 + tile, 0);
  };

  fetch(0, 0);
  for (int i0 = 0; i0 < w; i0 += tile) {
    E x[columns_per_warp];
#pragma unroll
    for (int c = 0; c < columns_per_warp; ++c)
      x[c] = i0 + lane < w && first + c < B.cols ? B(i0 + lane, first + c) : E{};
    for (int k0 = 0; k0 < i0; k0 += tile) {
      next_tile(i0, k0);
#pragma unroll 8
      for (int k = 0; k < tile; ++k)
#pragma unroll
        for (int c = 0; c < columns_per_warp; ++c)
          x[c] = minus_product(x[c], part[current][k][lane], solved[c * most_solved + k0 + k]);
    }
    next_tile(i0, i0);
#pragma unroll 8
    for (int k = 0; k < tile - 1; ++k)
#pragma unroll
      for (int c = 0; c < columns_per_warp; ++c) {
        const E x_k = lane_value(x[c], k);
        if (lane > k) x[c] = minus_product(x[c], part[current][k][lane], x_k);
      }
#pragma unroll
    for (int c = 0; c < columns_per_warp; ++c) {
      if (i0 + tile < w) solved[c * most_solved + i0 + lane] = x[c];
      if (i0 + lane < w && first + c < B.cols) B(i0 + lane, first + c) = x[c];
    }
    __syncwarp();
  }
}

template <class E, int columns_per_warp>
void launch(Block<E> L, Block<E> B, Queue& q) {
  constexpr int columns = columns_per_warp * threads / warp_size;
  constexpr int bytes = columns * (most_stripes - 1) * tile * static_cast<int>(sizeof(E));
  constexpr auto kernel = trsm_left_unit_kernel<E, columns_per_warp>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "trsm_left_unit");
  kernel<<<static_cast<unsigned>(ceil_div(B.cols, columns)), threads, L.rows <= tile ? 0 : bytes, stream_of(q)>>>(L, B);
  q.launched("trsm_left_unit");
}

}  // namespace

template <class T>
void trsm_left_unit(View<T> L, View<T> B, Queue& q) {
  using E = device_t<T>;
  if (B.empty() || L.rows <= 1) return;
  DeviceScope scope(q.device());
  // few columns: spread over more warps, since the time is that of the chain through the rows
  if (B.cols <= 1024)
    launch<E, 1>(block_of(L), block_of(B), q);
  else
    launch<E, 4>(block_of(L), block_of(B), q);
}

#define INSTANTIATE(T) template void trsm_left_unit(View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
