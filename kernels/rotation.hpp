// A plane rotation that annihilates, without overflow or underflow on the way; for host and device code. LAPACK's
// lartg.
//
//   [    c     s ] [ f ]   [ r ]
//   [ -conj(s) c ] [ g ] = [ 0 ]     c >= 0 real, c^2 + |s|^2 = 1, r has f's sign (phase)
//
// Numbers are P parts: real and imaginary (P = 2), or just real (P = 1). Everything is `static`: this header is
// compiled for several instruction sets, and the linker must not choose among the copies.
#pragma once

#ifdef __CUDACC__
#define DEVOBJ_ANYWHERE __host__ __device__
#else
#define DEVOBJ_ANYWHERE
#endif

namespace devobj {

DEVOBJ_ANYWHERE static inline float rotation_root(float x) {
#ifdef __CUDA_ARCH__
  return sqrtf(x);
#else
  return __builtin_sqrtf(x);
#endif
}
DEVOBJ_ANYWHERE static inline double rotation_root(double x) {
#ifdef __CUDA_ARCH__
  return sqrt(x);
#else
  return __builtin_sqrt(x);
#endif
}
/// 1 / sqrt(x)
DEVOBJ_ANYWHERE static inline float rotation_inverse_root(float x) {
#ifdef __CUDA_ARCH__
  return rsqrtf(x);
#else
  return 1 / __builtin_sqrtf(x);
#endif
}
DEVOBJ_ANYWHERE static inline double rotation_inverse_root(double x) {
#ifdef __CUDA_ARCH__
  return rsqrt(x);
#else
  return 1 / __builtin_sqrt(x);
#endif
}
template <class R>
DEVOBJ_ANYWHERE static inline R rotation_abs(R x) {
  return x < 0 ? -x : x;
}
/// The larger magnitude of two parts, NaN if the first is; for one part its magnitude.
template <class R, int P>
DEVOBJ_ANYWHERE static inline R rotation_size(const R* x) {
  const R a = rotation_abs(x[0]), b = rotation_abs(x[P - 1]);
  return a > b || a != a ? a : b;
}

/// Sums of squares from `low` to `high` are as exact as any; outside, the operands are scaled. For P = 2 products of
/// two of them have to fit too.
template <class R, int P>
struct RotationRange {
  static constexpr bool wide = sizeof(R) == 8;
  static constexpr R low = wide ? (P == 1 ? R(0x1p-900) : R(0x1p-450)) : (P == 1 ? R(0x1p-100f) : R(0x1p-50f));
  static constexpr R high = wide ? (P == 1 ? R(0x1p1000) : R(0x1p500)) : (P == 1 ? R(0x1p120f) : R(0x1p60f));
};

/// c, s and r for f and g. g = 0 is c = 1, s = 0. NaN and infinities give NaN.
template <class R, int P>
DEVOBJ_ANYWHERE static inline void make_rotation(const R* f, const R* g, R& c, R* s, R* r) {
  using Range = RotationRange<R, P>;
  if (g[0] == 0 && g[P - 1] == 0) {
    c = 1;
    for (int p = 0; p < P; ++p) {
      s[p] = 0;
      r[p] = f[p];
    }
    return;
  }
  if constexpr (P == 1) {
    R F = f[0], G = g[0], unit = 1, h = F * F + G * G;
    if (!(h > Range::low && h < Range::high)) {
      const R a = rotation_abs(F), b = rotation_abs(G);
      unit = a > b ? a : b;
      F /= unit;
      G /= unit;
      h = F * F + G * G;
    }
    const R inverse = rotation_inverse_root(h);
    R d = h * inverse;
    c = rotation_abs(F) * inverse;
    if (F < 0) d = -d;
    s[0] = F < 0 ? -(G * inverse) : G * inverse;
    r[0] = d * unit;
  } else {
    const R f2 = f[0] * f[0] + f[1] * f[1], h = f2 + (g[0] * g[0] + g[1] * g[1]);
    if (f2 > Range::low && h < Range::high) {
      // c = |f| / sqrt(h), s = f conj(g) / (|f| sqrt(h)), r = f sqrt(h) / |f|
      const R inverse = rotation_inverse_root(f2 * h), grown = h * inverse;
      c = f2 * inverse;
      s[0] = (f[0] * g[0] + f[1] * g[1]) * inverse;
      s[1] = (f[1] * g[0] - f[0] * g[1]) * inverse;
      r[0] = f[0] * grown;
      r[1] = f[1] * grown;
      return;
    }
    const R of_f = rotation_size<R, 2>(f), of_g = rotation_size<R, 2>(g), unit = of_f > of_g ? of_f : of_g;
    R phase[2] = {1, 0}, size_f = 0;
    if (!(of_f == 0)) {
      phase[0] = f[0] / of_f;
      phase[1] = f[1] / of_f;
      size_f = rotation_root(phase[0] * phase[0] + phase[1] * phase[1]);
      phase[0] /= size_f;
      phase[1] /= size_f;
    }
    const R a = of_f / unit * size_f, G[2] = {g[0] / unit, g[1] / unit};
    const R d = rotation_root(a * a + (G[0] * G[0] + G[1] * G[1]));
    c = a / d;
    s[0] = (phase[0] * G[0] + phase[1] * G[1]) / d;
    s[1] = (phase[1] * G[0] - phase[0] * G[1]) / d;
    r[0] = phase[0] * d * unit;
    r[1] = phase[1] * d * unit;
  }
}

}  // namespace devobj

#undef DEVOBJ_ANYWHERE
