// Plane rotations in kernels.
#pragma once

#include "kernels/cuda/grid.cuh"
#include "kernels/rotation.hpp"

namespace devobj::cuda {

/// The real type under a kernel's element type.
template <class E>
struct real_of {
  using type = E;
};
template <>
struct real_of<cuComplex> {
  using type = float;
};
template <>
struct real_of<cuDoubleComplex> {
  using type = double;
};
template <class E>
using real_e = typename real_of<E>::type;

/// make_rotation for elements.
template <class E>
__device__ inline void make_rotation_of(E f, E g, real_e<E>& c, E& s, E& r) {
  using R = real_e<E>;
  constexpr int P = sizeof(E) / sizeof(R);
  make_rotation<R, P>(reinterpret_cast<const R*>(&f), reinterpret_cast<const R*>(&g), c, reinterpret_cast<R*>(&s),
                      reinterpret_cast<R*>(&r));
}

/// (x, y) = (c x + s y, c y - conj(s) x)
template <class E>
__device__ inline void rotate_pair(E& x, E& y, real_e<E> c, E s) {
  if constexpr (is_device_complex<E>) {
    const E a = x, b = y;
    x = {c * a.x + s.x * b.x - s.y * b.y, c * a.y + s.x * b.y + s.y * b.x};
    y = {c * b.x - s.x * a.x - s.y * a.y, c * b.y - s.x * a.y + s.y * a.x};
  } else {
    const E a = x;
    x = c * a + s * y;
    y = c * y - s * a;
  }
}

__device__ inline float shuffle(float x, int lane) {
  return __shfl_sync(0xffffffffu, x, lane);
}
__device__ inline double shuffle(double x, int lane) {
  return __shfl_sync(0xffffffffu, x, lane);
}
__device__ inline cuComplex shuffle(cuComplex x, int lane) {
  return {shuffle(x.x, lane), shuffle(x.y, lane)};
}
__device__ inline cuDoubleComplex shuffle(cuDoubleComplex x, int lane) {
  return {shuffle(x.x, lane), shuffle(x.y, lane)};
}

}  // namespace devobj::cuda
