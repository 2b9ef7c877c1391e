// The operands of gemm_fp16_parts: rows of op(A) and columns of op(B) as tiles of float16 parts, each vector with a power of
// two of its own.
#pragma once

#include <cuda_fp16.h>

#include <cfloat>

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/vectors.cuh"

namespace devobj::cuda {
namespace {

// ---- operands: vectors (rows of op(A), columns of op(B)) in tiles ----
constexpr int tile_rows = 160, tile_cols = 128;  // of C: vectors in a tile of A, of B
constexpr int tile_depth = 32, chunk = 2;        // the depth is made up to whole chunks of tiles
constexpr int blocks_beside = 2;                 // in a cluster, along C's columns

__host__ __device__ constexpr int depth_tiles_for(std::int64_t depth) {
  return static_cast<int>(ceil_div(depth, std::int64_t(chunk * tile_depth))) * chunk;
}

/// Bytes of a tile's high parts; the low ones follow.
__host__ __device__ constexpr int part_bytes(int vectors) {
  return vectors * tile_depth * static_cast<int>(sizeof(__half));
}
constexpr int A_bytes = 2 * part_bytes(tile_rows), B_bytes = 2 * part_bytes(tile_cols);

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
__global__ void __launch_bounds__(split_threads) split_kernel(Vectors<float> A, SplitVectors split_A, Vectors<float> B,
                                                              SplitVectors split_B, int depth, int first_of_B) {
  extern __shared__ float element[];  // of the vectors, each as long as the tiles are deep, and one more for the banks
  constexpr int warps = split_threads / warp_size;
  const bool left = static_cast<int>(blockIdx.x) < first_of_B;
  const Vectors<float> X = left ? A : B;
  const SplitVectors split = left ? split_A : split_B;
  const int vectors_of_tile = left ? tile_rows : tile_cols;
  const std::int64_t first = (blockIdx.x - (left ? 0 : first_of_B)) * std::int64_t(split_vectors);
  const int tiles = depth_tiles_for(depth), padded = tiles * tile_depth, ld = padded + 1;
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

}  // namespace
}  // namespace devobj::cuda
