// Backend choice for the primitives of householder.hpp.
#pragma once

#include "kernels/householder.hpp"

namespace devobj {

template <class T>
void householder_columns(View<T> A, View<T> tau, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::householder_columns(A, tau, q);
  host::householder_columns(A, tau, q);
}

template <class T>
void householder_panel(View<T> A, View<T> tau, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::householder_panel(A, tau, q);
  host::householder_panel(A, tau, q);
}

}  // namespace devobj
