// lu_panel for few columns and rows: one warp of a block eliminates, four follow.
//
// A block has 128 rows. Its first warp has W columns of them in registers, four rows to a lane, and eliminates as lu_panel_kernel.cuh says:
// the window of registers shifts by a column per step. Since it is one warp, no barrier of the block is between its search and its message
// to the other blocks. A thread of the others has one row, right of the window, in registers too. Of each step it gets the row's
// multiplier from shared memory, and the pivot's row right of the window from its owner's thread, by way of the blocks' shared memory:
//
//   warp that eliminates       pivot, L's column | pivot ...                    | the window becomes the next W columns
//   warps that follow              pivot's row sent | received, subtracted ...  | these handed over
//
// so the columns of the next sub-panel are up to date as soon as the present one's last pivot has been subtracted from them, and no
// triangular system is solved. L and U stay in shared memory, from where each row goes to its position at the end: the panel is read once
// and written once.
//
// The order of operations on an element is that of the other kernel, and so are the bits. The columns are few and the steps of the warp that
// eliminates many: it has no branch but where elements are equal, infinite, NaN or far from 1, and the rows' stores are predicated.
#pragma once

#include "kernels/cuda/lu_panel_eliminate_warp.cuh"

namespace devobj::cuda::lu {

/// The warps that follow, in a block alone or of a cluster.
template <class E, int W, bool alone>
struct FollowingWarps {
  using Memory = FollowMemory<E, W>;
  using Piece = lu::Piece<E>;
  static constexpr int right = Memory::right, windows = right / W, of_piece = Piece::elements, in_window = W / of_piece;

  const Panel<E>& p;
  Memory& memory;
  const int nb, thread, row;
  const PiecesOfLane pieces_of_lane;
  const std::uint32_t rows, boxes;  // the first step's row, and its mailbox, in the block that this lane sends to
  E x[right];

  __device__ explicit FollowingWarps(const Panel<E>& panel)
      : p(panel),
        memory(Memory::of_block()),
        nb(static_cast<int>(panel.A.cols)),
        thread(static_cast<int>(threadIdx.x) - warp_size),
        row(cluster_rank() * followed_rows + thread),
        pieces_of_lane(thread % warp_size, gridDim.x),
        rows(remote_address(&memory.rows[0], pieces_of_lane.to)),
        boxes(remote_address(&memory.arrived[0], pieces_of_lane.to)) {
    const bool here = row < p.A.rows;
    const E* from = &p.A(here ? row : 0, 0) + W * p.A.ld;
#pragma unroll
    for (int j = 0; j < right; ++j, from += p.A.ld) x[j] = here && W + j < nb ? *from : E{};
  }

  /// What is right of a step's sub-panel, of nb columns.
  __device__ static int pieces(int step, int nb) {
    const int columns = nb - (step / W + 1) * W;
    return columns > 0 ? (columns + of_piece - 1) / of_piece : 0;
  }

  /// By the warp that has the pivot's row: its first windows, of which `count` pieces are in use.
  template <int live>
  __device__ void send_row(int step, bool mine, int count) {
    Piece* const from = alone ? memory.rows[step] : memory.sent[step];
    if (mine) {
#pragma unroll
      for (int i = 0; i < live * in_window; ++i) {
        Piece piece;
#pragma unroll
        for (int k = 0; k < of_piece; ++k) piece.x[k] = x[i * of_piece + k];
        from[i] = piece;
      }
    }
    __syncwarp();
    if constexpr (alone) {
      if (mine) barrier_arrive(shared_address(&memory.arrived[step]));
      return;
    }
    const std::uint32_t box = boxes + step * static_cast<int>(sizeof(Mailbox));
    const std::uint32_t to = rows + step * static_cast<int>(sizeof(memory.rows[0]));
    constexpr int at_once = 4;
    for (int i = pieces_of_lane.first; i < count; i += at_once * pieces_of_lane.step) {
      int4 piece[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k)
        if (const int j = i + k * pieces_of_lane.step; j < count) piece[k] = *reinterpret_cast<const int4*>(&from[j]);
#pragma unroll
      for (int k = 0; k < at_once; ++k)
        if (const int j = i + k * pieces_of_lane.step; j < count)
          send_piece(to + j * static_cast<int>(sizeof(Piece)), piece[k], box);
    }
  }

  /// The steps of the sub-panel at c0, right of which are `live` windows; the first of them is handed over.
  template <int live>
  __device__ void follow(int c0) {
    const int count = pieces(c0, nb);
#pragma unroll 1
    for (int step = c0; step < c0 + W; ++step) {
      barrier_wait(shared_address(&memory.chosen[step]), 0);
      const bool mine = memory.source[step] == row;
      if (__any_sync(all_lanes, mine)) send_row<live>(step, mine, count);
      const E l = memory.L[step][thread];
      barrier_wait(shared_address(&memory.arrived[step]), 0);
      Piece u[live * in_window];
#pragma unroll
      for (int i = 0; i < live * in_window; ++i) u[i] = memory.rows[step][i];
#pragma unroll
      for (int i = 0; i < live * in_window; ++i) {
#pragma unroll
        for (int k = 0; k < of_piece; ++k) x[i * of_piece + k] = minus_product(x[i * of_piece + k], l, u[i].x[k]);
        if (i == in_window - 1 && step == c0 + W - 1) {
#pragma unroll
          for (int k = 0; k < W; ++k) memory.L[c0 + W + k][thread] = x[k];
          announce<FollowMeeting::next>();
        }
      }
    }
#pragma unroll
    for (int j = 0; j + W < live * W; ++j) x[j] = x[j + W];
  }

  /// When L, U and the rows' positions are in shared memory: the thread's row to its position.
  __device__ void place() const {
    const int position = memory.position[thread];
    if (position < 0) return;
    E* to = kept(&p.A(position, 0));
    if (position >= nb) {
#pragma unroll 8
      for (int k = 0; k < nb; ++k, to += p.A.ld) *to = memory.L[k][thread];
    } else {
#pragma unroll 4
      for (int k = 0; k < nb; ++k, to += p.A.ld) *to = k < position ? memory.L[k][thread] : memory.U(position, k);
    }
  }

  /// When the blocks of a cluster have met.
  __device__ void run() {
    static_assert(windows == 3);
    for (int c0 = 0; c0 + W < nb; c0 += W) {
      const int live = (nb - 1) / W - c0 / W;
      if (live == 3)
        follow<3>(c0);
      else if (live == 2)
        follow<2>(c0);
      else
        follow<1>(c0);
    }
    meet<FollowMeeting::end>();
    place();
  }
};

template <class E, int W, int most_blocks>
__global__ void __launch_bounds__(following_threads, 1) lu_panel_follow_kernel(Panel<E> p) {
  constexpr bool alone = most_blocks == 1;
  using Following = FollowingWarps<E, W, alone>;
  FollowMemory<E, W>& memory = FollowMemory<E, W>::of_block();
  const int nb = static_cast<int>(p.A.cols);
  if (const int step = threadIdx.x; step < nb) {
    barrier_init(shared_address(&memory.chosen[step]), 1);
    open_mailbox(memory.arrived[step]);
    if (const int pieces = Following::pieces(step, nb); !alone && pieces > 0)
      expect_bytes(memory.arrived[step], pieces * static_cast<int>(sizeof(Piece<E>)));
  } else if (step < nb + turns) {
    open_mailbox(memory.candidates[step - nb]);
  }
  cluster_arrive_relaxed();
  wait_for_previous();
  if (threadIdx.x < warp_size) {
    EliminatingWarp<E, W, most_blocks>(p).run();
  } else {
    Following following(p);
    cluster_wait();
    following.run();
  }
}

}  // namespace devobj::cuda::lu
