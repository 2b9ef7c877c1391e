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
//   2  for k > j    beta = -sign(alpha) sqrt(|alpha|^2 + s_j), tau = (beta - alpha) / beta, v = (1, x / (alpha -
//   beta)),
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

#include "kernels/cuda/qr_cluster.cuh"
#include "kernels/cuda/grid.cuh"
#include "kernels/qr_panel_native.hpp"

namespace devobj::cuda {
namespace qr_panel {

constexpr int slots = 8;
constexpr int most_warps = 8;
constexpr int most_blocks = 16;
constexpr unsigned all_lanes = 0xffffffffu;

// ---- arithmetic ----
template <class E>
struct real_of {
  using type = E;
};
template <>
struct real_of<cuComplex> {
  using type = float;
};
template <>
struct real_of<cuDoubleComplex> {
  using type = double;
};
template <class E>
using real = typename real_of<E>::type;

// Rows of a thread: so many that a thread's part of the panel takes 128 registers.
template <class E>
constexpr int rows_of_thread = 64 / static_cast<int>(sizeof(E));

template <class Real>
__device__ Real re(Real a) {
  return a;
}
__device__ inline float re(cuComplex a) {
  return a.x;
}
__device__ inline double re(cuDoubleComplex a) {
  return a.x;
}
template <class Real>
__device__ Real im(Real) {
  return 0;
}
__device__ inline float im(cuComplex a) {
  return a.y;
}
__device__ inline double im(cuDoubleComplex a) {
  return a.y;
}

__device__ inline float fused(float a, float b, float c) {
  return fmaf(a, b, c);
}
__device__ inline double fused(double a, double b, double c) {
  return fma(a, b, c);
}
/// c + conj(a) b
template <class Real>
__device__ Real add_conjugate_product(Real c, Real a, Real b) {
  return fused(a, b, c);
}
__device__ inline cuComplex add_conjugate_product(cuComplex c, cuComplex a, cuComplex b) {
  return {fused(a.y, b.y, fused(a.x, b.x, c.x)), fused(-a.y, b.x, fused(a.x, b.y, c.y))};
}
__device__ inline cuDoubleComplex add_conjugate_product(cuDoubleComplex c, cuDoubleComplex a, cuDoubleComplex b) {
  return {fused(a.y, b.y, fused(a.x, b.x, c.x)), fused(-a.y, b.x, fused(a.x, b.y, c.y))};
}
/// c - a b
template <class Real>
__device__ Real subtract_product(Real c, Real a, Real b) {
  return fused(-a, b, c);
}
__device__ inline cuComplex subtract_product(cuComplex c, cuComplex a, cuComplex b) {
  return {fused(a.y, b.y, fused(-a.x, b.x, c.x)), fused(-a.y, b.x, fused(-a.x, b.y, c.y))};
}
__device__ inline cuDoubleComplex subtract_product(cuDoubleComplex c, cuDoubleComplex a, cuDoubleComplex b) {
  return {fused(a.y, b.y, fused(-a.x, b.x, c.x)), fused(-a.y, b.x, fused(-a.x, b.y, c.y))};
}
template <class Real>
__device__ Real times(Real a, Real factor) {
  return a * factor;
}
__device__ inline cuComplex times(cuComplex a, float factor) {
  return {a.x * factor, a.y * factor};
}
__device__ inline cuDoubleComplex times(cuDoubleComplex a, double factor) {
  return {a.x * factor, a.y * factor};
}
template <class E>
__device__ E from_real(real<E> a) {
  if constexpr (is_device_complex<E>)
    return {a, 0};
  else
    return a;
}
template <class E>
__device__ real<E> square(E a) {
  return fused(re(a), re(a), im(a) * im(a));
}
/// root = sqrt(a) and inverse = 1 / root to about the last bit, for a normal number; NaN for NaN, 0 and infinity.
__device__ inline float approximate_inverse_root(float a) {
  return rsqrtf(a);
}
__device__ inline double approximate_inverse_root(double a) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
  const double e = fma(-a * y, y, 1.0);  // 2^-20; y (1 + e / 2 + 3 e^2 / 8)
  return fma(fma(0.375, e, 0.5) * e, y, y);
}
template <class Real>
__device__ void take_root(Real a, Real& root, Real& inverse) {
  const Real y = approximate_inverse_root(a), half = y / 2, t = a * y;
  root = fused(half, fused(-t, t, a), t);
  inverse = fused(half, fused(-t, y, Real(1)), y);
}
/// 1 / a to about the last bit, for numbers whose inverse is a normal number; NaN for NaN, 0 and infinity.
__device__ inline float reciprocal(float a) {
  float y;
  asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(a));
  return fmaf(y, fmaf(-a, y, 1.0f), y);
}
__device__ inline double reciprocal(double a) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
  const double e = fma(-a, y, 1.0);  // 2^-20
  return fma(fma(e, e, e), y, y);
}

template <class E>
__device__ E shuffle_from(E x, int lane) {
  if constexpr (is_device_complex<E>)
    return {__shfl_sync(all_lanes, x.x, lane), __shfl_sync(all_lanes, x.y, lane)};
  else
    return __shfl_sync(all_lanes, x, lane);
}
template <class E>
__device__ E shuffle_across(E x, int distance) {
  if constexpr (is_device_complex<E>)
    return {__shfl_xor_sync(all_lanes, x.x, distance), __shfl_xor_sync(all_lanes, x.y, distance)};
  else
    return __shfl_xor_sync(all_lanes, x, distance);
}
template <class E>
__device__ E choose(bool first, E a, E b) {
  if constexpr (is_device_complex<E>)
    return {first ? a.x : b.x, first ? a.y : b.y};
  else
    return first ? a : b;
}

/// Powers of two, and the sizes of squares for which they are used.
template <class Real>
struct Range2;
template <>
struct Range2<double> {
  static constexpr int boost_exponent = 600;
  static constexpr double boost = 0x1p600, shrink = 0x1p-600;
  static constexpr double good_low = 0x1p-150, good_high = 0x1p150;  // a column's square: nothing to do
  static constexpr double sure_low = 0x1p-900, sure_high = 0x1p900;  // a square that is itself right
  static constexpr double tiny = 0x1p-900;                           // of what is left of a scaled column
  static constexpr double small_alpha = 0x1p-400;
};
template <>
struct Range2<float> {
  static constexpr int boost_exponent = 90;
  static constexpr float boost = 0x1p90f, shrink = 0x1p-90f;
  static constexpr float good_low = 0x1p-12f, good_high = 0x1p40f;
  static constexpr float sure_low = 0x1p-80f, sure_high = 0x1p120f;
  static constexpr float tiny = 0x1p-80f;
  static constexpr float small_alpha = 0x1p-36f;
};
/// a 2^e in two steps, so that no factor overflows
template <class E>
__device__ E scaled(E a, int e) {
  using Real = real<E>;
  const int half = e / 2;
  return times(times(a, static_cast<Real>(ldexp(Real(1), half))), static_cast<Real>(ldexp(Real(1), e - half)));
}

// ---- the reflector ----

/// The reflector of alpha and x below it, from rest = ||x||^2: x's multiple `scale` below a one is v. If x has been
/// boosted, so has rest, twice; scale is for x as it is, and `back` takes beta to the size of the column.
template <class E>
__device__ __forceinline__ void make_reflector(E alpha, real<E> rest, bool boosted, E& scale, E& tau, real<E>& beta,
                                               real<E>& back) {
  using Real = real<E>;
  using Limits = Range2<Real>;
  if (boosted && rest == 0 && im(alpha) == 0) {
    tau = E{};
    scale = from_real<E>(1);
    beta = re(alpha);
  } else {
    Real size, x_scale = 1;
    E top = alpha;
    if (!boosted) {
      size = square(alpha) + rest;
    } else if (square(alpha) < Limits::small_alpha * Limits::small_alpha) {
      top = times(alpha, Limits::boost);
      back = Limits::shrink;
      size = square(top) + rest;
    } else {
      x_scale = Limits::shrink;
      size = square(alpha) + rest * Limits::shrink * Limits::shrink;
    }
    Real norm, inverse_norm;
    take_root(size, norm, inverse_norm);
    const Real inverse_beta = -copysign(inverse_norm, re(top));
    beta = -copysign(norm, re(top));
    if constexpr (is_device_complex<E>) {
      const E difference = {re(top) - beta, im(top)};
      const Real inverse = reciprocal(square(difference)) * x_scale;
      scale = {difference.x * inverse, -difference.y * inverse};
      tau = {fused(-re(top), inverse_beta, Real(1)), -im(top) * inverse_beta};
    } else {
      scale = reciprocal(top - beta) * x_scale;
      tau = fused(-top, inverse_beta, Real(1));
    }
  }
}

// ---- the panel ----

template <class E>
struct Panel {
  Block<E> A;          // m x w
  Block<E> V;          // its last m rows
  std::int64_t above;  // rows of V before them
  Block<E> T;
  Strided<E> tau;
};

template <class E, int W>
struct SharedMemory {
  std::uint64_t mailbox[2];
  alignas(16) E received[2][most_blocks][W];  // the blocks' sums
  E parts[2][most_warps][W];                  // the warps' sums
  E row[2][W];                                // row j, from block 0
  E own_row[2][W];                            // row j, written by block 0
  E factors[most_warps][W];                   // of the update: [group][slot]
  E tau[W];
  E scale[W];    // of the x that make the columns of V
  E gram[W][W];  // gram[j][l] = (V^H V)(l, j), l < j
  E T[W][W];     // T[j][i] = T(i, j)
};

/// What the blocks of a cooperative launch exchange, in device memory; count is null in a cluster.
template <class E>
struct Grid {
  E* sums;  // [2][blocks][W]
  E* row;   // [2][W]
  unsigned* count;
};

__device__ inline void count_arrival(unsigned* count) {
  __threadfence();
  atomicAdd(count, 1u);
}
__device__ inline void await_arrivals(unsigned* count, unsigned arrivals) {
  unsigned now;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(count) : "memory");
  } while (now < arrivals);
}
template <class E>
__device__ E load_past_l1(const E* pointer) {
  return __ldcg(pointer);
}

/// Adds over the lanes with equal group: half of the values move at each step, until lane p holds those of `kept` slots
/// from p kept on (or of slot p / copies).
template <int distance, int count, class E, int values>
__device__ __forceinline__ void add_lanes(E (&x)[values], int lane) {
  if constexpr (distance > 0) {
    const bool upper = lane & distance;
    if constexpr (count > 1) {
#pragma unroll
      for (int i = 0; i < count / 2; ++i) {
        const E away = choose(upper, x[i], x[i + count / 2]), keep = choose(upper, x[i + count / 2], x[i]);
        x[i] = sum(keep, shuffle_across(away, distance));
      }
      add_lanes<distance / 2, count / 2>(x, lane);
    } else {
      x[0] = sum(x[0], shuffle_across(x[0], distance));
      add_lanes<distance / 2, 1>(x, lane);
    }
  }
}

template <class E, int G>
struct Geometry {
  static constexpr int W = slots * G, NP = warp_size / G, R = rows_of_thread<E>, rows_of_warp = NP * R;
  static constexpr int per_lane = W > warp_size ? W / warp_size : 1;  // columns whose totals a lane has
  static constexpr int kept = NP < slots ? slots / NP : 1;            // slots of a lane after add_lanes
  static constexpr int copies = NP > slots ? NP / slots : 1;          // lanes with the same slot
};

/// The sums of one step travel through all warps and blocks.
template <class E, int G, bool cooperative>
struct Exchange {
  using Shape = Geometry<E, G>;
  static constexpr int W = Shape::W;
  SharedMemory<E, W>& memory;
  int lane, warp, warps, rank, blocks;
  Grid<E> grid;
  int step = 0;

  /// totals[v] = sum of the first n rows of a table W wide, rounded up to a multiple of four (the others are zero).
  __device__ __forceinline__ void add_up(const E (*table)[W], int n, E (&totals)[Shape::per_lane]) const {
    E part[Shape::per_lane][4] = {};
    if (lane < W) {
#pragma unroll 1
      for (int i = 0; i < n; i += 4) {
#pragma unroll
        for (int v = 0; v < Shape::per_lane; ++v) {
#pragma unroll
          for (int u = 0; u < 4; ++u) part[v][u] = sum(part[v][u], table[i + u][lane + warp_size * v]);
        }
      }
    }
#pragma unroll
    for (int v = 0; v < Shape::per_lane; ++v) totals[v] = sum(sum(part[v][0], part[v][1]), sum(part[v][2], part[v][3]));
  }

  /// totals[v] = sum over all rows for column lane + 32 v; returns row j (from block 0's own_row[step % 2], which its
  /// owner has written).
  __device__ __forceinline__ const E* operator()(E (&x)[slots], E (&totals)[Shape::per_lane]) {
    const int now = step & 1, phase = (step >> 1) & 1;
    ++step;
    add_lanes<Shape::NP / 2, slots>(x, lane);
    const int group = lane / Shape::NP, p = lane % Shape::NP;
    if (p % Shape::copies == 0) {
#pragma unroll
      for (int v = 0; v < Shape::kept; ++v)
        memory.parts[now][warp][(p / Shape::copies * Shape::kept + v) * G + group] = x[v];
    }
    __syncthreads();
    add_up(memory.parts[now], warps, totals);
    if (blocks == 1) return memory.own_row[now];
    if constexpr (cooperative) return through_memory(now, totals);
    const std::uint32_t here = cluster::shared_address(&memory.received[now][rank][0]),
                        row_here = cluster::shared_address(&memory.row[now][0]),
                        mailbox_here = cluster::shared_address(&memory.mailbox[now]);
    if (threadIdx.x == 0) cluster::mailbox_expect(&memory.mailbox[now], (blocks + 1) * W * sizeof(E));
    if (lane < W)
      for (int c = warp; c < blocks; c += warps) {
        const std::uint32_t mailbox = cluster::remote_address(mailbox_here, c);
#pragma unroll
        for (int v = 0; v < Shape::per_lane; ++v) {
          const int k = lane + warp_size * v;
          cluster::send(cluster::remote_address(here, c) + k * sizeof(E), totals[v], mailbox);
          if (rank == 0)
            cluster::send(cluster::remote_address(row_here, c) + k * sizeof(E), memory.own_row[now][k], mailbox);
        }
      }
    cluster::mailbox_wait(&memory.mailbox[now], phase);
    add_up(memory.received[now], blocks, totals);
    return memory.row[now];
  }

 private:
  /// The exchange of a cooperative launch. The blocks' sums are added in `warps` parts, then those.
  __device__ __forceinline__ const E* through_memory(int now, E (&totals)[Shape::per_lane]) {
    if (warp == 0 && lane < W) {
#pragma unroll
      for (int v = 0; v < Shape::per_lane; ++v) {
        const int k = lane + warp_size * v;
        grid.sums[(std::int64_t(now) * blocks + rank) * W + k] = totals[v];
        if (rank == 0) grid.row[now * W + k] = memory.own_row[now][k];
      }
      __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      count_arrival(grid.count);
      await_arrivals(grid.count, static_cast<unsigned>(step) * blocks);
    }
    __syncthreads();
    if (lane < W) {
#pragma unroll
      for (int v = 0; v < Shape::per_lane; ++v) {
        const int k = lane + warp_size * v;
        E part{};
#pragma unroll 4
        for (int c = warp; c < blocks; c += warps)
          part = sum(part, load_past_l1(&grid.sums[(std::int64_t(now) * blocks + c) * W + k]));
        memory.parts[now][warp][k] = part;
        if (warp == 0) memory.row[now][k] = load_past_l1(&grid.row[now * W + k]);
      }
    }
    __syncthreads();
    add_up(memory.parts[now], warps, totals);
    return memory.row[now];
  }
};

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
  using Real = real<E>;
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
      for (int r = 0; r < Shape::R; ++r) sum_of_squares += square(times(a[r][s], factor));
      squares[s] = from_real<E>(sum_of_squares);
    }
    exchange(squares, totals);
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
  using Real = real<E>;
  using Limits = Range2<Real>;
  constexpr int R = Shape::R, NP = Shape::NP, per_lane = Shape::per_lane;
  auto& memory = exchange.memory;
  const int lane = exchange.lane, warp = exchange.warp, group = lane / NP, p = lane % NP;
  const bool recorder = exchange.rank == 0 && warp == exchange.warps - 1;  // writes R, tau and V^H V
  const int w = static_cast<int>(panel.A.cols);
  E own_scale[per_lane] = {};  // of the columns lane + 32 v

#pragma unroll 1
  for (int j = 0; j < w; ++j) {
    // x = A(j+1:m, j), to all groups
    E x[R];
    read_slot<E, G, 0, slots>(a, j / G, x);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if constexpr (G > 1) x[r] = shuffle_from(x[r], j % G * NP + p);
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
        for (int t = 0; t < slots; ++t) products[t] = add_conjugate_product(products[t], x[r], a[r][t]);
      }
      row = exchange(products, totals);
      E total_j = totals[0];
      if constexpr (per_lane > 1)
        if (j >= warp_size) total_j = totals[1];
      rest = __shfl_sync(all_lanes, re(total_j), j % warp_size);
      alpha = row[j];
      if (boosted || !(rest < Limits::tiny)) break;
      boosted = true;
#pragma unroll
      for (int r = 0; r < R; ++r) x[r] = times(x[r], Limits::boost);
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
#pragma unroll
    for (int v = 0; v < per_lane; ++v) {
      const int k = lane + warp_size * v;
      if (k > j && k < Shape::W) {
        const E c = product(adjoint_tau, sum(row[k], product(adjoint_scale, totals[v])));
        memory.factors[warp][k % G * slots + k / G] = product(c, scale);
        if (recorder && k < w) {
          const E r_jk = sum(row[k], negative(c));
          panel.A(j, k) = scaled_columns ? scaled(r_jk, exponent[v]) : r_jk;
        }
      } else if (k == j) {
        own_scale[v] = scale;
        if (warp == 0) memory.scale[j] = scale;
        if (recorder) {
          const E r_jj = from_real<E>(beta * back);
          panel.A(j, j) = scaled_columns ? scaled(r_jj, exponent[v]) : r_jj;
          panel.tau[j] = memory.tau[j] = tau;
        }
      } else if (recorder && k < j) {
        memory.gram[j][k] =
            product(conjugate(own_scale[v]), sum(conjugate(row[k]), product(scale, conjugate(totals[v]))));
      }
    }
    __syncwarp();
    E factors[slots];
#pragma unroll
    for (int t = 0; t < slots; ++t) factors[t] = memory.factors[warp][group * slots + t];
    __syncwarp();
#pragma unroll
    for (int t = 0; t < slots; ++t) {
      if (t * G + group > j) {
#pragma unroll
        for (int r = 0; r < R; ++r) a[r][t] = subtract_product(a[r][t], x[r], factors[t]);
      }
    }
  }
}

/// T from V^H V and tau: T(i, j) = -tau_j sum_l T(i, l) (V^H V)(l, j), T(j, j) = tau_j. One warp for each 32 x 32 block
/// on the diagonal, a row per lane; for the block T12 beside them T12 = -T1 G12 T2. Ends with a barrier.
template <class E, int W>
__device__ __forceinline__ void make_triangle(SharedMemory<E, W>& memory, int w) {
  constexpr int side = W < warp_size ? W : warp_size;
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, warps = blockDim.x / warp_size;
  for (int first = warp * side; first < W; first += warps * side) {
    E dots[side] = {};
#pragma unroll
    for (int l = 0; l < side; ++l) {
      const bool inside = first + l < w;
      const E tau = inside ? memory.tau[first + l] : E{};
      const E t = lane == l ? tau : lane > l || is_zero(tau) ? E{} : product(negative(tau), dots[l]);
      if (lane < side) memory.T[first + l][first + lane] = t;
#pragma unroll
      for (int j = l + 1; j < side; ++j)
        if (first + j < w) dots[j] = sum(dots[j], product(t, memory.gram[first + j][first + l]));
    }
  }
  __syncthreads();
  if constexpr (W > warp_size) {
    static_assert(W == 2 * warp_size);
    constexpr int together = 4;
    const int right = w - warp_size;
    for (int j = warp * together; j < right; j += warps * together) {
      E x[together] = {};
      for (int l = 0; l < warp_size; ++l) {
        if (l >= right) break;
        const E g = memory.gram[warp_size + l][lane];
#pragma unroll
        for (int u = 0; u < together; ++u) x[u] = sum(x[u], product(g, memory.T[warp_size + j + u][warp_size + l]));
      }
#pragma unroll
      for (int u = 0; u < together; ++u)
        memory.gram[j + u][warp_size + lane] = x[u];  // X(i, j), in a free part of gram
    }
    __syncthreads();
    for (int j = warp * together; j < right; j += warps * together) {
      E t[together] = {};
#pragma unroll 4
      for (int l = 0; l < warp_size; ++l) {
        const E first = memory.T[l][lane];
#pragma unroll
        for (int u = 0; u < together; ++u) t[u] = sum(t[u], product(first, memory.gram[j + u][warp_size + l]));
      }
#pragma unroll
      for (int u = 0; u < together; ++u) memory.T[warp_size + j + u][lane] = negative(t[u]);
    }
    __syncthreads();
  }
}

// All blocks, of up to 8 warps, are one cluster or a cooperative launch.
template <class E, int G, bool cooperative>
__global__ void __launch_bounds__(most_warps* warp_size, 1) qr_panel_native_kernel(Panel<E> panel, Grid<E> grid) {
  using Shape = Geometry<E, G>;
  constexpr int R = Shape::R, NP = Shape::NP, W = Shape::W, per_lane = Shape::per_lane;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto& memory = *reinterpret_cast<SharedMemory<E, W>*>(shared_bytes);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, warps = blockDim.x / warp_size;
  const int rank = blockIdx.x, blocks = gridDim.x, group = lane / NP, p = lane % NP;
  Exchange<E, G, cooperative> exchange{memory, lane, warp, warps, rank, blocks, grid};
  const bool in_cluster = blocks > 1 && !cooperative;

  for (int e = threadIdx.x; e < most_warps * W; e += blockDim.x)
    (&memory.parts[0][0][0])[e] = (&memory.parts[1][0][0])[e] = E{};
  for (int e = blocks * W + threadIdx.x; e < most_blocks * W; e += blockDim.x)
    (&memory.received[0][0][0])[e] = (&memory.received[1][0][0])[e] = E{};
  __syncthreads();
  if (in_cluster) {
    if (threadIdx.x < 2) cluster::mailbox_open(&memory.mailbox[threadIdx.x]);
    __syncthreads();
    cluster::barrier_arrive();
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
  if (in_cluster) cluster::barrier_wait();

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
      for (int r = 0; r < R; ++r) a[r][t] = scaled(a[r][t], -exponents[t * G + group]);
    }
    __syncwarp();
  }

  eliminate<E, G, cooperative>(a, panel, exchange, exponent, scaled_columns, first_row);
  if (in_cluster) cluster::barrier_arrive();  // no block leaves while another may write into it

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
      panel.V(i, k) = i > k ? v : from_real<E>(i == k ? 1 : 0);
    }
  }
  for (std::int64_t e = std::int64_t(rank) * blockDim.x + threadIdx.x; e < panel.above * w;
       e += std::int64_t(blocks) * blockDim.x)
    panel.V(e % panel.above - panel.above, e / panel.above) = E{};

  if (rank == 0) {
    make_triangle<E, W>(memory, w);
    for (int e = threadIdx.x; e < w * w; e += blockDim.x) {
      const int i = e % w, j = e / w;
      panel.T(i, j) = i <= j ? memory.T[j][i] : E{};
    }
  }
  if (in_cluster) cluster::barrier_wait();
}

// ---- launch ----

/// Blocks of a cluster that the device can run, with all their shared memory: 16, 8, ..., 1 without clusters, 0 if
/// none.
template <class E, int G>
int blocks_possible(int device) {
  static int known[64] = {};
  if (device >= 0 && device < 64 && known[device] > 0) return known[device];
  const auto kernel = qr_panel_native_kernel<E, G, false>;
  constexpr int bytes = sizeof(SharedMemory<E, Geometry<E, G>::W>);
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) != cudaSuccess) {
    cudaGetLastError();
    return 0;  // more shared memory than this GPU has
  }
  int major = 0, result = 1;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "qr_panel_native");
  if (major >= 9) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "qr_panel_native");
    for (int blocks = most_blocks; blocks > 1 && result == 1; blocks /= 2) {
      cudaLaunchConfig_t config = {};
      cudaLaunchAttribute attribute = {};
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim.x = blocks;
      attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
      config.gridDim = dim3(blocks);
      config.blockDim = dim3(most_warps * warp_size);
      config.dynamicSmemBytes = bytes;
      config.attrs = &attribute;
      config.numAttrs = 1;
      int clusters = 0;
      if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &config) == cudaSuccess && clusters > 0) result = blocks;
      cudaGetLastError();
    }
  }
  if (device >= 0 && device < 64) known[device] = result;
  return result;
}

inline int multiprocessors(int device) {
  int count = 0;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "qr_panel_native");
  return count;
}
/// Rows that the widest cluster holds, and all blocks of a cooperative launch together.
template <class E, int G>
std::int64_t rows_of_cluster(int device) {
  return std::int64_t(blocks_possible<E, G>(device)) * most_warps * Geometry<E, G>::rows_of_warp;
}
template <class E, int G>
std::int64_t rows_of_grid(int device) {
  return std::int64_t(multiprocessors(device)) * most_warps * Geometry<E, G>::rows_of_warp;
}

template <class E, int G, bool cooperative>
void launch_kernel(const Panel<E>& panel, int warps, int blocks, Queue& q) {
  constexpr int W = Geometry<E, G>::W;
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(warps * warp_size);
  config.dynamicSmemBytes = sizeof(SharedMemory<E, W>);
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
  check(cudaLaunchKernelEx(&config, qr_panel_native_kernel<E, G, cooperative>, panel, grid), "qr_panel_native");
  q.launched("qr_panel_native");
}

template <class E, int G>
void launch(const Panel<E>& panel, Queue& q, QrPanelSpread spread) {
  using Shape = Geometry<E, G>;
  const std::int64_t m = panel.A.rows;
  const int possible = blocks_possible<E, G>(q.device());
  // Block 0 holds the panel's first W rows.
  const int least_warps = static_cast<int>(ceil_div(Shape::W, Shape::rows_of_warp));
  int warps = spread.warps, blocks = spread.blocks;
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
              blocks <= (may_cooperate ? std::max(possible, multiprocessors(q.device())) : possible),
          "qr_panel_native: ", m, " rows in ", blocks, " blocks of ", warps, " warps");
  if constexpr (may_cooperate)
    if (blocks > possible) return launch_kernel<E, G, true>(panel, warps, blocks, q);
  launch_kernel<E, G, false>(panel, warps, blocks, q);
}

}  // namespace qr_panel

template <class T>
std::int64_t qr_panel_width(std::int64_t m, const Queue& q) {
  using E = device_t<T>;
  using namespace qr_panel;
  DeviceScope scope(q.device());
  const int device = q.device();
  if (m <= rows_of_cluster<E, 8>(device)) return 64;
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
