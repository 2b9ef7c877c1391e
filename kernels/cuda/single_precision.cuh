// Numbers on their way between double and single precision.
#pragma once

#include <cfloat>

#include "kernels/cuda/arithmetic.cuh"

namespace devobj::cuda {

__device__ inline bool fits_single(double x) {
  return fabs(x) <= FLT_MAX;  // false for NaN
}
__device__ inline bool fits_single(cuDoubleComplex x) {
  return fits_single(x.x) && fits_single(x.y);
}
__device__ inline float to_single(double x) {
  return __double2float_rn(x);
}
__device__ inline cuComplex to_single(cuDoubleComplex x) {
  return {to_single(x.x), to_single(x.y)};
}
__device__ inline double to_double(float x) {
  return x;
}
__device__ inline cuDoubleComplex to_double(cuComplex x) {
  return {x.x, x.y};
}

/// 1 / x
__device__ inline float inverse_of(float x) {
  return 1 / x;
}
/// With x brought near 1: its parts' squares may overflow.
__device__ inline cuComplex inverse_of(cuComplex x) {
  const float size = larger_part(x);
  const int e = size > 0 && isfinite(size) ? -ilogbf(size) : 0;
  const cuComplex y = cuCdivf({1, 0}, {scalbnf(x.x, e), scalbnf(x.y, e)});
  return {scalbnf(y.x, e), scalbnf(y.y, e)};
}

}  // namespace devobj::cuda
