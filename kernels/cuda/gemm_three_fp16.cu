// gemm_three_fp16: C += alpha op(A) op(B) in single precision by three products of float16 matrices, on Hopper's warp
// group products.
//
// A number is the sum of two of eleven bits, but for the last bit of one in eight: x = high + low / 2^11. Rows of op(A)
// and columns of op(B) are brought near 2^14 by powers of two first, each by its own, so that neither of the two leaves
// float16's range unless the number is 2^29 times smaller than the largest of its row or column; then it loses bits, none
// of which counts beside the largest. Of
//
//   op(A) op(B) = high high + (high low + low high) / 2^11 + low low / 2^22
//
// the last is left out. The first two have sums of their own, since the tensor cores truncate what they add: small numbers
// must not go into large sums. Sums of more than 256 products are added in single precision for the same reason. The
// error is that of a plain product of depth 256 at most (bench/results/h200-gemm-parts.txt).
//
// What is not finite is left out of the parts. A row or column with a NaN has a NaN for its power of two; one with an
// infinity is marked, and gets its infinities and NaN afterwards (infinities_kernel).
//
//       160 rows of C                    A block makes tiles of C one after the other:
//   +-----------------+                    warps 0 to 3, 4 to 7   the products of 64 columns each; the sums go to the slab
//   |    64 columns   |  warps 0 to 3      warp 8                 has the operands' tiles of depth 32 copied into a ring
//   +-----------------+                    warps 9 to 15          C += alpha slab, beside the next tile's products
//   |    64 columns   |  warps 4 to 7
//   +-----------------+                  Two blocks, a cluster, have the same rows: each fetches half of them for both.
//
// Source: Ootomo & Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32 theoretical
// peak performance", 2022, for the scaled low part and the sums of their own.
#include <cuda_fp16.h>

#include <cfloat>

#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

// ---- operands: vectors (rows of op(A), columns of op(B)) in tiles ----
constexpr int tile_rows = 160, tile_cols = 128;  // of C: vectors in a tile of A, of B
constexpr int tile_depth = 32;
constexpr int blocks_beside = 2;  // in a cluster, along C's columns

/// Bytes of a tile's high parts; the low ones follow.
__host__ __device__ constexpr int part_bytes(int vectors) {
  return vectors * tile_depth * static_cast<int>(sizeof(__half));
}
constexpr int A_bytes = 2 * part_bytes(tile_rows), B_bytes = 2 * part_bytes(tile_cols);

/// op(X), vectors x depth: element k of vector v is data[v * next_vector + k * next_element], one of both steps is 1.
struct Vectors {
  const float* data;
  std::int64_t count, next_vector, next_element;
};
/// Vectors split, tile after tile along the depth, and their powers of two, in units of 2^-14; both for whole tiles.
struct SplitVectors {
  unsigned char* tiles;
  float* scale;
  unsigned char* infinite;
};

constexpr int split_threads = 256, split_vectors = 16;
static_assert(tile_rows % split_vectors == 0 && tile_cols % split_vectors == 0);

__device__ bool finite(float x) {
  return fabsf(x) <= FLT_MAX;
}
/// 2^e, -126 <= e <= 127
__device__ float power_of_two(int e) {
  return __int_as_float((e + 127) << 23);
}

/// split_vectors vectors, a block each. Blocks from first_of_B on are B's.
__global__ void __launch_bounds__(split_threads)
    split_kernel(Vectors A, SplitVectors split_A, Vectors B, SplitVectors split_B, int depth, int first_of_B) {
  extern __shared__ float element[];  // of the vectors, each as long as the tiles are deep, and one more for the banks
  constexpr int warps = split_threads / warp_size;
  const bool left = static_cast<int>(blockIdx.x) < first_of_B;
  const Vectors X = left ? A : B;
  const SplitVectors split = left ? split_A : split_B;
  const int vectors_of_tile = left ? tile_rows : tile_cols;
  const std::int64_t first = (blockIdx.x - (left ? 0 : first_of_B)) * std::int64_t(split_vectors);
  const int tiles = (depth + tile_depth - 1) / tile_depth, padded = tiles * tile_depth, ld = padded + 1;
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;

  if (X.next_vector == 1) {  // threads go along the vectors
    const int v = threadIdx.x % split_vectors;
    for (int k = threadIdx.x / split_vectors; k < padded; k += split_threads / split_vectors)
      element[v * ld + k] = first + v < X.count && k < depth ? X.data[first + v + k * X.next_element] : 0;
  } else {
    for (int v = warp; v < split_vectors; v += warps)
      for (int k = lane; k < padded; k += warp_size)
        element[v * ld + k] = first + v < X.count && k < depth ? X.data[(first + v) * X.next_vector + k] : 0;
  }
  __syncthreads();

  for (int v = warp; v < split_vectors; v += warps) {
    const float* const x = element + v * ld;
    float largest = 0;
    bool infinite = false, nan = false;
    for (int k = lane; k < padded; k += warp_size) {
      const float size = fabsf(x[k]);
      nan = nan || size != size;
      infinite = infinite || size > FLT_MAX;
      if (size <= FLT_MAX) largest = fmaxf(largest, size);
    }
    largest = __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(largest)));
    nan = __any_sync(~0u, nan);
    infinite = __any_sync(~0u, infinite);
    // the largest to 2^14 ... 2^15; numbers below 2^-112 not quite
    const int shift = min(14 - ((__float_as_int(largest) >> 23) - 127), 126);
    const float up = power_of_two(shift);
    const std::int64_t vector = first + v;
    if (lane == 0) {
      split.scale[vector] = nan ? __int_as_float(0x7fc00000) : power_of_two(-shift);
      split.infinite[vector] = infinite;
    }
    // half a warp per tile, two elements per thread
    const int row = static_cast<int>(vector % vectors_of_tile), pair = lane % 16;
    unsigned char* const tile = split.tiles + vector / vectors_of_tile * tiles * 2 * part_bytes(vectors_of_tile) +
                                row * tile_depth * sizeof(__half) + piece_of_vector(row, pair / 4) * 16 + pair % 4 * 4;
    for (int t = lane / 16; t < tiles; t += 2) {
      float2 y = make_float2(x[t * tile_depth + 2 * pair], x[t * tile_depth + 2 * pair + 1]);
      y = make_float2(finite(y.x) ? y.x * up : 0, finite(y.y) ? y.y * up : 0);
      const __half2 high = __float22half2_rn(y);
      const float2 rest = __half22float2(high);
      unsigned char* const place = tile + t * 2 * part_bytes(vectors_of_tile);
      *reinterpret_cast<__half2*>(place) = high;
      *reinterpret_cast<__half2*>(place + part_bytes(vectors_of_tile)) =
          __floats2half2_rn((y.x - rest.x) * 2048, (y.y - rest.y) * 2048);
    }
  }
}

// ---- the product ----
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
constexpr int chunk = 8;  // tiles of operands whose products are summed on the tensor cores

/// The product of split vectors, and where it goes.
struct Product {
  SplitVectors A, B;
  Block<float> C;
  float alpha;
  int depth_tiles, row_tiles, col_tiles;  // col_tiles: of whole clusters
  int turn;                               // clusters of a turn, which run at the same time
  int per_block;                          // tiles of each in a turn
};

/// The tiles of a block, one after the other. The tiles of a turn are beside each other, eight high, so that the
/// operands are in the cache.
class TilesOfBlock {
 public:
  __device__ TilesOfBlock(const Product& g, int rank) : g_(g), rank_(rank) {
    const int cluster = blockIdx.x / blocks_beside;
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

__device__ void multiply(const Product& g, const Places& at, float* slab, TilesOfBlock tile) {
  const int group = threadIdx.x / warp_group, thread = threadIdx.x % warp_group, lane = threadIdx.x % warp_size;
  const int col = threadIdx.x / warp_size * 16 + lane / 4;  // the first of two, 8 apart
  float* const sums = slab + col * tile_rows + lane % 4 * 2;
  const int swizzled = swizzle(col);
  int stage = 0, parity = 0, slab_parity = 1;
  auto release = [&](int done) {
    if (thread < blocks_beside) barrier_arrive_at(at.empty + 8 * done, thread);
  };
  for (; tile.there(); tile.next(), slab_parity ^= 1) {
    float high[80], low[80];
    for (int k0 = 0; k0 < g.depth_tiles; k0 += chunk) {
      int before = -1;
      const int count = min(chunk, g.depth_tiles - k0);
      for (int k = 0; k < count; ++k) {
        barrier_wait(at.filled + 8 * stage, parity);
        const std::uint32_t A = at.ring + stage * stage_bytes;
        const std::uint32_t B = A + A_bytes + group * group_cols * tile_depth * sizeof(__half);
        const std::uint64_t A_high = matrix_descriptor(A), A_low = matrix_descriptor(A + part_bytes(tile_rows)),
                            B_high = matrix_descriptor(B), B_low = matrix_descriptor(B + part_bytes(tile_cols));
        products_begin();
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          multiply_64x160(low, B_high + 2 * i, A_low + 2 * i, k | i);
          multiply_64x160(low, B_low + 2 * i, A_high + 2 * i, 1);
          multiply_64x160(high, B_high + 2 * i, A_high + 2 * i, k | i);
        }
        products_end();
        if (before >= 0) {
          products_wait<1>();
          release(before);
        }
        before = stage;
        if (++stage == stages) stage = 0, parity ^= 1;
      }
      products_wait<0>();
      release(before);
      constexpr float unit = 1.0f / 2048;
      if (k0 == 0) barrier_wait(at.slab_empty + 8 * group, slab_parity);
#pragma unroll
      for (int i = 0; i < 20; ++i) {
        float2* const first = reinterpret_cast<float2*>(sums + ((8 * i) ^ swizzled));
        float2* const second = reinterpret_cast<float2*>(sums + 8 * tile_rows + ((8 * i) ^ swizzled));
        float2 a = make_float2(fmaf(low[4 * i], unit, high[4 * i]), fmaf(low[4 * i + 1], unit, high[4 * i + 1]));
        float2 b =
            make_float2(fmaf(low[4 * i + 2], unit, high[4 * i + 2]), fmaf(low[4 * i + 3], unit, high[4 * i + 3]));
        if (k0 > 0) {
          a = make_float2(first->x + a.x, first->y + a.y);
          b = make_float2(second->x + b.x, second->y + b.y);
        }
        *first = a;
        *second = b;
      }
    }
    barrier_arrive(at.slab_filled + 8 * group);
  }
}

/// Whether products of these two powers of two are sure to be normal numbers.
__device__ bool ordinary(float scale) {
  return scale >= 0x1p-60f && scale <= 0x1p60f;
}

__device__ void add_to_C(const Product& g, const Places& at, const float* slab, TilesOfBlock tile) {
  constexpr int together = 4, segments = tile_rows / warp_size;  // columns; pieces of a column
  const int warp = (threadIdx.x - first_adder) / warp_size, lane = threadIdx.x % warp_size;
  constexpr int warps = adders / warp_size, batches = tile_cols / together;
  int parity = 0;
  std::int64_t row = 0, col = 0;  // the tile's first
  float4 of_cols = {};            // the scales of columns 4 lane ... 4 lane + 3
  float of_rows[segments] = {};
  auto enter = [&] {
    if (!tile.there()) return;
    row = tile.row * tile_rows;
    col = tile.col * tile_cols;
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
          for (int s = 0; s < segments; ++s) c[j][s] = __ldcg(column[j] + s * warp_size);
        scales_of(batch, scale);
        need(batch);
        const float* const sums = slab + batch * together * tile_rows;
#pragma unroll
        for (int j = 0; j < together; ++j) {
          float x[segments];
#pragma unroll
          for (int s = 0; s < segments; ++s) x[s] = sums[j * tile_rows + s * warp_size + (lane ^ swizzle(j))];
#pragma unroll
          for (int s = 0; s < segments; ++s) column[j][s * warp_size] = fmaf(x[s], of_rows[s] * scale[j], c[j][s]);
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
  }
  cluster_arrive();
  cluster_wait();
  const int rank = cluster_rank();
  float* const slab = reinterpret_cast<float*>(memory + (at.slab - start));
  const TilesOfBlock tile(g, rank);
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
#endif
}

// ---- infinities ----

/// C += alpha x y for every pair in which x, of a row's or column's vector, is infinite, or y is: what the product left
/// out. A block for so many vectors, first rows of C, then columns; without infinities it returns at once.
__global__ void __launch_bounds__(split_threads)
    infinities_kernel(Vectors A, SplitVectors split_A, Vectors B, SplitVectors split_B, int depth, float alpha,
                      Block<float> C, int first_of_B) {
  const bool rows = static_cast<int>(blockIdx.x) < first_of_B;
  const Vectors X = rows ? A : B, Y = rows ? B : A;
  const unsigned char* const infinite = rows ? split_A.infinite : split_B.infinite;
  const std::int64_t first = (blockIdx.x - (rows ? 0 : first_of_B)) * std::int64_t(split_threads);
  const bool mine = first + threadIdx.x < X.count && infinite[first + threadIdx.x];
  if (!__syncthreads_or(mine)) return;
  for (std::int64_t v = first; v < first + split_threads && v < X.count; ++v) {
    if (!infinite[v]) continue;
    for (std::int64_t w = threadIdx.x; w < Y.count; w += split_threads) {
      const bool both = (rows ? split_B.infinite : split_A.infinite)[w];
      if (!rows && both) continue;  // is done with its row
      float& c = rows ? C(v, w) : C(w, v);
      float sum = c;
      for (int k = 0; k < depth; ++k) {
        const float x = X.data[v * X.next_vector + k * X.next_element];
        if (finite(x) && !both) continue;
        const float y = Y.data[w * Y.next_vector + k * Y.next_element];
        if (!finite(x) || !finite(y)) sum += alpha * (x * y);
      }
      c = sum;
    }
  }
}

// ---- memory ----
constexpr std::size_t aligned_bytes(std::size_t bytes) {
  return (bytes + 1023) / 1024 * 1024;
}
/// Vectors of whole tiles.
constexpr std::int64_t whole(std::int64_t vectors, int tile) {
  return (vectors + tile - 1) / tile * tile;
}
std::size_t split_bytes(std::int64_t vectors, std::int64_t depth) {
  return aligned_bytes(vectors * whole(depth, tile_depth) * 2 * sizeof(__half)) +
         aligned_bytes(vectors * sizeof(float)) + aligned_bytes(vectors);
}
SplitVectors split_at(unsigned char* memory, std::int64_t vectors, std::int64_t depth) {
  unsigned char* const scale = memory + aligned_bytes(vectors * whole(depth, tile_depth) * 2 * sizeof(__half));
  return {memory, reinterpret_cast<float*>(scale), scale + aligned_bytes(vectors * sizeof(float))};
}
Vectors vectors_of(Op op, View<float> X, bool rows) {
  // a row of X as it lies has its elements ld apart
  const bool lying = rows == (op == Op::NoTrans);
  return {X.data, lying ? X.rows : X.cols, lying ? 1 : X.ld, lying ? X.ld : 1};
}

// Tiles that a block makes before it leaves its multiprocessor to others.
constexpr int tiles_at_once = 8;

}  // namespace

bool gemm_three_fp16_usable() {
  cudaFuncAttributes attributes{};
  int major = 0, device = 0;
  if (cudaFuncGetAttributes(&attributes, product_kernel) != cudaSuccess || cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return major == 9 && attributes.sharedSizeBytes > 0;
}

std::size_t gemm_three_fp16_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  return split_bytes(whole(rows, tile_rows), depth) + split_bytes(whole(cols, tile_cols * blocks_beside), depth);
}

void gemm_three_fp16(Op opA, Op opB, float alpha, View<float> A, View<float> B, View<float> C, void* workspace,
                     Queue& q) {
  const std::int64_t depth = opA == Op::NoTrans ? A.cols : A.rows;
  if (C.empty() || depth == 0) return;
  require(depth <= gemm_by_parts_max_depth, "gemm_three_fp16: depth ", depth, " is more than ",
          gemm_by_parts_max_depth);
  DeviceScope scope(q.device());
  const std::int64_t rows = whole(C.rows, tile_rows), cols = whole(C.cols, tile_cols * blocks_beside);
  auto* const memory = static_cast<unsigned char*>(workspace);
  const SplitVectors split_A = split_at(memory, rows, depth),
                     split_B = split_at(memory + split_bytes(rows, depth), cols, depth);
  const Vectors of_A = vectors_of(opA, A, true), of_B = vectors_of(opB, B, false);

  const auto first_of_B = static_cast<unsigned>(rows / split_vectors);
  const std::size_t split_memory = split_vectors * (whole(depth, tile_depth) + 1) * sizeof(float);
  split_kernel<<<first_of_B + static_cast<unsigned>(cols / split_vectors), split_threads, split_memory, stream_of(q)>>>(
      of_A, split_A, of_B, split_B, static_cast<int>(depth), static_cast<int>(first_of_B));

  Product g{split_A, split_B, block_of(C), alpha};
  g.depth_tiles = static_cast<int>(whole(depth, tile_depth) / tile_depth);
  g.row_tiles = static_cast<int>(rows / tile_rows);
  g.col_tiles = static_cast<int>(cols / tile_cols);
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, q.device()), "gemm_three_fp16");
  g.turn = std::max(1, processors / blocks_beside);
  const std::int64_t tiles = std::int64_t(g.row_tiles) * (g.col_tiles / blocks_beside);
  require(tiles * tiles_at_once <= INT32_MAX, "gemm_three_fp16: C is too large, ", C.rows, " x ", C.cols);
  const std::int64_t turns = ceil_div(tiles, std::int64_t(g.turn) * tiles_at_once);
  g.per_block = static_cast<int>(ceil_div(tiles, g.turn * turns));
  const std::int64_t full = tiles / (std::int64_t(g.turn) * g.per_block), left = tiles - full * g.turn * g.per_block;
  const std::int64_t clusters = full * g.turn + std::min<std::int64_t>(left, g.turn);
  check(cudaFuncSetAttribute(product_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, gemm_bytes),
        "gemm_three_fp16");
  const ClusterLaunch launch(clusters * blocks_beside, blocks_beside, gemm_threads, gemm_bytes, stream_of(q));
  check(cudaLaunchKernelEx(&launch.config, product_kernel, g), "gemm_three_fp16");

  const auto blocks_of_A = static_cast<unsigned>(ceil_div(C.rows, split_threads));
  infinities_kernel<<<blocks_of_A + static_cast<unsigned>(ceil_div(C.cols, split_threads)), split_threads, 0,
                      stream_of(q)>>>(of_A, split_A, of_B, split_B, static_cast<int>(depth), alpha, block_of(C),
                                      static_cast<int>(blocks_of_A));
  q.launched("gemm_three_fp16");
}

}  // namespace devobj::cuda
