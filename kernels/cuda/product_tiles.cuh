// The order in which the blocks of a product's kernel make the tiles of its result.
#pragma once

#include <algorithm>

#include "kernels/cuda/grid.cuh"

namespace devobj::cuda {

/// Tiles of C, `beside` of which in a row are made at the same time by the blocks of a cluster. The clusters of a turn run at
/// the same time; each makes `per_cluster` pieces of `beside` tiles and then gives its multiprocessors back.
struct ProductTiles {
  int rows = 0, cols = 0;  // of tiles; cols: of whole clusters
  int beside = 0;
  int turn = 0, per_cluster = 0;

  __host__ __device__ int pieces() const { return rows * (cols / beside); }
  std::int64_t clusters() const {
    const std::int64_t turns = pieces() / (std::int64_t(turn) * per_cluster),
                       left = pieces() - turns * turn * per_cluster;
    return turns * turn + std::min<std::int64_t>(left, turn);
  }
};

/// For `turn` clusters at a time, which make `at_once` pieces at most, evenly; without a bound for at_once == 0.
inline ProductTiles product_tiles(const char* routine, std::int64_t rows, std::int64_t cols, int beside, int turn,
                                  int at_once) {
  ProductTiles tiles;
  tiles.beside = beside;
  tiles.turn = std::max(1, turn);
  const std::int64_t pieces = rows * ceil_div(cols, std::int64_t(beside));
  // what a kernel counts stays below 2^31
  require(pieces + std::int64_t(2) * tiles.turn * std::max(1, at_once) <= INT32_MAX, routine, ": C is too large, ",
          rows, " x ", cols, " tiles");
  tiles.rows = static_cast<int>(rows);
  tiles.cols = static_cast<int>(ceil_div(cols, std::int64_t(beside)) * beside);
  const std::int64_t turns = at_once > 0 ? ceil_div(pieces, std::int64_t(tiles.turn) * at_once) : 1;
  tiles.per_cluster = static_cast<int>(ceil_div(pieces, tiles.turn * turns));
  return tiles;
}

/// The tiles of a block, one after the other, or those of every `step`-th piece of its cluster from piece `first` on. The
/// tiles of a turn are beside each other, eight high, so that the operands are in the cache.
class TilesOfBlock {
 public:
  __device__ TilesOfBlock(const ProductTiles& tiles, int cluster, int rank, int first = 0, int step = 1)
      : all_(tiles), rank_(rank), step_(step) {
    const int of_turn = all_.turn * all_.per_cluster, begin = cluster / all_.turn * of_turn;
    piece_ = begin + cluster % all_.turn + first * all_.turn;
    last_ = min(begin + of_turn, all_.pieces());
    locate();
  }
  __device__ bool there() const { return piece_ < last_; }
  __device__ void next() {
    piece_ += step_ * all_.turn;
    locate();
  }
  int row = 0, col = 0;  // of tiles

 private:
  __device__ void locate() {
    constexpr int high = 8;
    if (!there()) return;
    const int cols = all_.cols / all_.beside, band = piece_ / (high * cols), in_band = piece_ - band * high * cols;
    const int rows = min(high, all_.rows - band * high);
    row = band * high + in_band % rows;
    col = in_band / rows * all_.beside + rank_;
  }
  const ProductTiles& all_;
  int rank_, step_, piece_, last_;
};

}  // namespace devobj::cuda
