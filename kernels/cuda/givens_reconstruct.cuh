// Reflectors of an orthogonal matrix's first columns (Ballard, Demmel, Grigori, Jacquelin, Nguyen, Solomonik 2014).
#pragma once

#include "kernels/cuda/thread_square.cuh"
#include "kernels/givens.hpp"

namespace devobj::cuda::givens {

/// -a / |a|, -1 for 0, and |a|
__device__ inline float opposite_phase(float a, float& size) {
  size = fabsf(a);
  return a > 0 ? -1.f : a < 0 ? 1.f : a == 0 ? -1.f : a;
}
__device__ inline double opposite_phase(double a, double& size) {
  size = fabs(a);
  return a > 0 ? -1. : a < 0 ? 1. : a == 0 ? -1. : a;
}
__device__ inline cuComplex opposite_phase(cuComplex a, float& size) {
  size = cuCabsf(a);
  return size == 0 ? cuComplex{-1, 0} : cuComplex{-a.x / size, -a.y / size};
}
__device__ inline cuDoubleComplex opposite_phase(cuDoubleComplex a, double& size) {
  size = cuCabs(a);
  return size == 0 ? cuDoubleComplex{-1, 0} : cuDoubleComplex{-a.x / size, -a.y / size};
}

// One block: from the first k rows of Q and the triangle R, stored by rows,
//   Q - S = Y U,  s_j = -q_jj / |q_jj| when its turn comes,  tau_j = 1 + |q_jj|
//   the rows below:  Y = Q U^-1,  W = Y T = Q M with M = -S^H Y1^-H;  W's first rows: (I - Q S^H) Y1^-H
// A's top gets Y below the diagonal and S R on and above it, Y and W their tops, `factors` [U^-1 M]. Step p of the
// elimination makes column p of Y and of X = U^-1, and row p of N = Y1^-1.
template <class E>
__global__ void __launch_bounds__(square_threads)
    reconstruct_kernel(Block<E> Q, Block<E> R, Block<E> A, Strided<E> tau, Block<E> Y, Block<E> W, Block<E> factors) {
  constexpr int tile = width / side;
  __shared__ E row_of_q[2][width], row_of_N[2][width], column_of_q[2][width], column_of_X[2][width], signs[width];
  __shared__ E of_Q[width][width + 1], of_N[width][width + 1];
  const int k = static_cast<int>(A.cols), r = threadIdx.x % side, c = threadIdx.x / side;
  const E one = from_parts<E>(1);
  Square<E, width> q, X, N;
  q.each([&](E& x, int i, int j) { of_Q[i][j] = x = i < k && j < k ? Q(i, j) : E{}; });
  X.each([&](E& x, int i, int j) { x = i == j ? one : E{}; });
  N.each([&](E& x, int i, int j) { x = i == j ? one : E{}; });
  each_step<tile>(k, [&](int a0, int step_r, int p) {
    const int now = p & 1;
#pragma unroll
    for (int u = 0; u < tile; ++u) {
      if (r == step_r) {
        row_of_q[now][c + side * u] = q.x[a0][u];
        row_of_N[now][c + side * u] = N.x[a0][u];
      }
      if (c == step_r) {
        column_of_q[now][r + side * u] = q.x[u][a0];
        column_of_X[now][r + side * u] = X.x[u][a0];
      }
    }
    __syncthreads();
    const E pivot = row_of_q[now][p];
    real_e<E> size;
    const E sign = opposite_phase(pivot, size), u_pp = sum(pivot, negative(sign)), inverse = inverse_of(u_pp);
    if (threadIdx.x == 0) {
      signs[p] = sign;
      tau[p] = from_parts<E>(1 + size);
    }
#pragma unroll
    for (int a = 0; a < tile; ++a) {
      const int i = r + side * a;
      const E y = i > p ? product(column_of_q[now][i], inverse) : E{};
      const E x = i <= p ? product(column_of_X[now][i], inverse) : E{};
#pragma unroll
      for (int b = 0; b < tile; ++b) {
        const int j = c + side * b;
        const E right = j > p ? row_of_q[now][j] : E{};
        q.x[a][b] = sum(q.x[a][b], negative(product(y, right)));
        X.x[a][b] = sum(X.x[a][b], negative(product(x, right)));
        if (j <= p) N.x[a][b] = sum(N.x[a][b], negative(product(y, row_of_N[now][j])));
        if (j == p) {
          if (i > p) q.x[a][b] = y;
          if (i <= p) X.x[a][b] = x;
        }
      }
    }
    return true;
  });
  __syncthreads();
  N.each([&](E& x, int i, int j) { of_N[i][j] = x; });
  q.each([&](E& x, int i, int j) {
    if (i >= k || j >= k) return;
    A(i, j) = i > j ? x : product(signs[i], R(j, i));
    Y(i, j) = i > j ? x : i == j ? one : E{};
  });
  X.each([&](E& x, int i, int j) {
    if (i < k && j < k) factors(i, j) = x;
  });
  __syncthreads();
  N.each([&](E& w, int i, int j) {
    if (i >= k || j >= k) return;
    factors(i, k + j) = negative(product(conjugate(signs[i]), conjugate(of_N[j][i])));
    w = conjugate(of_N[j][i]);
    for (int p = 0; p < k; ++p)
      w = sum(w, negative(product(product(of_Q[i][p], conjugate(signs[p])), conjugate(of_N[j][p]))));
    W(i, j) = w;
  });
}

}  // namespace devobj::cuda::givens
