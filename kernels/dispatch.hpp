// Backend choice for the primitives that are not in the public headers.
#pragma once

#include "kernels/kernels.hpp"

namespace devobj {

template <class T>
void permute_columns(View<T> At, std::int64_t count, const std::int32_t* dst, const std::int32_t* src, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::permute_columns(At, count, dst, src, q);
  host::permute_columns(At, count, dst, src, q);
}

template <class T> void larft(View<T> G, View<T> tau, View<T> Tri, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::larft(G, tau, Tri, q);
  host::larft(G, tau, Tri, q);
}

template <class T> void unit_lower(View<T> A, View<T> V, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::unit_lower(A, V, q);
  host::unit_lower(A, V, q);
}

inline void pivots_to_permutation(View<std::int32_t> ipiv, View<std::int32_t> perm, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::pivots_to_permutation(ipiv, perm, q);
  host::pivots_to_permutation(ipiv, perm, q);
}

template <class T> std::int64_t first_zero_diagonal(View<T> A, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::first_zero_diagonal(A, q);
  return host::first_zero_diagonal(A, q);
}

template <class T> void column_norms(View<T> A, real_t<T>* norms, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::column_norms(A, norms, q);
  host::column_norms(A, norms, q);
}

template <class T> void scale_rows(const real_t<T>* factors, bool divide, View<T> A, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::scale_rows(factors, divide, A, q);
  host::scale_rows(factors, divide, A, q);
}

template <class T> void trsm_right_unit(View<T> Lt, View<T> Bt, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::trsm_right_unit(Lt, Bt, q);
  host::trsm_right_unit(Lt, Bt, q);
}

}  // namespace devobj
