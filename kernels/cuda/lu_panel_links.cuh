// How the threads and blocks of lu_panel meet and agree on a pivot: barriers, candidates, what is published with them, and
// the three ways to publish it.
#pragma once

#include <climits>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/reciprocal.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda::lu {

constexpr int threads = lu_panel_threads;  // that eliminate, with the rows in their registers
constexpr int warps = threads / warp_size;
constexpr int updating = 128;  // threads that update the rest beside them
constexpr int all_threads = threads + updating;
constexpr int max_blocks = 512;
// Buffers are taken in turn. A block may be one step ahead of another, which then still stores the step before.
constexpr int turns = 3;

/// Barriers within a block: of all its threads, of each team, and of both where a triangular system has been solved.
enum class Meeting { all, eliminating, updating, solved };
template <Meeting meeting>
constexpr int members = meeting == Meeting::eliminating ? threads
                        : meeting == Meeting::updating  ? updating
                                                        : all_threads;
template <Meeting meeting>
__device__ void meet() {
  asm volatile("bar.sync %0, %1;" ::"n"(static_cast<int>(meeting)), "n"(members<meeting>) : "memory");
}
/// Takes part without waiting for the others.
template <Meeting meeting>
__device__ void announce() {
  asm volatile("bar.arrive %0, %1;" ::"n"(static_cast<int>(meeting)), "n"(members<meeting>) : "memory");
}

/// The teams share the block's registers unevenly, where the GPU can: `count` for each thread of the caller's.
template <int count>
__device__ void take_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
#endif
}
template <int count>
__device__ void leave_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
#endif
}

/// A pivot candidate: the bits of its magnitude, which order as the magnitudes do; its position; its row in A.
struct Candidate {
  std::uint32_t high = 0, low = 0;
  std::int32_t position = INT_MAX, row = 0;
};

template <class E>
constexpr bool two_words = sizeof(decltype(magnitude(E{}))) == 8;

template <class E>
__device__ Candidate candidate_of(E value, std::int32_t position, std::int32_t step) {
  Candidate c;
  const auto size = magnitude(value);
  if constexpr (two_words<E>) {
    c.high = static_cast<std::uint32_t>(__double2hiint(size));
    c.low = static_cast<std::uint32_t>(__double2loint(size));
  } else {
    c.high = __float_as_uint(size);
  }
  // LAPACK's search compares by >: a NaN is taken where it is the first element, and only there.
  if (size != size) {
    c.high = position == step ? 0xffffffffu : 0u;
    c.low = 0;
  }
  c.position = position;
  if (position < step) c = Candidate{};
  return c;
}

/// The largest, of equals the one with the lowest position.
template <class E>
__device__ bool better(const Candidate& a, const Candidate& b) {
  if constexpr (two_words<E>) {
    const auto value = [](const Candidate& c) { return std::uint64_t(c.high) << 32 | c.low; };
    return value(a) > value(b) || (value(a) == value(b) && a.position < b.position);
  } else {
    return a.high > b.high || (a.high == b.high && a.position < b.position);
  }
}

/// The lane with the best of the warp's candidates. Equal leading words, for which there is more to do, are rare.
template <class E>
__device__ int leader_of_warp(const Candidate& mine) {
  bool in = mine.high == __reduce_max_sync(all_lanes, mine.high);
  unsigned lanes = __ballot_sync(all_lanes, in);
  if (lanes & (lanes - 1)) {
    if constexpr (two_words<E>) {
      const std::uint32_t low = __reduce_max_sync(all_lanes, in ? mine.low : 0u);
      in = in && mine.low == low;
    }
    const unsigned first = __reduce_min_sync(all_lanes, static_cast<unsigned>(in ? mine.position : INT_MAX));
    in = in && static_cast<unsigned>(mine.position) == first;
    lanes = __ballot_sync(all_lanes, in);
  }
  return __ffs(lanes) - 1;
}

/// What is published: a candidate; what divides by it and its row of the window. 16-byte pieces are copied, the first
/// is the candidate.
template <class E, int W>
struct Slot {
  alignas(16) Reciprocal<E> inverse;
  alignas(16) E row[W];

  static constexpr int before_row = (sizeof(Reciprocal<E>) + 15) / 16;
  /// Pieces with the candidate, for a row with `live` elements.
  __host__ __device__ static constexpr int pieces(int live) {
    return 1 + before_row + (live * static_cast<int>(sizeof(E)) + 15) / 16;
  }
};
template <class E, int W>
struct Stage {
  Candidate head;
  Slot<E, W> slot;
};

/// The arguments of the kernel.
template <class E>
struct Panel {
  Block<E> A;
  Strided<std::int32_t> ipiv;
  std::int64_t offset;
  std::int32_t* info;
  RowExchange exchange;
  E* U;                  // nb x nb, by rows
  unsigned char* slots;  // of all blocks, for each turn; where there is no cluster
  unsigned* arrived;     // the grid's barrier counter, zero at the start
};

/// One block: its warps publish, each in a slot of its own.
template <class E, int W>
struct BlockLink {
  static constexpr bool warps_publish = true;
  struct Shared {
    Candidate heads[turns][warps];
    Slot<E, W> slots[turns][warps];
  };
  Shared& shared;
  static constexpr int candidates = warps, blocks = 1, rank = 0;
  __device__ BlockLink(Shared& memory, const Panel<E>&) : shared(memory) {}

  /// One barrier would do. compute-sanitizer 2025.3 reports as hazards what one team stores just before it and the other
  /// reads after it (so in a program of forty lines), unless the team has met by itself.
  __device__ void boundary() {
    if (threadIdx.x < threads) meet<Meeting::eliminating>();
    meet<Meeting::all>();
  }
  __device__ void published(int, int) {}
  __device__ void receive(int) { meet<Meeting::eliminating>(); }
  __device__ Candidate& stage_head(int turn) { return shared.heads[turn][threadIdx.x / warp_size]; }
  __device__ Slot<E, W>& stage(int turn) { return shared.slots[turn][threadIdx.x / warp_size]; }
  __device__ Candidate head(int turn, int i) const { return shared.heads[turn][i]; }
  __device__ const Slot<E, W>& chosen(int turn, int i, int) const { return shared.slots[turn][i]; }
};

/// Blocks of a cluster: every block sends its slot into the shared memory of all.
template <class E, int W>
struct ClusterLink {
  static constexpr bool warps_publish = false;
  struct Shared {
    Candidate heads[turns][max_cluster];
    Slot<E, W> slots[turns][max_cluster];
    Stage<E, W> stage;
    Mailbox boxes[turns];
  };
  Shared& shared;
  const int candidates, blocks, rank;
  std::uint32_t heads, slots, boxes;  // this block's places and the mailboxes in the block that this lane sends to
  int first, step;                    // the lane's pieces
  unsigned parities = 0;              // of the mailboxes, a bit each
  __device__ ClusterLink(Shared& memory, const Panel<E>&)
      : shared(memory), candidates(gridDim.x), blocks(gridDim.x), rank(cluster_rank()) {
    const int lane = threadIdx.x % warp_size, to = lane & (blocks - 1);  // blocks is a power of two
    heads = remote_address(&memory.heads[0][rank], to);
    slots = remote_address(&memory.slots[0][rank], to);
    boxes = remote_address(&memory.boxes[0], to);
    first = lane / blocks;
    step = warp_size / blocks;
    if (threadIdx.x == 0)
      for (Mailbox& box : memory.boxes) open_mailbox(box);
    boundary();
  }
  __device__ void boundary() {
    cluster_arrive();
    cluster_wait();
  }
  __device__ Candidate& stage_head(int) { return shared.stage.head; }
  __device__ Slot<E, W>& stage(int) { return shared.stage.slot; }
  /// By one warp: the first `pieces` pieces of the stage become this block's slot everywhere.
  __device__ void publish(int turn, int pieces) {
    const int4* from = reinterpret_cast<const int4*>(&shared.stage);
    const std::uint32_t box = boxes + turn * static_cast<std::uint32_t>(sizeof(Mailbox));
    const std::uint32_t head = heads + turn * static_cast<std::uint32_t>(sizeof(shared.heads[0]));
    const std::uint32_t slot = slots + turn * static_cast<std::uint32_t>(sizeof(shared.slots[0]));
    for (int i = first; i < pieces; i += step) send_piece(i == 0 ? head : slot + (i - 1) * sizeof(int4), from[i], box);
  }
  __device__ void published(int turn, int pieces) {
    if (threadIdx.x == 0) expect_bytes(shared.boxes[turn], blocks * pieces * static_cast<int>(sizeof(int4)));
  }
  __device__ void receive(int turn) {
    wait_for_bytes(shared.boxes[turn], parities >> turn & 1);
    parities ^= 1u << turn;
  }
  /// When received, by all: the candidate of block `i`; the slot of the chosen block.
  __device__ Candidate head(int turn, int i) const { return shared.heads[turn][i]; }
  __device__ const Slot<E, W>& chosen(int turn, int i, int) const { return shared.slots[turn][i]; }
};

/// Blocks of a cooperative grid: slots and barrier in global memory.
template <class E, int W>
struct GridLink {
  static constexpr bool warps_publish = false;
  struct Shared {
    Stage<E, W> stage, chosen;
  };
  Shared& shared;
  const int candidates, blocks, rank;
  Stage<E, W>* slots;
  unsigned* arrived;
  unsigned target = 0;
  __device__ GridLink(Shared& memory, const Panel<E>& p)
      : shared(memory),
        candidates(gridDim.x),
        blocks(gridDim.x),
        rank(blockIdx.x),
        slots(reinterpret_cast<Stage<E, W>*>(p.slots)),
        arrived(p.arrived) {}

  __device__ void boundary() {
    meet<Meeting::all>();
    if (threadIdx.x < threads) {
      arrive();
      wait();
    }
    meet<Meeting::all>();
  }
  __device__ void arrive() {
    target += blocks;
    meet<Meeting::eliminating>();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(arrived, 1u);
    }
  }
  __device__ void wait() {
    if (threadIdx.x == 0) {
      unsigned seen;
      do {
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
      } while (seen < target);
      __threadfence();
    }
    meet<Meeting::eliminating>();
  }
  __device__ void published(int, int) { arrive(); }
  __device__ void receive(int) { wait(); }
  __device__ Stage<E, W>* slot(int turn, int i) const { return slots + turn * blocks + i; }
  __device__ Candidate& stage_head(int) { return shared.stage.head; }
  __device__ Slot<E, W>& stage(int) { return shared.stage.slot; }
  __device__ void publish(int turn, int pieces) {
    const int4* from = reinterpret_cast<const int4*>(&shared.stage);
    int4* to = reinterpret_cast<int4*>(slot(turn, rank));
    for (int i = threadIdx.x % warp_size; i < pieces; i += warp_size) __stcg(to + i, from[i]);
  }
  __device__ Candidate head(int turn, int i) const {
    const int4 words = __ldcg(reinterpret_cast<const int4*>(slot(turn, i)));
    Candidate c;
    c.high = static_cast<std::uint32_t>(words.x);
    c.low = static_cast<std::uint32_t>(words.y);
    c.position = words.z;
    c.row = words.w;
    return c;
  }
  __device__ const Slot<E, W>& chosen(int turn, int i, int pieces) {
    const int4* from = reinterpret_cast<const int4*>(slot(turn, i));
    for (int piece = threadIdx.x; piece < pieces; piece += threads)
      reinterpret_cast<int4*>(&shared.chosen)[piece] = __ldcg(from + piece);
    meet<Meeting::eliminating>();
    return shared.chosen.slot;
  }
};

}  // namespace devobj::cuda::lu
