// Reflectors of an orthogonal matrix's first columns (Ballard, Demmel, Grigori, Jacquelin, Nguyen, Solomonik 2014).
#pragma once

#include "kernels/cuda/overlapped_launch.cuh"
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

/// Where U^-1, M and S are in `factors`.
inline constexpr int column_of_M = width, column_of_S = 2 * width, factors_columns = 2 * width + 1;

// One block: from the first k rows of Q and the triangle R, stored by rows,
//   Q - S = Y U,  s_j = -q_jj / |q_jj| when its turn comes,  tau_j = 1 + |q_jj|
// A's top gets Y below the diagonal and S R on and above it, Y its top, `factors` U^-1, M = -S^H Y1^-H and S. Step p of
// the elimination makes column p of Y and of X = U^-1, and row p of N = Y1^-1.
template <class E>
__global__ void __launch_bounds__(square_threads)
    reconstruct_kernel(Block<E> Q, Block<E> R, Block<E> A, Strided<E> tau, Block<E> Y, Block<E> factors) {
  constexpr int tile = width / side;
  __shared__ E row_of_q[2][width], row_of_N[2][width], column_of_q[2][width], column_of_X[2][width], signs[width];
  const int k = static_cast<int>(A.cols), r = threadIdx.x % side, c = threadIdx.x / side;
  const E one = from_parts<E>(1);
  begin_overlapped();
  Square<E, width> q, X, N;
  q.each([&](E& x, int i, int j) { x = i < k && j < k ? Q(i, j) : E{}; });
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
  q.each([&](E& x, int i, int j) {
    if (i >= k || j >= k) return;
    A(i, j) = i > j ? x : product(signs[i], R(j, i));
    Y(i, j) = i > j ? x : i == j ? one : E{};
  });
  X.each([&](E& x, int i, int j) {
    if (i < k && j < k) factors(i, j) = x;
  });
  N.each([&](E& x, int i, int j) {
    if (i < k && j < k) factors(j, column_of_M + i) = negative(product(conjugate(signs[j]), conjugate(x)));
  });
  if (threadIdx.x < k) factors(threadIdx.x, column_of_S) = signs[threadIdx.x];
}

template <class E>
inline constexpr int finish_rows = sizeof(E) == 16 ? 32 : 64;
inline constexpr int finish_threads = 256;

// A block makes some rows of Y and W, a thread some columns of one of them: below the first k rows, and in them for W,
//   [Y W] = Q [U^-1 M],  W's first k rows += Y1^-H = -S M
// The rows of Y below go to A, too.
template <class E>
__global__ void __launch_bounds__(finish_threads)
    finish_kernel(Block<E> Q, Block<E> factors, Block<E> A, Block<E> Y, Block<E> W) {
  constexpr int rows = finish_rows<E>, part = 2 * width * rows / finish_threads;
  __shared__ E right[width][2 * width], left[width][rows];
  const int k = static_cast<int>(A.cols), row = threadIdx.x % rows, first = threadIdx.x / rows * part;
  const std::int64_t row0 = std::int64_t(blockIdx.x) * rows, i = row0 + row;
  begin_overlapped();
  for (int e = threadIdx.x; e < 2 * width * width; e += finish_threads) {
    const int p = e % width, j = e / width;
    right[p][j] = p < k && j % width < k ? factors(p, j) : E{};
  }
  for (int e = threadIdx.x; e < width * rows; e += finish_threads) {
    const int r = e % rows, p = e / rows;
    left[p][r] = row0 + r < Q.rows && p < k ? Q(row0 + r, p) : E{};
  }
  __syncthreads();
  E x[part];
#pragma unroll
  for (int u = 0; u < part; ++u) x[u] = E{};
  for (int p = 0; p < k; ++p) {
    const E a = left[p][row];
#pragma unroll
    for (int u = 0; u < part; ++u) x[u] = sum(x[u], product(a, right[p][first + u]));
  }
  if (i >= Q.rows) return;
  const bool of_W = first >= width;
  if (i < k && !of_W) return;
  const E sign = i < k ? factors(i, column_of_S) : E{};
#pragma unroll
  for (int u = 0; u < part; ++u) {
    const int j = first % width + u;
    if (j >= k) break;
    if (of_W)
      W(i, j) = i < k ? sum(x[u], negative(product(sign, right[i][first + u]))) : x[u];
    else
      A(i, j) = Y(i, j) = x[u];
  }
}

}  // namespace devobj::cuda::givens
