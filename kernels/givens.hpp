// The primitives of Givens rotations, in addition to kernels.hpp: the same name and meaning on both backends.
//
// A band matrix A (n x n) has kl diagonals below and ku above the main one. Its rotations are stored by columns: C and
// S (kl x n), C(r, j) and S(r, j) rotate rows j + r and j + r + 1 (from 0), for each j from r = kl - 1 up to r = 0, j
// ascending; c = 1, s = 0 where there is no such row. R has kl + ku diagonals above the main one and is stored by rows:
// column j of the (kl + ku + 1) x n array RB is R(j, j), R(j, j + 1), ..., zeros beyond column n - 1.
#pragma once

#include "devobj/matrix.hpp"
#include "kernels/kernels.hpp"

namespace devobj {

#define DEVOBJ_GIVENS_PRIMITIVES                                                                                \
  /* The numbers of diagonals below and above the main one that hold anything but zeros. Waits. (bandwidths) */ \
  template <class T>                                                                                            \
  Bandwidths bandwidths(View<T> A, Queue& q);                                                                   \
  /* AB(ku + i - j, j) = A(i, j), LAPACK's band storage; zeros where there is no A(i, j). (band_copy) */        \
  template <class T>                                                                                            \
  void band_pack(View<T> A, Bandwidths band, View<T> AB, Queue& q);                                             \
  /* R (n x n) from its rows in RB, zeros elsewhere. (band_copy) */                                             \
  template <class T>                                                                                            \
  void band_unpack(View<T> RB, View<T> R, Queue& q);                                                            \
  /* C, S and RB from AB; zeros that are there are not rotated. (band_factor) */                                \
  template <class T>                                                                                            \
  void band_factor(View<T> AB, Bandwidths band, View<real_t<T>> C, View<T> S, View<T> RB, Queue& q);            \
  /* B = Q^H B, or Q B (inverse), B n x any. (band_rotate) */                                                   \
  template <class T>                                                                                            \
  void band_rotate(bool inverse, View<real_t<T>> C, View<T> S, View<T> B, Queue& q);                            \
  /* B = R^-1 B. (band_solve) */                                                                                \
  template <class T>                                                                                            \
  void band_solve(View<T> RB, View<T> B, Queue& q);

/// Diagonals of a band matrix besides the main one.
struct Bandwidths {
  std::int64_t lower = 0, upper = 0;
};

namespace host {
DEVOBJ_GIVENS_PRIMITIVES
/// Q^H A = R by rotations of adjacent rows, column by column, each from its last row upwards; of long columns first the
/// parts, then what these have left. Zeros that are there are not rotated. Q is m x kq and R kq x n with kq = min(m, n)
/// or m; R is exactly triangular. A is unchanged. Paper 004.
template <class T>
void givens_qr(View<T> A, View<T> Q, View<T> R, Queue& q);
}  // namespace host
namespace cuda {
DEVOBJ_GIVENS_PRIMITIVES

inline constexpr std::int64_t givens_panel_width = 32;  ///< the most columns of a panel

/// QR of panels of up to m rows by Givens rotations in a tree of tiles. The accumulated rotations' first columns are
/// turned into reflectors (Ballard, Demmel, Grigori, Jacquelin, Nguyen, Solomonik 2014), so that GEMM applies them.
template <class T>
class GivensPanel {
 public:
  GivensPanel(std::int64_t m, Queue& q);
  /// A (rows >= cols, cols <= givens_panel_width) = Q R as geqrf stores it, tau real. Does not wait.
  void factor(View<T> A, View<T> tau, Queue& q);
  /// Q^H = I - Y W^H of the last panel.
  View<T> Y, W;

 private:
  Matrix<T> rotations_;         // of every tile, in the order in which they are made
  Matrix<T> triangles_, tops_;  // of every tile, by rows: R, and its rows of Q
  Matrix<T> Q_, YW_, factors_;
  bool overlaps_;  // launches
};
}  // namespace cuda
#undef DEVOBJ_GIVENS_PRIMITIVES

}  // namespace devobj
