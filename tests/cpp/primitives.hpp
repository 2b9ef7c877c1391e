// The primitives of kernels/kernels.hpp that no public header has, for the tests: on the queue's backend, under names
// of their own, so that a test program does not replace the library's functions.
#pragma once

#include "kernels/kernels.hpp"

namespace devobj::test::primitives {

inline bool on_cuda(Queue& q) {
  if (q.on_cuda() && !cuda_built) fail(Status::not_supported, "the tests were compiled without DEVOBJ_HAVE_CUDA");
  return q.on_cuda();
}

template <class T>
void permute_columns(View<T> At, std::int64_t count, const std::int32_t* dst, const std::int32_t* src, Queue& q) {
  if constexpr (cuda_built)
    if (on_cuda(q)) return cuda::permute_columns(At, count, dst, src, q);
  on_cuda(q);
  host::permute_columns(At, count, dst, src, q);
}

template <class T>
void larft(View<T> G, View<T> tau, View<T> Tri, Queue& q) {
  if constexpr (cuda_built)
    if (on_cuda(q)) return cuda::larft(G, tau, Tri, q);
  on_cuda(q);
  host::larft(G, tau, Tri, q);
}

template <class T>
void unit_lower(View<T> A, View<T> V, Queue& q) {
  if constexpr (cuda_built)
    if (on_cuda(q)) return cuda::unit_lower(A, V, q);
  on_cuda(q);
  host::unit_lower(A, V, q);
}

inline void pivots_to_permutation(View<std::int32_t> ipiv, View<std::int32_t> perm, Queue& q) {
  if constexpr (cuda_built)
    if (on_cuda(q)) return cuda::pivots_to_permutation(ipiv, perm, q);
  on_cuda(q);
  host::pivots_to_permutation(ipiv, perm, q);
}

template <class T>
std::int64_t first_zero_diagonal(View<T> A, Queue& q) {
  if constexpr (cuda_built)
    if (on_cuda(q)) return cuda::first_zero_diagonal(A, q);
  on_cuda(q);
  return host::first_zero_diagonal(A, q);
}

}  // namespace devobj::test::primitives
