// BLAS levels 1 to 3 and the matrix utilities, on views, for float, double, complex<float> and complex<double>.
//
// A vector is a view with one column or one row; for swap, scal, axpy, dot, nrm2, asum and iamax a view of any shape is
// the vector of its elements in column order (two operands of equal shape). Every function checks shapes and
// throws Error invalid_argument naming the routine, the argument and both values, before anything is written.
// None waits, except those that return a value. Source: the reference BLAS and LAPACK, whose names they carry.
#pragma once

#include "devobj/queue.hpp"
#include "devobj/view.hpp"

namespace devobj {

// ---- level 1 ----
/// x <-> y
template <class T> void swap(View<T> x, View<T> y, Queue& q);
/// x *= alpha
template <class T> void scal(scalar<T> alpha, View<T> x, Queue& q);
/// y += alpha x
template <class T> void axpy(scalar<T> alpha, View<T> x, View<T> y, Queue& q);
/// x^T y. Waits.
template <class T> T dotu(View<T> x, View<T> y, Queue& q);
/// x^H y. Waits.
template <class T> T dotc(View<T> x, View<T> y, Queue& q);
/// ||x||_2 without overflow or underflow. Waits.
template <class T> real_t<T> nrm2(View<T> x, Queue& q);
/// sum |re| + |im|. Waits.
template <class T> real_t<T> asum(View<T> x, Queue& q);
/// The first position, counted from 1, of the largest |re| + |im|; 0 if x is empty. A NaN counts as the largest
/// (the first NaN, if there are several). Waits.
template <class T> std::int64_t iamax(View<T> x, Queue& q);

// ---- level 2 ----
/// y = alpha op(A) x + beta y
template <class T> void gemv(Op op, scalar<T> alpha, View<T> A, View<T> x, scalar<T> beta, View<T> y, Queue& q);
/// A += alpha x y^T
template <class T> void geru(scalar<T> alpha, View<T> x, View<T> y, View<T> A, Queue& q);
/// A += alpha x y^H
template <class T> void gerc(scalar<T> alpha, View<T> x, View<T> y, View<T> A, Queue& q);
/// x = op(A) x, A triangular
template <class T> void trmv(Uplo uplo, Op op, Diag diag, View<T> A, View<T> x, Queue& q);
/// x = op(A)^-1 x, A triangular. On a GPU: workspace as in getrs.
template <class T> void trsv(Uplo uplo, Op op, Diag diag, View<T> A, View<T> x, Queue& q);

// ---- level 3 ----
/// C = alpha op(A) op(B) + beta C
template <class T>
void gemm(Op opA, Op opB, scalar<T> alpha, View<T> A, View<T> B, scalar<T> beta, View<T> C, Queue& q);
/// C = alpha A B + beta C (Left) or alpha B A + beta C (Right), A symmetric
template <class T>
void symm(Side side, Uplo uplo, scalar<T> alpha, View<T> A, View<T> B, scalar<T> beta, View<T> C, Queue& q);
/// The same with A Hermitian; for real types the same as symm.
template <class T>
void hemm(Side side, Uplo uplo, scalar<T> alpha, View<T> A, View<T> B, scalar<T> beta, View<T> C, Queue& q);
/// C = alpha A A^T + beta C (NoTrans) or alpha A^T A + beta C (Trans), the uplo triangle of C
template <class T>
void syrk(Uplo uplo, Op op, scalar<T> alpha, View<T> A, scalar<T> beta, View<T> C, Queue& q);
/// C = alpha A A^H + beta C (NoTrans) or alpha A^H A + beta C (ConjTrans), alpha and beta real; for real types as syrk.
template <class T>
void herk(Uplo uplo, Op op, real_t<T> alpha, View<T> A, real_t<T> beta, View<T> C, Queue& q);
/// B = alpha op(A) B (Left) or alpha B op(A) (Right), A triangular
template <class T>
void trmm(Side side, Uplo uplo, Op op, Diag diag, scalar<T> alpha, View<T> A, View<T> B, Queue& q);
/// B = alpha op(A)^-1 B (Left) or alpha B op(A)^-1 (Right), A triangular. From the left on a GPU: workspace as in getrs.
template <class T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, scalar<T> alpha, View<T> A, View<T> B, Queue& q);

// ---- utilities ----
/// B = A for the uplo part (General: all), with its diagonal. LAPACK's lacpy.
template <class T> void lacpy(Uplo uplo, View<T> A, View<T> B, Queue& q);
/// Off-diagonal elements of the uplo part = offdiag, diagonal elements = diag. LAPACK's laset.
template <class T> void laset(Uplo uplo, scalar<T> offdiag, scalar<T> diag, View<T> A, Queue& q);
/// B = op(A) for op Trans or ConjTrans; A and B must not overlap.
template <class T> void transpose(Op op, View<T> A, View<T> B, Queue& q);
/// A = op(A) in place, A square.
template <class T> void transpose(Op op, View<T> A, Queue& q);
/// Row swaps, LAPACK's laswp: for i = k1 ... k2 - 1 (forward) or backward, row i <-> row ipiv[i] - 1. ipiv is a
/// vector in the queue's memory with at least k2 elements, counted from 1. An entry outside 1 ... A.rows is left out. For many
/// swaps on a GPU: workspace of A.rows integers, which stays with the queue.
template <class T>
void laswp(View<T> A, std::int64_t k1, std::int64_t k2, View<std::int32_t> ipiv, bool forward, Queue& q);
/// The norm of a general matrix, LAPACK's lange: max column sum, max row sum, Frobenius or max |a_ij|. NaN if there is
/// one. 0 for an empty matrix. Waits.
template <class T> real_t<T> lange(Norm norm, View<T> A, Queue& q);

}  // namespace devobj
