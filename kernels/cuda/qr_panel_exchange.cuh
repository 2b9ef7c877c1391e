// The exchange of qr_panel_native, once a column: sums over all rows of the panel, which are spread over the lanes,
// warps and blocks, and one of its rows. Every block adds in the same order.
#pragma once

#include <cstdint>

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/cluster.cuh"

namespace devobj::cuda::qr_panel {

constexpr int slots = 8;
constexpr int most_warps = 8;
constexpr int cluster_warps = 4;  // a block of a cluster has at least so many
constexpr int most_blocks = 16;

// Rows of a thread: so many that a thread's part of the panel takes 128 registers.
template <class E>
constexpr int rows_of_thread = 64 / static_cast<int>(sizeof(E));

template <class E>
__device__ E choose(bool first, E a, E b) {
  if constexpr (is_device_complex<E>)
    return {first ? a.x : b.x, first ? a.y : b.y};
  else
    return first ? a : b;
}

template <class E, int W>
struct SharedMemory {
  Mailbox mailbox[2];
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
  std::uint32_t others[most_blocks / cluster_warps] = {};  // memory of the blocks that this warp sends to

  /// In a cluster, once before the first exchange.
  __device__ __forceinline__ void find_others() {
#pragma unroll
    for (int u = 0; u < most_blocks / cluster_warps; ++u)
      if (warp + u * warps < blocks) others[u] = remote_address(&memory, warp + u * warps);
  }

  /// totals[v] = sum of the first n rows of a table W wide, rounded up to a multiple of four (the others are zero).
  __device__ __forceinline__ void add_up(const E (*table)[W], int n, E (&totals)[Shape::per_lane]) const {
    E part[Shape::per_lane][4] = {};
    if (lane < W) {
#pragma unroll 2
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
  /// owner has written). While messages travel, `meanwhile` is called.
  template <class Act>
  __device__ __forceinline__ const E* operator()(E (&x)[slots], E (&totals)[Shape::per_lane], Act meanwhile) {
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
    if (blocks > 1 && !cooperative) send_totals(now, totals);
    meanwhile();
    if (blocks == 1) return memory.own_row[now];
    if constexpr (cooperative) return through_memory(now, totals);
    wait_for_bytes(memory.mailbox[now], phase);
    add_up(memory.received[now], blocks, totals);
    return memory.row[now];
  }

 private:
  /// The block's sums to all blocks, and row j from block 0.
  __device__ __forceinline__ void send_totals(int now, const E (&totals)[Shape::per_lane]) const {
    if (threadIdx.x == 0) expect_bytes(memory.mailbox[now], (blocks + 1) * W * sizeof(E));
    if (lane >= W) return;
    const std::uint32_t start = shared_address(&memory),
                        sums = shared_address(&memory.received[now][rank][lane]) - start,
                        row = shared_address(&memory.row[now][lane]) - start,
                        mailbox = shared_address(&memory.mailbox[now]) - start;
    constexpr std::uint32_t next = warp_size * sizeof(E);
#pragma unroll
    for (int u = 0; u < most_blocks / cluster_warps; ++u) {
      if (warp + u * warps >= blocks) break;
#pragma unroll
      for (int v = 0; v < Shape::per_lane; ++v) send(others[u] + sums + v * next, totals[v], others[u] + mailbox);
    }
    if (rank > 0) return;
    E own_row[Shape::per_lane];
#pragma unroll
    for (int v = 0; v < Shape::per_lane; ++v) own_row[v] = memory.own_row[now][lane + warp_size * v];
#pragma unroll
    for (int u = 0; u < most_blocks / cluster_warps; ++u) {
      if (warp + u * warps >= blocks) break;
#pragma unroll
      for (int v = 0; v < Shape::per_lane; ++v) send(others[u] + row + v * next, own_row[v], others[u] + mailbox);
    }
  }

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

}  // namespace devobj::cuda::qr_panel
