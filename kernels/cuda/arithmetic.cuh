// The arithmetic of an elimination step on device elements.
#pragma once

#include <cfloat>

#include "kernels/cuda/grid.cuh"

namespace devobj::cuda {

/// x - a b
__device__ inline float minus_product(float x, float a, float b) {
  return fmaf(-a, b, x);
}
__device__ inline double minus_product(double x, double a, double b) {
  return fma(-a, b, x);
}
__device__ inline cuComplex minus_product(cuComplex x, cuComplex a, cuComplex b) {
  return {fmaf(a.y, b.y, fmaf(-a.x, b.x, x.x)), fmaf(-a.y, b.x, fmaf(-a.x, b.y, x.y))};
}
__device__ inline cuDoubleComplex minus_product(cuDoubleComplex x, cuDoubleComplex a, cuDoubleComplex b) {
  return {fma(a.y, b.y, fma(-a.x, b.x, x.x)), fma(-a.y, b.x, fma(-a.x, b.y, x.y))};
}

/// max(|re|, |im|)
__device__ inline float larger_part(float x) {
  return fabsf(x);
}
__device__ inline double larger_part(double x) {
  return fabs(x);
}
__device__ inline float larger_part(cuComplex x) {
  return fmaxf(fabsf(x.x), fabsf(x.y));
}
__device__ inline double larger_part(cuDoubleComplex x) {
  return fmax(fabs(x.x), fabs(x.y));
}

__device__ inline float scaled(float x, float factor) {
  return x * factor;
}
__device__ inline double scaled(double x, double factor) {
  return x * factor;
}
__device__ inline cuComplex scaled(cuComplex x, float factor) {
  return {x.x * factor, x.y * factor};
}
__device__ inline cuDoubleComplex scaled(cuDoubleComplex x, double factor) {
  return {x.x * factor, x.y * factor};
}

/// 1 / x, to an ulp, without the branches that subnormal numbers need. 0 for an infinity, NaN for a NaN.
__device__ inline float reciprocal_of_normal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  const float better = fmaf(y, fmaf(-x, y, 1.0f), y);
  return better == better ? better : y;
}
__device__ inline double reciprocal_of_normal(double x) {
  double start;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(start) : "d"(x));
  double e = fma(-x, start, 1.0);
  e = fma(e, e, e);                 // e + e^2
  double y = fma(start, e, start);  // 20 bits become 60
  y = fma(y, fma(-x, y, 1.0), y);
  return y == y ? y : start;
}

/// Division of a column by its pivot: times 1 / pivot, after a power of two that keeps 1 / pivot in range for pivots
/// near underflow and overflow.
template <class E>
struct Reciprocal {
  using R = decltype(magnitude(E{}));
  E inverse;
  R before;

  Reciprocal() = default;
  __device__ explicit Reciprocal(E pivot) {
    constexpr R small = sizeof(R) == 4 ? R(0x1p-60) : R(0x1p-500), large = 1 / small;
    constexpr R up = sizeof(R) == 4 ? R(0x1p100) : R(0x1p900);
    const R size = larger_part(pivot);
    before = size < small ? up : size > large && size - size == 0 ? 1 / up : R(1);
    pivot = scaled(pivot, before);
    if constexpr (is_device_complex<E>) {
      const R inverse_square = reciprocal_of_normal(pivot.x * pivot.x + pivot.y * pivot.y);
      inverse = {pivot.x * inverse_square, -pivot.y * inverse_square};
    } else {
      inverse = reciprocal_of_normal(pivot);
    }
  }
  /// x / pivot
  __device__ E times(E x) const { return product(scaled(x, before), inverse); }
};

}  // namespace devobj::cuda
