// trsm_block: B = op(A)^-1 B for a triangle of a few tiles, with many columns of B, and the inverses of a triangle's diagonal
// tiles, which it multiplies by.
//
//   L            X             A block has some columns of B in shared memory, and op(A) in tiles of 32 x 32, as a lower
//   +--+         +---------+   triangle: one that is upper is taken from its last row to its first. Stripe by stripe, a warp
//   |D0|         | stripe 0|   with eight columns, on the tensor cores where there are some:
//   +--+--+      +---------+       b = stripe - (tiles T to the left) (solved stripes)
//   |T |D1|      | stripe 1|       x = D^-1 b,  d = D^-1 (b - D x),  stripe = x + d
//   +--+--+      +---------+
//
// U's tiles may be as ill-conditioned as the matrix, and x alone would have a residual to match. That of x + d is eps |D| |x| as
// substitution's, as long as |D^-1| |b - D x| is no larger than |x|: what D^-1 lacks, |D D^-1 - I| <= c eps |D| |D^-1|, then meets a
// vector that is small enough. Where d is not well below x, or a number is not finite, the stripe is solved by substitution.
#include <algorithm>

#include "kernels/cuda/exchange_solve_tiles.cuh"
#include "kernels/cuda/reciprocal.cuh"
#include "kernels/cuda/shared_memory.hpp"

namespace devobj::cuda {
namespace {

using namespace exchange_solve_tiles;
using E = double;
using DiagonalTile = Tile<E>;
static_assert(sizeof(DiagonalTile) == trsm_block_inverse_bytes && tile == trsm_block_tile);

/// op(A) as a lower triangle, and the order of rows in which it is one.
struct Lower {
  Block<E> A;
  bool reversed, transposed, unit;
  Lower(Uplo uplo, Op op, Diag diag, View<E> a)
      : A(block_of(a)),
        reversed((uplo == Uplo::Lower) != (op == Op::NoTrans)),
        transposed(op != Op::NoTrans),
        unit(diag == Diag::Unit) {}
  __device__ int rows() const { return static_cast<int>(A.rows); }
  __device__ std::int64_t place(std::int64_t row) const { return reversed ? A.rows - 1 - row : row; }
  __device__ const E& at(std::int64_t row, std::int64_t col) const {
    const std::int64_t r = place(row), c = place(col);
    return transposed ? A(c, r) : A(r, c);
  }
  /// Of the identity beyond the last row.
  __device__ E diagonal(std::int64_t row) const { return unit || row >= A.rows ? 1.0 : at(row, row); }
};

/// A warp with a tile: D^-1, a lane with a column.
constexpr int inverting = 4;
__global__ void __launch_bounds__(inverting* warp_size) trsm_block_inverses_kernel(Lower triangle, DiagonalTile* inverses) {
  __shared__ alignas(16) DiagonalTile tiles[inverting];
  __shared__ Reciprocal<E> all_pivots[inverting][tile];
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  const std::int64_t t = blockIdx.x * std::int64_t(inverting) + warp, first = t * tile;
  if (first >= triangle.A.rows) return;
  DiagonalTile& D = tiles[warp];
  Reciprocal<E>* const pivots = all_pivots[warp];
#pragma unroll 8
  for (int e = 0; e < tile; ++e) {
    // neighbours read what lies side by side
    const int i = triangle.transposed ? e : lane, k = triangle.transposed ? lane : e;
    D[i][k] = first + i < triangle.A.rows && k < i ? triangle.at(first + i, first + k) : 0.0;
  }
  pivots[lane] = Reciprocal<E>(triangle.diagonal(first + lane));
  __syncwarp();
  E x[tile];
#pragma unroll
  for (int i = 0; i < tile; ++i) x[i] = i == lane ? 1.0 : 0.0;
#pragma unroll
  for (int k = 0; k < tile; ++k) {
    if (!triangle.unit) x[k] = pivots[k].times(x[k]);
#pragma unroll
    for (int i = k + 1; i < tile; ++i) x[i] = minus_product(x[i], D[i][k], x[k]);
  }
  // above the diagonal there are zeros, also where a pivot is none
#pragma unroll
  for (int i = 0; i < tile; ++i) inverses[t][i][lane] = i < lane ? 0.0 : x[i];
}

struct Shared {
  Reciprocal<E> pivots[most_rows];
  alignas(16) Tile<E> L[1];  // as many as there are, diagonals included, then the inverses of those on the diagonal, then the columns
  __device__ Tile<E>* inverses(int stripes) { return L + tiles_before(stripes); }
  __device__ Column<E>* columns(int stripes) { return reinterpret_cast<Column<E>*>(inverses(stripes) + stripes); }
  static std::size_t bytes(int stripes, int columns) {
    return sizeof(Shared) + (tiles_before(stripes) + stripes - 1) * sizeof(Tile<E>) + columns * sizeof(Column<E>);
  }
};

/// By one warp: X = D^-1 X for eight columns, a lane with a row; x_k goes round by shuffle.
__device__ __noinline__ void substitute(const Tile<E>& D, const Reciprocal<E>* pivots, bool unit, Column<E>* X, int k0) {
  const int lane = threadIdx.x % warp_size;
  E x[warp_columns];
#pragma unroll
  for (int c = 0; c < warp_columns; ++c) x[c] = X[c][k0 + lane];
#pragma unroll 2
  for (int row = 0; row < tile; ++row) {
    const E d = D[lane][row];
    const Reciprocal<E> pivot = pivots[k0 + row];
#pragma unroll
    for (int c = 0; c < warp_columns; ++c) {
      E solved = shuffle(x[c], row);
      if (!unit) solved = pivot.times(solved);
      if (lane == row) x[c] = solved;
      if (lane > row) x[c] = minus_product(x[c], d, solved);
    }
  }
#pragma unroll
  for (int c = 0; c < warp_columns; ++c) X[c][k0 + lane] = x[c];
  __syncwarp();
}

/// By one warp: a stripe of eight columns, whose right-hand side is given by `b`, b.each(act) with the lane's elements as of Sums.
/// False if it is to be substituted: X has the right-hand side then.
__device__ inline bool multiply_refined(const Tile<E>& D, const Tile<E>& inverse, Column<E>* X, int k0) {
  constexpr int elements = tile * warp_columns / warp_size;
  E b[elements], x[elements];
  Sums<E> first, of_D, correction;
  first.add<true>(inverse, X, k0);
  __syncwarp();
  int n = 0;
  first.each([&](int i, int c, E sum) {
    b[n] = X[c][k0 + i];
    X[c][k0 + i] = x[n++] = sum;
  });
  __syncwarp();
  of_D.add<true>(D, X, k0);
  __syncwarp();
  n = 0;
  of_D.each([&](int i, int c, E sum) {
    X[c][k0 + i] = b[n] - sum;
    ++n;
  });
  __syncwarp();
  correction.add<true>(inverse, X, k0);
  __syncwarp();
  constexpr E well_below = 0x1p-10;
  bool good = true;
  n = 0;
  correction.each([&](int, int, E d) {
    x[n] += d;
    good = good && fabs(d) <= well_below * fabs(x[n]) && isfinite(x[n]);
    ++n;
  });
  good = __all_sync(all_lanes, good);
  n = 0;
  correction.each([&](int i, int c, E) {
    X[c][k0 + i] = good ? x[n] : b[n];
    ++n;
  });
  __syncwarp();
  return good;
}

/// A block has eight columns for each of its `solving` warps.
template <int solving>
__global__ void __launch_bounds__(threads) trsm_block_kernel(Lower triangle, const DiagonalTile* inverses, Block<E> B) {
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& memory = *reinterpret_cast<Shared*>(bytes);
  const int id = threadIdx.x, warp = id / warp_size, lane = id % warp_size;
  const int w = triangle.rows(), stripes = (w + tile - 1) / tile;
  const std::int64_t first = (blockIdx.x * std::int64_t(solving) + warp) * warp_columns;  // the warp's columns
  Column<E>* const own = memory.columns(stripes) + warp * warp_columns;

  if (warp < solving)
    for (int c = 0; c < warp_columns; ++c)
      for (int t = lane; t < stripes * tile; t += warp_size)
        if (t < w && first + c < B.cols)
          __pipeline_memcpy_async(&own[c][t], &B(triangle.place(t), first + c), sizeof(E));
        else
          own[c][t] = 0.0;
  for (int s = 0, n = 0; s < stripes; ++s)
    for (int q = 0; q <= s; ++q, ++n)
#pragma unroll
      for (int e = 0; e < tile * tile / threads; ++e) {
        // neighbours read what lies side by side
        const int i = triangle.transposed ? id / tile + e * warps : id % tile;
        const int k = triangle.transposed ? id % tile : id / tile + e * warps;
        const int row = s * tile + i, col = q * tile + k;
        if (row < w && (col < row || (col == row && !triangle.unit)))
          __pipeline_memcpy_async(&memory.L[n][i][k], &triangle.at(row, col), sizeof(E));
        else
          memory.L[n][i][k] = row == col ? 1.0 : 0.0;
      }
  {
    constexpr int at_once = 16;
    auto* const to = reinterpret_cast<unsigned char*>(memory.inverses(stripes));
    const auto* const from = reinterpret_cast<const unsigned char*>(inverses);
    for (int at = id * at_once; at < stripes * static_cast<int>(sizeof(Tile<E>)); at += threads * at_once)
      __pipeline_memcpy_async(to + at, from + at, at_once);
  }
  __pipeline_commit();
  if (!triangle.unit && id < stripes * tile) memory.pivots[id] = Reciprocal<E>(triangle.diagonal(id));
  __pipeline_wait_prior(0);
  __syncthreads();
  if (warp >= solving) return;
  for (int s = 0; s < stripes; ++s) {
    const Tile<E>* const L = memory.L + tiles_before(s);
    const int k0 = s * tile;
    if (s > 0) {
      Sums<E> left;
      for (int q = 0; q < s; ++q) left.template add<false>(L[q], own, q * tile);
      left.each([&](int i, int c, E sum_of_left) { own[c][k0 + i] -= sum_of_left; });
      __syncwarp();
    }
    if (!multiply_refined(L[s], memory.inverses(stripes)[s], own, k0))
      substitute(L[s], memory.pivots, triangle.unit, own, k0);
#pragma unroll
    for (int c = 0; c < warp_columns; ++c)
      if (k0 + lane < w && first + c < B.cols) B(triangle.place(k0 + lane), first + c) = own[c][k0 + lane];
  }
}

template <int solving>
bool launch(const Lower& triangle, const DiagonalTile* inverses, Block<E> B, Queue& q) {
  constexpr auto kernel = trsm_block_kernel<solving>;
  const auto bytes = Shared::bytes(static_cast<int>(ceil_div(triangle.A.rows, tile)), solving * warp_columns);
  if (bytes > shared_memory_limit(q.device())) return false;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "trsm_block");
  kernel<<<static_cast<unsigned>(ceil_div(B.cols, solving * warp_columns)), threads, bytes, stream_of(q)>>>(triangle,
                                                                                                            inverses, B);
  q.launched("trsm_block");
  return true;
}

}  // namespace

std::int64_t trsm_block_rows(const Queue& q) {
  std::int64_t rows = most_rows;
  while (rows > tile && Shared::bytes(static_cast<int>(rows / tile), warp_columns) > shared_memory_limit(q.device()))
    rows /= 2;
  return rows;
}

void trsm_block_inverses(Uplo uplo, Op op, Diag diag, View<double> A, void* inverses, Queue& q) {
  if (A.empty()) return;
  DeviceScope scope(q.device());
  trsm_block_inverses_kernel<<<static_cast<unsigned>(ceil_div(ceil_div(A.rows, tile), inverting)), inverting * warp_size, 0,
                               stream_of(q)>>>(Lower(uplo, op, diag, A), static_cast<DiagonalTile*>(inverses));
  q.launched("trsm_block_inverses");
}

void trsm_block(Uplo uplo, Op op, Diag diag, View<double> A, const void* inverses, View<double> B, Queue& q) {
  if (B.empty()) return;
  DeviceScope scope(q.device());
  const Lower triangle(uplo, op, diag, A);
  const auto* const tiles = static_cast<const DiagonalTile*>(inverses);
  // As many columns to a block as let each multiprocessor have one.
  if (B.cols > 4096 && launch<8>(triangle, tiles, block_of(B), q)) return;
  if (B.cols > 2048 && launch<4>(triangle, tiles, block_of(B), q)) return;
  if (B.cols > 1024 && launch<2>(triangle, tiles, block_of(B), q)) return;
  launch<1>(triangle, tiles, block_of(B), q);
}

}  // namespace devobj::cuda
