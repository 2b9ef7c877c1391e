// The warp of a lu_panel block that eliminates, where others follow (lu_panel_follow.cuh).
#pragma once

#include "kernels/cuda/lu_panel_follow_memory.cuh"
#include "kernels/cuda/two_parts.cuh"

namespace devobj::cuda::lu {

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
    if (p.offset == 0 && rank == 0 && lane == 0) open_results(p);
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
    let_next_start();  // it waits for this kernel's end
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

}  // namespace devobj::cuda::lu
