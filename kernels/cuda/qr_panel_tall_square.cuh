// qr_panel_tall: the work on the square of order w, one block for each kernel.
#pragma once

#include "kernels/cuda/qr_panel_launch.cuh"
#include "kernels/cuda/qr_panel_square.cuh"

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

// R1 and R1^-1 from G.
template <class E, int W>
__global__ void __launch_bounds__(square_threads) start_kernel(Work<E>* work, int w) {
  __shared__ CholeskyMemory<E, W> memory;
  Square<E, W> M, N;
  const bool good =
      cholesky<E, W>([&](int i, int j) { return work->gram[j][i]; }, w, real_e<E>(condition_limit), memory, M, N);
  M.each([&](E& x, int i, int j) { work->R1[j][i] = good && i <= j && j < w ? x : E{}; });
  N.each([&](E& x, int i, int j) { work->R1_inverse[i][j] = good && j <= i && i < w ? conjugate(x) : E{}; });
  if (threadIdx.x == 0) work->good = good;
}

/// Of finish_kernel.
template <class E, int W>
struct FinishMemory {
  E Z[W][W + 1], P[W][W + 1], R[W][W + 1];  // [column][row]
  ReconstructMemory<E, W> steps;
};

// Everything else of order w. gram is now Q1^H Q1; the first w rows of V hold Q1's. With Z upper triangular,
// Z + Z^H = Q1^H Q1 - I, to first order R2 = I + Z and R2^-1 = I - Z. Then
//
//   P = Q_top = Q1_top R2^-1,  R = S R2 R1,  and the reflector by reconstruct.
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

  if (!reconstruct<E, W>(P, X, T, w, memory.steps)) {
    if (t == 0) work->good = 0;
    return;
  }

  X.each([&](E& x, int i, int j) { work->B[j][i] = i <= j && j < w ? x : E{}; });
  P.each([&](E& x, int i, int j) {
    if (i >= w || j >= w) return;
    if (i > j) panel.A(i, j) = x;
    panel.V(i, j) = i > j ? x : from_parts<E>(i == j ? 1 : 0);
  });
  R.each([&](E& x, int i, int j) {
    if (i > j || j >= w) return;
    panel.A(i, j) = i == j ? from_parts<E>(re(x) * memory.steps.sign[i]) : scaled(x, memory.steps.sign[i]);
  });
  T.each([&](E& x, int i, int j) {
    if (i >= w || j >= w) return;
    panel.T(i, j) = i <= j ? x : E{};
    if (i == j) panel.tau[i] = x;
  });
}

}  // namespace devobj::cuda::qr_panel::tall
