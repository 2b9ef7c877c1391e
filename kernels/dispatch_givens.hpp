// Backend choice for the primitives of givens.hpp.
#pragma once

#include "kernels/givens.hpp"

namespace devobj {

template <class T>
Bandwidths bandwidths(View<T> A, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::bandwidths(A, q);
  return host::bandwidths(A, q);
}

template <class T>
void band_pack(View<T> A, Bandwidths band, View<T> AB, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::band_pack(A, band, AB, q);
  host::band_pack(A, band, AB, q);
}

template <class T>
void band_unpack(View<T> RB, View<T> R, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::band_unpack(RB, R, q);
  host::band_unpack(RB, R, q);
}

template <class T>
void band_factor(View<T> AB, Bandwidths band, View<real_t<T>> C, View<T> S, View<T> RB, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::band_factor<T>(AB, band, C, S, RB, q);
  host::band_factor<T>(AB, band, C, S, RB, q);
}

template <class T>
void band_rotate(bool inverse, View<real_t<T>> C, View<T> S, View<T> B, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::band_rotate<T>(inverse, C, S, B, q);
  host::band_rotate<T>(inverse, C, S, B, q);
}

template <class T>
void band_solve(View<T> RB, View<T> B, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::band_solve(RB, B, q);
  host::band_solve(RB, B, q);
}

}  // namespace devobj
