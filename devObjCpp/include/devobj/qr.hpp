// QR factorization by Householder reflectors, its orthogonal factor, and least squares.
#pragma once

#include "devobj/queue.hpp"
#include "devobj/report.hpp"
#include "devobj/view.hpp"

namespace devobj {

struct QrOptions {
  /// automatic, lapack (host), hybrid, native (GPU), householder, block_householder; givens: qr only
  Method method = Method::automatic;
  std::int64_t block = 0;             ///< columns of a panel, at most 256, native 768; 0: by the table of measured best
  HybridReport* report = nullptr;     ///< if given: where the time went (hybrid; costs a few events per panel)
  Math math = Math::automatic;        ///< native, hybrid, orgqr, ormqr: how the updates multiply
};

/// A = Q R, LAPACK's geqrf: A (m x n) is overwritten by R (on and above the diagonal) and the reflectors' vectors
/// (below it); tau gets min(m, n) elements. Q = H(1) ... H(k), H(i) = I - tau(i) v v^H. R's signs are LAPACK's.
/// Waits, but for the native method, which can be captured in a CUDA graph once it has been called.
/// Workspace O((m + n) block). Errors: invalid_argument, out_of_memory (A is then unchanged).
/// Source: paper 002; LAPACK geqrf; docs/qr-native.md.
template <class T> void geqrf(View<T> A, View<T> tau, Queue& q, QrOptions options = {});

/// The first A.cols columns of Q (m x n, n <= m) from the first k = tau.size() reflectors in A, in place.
/// LAPACK's orgqr (ungqr for complex). Does not wait.
template <class T> void orgqr(View<T> A, View<T> tau, Queue& q, QrOptions options = {});

/// C = op(Q) C (Left) or C op(Q) (Right), Q from the k = tau.size() reflectors in the first k columns of V.
/// op is NoTrans or the adjoint (Trans for real, ConjTrans for complex). V is unchanged. Does not wait.
/// LAPACK's ormqr (unmqr for complex).
template <class T>
void ormqr(Side side, Op op, View<T> V, View<T> tau, View<T> C, Queue& q, QrOptions options = {});

/// Least squares or minimum norm by QR, LAPACK's gels. With A m x n of full rank and B max(m, n) x nrhs:
///   NoTrans, m >= n: min ||B - A X||; X in B's first n rows, the residual's squares are those of the rows below.
///   NoTrans, m < n:  the X of least norm with A X = B (B's first m rows); X in all n rows.
///   Trans/ConjTrans: the same for A^T / A^H.
/// A is overwritten by factors: geqrf's of A if m >= n, otherwise by those of A^H, transposed (LAPACK's gelqf form); they
/// are those of 2^e A where A's largest element is near underflow or overflow.
/// Returns info: 0, or i > 0 if A is rank-deficient to working precision: then R's column i is the first dependent one,
/// and B is unchanged. The test is on R with its columns scaled to norm 1, so that bad units alone are no
/// deficiency: the estimate of 1/cond is below max(m, n) eps / 2. Waits.
template <class T> std::int64_t gels(Op op, View<T> A, View<T> B, Queue& q, QrOptions options = {});

/// Explicit factors: Q is m x min(m, n) and R min(m, n) x n (economic), or Q m x m and R m x n (full). A is unchanged.
/// R is exactly triangular. Waits. By Method::givens the signs (phases) of R's rows are those of the rotations: see
/// docs/givens.md; zeros below and above A's band are not worked on.
template <class T> void qr(View<T> A, View<T> Q, View<T> R, Queue& q, QrOptions options = {});

}  // namespace devobj
