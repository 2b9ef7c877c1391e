// The random butterflies that mix the rows and columns of a matrix, for host and device code. Source: Baboulin, Dongarra,
// Herrmann & Tomov, "Accelerating linear system solutions using randomization techniques", ACM TOMS 39 (2013); Parker 1995.
//
// Two levels act on four elements a quarter of the order apart, x0 to x3 (the order is a multiple of 4):
//
//   mix       t0 = d0 (x0 + x1)   t2 = d2 (x2 + x3)      y0 = e0 (t0 + t2) / 2   y1 = e1 (t1 + t3) / 2
//             t1 = d1 (x0 - x1)   t3 = d3 (x2 - x3)      y2 = e2 (t0 - t2) / 2   y3 = e3 (t1 - t3) / 2
//   mix_back  the transpose
//
// with d and e near 1 or -1. With U the mixture of rows and V that of columns, A becomes U^T A V.
#pragma once

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define DEVOBJ_ANYWHERE __host__ __device__
#else
#define DEVOBJ_ANYWHERE
#endif

namespace devobj {

/// The factors of one group of four.
struct Butterfly {
  double d[4], e[4];
  /// Of element i the factor d is butterfly_factor(place), e the next one; rows and columns have different ones.
  DEVOBJ_ANYWHERE static std::uint64_t place(std::int64_t i, bool columns) {
    return static_cast<std::uint64_t>(i) * 4 + (columns ? 2 : 0);
  }
};

/// A number of magnitude 15/16 to 17/16 and random sign, a function of n alone: the bits of a good hash (Steele, Lea & Flood,
/// "Fast splittable pseudorandom number generators", 2014).
DEVOBJ_ANYWHERE inline double butterfly_factor(std::uint64_t n) {
  n = (n + 1) * 0x9e3779b97f4a7c15u;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9u;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebu;
  n ^= n >> 31;
  const double magnitude = 1 + (static_cast<double>(n >> 11) * 0x1p-53 - 0.5) * 0.125;
  return n & 1 ? -magnitude : magnitude;
}

/// Of the elements g, g + quarter, ...
DEVOBJ_ANYWHERE inline Butterfly butterfly(std::int64_t g, std::int64_t quarter, bool columns) {
  Butterfly b;
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t n = Butterfly::place(g + i * quarter, columns);
    b.d[i] = butterfly_factor(n);
    b.e[i] = butterfly_factor(n + 1);
  }
  return b;
}

/// x is a real number or one part of complex ones.
DEVOBJ_ANYWHERE inline void mix(const Butterfly& b, double (&x)[4]) {
  const double t0 = b.d[0] * (x[0] + x[1]), t1 = b.d[1] * (x[0] - x[1]);
  const double t2 = b.d[2] * (x[2] + x[3]), t3 = b.d[3] * (x[2] - x[3]);
  x[0] = b.e[0] * (t0 + t2) * 0.5;
  x[1] = b.e[1] * (t1 + t3) * 0.5;
  x[2] = b.e[2] * (t0 - t2) * 0.5;
  x[3] = b.e[3] * (t1 - t3) * 0.5;
}
DEVOBJ_ANYWHERE inline void mix_back(const Butterfly& b, double (&y)[4]) {
  const double t0 = b.e[0] * y[0] + b.e[2] * y[2], t2 = b.e[0] * y[0] - b.e[2] * y[2];
  const double t1 = b.e[1] * y[1] + b.e[3] * y[3], t3 = b.e[1] * y[1] - b.e[3] * y[3];
  y[0] = (b.d[0] * t0 + b.d[1] * t1) * 0.5;
  y[1] = (b.d[0] * t0 - b.d[1] * t1) * 0.5;
  y[2] = (b.d[2] * t2 + b.d[3] * t3) * 0.5;
  y[3] = (b.d[2] * t2 - b.d[3] * t3) * 0.5;
}

/// The power of two that brings a size into [1, 2), 2^-1022 at least and 2^1022 at most; 1 for 0 and what is not finite.
DEVOBJ_ANYWHERE inline double power_to_one(double size) {
  if (!(size > 0) || size > 0x1.fffffffffffffp1023) return 1;
  int exponent = std::ilogb(size);
  if (exponent < -1022) exponent = -1022;
  if (exponent > 1022) exponent = 1022;
  return std::ldexp(1.0, -exponent);
}

}  // namespace devobj

#undef DEVOBJ_ANYWHERE
