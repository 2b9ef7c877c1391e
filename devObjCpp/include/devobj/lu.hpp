// LU factorization with partial pivoting, and what is solved with it.
#pragma once

#include "devobj/queue.hpp"
#include "devobj/report.hpp"
#include "devobj/view.hpp"

namespace devobj {

struct LuOptions {
  Method method = Method::automatic;  ///< automatic, lapack (host), hybrid, native (GPU)
  std::int64_t block = 0;             ///< columns of a panel; 0: from the table of measured best sizes
  HybridReport* report = nullptr;     ///< if given: where the time went (hybrid; costs a few events per panel)
  std::int64_t inner_block = 0;       ///< native: columns that one kernel factors; 0: from the table
  Math math = Math::automatic;        ///< native and getrs: how the updates multiply
};

/// P A = L U, LAPACK's getrf: A (m x n) is overwritten by L (unit lower, below the diagonal) and U.
/// ipiv (min(m, n) elements, in the queue's memory) gets the pivots counted from 1: row i was swapped with row ipiv(i).
/// Returns info: 0, or the first i with U(i, i) exactly zero; the factorization is complete in both cases.
/// Pivot: the largest |re| + |im|, the lowest row of equals. Waits.
/// Workspace: O((m + n) block); one copy of A if A is rectangular and the method hybrid.
/// Errors: invalid_argument, out_of_memory (A is then unchanged). Source: paper 002; LAPACK getrf.
template <class T>
std::int64_t getrf(View<T> A, View<std::int32_t> ipiv, Queue& q, LuOptions options = {});

/// The same with info in the queue's memory (one element), and without waiting: method native or, on a GPU, automatic.
/// A warm call can be captured in a CUDA graph. The workspace, O((m + n) block), stays with the queue.
template <class T>
void getrf(View<T> A, View<std::int32_t> ipiv, View<std::int32_t> info, Queue& q, LuOptions options = {});

/// op(A) X = B with the factors from getrf; B (n x nrhs) is overwritten by X. Does not wait. LAPACK's getrs. Of the options
/// `math` counts. Workspace on a GPU: 208 n numbers, double or complex<double> (few right-hand sides: 4 n); float with 2048 right-hand
/// sides or more besides O((n + nrhs) 512), complex<double> instead 66 KiB for each of n / 2 + nrhs, if there is as much. It stays with
/// the queue.
template <class T>
void getrs(Op op, View<T> LU, View<std::int32_t> ipiv, View<T> B, Queue& q, LuOptions options = {});

/// A X = B: getrf, then getrs if info is 0. Returns info; B is unchanged if it is not 0. Waits. LAPACK's gesv.
template <class T>
std::int64_t gesv(View<T> A, View<std::int32_t> ipiv, View<T> B, Queue& q, LuOptions options = {});

/// A = A^-1 from the factors of getrf. Returns info: the first i with U(i, i) exactly zero (A is then unchanged), or 0.
/// Waits. Workspace O(n block). LAPACK's getri.
template <class T> std::int64_t getri(View<T> A, View<std::int32_t> ipiv, Queue& q);

/// The factors as matrices of their own, on the device: L (m x k, unit lower trapezoidal), U (k x n, upper),
/// k = min(m, n), and perm (m elements, counted from 1) with A(perm(i), :) = (L U)(i, :). Does not wait.
/// Paper 002, figure 7, steps 2 and 3.
template <class T>
void lu_unpack(View<T> LU, View<std::int32_t> ipiv, View<T> L, View<T> U, View<std::int32_t> perm, Queue& q);

}  // namespace devobj
