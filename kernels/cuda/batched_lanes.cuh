// Arithmetic of groups of lanes that share a column: P = 8 or 32 neighbouring lanes of a warp.
#pragma once

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/batched.cuh"

namespace devobj::cuda {

template <class E>
using real_of_t = decltype(magnitude(E{}));

template <class E>
__device__ E from_parts(real_of_t<E> re, real_of_t<E> im) {
  if constexpr (is_device_complex<E>)
    return {re, im};
  else
    return re;
}
template <class E>
__device__ real_of_t<E> real_part(E x) {
  if constexpr (is_device_complex<E>)
    return x.x;
  else
    return x;
}
template <class E>
__device__ real_of_t<E> imaginary_part(E x) {
  if constexpr (is_device_complex<E>)
    return x.y;
  else
    return 0;
}
/// |x|^2
template <class E>
__device__ real_of_t<E> squared(E x) {
  if constexpr (is_device_complex<E>)
    return x.x * x.x + x.y * x.y;
  else
    return x * x;
}
/// c + conj(a) b
template <class E>
__device__ E plus_adjoint_product(E c, E a, E b) {
  return minus_product(c, negative(conjugate(a)), b);
}
/// x 2^e in two steps, so that no factor overflows
template <class E>
__device__ E times_power_of_2(E x, int e) {
  using R = real_of_t<E>;
  const int half = e / 2;
  return scaled(scaled(x, static_cast<R>(ldexp(R(1), half))), static_cast<R>(ldexp(R(1), e - half)));
}

template <class E>
__device__ E lane_xor(E x, int distance) {
  if constexpr (is_device_complex<E>)
    return {__shfl_xor_sync(0xffffffffu, x.x, distance), __shfl_xor_sync(0xffffffffu, x.y, distance)};
  else
    return __shfl_xor_sync(0xffffffffu, x, distance);
}
template <class E>
__device__ E from_lane(E x, int lane) {
  if constexpr (is_device_complex<E>)
    return {__shfl_sync(0xffffffffu, x.x, lane), __shfl_sync(0xffffffffu, x.y, lane)};
  else
    return __shfl_sync(0xffffffffu, x, lane);
}
/// The sum over the P lanes of a group, the same bits in all of them. Every lane of the warp takes part.
template <int P, class E>
__device__ E sum_of_lanes(E x) {
#pragma unroll
  for (int distance = P / 2; distance > 0; distance /= 2) x = sum(x, lane_xor(x, distance));
  return x;
}
/// The largest; the numbers are not negative and no NaN.
template <int P, class R>
__device__ R largest_of_lanes(R x) {
#pragma unroll
  for (int distance = P / 2; distance > 0; distance /= 2) {
    const R other = lane_xor(x, distance);
    x = other > x ? other : x;
  }
  return x;
}

}  // namespace devobj::cuda
