// |a| in double, for host and device code.
#pragma once

#include <cmath>
#include <complex>

#ifdef __CUDACC__
#include <cuComplex.h>
#define DEVOBJ_ANYWHERE __host__ __device__
#else
#define DEVOBJ_ANYWHERE
#endif

namespace devobj {

/// sqrt(re^2 + im^2) without overflow or underflow on the way; NaN if either part is, also beside an infinity.
DEVOBJ_ANYWHERE inline double modulus(double re, double im) {
  const double squares = re * re + im * im;
  if (squares > 0x1p-960 && squares < 0x1p1000) return std::sqrt(squares);
  if (re != re || im != im) return re + im;
  return std::hypot(re, im);
}
DEVOBJ_ANYWHERE inline double modulus(double x) {
  return std::fabs(x);
}
template <class R>
double modulus(std::complex<R> x) {
  return modulus(x.real(), x.imag());
}
#ifdef __CUDACC__
__device__ inline double modulus(cuComplex x) {
  return modulus(x.x, x.y);
}
__device__ inline double modulus(cuDoubleComplex x) {
  return modulus(x.x, x.y);
}
#endif

/// The larger of two, NaN if there is one.
DEVOBJ_ANYWHERE inline double larger(double a, double b) {
  return a > b || a != a ? a : b;
}

}  // namespace devobj

#undef DEVOBJ_ANYWHERE
