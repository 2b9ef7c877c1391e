// Arithmetic of groups of lanes that share a column: P = 8 or 32 neighbouring lanes of a warp.
#pragma once

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/batched.cuh"

namespace devobj::cuda {

/// The sum over the P lanes of a group, the same bits in all of them. Every lane of the warp takes part.
template <int P, class E>
__device__ E sum_of_lanes(E x) {
#pragma unroll
  for (int distance = P / 2; distance > 0; distance /= 2) x = sum(x, shuffle_across(x, distance));
  return x;
}
/// The largest; the numbers are not negative and no NaN.
template <int P, class R>
__device__ R largest_of_lanes(R x) {
#pragma unroll
  for (int distance = P / 2; distance > 0; distance /= 2) {
    const R other = shuffle_across(x, distance);
    x = other > x ? other : x;
  }
  return x;
}

}  // namespace devobj::cuda
