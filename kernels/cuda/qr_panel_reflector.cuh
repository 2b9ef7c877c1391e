// The reflector of a column from its first element and the rest's sum of squares: LAPACK's larfg without a wait for
// divisions and roots, and the powers of two by which numbers near the ends of the range are brought to the middle.
#pragma once

#include "kernels/cuda/arithmetic.cuh"

namespace devobj::cuda::qr_panel {

/// root = sqrt(a) and inverse = 1 / root to about the last bit, for a normal number; NaN for NaN, 0 and infinity.
__device__ inline float approximate_inverse_root(float a) {
  return rsqrtf(a);
}
__device__ inline double approximate_inverse_root(double a) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
  const double e = fma(-a * y, y, 1.0);  // 2^-20; y (1 + e / 2 + 3 e^2 / 8)
  return fma(fma(0.375, e, 0.5) * e, y, y);
}
template <class Real>
__device__ void take_root(Real a, Real& root, Real& inverse) {
  const Real y = approximate_inverse_root(a), half = y / 2, t = a * y;
  root = fused(half, fused(-t, t, a), t);
  inverse = fused(half, fused(-t, y, Real(1)), y);
}
/// 1 / a to about the last bit, for numbers whose inverse is a normal number; NaN for NaN, 0 and infinity.
__device__ inline float reciprocal(float a) {
  float y;
  asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(a));
  return fmaf(y, fmaf(-a, y, 1.0f), y);
}
__device__ inline double reciprocal(double a) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
  const double e = fma(-a, y, 1.0);  // 2^-20
  return fma(fma(e, e, e), y, y);
}

/// Powers of two, and the sizes of squares for which they are used.
template <class Real>
struct Range2;
template <>
struct Range2<double> {
  static constexpr int boost_exponent = 600;
  static constexpr double boost = 0x1p600, shrink = 0x1p-600;
  static constexpr double good_low = 0x1p-150, good_high = 0x1p150;  // a column's square: nothing to do
  static constexpr double sure_low = 0x1p-900, sure_high = 0x1p900;  // a square that is itself right
  static constexpr double tiny = 0x1p-900;                           // of what is left of a scaled column
  static constexpr double small_alpha = 0x1p-400;
};
template <>
struct Range2<float> {
  static constexpr int boost_exponent = 90;
  static constexpr float boost = 0x1p90f, shrink = 0x1p-90f;
  static constexpr float good_low = 0x1p-12f, good_high = 0x1p40f;
  static constexpr float sure_low = 0x1p-80f, sure_high = 0x1p120f;
  static constexpr float tiny = 0x1p-80f;
  static constexpr float small_alpha = 0x1p-36f;
};
/// The reflector of alpha and x below it, from rest = ||x||^2: x's multiple `scale` below a one is v. If x has been
/// boosted, so has rest, twice; scale is for x as it is, and `back` takes beta to the size of the column.
template <class E>
__device__ __forceinline__ void make_reflector(E alpha, real_e<E> rest, bool boosted, E& scale, E& tau, real_e<E>& beta,
                                               real_e<E>& back) {
  using Real = real_e<E>;
  using Limits = Range2<Real>;
  if (boosted && rest == 0 && im(alpha) == 0) {
    tau = E{};
    scale = from_parts<E>(1);
    beta = re(alpha);
  } else {
    Real size, x_scale = 1;
    E top = alpha;
    if (!boosted) {
      size = square(alpha) + rest;
    } else if (square(alpha) < Limits::small_alpha * Limits::small_alpha) {
      top = scaled(alpha, Limits::boost);
      back = Limits::shrink;
      size = square(top) + rest;
    } else {
      x_scale = Limits::shrink;
      size = square(alpha) + rest * Limits::shrink * Limits::shrink;
    }
    Real norm, inverse_norm;
    take_root(size, norm, inverse_norm);
    const Real inverse_beta = -copysign(inverse_norm, re(top));
    beta = -copysign(norm, re(top));
    if constexpr (is_device_complex<E>) {
      const E difference = {re(top) - beta, im(top)};
      const Real inverse = reciprocal(square(difference)) * x_scale;
      scale = {difference.x * inverse, -difference.y * inverse};
      tau = {fused(-re(top), inverse_beta, Real(1)), -im(top) * inverse_beta};
    } else {
      scale = reciprocal(top - beta) * x_scale;
      tau = fused(-top, inverse_beta, Real(1));
    }
  }
}

}  // namespace devobj::cuda::qr_panel
