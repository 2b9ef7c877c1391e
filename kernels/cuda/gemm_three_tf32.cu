// gemm_three_tf32: C -= A B in single precision by three products of TF32 numbers, on Hopper's warp group products, of operands that
// are split on their way: for products with too few columns for gemm_fp16_parts, whose operands are written to memory as parts first.
//
//            B                   A block has a tile of C, 128 rows of 64 or 128 columns, and goes through the depth by pieces of 32
//          +---+                 numbers: it splits
//          +---+  pieces           B's piece into shared memory, as warp groups find matrices there,
//          +---+                   A's piece into registers,
//     +-+-+-+---+                while the tensor cores multiply the pieces before: small large and large small, then large large, since
//   A | | | | C |  tile          they truncate what they add. Sums of one or two pieces are added up in single precision.
//     +-+-+-+---+
//
// Pieces and tiles come and go as boxes (tensor_map.hpp). What cannot be split (tensor_single.cuh) a block multiplies plainly, with C as
// it was.
#include "kernels/cuda/gemm_three_tf32.cuh"
#include "kernels/cuda/overlapped_launch.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

template <int cols>
void launch(View<float> A, View<float> B, View<float> C, bool early, Queue& q) {
  using namespace three_tf32;
  const auto map = [](View<float> X, int of_box) { return tensor_map("gemm_three_tf32", X, box_rows, of_box); };
  const Product g{block_of(A), block_of(B), block_of(C), static_cast<int>(ceil_div(C.rows, tile_rows))};
  const std::int64_t tiles = g.row_tiles * ceil_div(C.cols, cols);
  launch_overlapped("gemm_three_tf32", early, product_kernel<cols>, tiles, threads, bytes<cols>, q, g, map(A, piece),
                    map(B, cols), map(C, cols));
}

}  // namespace

bool gemm_three_tf32(View<float> A, View<float> B, View<float> C, Queue& q, bool early) {
  if (C.empty() || A.cols == 0) return true;
  constexpr std::int64_t most = INT32_MAX;  // rows, columns, tiles
  if (C.rows > most || C.cols > most || C.rows * C.cols > most * three_tf32::tile_rows ||
      A.cols > gemm_three_tf32_max_depth || A.cols % copied_numbers<float> != 0 || !has_tensor_map(A) ||
      !has_tensor_map(B) || !has_tensor_map(C))
    return false;
  DeviceScope scope(q.device());
  if (!gemm_fp16_parts_usable()) return false;  // whose products this kernel needs, too
  using namespace three_tf32;
  // narrow tiles, if there are multiprocessors for all of them, of an H100
  constexpr std::int64_t multiprocessors = 132, narrow_most_depth = 128;
  if (A.cols <= narrow_most_depth && 2 * ceil_div(C.rows, tile_rows) * ceil_div(C.cols, 128) <= multiprocessors)
    launch<64>(A, B, C, early, q);
  else
    launch<128>(A, B, C, early, q);
  return true;
}

}  // namespace devobj::cuda
