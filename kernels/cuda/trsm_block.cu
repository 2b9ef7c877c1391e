// trsm_block: B = op(A)^-1 B for a triangle of a few tiles, with many columns of B, by substitution.
//
//   L            X             A block has some columns of B in shared memory, and op(A) in tiles of 32 x 32, as a lower
//   +--+         +---------+   triangle: one that is upper is taken from its last row to its first. Stripe by stripe, a warp
//   |D0|         | stripe 0|   with eight columns:
//   +--+--+      +---------+       b = stripe - (tiles T to the left) (solved stripes), on the tensor cores where there are some
//   |T |D1|      | stripe 1|       stripe = D^-1 b, a lane with a row, x_k goes round by shuffle
//   +--+--+      +---------+
//
// No tile is inverted: U's may be as ill-conditioned as the matrix.
#include <algorithm>

#include "kernels/cuda/exchange_solve_tiles.cuh"
#include "kernels/cuda/reciprocal.cuh"
#include "kernels/cuda/shared_memory.hpp"

namespace devobj::cuda {
namespace {

using namespace exchange_solve_tiles;

/// op(A) as a lower triangle of w rows, and the order of rows in which it is one.
template <class E>
struct Lower {
  Block<E> A;
  bool reversed, transposed, unit;
  __device__ int rows() const { return static_cast<int>(A.rows); }
  __device__ int place(int row) const { return reversed ? rows() - 1 - row : row; }
  __device__ E operator()(int row, int col) const {
    const int r = place(row), c = place(col);
    return transposed ? A(c, r) : A(r, c);
  }
};

template <class E>
struct Shared {
  Reciprocal<E> pivots[most_rows];
  alignas(16) Tile<E> L[1];  // as many as there are, then the columns
  __device__ Column<E>* columns(int stripes) { return reinterpret_cast<Column<E>*>(L + tiles_before(stripes)); }
  static std::size_t bytes(int stripes, int columns) {
    return sizeof(Shared) + (tiles_before(stripes) - 1) * sizeof(Tile<E>) + columns * sizeof(Column<E>);
  }
};

/// By one warp: X = D^-1 X for eight columns.
template <class E>
__device__ void substitute(const Tile<E>& D, const Reciprocal<E>* pivots, bool unit, Column<E>* X, int k0) {
  const int lane = threadIdx.x % warp_size;
  E x[warp_columns];
#pragma unroll
  for (int c = 0; c < warp_columns; ++c) x[c] = X[c][k0 + lane];
#pragma unroll 2
  for (int k = 0; k < tile; k += Piece<E>::size) {
    const Piece<E> d = piece(D[lane][k]);
#pragma unroll
    for (int v = 0; v < Piece<E>::size; ++v) {
      const int row = k + v;
      const Reciprocal<E> pivot = pivots[k0 + row];
#pragma unroll
      for (int c = 0; c < warp_columns; ++c) {
        E solved = shuffle(x[c], row);
        if (!unit) solved = pivot.times(solved);
        if (lane == row) x[c] = solved;
        if (lane > row) x[c] = minus_product(x[c], d.of[v], solved);
      }
    }
  }
#pragma unroll
  for (int c = 0; c < warp_columns; ++c) X[c][k0 + lane] = x[c];
  __syncwarp();
}

/// A block has eight columns for each of its `solving` warps.
template <class E, int solving>
__global__ void __launch_bounds__(threads) trsm_block_kernel(Lower<E> triangle, Block<E> B) {
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& memory = *reinterpret_cast<Shared<E>*>(bytes);
  constexpr int columns = solving * warp_columns;
  const int id = threadIdx.x, warp = id / warp_size, lane = id % warp_size;
  const int w = triangle.rows(), stripes = (w + tile - 1) / tile;
  const std::int64_t first = blockIdx.x * std::int64_t(columns);
  Column<E>* const X = memory.columns(stripes);

  for (int s = 0, n = 0; s < stripes; ++s)
    for (int q = 0; q <= s; ++q, ++n)
#pragma unroll
      for (int e = 0; e < tile * tile / threads; ++e) {
        // neighbours read what lies side by side
        const int i = triangle.transposed ? id / tile + e * warps : id % tile;
        const int k = triangle.transposed ? id % tile : id / tile + e * warps;
        const int row = s * tile + i, col = q * tile + k;
        memory.L[n][i][k] = row < w && col < row ? triangle(row, col) : E{};
      }
  if (!triangle.unit && id < stripes * tile)
    memory.pivots[id] = Reciprocal<E>(id < w ? triangle(id, id) : from_parts<E>(1));
  for (int e = id; e < columns * stripes * tile; e += threads) {
    const int t = e % (stripes * tile), c = e / (stripes * tile);
    X[c][t] = t < w && first + c < B.cols ? B(triangle.place(t), first + c) : E{};
  }
  __syncthreads();
  if (warp >= solving) return;
  Column<E>* const own = X + warp * warp_columns;
  for (int s = 0; s < stripes; ++s) {
    const Tile<E>* const L = memory.L + tiles_before(s);
    const int k0 = s * tile;
    if (s > 0) {
      Sums<E> left;
      for (int q = 0; q < s; ++q) left.template add<false>(L[q], own, q * tile);
      left.each([&](int i, int c, E sum_of_left) {
        E& b = own[c][k0 + i];
        b = minus_product(b, from_parts<E>(1), sum_of_left);
      });
      __syncwarp();
    }
    substitute<E>(L[s], memory.pivots, triangle.unit, own, k0);
    for (int c = 0; c < warp_columns; ++c) {
      const std::int64_t col = first + warp * warp_columns + c;
      if (k0 + lane < w && col < B.cols) B(triangle.place(k0 + lane), col) = own[c][k0 + lane];
    }
  }
}

template <class E, int solving>
bool launch(const Lower<E>& triangle, Block<E> B, Queue& q) {
  constexpr auto kernel = trsm_block_kernel<E, solving>;
  constexpr int columns = solving * warp_columns;
  const auto bytes = Shared<E>::bytes(static_cast<int>(ceil_div(triangle.A.rows, tile)), columns);
  if (bytes > shared_memory_limit(q.device())) return false;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "trsm_block");
  kernel<<<static_cast<unsigned>(ceil_div(B.cols, columns)), threads, bytes, stream_of(q)>>>(triangle, B);
  q.launched("trsm_block");
  return true;
}

}  // namespace

std::int64_t trsm_block_rows(const Queue& q) {
  std::int64_t rows = most_rows;
  while (rows > tile &&
         Shared<double>::bytes(static_cast<int>(rows / tile), warp_columns) > shared_memory_limit(q.device()))
    rows /= 2;
  return rows;
}

void trsm_block(Uplo uplo, Op op, Diag diag, View<double> A, View<double> B, Queue& q) {
  using E = double;
  if (B.empty()) return;
  DeviceScope scope(q.device());
  const Lower<E> triangle{block_of(A), (uplo == Uplo::Lower) != (op == Op::NoTrans), op != Op::NoTrans, diag == Diag::Unit};
  // As many columns to a block as let each multiprocessor have one.
  if (B.cols > 4096 && launch<E, 8>(triangle, block_of(B), q)) return;
  if (B.cols > 1024 && launch<E, 4>(triangle, block_of(B), q)) return;
  launch<E, 1>(triangle, block_of(B), q);
}

}  // namespace devobj::cuda
