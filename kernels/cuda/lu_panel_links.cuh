// How the threads and blocks of lu_panel meet and agree on a pivot: barriers, what is published with a candidate, and the
// three ways to publish it.
#pragma once

#include <cstring>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/kept.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/pivot_candidate.cuh"
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

/// Barriers within a block: of all its threads, of each team, and of both where a triangular system has been solved, and where
/// most pivots of a sub-panel have been chosen.
enum class Meeting { all, eliminating, updating, solved, chosen };
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

/// The teams of a block meet. One barrier would do. compute-sanitizer 2025.3 reports as hazards what one team stores just before it
/// and the other reads after it (so in a program of forty lines), unless the team has met by itself.
__device__ inline void meet_teams() {
  if (threadIdx.x < threads) meet<Meeting::eliminating>();
  meet<Meeting::all>();
}

/// What is published, in pieces of 16 bytes: a candidate, its row of the window, and what divides by it. The number of
/// pieces is odd, so that the lanes of a warp read their candidates from different banks.
template <class E, int W>
struct Slot {
  static constexpr int piece = 16;
  static constexpr int first_of_inverse = 1 + W * static_cast<int>(sizeof(E)) / piece;
  static constexpr int pieces_of_inverse = (static_cast<int>(sizeof(Reciprocal<E>)) + piece - 1) / piece;
  /// Candidate and row, of which `live` elements.
  __host__ __device__ static constexpr int pieces(int live) { return 1 + live * static_cast<int>(sizeof(E)) / piece; }

  Candidate head;
  alignas(piece) E row[W];
  alignas(piece) Reciprocal<E> inverse;
  int4 unused[1 + (first_of_inverse + pieces_of_inverse) % 2];
};

/// What divides by a candidate. All elements below a zero are zero or NaN, and stay so divided by one.
template <class E>
__device__ Reciprocal<E> inverse_of(E value, const Candidate& c) {
  Reciprocal<E> inverse(value);
  if ((c.high | c.low) == 0) {
    inverse.inverse = from_parts<E>(1);
    inverse.before = 1;
  }
  return inverse;
}

/// The pivot of a step, as a block knows it.
template <class E, int W>
struct Pivot {
  const Slot<E, W>* slot;
  Reciprocal<E> inverse;
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
  std::int32_t* places;  // gets the multiprocessors of a cluster
  int block_rows;        // of each block: a multiple of `updating`, R * threads at most
  bool keeps_L;          // each block keeps its rows of a sub-panel's L in shared memory
  bool boxes;            // the rest's columns are copied as boxes
};

/// Whether the rows are shared evenly by the blocks; else all blocks but the last ones have as many as their threads hold, R each. Not in
/// double precision: there the number of rows has to be a constant, or the kernel with two to a thread is short of registers, and
/// what it keeps in local memory instead waits, beside a product, for that.
template <class E>
constexpr bool even_rows = !std::is_same_v<E, double>;
template <class E, int R>
__device__ int block_rows(const Panel<E>& p) {
  return even_rows<E> ? p.block_rows : R * threads;
}

/// The pivots of a sub-panel whose rows the other team loads before all have been chosen; none where it has no time to spare or
/// nothing to wait for (docs/design-notes.md): for complex<double>, with more than two rows per thread, in a single block but
/// for float; nor in a grid, which has no barrier for it.
template <class Link, class E, int W, int R>
constexpr int chosen_early = !Link::loads_early || sizeof(E) == 16 || R > 2 ? 0 : W - W / 4;

// A link has an open(), which all threads of all blocks call first, and an opened(), which they call before anything else of it.

/// One block: its warps publish, each in a slot of its own.
template <class E, int W>
struct BlockLink {
  static constexpr bool warps_publish = true, loads_early = sizeof(E) == 4, copies_boxes = false, sends_L11 = false;
  struct Shared {
    Slot<E, W> slots[turns][warps];
  };
  Shared& shared;
  static constexpr int blocks = 1, rank = 0;
  __device__ static void open(Shared&) {}
  __device__ void opened(const Panel<E>&) {}
  __device__ BlockLink(Shared& memory, const Panel<E>&) : shared(kept_address(memory)) {}

  __device__ void boundary() { meet_teams(); }
  /// By the team that updates: what it has stored is visible to it in all blocks.
  __device__ void updated() { meet<Meeting::updating>(); }
  __device__ Slot<E, W>& slot(int turn, int warp) { return shared.slots[turn][warp]; }
  __device__ Pivot<E, W> receive(int turn, int lane) {
    meet<Meeting::eliminating>();
    const Slot<E, W>& mine = shared.slots[turn][lane % warps];
    const Candidate c = mine.head;
    const Reciprocal<E> own = inverse_of(mine.row[0], c);
    const int leader = quick_leader<E>(c, lane < warps, lane, [] {});
    Reciprocal<E> inverse;
    inverse.inverse = shuffle(own.inverse, leader);
    inverse.before = shuffle(own.before, leader);
    return {&shared.slots[turn][leader], inverse};
  }
};

/// Blocks of a cluster: every block sends its slot into the shared memory of all.
template <class E, int W>
struct ClusterLink {
  using Slot = lu::Slot<E, W>;
  static constexpr bool warps_publish = false, loads_early = true, copies_boxes = two_words<E>, sends_L11 = true;
  struct Shared {
    Slot slots[turns][max_cluster];
    alignas(16) E row[W];
    Mailbox boxes[turns], of_L11;
    std::uint64_t updated;  // the barrier of updated()
  };
  Shared& shared;
  const int blocks, rank;
  std::uint32_t slots, boxes;  // this block's place and the mailboxes in the block that this lane sends to
  int first, step;             // the lane's pieces
  unsigned parities = 0;       // of the mailboxes, a bit each
  unsigned updates = 0, triangles = 0;
  __device__ static void open(Shared& memory) {
    const int blocks = gridDim.x;
    if (threadIdx.x == 0) {
      barrier_init(shared_address(&memory.updated), blocks);
      for (Mailbox& box : memory.boxes) open_mailbox(box);
      open_mailbox(memory.of_L11);
    }
    cluster_arrive_relaxed();
  }
  __device__ void opened(const Panel<E>& panel) {
    cluster_wait();
    if (threadIdx.x == 0)
      for (int i = rank; i < lu_panel_places; i += blocks) panel.places[i] = multiprocessor();
  }
  __device__ ClusterLink(Shared& memory, const Panel<E>&)
      : shared(kept_address(memory)), blocks(gridDim.x), rank(cluster_rank()) {
    const int lane = threadIdx.x % warp_size, to = lane % blocks;
    slots = remote_address(&memory.slots[0][rank], to);
    boxes = remote_address(&memory.boxes[0], to);
    step = warp_size / blocks;
    first = lane < step * blocks ? lane / blocks : INT_MAX / 2;  // lanes that are too many have none
  }
  __device__ void boundary() {
    cluster_arrive();
    cluster_wait();
  }
  __device__ void updated() {
    meet<Meeting::updating>();
    const std::uint32_t barrier = shared_address(&shared.updated);
    const int to = static_cast<int>(threadIdx.x) - threads;
    if (to < blocks) barrier_release_at(barrier, to);
    barrier_acquire(barrier, updates++ % 2);
  }
  /// By one thread of each block: L11 has so many bytes.
  __device__ void expect_L11(int bytes) { expect_bytes(shared.of_L11, bytes); }
  /// An element of L11 to a place in block `to`.
  __device__ void send_L11(const E* place, E value, int to) {
    send(remote_address(place, to), value, remote_address(&shared.of_L11, to));
  }
  __device__ void wait_for_L11() { wait_for_bytes(shared.of_L11, triangles++ % 2); }
  __device__ E* stage() { return shared.row; }
  /// By one warp: candidate and staged row, of which `live` elements, become this block's slot everywhere.
  template <int live>
  __device__ void publish(int turn, const Candidate& head) {
    constexpr int pieces = Slot::pieces(live), most = (pieces * max_cluster + warp_size - 1) / warp_size;
    const std::uint32_t box = boxes + turn * static_cast<std::uint32_t>(sizeof(Mailbox));
    const std::uint32_t slot = slots + turn * static_cast<std::uint32_t>(sizeof(shared.slots[0]));
    int4 piece[most];
#pragma unroll
    for (int k = 0; k < most; ++k) {
      const int i = first + k * step;
      const void* from =
          k == 0 && i == 0 ? static_cast<const void*>(&head) : reinterpret_cast<const int4*>(shared.row) + (i - 1);
      if (i < pieces) piece[k] = *static_cast<const int4*>(from);
    }
#pragma unroll
    for (int k = 0; k < most; ++k) {
      const int i = first + k * step;
      if (i < pieces) send_piece(slot + i * static_cast<int>(sizeof(int4)), piece[k], box);
    }
  }
  /// By another warp: what divides by the candidate.
  __device__ void publish(int turn, const Reciprocal<E>& inverse) {
    const std::uint32_t box = boxes + turn * static_cast<std::uint32_t>(sizeof(Mailbox));
    const std::uint32_t slot = slots + turn * static_cast<std::uint32_t>(sizeof(shared.slots[0])) +
                               Slot::first_of_inverse * static_cast<int>(sizeof(int4));
    int4 pieces[Slot::pieces_of_inverse] = {};
    memcpy(pieces, &inverse, sizeof inverse);
    int4 piece = pieces[0];
#pragma unroll
    for (int i = 1; i < Slot::pieces_of_inverse; ++i)
      if (first == i) piece = pieces[i];
    if (first < Slot::pieces_of_inverse) send_piece(slot + first * static_cast<int>(sizeof(int4)), piece, box);
  }
  template <int live>
  __device__ void published(int turn) {
    constexpr int bytes = (Slot::pieces(live) + Slot::pieces_of_inverse) * static_cast<int>(sizeof(int4));
    if (threadIdx.x == 0) expect_bytes(shared.boxes[turn], blocks * bytes);
  }
  __device__ Pivot<E, W> receive(int turn, int lane) {
    wait_for_bytes(shared.boxes[turn], parities >> turn & 1);
    parities ^= 1u << turn;
    const Candidate c = shared.slots[turn][lane % max_cluster].head;
    const Slot& chosen = shared.slots[turn][quick_leader<E>(c, lane < blocks, lane, [] {})];
    return {&chosen, chosen.inverse};
  }
};

/// Blocks of a cooperative grid: slots and barrier in global memory.
template <class E, int W>
struct GridLink {
  using Slot = lu::Slot<E, W>;
  static constexpr bool warps_publish = false, loads_early = false, copies_boxes = two_words<E>, sends_L11 = false;
  struct Shared {
    Slot chosen;
    alignas(16) E row[W];
  };
  Shared& shared;
  const int blocks, rank;
  Slot* slots;
  unsigned* arrived;
  unsigned target = 0;
  __device__ static void open(Shared&) {}
  __device__ void opened(const Panel<E>&) {}
  __device__ GridLink(Shared& memory, const Panel<E>& p)
      : shared(kept_address(memory)),
        blocks(gridDim.x),
        rank(blockIdx.x),
        slots(reinterpret_cast<Slot*>(p.slots)),
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
  __device__ int4* pieces_of(int turn, int i) const { return reinterpret_cast<int4*>(slots + turn * blocks + i); }
  __device__ E* stage() { return shared.row; }
  template <int live>
  __device__ void publish(int turn, const Candidate& head) {
    int4* const to = pieces_of(turn, rank);
    for (int i = threadIdx.x % warp_size; i < Slot::pieces(live); i += warp_size)
      __stcg(to + i, i == 0 ? *reinterpret_cast<const int4*>(&head) : reinterpret_cast<const int4*>(shared.row)[i - 1]);
  }
  __device__ void publish(int turn, const Reciprocal<E>& inverse) {
    int4 pieces[Slot::pieces_of_inverse] = {};
    memcpy(pieces, &inverse, sizeof inverse);
    if (threadIdx.x % warp_size == 0)
#pragma unroll
      for (int i = 0; i < Slot::pieces_of_inverse; ++i)
        __stcg(pieces_of(turn, rank) + Slot::first_of_inverse + i, pieces[i]);
  }
  template <int>
  __device__ void published(int) {
    arrive();
  }
  __device__ Pivot<E, W> receive(int turn, int lane) {
    wait();
    Candidate mine;
    int from = lane;
    for (int i = lane; i < blocks; i += warp_size) {
      const int4 words = __ldcg(pieces_of(turn, i));
      Candidate c;
      c.high = static_cast<std::uint32_t>(words.x);
      c.low = static_cast<std::uint32_t>(words.y);
      c.position = words.z;
      c.row = words.w;
      if (i == lane || better<E>(c, mine)) {
        mine = c;
        from = i;
      }
    }
    const int leader = leader_of_warp<E>(mine, lane < blocks);
    const int4* const chosen = pieces_of(turn, __shfl_sync(all_lanes, from, leader));
    constexpr int pieces = Slot::first_of_inverse + Slot::pieces_of_inverse;
    if (threadIdx.x < pieces) reinterpret_cast<int4*>(&shared.chosen)[threadIdx.x] = __ldcg(chosen + threadIdx.x);
    meet<Meeting::eliminating>();
    return {&shared.chosen, shared.chosen.inverse};
  }
};

}  // namespace devobj::cuda::lu
