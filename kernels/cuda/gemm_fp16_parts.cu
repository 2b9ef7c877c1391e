// gemm_fp16_parts: C += alpha op(A) op(B) in single precision by products of float16 matrices, on Hopper's warp group products.
//
// A number is the sum of two of eleven bits, but for the last bit of one in four: x = high + low / 2^11. Rows of op(A)
// and columns of op(B) are brought near 2^14 by powers of two first, each by its own, so that neither of the two leaves
// float16's range unless the number is 2^29 times smaller than the largest of its row or column; then it loses bits, none
// of which counts beside the largest. Of
//
//   op(A) op(B) = high high + (high low + low high) / 2^11 + low low / 2^22
//
// small products are summed first, since the tensor cores truncate what they add: of every 64 of the depth low low, then high low and low
// high on top of that, then, anew, high high; and these sums are added up in single precision. Errors are about half of a plain product's
// (bench/results/h100-fp16-parts.txt), without low low too. But where sums cancel, as in an LU, low low counts, and so does the last bit of
// one in four numbers. Up to a depth of 128 low low is beside C's way to memory, and takes no time; beyond, it is made where it is asked for,
// of depths above 256 of every second 64. The native LU does without, since its factors are of two parts themselves (two_parts.cuh).
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
// peak performance", 2022, for the scaled low part and sums in single precision.
#include "kernels/cuda/asked_once.hpp"
#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/first_part.hpp"
#include "kernels/cuda/fp16_parts_product.cuh"
#include "kernels/cuda/fp16_parts_split.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

// ---- infinities ----

/// C += alpha x y for every pair in which x, of a row's or column's vector, is infinite, or y is: what the product left
/// out. A block for so many vectors, first rows of C, then columns; without infinities it returns at once.
__global__ void __launch_bounds__(split_threads)
    infinities_kernel(Vectors<float> A, SplitVectors split_A, Vectors<float> B, SplitVectors split_B, int depth,
                      float alpha, Block<float> C, int first_of_B) {
  const bool rows = static_cast<int>(blockIdx.x) < first_of_B;
  const Vectors<float> X = rows ? A : B, Y = rows ? B : A;
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
std::size_t parts_bytes(std::int64_t vectors, std::int64_t depth) {
  return aligned_bytes(vectors * depth_tiles_for(depth) * tile_depth * 2 * sizeof(__half));
}
std::size_t split_bytes(std::int64_t vectors, std::int64_t depth) {
  return parts_bytes(vectors, depth) + aligned_bytes(vectors * sizeof(float)) + aligned_bytes(vectors);
}
SplitVectors split_at(unsigned char* memory, std::int64_t vectors, std::int64_t depth) {
  unsigned char* const scale = memory + parts_bytes(vectors, depth);
  return {memory, reinterpret_cast<float*>(scale), scale + aligned_bytes(vectors * sizeof(float))};
}

// Tiles that a block makes before it leaves its multiprocessor to others.
constexpr int tiles_at_once = 8;

/// One side of a product: the vectors, and what they have become.
struct Operand {
  SplitVectors split;
  Vectors<float> vectors;
  int depth_tiles;
  /// Those from a whole tile on.
  Operand from(std::int64_t first, std::int64_t count) const {
    constexpr auto vector_bytes = static_cast<std::int64_t>(2 * tile_depth * sizeof(__half));  // in a tile
    Vectors<float> some = vectors;
    some.data += first * vectors.next_vector;
    some.count = count;
    return {{split.tiles + first * depth_tiles * vector_bytes, split.scale + first, split.infinite + first},
            some,
            depth_tiles};
  }
};

void multiply_split(float alpha, const Operand& A, const Operand& B, View<float> C, std::int64_t depth, bool low_low,
                    const DisplacedRows<float>& displaced, const Spared& spared, Queue& q) {
  Product g{A.split, B.split, block_of(C), alpha};
  g.displaced = displaced_of(displaced);
  g.streamed = outgrows_cache(C.rows * C.cols * std::int64_t(sizeof(float)), q.device());
  g.depth_tiles = A.depth_tiles;
  constexpr std::int64_t free_low_low = 128, all_low_low = 256;  // depths
  if (low_low || depth <= free_low_low) g.low_low = depth <= all_low_low ? chunk : 2 * chunk;
  g.row_tiles = static_cast<int>(ceil_div(C.rows, std::int64_t(tile_rows)));
  g.col_tiles = static_cast<int>(ceil_div(C.cols, std::int64_t(tile_cols * blocks_beside))) * blocks_beside;
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, q.device()), "gemm_fp16_parts");
  const int kept = spared_multiprocessors(spared, processors);
  g.turn = std::max(1, (processors - kept) / blocks_beside);
  const std::int64_t tiles = std::int64_t(g.row_tiles) * (g.col_tiles / blocks_beside);
  require(tiles * tiles_at_once <= INT32_MAX, "gemm_fp16_parts: C is too large, ", C.rows, " x ", C.cols);
  // if others have multiprocessors of their own, blocks stay to the end
  const std::int64_t turns = kept > 0 ? 1 : ceil_div(tiles, std::int64_t(g.turn) * tiles_at_once);
  g.per_block = static_cast<int>(ceil_div(tiles, g.turn * turns));
  const std::int64_t full = tiles / (std::int64_t(g.turn) * g.per_block), left = tiles - full * g.turn * g.per_block;
  std::int64_t clusters = full * g.turn + std::min<std::int64_t>(left, g.turn);
  if (kept > 0 && spared.places != nullptr && clusters == g.turn) {
    clusters = processors / blocks_beside;
    g.spared = {spared.places, spared.counts};
  }
  check(cudaFuncSetAttribute(product_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, gemm_bytes),
        "gemm_fp16_parts");
  const ClusterLaunch launch(clusters * blocks_beside, blocks_beside, gemm_threads, gemm_bytes, stream_of(q));
  check(cudaLaunchKernelEx(&launch.config, product_kernel, g), "gemm_fp16_parts");

  const auto blocks_of_A = static_cast<unsigned>(ceil_div(C.rows, split_threads));
  infinities_kernel<<<blocks_of_A + static_cast<unsigned>(ceil_div(C.cols, split_threads)), split_threads, 0,
                      stream_of(q)>>>(A.vectors, A.split, B.vectors, B.split, static_cast<int>(depth), alpha,
                                      block_of(C), static_cast<int>(blocks_of_A));
  q.launched("gemm_fp16_parts");
}

}  // namespace

bool gemm_fp16_parts_usable() {
  static HopperKernel kernel;
  int device = 0;
  if (cudaGetDevice(&device) == cudaSuccess) return kernel.usable(product_kernel, device);
  cudaGetLastError();
  return false;
}

std::size_t gemm_fp16_parts_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  return split_bytes(whole(rows, tile_rows), depth) + split_bytes(whole(cols, tile_cols * blocks_beside), depth);
}

void gemm_fp16_parts(Op opA, Op opB, float alpha, View<float> A, View<float> B, View<float> C, void* workspace,
                     Queue& q, Spared spared, const DisplacedRows<float>& displaced, bool low_low,
                     const FirstPart& first) {
  const std::int64_t depth = opA == Op::NoTrans ? A.cols : A.rows;
  if (C.empty()) return;
  require(depth > 0 || displaced.from == nullptr, "gemm_fp16_parts: displaced rows, but no product");
  if (depth == 0) return;
  require(depth <= gemm_by_parts_max_depth, "gemm_fp16_parts: depth ", depth, " is more than ",
          gemm_by_parts_max_depth);
  const bool of_rows = first.side == Side::Left;
  require(!first.then || (first.vectors > 0 && displaced.from == nullptr), "gemm_fp16_parts: a first part of ",
          first.vectors, of_rows ? " rows" : " columns", displaced.from == nullptr ? "" : ", and displaced rows");
  DeviceScope scope(q.device());
  const std::int64_t rows = whole(C.rows, tile_rows), cols = whole(C.cols, tile_cols * blocks_beside);
  auto* const memory = static_cast<unsigned char*>(workspace);
  const int tiles = depth_tiles_for(depth);
  const Operand left{split_at(memory, rows, depth), vectors_of(opA, A, true), tiles},
      right{split_at(memory + split_bytes(rows, depth), cols, depth), vectors_of(opB, B, false), tiles};

  const auto first_of_B = static_cast<unsigned>(rows / split_vectors);
  const std::size_t split_memory = split_vectors * (tiles * tile_depth + 1) * sizeof(float);
  split_kernel<<<first_of_B + static_cast<unsigned>(cols / split_vectors), split_threads, split_memory, stream_of(q)>>>(
      left.vectors, left.split, right.vectors, right.split, static_cast<int>(depth), static_cast<int>(first_of_B));
  q.launched("gemm_fp16_parts");
  if (!first.then) return multiply_split(alpha, left, right, C, depth, low_low, displaced, spared, q);

  multiply_first_and_rest(
      first, whole(first.vectors, of_rows ? tile_rows : tile_cols * blocks_beside), left, right, C.rows, C.cols,
      [&](const Operand& some_rows, const Operand& some_columns, Range rows, Range columns) {
        multiply_split(alpha, some_rows, some_columns, C(rows, columns), depth, low_low, {}, spared, q);
      });
}

}  // namespace devobj::cuda
