// An elementary reflector from sums that several threads have formed. LAPACK's larfg.
#pragma once

#include <cmath>
#include <complex>
#include <type_traits>

namespace devobj::host {

/// H = I - tau v v^H with H^H [alpha; x] = [beta; 0], beta real, v = [1; scale x]. Numbers are P parts: real and
/// imaginary (P = 2), or just real (P = 1). Signs are LAPACK's: beta = -sign(re alpha) ||(alpha, x)||.
template <class R, int P>
struct Reflector {
  R beta[P] = {}, tau[P] = {}, scale[P] = {};
  bool identity = false;  // tau = 0

  /// From alpha and ||x||^2, both far enough from overflow and underflow.
  static Reflector from_square(const R* alpha, R square) {
    Reflector h;
    h.set(alpha, square);
    return h;
  }

  /// From alpha and square = ||y||^2 where x = 2^exponent y; `scale` is then y's. No size of alpha or x is too small or
  /// too large.
  static Reflector from_scaled(const R* alpha, R square, int exponent) {
    const R size = P == 1 ? std::abs(alpha[0]) : std::max(std::abs(alpha[0]), std::abs(alpha[P - 1]));
    const int unit = size == 0 ? exponent : std::max(exponent, std::ilogb(size));
    R a[P];
    for (int p = 0; p < P; ++p) a[p] = std::ldexp(alpha[p], -unit);
    Reflector h;
    h.set(a, std::ldexp(square, 2 * (exponent - unit)));
    h.beta[0] = std::ldexp(h.beta[0], unit);
    for (int p = 0; p < P; ++p) h.scale[p] = std::ldexp(h.scale[p], exponent - unit);
    return h;
  }

  /// From alpha alone, x = 0: the identity, unless alpha has an imaginary part to be removed.
  static Reflector from_alpha(const R* alpha) {
    if (P == 2 && alpha[P - 1] != 0) {
      Reflector h = from_scaled(alpha, 0, std::ilogb(alpha[P - 1]));
      for (R& part : h.scale) part = 0;
      return h;
    }
    Reflector h;
    h.identity = true;
    for (int p = 0; p < P; ++p) h.beta[p] = alpha[p];
    return h;
  }

  /// w = conj(tau) (a + conj(scale) g): what H^H takes away, times v, from a column with `a` beside alpha and g = x^H
  /// (column).
  void coefficient(const R* a, const R* g, R* w) const noexcept {
    if constexpr (P == 1) {
      w[0] = tau[0] * (a[0] + scale[0] * g[0]);
    } else {
      const R re = a[0] + (scale[0] * g[0] + scale[1] * g[1]);
      const R im = a[1] + (scale[0] * g[1] - scale[1] * g[0]);
      w[0] = tau[0] * re + tau[1] * im;
      w[1] = tau[0] * im - tau[1] * re;
    }
  }

  template <class T>
  T tau_as() const noexcept {
    if constexpr (P == 1)
      return tau[0];
    else
      return T(tau[0], tau[1]);
  }

 private:
  void set(const R* alpha, R square) noexcept {
    if constexpr (P == 1) {
      beta[0] = -std::copysign(std::sqrt(alpha[0] * alpha[0] + square), alpha[0]);
      tau[0] = (beta[0] - alpha[0]) / beta[0];
      scale[0] = 1 / (alpha[0] - beta[0]);
    } else {
      beta[0] = -std::copysign(std::sqrt(alpha[0] * alpha[0] + alpha[1] * alpha[1] + square), alpha[0]);
      tau[0] = (beta[0] - alpha[0]) / beta[0];
      tau[1] = -alpha[1] / beta[0];
      const R re = alpha[0] - beta[0], im = alpha[1], norm = re * re + im * im;
      scale[0] = re / norm;
      scale[1] = -im / norm;
    }
  }
};

}  // namespace devobj::host
