// Plane rotations in kernels.
#pragma once

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/rotation.hpp"

namespace devobj::cuda {

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

}  // namespace devobj::cuda
