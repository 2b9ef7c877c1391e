// Inverses of triangles of 32 x 32, by a warp each, a column to a lane.
#pragma once

#include "kernels/cuda/arithmetic.cuh"

namespace devobj::cuda {

/// What a thread reads of shared memory at once, from a multiple of 16 bytes.
template <class E>
struct alignas(16) Piece {
  static constexpr int size = 16 / sizeof(E);
  E e[size];
};
template <class E>
__device__ const Piece<E>& piece_at(const E* p) {
  return *reinterpret_cast<const Piece<E>*>(p);
}
template <class E>
__device__ Piece<E>& piece_at(E* p) {
  return *reinterpret_cast<Piece<E>*>(p);
}

/// By a warp: x = column `lane` of T^-1, where T is a lower triangle of 32 x 32, T(r, k) = columns[k * stride + r] for
/// r > k, reciprocal(k) = 1 / T(k, k); if `unit`, that is 1 and not called. Each x[k] is subtracted from all that follow at
/// once, so that a step waits for one product only.
template <bool unit, int stride, class E, class Reciprocal>
__device__ void inverse_column(const E* columns, const Reciprocal& reciprocal, int lane, E (&x)[warp_size]) {
#pragma unroll
  for (int r = 0; r < warp_size; ++r) x[r] = from_parts<E>(r == lane ? 1 : 0);
#pragma unroll
  for (int k = 0; k < warp_size; ++k) {
    if (!unit) x[k] = product(x[k], reciprocal(k));
#pragma unroll
    for (int p = (k + 1) / Piece<E>::size; p < warp_size / Piece<E>::size; ++p) {
      const Piece<E> t = piece_at(columns + k * stride + p * Piece<E>::size);
#pragma unroll
      for (int i = 0; i < Piece<E>::size; ++i) {
        const int r = p * Piece<E>::size + i;
        if (r > k) x[r] = minus_product(x[r], t.e[i], x[k]);
      }
    }
  }
}

/// In shared memory. With the gap after a row, the same piece of 8 rows lies in all the banks once.
template <class E>
struct alignas(16) TriangleTile {
  static constexpr int order = warp_size, stride = order + Piece<E>::size;
  E a[order][stride];

  /// x = column `lane` of the inverse of the lower triangle T(r, k) = a[k][r], reciprocals[k] = 1 / T(k, k).
  template <bool unit>
  __device__ void inverse_column(const E* reciprocals, int lane, E (&x)[order]) const {
    cuda::inverse_column<unit, stride>(
        a[0], [=](int k) { return reciprocals[k]; }, lane, x);
  }

  /// By a warp, in place: L^-1, with zeros above. Before, a[k][r] = L(r, k) for r > k; after, a[r][k] = L^-1(r, k).
  __device__ void invert_unit_lower(int lane) {
    E x[order];
    inverse_column<true>(nullptr, lane, x);
    __syncwarp();
#pragma unroll
    for (int r = 0; r < order; ++r) a[r][lane] = x[r];
  }
  /// By a warp, in place: U^-1, with zeros below. a[r][k] = U(r, k) for r < k; reciprocals[k] = 1 / U(k, k).
  __device__ void invert_upper(const E* reciprocals, int lane) {
    E x[order];  // a row: U's transpose is the lower triangle
    inverse_column<false>(reciprocals, lane, x);
    put(lane, x);
  }
  /// a[lane] = x, when all of the warp have read what was there.
  __device__ void put(int lane, const E (&x)[order]) {
    __syncwarp();
#pragma unroll
    for (int k = 0; k < order; k += Piece<E>::size) {
      Piece<E> piece;
#pragma unroll
      for (int i = 0; i < Piece<E>::size; ++i) piece.e[i] = x[k + i];
      piece_at(&a[lane][k]) = piece;
    }
  }
};

}  // namespace devobj::cuda
