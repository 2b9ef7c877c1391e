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
// position before the present step is done. The window of registers shifts by one column per step: the column of the step is
// always a[.][0]. Every block publishes its largest element of that column together with its row of the sub-panel, and all
// blocks choose the same pivot. What has to wait for what, from one publication to the next:
//
//   receive, choose | l = a / pivot, a[.][0] | warp's search | barrier | block's search | row    | on its way to all blocks
//                                                                      | a[.][1 ...]     | 1 / x | L and U stored
//
// 1 / x is computed by another warp than the one that publishes the row. In a single block the warps publish, before the
// barrier, and each of their lanes divides by its own candidate.
//
// Between sub-panels all blocks meet, or the teams of each block, if the blocks send each other their rows of L11; the rows of most
// pivots are on their way to the second team by then. It computes U12 = L11^-1 A12, in every block for itself; the first takes
// the next W columns, subtracts L21 U12 from them (in registers, or of double on the tensor cores) and goes on; the second does
// so for the rest, whose columns come through rings in shared memory. At the end the rows are brought to their positions.
//
// Memory order: L is written to A by the owner of the row; U, whose rows have left their places, to the workspace, by
// position. Where all blocks meet, what they wrote before is visible to all; what the second teams did, after updated() to these.
#pragma once

#include <algorithm>
#include <bit>

#include "kernels/cuda/lu_panel_rest.cuh"
#include "kernels/cuda/tensor_double.cuh"
#include "kernels/cuda/two_parts.cuh"

namespace devobj::cuda::lu {

/// The team `eliminate`; members live in registers.
template <class E, int W, int R, int T, template <class, int, int> class LinkOf>
struct Elimination {
  using Link = LinkOf<E, W, T>;
  using Shared = PanelShared<E, W, R, T, LinkOf>;
  using Kept = KeptL<E, W, R, T>;
  using Rest = RestUpdate<E, W, R, T, LinkOf>;
  static constexpr int words = sizeof(E) / 4, warps = T / warp_size;
  // Columns of L21 in registers at once: a power of two, since they divide W.
  static constexpr int columns_of_L =
      static_cast<int>(std::bit_floor(std::clamp((W * R * words > 64 ? 16u : 32u) / (R * words), 1u, unsigned(W))));

  const Panel<E>& p;
  Shared& shared;
  Link& link;
  const int m, nb, lane, warp, first_row;
  int turn = 0;  // of the buffers
  E a[R][W];
  std::int32_t position[R];
  E l[R];
  E *L_at, *U_at;  // where the first row's element of L's next column goes, and U's next row
  bool leads[R];   // whether the row has the warp's candidate for the next pivot
  Candidate candidate;

  __device__ Elimination(const Panel<E>& panel, Shared& memory, Link& blocks)
      : p(panel),
        shared(kept_address(memory)),
        link(blocks),
        m(static_cast<int>(panel.A.rows)),
        nb(static_cast<int>(panel.A.cols)),
        lane(kept(threadIdx.x % warp_size)),
        warp(kept(threadIdx.x / warp_size)),
        first_row(kept(blocks.rank * block_rows<E, R, T>(panel) + static_cast<int>(threadIdx.x))) {
#pragma unroll
    for (int r = 0; r < R; ++r)
      position[r] = static_cast<int>(threadIdx.x) + r * T < block_rows<E, R, T>(p) && row(r) < m ? row(r) : -1;
    L_at = &p.A(row(0), 0);
    U_at = p.U + lane;
  }
  __device__ int row(int r) const {
    return first_row + r * T;
  }

  /// The first w columns of the window, from the one on where L's next column goes.
  __device__ void load(int c0, int w) {
    const E* from = L_at;
#pragma unroll
    for (int k = 0; k < W; ++k, from += p.A.ld)
#pragma unroll
      for (int r = 0; r < R; ++r) a[r][k] = position[r] >= c0 && k < w ? load_kept<keeps_panel<E>>(from + r * T) : E{};
  }

  /// The warp's candidate for the pivot of `step`, whose column is the window's first: `leads` and, in its thread, `candidate`.
  __device__ void search(int step) {
    Candidate c[R];
    std::uint32_t most = 0;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      c[r] = candidate_of(a[r][0], position[r], step);
      c[r].row = row(r);
      most = max(most, c[r].high);
    }
    most = __reduce_max_sync(all_lanes, most);
    int equal = 0;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      // Rows that are done are no candidates; where there are no others the first lane stands for the warp.
      leads[r] = c[r].high == most && (position[r] >= step || (r == 0 && lane == 0));
      equal += leads[r];
    }
    const unsigned lanes = __ballot_sync(all_lanes, equal > 0);
    if ((lanes & (lanes - 1)) || (R > 1 && __any_sync(all_lanes, equal > 1))) {  // equal leading words are rare
      Candidate mine = c[0];
      int best = 0;
#pragma unroll
      for (int r = 1; r < R; ++r)
        if (better<E>(c[r], mine)) {
          mine = c[r];
          best = r;
        }
      const int leader = leader_of_equals<E>(mine.high, mine.low, mine.position, true);
#pragma unroll
      for (int r = 0; r < R; ++r) leads[r] = lane == leader && best == r;
    }
    candidate = c[0];
#pragma unroll
    for (int r = 1; r < R; ++r)
      if (leads[r]) candidate = c[r];
  }
  /// By the thread that leads: the candidate, its element, and its row of the window.
  __device__ void store_candidate(Candidate& to, E& value) const {
    bool any = leads[0];
    E x = a[0][0];
#pragma unroll
    for (int r = 1; r < R; ++r)
      if (leads[r]) {
        any = true;
        x = a[r][0];
      }
    if (any) {
      to = candidate;
      value = x;
    }
  }
  template <int Live>
  __device__ void store_row(E* to) const {
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (leads[r]) {
#pragma unroll
        for (int k = 0; k < Live; ++k) to[k] = a[r][k];
      }
  }

  /// After search(): publishes the best of the block with its row of the window, which `update()` brings up to date.
  template <int Live, class Update>
  __device__ void publish(Update update) {
    if constexpr (Link::warps_publish) {
      update();
      auto& slot = link.slot(turn, warp);
      store_candidate(slot.head, slot.row[0]);
      store_row<Live>(slot.row);
    } else {
      store_candidate(shared.winners[turn][warp], shared.values[turn][warp]);
      meet<Meeting::eliminating, T>();
      const Candidate c = shared.winners[turn][lane % warps];
      const int leader = quick_leader<E>(c, lane < warps && c.position != INT_MAX, lane, update);
      const int other = warp ^ 1;
      if (leader == other) link.publish(turn, inverse_of(shared.values[turn][other], shared.winners[turn][other]));
      if (leader == warp) {
        store_row<Live>(link.stage());
        __syncwarp();
        link.template publish<Live>(turn, shared.winners[turn][warp]);
      }
      link.template published<Live>(turn);
    }
  }

  /// The pivot of `step`, L's column and the update, by which the window moves on by a column; the search for the next
  /// pivot, which is published if its column is in the window. `Live` columns of the window are in use.
  template <int Live>
  __device__ void eliminate(int step, bool more) {
    const Pivot<E, W> pivot = link.template receive<Live>(turn, lane);
    const E* const u = pivot.slot->row;
    const Candidate chosen = pivot.slot->head;
    const unsigned kept = [&] {
      if constexpr (has_two_parts<E>)
        if (!is_power_of_two(pivot.inverse.inverse)) return p.kept_bits;
      return ~0u;
    }();
    // l = a / pivot;  a -= l u, one column to the left
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (position[r] == chosen.position)
        position[r] = step;
      else if (position[r] == step)
        position[r] = chosen.position;
      l[r] = of_kept_bits(pivot.inverse.times(a[r][0]), kept);
      a[r][0] = minus_product(a[r][1], l[r], u[1]);
    }
    search(step + 1);
    turn = turn == turns - 1 ? 0 : turn + 1;
    if (more)
      publish<Live>([&] {
#pragma unroll
        for (int k = 2; k < Live; ++k) {
          const E uk = u[k];
#pragma unroll
          for (int r = 0; r < R; ++r) a[r][k - 1] = minus_product(a[r][k], l[r], uk);
        }
      });
    store<Live>(step, u, chosen);
  }

  /// Column `step` of L, by the owners of the rows, and row `step` of U, by one warp of the grid.
  template <int Live>
  __device__ void store(int step, const E* u, const Candidate& chosen) {
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (position[r] > step) store_kept<keeps_panel<E>>(L_at + r * T, l[r]);
    L_at += p.A.ld;
    if constexpr (Kept::possible)
      if (p.keeps_L) {
        E* const to = Kept::column(step % W) + warp * warp_size + lane;
#pragma unroll
        for (int r = 0; r < R; ++r) to[r * T] = l[r];
      }
    if (threadIdx.x == 0) {
      shared.source[step] = chosen.row;
      shared.pivot[step] = chosen.position;
      if ((chosen.high | chosen.low) == 0 && link.rank == 0 && *p.info <= 0)
        *p.info = static_cast<std::int32_t>(p.offset + step + 1);
    }
    if (link.rank == 0 && warp == step % warps && lane < Live && step + lane < nb) *U_at = u[lane];
    U_at += nb + 1;
  }

  /// The sub-panel at c0 is done: tells the other team which rows are live, and meets it, or all blocks.
  __device__ void leave(int c0) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const unsigned rows = __ballot_sync(all_lanes, position[r] >= c0 + W);
      if (lane == 0) shared.live[c0 / W % 2][r * warps + warp] = rows;
    }
    if (p.boxes) global_stores_before_copies();  // L
    Rest::meet_between(link, p);
  }

  /// The window becomes A22 - L21 U12 in the w columns after the sub-panel at c0.
  __device__ void enter_next(int c0, int w) {
    if constexpr (Kept::possible)
      if (p.keeps_L) return enter_next_by_tensor_cores(c0, w);
    load(c0 + W, w);
    const E* from = L_at - W * p.A.ld;
#pragma unroll 1
    for (int k0 = 0; k0 < W; k0 += columns_of_L) {
      E L[columns_of_L][R];
#pragma unroll
      for (int k = 0; k < columns_of_L; ++k, from += p.A.ld)
#pragma unroll
        for (int r = 0; r < R; ++r) L[k][r] = position[r] >= c0 + W ? load_kept<keeps_panel<E>>(from + r * T) : E{};
      if (k0 == 0) meet<Meeting::solved, T>();
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

  /// The same with the kept L. A warp multiplies its own rows, 16 by 8 numbers at a time, of which a lane has those of
  /// tensor_double.cuh; through the memory of L each row comes to its thread.
  __device__ void enter_next_by_tensor_cores(int c0, int w) {
    constexpr int deep = 4, steps = W / deep, wide = W / 8;
    // kept: else what follows from them would fill registers during the elimination
    const int outer = kept(lane / deep), inner = kept(lane % deep);
    const int top = first_row - lane + outer;
    const E* from = L_at + (outer - lane) + 2 * inner * p.A.ld;
    double x[R][2][wide][4];
#pragma unroll
    for (int t = 0; t < wide; ++t, from += 8 * p.A.ld)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const E* const column = from + e * p.A.ld;
        const bool here = 8 * t + 2 * inner + e < w;
#pragma unroll
        for (int r = 0; r < R; ++r)
#pragma unroll
          for (int h = 0; h < 4; ++h) {  // eight rows
            const int down = r * T + 8 * h;
            x[r][h / 2][t][h % 2 * 2 + e] = here && top + down < m ? column[down] : 0.0;
          }
      }
    meet<Meeting::solved, T>();
    E* const rows = Kept::column(0) + warp * warp_size;  // of this warp
    const E* const L = rows + inner * Kept::stride + outer;
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      double minus_U[wide];
#pragma unroll
      for (int t = 0; t < wide; ++t) minus_U[t] = negated(shared.next_U[deep * s + inner][8 * t + outer]);
#pragma unroll
      for (int r = 0; r < R; ++r)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const E* const l = L + s * deep * Kept::stride + r * T + 16 * h;
#pragma unroll
          for (int t = 0; t < wide; ++t) multiply_16x4x8(x[r][h][t], l[0], l[8], minus_U[t]);
        }
    }
    __syncwarp();
    E* const to = rows + 2 * inner * Kept::stride + outer;
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int t = 0; t < wide; ++t)
#pragma unroll
          for (int e = 0; e < 4; ++e) to[(8 * t + e % 2) * Kept::stride + r * T + 16 * h + e / 2 * 8] = x[r][h][t][e];
    __syncwarp();
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
      for (int k = 0; k < W; ++k) a[r][k] = position[r] >= c0 + W ? rows[k * Kept::stride + r * T + lane] : 0.0;
  }

  /// The rows go to their positions: top row t gets L of its source and U by position; a displaced top row goes where
  /// the pivot that came was. The blocks share the columns. Where they meet, for the last time, none needs another's shared memory
  /// any longer.
  __device__ void place_rows() {
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (position[r] >= 0 && row(r) < nb) p.exchange.displaced_to[row(r)] = position[r] >= nb ? position[r] : -1;
    link.boundary();
    // groups of threads, which have one or, if they must, `tops` of the top rows each, share the columns
    constexpr int at_once = sizeof(E) == 4 ? 16 : 8, most = T < lu_panel_max ? T : static_cast<int>(lu_panel_max),
                  tops = static_cast<int>(lu_panel_max) / most;
    const int size = min(nb <= 32 ? 32 : nb <= 64 ? 64 : nb <= 128 ? 128 : 256, most), groups = T / size;
    const int of_block = static_cast<int>(threadIdx.x) / size;  // threads that are left over have no columns
    const int group = link.rank * groups + of_block;
    int t[tops], source[tops], to[tops];
#pragma unroll
    for (int i = 0; i < tops; ++i) {
      t[i] = static_cast<int>(threadIdx.x) % size + i * size;
      source[i] = t[i] < nb ? shared.source[t[i]] : 0;
      if (group == 0 && t[i] < nb) {
        p.ipiv[t[i]] = static_cast<std::int32_t>(p.offset + shared.pivot[t[i]] + 1);
        p.exchange.source[t[i]] = source[i];
      }
      to[i] = t[i] < nb ? __ldcg(p.exchange.displaced_to + t[i]) : -1;
    }
    const int all = link.blocks * groups, share = min((nb + all - 1) / all, at_once);
    for (int first = 0; first < nb; first += all * share) {
      const int c0 = first + group * share;
      E old[tops][at_once], fresh[tops][at_once];
      E* const first_column = kept(&p.A(0, c0));
      const int columns = of_block < groups ? min(share, nb - c0) : 0;
#pragma unroll
      for (int i = 0; i < tops; ++i) {
        E* column = first_column;
        const E* const U = kept(p.U + (t[i] * nb + c0));
#pragma unroll
        for (int j = 0; j < at_once; ++j, column += p.A.ld) {
          if (j >= columns || t[i] >= nb) continue;
          old[i][j] = column[t[i]];
          fresh[i][j] = c0 + j < t[i] ? column[source[i]] : U[j];
        }
      }
      meet<Meeting::eliminating, T>();
#pragma unroll
      for (int i = 0; i < tops; ++i) {
        E* column = first_column;
#pragma unroll
        for (int j = 0; j < at_once; ++j, column += p.A.ld) {
          if (j >= columns || t[i] >= nb) continue;
          column[t[i]] = fresh[i][j];
          if (to[i] >= 0) column[to[i]] = old[i][j];
        }
      }
    }
  }

  __device__ void run() {
    load(0, min(W, nb));
    if (p.offset == 0 && link.rank == 0 && threadIdx.x == 0) open_results(p);
    link.opened(p);
    for (int c0 = 0;; c0 += W) {
      const int w = min(W, nb - c0);
      search(c0);
      publish<W>([] {});
      int j = 0;
      for (; j < min(w, W / 2); ++j) eliminate<W>(c0 + j, j + 1 < w);
      for (; j < w; ++j) {
        eliminate<W / 2>(c0 + j, j + 1 < w);
        // one step later than need be: this team has met since (BlockLink::boundary)
        if (Rest::early > 0 && j == Rest::early && c0 + W < nb) announce<Meeting::chosen, T>();
      }
      if (c0 + W >= nb) break;
      leave(c0);
      enter_next(c0, min(W, nb - c0 - W));
    }
    let_next_start();  // it waits for this kernel's end
    place_rows();
  }
};

/// Registers of a thread that eliminates; at the start all have registers_at_start. By what the rows take, and so that neither team, or
/// the second one if it must be, has loads from local memory; of more_threads both have a few, outside the steps. (Where that is as many
/// as at the start the compiler has to be told too, or it keeps numbers in local memory.) few_threads have as many as they want.
template <int T>
constexpr int registers_at_start = 65536 / (T + updating) / 8 * 8;
template <class E, int W, int R, int T>
constexpr int registers_given = [] {
  if (T == more_threads) return 120;
  constexpr int bytes_of_rows = R * W * static_cast<int>(sizeof(E));
  if (bytes_of_rows > 384) return std::is_same_v<E, double> ? 200 : 208;
  if (bytes_of_rows > 256 && sizeof(E) == 16) return 192;
  return bytes_of_rows <= 256 && two_words<E> ? registers_at_start<T> : 176;
}();
/// So many of a thread of the other team.
template <int T, int given>
constexpr int registers_left = (registers_at_start<T> * (T + updating) - given * T) / updating;
template <int T, int registers>
__device__ void change_registers() {
  if constexpr (T == few_threads)
    return;
  else if constexpr (registers >= registers_at_start<T>)
    take_registers<registers>();
  else
    leave_registers<registers>();
}

template <class E, int W, int R, int T, template <class, int, int> class LinkOf>
__global__ void __launch_bounds__(T + updating, 1) lu_panel_kernel(Panel<E> p, const __grid_constant__ BoxMaps maps) {
  extern __shared__ __align__(16) unsigned char bytes[];
  __shared__ PanelShared<E, W, R, T, LinkOf> shared;
  using Link = LinkOf<E, W, T>;
  Link::open(shared.link);
  wait_for_previous();
  constexpr int given = registers_given<E, W, R, T>;
  // Each team has a link of its own: what one keeps in registers would otherwise be kept for the other too, and not in registers.
  if (threadIdx.x < T) {
    change_registers<T, given>();
    Link link(shared.link, p);
    Elimination<E, W, R, T, LinkOf>(p, shared, link).run();
  } else {
    change_registers<T, registers_left<T, given>>();
    Link link(shared.link, p);
    RestUpdate<E, W, R, T, LinkOf>(p, maps, shared, bytes + (p.keeps_L ? KeptL<E, W, R, T>::bytes : 0), link).run();
  }
}

}  // namespace devobj::cuda::lu
