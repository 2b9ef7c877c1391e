// The team of a lu_panel block that updates: U12 = L11^-1 A12, and A22 -= L21 U12 for the columns after the next sub-panel,
// while the other team eliminates that.
//
// A pass takes `updating` rows. Their part of L21 stays in registers; columns come in groups through a ring in shared memory,
// in which every thread finds its own elements (as boxes: lu_panel_boxes.cuh); U12 is in shared memory too.
#pragma once

#include <cuda_pipeline.h>

#include "kernels/cuda/lu_panel_boxes.cuh"

namespace devobj::cuda::lu {

/// What the threads of a block share.
template <class E, int W, int R, int T, template <class, int, int> class LinkOf>
struct PanelShared {
  static constexpr int warps = T / warp_size;
  typename LinkOf<E, W, T>::Shared link;
  Candidate winners[turns][warps];
  E values[turns][warps];                                  // of these candidates
  std::int32_t source[lu_panel_max], pivot[lu_panel_max];  // of each step: its row in A, its position
  std::uint32_t live[2][R * warps];  // after a sub-panel, by turns: a bit for each row not done yet
  alignas(16) E L11[W][W];           // L11[k][i] = L11(i, k)
  // of the next W columns, by rows, which begin in different banks where tensor cores read them
  alignas(16) E next_U[W][W + (std::is_same_v<E, double> ? 4 : 0)];
};

/// The dynamic shared memory of the team: a ring of groups, of 32 KiB, or the warps' rings, then U12 by columns, and, if numbers are split,
/// SplitColumns.
template <class E, int W>
struct RestMemory {
  static constexpr int group = Tile<E, W>::elements * updating;  // elements
  static constexpr int groups = 32 * 1024 / (group * static_cast<int>(sizeof(E)));
  __host__ __device__ static constexpr int of_ring(bool boxes) {
    return boxes ? Boxes<E, W>::bytes : groups * group * static_cast<int>(sizeof(E));
  }
  /// Bytes of U12 in a panel of nb columns.
  __host__ __device__ static constexpr int of_U12(int nb) {
    constexpr int columns = Boxes<E, W>::box_columns;
    return (nb - 2 * W + columns - 1) / columns * columns * Tile<E, W>::stride * static_cast<int>(sizeof(E));
  }
  /// Of all.
  static std::size_t bytes(std::int64_t nb, bool boxes) {
    const int columns = static_cast<int>(nb), rest = columns - 2 * W;
    return rest <= 0 ? 0 : of_ring(boxes) + of_U12(columns) + (boxes && splits<E, W> ? SplitColumns::bytes(rest) : 0);
  }
};

/// Before that, of double and if there is room: a block's part of the present sub-panel's L, for the tensor cores; a block with one
/// row per thread sends rows of L11 from it. Not for complex numbers, nor for more than two rows per thread, which are not faster so.
template <class E, int W, int R, int T>
struct KeptL {
  static constexpr bool possible = std::is_same_v<E, double> && R <= 2;
  static constexpr int stride = R * T + 4;  // neighbours along the depth are in different banks
  static constexpr std::size_t bytes = std::size_t(W) * stride * sizeof(E);
  /// Column k of L, from the block's first row on.
  __device__ static E* column(int k) {
    extern __shared__ __align__(16) unsigned char bytes_of_block[];
    return reinterpret_cast<E*>(bytes_of_block) + k * stride;
  }
};

template <class E, int W, int R, int T, template <class, int, int> class LinkOf>
struct RestUpdate {
  using Link = LinkOf<E, W, T>;
  using Shared = PanelShared<E, W, R, T, LinkOf>;
  using Memory = RestMemory<E, W>;
  using Tile = lu::Tile<E, W>;
  using Boxes = lu::Boxes<E, W>;
  using Kept = KeptL<E, W, R, T>;
  static constexpr int early = chosen_early<Link, E, W, R>;
  static constexpr bool few_registers =
      R >= 4 || (R == 3 && sizeof(E) == 16);  // since the rows of the other team have so many
  // else slower; of float with one or two rows LU is, though panels alone are not
  static constexpr bool can_copy_boxes =
      Link::copies_boxes && R * sizeof(E) < 64 && (!std::is_same_v<E, float> || R >= 3);
  static constexpr bool can_send = Link::sends_L11 && Kept::possible && R == 1;  // with two no faster
  // What other blocks' second teams have stored is visible to this block's, in A12, and what its own has, to the first team, by
  // updated() then: acquiring at a barrier of the cluster empties the multiprocessor's cache.
  static_assert(!can_send || early > 0);

  /// Whether L11 is sent from block to block: then they need not meet between two sub-panels.
  __device__ static bool sends(const Panel<E>& p) { return can_send && p.keeps_L; }
  /// By both teams, between two sub-panels.
  __device__ static void meet_between(Link& link, const Panel<E>& p) {
    if (sends(p))
      meet_teams<T>();
    else
      link.boundary();
  }

  const Panel<E>& p;
  const BoxMaps& maps;  // of the panel, if p.boxes
  Shared& shared;
  Link& link;
  unsigned char* const memory;
  E *ring, *U12;
  const int nb, thread;

  __device__ RestUpdate(const Panel<E>& panel, const BoxMaps& maps_of_panel, Shared& of_block, unsigned char* of_team,
                        Link& blocks)
      : p(panel),
        maps(maps_of_panel),
        shared(of_block),
        link(blocks),
        memory(of_team),
        ring(reinterpret_cast<E*>(of_team)),
        U12(reinterpret_cast<E*>(of_team + Memory::of_ring(panel.boxes))),
        nb(static_cast<int>(panel.A.cols)),
        thread(static_cast<int>(threadIdx.x) - T) {}

  /// Behind U12, if numbers are split.
  __device__ SplitColumns split_U12() const {
    return {reinterpret_cast<SplitFloat*>(reinterpret_cast<unsigned char*>(U12) + Memory::of_U12(nb))};
  }
  /// Of A12 the rows of some pivots, in column c0 + W + c.
  template <int begin, int end>
  __device__ void load_rows(E (&x)[W], int c0, int c) const {
    const bool here = c < nb - c0 - W;
    const E* const column = kept(&p.A(0, here ? c0 + W + c : 0));
#pragma unroll
    for (int i = begin; i < end; ++i) x[i] = here ? column[shared.source[c0 + i]] : E{};
  }
  /// L11 below its diagonal.
  __device__ void load_L11(int c0) {
    static_assert(updating % W == 0);
    constexpr int at_once = updating / W;  // columns
    const int i = thread % W;
    const E* from = kept(&p.A(shared.source[c0 + i], c0 + thread / W));
#pragma unroll
    for (int k = thread / W; k < W; k += at_once, from += at_once * p.A.ld)
      if (k < i) shared.L11[k][i] = *from;
  }

  static constexpr int L11_bytes = W * (W - 1) / 2 * static_cast<int>(sizeof(E));
  /// The rows of L11, left of its diagonal, of those pivots that are this block's, to all blocks.
  template <int begin, int end>
  __device__ void send_L11(int c0) {
    const int k = kept(thread % W);  // else the addresses that follow from it would fill registers meanwhile
    for (int i = begin; i < end; ++i) {
      const int row = shared.source[c0 + i] - link.rank * block_rows<E, R, T>(p);
      if (row < 0 || row >= block_rows<E, R, T>(p) || k >= i) continue;
      const E l = Kept::column(k)[row];
      for (int to = thread / W; to < link.blocks; to += updating / W) link.send_L11(&shared.L11[k][i], l, to);
    }
  }

  /// U12 = L11^-1 A12 for all columns from c0 + W on; those of the next sub-panel are for the other team. x has the first `early`
  /// rows of A12 in the column of each thread. Whether some that are to be split cannot be.
  __device__ bool solve(E (&x)[W], int c0) {
    bool plain = false;
    const int rest = nb - c0 - W;
    for (int first = 0; first < rest; first += updating) {
      const int c = first + thread;
      if (early > 0 && first == 0)
        load_rows<early, W>(x, c0, c);
      else
        load_rows<0, W>(x, c0, c);
      if (first == 0) {
        if (sends(p)) {
          if constexpr (can_send) {
            send_L11<early, W>(c0);
            link.wait_for_L11();
          }
        } else {
          load_L11(c0);
          meet<Meeting::updating, T>();
        }
      }
#pragma unroll
      for (int k = 0; k < W - 1; ++k) {
        __syncwarp();  // keeps the compiler from loading L11 far ahead, which would fill the registers
#pragma unroll
        for (int i = k + 1; i < W; ++i) x[i] = minus_product(x[i], shared.L11[k][i], x[k]);
      }
      if (c < W) {
#pragma unroll
        for (int i = 0; i < W; ++i) shared.next_U[i][c] = x[i];
      } else if (c < rest) {
#pragma unroll
        for (int i = 0; i < W; ++i) U12[(c - W) * Tile::stride + i] = x[i];
      }
      if (first == 0) announce<Meeting::solved, T>();
      if constexpr (splits<E, W>)
        if (p.boxes && c >= W && c < rest) plain |= !split_U12().put(c - W, x);
      if (link.rank == 0 && c < rest) {
        E* to = kept(p.U + (c0 * nb + c0 + W + c));
#pragma unroll
        for (int i = 0; i < W; ++i, to += nb) *to = x[i];
      }
    }
    if constexpr (splits<E, W>) return meet_with<Meeting::updating, T>(plain);
    meet<Meeting::updating, T>();
    return false;
  }

  /// A22 -= L21 U12 for the columns after the next sub-panel, in the rows of the block that are live.
  __device__ void update(int c0) {
    const int first = c0 + 2 * W, rest = nb - first;
    if (rest <= 0) return;
    const std::int64_t ld = p.A.ld, next_group = Tile::columns * ld;
    const int column = Tile::column(thread);
#pragma unroll 1
    for (int pass = 0; pass < block_rows<E, R, T>(p) / updating; ++pass) {
      const int top = pass * updating + Tile::row(thread);  // of the thread's rows, within the block
      bool here[Tile::rows];
#pragma unroll
      for (int i = 0; i < Tile::rows; ++i) {
        const int row = top + i * Tile::row_step;
        here[i] = shared.live[c0 / W % 2][row / warp_size] >> row % warp_size & 1;
      }
      E* const L = &p.A(link.rank * block_rows<E, R, T>(p) + top, c0);
      // act(e, element) for the thread's elements of a group, which begins at `group` and is followed by `left` columns
      const auto each = [&](E* group, int left, auto act) {
#pragma unroll
        for (int j = 0; j < Tile::width; ++j)
          if (column + j < left) {
#pragma unroll
            for (int i = 0; i < Tile::rows; ++i)
              if (here[i]) act(i * Tile::width + j, group + j * ld + i * Tile::row_step);
          }
      };
      unsigned filled = 0, used = 0;  // groups of the ring
      const auto place = [&](unsigned group) { return ring + group % Memory::groups * Memory::group + thread; };
      constexpr int ahead = Memory::groups - 1;
      E *to = L + (2 * W + column) * ld, *from = to;
      int left = rest;  // columns from `from` on
      const auto fetch = [&] {
        E* const slot = place(filled++);
        each(from, left, [&](int e, const E* a) { copy_kept<keeps_panel<E>>(slot + e * updating, a); });
        __pipeline_commit();
        from += next_group;
        left -= Tile::columns;
      };
      for (int i = 0; i < ahead; ++i) fetch();
      Tile tile;
      tile.load(
          [&](int i, int k, int own, int part) {
            using Number = typename Tile::Number;
            const auto* const from = reinterpret_cast<const Number*>(L + (i * Tile::row_step + (k + own) * ld)) + part;
            return here[i] ? load_kept<keeps_panel<E>>(from) : Number{};
          },
          thread);
#pragma unroll 1
      for (int c = 0; c < rest; c += Tile::columns) {
        fetch();
        __pipeline_wait_prior(ahead);
        E x[Tile::elements];
        const E* const slot = place(used++);
#pragma unroll
        for (int e = 0; e < Tile::elements; ++e) x[e] = slot[e * updating];
        tile.subtract(x, U12 + c * Tile::stride, thread);
        each(to, rest - c, [&](int e, E* a) { store_kept<keeps_panel<E>>(a, x[e]); });
        to += next_group;
      }
    }
  }

  __device__ void run() {
    link.opened(p);
    if constexpr (can_copy_boxes)
      if (p.boxes) {
        Boxes boxes(p.A, maps, memory, link.rank * block_rows<E, R, T>(p), block_rows<E, R, T>(p), thread);
        boxes.copy_ahead(2 * W);
        return run([&](int c0, bool plain) {
          const std::uint32_t* const live = shared.live[c0 / W % 2];
          if constexpr (splits<E, W>)
            boxes.update_split(c0, live, U12, split_U12(), plain);
          else
            boxes.template update<few_registers>(c0, live, U12);
        });
      }
    run([&](int c0, bool) { update(c0); });
  }
  template <class Update>
  __device__ void run(Update update_rest) {
    for (int c0 = 0; c0 + W < nb; c0 += W) {
      E x[W];
      if constexpr (early > 0) {
        if (c0 > 0) link.updated();
        meet<Meeting::chosen, T>();
        load_rows<0, early>(x, c0, thread);
      }
      if constexpr (can_send)
        if (sends(p)) {
          if (thread == 0) link.expect_L11(L11_bytes);
          send_L11<0, early>(c0);
        }
      meet_between(link, p);
      const bool plain = solve(x, c0);
      update_rest(c0, plain);
    }
    link.boundary();  // the rows are placed by the other team
  }
};

}  // namespace devobj::cuda::lu
