// What gemm_overlapped, gemm_complex_overlapped, gemm_3m_overlapped and project_3m are made of: a kernel for C += alpha A B, alpha 1 or -1, on
// Hopper's tensor cores for double precision, C's way from memory and back beside the products.
//
// A product of depth k does 2 k operations for the 16 bytes of an element of C that are read and written: up to k = 1024
// that traffic counts, and a kernel that multiplies, then adds to C, then multiplies again waits for it. Here two groups of
// warps in a block have tiles of their own, one behind the other in time: while one begins or ends a tile the other
// multiplies. A tile of C is copied to shared memory ahead, is what the products are added to in registers, and is written
// from there.
//
//       tile_cols    tile_cols            Threads of a block:
//      +------------+------------+           warps 0 to 3    tiles of C, every other one of the block's
//  128 |  block 0   |  block 1   |           warps 4 to 7    the tiles between
// rows |            |            |           warps 8, 9      have the operands of the first, the second group copied into
//      +------------+------------+                           a ring of shared memory of its own, in pieces of its depth
//                                            warp 10         has the next tile of C copied as soon as one has been read, and
//                                                            brings displaced rows to it before
//
// Two blocks, a cluster, have the same rows: each fetches half of A's for both.
//
// All matrices are real ones here. A complex m x n matrix as it lies is a real 2m x n matrix, re and im of an element one
// above the other; two rows below each other, 16 bytes, are a pair. C comes by a tensor map, in boxes of 16 rows by the
// tile's columns, in which pairs are exchanged so that a warp's loads meet no bank twice, if a Product deals the elements to
// the lanes in the right way.
//
// A Product is what one lane has and does of a warp's part of a tile, four boxes high and some times eight columns wide:
//   adds                               whether the sums begin with C, by take(), or with zero, by clear(): C = A B then
//   words                              numbers of C's elements, 2 if they are complex
//   tile_cols                          columns of a tile, a multiple of 16
//   depth, stages                      of a piece of the operands; the pieces in a ring
//   A_bytes, B_bytes                   of a piece, multiples of 1024
//   product_registers, copy_registers  for each thread that multiplies, or copies
//   Operands                           where A and B are, an argument of the kernel
//   fetch(operands, row, ...)          copies the piece for a tile: the block's half of A's part to both blocks, B's to its own
//   Product(ring, warp_row, ...)       of a lane; `ring`: its group's
//   column(half)                       its columns among eight, for half 0 and 1; its pair of a box is lane / 4
//   take(box, j, half, x), clear()     the sums for the pair in columns j of eight begin with x
//   load(stage)                        the operands that are multiplied first in a stage of the ring
//   multiply(piece, here, next, there) the products of a piece, in stage `here`; after there() loads the operands of the next one, in
//                                      stage `next`, which after the last one is `here`: without a condition, which would cost more
//   result(box, j, half)               the sums for that pair
#pragma once

#include "kernels/cuda/asked_once.hpp"
#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/displaced_rows.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/product_tiles.cuh"
#include "kernels/cuda/spared_places.cuh"
#include "kernels/cuda/tensor_double.cuh"
#include "kernels/cuda/tensor_map.hpp"
#include "kernels/native.hpp"

namespace devobj::cuda::overlapped {

constexpr int tile_rows = 128;
constexpr int blocks_beside = 2;
constexpr int box_rows = 16, boxes = tile_rows / box_rows;
constexpr int column_bytes = box_rows * static_cast<int>(sizeof(double));  // of a box

constexpr int warp_group = 128, groups = 2, warps = warp_group / warp_size;
constexpr int alignment = 1024;
// the last warp group has the copying warps
constexpr int threads = (groups + 1) * warp_group;

// A warp's part of a tile: four boxes high, half of the columns.
constexpr int warp_boxes = 4, warps_high = boxes / warp_boxes, warps_wide = warps / warps_high;
template <class Product>
constexpr int warp_eights = Product::tile_cols / warps_wide / 8;

template <class Product>
constexpr int stage_bytes = Product::A_bytes + Product::B_bytes;
template <class Product>
constexpr int ring_bytes = Product::stages * stage_bytes<Product>;
template <class Product>
constexpr int C_box_bytes = Product::tile_cols * column_bytes;
template <class Product>
constexpr int C_bytes = boxes * C_box_bytes<Product>;
template <class Product>
constexpr int shared_bytes = groups * ring_bytes<Product> + (Product::adds ? C_bytes<Product> : 0) + alignment;

struct Update {
  ProductTiles tiles;
  Block<double> C;
  int sign;       // of alpha: the bit to be changed in a number's upper half, or none
  int pieces;     // of the operands, along the depth
  bool streamed;  // C, which is too large to stay in the L2 cache
  SparedPlaces spared;
  Displaced<double> displaced;
};

/// A group's ring in shared memory, by its addresses: a stage is filled when its bytes are there, and empty when the
/// group's warps in both blocks have read it.
struct Ring {
  std::uint32_t memory, filled, empty;
};

/// The place of a tile of C, by its address: filled[g] when the group's is there, read[g] when the group has read it.
struct TileOfC {
  std::uint32_t memory, filled, read;
};

template <class Product>
__device__ void fetch_operands(const Update& g, const typename Product::Operands& operands, const Ring& ring,
                               TilesOfBlock tile, int rank) {
  int stage = 0, parity = 1;
  for (; tile.there(); tile.next())
    for (int k = 0; k < g.pieces; ++k) {
      const std::uint32_t to = ring.memory + stage * stage_bytes<Product>, filled = ring.filled + 8 * stage;
      barrier_wait(ring.empty + 8 * stage, parity);
      barrier_expect(filled, stage_bytes<Product>);
      Product::fetch(operands, tile.row, tile.col, k, rank, to, filled);
      if (++stage == Product::stages) stage = 0, parity ^= 1;
    }
}

/// By a warp: the tiles of both groups, in turn, each when the other group has read the one before. A tile's displaced rows are brought to it
/// while that is read.
template <class Product>
__device__ void fetch_C(const Update& g, const CUtensorMap& C, const TileOfC& at, TilesOfBlock tile) {
  const std::uint64_t policy = cache_policy(g.streamed);
  for (int group = 0, parity = 0; tile.there(); tile.next()) {
    const int row = tile.row * tile_rows, col = tile.col * Product::tile_cols;
    if (g.displaced.from != nullptr) {
      bring_displaced<Product::words, tile_rows, Product::tile_cols>(g.displaced, g.C, row, col);
      global_stores_before_copies();
      __syncwarp();
    }
    if (threadIdx.x % warp_size == 0) {
      barrier_wait(at.read + 8 * (1 - group), group == 0 ? parity ^ 1 : parity);
      const std::uint32_t filled = at.filled + 8 * group;
      barrier_expect(filled, C_bytes<Product>);
#pragma unroll
      for (int box = 0; box < boxes; ++box)
        box_copy(at.memory + box * C_box_bytes<Product>, C, row + box * box_rows, col, filled, policy);
    }
    if (group == 1) parity ^= 1;
    group = 1 - group;
  }
}

/// The sums begin with alpha C, from shared memory.
template <class Product>
__device__ void load_C(Product& p, int sign, const unsigned char* from) {
  const int o = threadIdx.x % warp_size / 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const unsigned char* const column = from + p.column(half) * column_bytes + ((o ^ p.column(half)) * 16);
#pragma unroll
    for (int j = 0; j < warp_eights<Product>; ++j)
#pragma unroll
      for (int b = 0; b < warp_boxes; ++b) {
        const double2 x = *reinterpret_cast<const double2*>(column + b * C_box_bytes<Product> + j * 8 * column_bytes);
        p.take(b, j, half, {with_sign(x.x, sign), with_sign(x.y, sign)});
      }
  }
}

/// C = alpha times the sums, for the part of C whose first element is at (row, col).
template <class Product>
__device__ void store_C(const Update& g, const Product& p, std::int64_t row, std::int64_t col) {
  const bool whole = row + warp_boxes * box_rows <= g.C.rows && col + 8 * warp_eights<Product> <= g.C.cols;
  row += 2 * (threadIdx.x % warp_size / 4);
  col += p.column(0);
  const int halves = p.column(1) - p.column(0);
  double* const C = &g.C(row, col);
  const std::uint64_t policy = cache_policy(g.streamed);
  auto store_all = [&](auto there) {
#pragma unroll
    for (int j = 0; j < warp_eights<Product>; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int b = 0; b < warp_boxes; ++b) {
          double* const to = C + (8 * j + halves * half) * g.C.ld + b * box_rows;
          const double2 sum = p.result(b, j, half);
          const double2 x = {with_sign(sum.x, g.sign), with_sign(sum.y, g.sign)};
          const int rows = there(b * box_rows, 8 * j + halves * half);
          if (rows >= 2)
            store(reinterpret_cast<double2*>(to), x, policy);
          else if (rows == 1)
            store(to, x.x, policy);
        }
  };
  if (whole)
    store_all([](int, int) { return 2; });
  else
    store_all([&](int below, int right) {
      return col + right < g.C.cols
                 ? static_cast<int>(max(min(g.C.rows - row - below, std::int64_t(2)), std::int64_t(0)))
                 : 0;
    });
}

template <class Product>
__device__ void multiply(const Update& g, const Ring& ring, const unsigned char* memory, const TileOfC& at,
                         const unsigned char* memory_of_C, TilesOfBlock tile, int group) {
  const int warp = threadIdx.x % warp_group / warp_size, lane = threadIdx.x % warp_size;
  const int warp_row = warp % warps_high, warp_col = warp / warps_high;
  Product p(memory, warp_row, warp_col, lane);
  int stage = 0, parity = 0, parity_of_C = 0;
  for (; tile.there(); tile.next(), parity_of_C ^= 1) {
    if constexpr (Product::adds) {
      barrier_wait(at.filled + 8 * group, parity_of_C);
      load_C(p, g.sign,
             memory_of_C + warp_row * warp_boxes * C_box_bytes<Product> +
                 warp_col * 8 * warp_eights<Product> * column_bytes);
      shared_before_copies();
      __syncwarp();
      if (lane == 0) barrier_arrive(at.read + 8 * group);
    } else {
      p.clear();
    }
    barrier_wait(ring.filled + 8 * stage, parity);
    p.load(stage);
#pragma unroll 1
    for (int k = 0; k < g.pieces; ++k) {
      const int here = stage;
      const bool more = k + 1 < g.pieces;
      if (++stage == Product::stages) stage = 0, parity ^= 1;
      p.multiply(k, here, more ? stage : here, [&] {
        if (more) barrier_wait(ring.filled + 8 * stage, parity);
      });
      // the products are the whole warp's, so that all lanes have what they multiplied
      if (lane < blocks_beside) barrier_arrive_at(ring.empty + 8 * here, lane);
    }
    store_C(g, p, tile.row * std::int64_t(tile_rows) + warp_row * warp_boxes * box_rows,
            tile.col * std::int64_t(Product::tile_cols) + warp_col * 8 * warp_eights<Product>);
  }
}

/// What RealProduct and FourProducts have in common: boxes of 16 rows by the piece's depth of A, and of 16 rows by the tile's columns of
/// B, as both lie in real numbers, and pieces of two halves along the depth. Of these a Product has load_A(into, stage, half, box),
/// 16 bytes each, and multiply_box(box, half), what it multiplies in a box.
template <class Product, int cols>
class ProductByHalves {
 public:
  static constexpr bool adds = true;
  static constexpr int tile_cols = cols, eights = tile_cols / warps_wide / 8;
  struct Operands {
    CUtensorMap A, B;
  };
  __device__ static void fetch(const Operands& operands, int row, int col, int k, int rank, std::uint32_t to,
                               std::uint32_t filled) {
    static_assert(blocks_beside == 2);
#pragma unroll
    for (int b = 0; b < boxes / blocks_beside; ++b) {
      const int box = rank * (boxes / blocks_beside) + b;
      box_copy_to(3, to + box * Product::box_bytes, operands.A, row * tile_rows + box * box_rows, k * Product::depth,
                  filled);
    }
    box_copy(to + Product::A_bytes, operands.B, k * box_rows, col * tile_cols, filled, cache_policy(false));
  }

  __device__ void take(int box, int j, int half, double2 x) {
    sum_[box][j][half] = x.x;
    sum_[box][j][2 + half] = x.y;
  }
  __device__ double2 result(int box, int j, int half) const { return {sum_[box][j][half], sum_[box][j][2 + half]}; }

  __device__ void load(int stage) {
    load_B(0, stage, 0);
    self().load_A(0, stage, 0, 0);
  }
  template <class There>
  __device__ void multiply(int, int here, int next, There there) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int box = 0; box < warp_boxes; ++box) {
        // what is multiplied next
        if (box + 1 < warp_boxes) {
          self().load_A((box + 1) % 2, here, half, box + 1);
        } else if (half == 0) {
          load_B(1, here, 1);
          self().load_A(0, here, 1, 0);
        } else {
          there();
          load(next);
        }
        self().multiply_box(box, half);
      }
  }

 protected:
  const unsigned char* B_at_[2];  // the lane's part of B's first eight columns, for each half
  double sum_[warp_boxes][eights][4];
  double2 b_[2][eights];

 private:
  __device__ Product& self() {
    return static_cast<Product&>(*this);
  }
  __device__ void load_B(int into, int stage, int half) {
#pragma unroll
    for (int j = 0; j < eights; ++j)
      b_[into][j] =
          *reinterpret_cast<const double2*>(B_at_[half] + stage * stage_bytes<Product> + j * 8 * column_bytes);
  }
};

/// (Compiled for sm_90a only, where it has barriers: usable() looks for them.)
template <class Product>
__global__ void __launch_bounds__(threads, 1)
    overlapped_kernel(const __grid_constant__ Update g, const __grid_constant__ typename Product::Operands operands,
                      const __grid_constant__ CUtensorMap C) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char memory[];
  constexpr int stages = Product::stages, of_rings = groups * 2 * stages;
  __shared__ std::uint64_t barriers[of_rings + 2 * groups];
  __shared__ PlaceOfBlock place;
  const std::uint32_t start = shared_address(memory), ring_start = (start + alignment - 1) / alignment * alignment;
  const std::uint32_t first_barrier = shared_address(barriers);
  const TileOfC tile_of_C{ring_start + groups * ring_bytes<Product>, first_barrier + of_rings * 8,
                          first_barrier + (of_rings + groups) * 8};
  auto ring_of = [&](int group) {
    const std::uint32_t filled = first_barrier + group * 2 * stages * 8;
    return Ring{ring_start + group * ring_bytes<Product>, filled, filled + stages * 8};
  };
  if (threadIdx.x == 0) {
    for (int group = 0; group < groups; ++group) {
      for (int s = 0; s < stages; ++s) {
        barrier_init(ring_of(group).filled + 8 * s, 1);
        barrier_init(ring_of(group).empty + 8 * s, warps * blocks_beside);
      }
      barrier_init(tile_of_C.filled + 8 * group, 1);
      barrier_init(tile_of_C.read + 8 * group, warps);
    }
    barriers_ready();
    look_at_place(g.spared, place);
  }
  cluster_arrive();
  cluster_wait();
  const int rank = cluster_rank();
  static_assert(blocks_beside == 2);
  const int cluster = number_of_cluster(g.spared, g.tiles.turn, place, rank);
  if (threadIdx.x < groups * warp_group) {
    take_registers<Product::product_registers>();
    const int group = threadIdx.x / warp_group;
    const Ring ring = ring_of(group);
    multiply<Product>(g, ring, memory + (ring.memory - start), tile_of_C, memory + (tile_of_C.memory - start),
                      TilesOfBlock(g.tiles, cluster, rank, group, groups), group);
  } else {
    leave_registers<Product::copy_registers>();
    const int copier = threadIdx.x / warp_size - groups * warps;
    if (copier < groups) {
      if (threadIdx.x % warp_size == 0)
        fetch_operands<Product>(g, operands, ring_of(copier), TilesOfBlock(g.tiles, cluster, rank, copier, groups), rank);
    } else if (copier == groups) {
      if constexpr (Product::adds) fetch_C<Product>(g, C, tile_of_C, TilesOfBlock(g.tiles, cluster, rank));
    }
    __syncwarp();
  }
  // the other block may still write here, or arrive at this block's barriers
  cluster_arrive();
  cluster_wait();
  end_cluster(g.spared, rank);
#endif
}

// Multiplications of the pieces that a cluster makes before it leaves its multiprocessors to others, along the depth: some
// 40 us up to a depth of 256. Below two pieces for each group, the next tiles of C would not be copied beside products.
constexpr std::int64_t depth_at_once = 1024;
template <class Product>
constexpr std::int64_t least_at_once = Product::adds ? 2 * groups : groups;

template <class Product>
bool usable(int device) {
  static HopperKernel kernel;
  return kernel.usable(overlapped_kernel<Product>, device);
}

/// C += alpha A B, or C = A B, of whose depth every number of C gets `depth` products.
template <class Product>
void launch(const char* routine, int alpha, const typename Product::Operands& operands, std::int64_t pieces,
            std::int64_t depth, View<double> C, Queue& q, Spared spared, const Displaced<double>& displaced = {}) {
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, q.device()), routine);
  const int kept = spared_multiprocessors(spared, processors);
  // if others have multiprocessors of their own, blocks stay to the end
  const auto at_once = kept > 0 ? 0 : static_cast<int>(std::max(least_at_once<Product>, depth_at_once / depth));
  const ProductTiles tiles = product_tiles(routine, ceil_div(C.rows, tile_rows), ceil_div(C.cols, Product::tile_cols),
                                           blocks_beside, (processors - kept) / blocks_beside, at_once);
  const bool avoids = kept > 0 && spared.places != nullptr && tiles.clusters() == tiles.turn;
  const Update g{tiles,
                 block_of(C),
                 alpha < 0 ? INT32_MIN : 0,
                 static_cast<int>(pieces),
                 outgrows_cache(C.rows * C.cols * std::int64_t(sizeof(double)), q.device()),
                 {avoids ? spared.places : nullptr, spared.counts},
                 displaced};
  const std::int64_t clusters = avoids ? processors / blocks_beside : tiles.clusters();
  const CUtensorMap map_C = tensor_map(routine, C, box_rows, Product::tile_cols);
  constexpr int bytes = shared_bytes<Product>;
  check(cudaFuncSetAttribute(overlapped_kernel<Product>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), routine);
  const ClusterLaunch launch(clusters * blocks_beside, blocks_beside, threads, bytes, stream_of(q));
  check(cudaLaunchKernelEx(&launch.config, overlapped_kernel<Product>, g, operands, map_C), routine);
  q.launched(routine);
}

}  // namespace devobj::cuda::overlapped
