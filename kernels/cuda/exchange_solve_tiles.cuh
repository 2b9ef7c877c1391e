// The tiles of exchange_solve: L11 and columns of A in shared memory, inverses of diagonal tiles, products of tiles.
#pragma once

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/tensor_double.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda::exchange_solve_tiles {

constexpr int tile = warp_size;
constexpr int threads = 256;
constexpr int warps = threads / warp_size;
constexpr int warp_columns = 8;
constexpr int most_rows = exchange_solve_max;

template <class E>
constexpr bool by_tensor_cores = sizeof(real_e<E>) == 8;
/// Elements between the beginnings of rows of L, and of columns of A, of n elements: rows side by side are in other banks.
template <class E>
constexpr int padded(int n) {
  return n + (by_tensor_cores<E> ? 4 : 16 / static_cast<int>(sizeof(E)));
}

/// 16 bytes.
template <class E>
struct alignas(16) Piece {
  static constexpr int size = 16 / sizeof(E);
  E of[size];
};
template <class E>
__device__ const Piece<E>& piece(const E& first) {
  return *reinterpret_cast<const Piece<E>*>(&first);
}

/// Of L11, by rows: (0, 0), (1, 0), (1, 1), (2, 0) ... Diagonal ones become inverses.
template <class E>
using Tile = E[tile][padded<E>(tile)];
template <class E>
using Column = E[padded<E>(most_rows)];
__host__ __device__ constexpr int tiles_before(int stripe) {
  return stripe * (stripe + 1) / 2;
}

template <class E>
struct Memory {
  std::int32_t from[most_rows], to[most_rows];  // what comes to a row; where its old row goes, or -1
  alignas(16) Tile<E> L[1];                     // as many as there are, then the columns
  __device__ Column<E>* columns(int stripes) { return reinterpret_cast<Column<E>*>(L + tiles_before(stripes)); }
  static std::size_t bytes(int stripes, int columns) {
    return sizeof(Memory) + (tiles_before(stripes) - 1) * sizeof(Tile<E>) + columns * sizeof(Column<E>);
  }
};

/// Warps that solve the same columns, a few of a block's: warp after warp.
template <int members>
struct Team {
  int number, member;
  __device__ explicit Team(int warp) : number(warp / members), member(warp % members) {}
  /// Waits for the others, which see what this one wrote.
  __device__ void meet() const {
    if constexpr (members == 1)
      __syncwarp();
    else
      asm volatile("bar.sync %0, %1;" ::"r"(1 + number), "n"(members * warp_size) : "memory");
  }
  /// The same, and whether this is true of all lanes of all.
  __device__ bool all(bool is_true) const {
    if constexpr (members == 1) {
      __syncwarp();
      return __all_sync(all_lanes, is_true);
    } else {
      int result;
      asm volatile(
          "{\n\t.reg .pred p, q;\n\t"
          "setp.ne.s32 p, %1, 0;\n\t"
          "bar.red.and.pred q, %2, %3, p;\n\t"
          "selp.s32 %0, 1, 0, q;\n\t}"
          : "=r"(result)
          : "r"(int(is_true)), "r"(1 + number), "n"(members * warp_size)
          : "memory");
      return result != 0;
    }
  }
};

/// A warp's sums for a stripe of eight columns: L X, a tile after the other; of a team's `members` each has as many of the
/// stripe's rows. A lane has some elements of it.
template <class E, int members, bool = by_tensor_cores<E>>
class Sums {
  static constexpr int rows = 4 / members, columns = 2, at_once = Piece<E>::size;

 public:
  static constexpr int count = rows * columns;  // of a lane's elements
  __device__ explicit Sums(int member) : first_(member * rows * 8) {}
  /// += L X; `lower`: L is zero above its diagonal, of which only tensor cores make use.
  template <bool lower>
  __device__ void add(const Tile<E>& L, const Column<E>* X, int k0) {
    const int first_row = lane() % 8, first_column = lane() / 8;
#pragma unroll 2
    for (int k = 0; k < tile; k += at_once) {
      Piece<E> l[rows], x[columns];
#pragma unroll
      for (int i = 0; i < rows; ++i) l[i] = piece(L[first_ + first_row + 8 * i][k]);
#pragma unroll
      for (int j = 0; j < columns; ++j) x[j] = piece(X[first_column + 4 * j][k0 + k]);
#pragma unroll
      for (int v = 0; v < at_once; ++v)
#pragma unroll
        for (int i = 0; i < rows; ++i)
#pragma unroll
          for (int j = 0; j < columns; ++j) sums_[i][j] = plus_product(sums_[i][j], l[i].of[v], x[j].of[v]);
    }
  }
  /// act(row, column, sum) for the lane's elements.
  template <class Act>
  __device__ void each(Act act) const {
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int j = 0; j < columns; ++j) act(first_ + lane() % 8 + 8 * i, lane() / 8 + 4 * j, sums_[i][j]);
  }

 private:
  __device__ static E plus_product(E c, E a, E b) {
    return minus_product(c, negative(a), b);
  }
  __device__ static int lane() {
    return threadIdx.x % warp_size;
  }
  int first_;  // row
  E sums_[rows][columns] = {};
};

/// Double precision, real and complex: products of 8 x 4 by 4 x 8.
template <class E, int members>
class Sums<E, members, true> {
  static constexpr int rows = 4 / members, parts = is_device_complex<E> ? 2 : 1;  // eights of rows

 public:
  static constexpr int count = rows * 2;
  __device__ explicit Sums(int member) : first_(member * rows) {}
  template <bool lower>
  __device__ void add(const Tile<E>& L, const Column<E>* X, int k0) {
    const int outer = lane() / 4, inner = lane() % 4;
#pragma unroll
    for (int k = 0; k < tile; k += 4) {
      const E x = X[outer][k0 + k + inner];
#pragma unroll
      for (int i = 0; i < rows; ++i) {
        if (lower && first_ + i < k / 8) continue;
        const E l = L[8 * (first_ + i) + outer][k + inner];
        multiply_8x4x8(sums_[i][0], re(l), re(x));
        if constexpr (is_device_complex<E>) {
          multiply_8x4x8(sums_[i][0], negated(im(l)), im(x));
          multiply_8x4x8(sums_[i][1], re(l), im(x));
          multiply_8x4x8(sums_[i][1], im(l), re(x));
        }
      }
    }
  }
  template <class Act>
  __device__ void each(Act act) const {
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j)
        act(8 * (first_ + i) + lane() / 4, lane() % 4 * 2 + j, from_parts<E>(sums_[i][0][j], sums_[i][parts - 1][j]));
  }

 private:
  __device__ static int lane() {
    return threadIdx.x % warp_size;
  }
  int first_;  // eight
  double sums_[rows][parts][2] = {};
};

/// Begins to fetch L11, zero where it has nothing below the diagonal.
template <bool by_rows, class E, int pitch>
__device__ void fetch(E (*L)[tile][pitch], Block<E> stored, int stripes) {
  const int w = static_cast<int>(stored.rows), id = threadIdx.x;
  for (int s = 0, n = 0; s < stripes; ++s)
    for (int q = 0; q <= s; ++q, ++n)
#pragma unroll
      for (int e = 0; e < tile * tile / threads; ++e) {
        // neighbours read what lies side by side
        const int i = by_rows ? id / tile + e * warps : id % 8 + id / 32 % 4 * 8;
        const int k = by_rows ? id % tile : id / 8 % 4 + id / 128 * 4 + e * 8;
        const int row = s * tile + i, col = q * tile + k;
        if (row < w && col < row)
          copy_async(&L[n][i][k], by_rows ? &stored(col, row) : &stored(row, col));
        else
          L[n][i][k] = E{};
      }
  __pipeline_commit();
}

/// x = a column of the inverse of a unit lower triangle, of which at(i, k) is the element (i, k) with those right of it.
template <class E, int n, class At>
__device__ __forceinline__ void inverse_column(E (&x)[n], int column, At at) {
#pragma unroll
  for (int i = 0; i < n; ++i) x[i] = i == column ? from_parts<E>(1) : E{};
#pragma unroll
  for (int k = 0; k < n; k += Piece<E>::size)
#pragma unroll
    for (int i = k + 1; i < n; ++i) {
      const Piece<E> d = piece(at(i, k));
#pragma unroll
      for (int v = 0; v < Piece<E>::size; ++v)
        if (k + v < i) x[i] = minus_product(x[i], d.of[v], x[k + v]);
    }
}

/// By one warp: D = D^-1, D unit lower triangular (its diagonal is not read). A lane has a column.
template <class E>
__device__ __noinline__ void invert(Tile<E>& D) {
  const int lane = threadIdx.x % warp_size;
  E x[tile];
  inverse_column(x, lane, [&](int i, int k) -> const E& { return D[i][k]; });
  __syncwarp();
#pragma unroll
  for (int i = 0; i < tile; ++i) D[i][lane] = x[i];
}

/// By one warp: X = D^-1 X for so many columns `count`, of which column c begins at X[c], rows k0 ..., without the zeros of D^-1, which would
/// make a NaN of an infinity. inverse(i, k) is an element of D^-1.
template <class E, class Inverse, class OneColumn>
__device__ __noinline__ void multiply_exactly(Inverse inverse, OneColumn* X, int count, int k0) {
  const int row = threadIdx.x % warp_size;
  for (int c = 0; c < count; ++c) {
    E x{};
    for (int k = 0; k <= row; ++k) x = minus_product(x, negative(inverse(row, k)), X[c][k0 + k]);
    __syncwarp();
    X[c][k0 + row] = x;
  }
  __syncwarp();
}

}  // namespace devobj::cuda::exchange_solve_tiles
