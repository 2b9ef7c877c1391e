// window_panel's strips: the factorization of a block's own, and how it follows another block's (window_panel.cu has the
// scheme).
#pragma once

#include <cstring>

#include "kernels/cuda/reciprocal.cuh"
#include "kernels/cuda/store_if.cuh"
#include "kernels/cuda/window_panel_memory.cuh"

namespace devobj::cuda::window {

/// A thread's two rows of a strip.
template <class E>
struct Rows {
  using Shared = Memory<E>;
  using Piece = typename Shared::Piece;
  static constexpr int width = Shared::width, group = Shared::group, groups = Shared::groups;
  static constexpr int soon = 2;  // blocks on the right that get a group when it is done
  int thread, lane, warp;
  unsigned lower_lanes;
  unsigned live[2];  // all bits but the sign's while the row may become a pivot, else 0
  E a[2][width];

  __device__ int slot(int r) const { return r * threads + thread; }

  // ---- the search for a pivot ----

  /// Of a candidate for the pivot, as they are compared: the bits of |x|, and 1; 0 if the row is none.
  __device__ unsigned size(E x, int r) const {
    if constexpr (is_device_complex<E>)
      return (__float_as_uint(magnitude(x)) & live[r]) + (live[r] & 1u);
    else
      return (__float_as_uint(x) & live[r]) + (live[r] & 1u);
  }

  /// The larger of the thread's elements, of equals the first.
  struct Best {
    int row;  // 0 or 1
    unsigned size;
    unsigned largest;  // of the warp
    E x;
  };
  __device__ Best search(E x0, E x1) const {
    Best best;
    const unsigned size0 = size(x0, 0), size1 = size(x1, 1);
    best.size = max(size0, size1);
    best.largest = __reduce_max_sync(all_lanes, best.size);
    best.row = size1 > size0;
    best.x = size1 > size0 ? x1 : x0;
    return best;
  }

  /// 1 / x, without a branch, by way of a number near 1.
  __device__ static E inverse_of_any(E x) {
    if constexpr (is_device_complex<E>) {
      const Reciprocal<E> reciprocal(x);
      return scaled(reciprocal.inverse, reciprocal.before);
    } else {
      constexpr int one = 1 << 23;  // in the exponent
      const int exponent = static_cast<int>(__float_as_uint(x) & 0x7f800000u);
      const float power = __int_as_float(max(254 * one - exponent, one));
      return reciprocal_of_normal(x * power) * power;
    }
  }

  /// The warp's candidate, of equals the first, goes where all find it.
  __device__ void publish(typename Shared::Step& step, const Best& best, const E (&window)[2][width + 1]) const {
    const unsigned lanes = __ballot_sync(all_lanes, best.size == best.largest);
    const bool leads = best.size == best.largest && (lanes & lower_lanes) == 0;
    auto& to = step.of[warp];
    store_if(leads, step.size[warp], best.largest);
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int p = 0; p < groups; ++p) {
        Piece piece;
#pragma unroll
        for (int j = 0; j < group; ++j) piece.of[j] = window[r][p * group + j];
        store_if(leads && best.row == r, to.row[p], piece);
      }
    store_if(leads, to.head, {inverse_of_any(best.x), slot(best.row)});
  }

  /// The warp whose candidate is the largest, of equals the first.
  __device__ static int choose(const typename Shared::Step& step) {
    static_assert(warps == 4);
    const uint4 s = *reinterpret_cast<const uint4*>(step.size);
    const int low = s.y > s.x, high = 2 + (s.w > s.z);
    return max(s.z, s.w) > max(s.x, s.y) ? high : low;
  }

  // ---- the block's own strip ----

  /// The last columns of L, of both rows.
  struct Group {
    Piece l[2] = {};
    __device__ void append(int r, E x) {
#pragma unroll
      for (int j = 0; j < group - 1; ++j) l[r].of[j] = l[r].of[j + 1];
      l[r].of[group - 1] = x;
    }
    __device__ E last(int r) const {
      return l[r].of[group - 1];
    }
  };

  /// Where the thread's part of a strip goes, from its first group on.
  struct Places {
    struct Place {
      std::uint32_t address, box;
      bool exists;
    };
    Place L[soon];  // in the next blocks
    Place pivots;   // in the block whose number is the thread's
    __device__ Places(Shared& memory, int strip, int strips, int thread) {
      const auto place = [&](const void* here, int block) {
        const int there = min(block, strips - 1);
        return Place{remote_address(here, there), remote_address(&memory.box[strip][0], there),
                     block < strips && block != strip};
      };
#pragma unroll
      for (int n = 0; n < soon; ++n) L[n] = place(&memory.L[strip][0][thread], strip + 1 + n);
      pivots = place(&memory.pivot[strip][0], thread);
    }
  };

  /// LU of the block's strip of `cols` columns, the first being column `first` of the panel.
  __device__ void factor(Shared& memory, int cols, int first, int strips, std::int64_t offset, std::int32_t* info) {
    const int strip = first / width;
    const Places places(memory, strip, strips, thread);
    // A step begins with the search in its own column, `next`. Beside that it finishes the step before it in the other
    // columns, which begin at window[.][2] and move by one. Before the first step there is nothing to subtract.
    Group columns;
    Piece u[groups] = {};
    E window[2][width + 1], next[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      next[r] = a[r][0];
#pragma unroll
      for (int c = 0; c < width; ++c) window[r][c + 1] = a[r][c];
    }
    for (int g = 0; g * group < cols; ++g) {
      const int steps = min(cols - g * group, group);
      int* const chosen_pivots = memory.pivot[strip][g];
#pragma unroll 1
      for (int k = 0; k < steps; ++k) {
        const Best best = search(next[0], next[1]);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          window[r][0] = next[r];
#pragma unroll
          for (int c = 2; c < width; ++c)
            window[r][c - 1] = minus_product(window[r][c], columns.last(r), u[c / group].of[c % group]);
          window[r][width - 1] = window[r][width];
        }
        auto& step = memory.steps[g * group + k];
        publish(step, best, window);
        __syncthreads();
        const auto& pivot = step.of[choose(step)];
        const auto head = pivot.head;
#pragma unroll
        for (int p = 0; p < groups; ++p) u[p] = pivot.row[p];
        if (thread == 0) chosen_pivots[k] = head.slot;
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          if (head.slot == slot(r)) live[r] = 0;
          columns.append(r, product(window[r][0], head.inverse));
          next[r] = minus_product(window[r][1], columns.last(r), u[0].of[1]);
        }
      }
#pragma unroll 1
      for (int k = steps; k < group; ++k)  // the panel's last group may be short
#pragma unroll
        for (int r = 0; r < 2; ++r) columns.append(r, E{});
      pass_on(memory, strip, g, columns, places);
    }
    send_to_others(memory, strip, strips);
    report_zeros(memory, cols, first, offset, info);
  }

  /// The first zero pivot, if there is one; another block may have reported its first already.
  __device__ void report_zeros(const Shared& memory, int cols, int first, std::int64_t offset,
                               std::int32_t* info) const {
    if (warp > 0) return;
    const unsigned zeros = __ballot_sync(all_lanes, lane < cols && is_zero(memory.row_of_U(first / width, lane)[0]));
    if (lane > 0 || zeros == 0) return;
    const auto column = static_cast<std::int32_t>(offset + first + __ffs(zeros));
    for (std::int32_t expected = 0;;) {
      const std::int32_t found = atomicCAS(info, expected, column);
      if (found == expected || found < column) return;
      expected = found;
    }
  }

  /// A group of columns of L goes into the block's memory and to the next blocks, its pivots to all.
  __device__ void pass_on(Shared& memory, int strip, int g, const Group& columns, const Places& places) const {
    constexpr int bytes = sizeof(Piece);
    const auto box = g * static_cast<int>(sizeof(Mailbox));
#pragma unroll
    for (const auto& next : places.L)
      if (next.exists)
#pragma unroll
        for (int r = 0; r < 2; ++r)
          send(next.address + (g * most_rows + r * threads) * bytes, columns.l[r], next.box + box);
#pragma unroll
    for (int r = 0; r < 2; ++r) memory.L[strip][g][slot(r)] = columns.l[r];
    if (warp == 0) {
      __syncwarp();
      if (places.pivots.exists)
        send_piece(places.pivots.address + g * bytes, *reinterpret_cast<const int4*>(memory.pivot[strip][g]),
                   places.pivots.box + box);
    }
  }
  __device__ static void send(std::uint32_t to, Piece piece, std::uint32_t box) {
    int4 words;
    memcpy(&words, &piece, sizeof words);
    send_piece(to, words, box);
  }

  /// The whole strip's L goes to the blocks on the right of the next ones.
  __device__ void send_to_others(Shared& memory, int strip, int strips) const {
    for (int to = strip + 1 + soon; to < strips; ++to)
#pragma unroll
      for (int g = 0; g < groups; ++g) {
        const std::uint32_t box = remote_address(&memory.box[strip][g], to);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const Piece& piece = memory.L[strip][g][slot(r)];
          send(remote_address(&piece, to), piece, box);
        }
      }
  }

  // ---- other blocks' strips ----

  /// What a block gets in its mailbox for a group of a strip.
  __device__ static int bytes_of(int rank, int strip) {
    return static_cast<int>(sizeof(Shared::pivot[0][0])) +
           (strip < rank ? static_cast<int>(sizeof(Shared::L[0][0])) : 0);
  }

  /// Takes note of a group's pivots.
  __device__ void mark(const int (&pivot)[4]) {
#pragma unroll
    for (int j = 0; j < group; ++j)
#pragma unroll
      for (int r = 0; r < 2; ++r)
        if (pivot[j] == slot(r)) live[r] = 0;
  }

  /// The elimination by group g of a strip on the left.
  __device__ void follow(Shared& memory, int strip, int g) {
    const int first = strip * width + g * group;
    const auto& L = memory.L[strip][g];
    const int4 pivots = *reinterpret_cast<const int4*>(memory.pivot[strip][g]);
    const int pivot[] = {pivots.x, pivots.y, pivots.z, pivots.w};
    Piece l[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      l[r] = L[slot(r)];
      int step = -1;
#pragma unroll
      for (int j = 0; j < group; ++j)
        if (pivot[j] == slot(r)) step = first + j;
      if (step >= 0) {
        live[r] = 0;
#pragma unroll
        for (int c = 0; c < width; ++c) memory.A12[step][c / group].of[c % group] = a[r][c];
      }
    }
    Piece L11[group];
#pragma unroll
    for (int j = 1; j < group; ++j) L11[j] = L[pivot[j]];
    __syncthreads();
    auto& U = memory.group_of_U[warp];
    if (const int p = lane / group, c = lane % group; lane < width) {
      E u[group];
#pragma unroll
      for (int j = 0; j < group; ++j) u[j] = memory.A12[first + j][p].of[c];
#pragma unroll
      for (int j = 1; j < group; ++j)
#pragma unroll
        for (int e = 0; e < j; ++e) u[j] = minus_product(u[j], L11[j].of[e], u[e]);
#pragma unroll
      for (int j = 0; j < group; ++j) {
        U[j][p].of[c] = u[j];
        if (warp == 0) memory.U12[first + j][p].of[c] = u[j];
      }
    }
    __syncwarp();
#pragma unroll
    for (int p = 0; p < groups; ++p)
#pragma unroll
      for (int j = 0; j < group; ++j) {
        const Piece u = U[j][p];
#pragma unroll
        for (int c = 0; c < group; ++c)
#pragma unroll
          for (int r = 0; r < 2; ++r) a[r][p * group + c] = minus_product(a[r][p * group + c], l[r].of[j], u.of[c]);
      }
  }
};

}  // namespace devobj::cuda::window
