// What the warps of a lu_panel block that eliminate and follow (lu_panel_follow.cuh) share: its sizes, barriers and memory.
#pragma once

#include "kernels/cuda/lu_panel_links.cuh"

namespace devobj::cuda::lu {

/// Columns that such a panel has at most.
constexpr int followed_columns = 64;
/// Rows of a lane of the warp that eliminates, and of a block; a block's threads.
constexpr int eliminated_rows = 4, followed_rows = eliminated_rows * warp_size;
constexpr int following_threads = warp_size + followed_rows;

/// Where it is the faster kernel (docs/design-notes.md): larger elements have more to multiply and to send than there is time for.
template <class E>
constexpr bool can_follow = std::is_same_v<E, float>;

/// The barriers of a block: where the next sub-panel is handed over, and at the end, of all its threads; of the warp that eliminates.
enum class FollowMeeting { next = 1, end = 2, of_warp = 3 };
template <FollowMeeting meeting>
__device__ void meet() {
  constexpr int members = meeting == FollowMeeting::of_warp ? warp_size : following_threads;
  asm volatile("bar.sync %0, %1;" ::"n"(static_cast<int>(meeting)), "n"(members) : "memory");
}
/// Takes part without waiting for the others.
template <FollowMeeting meeting>
__device__ void announce() {
  asm volatile("bar.arrive %0, %1;" ::"n"(static_cast<int>(meeting)), "n"(following_threads) : "memory");
}

/// 16 bytes of a row.
template <class E>
struct alignas(16) Piece {
  static constexpr int elements = 16 / sizeof(E);
  E x[elements];
};

/// What a block sends for a step: its candidate, and that one's row of the window. The number of pieces is odd, so that the lanes of a warp
/// read the candidates from different banks.
template <class E, int W>
struct FollowSlot {
  Candidate head;
  alignas(16) E row[W];
  /// Of it with so many elements.
  __host__ __device__ static constexpr int pieces(int live) { return 1 + live * static_cast<int>(sizeof(E)) / 16; }
};

/// What a block has in shared memory. Steps have places of their own, so that no place is used twice, but for the slots, which are taken
/// in turn.
template <class E, int W>
struct FollowMemory {
  static constexpr int right = followed_columns - W;  // columns right of the first sub-panel
  using Piece = lu::Piece<E>;
  using Slot = FollowSlot<E, W>;
  static_assert(Slot::pieces(W) % 2 == 1);

  E L[followed_columns][followed_rows];  // a column for each step; before that, the next sub-panel as it is handed over
  Piece rows[followed_columns][right / Piece::elements];  // of the pivots, right of the sub-panel
  Piece sent[followed_columns]
            [right / Piece::elements];         // the same, by the thread whose row it is, on its way to all blocks
  E window[followed_columns][W];               // of the pivots' rows, from the diagonal on
  alignas(16) Slot slots[turns][max_cluster];  // the blocks' candidates
  alignas(16) Slot own;                        // this block's, on its way to all
  Mailbox candidates[turns];                   // of the slots
  Mailbox arrived[followed_columns];           // of the rows
  std::uint64_t
      chosen[followed_columns];  // a barrier: the step's pivot is known, and its column of L stored. A lane arrives
                                 // for its warp (which racecheck does not know of)
  std::int32_t source[followed_columns], pivot[followed_columns];  // of each step: its row in A, its position
  std::int32_t position[followed_rows];                            // of the rows, at the end

  __device__ static FollowMemory& of_block() {
    extern __shared__ __align__(16) unsigned char bytes_of_block[];
    return *reinterpret_cast<FollowMemory*>(bytes_of_block);
  }
  /// Of the rows of U that are pivots'.
  __device__ E U(int row, int col) const {
    const int right_of_row = col - (row / W + 1) * W;
    return right_of_row < 0 ? window[row][col - row]
                            : rows[row][right_of_row / Piece::elements].x[right_of_row % Piece::elements];
  }
};

/// Where a lane sends pieces to: block lane % blocks gets the pieces `first`, `first + step` ... from it.
struct PiecesOfLane {
  int to, first, step;
  __device__ PiecesOfLane(int lane, int blocks) : to(lane % blocks), step(warp_size / blocks) {
    first = lane < step * blocks ? lane / blocks : INT_MAX / 2;  // lanes that are too many have none
  }
};

}  // namespace devobj::cuda::lu
