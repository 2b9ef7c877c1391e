// The product of gemm_fp16_parts: C += alpha A B^T of vectors that are split, by a pipeline of copies, products and additions
// in every block. gemm_fp16_parts.cu has a picture of it.
#pragma once

#include <cfloat>

#include "kernels/cuda/displaced_rows.cuh"
#include "kernels/cuda/fp16_parts_split.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/spared_places.cuh"

namespace devobj::cuda {
namespace {

constexpr int warp_group = 128, product_groups = 2;
constexpr int products = product_groups * warp_group, adders = 7 * warp_size;
constexpr int gemm_threads = products + warp_size + adders;
constexpr int first_adder = products + warp_size;
constexpr int group_cols = tile_cols / product_groups;
static_assert(group_cols == 64 && tile_rows == 160, "multiply_64x160");
// of 512 threads with 128 registers at the launch
constexpr int product_registers = 192, adder_registers = 64;

constexpr int stages = 4, stage_bytes = A_bytes + B_bytes;
constexpr int slab_bytes = tile_rows * tile_cols * static_cast<int>(sizeof(float));
constexpr int alignment = 512;
constexpr int gemm_bytes = stages * stage_bytes + slab_bytes + alignment;

/// The product of split vectors, and where it goes.
struct Product {
  SplitVectors A, B;
  Block<float> C;
  float alpha;
  Displaced<float> displaced;
  bool streamed;                          // C, which is too large to stay in the L2 cache
  int depth_tiles, row_tiles, col_tiles;  // col_tiles: of whole clusters
  int low_low = 0;                        // tiles of depth, in the first chunk of which low parts are multiplied, or 0
  int turn;                               // clusters of a turn, which run at the same time
  int per_block;                          // tiles of each in a turn
  SparedPlaces spared;
};

/// The tiles of a block, one after the other. The tiles of a turn are beside each other, eight high, so that the
/// operands are in the cache.
class TilesOfBlock {
 public:
  __device__ TilesOfBlock(const Product& g, int cluster, int rank) : g_(g), rank_(rank) {
    tile_ = cluster / g.turn * (g.turn * g.per_block) + cluster % g.turn;
    last_ = min((cluster / g.turn + 1) * (g.turn * g.per_block), g.row_tiles * (g.col_tiles / blocks_beside));
    locate();
  }
  __device__ bool there() const { return tile_ < last_; }
  __device__ void next() {
    tile_ += g_.turn;
    locate();
  }
  int row = 0, col = 0;  // of tiles

 private:
  __device__ void locate() {
    constexpr int high = 8;
    const int cols = g_.col_tiles / blocks_beside, band = tile_ / (high * cols), in_band = tile_ - band * high * cols;
    const int rows = min(high, g_.row_tiles - band * high);
    if (!there()) return;
    row = band * high + in_band % rows;
    col = in_band / rows * blocks_beside + rank_;
  }
  const Product& g_;
  int rank_, tile_, last_;
};

/// Its addresses in shared memory. A stage of the ring is filled when its bytes are there, and empty when the product
/// groups of both blocks have done with it; half the slab, a group's, likewise for the adders.
struct Places {
  std::uint32_t ring, slab, filled, empty, slab_filled, slab_empty;
};

__device__ void fetch_operands(const Product& g, const Places& at, TilesOfBlock tile, int rank) {
  int stage = 0, parity = 1;
  for (; tile.there(); tile.next()) {
    const unsigned char* A = g.A.tiles + tile.row * std::int64_t(g.depth_tiles) * A_bytes;
    const unsigned char* B = g.B.tiles + tile.col * std::int64_t(g.depth_tiles) * B_bytes;
    for (int k = 0; k < g.depth_tiles; ++k, A += A_bytes, B += B_bytes) {
      const std::uint32_t to = at.ring + stage * stage_bytes, filled = at.filled + 8 * stage;
      barrier_wait(at.empty + 8 * stage, parity);
      barrier_expect(filled, stage_bytes);
      bulk_copy(to + A_bytes, B, B_bytes, filled);
      static_assert(blocks_beside == 2);
      bulk_copy_to(3, to + rank * (A_bytes / 2), A + rank * (A_bytes / 2), A_bytes / 2, filled);
      if (++stage == stages) stage = 0, parity ^= 1;
    }
  }
}

/// Column c of the slab begins at slab + c * tile_rows; in it, row r is at r ^ swizzle(c), so that what a warp writes at
/// once, four rows of eight columns, is in different banks.
__device__ int swizzle(int col) {
  return (col & 3) * 8;
}

/// A barrier of the product groups, of which one waits, and the other does not.
__device__ void meet(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(products) : "memory");
}
__device__ void let_go(int barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(products) : "memory");
}

__device__ void multiply(const Product& g, const Places& at, float* slab, TilesOfBlock tile) {
  const int group = threadIdx.x / warp_group, thread = threadIdx.x % warp_group, lane = threadIdx.x % warp_size;
  const int col = threadIdx.x / warp_size * 16 + lane / 4;  // the first of two, 8 apart
  float* const sums = slab + col * tile_rows + lane % 4 * 2;
  const int swizzled = swizzle(col);
  int stage = 0, parity = 0, slab_parity = 1;
  auto release = [&](int done) {
    if (thread < blocks_beside) barrier_arrive_at(at.empty + 8 * done, thread);
  };
  struct Operands {
    std::uint64_t A_high, A_low, B_high, B_low;
  };
  const auto operands = [&](int in) {
    const std::uint32_t A = at.ring + in * stage_bytes;
    const std::uint32_t B = A + A_bytes + group * group_cols * tile_depth * static_cast<int>(sizeof(__half));
    return Operands{matrix_descriptor(A), matrix_descriptor(A + part_bytes(tile_rows)), matrix_descriptor(B),
                    matrix_descriptor(B + part_bytes(tile_cols))};
  };
  // A group multiplies while the other waits for its sums and adds them up.
  static_assert(product_groups == 2);
  const auto begin = [&] {
    meet(1 + group);
    products_begin();
  };
  const auto end = [&] {
    products_end();
    let_go(1 + (1 - group));
    products_wait<0>();
  };
  if (group == 1) let_go(1);
  static_assert(stages % chunk == 0);
  for (; tile.there(); tile.next(), slab_parity ^= 1) {
    float total[80], sum[80];
    for (int k0 = 0; k0 < g.depth_tiles; k0 += chunk) {
#pragma unroll
      for (int k = 0; k < chunk; ++k) barrier_wait(at.filled + 8 * (stage + k), parity);
      constexpr float unit = 1.0f / 2048;
      const bool with_low_low = g.low_low > 0 && k0 % g.low_low == 0;
      if (with_low_low) {  // in units of 2^-22, then of 2^-11, as the products with one low part
        begin();
#pragma unroll
        for (int k = 0; k < chunk; ++k) {
          const Operands of = operands(stage + k);
#pragma unroll
          for (int i = 0; i < 2; ++i) multiply_64x160(sum, of.B_low + 2 * i, of.A_low + 2 * i, k | i);
        }
        end();
        stay(sum);
#pragma unroll
        for (int i = 0; i < 80; ++i) sum[i] *= unit;
        stay(sum);
      }
      begin();
#pragma unroll
      for (int k = 0; k < chunk; ++k) {
        const Operands of = operands(stage + k);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          multiply_64x160(sum, of.B_high + 2 * i, of.A_low + 2 * i, with_low_low | k | i);
          multiply_64x160(sum, of.B_low + 2 * i, of.A_high + 2 * i, 1);
        }
      }
      end();
      stay(sum);
#pragma unroll
      for (int i = 0; i < 80; ++i) total[i] = k0 == 0 ? sum[i] * unit : fmaf(sum[i], unit, total[i]);
      stay(total);
      begin();  // anew, of high parts
#pragma unroll
      for (int k = 0; k < chunk; ++k) {
        const Operands of = operands(stage + k);
#pragma unroll
        for (int i = 0; i < 2; ++i) multiply_64x160(sum, of.B_high + 2 * i, of.A_high + 2 * i, k | i);
      }
      end();
      stay(sum);
#pragma unroll
      for (int k = 0; k < chunk; ++k) release(stage + k);
      if ((stage += chunk) == stages) stage = 0, parity ^= 1;
#pragma unroll
      for (int i = 0; i < 80; ++i) total[i] += sum[i];
      stay(total);
    }
    barrier_wait(at.slab_empty + 8 * group, slab_parity);
#pragma unroll
    for (int i = 0; i < 20; ++i) {
      float2* const first = reinterpret_cast<float2*>(sums + ((8 * i) ^ swizzled));
      float2* const second = reinterpret_cast<float2*>(sums + 8 * tile_rows + ((8 * i) ^ swizzled));
      *first = make_float2(total[4 * i], total[4 * i + 1]);
      *second = make_float2(total[4 * i + 2], total[4 * i + 3]);
    }
    barrier_arrive(at.slab_filled + 8 * group);
  }
  if (group == 0) meet(1);  // for the last time it was let go
}

constexpr int adder_warps = adders / warp_size;
constexpr int together = 4, batches = tile_cols / together;  // columns of a tile; each batch is a warp's
constexpr int segments = tile_rows / warp_size;              // pieces of a column

/// Whether products of these two powers of two are sure to be normal numbers.
__device__ bool ordinary(float scale) {
  return scale >= 0x1p-60f && scale <= 0x1p60f;
}

/// By a warp that adds to some of a tile's columns, before it does: of these columns, the tile's rows that are in another place; a lane
/// has the places of rows lane, lane + 32, ... C is on its way to the L2 cache, where the elements join it.
__device__ void bring_displaced_of_warp(const Product& g, std::int64_t row, std::int64_t col,
                                        const std::int32_t (&from)[segments]) {
  constexpr int own = static_cast<int>(ceil_div(batches, adder_warps)) * together;
  static_assert(own <= warp_size);
  const int warp = (threadIdx.x - first_adder) / warp_size, lane = threadIdx.x % warp_size;
  const int column = (warp + lane / together * adder_warps) * together + lane % together;
  const std::int64_t columns[] = {lane < own && column < tile_cols ? col + column : g.C.cols};
  bring_displaced<1>(g.displaced, g.C, row, from, columns);
}

__device__ void add_to_C(const Product& g, const Places& at, const float* slab, TilesOfBlock tile) {
  const int warp = (threadIdx.x - first_adder) / warp_size, lane = threadIdx.x % warp_size;
  constexpr int warps = adder_warps;
  int parity = 0;
  std::int64_t row = 0, col = 0;  // the tile's first
  float4 of_cols = {};            // the scales of columns 4 lane ... 4 lane + 3
  float of_rows[segments] = {};
  const std::uint64_t policy = cache_policy(g.streamed);
  auto enter = [&] {
    if (!tile.there()) return;
    row = tile.row * tile_rows;
    col = tile.col * tile_cols;
    std::int32_t from[segments] = {};
    if (g.displaced.from != nullptr) places_of_rows<1>(g.displaced, g.C, row, from);
    of_cols = __ldg(reinterpret_cast<const float4*>(g.B.scale + col) + lane);
#pragma unroll
    for (int s = 0; s < segments; ++s) of_rows[s] = __ldg(g.A.scale + row + lane + s * warp_size);
    // C on its way to the cache
    for (int j = threadIdx.x - first_adder; j < tile_cols; j += adders)
      if (col + j < g.C.cols)
#pragma unroll
        for (int s = 0; s < segments; ++s)
          if (row + s * warp_size < g.C.rows)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(&g.C(row + s * warp_size, col + j)));
    if (g.displaced.from != nullptr) bring_displaced_of_warp(g, row, col, from);
  };
  enter();
  for (; tile.there(); parity ^= 1) {
    bool fast = ordinary(of_cols.x) && ordinary(of_cols.y) && ordinary(of_cols.z) && ordinary(of_cols.w);
#pragma unroll
    for (int s = 0; s < segments; ++s) {
      fast = fast && ordinary(of_rows[s]);
      of_rows[s] *= g.alpha;
    }
    fast = __all_sync(~0u, fast) && row + tile_rows <= g.C.rows && col + tile_cols <= g.C.cols;
    float* const C = &g.C(row + lane, col);
    int halves = 0;  // of the slab, which are waited for
    auto need = [&](int batch) {
      if (halves > batch / (batches / product_groups)) return;
      if (halves == 1) barrier_arrive(at.slab_empty);
      barrier_wait(at.slab_filled + 8 * halves, parity);
      ++halves;
    };
    auto scales_of = [&](int batch, float(&scale)[together]) {
      scale[0] = __shfl_sync(~0u, of_cols.x, batch);
      scale[1] = __shfl_sync(~0u, of_cols.y, batch);
      scale[2] = __shfl_sync(~0u, of_cols.z, batch);
      scale[3] = __shfl_sync(~0u, of_cols.w, batch);
    };
    if (fast) {
#pragma unroll 1
      for (int batch = warp; batch < batches; batch += warps) {
        float* column[together];
        column[0] = C + batch * together * g.C.ld;
#pragma unroll
        for (int j = 1; j < together; ++j) column[j] = column[j - 1] + g.C.ld;
        float c[together][segments], scale[together];
#pragma unroll
        for (int j = 0; j < together; ++j)
#pragma unroll
          for (int s = 0; s < segments; ++s) c[j][s] = load(column[j] + s * warp_size, policy);
        scales_of(batch, scale);
        need(batch);
        const float* const sums = slab + batch * together * tile_rows;
#pragma unroll
        for (int j = 0; j < together; ++j) {
          float x[segments];
#pragma unroll
          for (int s = 0; s < segments; ++s) x[s] = sums[j * tile_rows + s * warp_size + (lane ^ swizzle(j))];
#pragma unroll
          for (int s = 0; s < segments; ++s)
            store(column[j] + s * warp_size, fmaf(x[s], of_rows[s] * scale[j], c[j][s]), policy);
        }
      }
    } else {
      const std::int64_t rows = g.C.rows - row - lane, cols = g.C.cols - col;
#pragma unroll 1
      for (int batch = warp; batch < batches; batch += warps) {
        float scale[together];
        scales_of(batch, scale);
        need(batch);
#pragma unroll
        for (int j = 0; j < together; ++j) {
          const int at_col = batch * together + j;
          if (at_col >= cols) continue;
          const float* const sums = slab + at_col * tile_rows + (lane ^ swizzle(j));
          float* const column = C + at_col * g.C.ld;
#pragma unroll
          for (int s = 0; s < segments; ++s) {
            if (s * warp_size >= rows) continue;
            const float both = of_rows[s] * scale[j], sum = sums[s * warp_size];
            const bool normal = fabsf(both) >= FLT_MIN && fabsf(both) <= FLT_MAX;
            column[s * warp_size] += normal ? sum * both : sum * of_rows[s] * scale[j];
          }
        }
      }
    }
    tile.next();
    enter();
    barrier_arrive(at.slab_empty + 8);
  }
}

/// C += alpha A B^T of split vectors. (Compiled for sm_90a only, where it has barriers: usable() looks for them.)
__global__ void __launch_bounds__(gemm_threads, 1) product_kernel(const __grid_constant__ Product g) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char memory[];
  __shared__ std::uint64_t barriers[2 * stages + 2 * product_groups];
  __shared__ PlaceOfBlock place;
  const std::uint32_t start = shared_address(memory), aligned = (start + alignment - 1) / alignment * alignment;
  const std::uint32_t filled = shared_address(barriers), slab_filled = filled + 2 * stages * 8;
  const Places at{aligned,     aligned + stages * stage_bytes,  filled, filled + stages * 8,
                  slab_filled, slab_filled + product_groups * 8};
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      barrier_init(at.filled + 8 * s, 1);
      barrier_init(at.empty + 8 * s, product_groups * blocks_beside);
    }
    for (int h = 0; h < product_groups; ++h) {
      barrier_init(at.slab_filled + 8 * h, warp_group);
      barrier_init(at.slab_empty + 8 * h, adders);
    }
    barriers_ready();
    look_at_place(g.spared, place);
  }
  cluster_arrive();
  cluster_wait();
  const int rank = cluster_rank();
  static_assert(blocks_beside == 2);
  const int cluster = number_of_cluster(g.spared, g.turn, place, rank);
  float* const slab = reinterpret_cast<float*>(memory + (at.slab - start));
  const TilesOfBlock tile(g, cluster, rank);
  if (threadIdx.x < products) {
    take_registers<product_registers>();
    multiply(g, at, slab, tile);
  } else {
    leave_registers<adder_registers>();
    if (threadIdx.x >= first_adder)
      add_to_C(g, at, slab, tile);
    else if (threadIdx.x == products)
      fetch_operands(g, at, tile, rank);
  }
  // the other block may still write here, or arrive at this block's barriers
  cluster_arrive();
  cluster_wait();
  end_cluster(g.spared, rank);
#endif
}

}  // namespace
}  // namespace devobj::cuda
