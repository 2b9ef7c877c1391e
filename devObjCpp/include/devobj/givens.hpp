// QR of band matrices by Givens rotations, which are kept: Q is never formed, and A X = B costs O(band) per element of
// B. (Explicit factors by rotations, of full and band matrices, are qr with Method::givens.)
#pragma once

#include "devobj/matrix.hpp"
#include "devobj/queue.hpp"
#include "devobj/view.hpp"

namespace devobj {

/// A = Q R for a band matrix A (n x n) with kl diagonals below and ku above the main one, in LAPACK's band storage:
/// AB (kl + ku + 1 x n), AB(ku + i - j, j) = A(i, j), counted from 0; what lies outside of A is not looked at.
/// C and S (kl x n) get the rotations of rows j + r and j + r + 1 at (r, j); R (kl + ku + 1 x n) gets the rows of R,
/// which has kl + ku diagonals above the main one: R(p, i) is element (i, i + p), and 0 beyond column n - 1. 0 <= kl,
/// ku < max(1, n). Zeros that are there are not rotated. AB is unchanged. Does not wait. Errors: invalid_argument,
/// out_of_memory. Source: papers 001 and 004.
template <class T>
void band_qr(View<T> AB, std::int64_t kl, std::int64_t ku, View<real_t<T>> C, View<T> S, View<T> R, Queue& q);

/// B = Q^H B (op the adjoint: Trans for real, ConjTrans for complex) or Q B (NoTrans), B n x any, with the rotations of
/// band_qr. Does not wait.
template <class T>
void band_qr_apply(Op op, View<scalar<real_t<T>>> C, View<T> S, View<T> B, Queue& q);

/// A X = B with the factors of band_qr: B (n x nrhs) is overwritten by X. Returns info: 0, or the first i with R(i, i)
/// exactly zero (B is then unchanged). Waits.
template <class T>
std::int64_t band_qr_solve(View<scalar<real_t<T>>> C, View<T> S, View<T> R, View<T> B, Queue& q);

/// The factors of a band matrix as an object.
template <class T>
class BandedGivens {
 public:
  /// Of AB as band_qr has it. Errors as band_qr.
  BandedGivens(View<T> AB, std::int64_t kl, std::int64_t ku, Queue& q)
      : C_(rows_of("kl", kl), AB.cols, q), S_(kl, AB.cols, q), R_(AB.rows, AB.cols, q) {
    band_qr<T>(AB, kl, ku, C_, S_, R_, q);
  }
  std::int64_t order() const noexcept { return R_.cols; }
  std::int64_t lower() const noexcept { return S_.rows; }                ///< diagonals below the main one
  std::int64_t upper() const noexcept { return R_.rows - 1 - S_.rows; }  ///< diagonals above the main one
  View<T> r() const noexcept { return R_; }                              ///< the rows of R, as band_qr has them
  /// B = Q^H B or Q B.
  void apply(Op op, View<T> B, Queue& q) const { band_qr_apply<T>(op, C_, S_, B, q); }
  /// B = A^-1 B; info as band_qr_solve. Waits.
  std::int64_t solve(View<T> B, Queue& q) const { return band_qr_solve<T>(C_, S_, R_, B, q); }

 private:
  static std::int64_t rows_of(const char* argument, std::int64_t k) {
    require(k >= 0, "band_qr: ", argument, " is ", k, ", must not be negative");
    return k;
  }
  Matrix<real_t<T>> C_;
  Matrix<T> S_, R_;
};

}  // namespace devobj
