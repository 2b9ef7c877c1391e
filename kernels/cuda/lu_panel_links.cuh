// How the threads and blocks of lu_panel meet and agree on a pivot: barriers, what is published with a candidate, and the ways to
// publish it of one block and of a cluster (of a grid: lu_panel_grid_link.cuh).
#pragma once

#include <cstring>
#include <type_traits>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/kept.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/pivot_candidate.cuh"
#include "kernels/cuda/reciprocal.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda::lu {

// A parameter T is the number of threads that eliminate, with the rows in their registers. With fewer a step is shorter, since the warps
// on a scheduler wait for each other; but so few rows need many blocks.
constexpr int usual_threads = 256, few_threads = 128, more_threads = 384;
constexpr int updating = 128;  // threads that update the rest beside them
constexpr int max_blocks = 512;
// Buffers are taken in turn. A block of a cluster may be one step ahead of another, which then still stores the step before. (For a
// grid's letters two would do.)
constexpr int turns = 3;

/// Barriers within a block: of all its threads, of each team, and of both where a triangular system has been solved, and where
/// most pivots of a sub-panel have been chosen.
enum class Meeting { all, eliminating, updating, solved, chosen };
template <Meeting meeting, int T>
constexpr int members = meeting == Meeting::eliminating ? T
                        : meeting == Meeting::updating  ? updating
                                                        : T + updating;
template <Meeting meeting, int T>
__device__ void meet() {
  asm volatile("bar.sync %0, %1;" ::"n"(static_cast<int>(meeting)), "n"(members<meeting, T>) : "memory");
}
/// Whether one of the threads that meet says so.
template <Meeting meeting, int T>
__device__ bool meet_with(bool own) {
  int any;
  asm volatile(
      "{\n\t.reg .pred own, any;\n\tsetp.ne.s32 own, %1, 0;\n\tbar.red.or.pred any, %2, %3, own;\n\t"
      "selp.s32 %0, 1, 0, any;\n\t}"
      : "=r"(any)
      : "r"(int(own)), "n"(static_cast<int>(meeting)), "n"(members<meeting, T>)
      : "memory");
  return any != 0;
}
/// Takes part without waiting for the others.
template <Meeting meeting, int T>
__device__ void announce() {
  asm volatile("bar.arrive %0, %1;" ::"n"(static_cast<int>(meeting)), "n"(members<meeting, T>) : "memory");
}

/// The teams of a block meet. One barrier would do. compute-sanitizer 2025.3 reports as hazards what one team stores just before it
/// and the other reads after it (so in a program of forty lines), unless the team has met by itself.
template <int T>
__device__ void meet_teams() {
  if (threadIdx.x < T) meet<Meeting::eliminating, T>();
  meet<Meeting::all, T>();
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

/// Whether the columns of the rest can be copied as boxes (lu_panel_boxes.cuh), if the link says so.
template <class E>
constexpr bool has_boxes = two_words<E> || std::is_same_v<E, float>;

/// The arguments of the kernel.
template <class E>
struct Panel {
  Block<E> A;
  Strided<std::int32_t> ipiv;
  std::int64_t offset;
  std::int32_t* info;
  RowExchange exchange;
  E* U;                    // nb x nb, by rows
  unsigned char* letters;  // of all blocks, for each turn; where there is no cluster. Zero at the start, as
  unsigned* arrived;       // the grid's barrier counter
  std::int32_t* places;    // gets the multiprocessors of a cluster; behind them is the Progress
  int block_rows;          // of each block: a multiple of `updating`, R * T at most
  bool keeps_L;            // each block keeps its rows of a sub-panel's L in shared memory
  bool boxes;              // the rest's columns are copied as boxes
  unsigned kept_bits;      // of L's numbers, in single precision (two_parts.cuh)
};

/// By one thread of the first panel, before its end.
template <class E>
__device__ void open_results(const Panel<E>& p) {
  *p.info = 0;
  p.places[lu_panel_places] = 0;
}

/// Whether the rows are shared evenly by the blocks; else all blocks but the last ones have as many as their threads hold, R each. Not in
/// double precision: there the number of rows has to be a constant, or the kernel with two to a thread is short of registers, and
/// what it keeps in local memory instead waits, beside a product, for that.
template <class E>
constexpr bool even_rows = !std::is_same_v<E, double>;
template <class E, int R, int T>
__device__ int block_rows(const Panel<E>& p) {
  return even_rows<E> ? p.block_rows : R * T;
}

/// The pivots of a sub-panel whose rows the other team loads before all have been chosen; none where it has no time to spare or
/// nothing to wait for (docs/design-notes.md): for complex<double>, with more than two rows per thread, in a single block but
/// for float; nor in a grid, which has no barrier for it.
template <class Link, class E, int W, int R>
constexpr int chosen_early = !Link::loads_early || sizeof(E) == 16 || R > 2 ? 0 : W - W / 4;

// A link has an open(), which all threads of all blocks call first, and an opened(), which they call before anything else of it.

/// One block: its warps publish, each in a slot of its own.
template <class E, int W, int T>
struct BlockLink {
  static constexpr int warps = T / warp_size;
  static constexpr bool warps_publish = true, loads_early = sizeof(E) == 4, copies_boxes = false, sends_L11 = false;
  struct Shared {
    Slot<E, W> slots[turns][warps];
  };
  Shared& shared;
  static constexpr int blocks = 1, rank = 0;
  __device__ static void open(Shared&) {}
  __device__ void opened(const Panel<E>&) {}
  __device__ BlockLink(Shared& memory, const Panel<E>&) : shared(kept_address(memory)) {}

  __device__ void boundary() { meet_teams<T>(); }
  /// By the team that updates: what it has stored is visible to it in all blocks.
  __device__ void updated() { meet<Meeting::updating, T>(); }
  __device__ Slot<E, W>& slot(int turn, int warp) { return shared.slots[turn][warp]; }
  template <int>
  __device__ Pivot<E, W> receive(int turn, int lane) {
    meet<Meeting::eliminating, T>();
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

/// Blocks of a cluster: every block sends its slot into the shared memory of all. Where each lane sends it is in registers, or, if these
/// are `crowded`, in shared memory: what the compiler would keep in local memory instead would be waited for in every step.
template <class E, int W, int T, bool crowded>
struct ClusterLinkOf {
  using Slot = lu::Slot<E, W>;
  static constexpr bool warps_publish = false, loads_early = true, copies_boxes = has_boxes<E>, sends_L11 = true;
  /// This block's place, and the mailboxes, in the block that a lane sends to; the pieces that it sends: `first`, `first + step` ...
  struct alignas(16) Destination {
    std::uint32_t slots, boxes;
    int first, step;
  };
  struct Nowhere {};
  struct Shared {
    Slot slots[turns][max_cluster];
    alignas(16) E row[W];
    Mailbox boxes[turns], of_L11;
    std::uint64_t updated;  // the barrier of updated()
    std::conditional_t<crowded, Destination[warp_size], Nowhere> destinations;
  };
  Shared& shared;
  const int blocks, rank;
  std::conditional_t<crowded, Nowhere, Destination> of_lane;
  unsigned parities = 0;  // of the mailboxes, a bit each
  unsigned updates = 0, triangles = 0;
  __device__ static void open(Shared& memory) {
    const int blocks = gridDim.x;
    if (threadIdx.x == 0) {
      barrier_init(shared_address(&memory.updated), blocks);
      for (Mailbox& box : memory.boxes) open_mailbox(box);
      open_mailbox(memory.of_L11);
    }
    if constexpr (crowded)  // read only behind a barrier of the team that eliminates
      if (threadIdx.x < warp_size) memory.destinations[threadIdx.x] = destination_of_lane(memory);
    cluster_arrive_relaxed();
  }
  __device__ void opened(const Panel<E>& panel) {
    cluster_wait();
    if (threadIdx.x == 0)
      for (int i = rank; i < lu_panel_places; i += blocks) panel.places[i] = multiprocessor();
  }
  __device__ ClusterLinkOf(Shared& memory, const Panel<E>&)
      : shared(kept_address(memory)), blocks(gridDim.x), rank(cluster_rank()) {
    if constexpr (!crowded) of_lane = destination_of_lane(memory);
  }
  __device__ static Destination destination_of_lane(Shared& memory) {
    const int blocks = gridDim.x, lane = threadIdx.x % warp_size, to = lane % blocks, step = warp_size / blocks;
    return {remote_address(&memory.slots[0][cluster_rank()], to), remote_address(&memory.boxes[0], to),
            lane < step * blocks ? lane / blocks : INT_MAX / 2,  // lanes that are too many have none
            step};
  }
  __device__ Destination destination() const {
    if constexpr (crowded)
      return shared.destinations[threadIdx.x % warp_size];
    else
      return of_lane;
  }
  __device__ void boundary() {
    cluster_arrive();
    cluster_wait();
  }
  __device__ void updated() {
    meet<Meeting::updating, T>();
    const std::uint32_t barrier = shared_address(&shared.updated);
    const int to = static_cast<int>(threadIdx.x) - T;
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
    const auto [slots, boxes, first, step] = destination();
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
    const auto [slots, boxes, first, step] = destination();
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
  template <int>
  __device__ Pivot<E, W> receive(int turn, int lane) {
    wait_for_bytes(shared.boxes[turn], parities >> turn & 1);
    parities ^= 1u << turn;
    const Candidate c = shared.slots[turn][lane % max_cluster].head;
    const Slot& chosen = shared.slots[turn][quick_leader<E>(c, lane < blocks, lane, [] {})];
    return {&chosen, chosen.inverse};
  }
};

template <class E, int W, int T>
using ClusterLink = ClusterLinkOf<E, W, T, false>;
template <class E, int W, int T>
using CrowdedClusterLink = ClusterLinkOf<E, W, T, true>;

}  // namespace devobj::cuda::lu
