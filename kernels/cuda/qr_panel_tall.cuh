// qr_panel_tall: Householder QR of a panel of up to 64 columns (complex<double>: 32) and any number of rows, by
// products.
//
// Cholesky-QR, twice, and the Householder vectors from the orthogonal factor (Ballard, Demmel, Grigori, Jacquelin,
// Nguyen, Solomonik: Reconstructing Householder vectors from tall-skinny QR, 2014):
//
//   G = A^H A = R1^H R1,  Q1 = A R1^-1                           product, start_kernel, product
//   Q1^H Q1 = R2^H R2, R2 = I + small,  Q = Q1 R2^-1             product, finish_kernel ...
//   I - Q_top S = L U (no pivots: |U(j, j)| >= 1),  S(j, j) = -sign of L^-1 Q_top's diagonal: LAPACK's signs
//   V = (L, -Q_bottom S U^-1),  T = U L^-H,  tau = diag(T),  R = S R2 R1
//   A, V = Q1 B below the square on top, B = -R2^-1 S U^-1      apply_kernel
//
// start_kernel admits only panels that are well-conditioned up to the scaling of their columns: with D = diag(G)^(1/2),
// ||D R1^-1||_F / sqrt(w) below a small limit. finish_kernel asks that R2 is the unit matrix nearly enough. Otherwise
// (also for NaN, zero columns, and squares out of range) the flag stays 0, nothing is written to A, and the last
// kernel, which is otherwise over at once, factors the panel column by column in device memory with all
// multiprocessors.
#pragma once

#include "kernels/cuda/qr_panel_native.cuh"

namespace devobj::cuda {
namespace qr_panel {
namespace tall {

constexpr int threads = 256;         // of the kernels over rows
constexpr int small_threads = 1024;  // of the kernels over the square of order W
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

template <class E>
__device__ E inverse_of(E a) {
  if constexpr (is_device_complex<E>) {
    const real_e<E> d = 1 / square(a);
    return {a.x * d, -a.y * d};
  } else {
    return 1 / a;
  }
}

// R1 and R1^-1 from G, in one block: row operations on [G | I] give [R1 | R1^-H].
template <class E>
__global__ void __launch_bounds__(small_threads) start_kernel(Work<E>* work, int w) {
  using Real = real_e<E>;
  constexpr int W = width<E>;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto M = reinterpret_cast<E(*)[W + 1]>(shared_bytes);  // M[column][row], 2 W columns
  __shared__ Real size[W];                               // 1 / sqrt(G(j, j))
  __shared__ Real worst[W];
  const int t = threadIdx.x;
  for (int e = t; e < W * W; e += small_threads) {
    const int i = e % W, j = e / W;
    const bool inside = i < w && j < w;
    M[j][i] = inside ? work->gram[j][i] : from_parts<E>(i == j ? 1 : 0);
    M[W + j][i] = from_parts<E>(i == j ? 1 : 0);
  }
  __syncthreads();
  const Real low = Range2<Real>::good_low, high = Range2<Real>::good_high;
  bool good = true;
  if (t < W) {
    const Real g = re(M[t][t]);
    good = g >= low && g <= high;
    size[t] = Real(1) / sqrt(g);
  }
  good = __syncthreads_and(good);
  for (int k = 0; k < W && good; ++k) {
    // of the scaled matrix, whose diagonal is 1, this is 1 / R(k, k)^2
    const Real pivot = re(M[k][k]);
    good = pivot * size[k] * size[k] > Real(1e-4);
    if (!good) break;
    const Real root = Real(1) / sqrt(pivot);
    __syncthreads();
    for (int c = k + t; c < 2 * W; c += small_threads) M[c][k] = scaled(M[c][k], root);
    __syncthreads();
    // row i -= conj(R(k, i)) row k
    for (int e = t; e < (2 * W - k - 1) * W; e += small_threads) {
      const int c = k + 1 + e / W, i = e % W;
      if (i > k && (c >= W || c >= i)) M[c][i] = minus_product(M[c][i], conjugate(M[i][k]), M[c][k]);
    }
    __syncthreads();
  }
  // ||D R1^-1||_F: R1^-1(i, j) = conj(M[W + i][j])
  if (t < W) {
    Real sum_of_squares = 0;
    for (int j = 0; j < w && good; ++j)
      sum_of_squares += square(scaled(M[W + t][j], t < w ? Real(1) / size[t] : Real(0)));
    worst[t] = sum_of_squares;
  }
  __syncthreads();
  if (good) {
    Real total = 0;
    for (int i = 0; i < W; ++i) total += worst[i];
    good = total <= Real(condition_limit * condition_limit) * w;
  }
  for (int e = t; e < W * W; e += small_threads) {
    const int i = e % W, j = e / W;
    work->R1[j][i] = i <= j && good ? M[j][i] : E{};
    work->R1_inverse[j][i] = i <= j && good ? conjugate(M[W + i][j]) : E{};
  }
  if (t == 0) work->good = good;
}

// Everything of order w, in one block. gram is now Q1^H Q1; the first w rows of V hold Q1's.
template <class E>
__global__ void __launch_bounds__(small_threads) finish_kernel(Panel<E> panel, Work<E>* work) {
  using Real = real_e<E>;
  constexpr int W = width<E>, parts = W * W / small_threads;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto memory = reinterpret_cast<E(*)[W][W + 1]>(shared_bytes);
  auto &Z = memory[0], &P = memory[1], &X = memory[2], &R = memory[3];  // [column][row]
  __shared__ Real sign[W];
  const int t = threadIdx.x, w = static_cast<int>(panel.A.cols);
  if (work->good == 0) return;
  // R2 = I + Z with Z + Z^H = E, E = Q1^H Q1 - I, to first order; E^2 must be below a rounding error
  bool good = true;
  for (int e = t; e < W * W; e += small_threads) {
    const int i = e % W, j = e / W;
    const bool inside = i < w && j < w;
    E z = inside ? work->gram[j][i] : from_parts<E>(i == j ? 1 : 0);
    if (i == j) z = sum(z, from_parts<E>(-1));
    good = good && magnitude(z) * magnitude(z) * w < epsilon<Real> / 16;
    Z[j][i] = i < j ? z : i == j ? from_parts<E>(re(z) / 2) : E{};
    P[j][i] = inside ? panel.V(i, j) : from_parts<E>(i == j ? -1 : 0);
    R[j][i] = work->R1[j][i];
  }
  if (!__syncthreads_and(good)) {
    if (t == 0) work->good = 0;
    return;
  }
  // P = Q_top = Q1_top (I - Z), and R = R2 R1
  E p[parts], r[parts];
#pragma unroll
  for (int u = 0; u < parts; ++u) {
    const int e = t + u * small_threads, i = e % W, j = e / W;
    p[u] = P[j][i];
    r[u] = R[j][i];
    for (int l = 0; l <= j; ++l) {
      p[u] = minus_product(p[u], P[l][i], Z[j][l]);
      r[u] = sum(r[u], product(Z[l][i], R[j][l]));
    }
  }
  __syncthreads();
#pragma unroll
  for (int u = 0; u < parts; ++u) {
    const int e = t + u * small_threads, i = e % W, j = e / W;
    P[j][i] = p[u];
    R[j][i] = r[u];
    X[j][i] = i == j ? sum(from_parts<E>(1), negative(Z[j][i])) : negative(Z[j][i]);  // R2^-1
  }
  __syncthreads();
  // P = L U of I - Q_top S, column by column; the columns to the right wait for their signs
  for (int j = 0; j < w; ++j) {
    const E pivot = P[j][j];
    const Real s = -copysign(Real(1), re(pivot));
    const E u_jj = sum(from_parts<E>(1), scaled(pivot, -s)), inverse = inverse_of(u_jj);
    __syncthreads();
    if (t < w) P[j][t] = t < j ? scaled(P[j][t], -s) : t == j ? u_jj : product(scaled(P[j][t], -s), inverse);
    if (t == 0) sign[j] = s;
    __syncthreads();
    for (int e = t; e < (w - j - 1) * W; e += small_threads) {
      const int k = j + 1 + e / W, i = e % W;
      if (i > j && i < w) P[k][i] = minus_product(P[k][i], P[j][i], P[k][j]);
    }
    __syncthreads();
  }
  // T = U L^-H in Z, and B = -R2^-1 S U^-1 in X: column k of both, then the columns after it
  for (int e = t; e < W * W; e += small_threads) {
    const int i = e % W, j = e / W;
    Z[j][i] = i <= j && j < w ? P[j][i] : E{};
    X[j][i] = scaled(X[j][i], j < w ? -sign[j] : Real(0));
  }
  __syncthreads();
  for (int k = 0; k < w; ++k) {
    const E inverse = inverse_of(P[k][k]);
    if (t < W) X[k][t] = product(X[k][t], inverse);
    __syncthreads();
    for (int e = t; e < (w - k - 1) * W; e += small_threads) {
      const int j = k + 1 + e / W, i = e % W;
      X[j][i] = minus_product(X[j][i], X[k][i], P[j][k]);
      if (i <= k) Z[j][i] = minus_product(Z[j][i], Z[k][i], conjugate(P[k][j]));
    }
    __syncthreads();
  }
  for (int e = t; e < W * W; e += small_threads) {
    const int i = e % W, j = e / W;
    work->B[j][i] = X[j][i];
    if (i >= w || j >= w) continue;
    panel.A(i, j) = i > j ? P[j][i] : i == j ? from_parts<E>(re(R[j][i]) * sign[i]) : scaled(R[j][i], sign[i]);
    panel.V(i, j) = i > j ? P[j][i] : from_parts<E>(i == j ? 1 : 0);
    panel.T(i, j) = i <= j ? Z[j][i] : E{};
    if (i == j) panel.tau[i] = Z[i][i];
  }
}

// A = V = V B below the first w rows, a row per thread.
template <class E>
__global__ void __launch_bounds__(threads) apply_kernel(Panel<E> panel, const Work<E>* work) {
  constexpr int W = width<E>, together = 4;
  __shared__ alignas(16) E B[W][W];  // [l][j] = B(l, j)
  if (work->good == 0) return;
  for (int e = threadIdx.x; e < W * W; e += threads) B[e % W][e / W] = work->B[e / W][e % W];
  __syncthreads();
  const int w = static_cast<int>(panel.A.cols);
  const std::int64_t step = std::int64_t(gridDim.x) * threads, begin = std::int64_t(blockIdx.x) * threads + threadIdx.x;
  for (std::int64_t i = w + begin; i < panel.A.rows; i += step) {
    E x[W];
#pragma unroll
    for (int l = 0; l < W; ++l) x[l] = l < w ? panel.V(i, l) : E{};
#pragma unroll 1
    for (int j = 0; j < w; j += together) {
      E v[together] = {};
#pragma unroll
      for (int l = 0; l < W; ++l) {
#pragma unroll
        for (int u = 0; u < together; ++u) v[u] = sum(v[u], product(x[l], B[l][j + u]));
      }
#pragma unroll
      for (int u = 0; u < together; ++u)
        if (j + u < w) panel.A(i, j + u) = panel.V(i, j + u) = v[u];
    }
  }
  for (std::int64_t e = begin; e < panel.above * w; e += step)
    panel.V(e % panel.above - panel.above, e / panel.above) = E{};
}

// ---- column by column, in device memory ----

/// The sums over all threads: totals[v] of column lane + 32 v, in every thread.
template <class E, int W>
__device__ void add_grid(E (&x)[W], E (&totals)[W / warp_size], SharedMemory<E, W>& memory, const Grid<E>& grid,
                         int& step) {
  constexpr int per_lane = W / warp_size;
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, warps = blockDim.x / warp_size;
  const int now = step++ & 1, blocks = gridDim.x;
  add_lanes<warp_size / 2, W>(x, lane);  // lane l has the columns per_lane l ...
#pragma unroll
  for (int v = 0; v < per_lane; ++v) memory.parts[now][warp][lane * per_lane + v] = x[v];
  __syncthreads();
  E* sums = grid.sums + std::int64_t(now) * blocks * W;
  for (int k = threadIdx.x; k < W; k += blockDim.x) {
    E total{};
    for (int other = 0; other < warps; ++other) total = sum(total, memory.parts[now][other][k]);
    sums[std::int64_t(blockIdx.x) * W + k] = total;
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    count_arrival(grid.count);
    await_arrivals(grid.count, static_cast<unsigned>(step) * blocks);
  }
  __syncthreads();
#pragma unroll
  for (int v = 0; v < per_lane; ++v) {
    E part{};
    for (int c = warp; c < blocks; c += warps)
      part = sum(part, load_past_l1(&sums[std::int64_t(c) * W + lane + warp_size * v]));
    memory.parts[now][warp][lane + warp_size * v] = part;
  }
  __syncthreads();
#pragma unroll
  for (int v = 0; v < per_lane; ++v) {
    totals[v] = E{};
    for (int other = 0; other < warps; ++other)
      totals[v] = sum(totals[v], memory.parts[now][other][lane + warp_size * v]);
  }
}

// The same steps as in qr_panel_native_kernel, with the panel in device memory. All blocks together (cooperative).
template <class E>
__global__ void __launch_bounds__(threads, 1) column_kernel(Panel<E> panel, Grid<E> grid, const int* done) {
  using Real = real_e<E>;
  using Limits = Range2<Real>;
  constexpr int W = width<E>, per_lane = W / warp_size;
  if (*done != 0) return;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto& memory = *reinterpret_cast<SharedMemory<E, W>*>(shared_bytes);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const int w = static_cast<int>(panel.A.cols);
  const std::int64_t m = panel.A.rows, stride = std::int64_t(gridDim.x) * threads;
  const std::int64_t first = std::int64_t(blockIdx.x) * threads + threadIdx.x;
  const bool recorder = blockIdx.x == 0 && warp == 0;
  E* factors = &memory.factors[0][0];
  int step = 0;
  E totals[per_lane];

  // the exponents of the columns, and the columns without them
  int exponent[per_lane] = {};
  bool known[per_lane];
#pragma unroll
  for (int v = 0; v < per_lane; ++v) known[v] = lane + warp_size * v >= w;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const Real factor = attempt == 0 ? Real(1) : attempt == 1 ? Limits::boost : Limits::shrink;
    const int made = attempt == 0 ? 0 : attempt == 1 ? Limits::boost_exponent : -Limits::boost_exponent;
    E squares[W] = {};
    for (std::int64_t i = first; i < m; i += stride) {
#pragma unroll
      for (int k = 0; k < W; ++k)
        if (k < w) squares[k] = sum(squares[k], from_parts<E>(square(scaled(panel.A(i, k), factor))));
    }
    add_grid<E, W>(squares, totals, memory, grid, step);
    bool all_known = true;
#pragma unroll
    for (int v = 0; v < per_lane; ++v) {
      if (!known[v]) known[v] = find_exponent(re(totals[v]), attempt, made, exponent[v]);
      all_known = all_known && known[v];
    }
    if (__all_sync(all_lanes, all_known)) break;
  }
#pragma unroll
  for (int v = 0; v < per_lane; ++v) {
    if (!__any_sync(all_lanes, exponent[v] != 0)) continue;
    for (int k = warp_size * v; k < min(w, warp_size * (v + 1)); ++k) {
      const int e = __shfl_sync(all_lanes, exponent[v], k % warp_size);
      if (e != 0)
        for (std::int64_t i = first; i < m; i += stride) panel.A(i, k) = times_power(panel.A(i, k), -e);
    }
  }

  E own_scale[per_lane] = {};
  for (int j = 0; j < w; ++j) {
    bool boosted = false;
    Real rest;
    for (;;) {
      E products[W] = {};
      for (std::int64_t i = first; i < m; i += stride) {
        if (i < j) continue;
        const bool update = !boosted && j > 0;  // by step j - 1
        E x_before{}, x = panel.A(i, j);
        if (update) {
          x_before = panel.A(i, j - 1);
          x = minus_product(x, x_before, factors[j]);
        }
        if (boosted && i > j) x = scaled(x, Limits::boost);
        panel.A(i, j) = x;
        if (i == j) x = E{};
#pragma unroll
        for (int k = 0; k < W; ++k) {
          if (k >= w) continue;
          E a = panel.A(i, k);
          if (update && k > j) panel.A(i, k) = a = minus_product(a, x_before, factors[k]);
          if (i == j) grid.row[(step & 1) * W + k] = a;
          products[k] = plus_conjugate_product(products[k], x, a);
        }
        if (i == j) __threadfence();
      }
      const int now = step & 1;
      add_grid<E, W>(products, totals, memory, grid, step);
      for (int k = threadIdx.x; k < w; k += blockDim.x) memory.row[0][k] = load_past_l1(&grid.row[now * W + k]);
      __syncthreads();
      E total_j = totals[0];
      if constexpr (per_lane > 1)
        if (j >= warp_size) total_j = totals[1];
      rest = __shfl_sync(all_lanes, re(total_j), j % warp_size);
      if (boosted || !(rest < Limits::tiny)) break;
      boosted = true;
      __syncthreads();
    }
    E scale, tau;
    Real beta, back = 1;
    make_reflector(memory.row[0][j], rest, boosted, scale, tau, beta, back);
    E row[per_lane];
#pragma unroll
    for (int v = 0; v < per_lane; ++v) row[v] = lane + warp_size * v < w ? memory.row[0][lane + warp_size * v] : E{};
    __syncthreads();  // nobody needs the row, nor the factors of the step before
#pragma unroll
    for (int v = 0; v < per_lane; ++v) {
      const int k = lane + warp_size * v;
      if (k > j && k < w) {
        const E c = product(conjugate(tau), sum(row[v], product(conjugate(scale), totals[v])));
        if (warp == 0) factors[k] = product(c, scale);
        if (recorder) panel.A(j, k) = times_power(sum(row[v], negative(c)), exponent[v]);
      } else if (k == j) {
        own_scale[v] = scale;
        if (warp == 0) memory.scale[j] = scale;
        if (recorder) {
          panel.A(j, j) = times_power(from_parts<E>(beta * back), exponent[v]);
          panel.tau[j] = memory.tau[j] = tau;
        }
      } else if (k < j && recorder) {
        memory.gram[j][k] =
            product(conjugate(own_scale[v]), sum(conjugate(row[v]), product(scale, conjugate(totals[v]))));
      }
    }
    __syncthreads();
  }

  for (std::int64_t i = first; i < m; i += stride)
    for (int k = 0; k < w; ++k) {
      const E v = i > k ? product(panel.A(i, k), memory.scale[k]) : from_parts<E>(i == k ? 1 : 0);
      if (i > k) panel.A(i, k) = v;
      panel.V(i, k) = v;
    }
  for (std::int64_t e = first; e < panel.above * w; e += stride)
    panel.V(e % panel.above - panel.above, e / panel.above) = E{};
  if (blockIdx.x == 0) {
    make_triangle<E, W>(memory, w);
    for (int e = threadIdx.x; e < w * w; e += blockDim.x)
      panel.T(e % w, e / w) = e % w <= e / w ? memory.T[e / w][e % w] : E{};
  }
}

}  // namespace tall
}  // namespace qr_panel

template <class T>
void qr_panel_tall(View<T> A, View<T> tau, View<T> V, View<T> Tri, Queue& q, bool by_columns) {
  using namespace qr_panel;
  using E = device_t<T>;
  constexpr int W = tall::width<E>;
  if (A.empty()) return;
  require(A.cols <= W && A.cols <= A.rows, "qr_panel_tall: the panel is ", A.rows, " x ", A.cols);
  DeviceScope scope(q.device());
  const std::int64_t m = A.rows, w = A.cols;
  const cudaStream_t stream = stream_of(q);
  const int processors = multiprocessors(q.device());
  // scratch: a line for the counter, the sums of the blocks and a row, then the kernels' common work
  constexpr std::size_t line = 256, half = qr_panel_scratch_bytes / 2;
  static_assert(sizeof(tall::Work<E>) <= half);
  const std::size_t sums = 2 * std::size_t(processors) * W;
  require(line + (sums + 2 * W) * sizeof(E) <= half, "qr_panel_tall: ", processors, " multiprocessors");
  char* memory = static_cast<char*>(q.scratch(qr_panel_scratch_bytes));
  Grid<E> grid;
  grid.count = reinterpret_cast<unsigned*>(memory);
  grid.sums = reinterpret_cast<E*>(memory + line);
  grid.row = grid.sums + sums;
  auto* work = reinterpret_cast<tall::Work<E>*>(memory + half);
  check(cudaMemsetAsync(grid.count, 0, sizeof(unsigned), stream), "qr_panel_tall");
  check(cudaMemsetAsync(&work->good, 0, sizeof(int), stream), "qr_panel_tall");

  Panel<E> panel{block_of(A), block_of(V), V.rows - m, block_of(Tri), vector_of(tau)};
  panel.V.data += panel.above;
  const View<T> Q1 = V({V.rows - m, V.rows}, {0, w});
  auto small = [&](E(&matrix)[W][W]) { return View<T>(reinterpret_cast<T*>(&matrix[0][0]), w, w, W); };
  constexpr int start_bytes = 2 * W * (W + 1) * sizeof(E), finish_bytes = 4 * W * (W + 1) * sizeof(E);
  // not on GPUs with less shared memory, nor for a square, whose last tau is 0 in LAPACK
  bool by_products = !by_columns && m > w;
  if (by_products && cudaFuncSetAttribute(tall::finish_kernel<E>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          finish_bytes) != cudaSuccess) {
    cudaGetLastError();
    by_products = false;
  }
  if (by_products) {
    gemm(adjoint<T>, Op::NoTrans, T(1), A, A, T(0), small(work->gram), q);
    check(cudaFuncSetAttribute(tall::start_kernel<E>, cudaFuncAttributeMaxDynamicSharedMemorySize, start_bytes),
          "qr_panel_tall");
    tall::start_kernel<E><<<1, tall::small_threads, start_bytes, stream>>>(work, static_cast<int>(w));
    q.launched("qr_panel_tall");
    gemm(Op::NoTrans, Op::NoTrans, T(1), A, small(work->R1_inverse), T(0), Q1, q);
    gemm(adjoint<T>, Op::NoTrans, T(1), Q1, Q1, T(0), small(work->gram), q);
    tall::finish_kernel<E><<<1, tall::small_threads, finish_bytes, stream>>>(panel, work);
    q.launched("qr_panel_tall");
    const std::int64_t blocks = std::min<std::int64_t>(ceil_div(m, tall::threads), 8 * processors);
    tall::apply_kernel<E><<<static_cast<unsigned>(blocks), tall::threads, 0, stream>>>(panel, work);
    q.launched("qr_panel_tall");
  }

  constexpr int bytes = sizeof(SharedMemory<E, W>);
  check(cudaFuncSetAttribute(tall::column_kernel<E>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "qr_panel_tall");
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  // Few blocks, if the panel is not very tall: they must find room beside the update.
  config.gridDim = dim3(static_cast<unsigned>(std::min<std::int64_t>(ceil_div(m, 2 * tall::threads), processors)));
  config.blockDim = dim3(tall::threads);
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, tall::column_kernel<E>, panel, grid, static_cast<const int*>(&work->good)),
        "qr_panel_tall");
  q.launched("qr_panel_tall");
}

}  // namespace devobj::cuda
