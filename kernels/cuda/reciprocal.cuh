// Division by a pivot, as one multiplication for each element.
#pragma once

#include <cfloat>

#include "kernels/cuda/arithmetic.cuh"

namespace devobj::cuda {

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
