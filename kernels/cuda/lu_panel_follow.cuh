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

#include "kernels/cuda/lu_panel_links.cuh"
#include "kernels/cuda/two_parts.cuh"

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

/// The warp that eliminates, in a block alone or of a cluster of at most so many.
template <class E, int W, int most_blocks>
struct EliminatingWarp {
  static constexpr bool alone = most_blocks == 1;
  static constexpr int R = eliminated_rows;
  using Memory = FollowMemory<E, W>;
  using Slot = typename Memory::Slot;

  const Panel<E>& p;
  Memory& memory;
  const int m, nb, lane, rank, blocks, first_row;
  const PiecesOfLane pieces_of_lane;
  const std::uint32_t slots, boxes;  // this block's slot, and its mailbox, in the block that this lane sends to
  unsigned parities = 0;             // of the mailboxes, a bit each
  int turn = 0;                      // of the slots
  E a[R][W];
  E l[R];
  std::int32_t position[R];
  std::uint32_t mask[R];  // of an element's bits, in the search: all but the sign, or none if the row is done

  __device__ explicit EliminatingWarp(const Panel<E>& panel)
      : p(panel),
        memory(kept_address(Memory::of_block())),
        m(static_cast<int>(panel.A.rows)),
        nb(static_cast<int>(panel.A.cols)),
        lane(kept(threadIdx.x)),
        rank(cluster_rank()),
        blocks(gridDim.x),
        first_row(kept(rank * followed_rows + lane)),
        pieces_of_lane(lane, blocks),
        slots(remote_address(&memory.slots[0][rank], pieces_of_lane.to)),
        boxes(remote_address(&memory.candidates[0], pieces_of_lane.to)) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      position[r] = row(r) < m ? row(r) : -1;
      mask[r] = row(r) < m ? 0x7fffffffu : 0;
    }
  }
  __device__ int row(int r) const {
    return first_row + r * warp_size;
  }

  /// The first w columns of the window.
  __device__ void load(int w) {
    const E* from = &p.A(first_row, 0);
#pragma unroll
    for (int k = 0; k < W; ++k, from += p.A.ld)
#pragma unroll
      for (int r = 0; r < R; ++r) a[r][k] = position[r] >= 0 && k < w ? from[r * warp_size] : E{};
  }

  /// What orders the elements of the window's first column as their magnitudes do; of rows that are done 0.
  __device__ std::uint32_t key(int r) const {
    static_assert(std::is_same_v<E, float>);
    return __float_as_uint(a[r][0]) & mask[r];
  }
  /// The least key that is no finite number's.
  static constexpr std::uint32_t not_finite = 0x7f800000u;

  /// What a step's pivot does to the positions: the row that was at the step's gets the pivot's.
  struct Exchange {
    int step = -2, chosen = -2;
    __device__ int operator()(int position) const {
      return position == chosen ? step : position == step ? chosen : position;
    }
  };

  /// The lane that leads puts its candidate and its row of the window where they are sent from.
  template <int Live>
  __device__ void stage(const Candidate& head, bool any, const bool (&leads)[R]) {
    Slot& own = alone ? memory.slots[turn][0] : memory.own;
    if (any) own.head = head;
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (leads[r]) {
#pragma unroll
        for (int k = 0; k < Live; ++k) own.row[k] = a[r][k];
      }
  }

  /// The largest of the block in the window's first column, for the pivot of `step`, is sent to all blocks with its row. meanwhile(), which must
  /// not change that column, is done in the shadow of the reduction. `before`: what is still to be done to the positions.
  template <int Live, class Meanwhile>
  __device__ void publish(int step, Exchange before, Meanwhile meanwhile) {
    static_assert(R == 4);
    constexpr int pieces = Slot::pieces(Live);
    if (!alone && lane == 0) expect_bytes(memory.candidates[turn], blocks * pieces * static_cast<int>(sizeof(int4)));
    std::uint32_t keys[R], most = 0;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      keys[r] = key(r);
      most = max(most, keys[r]);
    }
    const std::uint32_t highest = __reduce_max_sync(all_lanes, most);
    meanwhile();
    bool leads[R], any = false, several = false;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      leads[r] = keys[r] == highest;
      several |= any && leads[r];
      any |= leads[r];
    }
    const unsigned lanes = __ballot_sync(all_lanes, any), twice = __ballot_sync(all_lanes, several);
    // As if there were no equals, so that the ballots are not waited for. (If there are some, one of them is stored, and then the right one.)
    int at = position[0], best = 0;
#pragma unroll
    for (int r = 1; r < R; ++r)
      if (leads[r]) {
        at = position[r];
        best = r;
      }
    stage<Live>({highest, 0, before(at), first_row + best * warp_size}, any, leads);
    if ((lanes & (lanes - 1)) != 0 || twice != 0 || highest >= not_finite) {  // rare
      Candidate mine;
#pragma unroll
      for (int r = 0; r < R; ++r) {
        Candidate c = candidate_of(a[r][0], before(position[r]), step);
        c.row = row(r);
        if (r == 0 || better<E>(c, mine)) {
          mine = c;
          best = r;
        }
      }
      const int leader = leader_of_equals<E>(mine.high, mine.low, mine.position, true);
#pragma unroll
      for (int r = 0; r < R; ++r) leads[r] = lane == leader && best == r;
      __syncwarp();
      stage<Live>(mine, lane == leader, leads);
    }
    __syncwarp();
    if constexpr (alone) return;
    const std::uint32_t box = boxes + turn * static_cast<std::uint32_t>(sizeof(Mailbox));
    const std::uint32_t slot = slots + turn * static_cast<std::uint32_t>(sizeof(memory.slots[0]));
    constexpr int most_pieces = (pieces * most_blocks + warp_size - 1) / warp_size;
    int4 piece[most_pieces];
#pragma unroll
    for (int k = 0; k < most_pieces; ++k)
      if (const int i = pieces_of_lane.first + k * pieces_of_lane.step; i < pieces)
        piece[k] = reinterpret_cast<const int4*>(&memory.own)[i];
#pragma unroll
    for (int k = 0; k < most_pieces; ++k)
      if (const int i = pieces_of_lane.first + k * pieces_of_lane.step; i < pieces)
        send_piece(slot + i * static_cast<int>(sizeof(int4)), piece[k], box);
  }

  /// The pivot of `step`, L's column and the update, by which the window moves on by a column; the next candidate, if its column is in the
  /// window. `Live` columns of the window are in use.
  template <int Live>
  __device__ void eliminate(int step, bool more) {
    if constexpr (!alone) {
      barrier_wait(shared_address(&memory.candidates[turn]), parities >> turn & 1);
      parities ^= 1u << turn;
    }
    // Each lane divides by the candidate of its block, in the shadow of the choice.
    const Slot& mine = memory.slots[turn][alone ? 0 : lane % most_blocks];
    const Candidate c = mine.head;
    const E value = mine.row[0];
    E inverse = Reciprocal<E>::unscaled(value);
    const bool here = lane < blocks;
    Guess guess{0, false};
    if constexpr (!alone) {
      guess = guess_leader(c.high, here, lane);
      inverse = shuffle(inverse, guess.lane);
    }
    if (__any_sync(all_lanes, guess.near || (here && !Reciprocal<E>::usual(value)))) {  // rare
      if constexpr (!alone) guess.lane = leader_of_equals<E>(c.high, c.low, c.position, here);
      const Slot& slot = memory.slots[turn][guess.lane];
      const Reciprocal<E> exactly = inverse_of(slot.row[0], slot.head);
      inverse = exactly.inverse;
#pragma unroll
      for (int r = 0; r < R; ++r) a[r][0] = scaled(a[r][0], exactly.before);
    }
    const Slot& slot = memory.slots[turn][guess.lane];
    const Candidate chosen = slot.head;
    const E* const u = slot.row;
    const unsigned kept = is_power_of_two(inverse) ? ~0u : p.kept_bits;
    // l = a / pivot;  a -= l u, one column to the left
#pragma unroll
    for (int r = 0; r < R; ++r) {
      l[r] = of_kept_bits(product(a[r][0], inverse), kept);
      a[r][0] = minus_product(a[r][1], l[r], u[1]);
      if (row(r) == chosen.row) mask[r] = 0;
    }
    const Exchange exchange{step, chosen.position};
    turn = turn == turns - 1 ? 0 : turn + 1;
    if (more)
      publish<Live>(step + 1, exchange, [&] {
#pragma unroll
        for (int k = 2; k < Live; ++k) {
          const E uk = u[k];
#pragma unroll
          for (int r = 0; r < R; ++r) a[r][k - 1] = minus_product(a[r][k], l[r], uk);
        }
      });
      // what waits for nothing
#pragma unroll
    for (int r = 0; r < R; ++r) {
      memory.L[step][r * warp_size + lane] = l[r];
      position[r] = exchange(position[r]);
    }
    if (lane < Live) memory.window[step][lane] = u[lane];
    if (lane == 0) {
      memory.source[step] = chosen.row;
      memory.pivot[step] = chosen.position;
      if (chosen.high == 0 && rank == 0 && *p.info <= 0) *p.info = static_cast<std::int32_t>(p.offset + step + 1);
    }
    __syncwarp();
    if (lane == 0) barrier_arrive(shared_address(&memory.chosen[step]));
  }

  /// The window becomes the w columns from c0 on.
  __device__ void take_next(int c0, int w) {
    meet<FollowMeeting::next>();
#pragma unroll
    for (int k = 0; k < W; ++k)
#pragma unroll
      for (int r = 0; r < R; ++r) a[r][k] = k < w ? memory.L[c0 + k][r * warp_size + lane] : E{};
  }

  __device__ void run() {
    load(min(W, nb));
    if (p.offset == 0 && rank == 0 && lane == 0) *p.info = 0;
    cluster_wait();
    if (!alone && lane == 0)
      for (int i = rank; i < lu_panel_places; i += blocks) p.places[i] = multiprocessor();
    for (int c0 = 0;; c0 += W) {
      const int w = min(W, nb - c0);
      publish<W>(c0, Exchange{}, [] {});
      int j = 0;
#pragma unroll 1
      for (; j < min(w, W / 2); ++j) eliminate<W>(c0 + j, j + 1 < w);
#pragma unroll 1
      for (; j < w; ++j) eliminate<W / 2>(c0 + j, j + 1 < w);
      if (c0 + W >= nb) break;
      take_next(c0 + W, min(W, nb - c0 - W));
    }
#pragma unroll
    for (int r = 0; r < R; ++r) {
      memory.position[r * warp_size + lane] = position[r];
      if (position[r] >= 0 && row(r) < nb) p.exchange.displaced_to[row(r)] = position[r] >= nb ? position[r] : -1;
    }
    // By itself first: else compute-sanitizer reports the positions as hazards (as in lu_panel_links.cuh).
    meet<FollowMeeting::of_warp>();
    meet<FollowMeeting::end>();
    if (rank == 0)
      for (int t = lane; t < nb; t += warp_size) {
        p.ipiv[t] = static_cast<std::int32_t>(p.offset + memory.pivot[t] + 1);
        p.exchange.source[t] = memory.source[t];
      }
  }
};

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
