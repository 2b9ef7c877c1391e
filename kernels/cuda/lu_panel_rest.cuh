// The team of a lu_panel block that updates: U12 = L11^-1 A12, and A22 -= L21 U12 for the columns after the next sub-panel,
// while the other team eliminates that.
//
// A pass takes `updating` rows. Their part of L21 stays in registers; columns come in groups through a ring in shared memory,
// in which every thread finds its own elements; U12 is in shared memory too.
#pragma once

#include <cuda_pipeline.h>

#include <algorithm>
#include <type_traits>

#include "kernels/cuda/kept_in_cache.cuh"
#include "kernels/cuda/lu_panel_links.cuh"

namespace devobj::cuda::lu {

/// Whether the columns of a panel are to stay in the L2 cache beside a product that passes through it. For other types it
/// changed nothing (docs/design-notes.md).
template <class E>
constexpr bool keeps_panel = sizeof(E) == 16;

/// What the threads of a block share.
template <class E, int W, int R, template <class, int> class LinkOf>
struct PanelShared {
  typename LinkOf<E, W>::Shared link;
  Candidate winners[turns][warps];
  E values[turns][warps];                                  // of these candidates
  std::int32_t source[lu_panel_max], pivot[lu_panel_max];  // of each step: its row in A, its position
  std::uint32_t live[2][R * warps];  // after a sub-panel, by turns: a bit for each row not done yet
  alignas(16) E L11[W][W];           // L11[k][i] = L11(i, k)
  // of the next W columns, by rows, which begin in different banks where tensor cores read them
  alignas(16) E next_U[W][W + (std::is_same_v<E, double> ? 4 : 0)];
};

// How a pass is multiplied. In a group of `columns` columns a thread has rows x width elements: the rows from row(thread) in
// steps of row_step, the columns from column(thread) on; x(i, j) is x[i * width + j].

/// 16 bytes of shared memory, in the order in which the program says so: without it the compiler goes column by column in
/// subtract(), and waits for every sum.
template <class Piece>
__device__ Piece load_in_order(const void* from) {
  static_assert(sizeof(Piece) == 16);
  int4 words;
  asm volatile("ld.volatile.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "r"(shared_address(from))
               : "memory");
  Piece piece;
  memcpy(&piece, &words, sizeof piece);
  return piece;
}

/// A thread with one row of the pass and all columns of the group.
template <class E, int W>
struct RowTile {
  static constexpr int columns = std::max(32 / static_cast<int>(sizeof(E)), 4);
  static constexpr int rows = 1, row_step = 1, width = columns, elements = rows * width;
  static constexpr int stride = W;  // elements from one column of U12 to the next
  E L[W];

  __device__ static int row(int thread) { return thread; }
  __device__ static int column(int) { return 0; }

  /// L21; `first` is its row row(thread).
  __device__ void load(const E* first, const bool (&here)[rows], std::int64_t ld, int) {
#pragma unroll
    for (int k = 0; k < W; ++k) L[k] = here[0] ? first[k * ld] : E{};
  }
  /// x -= L U, U by columns in shared memory
  __device__ void subtract(E (&x)[elements], const E* U, int) const {
    constexpr int at_once = 16 / sizeof(E);
    struct alignas(16) Piece {
      E of[at_once];
    };
#pragma unroll
    for (int k = 0; k < W; k += at_once) {
      Piece u[columns];
#pragma unroll
      for (int j = 0; j < columns; ++j) u[j] = load_in_order<Piece>(U + j * stride + k);
#pragma unroll
      for (int i = 0; i < at_once; ++i)
#pragma unroll
        for (int j = 0; j < columns; ++j) x[j] = minus_product(x[j], L[k + i], u[j].of[i]);
    }
  }
};

/// Double precision by tensor cores: four tiles of 8 x 8 numbers to a warp, in steps of depth 4. A complex product is a
/// real one: the row (re, im) of L by the columns (re, -im) and (im, re) of U.
template <class E, int W>
struct TensorTile {
  static constexpr int parts = sizeof(E) / sizeof(double), depth = 4, steps = W * parts / depth;
  static constexpr int columns = 8 / parts, rows = 4, row_step = 8, width = 2 / parts, elements = rows * width;
  static constexpr int stride = W + depth / parts;  // so that the columns of U12 begin in different banks
  double L[rows][steps];                            // negative

  __device__ static int row(int thread) { return thread / warp_size * warp_size + thread % warp_size / 4; }
  __device__ static int column(int thread) { return thread % 4 * width; }

  __device__ void load(const E* first, const bool (&here)[rows], std::int64_t ld, int thread) {
    const int k = thread % 4;
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        const E* from = first + i * row_step + (s * depth + k) / parts * ld;
        L[i][s] = here[i] ? -load_kept<keeps_panel<E>>(reinterpret_cast<const double*>(from) + k % parts) : 0.0;
      }
  }
  __device__ void subtract(E (&x)[elements], const E* U, int thread) const {
    const int k = thread % 4, n = thread % warp_size / 4;
    const double* u = reinterpret_cast<const double*>(U + n / parts * stride + k / parts) + (k + n) % parts;
    const bool minus = k % parts > n % parts;
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      const double us = minus ? -u[s * depth] : u[s * depth];
#pragma unroll
      for (int i = 0; i < rows; ++i) {
        double* numbers = reinterpret_cast<double*>(&x[i * width]);
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(numbers[0]), "+d"(numbers[1])
                     : "d"(L[i][s]), "d"(us));
      }
    }
  }
};

template <class E, int W>
using Tile = std::conditional_t<two_words<E>, TensorTile<E, W>, RowTile<E, W>>;

/// The dynamic shared memory of the team: a ring of groups, of 32 KiB, then U12 by columns.
template <class E, int W>
struct RestMemory {
  static constexpr int group = Tile<E, W>::elements * updating;  // elements
  static constexpr int groups = 32 * 1024 / (group * static_cast<int>(sizeof(E)));
  /// Bytes for a panel of nb columns.
  static std::size_t bytes(std::int64_t nb) {
    constexpr std::int64_t columns = Tile<E, W>::columns;
    const std::int64_t rest = nb - 2 * W;
    return rest <= 0 ? 0 : (groups * group + ceil_div(rest, columns) * columns * Tile<E, W>::stride) * sizeof(E);
  }
};

/// Before that, of double and if there is room: a block's part of the present sub-panel's L, for the tensor cores. Complex
/// numbers, and more than two rows per thread, are not faster so.
template <class E, int W, int R>
struct KeptL {
  static constexpr bool possible = std::is_same_v<E, double> && R <= 2;
  static constexpr int stride = R * threads + 4;  // neighbours along the depth are in different banks
  static constexpr std::size_t bytes = std::size_t(W) * stride * sizeof(E);
  /// Column k of L, from the block's first row on.
  __device__ static E* column(int k) {
    extern __shared__ __align__(16) unsigned char bytes_of_block[];
    return reinterpret_cast<E*>(bytes_of_block) + k * stride;
  }
};

template <class E, int W, int R, template <class, int> class LinkOf>
struct RestUpdate {
  using Link = LinkOf<E, W>;
  using Shared = PanelShared<E, W, R, LinkOf>;
  using Memory = RestMemory<E, W>;
  using Tile = lu::Tile<E, W>;

  const Panel<E>& p;
  Shared& shared;
  Link& link;
  E *ring, *U12;
  const int nb, thread;

  __device__ RestUpdate(const Panel<E>& panel, Shared& memory, E* columns, Link& blocks)
      : p(panel),
        shared(memory),
        link(blocks),
        ring(columns),
        U12(columns + Memory::groups * Memory::group),
        nb(static_cast<int>(panel.A.cols)),
        thread(static_cast<int>(threadIdx.x) - threads) {}

  /// Of A12 the rows of some pivots, in column c0 + W + c.
  template <int begin, int end>
  __device__ void load_rows(E (&x)[W], int c0, int c) const {
    const bool here = c < nb - c0 - W;
    const E* const column = kept(&p.A(0, here ? c0 + W + c : 0));
#pragma unroll
    for (int i = begin; i < end; ++i) x[i] = here ? column[shared.source[c0 + i]] : E{};
  }
  /// L11, zero on the diagonal and above it.
  __device__ void load_L11(int c0) {
    static_assert(updating % W == 0);
    constexpr int at_once = updating / W;  // columns
    const int i = thread % W;
    const E* from = kept(&p.A(shared.source[c0 + i], c0 + thread / W));
#pragma unroll
    for (int k = thread / W; k < W; k += at_once, from += at_once * p.A.ld) shared.L11[k][i] = k < i ? *from : E{};
  }

  /// U12 = L11^-1 A12 for all columns from c0 + W on; those of the next sub-panel are for the other team. x has the first `early`
  /// rows of A12 in the column of each thread.
  template <int early>
  __device__ void solve(E (&x)[W], int c0) {
    const int rest = nb - c0 - W;
    for (int first = 0; first < rest; first += updating) {
      const int c = first + thread;
      if (early > 0 && first == 0)
        load_rows<early, W>(x, c0, c);
      else
        load_rows<0, W>(x, c0, c);
      if (first == 0) {
        load_L11(c0);
        meet<Meeting::updating>();
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
      if (first == 0) announce<Meeting::solved>();
      if (link.rank == 0 && c < rest) {
        E* to = kept(p.U + (c0 * nb + c0 + W + c));
#pragma unroll
        for (int i = 0; i < W; ++i, to += nb) *to = x[i];
      }
    }
    meet<Meeting::updating>();
  }

  /// A22 -= L21 U12 for the columns after the next sub-panel, in the rows of the block that are live.
  __device__ void update(int c0) {
    const int first = c0 + 2 * W, rest = nb - first;
    if (rest <= 0) return;
    const std::int64_t ld = p.A.ld, next_group = Tile::columns * ld;
    const int column = Tile::column(thread);
#pragma unroll 1
    for (int pass = 0; pass < R * threads / updating; ++pass) {
      const int top = pass * updating + Tile::row(thread);  // of the thread's rows, within the block
      bool here[Tile::rows];
#pragma unroll
      for (int i = 0; i < Tile::rows; ++i) {
        const int row = top + i * Tile::row_step;
        here[i] = shared.live[c0 / W % 2][row / warp_size] >> row % warp_size & 1;
      }
      E* const L = &p.A(link.rank * R * threads + top, c0);
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
      tile.load(L, here, ld, thread);
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
    constexpr int early = chosen_early<Link, E, W, R>;
    for (int c0 = 0; c0 + W < nb; c0 += W) {
      E x[W];
      if constexpr (early > 0) {
        if (c0 > 0) link.updated();
        meet<Meeting::chosen>();
        load_rows<0, early>(x, c0, thread);
      }
      link.boundary();
      solve<early>(x, c0);
      update(c0);
    }
    link.boundary();  // the rows are placed by the other team
  }
};

}  // namespace devobj::cuda::lu
