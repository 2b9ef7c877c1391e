// What the blocks of gemm_residues's product copy: their tiles of C, the ring of shared memory, and the threads that fill and empty it.
#pragma once

#include "kernels/cuda/displaced_rows.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/product_tiles.cuh"
#include "kernels/cuda/residues.cuh"
#include "kernels/cuda/spared_places.cuh"

namespace devobj::cuda {
namespace residues {

constexpr int cluster_blocks = 2;  // tiles below each other
constexpr int warp_group = 128, product_groups = 2;
constexpr int multiplying_threads = product_groups * warp_group, product_threads = multiplying_threads + warp_group;
constexpr int tile_cols = 128, group_cols = tile_cols / product_groups;
static_assert(group_cols == 64);
constexpr int alignment = 1024;
constexpr int box_doubles = 16, box_bytes = box_doubles * static_cast<int>(sizeof(double)) * group_cols;
template <class E>
constexpr int box_rows = box_doubles* static_cast<int>(sizeof(double)) / static_cast<int>(sizeof(E));

/// A tile of C: vectors of A, of B. Those of complex matrices have half as many rows, since their sums, two for each element, have to find
/// room in registers. And the ring's stages, in which pieces of operands are.
template <class E>
struct Tiles {
  static constexpr int rows = 128 / ModuliOf<E>::products;
  static constexpr int A_piece = rows * depth_bytes, B_piece = tile_cols * depth_bytes;
  static constexpr int A_bytes = stage_pieces<E> * A_piece, B_bytes = stage_pieces<E> * B_piece;
  static constexpr int stage_bytes = A_bytes + B_bytes, stages = is_device_complex<E> ? 4 : 7;
  static constexpr int product_bytes = stages * stage_bytes + alignment;
  static_assert(A_piece % alignment == 0 && B_piece % alignment == 0);

  // A tile of C is in the ring too, behind the operands: stages of boxes of 16 doubles by a group's columns, for each group
  static constexpr int boxes = rows / box_rows<E>;
  static constexpr int stage_boxes = 2, C_stages = boxes / stage_boxes;
  static constexpr int part_bytes = stage_boxes * box_bytes;
  static_assert(boxes % stage_boxes == 0 && product_groups * part_bytes <= stage_bytes && C_stages <= stages);
};

template <class E>
struct Product {
  Reduced A, B;
  Vectors<E> rows, columns;  // what they were before
  Block<E> C;
  double alpha;
  double unit;  // alpha times a fraction's unit, for vectors with a scale of 1
  int depth;
  bool streamed;  // C, which is too large to stay in the L2 cache
  bool mapped;    // C has a tensor map, as complex ones always have
  int pieces;     // of a plane
  ProductTiles tiles;
  SparedPlaces spared;
  Displaced<double> displaced;
  Block<double> doubles_of_C;  // to which they are brought
};

/// Addresses in shared memory. A stage is filled when its bytes are there, and empty when the product groups of both blocks have done
/// with it. `added`: of each group and stage of C, when its part may be stored. `brought`: of each group, when its part's displaced rows
/// are there.
struct Places {
  std::uint32_t ring, filled, empty, added, brought;
};
/// The next stage, and the parity of its turn.
template <class E>
struct Stage {
  std::uint32_t number = 0, parity = 0;
  __device__ void next() {
    if (++number == Tiles<E>::stages) number = 0, parity ^= 1;
  }
};

/// The tiles of a block, one after the other.
class BlockTiles {
 public:
  __device__ BlockTiles(const ProductTiles& tiles, int cluster, int rank) : tiles_(tiles, cluster, 0), down_(rank) {}
  __device__ bool there() const { return tiles_.there(); }
  __device__ void next() { tiles_.next(); }
  __device__ int row() const { return tiles_.row * cluster_blocks + down_; }
  __device__ int col() const { return tiles_.col; }
  /// Whether the cluster's tiles are added to C where it is: not by way of shared memory, from which the copy engine stores real
  /// rows in pairs.
  template <class E>
  __device__ bool in_place(const Product<E>& g) const {
    if constexpr (is_device_complex<E>) return false;
    constexpr int rows = cluster_blocks * Tiles<E>::rows;
    return !g.mapped || (g.C.rows % 2 != 0 && (tiles_.row + 1) * std::int64_t(rows) > g.C.rows);
  }

 private:
  TilesOfBlock tiles_;
  int down_;
};

// ---- copies, by one thread each; rows of C are counted in doubles ----

/// A's pieces, or the block's share of B's, which both blocks multiply by; and a group's part of C.
template <bool of_A, class E>
__device__ void fetch(const Product<E>& g, const CUtensorMap& map, const Places& at, BlockTiles tile, int rank) {
  using Of = Tiles<E>;
  constexpr int bytes = of_A ? Of::A_bytes : Of::B_bytes, share = of_A ? bytes : bytes / cluster_blocks;
  constexpr int group = of_A ? 0 : 1;
  const int mine = of_A ? 0 : rank * share;
  const std::uint64_t policy = cache_policy(g.streamed);
  int parity = 0;  // of the tile
  for (Stage<E> stage{0, 1}; tile.there(); tile.next(), parity ^= 1) {
    const int number = all_pieces<E>(g.pieces) / stage_pieces<E>;
    const unsigned char* from = (of_A ? g.A.planes + std::int64_t(tile.row()) * number * bytes
                                      : g.B.planes + std::int64_t(tile.col()) * number * bytes) +
                                mine;
    const bool in_place = tile.in_place(g);
    const int row = tile.row() * Of::boxes * box_doubles, col = tile.col() * tile_cols + group * group_cols;
    for (int k = 0; k < number; ++k, from += bytes, stage.next()) {
      const std::uint32_t filled = at.filled + 8 * stage.number;
      const std::uint32_t to = at.ring + stage.number * Of::stage_bytes + (of_A ? 0 : Of::A_bytes) + mine;
      barrier_wait(at.empty + 8 * stage.number, stage.parity);
      barrier_expect(filled, bytes);
      if constexpr (of_A)
        bulk_copy(to, from, share, filled);
      else
        bulk_copy_to((1 << cluster_blocks) - 1, to, from, share, filled);
      // C on its way to the cache
      if (!in_place && k == number * 2 / 3)
        for (int b = 0; b < Of::boxes; ++b) box_prefetch(map, row + b * box_doubles, col);
    }
    if (in_place) continue;
    if (g.displaced.from != nullptr) barrier_wait(at.brought + 8 * group, parity);
    for (int c = 0; c < Of::C_stages; ++c, stage.next()) {
      const std::uint32_t filled = at.filled + 8 * stage.number;
      const std::uint32_t to = at.ring + stage.number * Of::stage_bytes + group * Of::part_bytes;
      barrier_wait(at.empty + 8 * stage.number, stage.parity);
      barrier_expect(filled, Of::part_bytes);
      for (int b = 0; b < Of::stage_boxes; ++b)
        box_copy(to + b * box_bytes, map, row + (c * Of::stage_boxes + b) * box_doubles, col, filled, policy);
    }
  }
}

/// By a warp: a group's part of C from the ring to where it belongs; and the displaced rows to it, before it is fetched.
template <class E>
__device__ void store_C(const Product<E>& g, const CUtensorMap& map, const Places& at, BlockTiles tile, int group) {
  using Of = Tiles<E>;
  const std::uint64_t policy = cache_policy(g.streamed);
  const bool copies = threadIdx.x % warp_size == 0;
  Stage<E> stage;
  for (int parity = 0; tile.there(); tile.next()) {
    for (int k = 0; k < all_pieces<E>(g.pieces) / stage_pieces<E>; ++k) stage.next();
    if (tile.in_place(g)) continue;
    const int row = tile.row() * Of::boxes * box_doubles, col = tile.col() * tile_cols + group * group_cols;
    if (g.displaced.from != nullptr) {
      bring_displaced<sizeof(E) / sizeof(double), Of::boxes * box_doubles, group_cols>(g.displaced, g.doubles_of_C, row,
                                                                                       col);
      global_stores_before_copies();
      __syncwarp();
      if (copies) barrier_arrive(at.brought + 8 * group);
    }
    for (int c = 0; copies && c < Of::C_stages; ++c, stage.next()) {
      const std::uint32_t from = at.ring + stage.number * Of::stage_bytes + group * Of::part_bytes;
      barrier_wait(at.added + 8 * (group * Of::C_stages + c), parity);
      for (int b = 0; b < Of::stage_boxes; ++b)
        box_store(from + b * box_bytes, map, row + (c * Of::stage_boxes + b) * box_doubles, col, policy);
      stores_end();
      stores_read<0>();
      for (int block = 0; block < cluster_blocks; ++block) barrier_arrive_at(at.empty + 8 * stage.number, block);
    }
    parity ^= 1;
  }
  if (copies) stores_done();
}

}  // namespace residues
}  // namespace devobj::cuda
