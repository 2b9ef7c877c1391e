// What gemm_3m_overlapped and project_3m have in common: the left operand of a complex product by three real ones. Its three matrices,
// re + im, im and re, are written to memory first, in pieces of depth 8 for the rows of a tile, which are copied to shared memory
// as they are: of 16 rows of a piece 16 bytes for each lane, which are what it multiplies. Lane 4 o + i has rows o and o + 8 at the depth
// of its step, one of two.
#pragma once

#include "kernels/cuda/overlapped_product.cuh"

namespace devobj::cuda::three_products {

using Complex = std::complex<double>;

constexpr int real_products = 3;
constexpr int tile_cols = 48, piece_depth = 8;
// 16 bytes of every lane: 16 rows are two of these, for the two steps along a piece's depth
constexpr int lanes_bytes = warp_size * 16;
// complex rows of a tile, and the sixteens of them
constexpr int rows = overlapped::tile_rows / 2, sixteens = rows / 16;
constexpr int A_bytes = real_products * sixteens * 2 * lanes_bytes;
// of a warp's part of a tile
constexpr int warp_sixteens = overlapped::warp_boxes / 2, warp_eights = tile_cols / overlapped::warps_wide / 8;

/// A piece for the rows of a tile: half of it, which a block of the cluster copies to both.
__device__ inline void fetch_A(const unsigned char* A, int pieces, int row, int k, int rank, std::uint32_t to,
                               std::uint32_t filled) {
  static_assert(overlapped::blocks_beside == 2);
  constexpr int half = A_bytes / overlapped::blocks_beside;
  const std::int64_t piece = row * std::int64_t(pieces) + k;
  bulk_copy_to(3, to + rank * half, A + piece * A_bytes + rank * half, half, filled);
}
/// Where a lane's part of a piece begins in it.
__device__ inline int lane_of_A(int warp_row, int lane) {
  return warp_row * warp_sixteens * 2 * lanes_bytes + lane * 16;
}
__device__ inline double2 load_A(const unsigned char* lane_of_A, int product, int sixteen, int step) {
  return *reinterpret_cast<const double2*>(lane_of_A + ((product * sixteens + sixteen) * 2 + step) * lanes_bytes);
}

constexpr int split_threads = 256;

/// Pieces of `element`(i, k), the left operand. A thread has 16 bytes of each of the three matrices: two elements, at the depth
/// depth_of(lane % 4, step) of a piece.
template <class Element, class DepthOf>
__device__ void split_A(Element element, DepthOf depth_of, int pieces, std::int64_t all, double2* to) {
  const std::int64_t t = blockIdx.x * std::int64_t(split_threads) + threadIdx.x;
  if (t >= all) return;
  // t counts lanes, then the steps along the depth, then the sixteens of a tile, then pieces, then tiles
  constexpr int of_piece = sixteens * 2 * warp_size;
  const int lane = t % warp_size, step = t / warp_size % 2, sixteen = t / (2 * warp_size) % sixteens;
  const std::int64_t piece = t / of_piece;
  const std::int64_t row = piece / pieces * rows + sixteen * 16 + lane / 4,
                     k = piece % pieces * piece_depth + depth_of(lane % 4, step);
  const double2 a = element(row, k), below = element(row + 8, k);
  double2* const at = to + piece * (real_products * of_piece) + t % of_piece;
  at[0] = {a.x + a.y, below.x + below.y};
  at[of_piece] = {a.y, below.y};
  at[2 * of_piece] = {a.x, below.x};
}

/// Bytes of the left operand's pieces.
inline std::size_t bytes_of_A(std::int64_t row_count, std::int64_t depth) {
  return static_cast<std::size_t>(ceil_div(row_count, std::int64_t(rows)) *
                                  ceil_div(depth, std::int64_t(piece_depth))) *
         A_bytes;
}

/// `kernel` makes so many bytes of the three matrices' pieces.
template <class Kernel>
void split(const char* routine, Kernel kernel, View<Complex> X, std::int64_t pieces, std::size_t bytes,
           unsigned char* to, Queue& q) {
  const auto all = static_cast<std::int64_t>(bytes / (real_products * sizeof(double2)));
  kernel<<<static_cast<unsigned>(ceil_div(all, std::int64_t(split_threads))), split_threads, 0, stream_of(q)>>>(
      block_of(X), static_cast<int>(pieces), all, reinterpret_cast<double2*>(to));
  q.launched(routine);
}

}  // namespace devobj::cuda::three_products
