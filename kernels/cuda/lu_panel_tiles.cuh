// How the team of a lu_panel block that updates multiplies: what a thread has of a group of columns and of L21.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/cuda/kept_in_cache.cuh"
#include "kernels/cuda/lu_panel_links.cuh"
#include "kernels/cuda/tensor_double.cuh"

namespace devobj::cuda::lu {

/// Whether the columns of a panel are to stay in the L2 cache beside a product that passes through it. For other types it
/// changed nothing (docs/design-notes.md).
template <class E>
constexpr bool keeps_panel = sizeof(E) == 16;

// How a pass is multiplied. In a group of `columns` columns a thread has rows x width elements: the rows from row(thread) in
// steps of row_step, the columns from column(thread) on; x(i, j) is x[i * width + j].

/// 16 bytes of shared memory, in the order in which the program says so: without it the compiler goes column by column in
/// subtract(), and waits for every sum.
template <class Piece>
__device__ Piece load_in_order(const void* from) {
  static_assert(sizeof(Piece) == 16);
  int4 words;
  asm volatile("ld.volatile.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "r"(shared_address(from))
               : "memory");
  Piece piece;
  memcpy(&piece, &words, sizeof piece);
  return piece;
}

/// A thread with some rows of the pass and some columns of the group. Of float it has four rows, so that an element of U12 from shared
/// memory is multiplied four times; warps beside each other have the same rows then.
template <class E, int W>
struct RowTile {
  static constexpr int columns = std::max(32 / static_cast<int>(sizeof(E)), 4);
  static constexpr int rows = std::is_same_v<E, float> ? 4 : 1, row_step = warp_size, width = columns / rows,
                       elements = rows * width;
  static constexpr int stride = W;  // elements from one column of U12 to the next
  using Number = E;                 // of L21
  E L[rows][W];

  __device__ static int row(int thread) { return thread / warp_size / rows * rows * warp_size + thread % warp_size; }
  __device__ static int column(int thread) { return thread / warp_size % rows * width; }

  /// The first column of L21 of which the thread has elements.
  __device__ static int own_column(int) { return 0; }
  /// L21: number(i, k, own, part) has the part of the element in the thread's row i and column k + own, where own is own_column().
  template <class Load>
  __device__ void load(Load number, int) {
#pragma unroll
    for (int k = 0; k < W; ++k)
#pragma unroll
      for (int i = 0; i < rows; ++i) L[i][k] = number(i, k, 0, 0);
  }
  /// x -= L U, U by columns in shared memory
  __device__ void subtract(E (&x)[elements], const E* U, int thread) const {
    constexpr int at_once = 16 / sizeof(E);
    struct alignas(16) Piece {
      E of[at_once];
    };
    const E* const mine = U + column(thread) * stride;
#pragma unroll
    for (int k = 0; k < W; k += at_once) {
      Piece u[width];
#pragma unroll
      for (int j = 0; j < width; ++j) u[j] = load_in_order<Piece>(mine + j * stride + k);
#pragma unroll
      for (int i = 0; i < at_once; ++i)
#pragma unroll
        for (int r = 0; r < rows; ++r)
#pragma unroll
          for (int j = 0; j < width; ++j) x[r * width + j] = minus_product(x[r * width + j], L[r][k + i], u[j].of[i]);
    }
  }
};

/// Double precision by tensor cores: four tiles of 8 x 8 numbers to a warp, in steps of depth 4. A complex product is a
/// real one: the row (re, im) of L by the columns (re, -im) and (im, re) of U.
template <class E, int W>
struct TensorTile {
  static constexpr int parts = sizeof(E) / sizeof(double), depth = 4, steps = W * parts / depth;
  static constexpr int columns = 8 / parts, rows = 4, row_step = 8, width = 2 / parts, elements = rows * width;
  static constexpr int stride = W + depth / parts;  // so that the columns of U12 begin in different banks
  using Number = double;
  double L[rows][steps];  // negative

  __device__ static int row(int thread) { return thread / warp_size * warp_size + thread % warp_size / 4; }
  __device__ static int column(int thread) { return thread % 4 * width; }

  __device__ static int own_column(int thread) { return thread % 4 / parts; }
  template <class Load>
  __device__ void load(Load number, int thread) {
    const int own = own_column(thread), part = thread % 4 % parts;
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int s = 0; s < steps; ++s) L[i][s] = negated(number(i, s * depth / parts, own, part));
  }
  __device__ void subtract(E (&x)[elements], const E* U, int thread) const {
    const int k = thread % 4, n = thread % warp_size / 4;
    const double* u = reinterpret_cast<const double*>(U + n / parts * stride + k / parts) + (k + n) % parts;
    const int sign = k % parts > n % parts ? INT32_MIN : 0;
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      const double us = with_sign(u[s * depth], sign);
#pragma unroll
      for (int i = 0; i < rows; i += 2) {
        auto& two_rows = reinterpret_cast<double(&)[4]>(x[i * width]);
        multiply_16x4x8(two_rows, L[i][s], L[i + 1][s], us);
      }
    }
  }
};

template <class E, int W>
using Tile = std::conditional_t<two_words<E>, TensorTile<E, W>, RowTile<E, W>>;

}  // namespace devobj::cuda::lu
