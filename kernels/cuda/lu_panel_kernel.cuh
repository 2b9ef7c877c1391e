// lu_panel: the LU factorization of a panel in one kernel, with one exchange between its blocks for each column.
//
//   columns of A (m x nb, column-major)         The rows are spread over the blocks. Each block has two teams:
//    done   sub-panel   next   rest
//   +-----+-----------+------+------+           eliminate  one thread for R rows, with W columns of them in registers
//   |     | a  a  a a |      |      |  thread's update     a few warps that bring the columns of the rest up to date
//   |  L  | a  a  a a |  A   |  A   |  rows                with the sub-panel before, beside the elimination
//   |     | a  a  a a |      |      |
//   +-----+-----------+------+------+
//
// Elimination. Rows do not move: each has a position, the place it would have after LAPACK's swaps, and a row with a
// position before the present step is done. A step: every block publishes its largest element of the column together with
// its row of the sub-panel; after one barrier all know the pivot's row, scale and update. The window of registers shifts by
// one column per step: the column of the step is always a[.][0].
//
// Between sub-panels all blocks meet. Then U12 = L11^-1 A12 is computed by the second team, in every block for itself; the
// first takes the next W columns, subtracts L21 U12 from them in registers and goes on; the second does so for the rest,
// whose columns come through a ring in shared memory. At the end the rows are brought to their positions.
//
// Memory order: L is written to A by the owner of the row; U, whose rows have left their places, to the workspace, by
// position. The barrier between sub-panels makes all that the blocks wrote before it visible to all.
#pragma once

#include <algorithm>
#include <bit>

#include "kernels/cuda/lu_panel_rest.cuh"

namespace devobj::cuda::lu {

/// The team `eliminate`; members live in registers.
template <class E, int W, int R, template <class, int> class LinkOf>
struct Elimination {
  using Link = LinkOf<E, W>;
  using Shared = PanelShared<E, W, R, LinkOf>;
  static constexpr int words = sizeof(E) / 4;
  // Columns of L21 in registers at once: a power of two, since they divide W.
  static constexpr int columns_of_L =
      static_cast<int>(std::bit_floor(std::clamp((W * R * words > 64 ? 16u : 32u) / (R * words), 1u, unsigned(W))));

  const Panel<E>& p;
  Shared& shared;
  Link& link;
  const int m, nb, lane, warp;
  int turn = 0;  // of the buffers
  E a[R][W];
  std::int32_t position[R];
  // The results of a step are stored in the next one, while the blocks wait for each other.
  E l[R];
  const E* u = nullptr;
  std::int32_t pivot_row = 0, pivot_position = 0;

  __device__ Elimination(const Panel<E>& panel, Shared& memory, Link& blocks)
      : p(panel),
        shared(memory),
        link(blocks),
        m(static_cast<int>(panel.A.rows)),
        nb(static_cast<int>(panel.A.cols)),
        lane(threadIdx.x % warp_size),
        warp(threadIdx.x / warp_size) {
#pragma unroll
    for (int r = 0; r < R; ++r) position[r] = row(r) < m ? row(r) : -1;
  }
  __device__ int row(int r) const {
    return (link.rank * R + r) * threads + static_cast<int>(threadIdx.x);
  }

  __device__ void load(int c0, int w) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const bool here = position[r] >= c0;
#pragma unroll
      for (int k = 0; k < W; ++k) a[r][k] = here && k < w ? p.A(row(r), c0 + k) : E{};
    }
  }

  /// Column `step` of L, by the owners of the rows, and row `step` of U, by one warp of the grid.
  __device__ void store(int step, int live) {
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (position[r] > step) p.A(row(r), step) = l[r];
    if (threadIdx.x == 0) {
      shared.source[step] = pivot_row;
      shared.pivot[step] = pivot_position;
    }
    if (link.rank == 0 && warp == step % warps)
      for (int k = lane; k < live && step + k < nb; k += warp_size) p.U[step * nb + step + k] = u[k];
  }

  /// One column: the window's column 0 is column `step` of the panel; `Live` columns of the window are in use.
  template <int Live>
  __device__ void eliminate(int step, bool stored) {
    constexpr int pieces = Slot<E, W>::pieces(Live);
    turn = turn == turns - 1 ? 0 : turn + 1;

    // the thread's, the warp's, the block's candidate
    Candidate mine = candidate_of(a[0][0], position[0], step);
    E value = a[0][0];
    mine.row = row(0);
#pragma unroll
    for (int r = 1; r < R; ++r) {
      Candidate c = candidate_of(a[r][0], position[r], step);
      c.row = row(r);
      if (better<E>(c, mine)) {
        mine = c;
        value = a[r][0];
      }
    }
    const Reciprocal<E> own_inverse(value);  // in the shadow of the search
    int leader = leader_of_warp<E>(mine), leading_warp = warp;
    if constexpr (!Link::warps_publish) {
      if (lane == leader) shared.winners[turn][warp] = mine;
      meet<Meeting::eliminating>();
      leading_warp = leader_of_warp<E>(lane < warps ? shared.winners[turn][lane] : Candidate{});
    }

    // published by the leader, with its warp
    if (warp == leading_warp) {
      if (lane == leader) {
        link.stage_head(turn) = mine;
        Slot<E, W>& stage = link.stage(turn);
        stage.inverse = own_inverse;
#pragma unroll
        for (int r = 0; r < R; ++r)
          if (R == 1 || position[r] == mine.position) {
#pragma unroll
            for (int k = 0; k < Live; ++k) stage.row[k] = a[r][k];
          }
      }
      if constexpr (!Link::warps_publish) {
        __syncwarp();
        link.publish(turn, pieces);
      }
    }
    link.published(turn, pieces);
    if (!stored) store(step - 1, W);
    link.receive(turn);

    // the pivot of all
    mine = Candidate{};
    int from = lane;
    for (int i = lane; i < link.candidates; i += warp_size) {
      const Candidate c = link.head(turn, i);
      if (i == lane || better<E>(c, mine)) {
        mine = c;
        from = i;
      }
    }
    leader = leader_of_warp<E>(mine);
    const Slot<E, W>& pivot = link.chosen(turn, __shfl_sync(all_lanes, from, leader), pieces);
    pivot_row = __shfl_sync(all_lanes, mine.row, leader);
    pivot_position = __shfl_sync(all_lanes, mine.position, leader);
    const bool zero = __shfl_sync(all_lanes, mine.high | mine.low, leader) == 0;
    if (zero && threadIdx.x == 0 && link.rank == 0 && *p.info <= 0)
      *p.info = static_cast<std::int32_t>(p.offset + step + 1);
    u = pivot.row;

    // l = a / pivot;  a -= l u, one column to the left
    const Reciprocal<E> inverse = pivot.inverse;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (position[r] == pivot_position)
        position[r] = step;
      else if (position[r] == step)
        position[r] = pivot_position;
      l[r] = zero ? a[r][0] : inverse.times(a[r][0]);
    }
#pragma unroll
    for (int k = 1; k < Live; ++k) {
      const E uk = u[k];
#pragma unroll
      for (int r = 0; r < R; ++r) a[r][k - 1] = minus_product(a[r][k], l[r], uk);
    }
  }

  /// The sub-panel at c0 is done: tells the other team which rows are live, and meets all blocks.
  __device__ void leave(int c0) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const unsigned rows = __ballot_sync(all_lanes, position[r] >= c0 + W);
      if (lane == 0) shared.live[c0 / W % 2][r * warps + warp] = rows;
    }
    link.boundary();
  }

  /// The window becomes A22 - L21 U12 in the w columns after the sub-panel at c0.
  __device__ void enter_next(int c0, int w) {
    load(c0 + W, w);
#pragma unroll 1
    for (int k0 = 0; k0 < W; k0 += columns_of_L) {
      E L[columns_of_L][R];
#pragma unroll
      for (int k = 0; k < columns_of_L; ++k)
#pragma unroll
        for (int r = 0; r < R; ++r) L[k][r] = position[r] >= c0 + W ? p.A(row(r), c0 + k0 + k) : E{};
      if (k0 == 0) meet<Meeting::solved>();
#pragma unroll
      for (int k = 0; k < columns_of_L; ++k)
#pragma unroll
        for (int j = 0; j < W; ++j) {
          const E ukj = shared.next_U[k0 + k][j];
#pragma unroll
          for (int r = 0; r < R; ++r) a[r][j] = minus_product(a[r][j], L[k][r], ukj);
        }
    }
  }

  /// The rows go to their positions: top row t gets L of its source and U by position; a displaced top row goes where
  /// the pivot that came was. The blocks share the columns.
  __device__ void place_rows() {
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (position[r] >= 0 && row(r) < nb) p.exchange.displaced_to[row(r)] = position[r] >= nb ? position[r] : -1;
    link.boundary();
    constexpr int at_once = 8;
    const int t = threadIdx.x, source = t < nb ? shared.source[t] : 0;
    if (link.rank == 0 && t < nb) {
      p.ipiv[t] = static_cast<std::int32_t>(p.offset + shared.pivot[t] + 1);
      p.exchange.source[t] = source;
    }
    const int to = t < nb ? __ldcg(p.exchange.displaced_to + t) : -1;
    for (int c0 = link.rank * at_once; c0 < nb; c0 += link.blocks * at_once) {
      E old[at_once], fresh[at_once];
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        const int c = c0 + j;
        if (t >= nb || c >= nb) continue;
        old[j] = p.A(t, c);
        fresh[j] = c < t ? p.A(source, c) : p.U[t * nb + c];
      }
      meet<Meeting::eliminating>();
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        const int c = c0 + j;
        if (t >= nb || c >= nb) continue;
        p.A(t, c) = fresh[j];
        if (to >= 0) p.A(to, c) = old[j];
      }
    }
  }

  __device__ void run() {
    load(0, min(W, nb));
    for (int c0 = 0;; c0 += W) {
      const int w = min(W, nb - c0);
      int j = 0;
      for (; j < min(w, W / 2); ++j) eliminate<W>(c0 + j, j == 0);
      for (; j < w; ++j) eliminate<W / 2>(c0 + j, false);
      store(c0 + w - 1, W);
      if (c0 + W >= nb) break;
      leave(c0);
      enter_next(c0, min(W, nb - c0 - W));
    }
    place_rows();
  }
};

template <class E, int W, int R, template <class, int> class LinkOf>
__global__ void __launch_bounds__(all_threads, 1) lu_panel_kernel(Panel<E> p) {
  extern __shared__ __align__(16) unsigned char bytes[];
  __shared__ PanelShared<E, W, R, LinkOf> shared;
  LinkOf<E, W> link(shared.link, p);
  // By what a thread's rows take. Together not more than were given to all at the start, 168 for each.
  constexpr int bytes_of_rows = R * W * static_cast<int>(sizeof(E));
  constexpr int more = bytes_of_rows > 384 ? 200 : bytes_of_rows > 256 ? 184 : 176, fewer = 3 * 168 - 2 * more;
  if (threadIdx.x < threads) {
    take_registers<more>();
    Elimination<E, W, R, LinkOf>(p, shared, link).run();
  } else {
    leave_registers<fewer>();
    RestUpdate<E, W, R, LinkOf>(p, shared, reinterpret_cast<E*>(bytes), link).run();
  }
  if (link.blocks > 1) link.boundary();  // no block leaves while others read its memory
}

}  // namespace devobj::cuda::lu
