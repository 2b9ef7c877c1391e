// The arithmetic of elements beyond grid.cuh's: one source serves real and complex types.
#pragma once

#include "kernels/cuda/grid.cuh"

namespace devobj::cuda {

/// The real type under an element type.
template <class E>
struct real_of {
  using type = E;
};
template <>
struct real_of<cuComplex> {
  using type = float;
};
template <>
struct real_of<cuDoubleComplex> {
  using type = double;
};
template <class E>
using real_e = typename real_of<E>::type;

template <class E>
__device__ real_e<E> re(E a) {
  if constexpr (is_device_complex<E>)
    return a.x;
  else
    return a;
}
template <class E>
__device__ real_e<E> im(E a) {
  if constexpr (is_device_complex<E>)
    return a.y;
  else
    return 0;
}
template <class E>
__device__ E from_parts(real_e<E> x, real_e<E> y = 0) {
  if constexpr (is_device_complex<E>)
    return {x, y};
  else
    return x;
}

/// The double precision type of E.
template <class E>
using wide_e = std::conditional_t<is_device_complex<E>, cuDoubleComplex, double>;
template <class E>
__device__ wide_e<E> widened(E a) {
  if constexpr (is_device_complex<E>)
    return {double(a.x), double(a.y)};
  else
    return a;
}
template <class E>
__device__ E narrowed(wide_e<E> a) {
  using R = real_e<E>;
  if constexpr (is_device_complex<E>)
    return {R(a.x), R(a.y)};
  else
    return R(a);
}

/// a b + c
__device__ inline float fused(float a, float b, float c) {
  return fmaf(a, b, c);
}
__device__ inline double fused(double a, double b, double c) {
  return fma(a, b, c);
}

/// x - a b
template <class E>
__device__ E minus_product(E x, E a, E b) {
  if constexpr (is_device_complex<E>)
    return {fused(a.y, b.y, fused(-a.x, b.x, x.x)), fused(-a.y, b.x, fused(-a.x, b.y, x.y))};
  else
    return fused(-a, b, x);
}
/// x + conj(a) b
template <class E>
__device__ E plus_conjugate_product(E x, E a, E b) {
  if constexpr (is_device_complex<E>)
    return {fused(a.y, b.y, fused(a.x, b.x, x.x)), fused(-a.y, b.x, fused(a.x, b.y, x.y))};
  else
    return fused(a, b, x);
}
/// |a|^2
template <class E>
__device__ real_e<E> square(E a) {
  return fused(re(a), re(a), im(a) * im(a));
}
/// a x, x real
template <class E>
__device__ E scaled(E a, real_e<E> x) {
  if constexpr (is_device_complex<E>)
    return {a.x * x, a.y * x};
  else
    return a * x;
}
/// a 2^e in two steps, so that no factor overflows
template <class E>
__device__ E times_power(E a, int e) {
  using R = real_e<E>;
  const int half = e / 2;
  return scaled(scaled(a, static_cast<R>(ldexp(R(1), half))), static_cast<R>(ldexp(R(1), e - half)));
}
/// max(|re|, |im|)
__device__ inline float larger_part(float a) {
  return fabsf(a);
}
__device__ inline double larger_part(double a) {
  return fabs(a);
}
__device__ inline float larger_part(cuComplex a) {
  return fmaxf(fabsf(a.x), fabsf(a.y));
}
__device__ inline double larger_part(cuDoubleComplex a) {
  return fmax(fabs(a.x), fabs(a.y));
}

// ---- between the lanes of a warp, all of which must call ----

inline constexpr unsigned all_lanes = 0xffffffffu;

/// x of another lane.
template <class E>
__device__ E shuffle(E x, int lane) {
  if constexpr (is_device_complex<E>)
    return {__shfl_sync(all_lanes, x.x, lane), __shfl_sync(all_lanes, x.y, lane)};
  else
    return __shfl_sync(all_lanes, x, lane);
}
/// x of the lane whose number differs in the bits of `distance`.
template <class E>
__device__ E shuffle_across(E x, int distance) {
  if constexpr (is_device_complex<E>)
    return {__shfl_xor_sync(all_lanes, x.x, distance), __shfl_xor_sync(all_lanes, x.y, distance)};
  else
    return __shfl_xor_sync(all_lanes, x, distance);
}

/// The sum over the threads of a block of `warps` warps, in every thread. All of them must call; `room` is shared memory.
template <int warps, class Real>
__device__ Real block_sum(Real x, Real (&room)[warps]) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2) x += shuffle_across(x, distance);
  if (threadIdx.x % warp_size == 0) room[threadIdx.x / warp_size] = x;
  __syncthreads();
  Real total = 0;
#pragma unroll
  for (int i = 0; i < warps; ++i) total += room[i];
  return total;
}

}  // namespace devobj::cuda
