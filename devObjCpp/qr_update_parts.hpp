// Steps that several QR updates share. Arguments have been checked.
#pragma once

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "qr_update_checks.hpp"

namespace devobj {

template <class T> Range all_rows(View<T> A) { return {0, A.rows}; }
template <class T> Range all_cols(View<T> A) { return {0, A.cols}; }
/// All columns of rows r, or all rows of columns c; of an absent matrix what is absent, too.
template <class T> View<T> rows_of(View<T> A, Range r) { return A.empty() ? View<T>{} : A(r, {0, A.cols}); }
template <class T> View<T> cols_of(View<T> A, Range c) { return A.empty() ? View<T>{} : A({0, A.rows}, c); }

/// B = the upper trapezoid of A, with zeros below the diagonal and in rows that A has not.
template <class T> void copy_upper(View<T> A, View<T> B, Queue& q) {
  const Range rows{0, std::min(A.rows, B.rows)};
  if (A.rows < std::min(B.rows, B.cols)) laset(Uplo::General, T(0), T(0), B({A.rows, B.rows}, all_cols(B)), q);
  if (B.rows > 1) laset(Uplo::Lower, T(0), T(0), B({1, B.rows}, all_cols(B)), q);
  lacpy(Uplo::Upper, A(rows, all_cols(A)), B(rows, all_cols(A)), q);
}
/// Columns from `first` on of the upper trapezoid R, in B's columns; their diagonal is `first` rows below B's.
template <class T> void copy_upper_from(View<T> R, std::int64_t first, View<T> B, Queue& q) {
  if (first >= R.cols) return laset(Uplo::General, T(0), T(0), B, q);
  const std::int64_t top = std::min(first, R.rows);
  const Range right{first, R.cols}, all = all_cols(B);
  copy(R({0, top}, right), B({0, top}, all), q);
  copy_upper(R({top, R.rows}, right), B({top, B.rows}, all), q);
}
/// B = A with zeros below the p-th subdiagonal.
template <class T> void copy_band(View<T> A, std::int64_t p, View<T> B, Queue& q) {
  const std::int64_t top = std::min(p, A.rows);
  copy(A({0, top}, all_cols(A)), B({0, top}, all_cols(B)), q);
  copy_upper(A({top, A.rows}, all_cols(A)), B({top, B.rows}, all_cols(B)), q);
}
/// C = A^H B, also for one column.
template <class T> void adjoint_product(View<T> A, View<T> B, View<T> C, Queue& q) {
  if (B.cols == 1)
    gemv(adjoint<T>, T(1), A, B, T(0), C, q);
  else
    gemm(adjoint<T>, Op::NoTrans, T(1), A, B, T(0), C, q);
}
/// B = A without rows K.
template <class T> void copy_without_rows(View<T> A, Range K, View<T> B, Queue& q) {
  const Range cols = all_cols(A), above{0, K.begin};
  if (cols.size() == 0) return;
  copy(A(above, cols), B(above, cols), q);
  copy(A({K.end, A.rows}, cols), B({K.begin, B.rows}, cols), q);
}
/// B = [A(0:k, :); U; A(k:, :)].
template <class T> void copy_with_rows(View<T> A, std::int64_t k, View<T> U, View<T> B, Queue& q) {
  const Range cols = all_cols(B), above{0, k}, in{k, k + U.rows};
  if (cols.size() == 0) return;
  copy(A(above, cols), B(above, cols), q);
  if (in.size() > 0) copy(U, B(in, cols), q);  // U may be absent then
  copy(A({k, A.rows}, cols), B({in.end, B.rows}, cols), q);
}

/// Columns that continue an orthonormal Q (m x n): U = Q C + Y S, with [Q Y] orthonormal whatever U is. Y (m x p,
/// m >= n + p) is overwritten from U, C is n x p and S p x p upper triangular. Waits.
/// Gram-Schmidt by blocks, repeated until what is left of Q in Y is rounding errors; a column that lies in the range of Q
/// to working precision is replaced by one of no particular direction.
template <class T> void orthogonal_complement(View<T> Q, View<T> Y, View<T> C, View<T> S, Queue& q);

/// A1 = Q1 R1 and d1 = Q1^H b1, in the form of `s`, by a new factorization of A1 (s.m1 x s.n1; overwritten). b1 has A1's
/// rows. Without Q: R1 and d1 from a matrix with the same R, e.g. [R; U].
template <class T>
void make_anew(const UpdateShape& s, View<T> A1, View<T> Q1, View<T> R1, View<T> b1, View<T> d1, Queue& q);

/// A = Q R, the matrix itself (s.m x s.n).
template <class T> void original(const UpdateShape& s, View<T> Q, View<T> R, View<T> A, Queue& q);

}  // namespace devobj
