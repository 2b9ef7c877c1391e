// Backend choice for the primitives of precision.hpp.
#pragma once

#include "kernels/precision.hpp"

namespace devobj {

template <class T>
void narrow(View<T> A, View<single_t<T>> S, std::int32_t* misfit, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::narrow(A, S, misfit, q);
  host::narrow(A, S, misfit, q);
}

template <class T>
void narrow_rows(View<T> A, const std::int32_t* rows, View<single_t<T>> S, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::narrow_rows(A, rows, S, q);
  host::narrow_rows(A, rows, S, q);
}

template <class T>
void widen(View<single_t<T>> S, bool add, View<T> A, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::widen(S, add, A, q);
  host::widen(S, add, A, q);
}

template <class T>
void column_sizes(Norm norm, View<T> A, real_t<T>* norms, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::column_sizes(norm, A, norms, q);
  host::column_sizes(norm, A, norms, q);
}

}  // namespace devobj
