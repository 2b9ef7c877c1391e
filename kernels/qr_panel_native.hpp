// The GPU's QR panel, the primitive of method 'native'.
#pragma once

#include "kernels/kernels.hpp"

namespace devobj::cuda {

/// The columns of a panel with m rows that qr_panel_native takes at best: 64, 32, 16 or 8, as many as the registers of
/// one cluster hold, or, above that, those of a good part of the GPU; 0 if m is more than all of them hold.
template <class T>
std::int64_t qr_panel_width(std::int64_t m, const Queue& q);

/// A = Q R, LAPACK's geqr2 for a narrow panel (m x w, w <= min(m, qr_panel_width)), in one kernel: A is overwritten by
/// R and the reflectors' vectors, tau (w elements) by their factors, Tri (w x w upper triangular, zeros below) by the
/// factor of Q = I - V Tri V^H. V (m + above rows, w columns) gets the unit lower trapezoid with its ones and zeros in
/// its last m rows and zeros above. Elements of any size are right: columns are scaled by powers of two where their
/// squares would not be. Capturable. Bitwise the same from run to run.
template <class T>
void qr_panel_native(View<T> A, View<T> tau, View<T> V, View<T> Tri, Queue& q);

/// Whether qr_panel_native tries to make such a panel by products, not column by column.
template <class T>
bool qr_panel_by_products(std::int64_t m, std::int64_t w, const Queue& q);

/// The part of a queue's scratch memory that a panel may need, to be had beforehand by q.scratch(...).
inline constexpr std::size_t qr_panel_scratch_bytes = 6 << 20;

/// How a panel is spread over the GPU; 0: chosen from its height. For measurements.
struct QrPanelSpread {
  int warps = 0;            ///< of a block: 1 ... 8
  int blocks = 0;           ///< of the cluster, or, if it cannot have so many, of a cooperative launch
  int groups = 0;           ///< columns of a warp's row: 1, 2, 4, 8, of 8 each
  bool by_columns = false;  ///< not by products; so it is too if one of the others is given
};
template <class T>
void qr_panel_native(View<T> A, View<T> tau, View<T> V, View<T> Tri, Queue& q, QrPanelSpread spread);

/// The same for any number of rows and up to qr_panel_tall_width columns: by Cholesky-QR where the panel is
/// well-conditioned, which is decided on the device, otherwise, and if `by_columns`, column by column. On
/// well-conditioned panels of very many rows it moves little more than three copies of the panel.
template <class T>
void qr_panel_tall(View<T> A, View<T> tau, View<T> V, View<T> Tri, Queue& q, bool by_columns = false);
template <class T>
inline constexpr std::int64_t qr_panel_tall_width = sizeof(T) == 16 ? 32 : 64;
/// Rows for each multiprocessor that qr_panel_tall has to find free at once, up to all of them: a panel of more rows than those have
/// that other kernels leave waits for these to end.
inline constexpr std::int64_t qr_panel_tall_rows_beside = 512;

/// C = Q^H C for the reflector Q = I - V Tri V^H of a strip (V m x w with its ones and zeros written out, Tri w x w, C m x n), in
/// one kernel. Capturable. Bitwise the same from run to run.
template <class T>
void qr_reflect_strip(View<T> V, View<T> Tri, View<T> C, Queue& q);
/// Whether it can: w <= 64, V fits into the shared memory of a cluster (64 columns: 8192 rows of real, 4096 of double and
/// complex, 2048 of complex<double>; 32: twice as many), and there are clusters.
template <class T>
bool qr_reflect_strip_fits(std::int64_t m, std::int64_t w, const Queue& q);
/// Columns of C, in eight clusters, up to which it is faster than three products.
template <class T>
inline constexpr std::int64_t qr_reflect_strip_columns = is_complex<T> ? 64 : 128;

}  // namespace devobj::cuda
