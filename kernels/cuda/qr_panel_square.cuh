// The eliminations on a small square by which Cholesky-QR makes a reflector, in the registers of one block of 256 threads.
//
// A step needs one row and some columns, which their threads put into shared memory; two places in turn, so that a step
// has one barrier.
#pragma once

#include "kernels/cuda/qr_panel_reflector.cuh"
#include "kernels/cuda/thread_square.cuh"

namespace devobj::cuda::qr_panel {

/// What cholesky has in shared memory.
template <class E, int W>
struct CholeskyMemory {
  E row_of_M[2][W], row_of_N[2][W];
  real_e<E> size[W];      // 1 / sqrt(G(j, j))
  real_e<E> diagonal[W];  // of D
  real_e<E> root[W];      // its inverse root
  real_e<E> room[square_threads / warp_size];
};

/// G = R^H R, G = gram(i, j) of order w <= W: M = R and, below it and on the diagonal, N = R^-H, by row operations on
/// [M | N] = [G | I] that leave N = L^-1 and M = D L^H. False in all threads, with M and N undefined, unless
/// ||C R^-1||_F <= limit sqrt(w), C the diagonal of the columns' norms; also for a NaN, a zero column and squares out of
/// range. All threads call.
template <class E, int W, class Gram>
__device__ __forceinline__ bool cholesky(Gram gram, int w, real_e<E> limit, CholeskyMemory<E, W>& memory,
                                         Square<E, W>& M, Square<E, W>& N) {
  using Real = real_e<E>;
  const int t = threadIdx.x, own_r = t % side, own_c = t / side;
  constexpr int tile = W / side;
  M.each([&](E& x, int i, int j) { x = i < w && j < w ? gram(i, j) : from_parts<E>(i == j ? 1 : 0); });
  N.each([&](E& x, int i, int j) { x = from_parts<E>(i == j ? 1 : 0); });
  bool good = true;
  if (t < w) {
    const Real g = re(gram(t, t));
    good = g >= Range2<Real>::good_low && g <= Range2<Real>::good_high;
    memory.size[t] = Real(1) / sqrt(g);
  }
  const Real least = 1 / (limit * limit * W);
  good = __syncthreads_and(good);
  good = good && each_step<tile>(w, [&](int a0, int r, int k) {
           const int now = k & 1;
           if (own_r == r) {
#pragma unroll
             for (int b = 0; b < tile; ++b) {
               memory.row_of_M[now][own_c + side * b] = M.x[a0][b];
               memory.row_of_N[now][own_c + side * b] = N.x[a0][b];
             }
           }
           __syncthreads();
           const Real pivot = re(memory.row_of_M[now][k]);
           // of the scaled matrix, whose diagonal is 1, this is 1 / R(k, k)^2
           if (!(pivot * memory.size[k] * memory.size[k] > least)) return false;
           if (t == 0) memory.diagonal[k] = pivot;
           const Real inverse = reciprocal_of_normal(pivot);
    // row i -= conj(M(k, i)) / pivot row k, i > k
#pragma unroll
           for (int a = a0; a < tile; ++a) {
             const int i = own_r + side * a;
             const E factor = i > k ? scaled(conjugate(memory.row_of_M[now][i]), inverse) : E{};
#pragma unroll
             for (int b = a0; b < tile; ++b)
               M.x[a][b] = minus_product(M.x[a][b], factor, memory.row_of_M[now][own_c + side * b]);
#pragma unroll
             for (int b = 0; b <= a0; ++b)
               N.x[a][b] = minus_product(N.x[a][b], factor, memory.row_of_N[now][own_c + side * b]);
           }
           return true;
         });
  __syncthreads();
  if (!good) return false;
  if (t < W) memory.root[t] = t < w ? Real(1) / sqrt(memory.diagonal[t]) : Real(1);
  __syncthreads();
  Real squares = 0;
  M.each([&](E& x, int i, int) { x = scaled(x, memory.root[i]); });
  N.each([&](E& x, int i, int j) {
    x = scaled(x, memory.root[i]);
    if (i < w && j <= i) squares += square(x) / (memory.size[j] * memory.size[j]);
  });
  return block_sum(squares, memory.room) <= limit * limit * w;
}

/// What reconstruct has in shared memory.
template <class E, int W>
struct ReconstructMemory {
  E row_of_P[2][W], column_of_P[2][W], column_of_X[2][W], column_of_T[2][W];
  real_e<E> sign[W];
};

/// From P = Q_top, the first w rows of a matrix Q with orthonormal columns, and X = R^-1, Q = A R^-1:
///
///   I - P S = L U,  S(j, j) = -sign of L^-1 P's diagonal (LAPACK's signs; |U(j, j)| >= 1, hence no pivots)
///   P = L below the diagonal,  X = B = -R^-1 S U^-1,  T = U L^-H (upper triangles),  S in memory.sign
///
/// in one elimination: step k makes column k of L, T and B and finds the sign S(k, k), which of U's row k is in the columns
/// still to come: U(k, j) = -S(j, j) P(k, j), and X(:, j) for which -X(:, j) S(j, j) is what is left of B's column to be
/// divided, likewise. False in all threads if a column has next to nothing below the diagonal: what is exactly nothing has
/// no reflector in LAPACK. All threads call; ends with a barrier.
template <class E, int W>
__device__ __forceinline__ bool reconstruct(Square<E, W>& P, Square<E, W>& X, Square<E, W>& T, int w,
                                            ReconstructMemory<E, W>& memory) {
  using Real = real_e<E>;
  constexpr int tile = W / side;
  const int t = threadIdx.x, own_r = t % side, own_c = t / side;
  T.each([&](E& x, int, int) { x = E{}; });
  constexpr Real nothing = sizeof(Real) == 4 ? Real(1e-4) : Real(1e-9);
  bool good = true;
  each_step<tile>(w, [&](int a0, int r, int k) {
    const int now = k & 1;
    E *row = memory.row_of_P[now], *column = memory.column_of_P[now], *column_of_X = memory.column_of_X[now],
      *column_of_T = memory.column_of_T[now];
    if (own_r == r) {
#pragma unroll
      for (int b = 0; b < tile; ++b) row[own_c + side * b] = P.x[a0][b];
    }
    if (own_c == r) {
#pragma unroll
      for (int a = 0; a < tile; ++a) {
        column[own_r + side * a] = P.x[a][a0];
        column_of_X[own_r + side * a] = X.x[a][a0];
        column_of_T[own_r + side * a] = T.x[a][a0];
      }
    }
    __syncthreads();
    const E pivot = column[k];
    const Real s = -copysign(Real(1), re(pivot));
    const E u = sum(from_parts<E>(1), scaled(pivot, -s)), inverse = inverse_of(u);
    if (t == 0) memory.sign[k] = s;
    good = good && square(pivot) < 1 - nothing;
    E right[tile], L_right[tile];  // row k of P, and conj(L(j, k)), of the columns j > k
#pragma unroll
    for (int b = a0; b < tile; ++b) {
      const int j = own_c + side * b;
      right[b] = j > k ? row[j] : E{};
      L_right[b] = j > k ? conjugate(product(scaled(column[j], -s), inverse)) : E{};
    }
#pragma unroll
    for (int a = 0; a < tile; ++a) {
      const int i = own_r + side * a;
      if (a >= a0) {
        const E L = i > k ? product(scaled(column[i], -s), inverse) : E{};
#pragma unroll
        for (int b = a0; b < tile; ++b) P.x[a][b] = minus_product(P.x[a][b], L, right[b]);
        if (own_c == r && i > k) P.x[a][a0] = L;
      }
      if (a <= a0) {
        const E B = i <= k ? product(scaled(column_of_X[i], -s), inverse) : E{};
        const E above = sum(i < k ? scaled(column[i], -s) : i == k ? u : E{}, i <= k ? column_of_T[i] : E{});
#pragma unroll
        for (int b = a0; b < tile; ++b) {
          X.x[a][b] = minus_product(X.x[a][b], B, right[b]);
          T.x[a][b] = minus_product(T.x[a][b], above, L_right[b]);
        }
        if (own_c == r && i <= k) {
          X.x[a][a0] = B;
          T.x[a][a0] = above;
        }
      }
    }
    return true;
  });
  __syncthreads();
  return good;
}

}  // namespace devobj::cuda::qr_panel
