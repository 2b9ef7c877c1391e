// Triangles of a panel with many right-hand sides: X = L^-1 B (columns of B), or X = B U^-1 (rows of B: U^T X^T = B^T).
// Either is T X = B with a lower triangle T.
//
//   T00             |     A block has 64 right-hand sides in registers, a thread four by four elements of each tile of 32
//   T10 T11         |     rows. A warp inverts each diagonal tile. Then, tile after tile,
//   T20 T21 T22     |
//   T30 T31 T32 T33 |         X_i = T_ii^-1 B_i,    B_j -= T_ji X_i  for all j > i,
//
// with B_i and X_i in shared memory, where a thread reads four of each at a time.
#pragma once

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/cuda/single_precision.cuh"
#include "kernels/cuda/triangle_tile.cuh"
#include "kernels/randomized.hpp"

namespace devobj::cuda {
namespace window_solve {

constexpr int tile = warp_size, sides = 64, threads = 128, warps = threads / warp_size;

template <class E>
struct alignas(16) Four {
  E x[4];
};

/// (i, side)
template <class E>
using Sides = E[tile][sides + Piece<E>::size];

__host__ __device__ constexpr int place_of_tile(int j, int i) {
  return j * (j + 1) / 2 + i;
}

template <class E>
constexpr int order =
    static_cast<int>(window_panel_cols<std::conditional_t<is_device_complex<E>, std::complex<float>, float>>);
template <class E>
constexpr int tiles = order<E> / tile;

template <class E>
struct Memory {
  TriangleTile<E> T[tiles<E> * (tiles<E> + 1) / 2];  // (i, k) of a tile is a[k][i]
  E reciprocals[tiles<E>][tile];                     // of the diagonal
  alignas(16) Sides<E> given;
  alignas(16) Sides<E> solved;
};

/// On their way to shared memory: T's tiles; where T has no rows or columns those of the unit matrix.
template <class E, bool of_rows>
__device__ void fetch(Block<E> LU, TriangleTile<E>* T) {
  const int n = static_cast<int>(LU.cols), lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  for (int j = 0; j * tile < n; ++j)
    for (int i = 0; i <= j; ++i)
#pragma unroll
      for (int u = 0; u < tile / warps; ++u) {
        // along LU's columns
        const int r = (of_rows ? i : j) * tile + lane, c = (of_rows ? j : i) * tile + warp + u * warps;
        TriangleTile<E>& into = T[place_of_tile(j, i)];
        E& to = of_rows ? into.a[lane][warp + u * warps] : into.a[warp + u * warps][lane];
        if (r < n && c < n && (of_rows ? r <= c : r > c))
          copy_async(&to, &LU(r, c));
        else
          to = from_parts<E>(r == c ? 1 : 0);
      }
  __pipeline_commit();
}

/// T^-1 in the place of a lower triangle, whose diagonal is 1 if `unit`. By a warp.
template <bool unit, class E>
__device__ void invert(TriangleTile<E>& T, E (&reciprocals)[tile], int lane) {
  if (!unit) reciprocals[lane] = inverse_of(T.a[lane][lane]);
  __syncwarp();
  E x[tile];
  T.template inverse_column<unit>(reciprocals, lane, x);
  T.put(lane, x);
}

/// X -= T Y for the thread's elements: rows from `row`, right-hand sides from `side`.
template <class E>
__device__ void subtract(const TriangleTile<E>& T, const Sides<E>& Y, int row, int side, E (&X)[4][4]) {
#pragma unroll 8
  for (int k = 0; k < tile; ++k) {
    const Four<E> t = *reinterpret_cast<const Four<E>*>(&T.a[k][row]);
    const Four<E> y = *reinterpret_cast<const Four<E>*>(&Y[k][side]);
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int s = 0; s < 4; ++s) X[i][s] = minus_product(X[i][s], t.x[i], y.x[s]);
  }
}

template <class E>
__device__ void put(const E (&X)[4][4], int row, int side, Sides<E>& Y) {
#pragma unroll
  for (int i = 0; i < 4; ++i) *reinterpret_cast<Four<E>*>(&Y[row + i][side]) = {X[i][0], X[i][1], X[i][2], X[i][3]};
}

/// B = L^-1 B, or B U^-1 if `of_rows`.
template <class E, bool of_rows>
__global__ void __launch_bounds__(threads) window_solve_kernel(Block<E> LU, Block<E> B) {
  extern __shared__ __align__(16) unsigned char raw_memory[];
  auto& memory = *reinterpret_cast<Memory<E>*>(raw_memory);
  const int n = static_cast<int>(LU.cols), lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t first = blockIdx.x * std::int64_t(sides), all = of_rows ? B.rows : B.cols;
  // neighbours have what lies side by side in B
  const int row = 4 * (of_rows ? lane / 8 + 4 * (warp / 2) : lane % 8);
  const int side = 4 * (of_rows ? lane % 8 + 8 * (warp % 2) : lane / 8 + 4 * warp);
  const auto at = [&](int i, std::int64_t s) -> E& { return of_rows ? B(s, i) : B(i, s); };

  fetch<E, of_rows>(LU, memory.T);
  E X[tiles<E>][4][4];
#pragma unroll
  for (int j = 0; j < tiles<E>; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const bool here = j * tile + row + i < n && first + side + s < all;
        X[j][i][s] = here ? at(j * tile + row + i, first + side + s) : E{};
      }
  __pipeline_wait_prior(0);
  __syncthreads();
  if (warp < tiles<E> && warp * tile < n)
    invert<!of_rows>(memory.T[place_of_tile(warp, warp)], memory.reciprocals[warp], lane);

#pragma unroll
  for (int i = 0; i < tiles<E>; ++i) {
    if (i * tile >= n) break;
    put(X[i], row, side, memory.given);
    __syncthreads();
    E solution[4][4] = {};
    subtract(memory.T[place_of_tile(i, i)], memory.given, row, side, solution);
#pragma unroll
    for (auto& of_row : solution)
#pragma unroll
      for (E& x : of_row) x = negative(x);
    put(solution, row, side, memory.solved);
    __syncthreads();
#pragma unroll
    for (int j = i + 1; j < tiles<E>; ++j)
      if (j * tile < n) subtract(memory.T[place_of_tile(j, i)], memory.solved, row, side, X[j]);
        // along B's columns
#pragma unroll 4
    for (int u = 0; u < tile * sides / threads; ++u) {
      const int r = of_rows ? threadIdx.x / sides + u * (threads / sides) : lane;
      const int s = of_rows ? threadIdx.x % sides : warp + u * warps;
      if (i * tile + r < n && first + s < all) at(i * tile + r, first + s) = memory.solved[r][s];
    }
  }
}

template <class S, bool of_rows>
void launch(const char* name, View<S> LU, View<S> B, Queue& q) {
  if (B.empty()) return;
  require(LU.cols <= window_panel_cols<S>, name, ": the triangle has ", LU.cols, " columns, more than ",
          window_panel_cols<S>);
  DeviceScope scope(q.device());
  using E = device_t<S>;
  constexpr std::size_t bytes = sizeof(Memory<E>);
  const auto kernel = window_solve_kernel<E, of_rows>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)), name);
  const auto blocks = static_cast<unsigned>(ceil_div(of_rows ? B.rows : B.cols, sides));
  kernel<<<blocks, threads, bytes, stream_of(q)>>>(block_of(LU), block_of(B));
  q.launched(name);
}

}  // namespace window_solve
}  // namespace devobj::cuda
