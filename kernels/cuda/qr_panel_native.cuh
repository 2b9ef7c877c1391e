// qr_panel_native: Householder QR of a narrow panel, held in the registers of one cluster of blocks.
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

#include <algorithm>
#include <cstddef>
#include <limits>

#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/qr_panel_exchange.cuh"
#include "kernels/cuda/qr_panel_products.cuh"
#include "kernels/cuda/qr_panel_reflector.cuh"
#include "kernels/cuda/qr_panel_triangle.cuh"
#include "kernels/qr_panel_native.hpp"

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

/// Their shared memory.
template <class E, int G>
constexpr std::size_t products_bytes = std::max(sizeof(products::Memory<E, slots * G>),
                                                sizeof(SharedMemory<E, slots * G>));

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

// ---- launch ----

/// Blocks of a cluster that the device can run, with all their shared memory: 16, 8, ..., 1 without clusters, 0 if
/// none; and of one that may work by products, which needs more.
struct Possible {
  int blocks = 0, by_products = 0;
};
template <class E, int G>
Possible find_possible() {
  const auto kernel = qr_panel_native_kernel<E, G, false>;
  constexpr int bytes = sizeof(SharedMemory<E, Geometry<E, G>::W>), threads = most_warps * warp_size;
  Possible possible;
  possible.blocks = largest_cluster(kernel, threads, bytes);
  if constexpr (has_products<E, G>)
    if (possible.blocks > 0) possible.by_products = largest_cluster(kernel, threads, products_bytes<E, G>);
  if (possible.by_products > 0) return possible;
  // no clusters, or more shared memory than this GPU has
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) == cudaSuccess)
    possible.blocks = std::max(possible.blocks, 1);
  cudaGetLastError();
  return possible;
}
template <class E, int G>
Possible blocks_possible(int device) {
  static Possible known[64] = {};
  if (device < 0 || device >= 64) return find_possible<E, G>();
  if (known[device].blocks == 0) known[device] = find_possible<E, G>();
  return known[device];
}

inline int multiprocessors(int device) {
  int count = 0;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "qr_panel_native");
  return count;
}
/// Rows that the widest cluster holds, and all blocks of a cooperative launch together.
template <class E, int G>
std::int64_t rows_of_cluster(int device) {
  return std::int64_t(blocks_possible<E, G>(device).blocks) * most_warps * Geometry<E, G>::rows_of_warp;
}
template <class E, int G>
std::int64_t rows_of_grid(int device) {
  return std::int64_t(multiprocessors(device)) * most_warps * Geometry<E, G>::rows_of_warp;
}

template <class E, int G, bool cooperative>
void launch_kernel(const Panel<E>& panel, int warps, int blocks, bool by_products, Queue& q) {
  constexpr int W = Geometry<E, G>::W;
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(warps * warp_size);
  config.dynamicSmemBytes = by_products ? products_bytes<E, G> : sizeof(SharedMemory<E, W>);
  config.stream = stream_of(q);
  config.attrs = &attribute;
  config.numAttrs = blocks > 1 ? 1 : 0;
  Grid<E> grid = {};
  if constexpr (cooperative) {
    // a line for the counter, the sums, the row
    constexpr std::size_t line = 256;
    const std::size_t sums = 2 * std::size_t(blocks) * W;
    require(line + (sums + 2 * W) * sizeof(E) <= qr_panel_scratch_bytes, "qr_panel_native: ", blocks, " blocks");
    char* memory = static_cast<char*>(q.scratch(qr_panel_scratch_bytes));
    grid.count = reinterpret_cast<unsigned*>(memory);
    grid.sums = reinterpret_cast<E*>(memory + line);
    grid.row = grid.sums + sums;
    check(cudaMemsetAsync(grid.count, 0, sizeof(unsigned), config.stream), "qr_panel_native");
    check(cudaFuncSetAttribute(qr_panel_native_kernel<E, G, true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(config.dynamicSmemBytes)),
          "qr_panel_native");
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
  } else {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = blocks;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  }
  check(cudaLaunchKernelEx(&config, qr_panel_native_kernel<E, G, cooperative>, panel, grid, by_products),
        "qr_panel_native");
  q.launched("qr_panel_native");
}

template <class E, int G>
void launch(const Panel<E>& panel, Queue& q, QrPanelSpread spread) {
  using Shape = Geometry<E, G>;
  const std::int64_t m = panel.A.rows;
  const auto [possible, possible_by_products] = blocks_possible<E, G>(q.device());
  // Block 0 holds the panel's first W rows.
  const int least_warps = static_cast<int>(ceil_div(Shape::W, Shape::rows_of_warp));
  int warps = spread.warps, blocks = spread.blocks;
  // the fewer rows a block has, the sooner it is done; a panel that is nearly square is rarely well-conditioned
  constexpr std::int64_t rows_by_products = 128;
  const bool by_products = !spread.by_columns && warps == 0 && blocks == 0 && m >= 2 * panel.A.cols &&
                           m <= std::int64_t(possible_by_products) * most_warps * Shape::rows_of_warp;
  if (by_products) {
    warps = most_warps;
    blocks = static_cast<int>(std::clamp<std::int64_t>(ceil_div(m, rows_by_products),
                                                       ceil_div(m, warps * Shape::rows_of_warp), possible_by_products));
  }
  if (warps == 0) {
    warps = std::max(4, least_warps);
    if (m <= warps * Shape::rows_of_warp)
      warps = std::max(least_warps, static_cast<int>(ceil_div(m, Shape::rows_of_warp)));
    else if (m > std::int64_t(possible) * warps * Shape::rows_of_warp)
      warps = most_warps;
  }
  if (blocks == 0) blocks = static_cast<int>(ceil_div(m, warps * Shape::rows_of_warp));
  constexpr bool may_cooperate = G <= 4;
  require(m <= std::int64_t(blocks) * warps * Shape::rows_of_warp && warps <= most_warps && warps >= least_warps &&
              (blocks == 1 || warps >= cluster_warps) &&
              blocks <= (may_cooperate ? std::max(possible, multiprocessors(q.device())) : possible),
          "qr_panel_native: ", m, " rows in ", blocks, " blocks of ", warps, " warps");
  if constexpr (may_cooperate)
    if (blocks > possible) return launch_kernel<E, G, true>(panel, warps, blocks, false, q);
  launch_kernel<E, G, false>(panel, warps, blocks, by_products, q);
}

}  // namespace qr_panel

template <class T>
std::int64_t qr_panel_width(std::int64_t m, const Queue& q) {
  using E = device_t<T>;
  using namespace qr_panel;
  DeviceScope scope(q.device());
  const int device = q.device();
  // by products a strip of 32 complex columns is as much work as one of 64 real ones
  const bool narrow = is_complex<T> && blocks_possible<E, 4>(device).by_products > 0;
  if (!narrow && m <= rows_of_cluster<E, 8>(device)) return 64;
  if (m <= rows_of_cluster<E, 4>(device)) return 32;
  if (m <= rows_of_cluster<E, 2>(device)) return 16;
  if (m <= rows_of_cluster<E, 1>(device)) return 8;
  // the wider the fewer exchanges, the narrower the fewer multiprocessors are taken from the updates
  if (m <= rows_of_grid<E, 4>(device) / 4) return 32;
  if (m <= rows_of_grid<E, 2>(device) / 2) return 16;
  if (m <= rows_of_grid<E, 1>(device)) return 8;
  return 0;
}

template <class T>
void qr_panel_native(View<T> A, View<T> tau, View<T> V, View<T> Tri, Queue& q, QrPanelSpread spread) {
  using E = device_t<T>;
  if (A.empty()) return;
  DeviceScope scope(q.device());
  qr_panel::Panel<E> panel{block_of(A), block_of(V), V.rows - A.rows, block_of(Tri), vector_of(tau)};
  panel.V.data += panel.above;
  int groups = spread.groups;
  for (int g = 1; groups == 0 && g <= 8; g *= 2)
    if (A.cols <= 8 * g) groups = g;
  require(A.cols <= 8 * groups && A.cols <= A.rows, "qr_panel_native: the panel is ", A.rows, " x ", A.cols);
  switch (groups) {
    case 1:
      return qr_panel::launch<E, 1>(panel, q, spread);
    case 2:
      return qr_panel::launch<E, 2>(panel, q, spread);
    case 4:
      return qr_panel::launch<E, 4>(panel, q, spread);
    default:
      return qr_panel::launch<E, 8>(panel, q, spread);
  }
}

template <class T>
void qr_panel_native(View<T> A, View<T> tau, View<T> V, View<T> Tri, Queue& q) {
  qr_panel_native(A, tau, V, Tri, q, QrPanelSpread{});
}

#define DEVOBJ_INSTANTIATE_QR_PANEL(T)                                          \
  template std::int64_t qr_panel_width<T>(std::int64_t, const Queue&);          \
  template void qr_panel_native<T>(View<T>, View<T>, View<T>, View<T>, Queue&); \
  template void qr_panel_native<T>(View<T>, View<T>, View<T>, View<T>, Queue&, QrPanelSpread);

}  // namespace devobj::cuda
