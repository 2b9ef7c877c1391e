// The primitives of the randomized solve (devObjCpp/mixed_gesv.cpp, lu_window.cpp), in addition to kernels.hpp: T is double
// or complex<double>, S float or complex<float>.
#pragma once

#include "kernels/precision.hpp"

namespace devobj {

/// The order of the mixed matrix: the next multiple of 4. It is that of A beside a unit matrix.
constexpr std::int64_t mixed_order(std::int64_t n) {
  return (n + 3) / 4 * 4;
}

/// Of a panel of window_panel.
template <class S>
inline constexpr std::int64_t window_panel_cols = is_complex<S> ? 64 : 128;
inline constexpr std::int64_t window_rows = 256;
/// Whose rows window_exchange exchanges at once.
inline constexpr std::int64_t window_most_panels = 4;

namespace cuda {
/// Whether the GPU has the clusters that window_panel needs.
bool window_lu_possible(const Queue& q);

/// A block of panels for window_upper, in window_stream_bytes of device memory, which begins at a multiple of 16 bytes and has such a number: the
/// exchanges in the rows of the panels' windows, as window_exchange's, of which there are `rows`, and the triangle L, unit lower and
/// exchanged already, whose order is a multiple of 32. (window_upper)
std::size_t window_stream_bytes();
void window_stream(const std::int32_t* source, std::int64_t panels, std::int64_t step, std::int64_t rows, View<float> L,
                   void* stream, Queue& q);
/// For columns right of the block, A in the rows of the windows: the exchanges, and the first `order` rows = L^-1 times them. Possible where
/// blocks can have the shared memory.
void window_upper(const void* stream, std::int64_t order, View<float> A, Queue& q);
bool window_upper_possible(const Queue& q);
}  // namespace cuda

#define DEVOBJ_RANDOMIZED_PRIMITIVES                                                                                        \
  /* rows[i] = the largest |re| + |im| of row i of A, columns[j] = that of column j when row i is multiplied by       \
     power_to_one(rows[i]); NaN is passed over. sums[i] = the sum of |a| of row i, NaN if there is one. In the queue's      \
     memory, one for each row or column. (equilibration) */     \
  template <class T>                                                                                                        \
  void equilibration(View<T> A, double* rows, double* columns, double* sums, Queue& q);                                     \
  /* M = U^T R A C V, R and C the diagonal matrices of power_to_one(rows[i]) and of columns, U and V the butterflies, \
     rounded to single precision. *misfit as narrow's. A is n x n, M of order mixed_order(n). (butterfly) */     \
  template <class T>                                                                                                        \
  void mix_matrix(View<T> A, const double* rows, const double* columns, View<single_t<T>> M, std::int32_t* misfit,          \
                  Queue& q);                                                                                                \
  /* Row i of D = row order[i] (from 0) of U^T R B. (butterfly) */                                                          \
  template <class T>                                                                                                        \
  void mix_rows(View<T> B, const double* rows, const std::int32_t* order, View<single_t<T>> D, Queue& q);                   \
  /* X = C V D, or X += C V D if `add`. (butterfly) */                                                                      \
  template <class T>                                                                                                        \
  void mix_solution(View<single_t<T>> D, const double* columns, bool add, View<T> X, Queue& q);                             \
  /* P A = L U in the place of A (at most window_rows rows and window_panel_cols columns, not more than rows): row i  \
     of P A is row source[i] (from 0) of A. Pivot: the largest |re| + |im|. *info becomes offset + the first column   \
     (from 1) with a zero pivot, unless it is positive already; A is not to be used then. (window_panel) */     \
  template <class S>                                                                                                        \
  void window_panel(View<S> A, std::int64_t offset, std::int32_t* source, std::int32_t* info, Queue& q);                    \
  /* For columns right of a panel, whose rows in its window are A and the next ones below `low`. LU is the panel in the \
     window, K columns and no fewer rows; B (at most window_panel_cols rows) is its rows beside `low`, not divided by  \
     U yet. Rows of A exchanged by window_panel's source; A's first K rows U12 = L^-1 A12, the others -= L21 U12;      \
     low -= B U^-1 U12. (window_next) */   \
  template <class S>                                                                                                        \
  void window_next(const std::int32_t* source, View<S> LU, View<S> B, View<S> A, View<S> low, Queue& q);                    \
  /* B = B U^-1, U the upper triangle of window_panel_cols columns at most. (window_left) */                                \
  template <class S>                                                                                                        \
  void window_left(View<S> U, View<S> B, Queue& q);                                                                         \
  /* A = L^-1 A, L the unit lower triangle of window_panel_cols columns at most. (window_right) */                          \
  template <class S>                                                                                                        \
  void window_right(View<S> L, View<S> A, Queue& q);                                                                        \
  /* Exchanges of up to window_most_panels panels, one after the other: panel p's window begins in row p step of A, and   \
     row i of it = the old one source[p window_rows + i]. S may be int32. (window_exchange) */ \
  template <class S>                                                                                                        \
  void window_exchange(const std::int32_t* source, std::int64_t panels, std::int64_t step, View<S> A, Queue& q);

namespace host {
DEVOBJ_RANDOMIZED_PRIMITIVES
}
namespace cuda {
DEVOBJ_RANDOMIZED_PRIMITIVES
}
#undef DEVOBJ_RANDOMIZED_PRIMITIVES

}  // namespace devobj

/// Instantiates M(S) for the single precision types.
#define DEVOBJ_FOR_EACH_SINGLE(M) M(float) M(std::complex<float>)
