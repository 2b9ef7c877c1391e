// qr_panel_native: Householder QR of a narrow panel on one cluster of blocks: by products (qr_panel_strip.cuh) if it is
// well-conditioned, otherwise column by column, held in the cluster's registers:
//
// The panel has w <= W = 8 G columns. A warp's lanes are G groups of NP = 32 / G; lane (g, p) holds rows p, p + NP, ...
// (R of them) of the columns g, g + G, ..., g + 7 G (its eight slots):
//
//             column 0 ... G-1 | G ... 2G-1 | ...          rows: block, then warp, then r, then p
//   row p     group 0 ... G-1  | 0 ... G-1  |              columns: slot, then group
//             \__ slot 0 ____/  \_ slot 1 _/
//
// One step per column j, with x = A(j+1:m, j), alpha = A(j, j):
//   1  sums s_k = x^H A(j+1:m, k) for all columns k: in the thread, over the lanes p, over the warps, then each block
//      sends its 8 G sums to all blocks (st.async), block 0 also row j. This is the only exchange: every block
//      adds the sums in the same order.
//   2  for k > j    beta = -sign(alpha) sqrt(|alpha|^2 + s_j), tau = (beta - alpha) / beta,
//                   v = (1, x / (alpha - beta)),
//                   v^H a_k = A(j, k) + conj(1 / (alpha - beta)) s_k, A(:, k) -= conj(tau) v (v^H a_k)
//      for k < j    s_k is an element of V^H V, from which block 0 makes T at the end.
// A panel too tall for a cluster, or on a GPU without clusters, is spread over more blocks of a cooperative launch,
// which exchange their sums through device memory. Columns whose squares could overflow or underflow are scaled by
// powers of two beforehand, and a column of which next to nothing is left (s_j tiny) is multiplied by 2^big and its
// sums are taken again.
#pragma once

#include "kernels/cuda/qr_panel_exchange.cuh"
#include "kernels/cuda/qr_panel_reflector.cuh"
#include "kernels/cuda/qr_panel_strip.cuh"
#include "kernels/cuda/qr_panel_triangle.cuh"

namespace devobj::cuda {
namespace qr_panel {

/// The exponent by which a column is to be divided, from its square t, for which it had been multiplied by 2^made:
/// nothing in attempt 0, boosted in attempt 1, shrunk in attempt 2. False if t does not tell.
template <class Real>
__device__ bool find_exponent(Real t, int attempt, int made, int& exponent) {
  using Limits = Range2<Real>;
  if (attempt == 0 && t >= Limits::good_low && t <= Limits::good_high) return true;
  if (attempt == 1 && t == 0) return true;
  const bool smallest = attempt == 1 && t > 0 && t < Limits::sure_low;
  if (!smallest && !(t >= Limits::sure_low && t <= Limits::sure_high)) return false;
  exponent = ilogb(t) / 2 - made;
  return true;
}

/// The exponents by which the columns lane + 32 v are to be divided; true if there is one. The columns are as they are.
template <class E, int G, bool cooperative>
__device__ __forceinline__ bool column_exponents(const E (&a)[Geometry<E, G>::R][slots],
                                                 Exchange<E, G, cooperative>& exchange,
                                                 int (&exponent)[Geometry<E, G>::per_lane]) {
  using Shape = Geometry<E, G>;
  using Real = real_e<E>;
  using Limits = Range2<Real>;
  bool known[Shape::per_lane] = {};
#pragma unroll
  for (int v = 0; v < Shape::per_lane; ++v) exponent[v] = 0;
#pragma unroll 1
  for (int attempt = 0; attempt < 3; ++attempt) {
    const Real factor = attempt == 0 ? Real(1) : attempt == 1 ? Limits::boost : Limits::shrink;
    const int made = attempt == 0 ? 0 : attempt == 1 ? Limits::boost_exponent : -Limits::boost_exponent;
    E squares[slots], totals[Shape::per_lane];
#pragma unroll
    for (int s = 0; s < slots; ++s) {
      Real sum_of_squares = 0;
#pragma unroll
      for (int r = 0; r < Shape::R; ++r) sum_of_squares += square(scaled(a[r][s], factor));
      squares[s] = from_parts<E>(sum_of_squares);
    }
    exchange(squares, totals, [] {});
    bool all_known = true;
#pragma unroll
    for (int v = 0; v < Shape::per_lane; ++v) {
      if (exchange.lane + warp_size * v >= Shape::W) known[v] = true;
      if (!known[v]) known[v] = find_exponent(re(totals[v]), attempt, made, exponent[v]);
      all_known = all_known && known[v];
    }
    if (__all_sync(all_lanes, all_known)) break;
  }
  bool any = false;
#pragma unroll
  for (int v = 0; v < Shape::per_lane; ++v) any = any || exponent[v] != 0;
  return __any_sync(all_lanes, any);
}

/// Writes the thread's part of the row that is `distance` below its first one, if that is one of its rows begin ... end
/// - 1.
template <class E, int G, int begin, int end>
__device__ __forceinline__ void write_row(const E (&a)[Geometry<E, G>::R][slots], int distance, E* row) {
  constexpr int NP = Geometry<E, G>::NP, middle = (begin + end) / 2;
  if constexpr (end - begin == 1) {
    if (distance == begin * NP) {
#pragma unroll
      for (int t = 0; t < slots; ++t) row[t * G] = a[begin][t];
    }
  } else {
    int here = distance;
    asm("" : "+r"(here));  // a compiler that saw through it would merge the cases, and index `a` in local memory
    if (here < middle * NP)
      write_row<E, G, begin, middle>(a, here, row);
    else
      write_row<E, G, middle, end>(a, here, row);
  }
}

/// x = the thread's part of slot s.
template <class E, int G, int begin, int end>
__device__ __forceinline__ void read_slot(const E (&a)[Geometry<E, G>::R][slots], int s, E (&x)[Geometry<E, G>::R]) {
  constexpr int middle = (begin + end) / 2;
  if constexpr (end - begin == 1) {
#pragma unroll
    for (int r = 0; r < Geometry<E, G>::R; ++r) x[r] = a[r][begin];
  } else {
    asm("" : "+r"(s));  // as above
    if (s < middle)
      read_slot<E, G, begin, middle>(a, s, x);
    else
      read_slot<E, G, middle, end>(a, s, x);
  }
}

/// Eliminates all columns. Column j of `a` ends as x, to be multiplied by memory.scale[j]; R and tau go to the panel.
template <class E, int G, bool cooperative>
__device__ __forceinline__ void eliminate(E (&a)[Geometry<E, G>::R][slots], const Panel<E>& panel,
                                          Exchange<E, G, cooperative>& exchange,
                                          const int (&exponent)[Geometry<E, G>::per_lane], bool scaled_columns,
                                          int first_row) {
  using Shape = Geometry<E, G>;
  using Real = real_e<E>;
  using Limits = Range2<Real>;
  constexpr int R = Shape::R, NP = Shape::NP, per_lane = Shape::per_lane;
  auto& memory = exchange.memory;
  const int lane = exchange.lane, warp = exchange.warp, group = lane / NP, p = lane % NP;
  const bool recorder = exchange.rank == 0 && warp == exchange.warps - 1;  // writes R, tau and V^H V
  const int w = static_cast<int>(panel.A.cols);
  E own_scale[per_lane] = {};  // of the columns lane + 32 v
  // of column `made`, at lane + 32 v: to the left V^H V, then R; and tau
  int made = -1;
  E of_made[per_lane], tau_made;
  const auto record = [&] {
    if (!recorder || made < 0) return;
#pragma unroll
    for (int v = 0; v < per_lane; ++v) {
      const int k = lane + warp_size * v;
      if (k < made)
        memory.gram[made][k] = of_made[v];
      else if (k < w)
        panel.A(made, k) = scaled_columns ? times_power(of_made[v], exponent[v]) : of_made[v];
      if (k == made) panel.tau[made] = memory.tau[made] = tau_made;
    }
    made = -1;
  };

#pragma unroll 1
  for (int j = 0; j < w; ++j) {
    // x = A(j+1:m, j), to all groups
    E x[R];
    read_slot<E, G, 0, slots>(a, j / G, x);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if constexpr (G > 1) x[r] = shuffle(x[r], j % G * NP + p);
      if (first_row + r * NP <= j) x[r] = E{};
    }
    bool boosted = false;
    E totals[per_lane], alpha;
    const E* row;
    Real rest;
#pragma unroll 1
    for (;;) {
      // row j, by its owner
      if (exchange.rank == 0 && warp == j / Shape::rows_of_warp)
        write_row<E, G, 0, R>(a, j - first_row, &memory.own_row[exchange.step & 1][group]);
      E products[slots];
#pragma unroll
      for (int t = 0; t < slots; ++t) products[t] = E{};
#pragma unroll
      for (int r = 0; r < R; ++r) {
#pragma unroll
        for (int t = 0; t < slots; ++t) products[t] = plus_conjugate_product(products[t], x[r], a[r][t]);
      }
      row = exchange(products, totals, record);
      E total_j = totals[0];
      if constexpr (per_lane > 1)
        if (j >= warp_size) total_j = totals[1];
      rest = __shfl_sync(all_lanes, re(total_j), j % warp_size);
      alpha = row[j];
      if (boosted || !(rest < Limits::tiny)) break;
      boosted = true;
#pragma unroll
      for (int r = 0; r < R; ++r) x[r] = scaled(x[r], Limits::boost);
#pragma unroll
      for (int t = 0; t < slots; ++t) {
        int k = t * G + group;
        asm("" : "+r"(k));  // as above
        if (k == j) {
#pragma unroll
          for (int r = 0; r < R; ++r)
            if (first_row + r * NP > j) a[r][t] = x[r];
        }
      }
    }

    E scale, tau;
    Real beta, back = 1;
    make_reflector(alpha, rest, boosted, scale, tau, beta, back);

    // for k > j: c = conj(tau) v^H a_k, A(j, k) -= c, A(j+1:m, k) -= x (c scale)
    const E adjoint_tau = conjugate(tau), adjoint_scale = conjugate(scale);
    made = j;
    tau_made = tau;
#pragma unroll
    for (int v = 0; v < per_lane; ++v) {
      const int k = lane + warp_size * v;
      if (k >= Shape::W) continue;
      const E dot = sum(row[k], product(adjoint_scale, totals[v])), c = product(adjoint_tau, dot);
      memory.factors[warp][k % G * slots + k / G] = product(c, scale);
      of_made[v] = choose(k > j, sum(row[k], negative(c)), conjugate(product(own_scale[v], dot)));
      if (k == j) {
        own_scale[v] = scale;
        of_made[v] = from_parts<E>(beta * back);
      }
    }
    if (warp == 0 && lane == 0) memory.scale[j] = scale;
    __syncwarp();
    E factors[slots];
#pragma unroll
    for (int t = 0; t < slots; ++t) factors[t] = memory.factors[warp][group * slots + t];
    __syncwarp();
#pragma unroll
    for (int t = 0; t < slots; ++t) {
      if (t * G + group > j) {
#pragma unroll
        for (int r = 0; r < R; ++r) a[r][t] = minus_product(a[r][t], x[r], factors[t]);
      }
    }
  }
  record();
}

/// Whether panels of up to 8 G columns may be factored by products: those of 32 or 64 columns of real numbers.
template <class E, int G>
constexpr bool has_products = products::Sizes<E, slots * G>::tiles == 4 || products::Sizes<E, slots * G>::tiles == 8;

/// Zeros above the panel's part of V.
template <class E>
__device__ void clear_above(const Panel<E>& panel) {
  for (std::int64_t e = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; e < panel.above * panel.A.cols;
       e += std::int64_t(gridDim.x) * blockDim.x)
    panel.V(e % panel.above - panel.above, e / panel.above) = E{};
}

// All blocks, of up to 8 warps, are one cluster or a cooperative launch. `by_products`: if the panel is well-conditioned; it
// takes 8 warps.
template <class E, int G, bool cooperative>
__global__ void __launch_bounds__(most_warps* warp_size, 1)
    qr_panel_native_kernel(Panel<E> panel, Grid<E> grid, bool by_products) {
  using Shape = Geometry<E, G>;
  constexpr int R = Shape::R, NP = Shape::NP, W = Shape::W, per_lane = Shape::per_lane;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto& memory = *reinterpret_cast<SharedMemory<E, W>*>(shared_bytes);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, warps = blockDim.x / warp_size;
  const int rank = blockIdx.x, blocks = gridDim.x, group = lane / NP, p = lane % NP;
  Exchange<E, G, cooperative> exchange{memory, lane, warp, warps, rank, blocks, grid};
  const bool in_cluster = blocks > 1 && !cooperative;

  clear_above(panel);
  if constexpr (has_products<E, G> && !cooperative)
    if (by_products) {
      products::Strip<E, W> strip{panel, rank, blocks};
      if (strip.factor()) return;
      __syncthreads();
    }

  for (int e = threadIdx.x; e < most_warps * W; e += blockDim.x)
    (&memory.parts[0][0][0])[e] = (&memory.parts[1][0][0])[e] = E{};
  for (int e = blocks * W + threadIdx.x; e < most_blocks * W; e += blockDim.x)
    (&memory.received[0][0][0])[e] = (&memory.received[1][0][0])[e] = E{};
  __syncthreads();
  if (in_cluster) {
    if (threadIdx.x < 2) open_mailbox(memory.mailbox[threadIdx.x]);
    __syncthreads();
    cluster_arrive();
  }
  // the panel, with zeros around it
  const int m = static_cast<int>(panel.A.rows), w = static_cast<int>(panel.A.cols);
  const int first_row = (rank * warps + warp) * Shape::rows_of_warp + p;
  E a[R][slots];
#pragma unroll
  for (int t = 0; t < slots; ++t) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int i = first_row + r * NP, k = t * G + group;
      a[r][t] = i < m && k < w ? panel.A(i, k) : E{};
    }
  }
  if (in_cluster) {
    cluster_wait();
    exchange.find_others();
  }

  int exponent[per_lane];
  const bool scaled_columns = column_exponents<E, G, cooperative>(a, exchange, exponent);
  if (scaled_columns) {
    int* exponents = reinterpret_cast<int*>(memory.factors[warp]);
#pragma unroll
    for (int v = 0; v < per_lane; ++v)
      if (lane + warp_size * v < W) exponents[lane + warp_size * v] = exponent[v];
    __syncwarp();
#pragma unroll
    for (int t = 0; t < slots; ++t) {
#pragma unroll
      for (int r = 0; r < R; ++r) a[r][t] = times_power(a[r][t], -exponents[t * G + group]);
    }
    __syncwarp();
  }

  eliminate<E, G, cooperative>(a, panel, exchange, exponent, scaled_columns, first_row);
  if (in_cluster) cluster_arrive();  // no block leaves while another may write into it

  // V below the diagonal to A, and with its ones and zeros to V
  __syncthreads();
#pragma unroll
  for (int t = 0; t < slots; ++t) {
    const E scale = t * G + group < w ? memory.scale[t * G + group] : E{};
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int i = first_row + r * NP, k = t * G + group;
      if (i >= m || k >= w) continue;
      const E v = product(a[r][t], scale);
      if (i > k) panel.A(i, k) = v;
      panel.V(i, k) = i > k ? v : from_parts<E>(i == k ? 1 : 0);
    }
  }

  if (rank == 0) {
    make_triangle<E, W>(memory, w);
    for (int e = threadIdx.x; e < w * w; e += blockDim.x) {
      const int i = e % w, j = e / w;
      panel.T(i, j) = i <= j ? memory.T[j][i] : E{};
    }
  }
  if (in_cluster) cluster_wait();
}

}  // namespace qr_panel
}  // namespace devobj::cuda
