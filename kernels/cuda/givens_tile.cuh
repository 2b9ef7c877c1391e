// QR of a tile of 8 warps' rows and 32 columns by Givens rotations, in registers: what the ways up and down share.
//
// Lane l has column l, a warp `slots` rows. In column j each warp's rows are a chain: the warp's first row that is not
// finished is turned with the next one, then with the one after, ...; and then the warps' first rows are a chain.
//
//     warp 0   warp 1   warp 7
//     finished   x        x             x: the element of column j; rows above row j of the tile are finished
//        x |     x |      x |
//        x |     x |      x |
//        x v     x v      x v
//        t --->  t  --->  t --->  row j of R
//
// The t of a chain has, in column j, the square root of the sum of squares so far. So all rotations of a chain follow
// from sums, at once. A chain's first row only gets a phase: c = 0, s = conj(x) / |x|. Zeros are not rotated.
#pragma once

#include "kernels/cuda/qr_panel_reflector.cuh"
#include "kernels/cuda/rotate.cuh"
#include "kernels/givens.hpp"

namespace devobj::cuda::givens {

inline constexpr int width = static_cast<int>(givens_panel_width);
static_assert(width == warp_size, "a column per lane");
inline constexpr int warps = 8;
inline constexpr int threads = warps * warp_size;
/// Rotations of a chain that are read at a time, before those of the group before are made. Rows of triangles that are
/// merged are skipped by groups as long as they are zero.
template <class E>
inline constexpr int group = sizeof(E) == 16 ? 2 : 4;

template <class E>
struct alignas(2 * sizeof(E)) Rotation {
  E s;
  real_e<E> c;
};
/// Rotations of a column: of each warp's chain, then of the chain of warps.
template <int slots>
inline constexpr int rotations_of_column = (slots + 1) * warps;
template <int slots>
inline constexpr int rotations_of_tile = rotations_of_column<slots>* width;

/// Columns are multiplied by powers of two so that their largest element is near 2^middle. Then elements whose square
/// is less than `low` are as good as zero.
template <class Real>
struct ColumnRange;
template <>
struct ColumnRange<double> {
  static constexpr int middle = 300, largest = 1000;
  static constexpr double low = 0x1p-960;
  static __device__ int exponent(double x) { return (__double2hiint(x) >> 20 & 0x7ff) - 1023; }
  static __device__ double power(int e) { return __hiloint2double((1023 + e) << 20, 0); }
};
template <>
struct ColumnRange<float> {
  static constexpr int middle = 30, largest = 126;
  static constexpr float low = 0x1p-100f;
  static __device__ int exponent(float x) { return (__float_as_int(x) >> 23 & 0xff) - 127; }
  static __device__ float power(int e) { return __int_as_float((127 + e) << 23); }
};
/// e so that 2^e brings numbers up to `size` to the middle of the range; 0 for 0 and infinity.
template <class Real>
__device__ int scaling_exponent(Real size) {
  using Range = ColumnRange<Real>;
  if (!(size > 0) || size - size != 0) return 0;
  return min(Range::middle - Range::exponent(size), Range::largest);
}

/// conj(x) / |x| where 1 / |x| is known to about a rounding
__device__ inline float opposite_turn(float x, float) {
  return x > 0 ? 1.f : x < 0 ? -1.f : x;
}
__device__ inline double opposite_turn(double x, double) {
  return x > 0 ? 1. : x < 0 ? -1. : x;
}
template <class E>
__device__ E opposite_turn(E x, real_e<E> inverse) {
  return scaled(conjugate(x), inverse);
}

template <class E, int count>
__device__ void read(const Rotation<E>* from, Rotation<E> (&to)[count]) {
#pragma unroll
  for (int u = 0; u < count; ++u) to[u] = from[u];
}

/// The sum of x over the lanes up to this one, of the first `lanes`.
template <int lanes, class Real>
__device__ Real sum_up_to(Real x, int lane) {
#pragma unroll
  for (int distance = 1; distance < lanes; distance *= 2) {
    const Real other = __shfl_up_sync(all_lanes, x, distance);
    if (lane >= distance) x += other;
  }
  return x;
}

/// Square root and its inverse of a sum of squares, zeros for 0, NaN for NaN and infinity.
template <class Real>
__device__ void root_of_sum(Real sum, Real& root, Real& inverse) {
  qr_panel::take_root(sum, root, inverse);
  if (sum == 0) root = inverse = 0;
}

}  // namespace devobj::cuda::givens
