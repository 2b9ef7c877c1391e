// B = op(A), and A = op(A) in place, by tiles through shared memory: both sides are read and written along columns.
#include <type_traits>

#include "kernels/cuda/grid.cuh"
#include "kernels/kernels.hpp"

namespace devobj::cuda {
namespace {

constexpr int tile_rows = 32;
constexpr int thread_rows = 8;  // a block is 32 x 8 threads

// Columns of a tile: more of the small elements, so that as many bytes are under way.
template <class E>
constexpr int tile_cols = sizeof(E) == 4 ? 64 : 32;

template <bool conj, class E>
__device__ E maybe_conjugate(E x) {
  if constexpr (conj) return conjugate(x);
  return x;
}

// A block moves tiles of 32 x tile_cols elements. A warp reads 32 elements of a column of A and writes 32 elements of
// a column of B, which is a row of A:
//
//      A  +---+---+---+           tile[j][i], 33 wide        B  +---+---+
//         |   | t |   |  x = i    so that a column of it        |   |   |  x = j
//         +---+---+---+  y = j    meets every bank              | t |   |  y = i
//         |   |   |   |                                         |   |   |
//         +---+---+---+                                         +---+---+
//
// blockIdx.x counts the tiles of A downwards, blockIdx.y to the right.
template <bool conj, class E>
__global__ void __launch_bounds__(tile_rows* thread_rows) transpose_kernel(Block<E> A, Block<E> B) {
  constexpr int width = tile_cols<E>;
  __shared__ alignas(16) unsigned char memory[width * (tile_rows + 1) * sizeof(E)];
  auto tile = reinterpret_cast<E(*)[tile_rows + 1]>(memory);
  const std::int64_t i0 = std::int64_t(blockIdx.x) * tile_rows;
  const int x = threadIdx.x, y = threadIdx.y;
  for (std::int64_t j0 = std::int64_t(blockIdx.y) * width; j0 < A.cols; j0 += std::int64_t(gridDim.y) * width) {
#pragma unroll
    for (int j = y; j < width; j += thread_rows)
      if (i0 + x < A.rows && j0 + j < A.cols) tile[j][x] = A(i0 + x, j0 + j);
    __syncthreads();
#pragma unroll
    for (int i = y; i < tile_rows; i += thread_rows)
#pragma unroll
      for (int j = x; j < width; j += warp_size)
        if (i0 + i < A.rows && j0 + j < A.cols) B(j0 + j, i0 + i) = maybe_conjugate<conj>(tile[j][i]);
    __syncthreads();
  }
}

// The pairs of tiles (row, col), row >= col, of a matrix of `tiles` x `tiles`, folded to a rectangle so that no block
// is idle: the columns from h = ceil(tiles / 2) on fill the places left of the first h columns' diagonal. tiles = 4:
//
//        x = 0     1     2     3     4
//  y = 0   2,2   0,0   1,0   2,0   3,0
//      1   3,2   3,3   1,1   2,1   3,1
struct TilePair {
  std::int64_t row, col;
};
__device__ TilePair tile_pair(std::int64_t x, std::int64_t y, std::int64_t tiles) {
  const std::int64_t h = (tiles + 1) / 2;
  if (tiles % 2 == 1) return x >= y ? TilePair{x, y} : TilePair{h + y - 1, h + x};
  return x > y ? TilePair{x - 1, y} : TilePair{h + y, h + x};
}

// A block reads the tiles (row, col) and (col, row) and writes each, transposed, to the other's place.
template <bool conj, class E>
__global__ void __launch_bounds__(tile_rows* thread_rows) transpose_in_place_kernel(Block<E> A, std::int64_t tiles) {
  __shared__ alignas(16) unsigned char memory[2 * tile_rows * (tile_rows + 1) * sizeof(E)];
  auto below = reinterpret_cast<E(*)[tile_rows + 1]>(memory);
  auto above = below + tile_rows;
  const TilePair pair = tile_pair(blockIdx.x, blockIdx.y, tiles);
  const std::int64_t i0 = pair.row * tile_rows, j0 = pair.col * tile_rows;
  const int x = threadIdx.x;
#pragma unroll
  for (int y = threadIdx.y; y < tile_rows; y += thread_rows) {
    if (i0 + x < A.rows && j0 + y < A.cols) below[y][x] = A(i0 + x, j0 + y);
    if (j0 + x < A.rows && i0 + y < A.cols) above[y][x] = A(j0 + x, i0 + y);
  }
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.y; y < tile_rows; y += thread_rows) {
    if (i0 + x < A.rows && j0 + y < A.cols) A(i0 + x, j0 + y) = maybe_conjugate<conj>(above[x][y]);
    if (i0 != j0 && j0 + x < A.rows && i0 + y < A.cols) A(j0 + x, i0 + y) = maybe_conjugate<conj>(below[x][y]);
  }
}

template <class T>
bool conjugates(Op op) {
  return is_complex<T> && op == Op::ConjTrans;
}

}  // namespace

template <class T>
void transpose(Op op, View<T> A, View<T> B, Queue& q) {
  if (A.empty()) return;
  DeviceScope scope(q.device());
  using E = device_t<T>;
  const dim3 grid(static_cast<unsigned>(ceil_div(A.rows, tile_rows)),
                  static_cast<unsigned>(std::min(ceil_div(A.cols, tile_cols<E>), max_grid_y)));
  const dim3 block(tile_rows, thread_rows);
  if (conjugates<T>(op))
    transpose_kernel<is_complex<T>><<<grid, block, 0, stream_of(q)>>>(block_of(A), block_of(B));
  else
    transpose_kernel<false><<<grid, block, 0, stream_of(q)>>>(block_of(A), block_of(B));
  q.launched("transpose");
}

template <class T>
void transpose_in_place(Op op, View<T> A, Queue& q) {
  if (A.empty()) return;
  DeviceScope scope(q.device());
  const std::int64_t tiles = ceil_div(A.rows, tile_rows);
  // tiles / 2 stays below gridDim.y's limit up to 4 million rows, beyond any memory.
  const dim3 grid(static_cast<unsigned>(tiles % 2 == 1 ? tiles : tiles + 1), static_cast<unsigned>((tiles + 1) / 2));
  const dim3 block(tile_rows, thread_rows);
  if (conjugates<T>(op))
    transpose_in_place_kernel<is_complex<T>><<<grid, block, 0, stream_of(q)>>>(block_of(A), tiles);
  else
    transpose_in_place_kernel<false><<<grid, block, 0, stream_of(q)>>>(block_of(A), tiles);
  q.launched("transpose_in_place");
}

#define INSTANTIATE(T)                                   \
  template void transpose(Op, View<T>, View<T>, Queue&); \
  template void transpose_in_place(Op, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
