// Solutions with the triangles L and U of a panel, for a strip of columns, a row to a thread:
//
//   | T00             |     The tiles of 32 x 32 on the diagonal are inverted first, by a warp each. Then, tile after tile,
//   | T10 T11         |     the warp that holds the tile's rows multiplies them by its inverse, and all rows still to come
//   | T20 T21 T22     |     subtract the products of theirs with the result.
//   | T30 T31 T32 T33 |
#pragma once

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/single_precision.cuh"

namespace devobj::cuda {

/// In shared memory. LU: at least as many rows as columns, at most `order` of these.
template <class E>
struct PanelTriangles {
  static constexpr int order = is_device_complex<E> ? 64 : 128, tile = warp_size, tiles = order / tile;
  static constexpr int strip = is_device_complex<E> ? 2 : 4;  // columns of the right-hand sides
  using Strip = E[strip];

  E inverse[2 * tiles][tile][tile + 1];  // of the diagonal's tiles: those of L, then those of U or of its transpose
  alignas(16) E given[tile][strip];
  alignas(16) E solution[order][strip];

  /// By a warp: inverse[i]. Of the transpose of U if `transposed`.
  __device__ void invert(Block<E> LU, int i, int lane, bool transposed = false) {
    const bool lower = i < tiles;
    const int first = i % tiles * tile, n = static_cast<int>(LU.cols);
    E(*const T)[tile + 1] = inverse[i];  // a lower triangle: L, or U transposed
    E diagonal = from_parts<E>(1);
#pragma unroll
    for (int k = 0; k < tile; ++k) {
      const bool inside = first + lane < n && first + k < n;
      const E a = inside ? LU(first + lane, first + k) : E{};
      if (lower)
        T[lane][k] = lane > k ? a : E{};
      else
        T[k][lane] = lane < k ? a : E{};
      if (!lower && inside && lane == k) diagonal = inverse_of(a);
    }
    __syncwarp();
    E x[tile];  // a column of T's inverse
#pragma unroll
    for (int r = 0; r < tile; ++r) {
      E s = from_parts<E>(r == lane ? 1 : 0);
#pragma unroll
      for (int k = 0; k < r; ++k) s = minus_product(s, T[r][k], x[k]);
      x[r] = product(s, shuffle(diagonal, r));
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < tile; ++r) (lower || transposed ? T[r][lane] : T[lane][r]) = x[r];
  }

  /// x = L^-1 x for the rows of L, x -= L U for those below. All threads call, those without a row with row >= LU.rows.
  __device__ void forward(Block<E> LU, int row, Strip& x) {
    const int n = static_cast<int>(LU.cols);
    for (int first = 0; first < n; first += tile) {
      const bool below = row >= min(first + tile, n) && row < LU.rows;
      E l[tile];
      fetch(LU, below, row, first, l);
      if (row / tile == first / tile) multiply(first / tile, row, x);
      __syncthreads();
      if (below) subtract(l, first, x);
    }
    __syncthreads();
  }

  /// x = U^-T x, the tiles of U transposed being inverted. All threads call.
  __device__ void forward_transposed(Block<E> U, int row, Strip& x) {
    const int n = static_cast<int>(U.cols);
    for (int first = 0; first < n; first += tile) {
      const bool below = row >= first + tile && row < n;
      E u[tile];
#pragma unroll
      for (int k = 0; k < tile; ++k) u[k] = below ? U(first + k, row) : E{};
      if (row / tile == first / tile) multiply(tiles + first / tile, row, x);
      __syncthreads();
      if (below) subtract(u, first, x);
    }
  }

  /// z = U^-1 z for the rows of U, x -= A z for other threads: those with 0 <= other < A.rows.
  __device__ void backward(Block<E> LU, int row, Strip& z, Block<E> A, int other, Strip& x) {
    const int n = static_cast<int>(LU.cols);
    for (int first = (n - 1) / tile * tile; first >= 0; first -= tile) {
      const bool above = row < first, is_other = other >= 0 && other < A.rows;
      E l[tile];
      if (is_other)
        fetch(A, true, other, first, l);
      else
        fetch(LU, above, row, first, l);
      if (row / tile == first / tile) multiply(tiles + first / tile, row, z);
      __syncthreads();
      if (is_other)
        subtract(l, first, x);
      else if (above)
        subtract(l, first, z);
    }
  }

 private:
  /// Row `row` of A, its columns from `first`.
  __device__ static void fetch(Block<E> A, bool here, int row, int first, E (&l)[tile]) {
    const int n = static_cast<int>(A.cols);
#pragma unroll
    for (int k = 0; k < tile; ++k) l[k] = here && first + k < n ? A(row, first + k) : E{};
  }
  /// By a warp that has the tile's rows.
  __device__ void multiply(int i, int row, Strip& x) {
    const int r = row % tile;
#pragma unroll
    for (int c = 0; c < strip; ++c) given[r][c] = x[c];
    __syncwarp();
    E y[strip] = {};
#pragma unroll
    for (int k = 0; k < tile; ++k)
#pragma unroll
      for (int c = 0; c < strip; ++c) y[c] = minus_product(y[c], negative(inverse[i][r][k]), given[k][c]);
#pragma unroll
    for (int c = 0; c < strip; ++c) solution[row][c] = x[c] = y[c];
  }
  __device__ void subtract(const E (&l)[tile], int first, Strip& x) const {
#pragma unroll
    for (int k = 0; k < tile; ++k)
#pragma unroll
      for (int c = 0; c < strip; ++c) x[c] = minus_product(x[c], l[k], solution[first + k][c]);
  }
};

}  // namespace devobj::cuda
