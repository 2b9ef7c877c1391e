// The way of the rest's columns through shared memory by the bulk copy engine (Hopper), for the team of a lu_panel block that
// updates: its own loads and stores would delay those of the team that eliminates.
//
//   a warp's slices: 32 rows        a ring of groups: 32 rows of 16 columns          L21: of each slice
//   of the block, one after   <->   copied ahead, updated in their place, and        copied ahead, then in registers
//   the other                       copied back
//
// A group is boxes of 128 bytes of each column, as tensor_map.hpp puts them into shared memory. Every warp works for itself; one
// of its lanes copies. Rows that are done go back as they came: others may read them meanwhile, but nobody writes them. In single
// precision lu_panel_split.cuh multiplies, and reads L21 where it was copied to if products are plain.
#pragma once

#include "kernels/cuda/lu_panel_split.cuh"
#include "kernels/cuda/lu_panel_tiles.cuh"
#include "kernels/cuda/pipeline.cuh"

namespace devobj::cuda::lu {

/// Whether the rest is updated by SplitTile where it is copied as boxes.
template <class E, int W>
constexpr bool splits = std::is_same_v<E, float>&& W == SplitColumns::depth;

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
                       group_bytes = boxes_in_group * box_bytes, groups = std::max(16 * 1024 / group_bytes, 4),
                       barrier = 8, multiple = 1024;
  static constexpr int of_warp = (1 + groups) * group_bytes,  // L21, and the ring
      bytes = multiple + team * (of_warp + (groups + 1) * barrier);
  static_assert(W <= box_columns && box_bytes % multiple == 0 && box_columns % (2 * Tile::columns) == 0);

  const CUtensorMap& map;
  const int nb, lane, warp, top, slices;  // `top`: the warp's first row
  const std::uint32_t at, barriers;       // the address of L21 and the ring; of their barriers, L21's last
  const std::uint64_t policy;
  unsigned filled = 0, used = 0, parity_of_L = 0;
  // the group that is copied next: its slice, its first column; the first column of all
  int next_slice = 0, next_column = 0, first = 0;

  /// `of_block`: its shared memory; the block has `block_rows` rows from `block_top` on.
  __device__ Boxes(const Block<E>& panel, const CUtensorMap& map_of_panel, const unsigned char* of_block, int block_top,
                   int block_rows, int thread)
      : map(map_of_panel),
        nb(static_cast<int>(panel.cols)),
        lane(kept(thread % warp_size)),
        warp(kept(thread / warp_size)),
        top(block_top + warp * slice),
        slices(max(
            0, (min(static_cast<int>(panel.rows), block_top + block_rows) - top + team * slice - 1) / (team * slice))),
        at(kept(static_cast<int>((shared_address(of_block) + multiple - 1) / multiple * multiple + warp * of_warp))),
        barriers(at + (team - warp) * of_warp + warp * (groups + 1) * barrier),
        policy(keeps_panel<E> ? keeping_policy() : cache_policy(false)) {
    if (elected())
      for (int i = 0; i <= groups; ++i) barrier_init(barriers + i * barrier, 1);
    barriers_ready();
    __syncwarp();
  }

  __device__ int row(int s) const { return top + s * team * slice; }
  /// Of group number i, counted on and on.
  __device__ std::uint32_t place(unsigned i) const { return at + group_bytes + i % groups * group_bytes; }
  __device__ std::uint32_t arrival(unsigned i) const { return barriers + i % groups * barrier; }
  __device__ std::uint32_t arrival_of_L() const { return barriers + groups * barrier; }

  __device__ void copy(std::uint32_t to, int s, int c, std::uint32_t arrived) const {
    if (!elected()) return;
    barrier_expect(arrived, group_bytes);
#pragma unroll
    for (int b = 0; b < boxes_in_group; ++b)
      box_copy(to + b * box_bytes, map, row(s) * parts + b * box_numbers, c, arrived, policy);
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
    copy(place(filled), next_slice, next_column, arrival(filled));
    ++filled;
    next_column += box_columns;
    if (next_column >= nb) {
      next_column = first;
      ++next_slice;
    }
  }

  // Where lanes find the rows of a tile in the boxes: such that those of a load are in different banks.
  __device__ static int lane_row(int lane) {
    if constexpr (sizeof(E) == 16) {
      const int r = Tile::row(lane);
      return r / 2 | r % 2 * 4;
    }
    return Tile::row(lane);
  }
  /// Of the element (row, c) of a group, in bytes.
  __device__ static int offset(int row, int c) {
    const int in_box = row % box_rows * static_cast<int>(sizeof(E));
    return row / box_rows * box_bytes + c * column_bytes + (in_box / 16 ^ c % 8) * 16 + in_box % 16;
  }

  /// A22 -= L21 U12 for the columns from c0 + 2 W on. `live` has bits for the block's rows; U12 is by columns in shared memory.
  template <bool few_registers>
  __device__ void update(int c0, const std::uint32_t* live, const E* U12) {
    // two tiles at a time, if there is room, so that one does not wait for the other's loads and sums
    constexpr int at_once = few_registers ? 1 : 2;
    if (c0 + 2 * W >= nb || slices == 0) return;
    global_stores_before_copies();  // L21; of columns that come with it, and may change meanwhile, nothing is read
    copy(at, 0, c0, arrival_of_L());
    const int first_row = lane_row(lane), column_in_tile = Tile::column(lane);
    int mine[Tile::rows][Tile::width];
#pragma unroll
    for (int i = 0; i < Tile::rows; ++i)
#pragma unroll
      for (int j = 0; j < Tile::width; ++j) mine[i][j] = offset(first_row + i * Tile::row_step, column_in_tile + j);
#pragma unroll 1
    for (int s = 0; s < slices; ++s) {
      const std::uint32_t rows = live[warp + s * team];
      bool here[Tile::rows];
#pragma unroll
      for (int i = 0; i < Tile::rows; ++i) here[i] = rows >> (first_row + i * Tile::row_step) & 1;
      barrier_wait(arrival_of_L(), static_cast<int>(parity_of_L++ % 2));
      Tile tile;
      // hidden: else these addresses would be made ahead of all slices and sub-panels, and kept in local memory
      const int again = kept(lane), row_again = lane_row(again);
      tile.load(
          [&](int i, int k, int part) {
            using OfTile = typename Tile::Number;
            const auto* const element = memory(at) + offset(row_again + i * Tile::row_step, k);
            return here[i] ? reinterpret_cast<const OfTile*>(element)[part] : OfTile{};
          },
          again);
      shared_before_copies();
      __syncwarp();
      if (s + 1 < slices) copy(at, s + 1, c0, arrival_of_L());
#pragma unroll 1
      for (int c = c0 + 2 * W; c < nb; c += box_columns) {
        barrier_wait(arrival(used), static_cast<int>(used / groups % 2));
        unsigned char* const from = memory(place(used));
        const E* U = U12 + (c - c0 - 2 * W) * Tile::stride;
#pragma unroll 1
        for (int right = 0; right < min(box_columns, nb - c); right += at_once * Tile::columns) {
          E x[at_once][Tile::elements];
          const auto each = [&](auto act) {
#pragma unroll
            for (int t = 0; t < at_once; ++t) {
              // pieces of the fifth column are turned by four (offset)
              const int c_of_tile = right + t * Tile::columns, turned = c_of_tile % 8 * 16,
                        moved = c_of_tile * column_bytes;
#pragma unroll
              for (int i = 0; i < Tile::rows; ++i)
#pragma unroll
                for (int j = 0; j < Tile::width; ++j)
                  act(x[t][i * Tile::width + j], *reinterpret_cast<E*>(from + ((mine[i][j] ^ turned) + moved)), i);
            }
          };
          each([&](E& number, const E& place, int) { number = place; });
#pragma unroll
          for (int t = 0; t < at_once; ++t)
            tile.template subtract<few_registers>(x[t], U + (right + t * Tile::columns) * Tile::stride, lane);
          each([&](const E& number, E& place, int i) {
            if (here[i]) place = number;
          });
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
    copy(at, 0, c0, arrival_of_L());
#pragma unroll 1
    for (int s = 0; s < slices; ++s) {
      barrier_wait(arrival_of_L(), static_cast<int>(parity_of_L++ % 2));
      const unsigned char* const L = memory(at);
      const SplitTile tile(L, live[warp + s * team], lane);
      const auto copy_next_L = [&] {
        shared_before_copies();
        __syncwarp();
        if (s + 1 < slices) copy(at, s + 1, c0, arrival_of_L());
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
#pragma unroll
      for (int b = 0; b < boxes_in_group; ++b)
        box_store(place(used) + b * box_bytes, map, row(s) * parts + b * box_numbers, c, policy);
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
