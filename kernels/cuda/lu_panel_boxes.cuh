// The way of the rest's columns through shared memory by the bulk copy engine (Hopper), for the team of a lu_panel block that
// updates: its own loads and stores would delay those of the team that eliminates.
//
//   a warp's slices: 32 rows        a ring of groups: 32 rows of 16 columns          L21: of each slice
//   of the block, one after   <->   copied ahead, updated in their place, and        copied ahead, then in registers
//   the other                       copied back
//
// A group is boxes of 128 bytes of each column, as tensor_map.hpp puts them into shared memory; if there are four, of
// complex<double>, one copy brings them. Every warp works for itself; one of its lanes copies. Rows that are done go back as
// they came: others may read them meanwhile, but nobody writes them. In single precision lu_panel_split.cuh multiplies, and
// reads L21 where it was copied to if products are plain.
#pragma once

#include "kernels/cuda/lu_panel_split.cuh"
#include "kernels/cuda/lu_panel_tiles.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/tensor_map.hpp"

namespace devobj::cuda::lu {

/// Whether the rest is updated by SplitTile where it is copied as boxes.
template <class E, int W>
constexpr bool splits = std::is_same_v<E, float>&& W == SplitColumns::depth;

/// The tensor maps of a panel: of its boxes, and, if it `has_stacks`, of stacks of them as high as a slice. The latter are one copy, where a
/// slice has no other rows than those of whole boxes.
struct BoxMaps {
  CUtensorMap box, stack, box_of_L, stack_of_L;
  bool has_stacks;
};

/// A warp's part of the update; members live in registers.
template <class E, int W>
struct Boxes {
  using Tile = lu::Tile<E, W>;
  using Number = real_e<E>;
  static constexpr int slice = warp_size, team = updating / warp_size, parts = sizeof(E) / sizeof(Number);
  // a box: bytes of a column, in numbers, in rows; columns
  static constexpr int column_bytes = 128, box_numbers = column_bytes / static_cast<int>(sizeof(Number)),
                       box_rows = box_numbers / parts, box_columns = 16;
  // bytes of shared memory: a box, a group, the ring, of a warp, of all, which has to begin at a multiple
  static constexpr int boxes_in_group = slice / box_rows, box_bytes = column_bytes * box_columns,
                       columns_of_L = std::max(W, 8), box_bytes_of_L = column_bytes * columns_of_L,
                       bytes_of_L = boxes_in_group * box_bytes_of_L, group_bytes = boxes_in_group * box_bytes,
                       groups = std::max(16 * 1024 / group_bytes, 4), barrier = 8, multiple = 1024;
  static constexpr int of_warp = bytes_of_L + groups * group_bytes,  // L21, and the ring
      bytes = multiple + team * (of_warp + (groups + 1) * barrier);
  /// Whether a slice is copied at once. (Two boxes are as fast one by one.)
  static constexpr bool stacked = boxes_in_group > 2;
  static_assert(W <= box_columns && box_bytes_of_L % multiple == 0 && box_bytes % multiple == 0 &&
                box_columns % (2 * Tile::columns) == 0);

  const BoxMaps& maps;
  const int nb, lane, warp, top, slices;  // `top`: the warp's first row
  const int whole;                        // slices of whole boxes
  const std::uint32_t at, barriers;       // the address of L21 and the ring; of their barriers, L21's last
  const std::uint64_t policy;
  unsigned filled = 0, used = 0, parity_of_L = 0;
  // the group that is copied next: its slice, its first column; the first column of all
  int next_slice = 0, next_column = 0, first = 0;

  /// `of_block`: its shared memory; the block has `block_rows` rows from `block_top` on.
  __device__ Boxes(const Block<E>& panel, const BoxMaps& maps_of_panel, const unsigned char* of_block, int block_top,
                   int block_rows, int thread)
      : maps(maps_of_panel),
        nb(static_cast<int>(panel.cols)),
        lane(kept(thread % warp_size)),
        warp(kept(thread / warp_size)),
        top(block_top + warp * slice),
        slices(slices_of(min(static_cast<int>(panel.rows), block_top + block_rows) - top)),
        whole(maps.has_stacks ? slices_of(static_cast<int>(panel.rows) / box_rows * box_rows - slice - top + 1) : 0),
        at(kept(static_cast<int>((shared_address(of_block) + multiple - 1) / multiple * multiple + warp * of_warp))),
        barriers(at + (team - warp) * of_warp + warp * (groups + 1) * barrier),
        policy(keeps_panel<E> ? keeping_policy() : cache_policy(false)) {
    if (elected())
      for (int i = 0; i <= groups; ++i) barrier_init(barriers + i * barrier, 1);
    barriers_ready();
    __syncwarp();
  }

  /// Of a panel of real numbers, or of complex ones as real ones; with stacks if they are wanted and possible.
  static BoxMaps maps_of(View<Number> panel, bool stacks) {
    BoxMaps maps{};
    maps.box = maps.box_of_L = tensor_map("lu_panel", panel, box_numbers, box_columns);
    if (columns_of_L != box_columns) maps.box_of_L = tensor_map("lu_panel", panel, box_numbers, columns_of_L);
    const auto stack = [&](CUtensorMap& map, int columns) {
      return stack_tensor_map(map, "lu_panel", panel, box_numbers, columns, boxes_in_group);
    };
    maps.has_stacks = stacked && stacks && panel.rows >= box_numbers && stack(maps.stack, box_columns) &&
                      stack(maps.stack_of_L, columns_of_L);
    return maps;
  }
  /// The warp's slices of which the first row is one of so many.
  __device__ static int slices_of(int rows) { return max(0, (rows + team * slice - 1) / (team * slice)); }

  __device__ int row(int s) const { return top + s * team * slice; }
  /// Of group number i, counted on and on.
  __device__ std::uint32_t place(unsigned i) const { return at + bytes_of_L + i % groups * group_bytes; }
  __device__ std::uint32_t arrival(unsigned i) const { return barriers + i % groups * barrier; }
  __device__ std::uint32_t arrival_of_L() const { return barriers + groups * barrier; }

  /// `columns` columns from c on, in slice s.
  template <int columns>
  __device__ void copy(std::uint32_t to, const CUtensorMap& box, const CUtensorMap& stack, int s, int c,
                       std::uint32_t arrived) const {
    constexpr int bytes_of_box = columns * column_bytes;
    if (!elected()) return;
    barrier_expect(arrived, boxes_in_group * bytes_of_box);
    if (stacked && s < whole) return stack_copy(to, stack, row(s) / box_rows, c, arrived, policy);
#pragma unroll
    for (int b = 0; b < boxes_in_group; ++b)
      box_copy(to + b * bytes_of_box, box, row(s) * parts + b * box_numbers, c, arrived, policy);
  }
  __device__ void copy_L(int s, int c0) const {
    copy<columns_of_L>(at, maps.box_of_L, maps.stack_of_L, s, c0, arrival_of_L());
  }
  /// Begins to copy the columns of update(first_column - 2 W).
  __device__ void copy_ahead(int first_column) {
    first = next_column = first_column;
    next_slice = first < nb ? 0 : slices;
    for (int i = 0; i < groups - 1; ++i) copy_next();
    __syncwarp();
  }
  __device__ void copy_next() {
    if (next_slice >= slices) return;
    copy<box_columns>(place(filled), maps.box, maps.stack, next_slice, next_column, arrival(filled));
    ++filled;
    next_column += box_columns;
    if (next_column >= nb) {
      next_column = first;
      ++next_slice;
    }
  }

  // Where lanes find the rows of a tile in the boxes: such that those of a load are in different banks.
  __device__ static int lane_row(int lane) {
    const int r = Tile::row(lane);  // of eight, whose bits are reversed
    return sizeof(E) == 16 ? r % 2 * 4 | r & 2 | r / 4 : r;
  }
  /// Of the element (row, c) of a group, or of L21, in bytes.
  __device__ static int offset(int row, int c, int bytes_of_box = box_bytes) {
    const int in_box = row % box_rows * static_cast<int>(sizeof(E));
    return row / box_rows * bytes_of_box + c * column_bytes + (in_box / 16 ^ c % 8) * 16 + in_box % 16;
  }
  /// The element i * row_step rows below a lane's first one, which is at `first`, and c columns to its right is at
  /// (first ^ turned(i, c)) + moved(i, c): rows and columns of the first have no bit in common with these distances.
  __device__ static constexpr int turned(int i, int c) {
    return (c % 8 ^ i * Tile::row_step % box_rows * static_cast<int>(sizeof(E)) / 16) * 16;
  }
  __device__ static constexpr int moved(int i, int c, int bytes_of_box = box_bytes) {
    return i * Tile::row_step / box_rows * bytes_of_box + c * column_bytes;
  }

  /// A22 -= L21 U12 for the columns from c0 + 2 W on. `live` has bits for the block's rows; U12 is by columns in shared memory.
  template <bool few_registers>
  __device__ void update(int c0, const std::uint32_t* live, const E* U12) {
    constexpr int two_tiles = 2 * Tile::columns;
    if (c0 + 2 * W >= nb || slices == 0) return;
    global_stores_before_copies();  // L21
    copy_L(0, c0);
    const int first_row = lane_row(lane), first_of_x = offset(first_row, Tile::column(lane));
#pragma unroll 1
    for (int s = 0; s < slices; ++s) {
      const std::uint32_t rows = live[warp + s * team];
      bool here[Tile::rows];
#pragma unroll
      for (int i = 0; i < Tile::rows; ++i) here[i] = rows >> (first_row + i * Tile::row_step) & 1;
      barrier_wait(arrival_of_L(), static_cast<int>(parity_of_L++ % 2));
      Tile tile;
      const int again = kept(lane);  // hidden: else this place would be kept in a register, or in local memory
      const int first_of_L = offset(lane_row(again), Tile::own_column(again), box_bytes_of_L);
      tile.load(
          [&](int i, int k, int, int part) {
            using OfTile = typename Tile::Number;
            const auto* const element = memory(at) + ((first_of_L ^ turned(i, k)) + moved(i, k, box_bytes_of_L));
            return here[i] ? reinterpret_cast<const OfTile*>(element)[part] : OfTile{};
          },
          again);
      shared_before_copies();
      __syncwarp();
      if (s + 1 < slices) copy_L(s + 1, c0);
#pragma unroll 1
      for (int c = c0 + 2 * W; c < nb; c += box_columns) {
        barrier_wait(arrival(used), static_cast<int>(used / groups % 2));
        unsigned char* const from = memory(place(used));
        const E* const U = U12 + (c - c0 - 2 * W) * Tile::stride;
        // tile t of the two from column `right` on
        const auto each = [&](int right, int t, auto act) {
#pragma unroll
          for (int i = 0; i < Tile::rows; ++i)
#pragma unroll
            for (int j = 0; j < Tile::width; ++j) {
              const int column = t * Tile::columns + j;
              const int in_two = (first_of_x ^ turned(i, column)) + moved(i, column);
              act(i, j, *reinterpret_cast<E*>(from + right * column_bytes + in_two));
            }
        };
        using Numbers = E[Tile::elements];
        const auto load = [&](Numbers& x, int right, int t) {
          each(right, t, [&](int i, int j, const E& place) { x[i * Tile::width + j] = place; });
        };
        const auto subtract = [&](Numbers& x, int right, int t) {
          tile.subtract(x, U + (right + t * Tile::columns) * Tile::stride, lane);
          each(right, t, [&](int i, int j, E& place) {
            if (here[i]) place = x[i * Tile::width + j];
          });
        };
        static_assert(two_tiles % 8 == 0);
        const int count = min(box_columns, nb - c);
        if constexpr (few_registers) {
          Numbers x;
#pragma unroll 1
          for (int right = 0; right < count; right += two_tiles)
#pragma unroll
            for (int t = 0; t < 2; ++t) {
              load(x, right, t);
              subtract(x, right, t);
            }
        } else {  // the next tile is loaded beside a product
          Numbers x[2];
          load(x[0], 0, 0);
#pragma unroll 1
          for (int right = 0; right < count; right += two_tiles) {
            load(x[1], right, 1);
            subtract(x[0], right, 0);
            if (right + two_tiles < count) load(x[0], right + two_tiles, 0);
            subtract(x[1], right, 1);
          }
        }
        copy_back(s, c);
      }
    }
    if (elected()) stores_done();
    copy_ahead(c0 + 3 * W);
  }

  /// The same by SplitTile. U has the parts of U12, unless some of it cannot be split: then all products are to be `plain`.
  __device__ void update_split(int c0, const std::uint32_t* live, const E* U12, const SplitColumns& U, bool plain) {
    static_assert(boxes_in_group == 1 && slice == SplitTile::box_rows && column_bytes == SplitTile::column_bytes);
    static_assert(box_columns == SplitColumns::together && Tile::stride == SplitColumns::depth);
    if (c0 + 2 * W >= nb || slices == 0) return;
    global_stores_before_copies();
    copy_L(0, c0);
#pragma unroll 1
    for (int s = 0; s < slices; ++s) {
      barrier_wait(arrival_of_L(), static_cast<int>(parity_of_L++ % 2));
      const unsigned char* const L = memory(at);
      const SplitTile tile(L, live[warp + s * team], lane);
      const auto copy_next_L = [&] {
        shared_before_copies();
        __syncwarp();
        if (s + 1 < slices) copy_L(s + 1, c0);
      };
      const bool from_box = plain || !tile.possible();
      if (!from_box) copy_next_L();
#pragma unroll 1
      for (int c = c0 + 2 * W; c < nb; c += box_columns) {
        barrier_wait(arrival(used), static_cast<int>(used / groups % 2));
        unsigned char* const group = memory(place(used));
        const int first = c - c0 - 2 * W;
        if (from_box)
          tile.subtract_plain(group, L, U12 + first * W, lane);
        else
          tile.subtract(group, U.columns + first * SplitColumns::stride, lane);
        copy_back(s, c);
      }
      if (from_box) copy_next_L();
    }
    if (elected()) stores_done();
    copy_ahead(c0 + 3 * W);
  }

  /// The group that was used, of slice s from column c on, to the panel; its place is the next one's to be copied.
  __device__ void copy_back(int s, int c) {
    shared_before_copies();
    __syncwarp();
    if (elected()) {
      if (stacked && s < whole)
        stack_store(place(used), maps.stack, row(s) / box_rows, c, policy);
      else
#pragma unroll
        for (int b = 0; b < boxes_in_group; ++b)
          box_store(place(used) + b * box_bytes, maps.box, row(s) * parts + b * box_numbers, c, policy);
      stores_end();
      stores_read<1>();  // the place before this one is free
    }
    ++used;
    copy_next();
  }

  __device__ static unsigned char* memory(std::uint32_t address) {
    return static_cast<unsigned char*>(__cvta_shared_to_generic(address));
  }
};

}  // namespace devobj::cuda::lu
