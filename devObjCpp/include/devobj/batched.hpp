// Many small matrices at once: LU, QR, linear systems and least squares.
//
// A batch is one object: the matrices side by side, m x (n batch), so that matrix k (from 0) is the view
// A({0, m}, {k n, (k + 1) n}) and an array a[batch][n][m] in C's order, A(m, n, batch) in Fortran's, is copied as it
// is. What belongs to a matrix is a column (ipiv, tau) or an element (info) of an integer object of the same kind.
//
// The matrices do not influence each other: info, NaN and the bits of a result are those of the matrix alone. Nothing
// waits, but on a GPU for matrices of more than 1024 rows (docs/batched.md), which are worked on one after
// the other by getrf, geqrf and gels. Warm calls can be captured in a CUDA graph.
#pragma once

#include "devobj/queue.hpp"
#include "devobj/view.hpp"

namespace devobj {

/// P A = L U for each matrix, LAPACK's getrf. A is m x (n batch); ipiv min(m, n) x batch gets the pivots, counted from
/// 1 within each matrix; info (batch elements) gets 0, or the first i with U(i, i) exactly zero; that factorization is
/// complete too. Pivot: the largest |re| + |im|, the lowest row of equals; a NaN only if it is the first.
/// Errors: invalid_argument.
template <class T>
void getrf_batched(std::int64_t batch, View<T> A, View<std::int32_t> ipiv, View<std::int32_t> info, Queue& q);

/// op(A) X = B with the factors of getrf_batched (n x (n batch)); B, n x (nrhs batch), is overwritten by X. A zero on
/// the diagonal of U makes Inf and NaN. LAPACK's getrs. Errors: invalid_argument.
template <class T>
void getrs_batched(Op op, std::int64_t batch, View<T> LU, View<std::int32_t> ipiv, View<T> B, Queue& q);

/// A X = B: getrf_batched, then a solve for each matrix whose info is 0; the others' parts of B are unchanged. LAPACK's
/// gesv. Errors: invalid_argument.
template <class T>
void gesv_batched(std::int64_t batch, View<T> A, View<std::int32_t> ipiv, View<T> B, View<std::int32_t> info, Queue& q);

/// A = Q R for each matrix, LAPACK's geqrf. A is m x (n batch); tau min(m, n) x batch. Errors: invalid_argument.
template <class T>
void geqrf_batched(std::int64_t batch, View<T> A, View<T> tau, Queue& q);

/// Least squares min ||B - A X|| for each matrix, m >= n, LAPACK's gels with 'N'. A, m x (n batch), is overwritten by
/// geqrf's factors; B, m x (nrhs batch), by X in its first n rows, and below them what the residual's squares are the
/// sum of. info (batch elements): 0, or the first i with R(i, i) exactly zero: A has no full rank, and B holds Q^H B.
/// (That is LAPACK's test; gels for one matrix estimates the condition.) Errors: invalid_argument; not_supported for m
/// < n and for op other than NoTrans, whose solutions are those of minimum norm.
template <class T>
void gels_batched(Op op, std::int64_t batch, View<T> A, View<T> B, View<std::int32_t> info, Queue& q);

}  // namespace devobj
