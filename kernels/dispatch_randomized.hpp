// Backend choice for the primitives of randomized.hpp.
#pragma once

#include "kernels/randomized.hpp"

namespace devobj {

inline bool window_lu_possible(const Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::window_lu_possible(q);
  return true;
}

template <class T>
void equilibration(View<T> A, double* rows, double* columns, double* sums, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::equilibration(A, rows, columns, sums, q);
  host::equilibration(A, rows, columns, sums, q);
}

template <class T>
void mix_matrix(View<T> A, const double* rows, const double* columns, View<single_t<T>> M, std::int32_t* misfit,
                Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::mix_matrix(A, rows, columns, M, misfit, q);
  host::mix_matrix(A, rows, columns, M, misfit, q);
}

template <class T>
void mix_rows(View<T> B, const double* rows, const std::int32_t* order, View<single_t<T>> D, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::mix_rows(B, rows, order, D, q);
  host::mix_rows(B, rows, order, D, q);
}

template <class T>
void mix_solution(View<single_t<T>> D, const double* columns, bool add, View<T> X, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::mix_solution(D, columns, add, X, q);
  host::mix_solution(D, columns, add, X, q);
}

template <class S>
void window_panel(View<S> A, std::int64_t offset, std::int32_t* source, std::int32_t* info, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::window_panel(A, offset, source, info, q);
  host::window_panel(A, offset, source, info, q);
}

template <class S>
void window_next(const std::int32_t* source, View<S> LU, View<S> B, View<S> A, View<S> low, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::window_next(source, LU, B, A, low, q);
  host::window_next(source, LU, B, A, low, q);
}

template <class S>
void window_left(View<S> U, View<S> B, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::window_left(U, B, q);
  host::window_left(U, B, q);
}

template <class S>
void window_right(View<S> L, View<S> A, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::window_right(L, A, q);
  host::window_right(L, A, q);
}

template <class S>
void window_exchange(const std::int32_t* source, std::int64_t panels, std::int64_t step, View<S> A, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::window_exchange(source, panels, step, A, q);
  host::window_exchange(source, panels, step, A, q);
}

}  // namespace devobj
