// qr_panel_tall: the work on the square of order w, one block for each kernel.
//
// A step of an elimination needs one row and some columns, which their threads put into shared memory; two places in
// turn, so that a step has one barrier.
#pragma once

#include "kernels/cuda/qr_panel_native.cuh"
#include "kernels/cuda/thread_square.cuh"

namespace devobj::cuda::qr_panel::tall {

template <class E>
constexpr int width = sizeof(E) == 16 ? 32 : 64;
constexpr double condition_limit = 30;
template <class Real>
constexpr Real epsilon = std::numeric_limits<Real>::epsilon();

/// What travels between the kernels, in device memory.
template <class E>
struct Work {
  static constexpr int W = width<E>;
  E gram[W][W];  // [j][i] = G(i, j)
  E R1[W][W];    // [j][i]
  E R1_inverse[W][W];
  E B[W][W];
  int good;  // the flag
};

/// The sum over the block's threads, in every thread.
template <class Real>
__device__ Real block_sum(Real x, Real* room) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2) x += shuffle_across(x, distance);
  if (threadIdx.x % warp_size == 0) room[threadIdx.x / warp_size] = x;
  __syncthreads();
  Real total = 0;
  for (int i = 0; i < square_threads / warp_size; ++i) total += room[i];
  return total;
}

// R1 and R1^-1 from G: row operations on [M | N] = [G | I] leave N = L^-1 and M = D L^H, G = L D L^H; R1 = D^-1/2 M,
// R1^-H = D^-1/2 N.
template <class E, int W>
__global__ void __launch_bounds__(square_threads) start_kernel(Work<E>* work, int w) {
  using Real = real_e<E>;
  __shared__ E row_of_M[2][W], row_of_N[2][W];
  __shared__ Real size[W];      // 1 / sqrt(G(j, j))
  __shared__ Real diagonal[W];  // D
  __shared__ Real room[square_threads / warp_size];
  const int t = threadIdx.x, own_r = t % side, own_c = t / side;
  constexpr int tile = W / side;
  Square<E, W> M, N;
  M.each([&](E& x, int i, int j) { x = i < w && j < w ? work->gram[j][i] : from_parts<E>(i == j ? 1 : 0); });
  N.each([&](E& x, int i, int j) { x = from_parts<E>(i == j ? 1 : 0); });
  bool good = true;
  if (t < w) {
    const Real g = re(work->gram[t][t]);
    good = g >= Range2<Real>::good_low && g <= Range2<Real>::good_high;
    size[t] = Real(1) / sqrt(g);
  }
  good = __syncthreads_and(good);
  good = good && each_step<tile>(w, [&](int a0, int r, int k) {
           const int now = k & 1;
           if (own_r == r) {
#pragma unroll
             for (int b = 0; b < tile; ++b) {
               row_of_M[now][own_c + side * b] = M.x[a0][b];
               row_of_N[now][own_c + side * b] = N.x[a0][b];
             }
           }
           __syncthreads();
           const Real pivot = re(row_of_M[now][k]);
           // of the scaled matrix, whose diagonal is 1, this is 1 / R(k, k)^2
           if (!(pivot * size[k] * size[k] > Real(1e-4))) return false;
           if (t == 0) diagonal[k] = pivot;
           const Real inverse = reciprocal_of_normal(pivot);
    // row i -= conj(M(k, i)) / pivot row k, i > k
#pragma unroll
           for (int a = a0; a < tile; ++a) {
             const int i = own_r + side * a;
             const E factor = i > k ? scaled(conjugate(row_of_M[now][i]), inverse) : E{};
#pragma unroll
             for (int b = a0; b < tile; ++b)
               M.x[a][b] = minus_product(M.x[a][b], factor, row_of_M[now][own_c + side * b]);
#pragma unroll
             for (int b = 0; b <= a0; ++b)
               N.x[a][b] = minus_product(N.x[a][b], factor, row_of_N[now][own_c + side * b]);
           }
           return true;
         });
  __syncthreads();
  // ||D R1^-1||_F with the norms D of the columns, 1 / size
  Real squares = 0;
  if (good) {
    N.each([&](E& x, int i, int j) {
      if (i < w && j <= i) squares += square(x) / (diagonal[i] * size[j] * size[j]);
    });
  }
  const Real total = block_sum(squares, room);
  good = good && total <= Real(condition_limit * condition_limit) * w;
  M.each([&](E& x, int i, int j) {
    work->R1[j][i] = good && i <= j && j < w ? scaled(x, Real(1) / sqrt(diagonal[i])) : E{};
  });
  N.each([&](E& x, int i, int j) {
    work->R1_inverse[i][j] = good && j <= i && i < w ? scaled(conjugate(x), Real(1) / sqrt(diagonal[i])) : E{};
  });
  if (t == 0) work->good = good;
}

/// Of finish_kernel.
template <class E, int W>
struct FinishMemory {
  E Z[W][W + 1], P[W][W + 1], R[W][W + 1];  // [column][row]
  E row_of_P[2][W], column_of_P[2][W], column_of_X[2][W], column_of_T[2][W];
  real_e<E> sign[W];
};

// Everything else of order w. gram is now Q1^H Q1; the first w rows of V hold Q1's. With Z upper triangular,
// Z + Z^H = Q1^H Q1 - I, to first order R2 = I + Z and R2^-1 = I - Z. Then
//
//   P = Q_top = Q1_top R2^-1,  I - P S = L U,  T = U L^-H,  B = -R2^-1 S U^-1,  R = S R2 R1
//
// P, T and B are made in one elimination: step k makes column k of L, T and B and finds the sign S(k, k), which of U's
// row k is in the columns still to come: U(k, j) = -S(j, j) P(k, j), and X(:, j) for which -X(:, j) S(j, j) is what is
// left of B's column to be divided, likewise.
template <class E, int W>
__global__ void __launch_bounds__(square_threads) finish_kernel(Panel<E> panel, Work<E>* work) {
  using Real = real_e<E>;
  constexpr int tile = W / side;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto& memory = *reinterpret_cast<FinishMemory<E, W>*>(shared_bytes);
  const int t = threadIdx.x, own_r = t % side, own_c = t / side, w = static_cast<int>(panel.A.cols);
  if (work->good == 0) return;
  Square<E, W> P, X, T, R;
  bool good = true;
  X.each([&](E& x, int i, int j) {
    const bool inside = i < w && j < w;
    E z = inside ? work->gram[j][i] : from_parts<E>(i == j ? 1 : 0);
    if (i == j) z = sum(z, from_parts<E>(-1));
    // what the first order leaves out must be below a rounding error
    good = good && magnitude(z) * magnitude(z) * w < epsilon<Real> / 16;
    z = i < j ? z : i == j ? from_parts<E>(re(z) / 2) : E{};
    memory.Z[j][i] = z;
    memory.P[j][i] = inside ? panel.V(i, j) : from_parts<E>(i == j ? -1 : 0);
    memory.R[j][i] = inside ? work->R1[j][i] : E{};
    x = i == j ? sum(from_parts<E>(1), negative(z)) : negative(z);  // R2^-1
  });
  if (!__syncthreads_and(good)) {
    if (t == 0) work->good = 0;
    return;
  }
  P.each([&](E& x, int i, int j) { x = memory.P[j][i]; });
  R.each([&](E& x, int i, int j) { x = memory.R[j][i]; });
  T.each([&](E& x, int, int) { x = E{}; });
  for (int l = 0; l < w; ++l) {
    E p[tile], z[tile], z_l[tile], r_l[tile];
#pragma unroll
    for (int a = 0; a < tile; ++a) {
      p[a] = memory.P[l][own_r + side * a];
      z[a] = memory.Z[l][own_r + side * a];
      z_l[a] = memory.Z[own_c + side * a][l];
      r_l[a] = memory.R[own_c + side * a][l];
    }
#pragma unroll
    for (int b = 0; b < tile; ++b) {
#pragma unroll
      for (int a = 0; a < tile; ++a) {
        P.x[a][b] = minus_product(P.x[a][b], p[a], z_l[b]);
        R.x[a][b] = sum(R.x[a][b], product(z[a], r_l[b]));
      }
    }
  }

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

  X.each([&](E& x, int i, int j) { work->B[j][i] = i <= j && j < w ? x : E{}; });
  P.each([&](E& x, int i, int j) {
    if (i >= w || j >= w) return;
    if (i > j) panel.A(i, j) = x;
    panel.V(i, j) = i > j ? x : from_parts<E>(i == j ? 1 : 0);
  });
  R.each([&](E& x, int i, int j) {
    if (i > j || j >= w) return;
    panel.A(i, j) = i == j ? from_parts<E>(re(x) * memory.sign[i]) : scaled(x, memory.sign[i]);
  });
  T.each([&](E& x, int i, int j) {
    if (i >= w || j >= w) return;
    panel.T(i, j) = i <= j ? x : E{};
    if (i == j) panel.tau[i] = x;
  });
}

}  // namespace devobj::cuda::qr_panel::tall
