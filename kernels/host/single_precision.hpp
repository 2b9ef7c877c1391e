// Numbers on their way from double to single precision: what fits, and what becomes of it.
#pragma once

#include <cmath>
#include <complex>
#include <limits>

namespace devobj::host {

inline bool fits_single(double x) {
  return std::fabs(x) <= std::numeric_limits<float>::max();  // false for NaN
}
inline bool fits_single(std::complex<double> x) {
  return fits_single(x.real()) && fits_single(x.imag());
}

inline float to_single(double x) {
  if (fits_single(x)) return static_cast<float>(x);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return std::isnan(x) ? std::numeric_limits<float>::quiet_NaN() : x > 0 ? infinity : -infinity;
}
inline std::complex<float> to_single(std::complex<double> x) {
  return {to_single(x.real()), to_single(x.imag())};
}

}  // namespace devobj::host
