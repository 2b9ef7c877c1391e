// qr_panel_tall: A^H A of a panel, in two kernels with the same sums in every run. For single precision: the products
// that cuBLAS takes for a few columns of very many rows spend most of their time elsewhere.
#pragma once

#include "kernels/cuda/qr_panel_tall_square.cuh"

namespace devobj::cuda::qr_panel::tall {

constexpr int gram_rows = 128;  // of a tile
template <class E>
constexpr bool has_gram = sizeof(E) == 4;

/// 16 bytes of a column.
template <class E>
struct alignas(16) Piece {
  static constexpr int size = 16 / sizeof(E);
  E x[size];
};

// Every block adds up the products of its tiles of rows and leaves them in parts[block][j][i], while the next tile is on
// its way.
template <class E, int W>
__global__ void __launch_bounds__(square_threads) gram_kernel(Block<E> A, int w, E* parts) {
  constexpr int tile = W / side, each = W * gram_rows / square_threads, columns_at_once = square_threads / gram_rows;
  constexpr int pitch = gram_rows + Piece<E>::size;  // a column of pieces without conflicts
  __shared__ alignas(16) E X[W][pitch];
  const int t = threadIdx.x, row = t % gram_rows, column = t / gram_rows, r = t % side, c = t / side;
  E next[each], sums[tile][tile] = {};
  const std::int64_t tiles = (A.rows + gram_rows - 1) / gram_rows;
  auto load = [&](std::int64_t number) {
    const std::int64_t i = number * gram_rows + row;
#pragma unroll
    for (int u = 0; u < each; ++u) {
      const int l = column + columns_at_once * u;
      next[u] = number < tiles && i < A.rows && l < w ? A(i, l) : E{};
    }
  };
  load(blockIdx.x);
  for (std::int64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
#pragma unroll
    for (int u = 0; u < each; ++u) X[column + columns_at_once * u][row] = next[u];
    __syncthreads();
    load(number + gridDim.x);
#pragma unroll 2
    for (int k = 0; k < gram_rows; k += Piece<E>::size) {
      Piece<E> x[tile], y[tile];
#pragma unroll
      for (int a = 0; a < tile; ++a) {
        x[a] = *reinterpret_cast<const Piece<E>*>(&X[r + side * a][k]);
        y[a] = *reinterpret_cast<const Piece<E>*>(&X[c + side * a][k]);
      }
#pragma unroll
      for (int u = 0; u < Piece<E>::size; ++u) {
#pragma unroll
        for (int b = 0; b < tile; ++b) {
#pragma unroll
          for (int a = 0; a < tile; ++a) sums[a][b] = plus_conjugate_product(sums[a][b], x[a].x[u], y[b].x[u]);
        }
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int b = 0; b < tile; ++b) {
#pragma unroll
    for (int a = 0; a < tile; ++a) parts[(std::int64_t(blockIdx.x) * W + c + side * b) * W + r + side * a] = sums[a][b];
  }
}

// work->gram = the sum of all parts: 32 elements per block, whose parts eight warps add up.
template <class E, int W>
__global__ void __launch_bounds__(square_threads) gram_sum_kernel(const E* parts, int count, Work<E>* work) {
  constexpr int warps = square_threads / warp_size;
  __shared__ E of_warp[warps][warp_size];
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, e = blockIdx.x * warp_size + lane;
  E total{};
#pragma unroll 4
  for (int p = warp; p < count; p += warps) total = sum(total, parts[std::int64_t(p) * W * W + e]);
  of_warp[warp][lane] = total;
  __syncthreads();
  if (warp > 0) return;
  for (int other = 1; other < warps; ++other) total = sum(total, of_warp[other][lane]);
  work->gram[e / W][e % W] = total;
}

}  // namespace devobj::cuda::qr_panel::tall
