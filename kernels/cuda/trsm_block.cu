// trsm_block: B = op(A)^-1 B for a triangle of a few tiles, with many columns of B; and trsm_tiles, which writes the triangles
// on the diagonal of a larger one as trsm_block has them in shared memory.
//
//   L            X             A block has op(A) in shared memory, in tiles of 32 x 32 as a lower triangle (one that is upper is
//   +--+         +---------+   taken from its last row to its first), the inverses of the tiles on the diagonal, and some columns
//   |D0|         | stripe 0|   of B. Stripe by stripe, a warp with eight columns, on the tensor cores where there are some:
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

/// Whether op(A) is an upper triangle, which is solved from its last row on.
bool is_reversed(Uplo uplo, Op op) {
  return (uplo == Uplo::Lower) != (op == Op::NoTrans);
}

/// A triangle on the diagonal of op(A), from a row on, as a lower one, and the order of rows in which it is one.
struct Lower {
  Block<E> A;
  bool reversed, transposed, unit;
  std::int64_t first = 0;  // in that order
  Lower(Uplo uplo, Op op, Diag diag, View<E> a)
      : A(block_of(a)), reversed(is_reversed(uplo, op)), transposed(op != Op::NoTrans), unit(diag == Diag::Unit) {}
  __device__ const E& operator()(int row, int col) const {
    const std::int64_t r = reversed ? A.rows - 1 - first - row : first + row,
                       c = reversed ? A.rows - 1 - first - col : first + col;
    return transposed ? A(c, r) : A(r, c);
  }
};

struct Shared {
  Reciprocal<E> pivots[most_rows];
  // as many as there are, the identity beyond the last row; then the inverses; then the columns
  alignas(16) Tile<E> L[1];
  __device__ Tile<E>* inverses(int stripes) { return L + tiles_before(stripes); }
  __device__ Column<E>* columns(int stripes) { return reinterpret_cast<Column<E>*>(inverses(stripes) + stripes); }
  __host__ __device__ static std::int64_t bytes(int stripes, int columns) {
    return static_cast<std::int64_t>(sizeof(Shared) + (tiles_before(stripes) + stripes - 1) * sizeof(Tile<E>) +
                                     columns * sizeof(Column<E>));
  }
};
static_assert(sizeof(Shared) % 16 == 0 && sizeof(Tile<E>) % 16 == 0);
__host__ __device__ constexpr int stripes_of(std::int64_t rows) {
  return static_cast<int>((rows + tile - 1) / tile);
}

/// By one warp: inverse = D^-1, a lane with a column.
__device__ void invert_with_pivots(const Tile<E>& D, const Reciprocal<E>* pivots, bool unit, Tile<E>& inverse) {
  const int lane = threadIdx.x % warp_size;
  E x[tile];
#pragma unroll
  for (int i = 0; i < tile; ++i) x[i] = i == lane ? 1.0 : 0.0;
#pragma unroll
  for (int k = 0; k < tile; ++k) {
    if (!unit) x[k] = pivots[k].times(x[k]);
#pragma unroll
    for (int i = k + 1; i < tile; ++i) x[i] = minus_product(x[i], D[i][k], x[k]);
  }
  // above the diagonal there are zeros, also where a pivot is none
#pragma unroll
  for (int i = 0; i < tile; ++i) inverse[i][lane] = i < lane ? 0.0 : x[i];
}

/// A block with a triangle of `rows_at_once` rows, or what is left.
__global__ void __launch_bounds__(threads) trsm_tiles_kernel(Lower triangle, int rows_at_once, unsigned char* to) {
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& memory = *reinterpret_cast<Shared*>(bytes);
  triangle.first = blockIdx.x * std::int64_t(rows_at_once);
  const int w = static_cast<int>(min(triangle.A.rows - triangle.first, std::int64_t(rows_at_once)));
  const int stripes = stripes_of(w), id = threadIdx.x, warp = id / warp_size;
  for (int s = 0, n = 0; s < stripes; ++s)
    for (int q = 0; q <= s; ++q, ++n)
#pragma unroll
      for (int e = 0; e < tile * tile / threads; ++e) {
        // neighbours read what lies side by side
        const int i = triangle.transposed ? id / tile + e * warps : id % tile;
        const int k = triangle.transposed ? id % tile : id / tile + e * warps;
        const int row = s * tile + i, col = q * tile + k;
        const bool there = row < w && (col < row || (col == row && !triangle.unit));
        memory.L[n][i][k] = there ? triangle(row, col) : row == col ? 1.0 : 0.0;
      }
  for (int t = id; t < most_rows; t += threads)
    memory.pivots[t] = Reciprocal<E>(t < w && !triangle.unit ? triangle(t, t) : 1.0);
  __syncthreads();
  for (int s = warp; s < stripes; s += warps)
    invert_with_pivots(memory.L[tiles_before(s + 1) - 1], memory.pivots + s * tile, triangle.unit,
                       memory.inverses(stripes)[s]);
  __syncthreads();
  to += blockIdx.x * Shared::bytes(stripes_of(rows_at_once), 0);
  for (int at = 16 * id; at < Shared::bytes(stripes, 0); at += 16 * threads)
    *reinterpret_cast<int4*>(to + at) = *reinterpret_cast<const int4*>(bytes + at);
}

/// By one warp: X = D^-1 X for eight columns, a lane with a row; x_k goes round by shuffle.
__device__ __noinline__ void substitute(const Tile<E>& D, const Reciprocal<E>* pivots, bool unit, Column<E>* X,
                                        int k0) {
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

/// By one warp: a stripe of eight columns. False if it is to be solved by substitution: X is as it was then.
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

/// A block has eight columns for each of its `solving` warps. `tiles`: the triangle's, of trsm_tiles.
template <int solving>
__global__ void __launch_bounds__(threads)
    trsm_block_kernel(const unsigned char* tiles, bool reversed, bool unit, Block<E> B) {
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& memory = *reinterpret_cast<Shared*>(bytes);
  const int id = threadIdx.x, warp = id / warp_size, lane = id % warp_size;
  const int w = static_cast<int>(B.rows), stripes = stripes_of(w);
  const std::int64_t first = (blockIdx.x * std::int64_t(solving) + warp) * warp_columns;  // the warp's columns
  Column<E>* const own = memory.columns(stripes) + warp * warp_columns;
  const auto place = [&](int t) { return reversed ? w - 1 - t : t; };

  if (warp < solving)
#pragma unroll
    for (int c = 0; c < warp_columns; ++c)
      for (int s = 0; s < stripes; ++s) {
        const int t = s * tile + lane;
        if (t < w && first + c < B.cols)
          __pipeline_memcpy_async(&own[c][t], &B(place(t), first + c), sizeof(E));
        else
          own[c][t] = 0.0;
      }
#pragma unroll 8
  for (int at = 16 * id; at < Shared::bytes(stripes, 0); at += 16 * threads)
    __pipeline_memcpy_async(bytes + at, tiles + at, 16);
  __pipeline_commit();
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
    if (!multiply_refined(L[s], memory.inverses(stripes)[s], own, k0)) substitute(L[s], memory.pivots, unit, own, k0);
#pragma unroll
    for (int c = 0; c < warp_columns; ++c)
      if (k0 + lane < w && first + c < B.cols) B(place(k0 + lane), first + c) = own[c][k0 + lane];
  }
}

template <int solving>
bool launch(const unsigned char* tiles, bool reversed, bool unit, Block<E> B, Queue& q) {
  constexpr auto kernel = trsm_block_kernel<solving>;
  const auto bytes = static_cast<std::size_t>(Shared::bytes(stripes_of(B.rows), solving * warp_columns));
  if (allow_shared_memory(kernel, q.device(), "trsm_block") < bytes) return false;
  const auto blocks = static_cast<unsigned>(ceil_div(B.cols, solving * warp_columns));
  kernel<<<blocks, threads, bytes, stream_of(q)>>>(tiles, reversed, unit, B);
  q.launched("trsm_block");
  return true;
}

}  // namespace

std::int64_t trsm_block_rows(const Queue& q) {
  std::int64_t rows = most_rows;
  while (rows > tile &&
         Shared::bytes(stripes_of(rows), warp_columns) > static_cast<std::int64_t>(shared_memory_limit(q.device())))
    rows /= 2;
  return rows;
}

std::int64_t trsm_tiles_bytes(const Queue& q) {
  return Shared::bytes(stripes_of(trsm_block_rows(q)), 0);
}

void trsm_tiles(Uplo uplo, Op op, Diag diag, View<double> A, void* tiles, Queue& q) {
  if (A.empty()) return;
  DeviceScope scope(q.device());
  const std::int64_t rows = trsm_block_rows(q), bytes = trsm_tiles_bytes(q);
  allow_shared_memory(trsm_tiles_kernel, q.device(), "trsm_tiles");
  trsm_tiles_kernel<<<static_cast<unsigned>(ceil_div(A.rows, rows)), threads, static_cast<std::size_t>(bytes),
                      stream_of(q)>>>(Lower(uplo, op, diag, A), static_cast<int>(rows),
                                      static_cast<unsigned char*>(tiles));
  q.launched("trsm_tiles");
}

void trsm_block(Uplo uplo, Op op, Diag diag, const void* tiles, View<double> B, Queue& q) {
  if (B.empty()) return;
  DeviceScope scope(q.device());
  const auto* const of_A = static_cast<const unsigned char*>(tiles);
  const bool reversed = is_reversed(uplo, op), unit = diag == Diag::Unit;
  // As many columns to a block as let each multiprocessor have one.
  if (B.cols > 4096 && launch<8>(of_A, reversed, unit, block_of(B), q)) return;
  if (B.cols > 2048 && launch<4>(of_A, reversed, unit, block_of(B), q)) return;
  if (B.cols > 1024 && launch<2>(of_A, reversed, unit, block_of(B), q)) return;
  launch<1>(of_A, reversed, unit, block_of(B), q);
}

}  // namespace devobj::cuda
