// Division by a pivot, as one multiplication for each element.
#pragma once

#include <cfloat>

#include "kernels/cuda/arithmetic.cuh"

namespace devobj::cuda {

/// 1 / x, to an ulp, without the branches that subnormal numbers need. An infinity for 0, 0 for an infinity, NaN for a NaN.
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
  // by its exponent, all zeros or all ones, so that y is not waited for
  const unsigned exponent = static_cast<unsigned>(__double2hiint(start)) & 0x7ff00000u;
  return exponent - 0x00100000u < 0x7fe00000u ? y : start;
}

/// The leading word of |x|, by which numbers are compared with powers of two.
__device__ inline unsigned leading_word(float x) {
  return __float_as_uint(x) & 0x7fffffffu;
}
__device__ inline unsigned leading_word(double x) {
  return static_cast<unsigned>(__double2hiint(x)) & 0x7fffffffu;
}

/// Division of a column by its pivot: times 1 / pivot, after a power of two that keeps 1 / pivot in range for pivots
/// near underflow and overflow.
template <class E>
struct Reciprocal {
  using R = decltype(magnitude(E{}));
  static constexpr bool one_word = sizeof(R) == 4;
  static constexpr R up = one_word ? R(0x1p100) : R(0x1p900);
  // 2^-60 and 2^60, 2^-500 and 2^500
  static constexpr unsigned small = one_word ? (127 - 60) << 23 : (1023 - 500) << 20;
  static constexpr unsigned large = one_word ? (127 + 60) << 23 : (1023 + 500) << 20;
  E inverse;
  R before;

  Reciprocal() = default;
  __device__ explicit Reciprocal(E pivot) {
    const unsigned size = leading_word(larger_part(pivot));
    before = size < small ? up : size >= large ? 1 / up : R(1);
    inverse = unscaled(scaled(pivot, before));
  }
  /// Whether a pivot needs no scaling, and what it is multiplied by then.
  __device__ static bool usual(E pivot) { return leading_word(larger_part(pivot)) - small < large - small; }
  __device__ static E unscaled(E pivot) {
    if constexpr (is_device_complex<E>) {
      const R inverse_square = reciprocal_of_normal(pivot.x * pivot.x + pivot.y * pivot.y);
      return {pivot.x * inverse_square, -pivot.y * inverse_square};
    } else {
      return reciprocal_of_normal(pivot);
    }
  }
  /// x / pivot
  __device__ E times(E x) const { return product(scaled(x, before), inverse); }
};

}  // namespace devobj::cuda
