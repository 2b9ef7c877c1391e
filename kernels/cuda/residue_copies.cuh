// What the blocks of gemm_residues's product copy: their tiles of C, the ring of shared memory, and the threads that fill and empty it.
#pragma once

#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/product_tiles.cuh"
#include "kernels/cuda/residues.cuh"
#include "kernels/cuda/spared_places.cuh"

namespace devobj::cuda {
namespace residues {

// ---- tiles of C: vectors of A, of B ----
constexpr int tile_rows = 128, tile_cols = 128;
constexpr int cluster_blocks = 2;  // tiles below each other
constexpr int A_piece = tile_rows * depth_bytes, B_piece = tile_cols * depth_bytes;

constexpr int warp_group = 128, product_groups = 2;
constexpr int products = product_groups * warp_group, product_threads = products + warp_group;
constexpr int group_cols = tile_cols / product_groups;
static_assert(group_cols == 64);

constexpr int stages = 7, stage_bytes = A_piece + B_piece;
constexpr int alignment = 1024;
constexpr int product_bytes = stages * stage_bytes + alignment;
static_assert(A_piece % alignment == 0 && B_piece % alignment == 0);

// A tile of C is in the ring too, behind the operands: stages of two boxes, of 16 rows by a group's columns, for each group
constexpr int box_rows = 16, boxes = tile_rows / box_rows, stage_boxes = 2, C_stages = boxes / stage_boxes;
constexpr int box_bytes = box_rows * group_cols * static_cast<int>(sizeof(double)),
              part_bytes = stage_boxes * box_bytes;
static_assert(boxes % stage_boxes == 0 && product_groups * part_bytes <= stage_bytes && C_stages < stages);

struct Product {
  Reduced A, B;
  Vectors<double> rows, columns;  // what they were before
  Block<double> C;
  double alpha;
  double unit;  // alpha times a fraction's unit, for vectors with a scale of 1
  int depth;
  bool streamed;  // C, which is too large to stay in the L2 cache
  bool mapped;    // C has a tensor map
  int pieces;     // of the depth
  ProductTiles tiles;
  SparedPlaces spared;
};

/// Addresses in shared memory. A stage is filled when its bytes are there, and empty when the product groups of both blocks have done
/// with it. `added`: of each group and stage of C, when its part may be stored.
struct Places {
  std::uint32_t ring, filled, empty, added;
};
/// The next stage, and the parity of its turn.
struct Stage {
  std::uint32_t number = 0, parity = 0;
  __device__ void next() {
    if (++number == stages) number = 0, parity ^= 1;
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
  /// Whether the cluster's tiles are added to C where it is: not by way of shared memory, from which the copy engine stores rows in
  /// pairs.
  __device__ bool in_place(const Product& g) const {
    return !g.mapped || (g.C.rows % 2 != 0 && (tiles_.row + 1) * std::int64_t(cluster_blocks * tile_rows) > g.C.rows);
  }

 private:
  TilesOfBlock tiles_;
  int down_;
};

// ---- copies, by one thread each ----

/// A's pieces, or the block's share of B's, which both blocks multiply by; and a group's part of C.
template <bool of_A>
__device__ void fetch(const Product& g, const CUtensorMap& map, const Places& at, BlockTiles tile, int rank) {
  constexpr int piece = of_A ? A_piece : B_piece, share = of_A ? piece : piece / cluster_blocks;
  constexpr int group = of_A ? 0 : 1;
  const int mine = of_A ? 0 : rank * share;
  const std::uint64_t policy = cache_policy(g.streamed);
  for (Stage stage{0, 1}; tile.there(); tile.next()) {
    const int number = g.pieces * planes;
    const unsigned char* from = (of_A ? g.A.planes + std::int64_t(tile.row()) * number * piece
                                      : g.B.planes + std::int64_t(tile.col()) * number * piece) +
                                mine;
    const bool in_place = tile.in_place(g);
    const int row = tile.row() * tile_rows, col = tile.col() * tile_cols + group * group_cols;
    for (int k = 0; k < number; ++k, from += piece, stage.next()) {
      const std::uint32_t filled = at.filled + 8 * stage.number;
      const std::uint32_t to = at.ring + stage.number * stage_bytes + (of_A ? 0 : A_piece) + mine;
      barrier_wait(at.empty + 8 * stage.number, stage.parity);
      barrier_expect(filled, piece);
      if constexpr (of_A)
        bulk_copy(to, from, share, filled);
      else
        bulk_copy_to((1 << cluster_blocks) - 1, to, from, share, filled);
      // C on its way to the cache
      if (!in_place && k == number * 2 / 3)
        for (int b = 0; b < boxes; ++b) box_prefetch(map, row + b * box_rows, col);
    }
    if (in_place) continue;
    for (int c = 0; c < C_stages; ++c, stage.next()) {
      const std::uint32_t filled = at.filled + 8 * stage.number;
      const std::uint32_t to = at.ring + stage.number * stage_bytes + group * part_bytes;
      barrier_wait(at.empty + 8 * stage.number, stage.parity);
      barrier_expect(filled, part_bytes);
      for (int b = 0; b < stage_boxes; ++b)
        box_copy(to + b * box_bytes, map, row + (c * stage_boxes + b) * box_rows, col, filled, policy);
    }
  }
}

/// A group's part of C from the ring to where it belongs.
__device__ void store_C(const Product& g, const CUtensorMap& map, const Places& at, BlockTiles tile, int group) {
  const std::uint64_t policy = cache_policy(g.streamed);
  Stage stage;
  for (int parity = 0; tile.there(); tile.next()) {
    for (int k = 0; k < g.pieces * planes; ++k) stage.next();
    if (tile.in_place(g)) continue;
    const int row = tile.row() * tile_rows, col = tile.col() * tile_cols + group * group_cols;
    for (int c = 0; c < C_stages; ++c, stage.next()) {
      const std::uint32_t from = at.ring + stage.number * stage_bytes + group * part_bytes;
      barrier_wait(at.added + 8 * (group * C_stages + c), parity);
      for (int b = 0; b < stage_boxes; ++b)
        box_store(from + b * box_bytes, map, row + (c * stage_boxes + b) * box_rows, col, policy);
      stores_end();
      stores_read<0>();
      for (int block = 0; block < cluster_blocks; ++block) barrier_arrive_at(at.empty + 8 * stage.number, block);
    }
    parity ^= 1;
  }
  stores_done();
}

}  // namespace residues
}  // namespace devobj::cuda
