// T of the block reflector I - V T V^H. LAPACK's larft, forward and columnwise, from G = V^H V.
//
//   T, in tiles of 32 x 32     Column c of T is T(0:c, c) = -tau_c T(0:c, 0:c) G(0:c, c), T(c, c) = tau_c. In tiles, with
//   +--+--+--+--+              j right of i (Schreiber & Van Loan, 1989),
//   |D0|  |  |  |                T(i, j) = -(T(i, i) G(i, j) + ... + T(i, j-1) G(j-1, j)) D_j.
//   +--+--+--+--+              The tiles D on the diagonal come first, a warp each, a lane with a row. A row of T needs nothing of
//      |D1|  |  |              the others, so that then a warp has a row, from left to right, and a lane a column of each tile.
//      +--+--+--+
#include <cuda_pipeline_primitives.h>

#include <cstddef>

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/kernels.hpp"

namespace devobj::cuda {
namespace {

constexpr int tile = warp_size;
constexpr int warps = 8;  // rows of T in a block
constexpr int threads = warps * warp_size;

// A column with tau = 0 is zero whatever G is, and what is left of the diagonal is not looked at: a NaN stays where it is.

template <class E>
__global__ void __launch_bounds__(warp_size) larft_diagonal_kernel(Block<E> G, Strided<E> tau, Block<E> T) {
  __shared__ E g[tile][tile + 1];
  const int lane = threadIdx.x, first = blockIdx.x * tile, w = min(tile, static_cast<int>(T.rows) - first);
#pragma unroll
  for (int c = 0; c < tile; ++c) g[lane][c] = lane < c && c < w ? G(first + lane, first + c) : E{};
  const E own_tau = lane < w ? tau[first + lane] : E{};
  __syncwarp();
  E t[tile] = {};  // the lane's row: sums, then T's elements
#pragma unroll
  for (int c = 0; c < tile; ++c) {
    const E tau_c = shuffle(own_tau, c);
    t[c] = lane == c ? tau_c : lane > c || is_zero(tau_c) ? E{} : product(negative(tau_c), t[c]);
#pragma unroll
    for (int next = c + 1; next < tile; ++next)
      if (lane <= c) t[next] = sum(t[next], product(t[c], g[c][next]));
  }
#pragma unroll
  for (int c = 0; c < tile; ++c)
    if (c < w && lane < w) T(first + lane, first + c) = t[c];
}

/// The block's shared memory: its rows of T; of a column of tiles G, and its D, in two buffers, one, or, where there is no room,
/// none.
template <class E>
struct Memory {
  const int pitch;  // odd, so that lanes with columns side by side read from different banks
  __host__ __device__ explicit Memory(int k) : pitch(k | 1) {}
  __host__ __device__ int row(int r) const { return r * pitch; }
  __host__ __device__ int G(int buffer) const { return row(warps) + buffer * tile * (pitch + tile + 1); }
  __host__ __device__ int D(int buffer) const { return G(buffer) + tile * pitch; }
  __host__ __device__ int sums(int buffers) const { return G(buffers); }
  std::size_t bytes(int buffers) const { return (sums(buffers) + warps * tile) * sizeof(E); }
};

template <class E>
__global__ void __launch_bounds__(threads) larft_rows_kernel(Block<E> G, Strided<E> tau, Block<E> T, int buffers) {
  extern __shared__ double2 bytes[];
  E* const shared = reinterpret_cast<E*>(bytes);
  const int k = static_cast<int>(T.rows), lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const int i = blockIdx.x * warps + warp, begin = blockIdx.x * warps / tile * tile, tiles = (k + tile - 1) / tile;
  const Memory<E> place(k);
  E* const row = shared + place.row(warp);
  E* const sums = shared + place.sums(buffers) + warp * tile;

  const auto fetch = [&](int j0) {
    E *const g = shared + place.G(j0 / tile % buffers), *const d = shared + place.D(j0 / tile % buffers);
    for (int c = warp; c < tile; c += warps) {
      for (int l = begin + lane; l < j0; l += tile)
        if (j0 + c < k) __pipeline_memcpy_async(&g[c * place.pitch + l], &G(l, j0 + c), sizeof(E));
      if (j0 + c < k && j0 + lane < k)
        __pipeline_memcpy_async(&d[c * (tile + 1) + lane], &T(j0 + lane, j0 + c), sizeof(E));
    }
    __pipeline_commit();
  };

  if (buffers > 0 && begin + tile < k) fetch(begin + tile);
  if (i < k) {
    for (int j = lane; j < begin; j += warp_size) T(i, j) = E{};
    if (begin + lane < k) row[begin + lane] = T(i, begin + lane);
  }
  for (int j0 = begin + tile; j0 < tiles * tile; j0 += tile) {
    if (buffers == 2 && j0 + tile < k) {
      __syncthreads();  // done with the buffer
      fetch(j0 + tile);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    const int c = lane, j = j0 + c;
    const E *g, *d;  // column c of G and D
    if (buffers > 0) {
      g = shared + place.G(j0 / tile % buffers) + c * place.pitch;
      d = shared + place.D(j0 / tile % buffers) + c * (tile + 1);
    } else {
      g = &G(0, j);
      d = &T(j0, j);
    }
    if (i < k && j < k) {
      constexpr int at_once = 4;
      E s[at_once] = {};
      int l = i;
      for (; l + at_once <= j0; l += at_once)
#pragma unroll
        for (int u = 0; u < at_once; ++u) s[u] = sum(s[u], product(row[l + u], g[l + u]));
      for (; l < j0; ++l) s[0] = sum(s[0], product(row[l], g[l]));
      sums[c] = sum(sum(s[0], s[1]), sum(s[2], s[3]));
    }
    __syncwarp();
    if (i < k && j < k) {
      E t{};
      if (!is_zero(tau[j]))
        for (int l = 0; l <= c; ++l) t = sum(t, product(negative(sums[l]), d[l]));
      T(i, j) = row[j] = t;
    }
    __syncwarp();
    if (buffers == 1 && j0 + tile < k) {
      __syncthreads();
      fetch(j0 + tile);
    }
  }
}

}  // namespace

template <class T>
void larft(View<T> G, View<T> tau, View<T> Tri, Queue& q) {
  using E = device_t<T>;
  if (Tri.empty()) return;
  DeviceScope scope(q.device());
  const std::int64_t k = Tri.rows;
  require(k <= larft_max, "larft: k must be at most ", larft_max, ", but is ", k);
  larft_diagonal_kernel<<<static_cast<unsigned>(ceil_div(k, tile)), warp_size, 0, stream_of(q)>>>(
      block_of(G), vector_of(tau), block_of(Tri));
  q.launched("larft");
  if (k <= tile) return;
  const Memory<E> memory(static_cast<int>(k));
  int buffers = 2;
  while (buffers > 0 && memory.bytes(buffers) > shared_memory_limit(q.device())) --buffers;
  allow_shared_memory(larft_rows_kernel<E>, q.device(), "larft");
  larft_rows_kernel<E><<<static_cast<unsigned>(ceil_div(k, warps)), threads, memory.bytes(buffers), stream_of(q)>>>(
      block_of(G), vector_of(tau), block_of(Tri), buffers);
  q.launched("larft");
}

#define INSTANTIATE(T) template void larft(View<T>, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
