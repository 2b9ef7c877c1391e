// qr_panel_tall column by column, in device memory: for panels that Cholesky-QR must not be used for.
#pragma once

#include "kernels/cuda/qr_panel_tall_square.cuh"

namespace devobj::cuda::qr_panel::tall {

constexpr int column_threads = 256;

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
__global__ void __launch_bounds__(column_threads, 1) column_kernel(Panel<E> panel, Grid<E> grid, const int* done) {
  using Real = real_e<E>;
  using Limits = Range2<Real>;
  constexpr int W = width<E>, per_lane = W / warp_size;
  if (*done != 0) return;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto& memory = *reinterpret_cast<SharedMemory<E, W>*>(shared_bytes);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const int w = static_cast<int>(panel.A.cols);
  const std::int64_t m = panel.A.rows, stride = std::int64_t(gridDim.x) * column_threads;
  const std::int64_t first = std::int64_t(blockIdx.x) * column_threads + threadIdx.x;
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
        // first all loads of some columns: behind a store they would wait for it
        constexpr int together = 16;
#pragma unroll
        for (int k0 = 0; k0 < W; k0 += together) {
          E a[together];
#pragma unroll
          for (int u = 0; u < together; ++u) a[u] = k0 + u < w ? panel.A(i, k0 + u) : E{};
#pragma unroll
          for (int u = 0; u < together; ++u) {
            const int k = k0 + u;
            if (k >= w) continue;
            if (update && k > j) panel.A(i, k) = a[u] = minus_product(a[u], x_before, factors[k]);
            if (i == j) grid.row[(step & 1) * W + k] = a[u];
            products[k] = plus_conjugate_product(products[k], x, a[u]);
          }
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

}  // namespace devobj::cuda::qr_panel::tall
