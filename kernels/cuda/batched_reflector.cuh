// The Householder reflector of a column whose elements a group of lanes, or one thread, has.
#pragma once

#include "kernels/cuda/batched_lanes.cuh"

namespace devobj::cuda {

/// Squares that need no scaling.
template <class R>
struct GoodSquares;
template <>
struct GoodSquares<float> {
  static constexpr float low = 0x1p-80f, high = 0x1p100f, root_high = 0x1p50f;
};
template <>
struct GoodSquares<double> {
  static constexpr double low = 0x1p-900, high = 0x1p900, root_high = 0x1p450;
};

/// beta, tau and the multiple of x that is v, from alpha and ||x||^2.
template <class E>
struct Reflector {
  using R = real_e<E>;
  E tau{}, scale{};
  R beta = 0;

  __device__ void set(E alpha, R squares) {
    if constexpr (is_device_complex<E>) {
      beta = -copysign(sqrt(alpha.x * alpha.x + alpha.y * alpha.y + squares), alpha.x);
      tau = {(beta - alpha.x) / beta, -alpha.y / beta};
      const R re = alpha.x - beta, im = alpha.y, norm = re * re + im * im;
      scale = {re / norm, -im / norm};
    } else {
      beta = -copysign(sqrt(alpha * alpha + squares), alpha);
      tau = (beta - alpha) / beta;
      scale = 1 / (alpha - beta);
    }
  }
};

/// The reflector of alpha and of x, which a group of P lanes has: LAPACK's larfg. x becomes v's elements below its one.
/// Every lane of the warp takes part.
template <int P, class E, int R>
__device__ Reflector<E> reflector_of(E alpha, E (&x)[R]) {
  using Real = real_e<E>;
  using Good = GoodSquares<Real>;
  Real squares = 0;
#pragma unroll
  for (int r = 0; r < R; ++r) squares += square(x[r]);
  squares = sum_of_lanes<P>(squares);
  Reflector<E> h;
  const Real size = larger_part(alpha);
  const bool finite_alpha = size - size == 0 && magnitude(alpha) == magnitude(alpha);
  if (squares != squares || !finite_alpha ||
      (squares >= Good::low && squares <= Good::high && size <= Good::root_high)) {
    h.set(alpha, squares);
  } else {
    Real most = 0;
#pragma unroll
    for (int r = 0; r < R; ++r) most = larger_part(x[r]) > most ? larger_part(x[r]) : most;
    most = largest_of_lanes<P>(most);
    if (most == 0 && im(alpha) == 0) {  // H = I
      h.beta = re(alpha);
      h.scale = from_parts<E>(1, 0);
      return h;
    }
    if (most - most != 0) {  // an infinity
      h.set(alpha, squares);
    } else {
      // y = x 2^-exponent, and alpha in the larger one's units
      const int exponent = ilogb(most > 0 ? most : size);
      const int unit = size > 0 ? max(exponent, ilogb(size)) : exponent;
      squares = 0;
#pragma unroll
      for (int r = 0; r < R; ++r) {
        x[r] = times_power(x[r], -exponent);
        squares += square(x[r]);
      }
      squares = sum_of_lanes<P>(squares);
      h.set(times_power(alpha, -unit), times_power(squares, 2 * (exponent - unit)));
      h.beta = times_power(h.beta, unit);
      h.scale = times_power(h.scale, exponent - unit);
    }
  }
#pragma unroll
  for (int r = 0; r < R; ++r) x[r] = product(x[r], h.scale);
  return h;
}

}  // namespace devobj::cuda
