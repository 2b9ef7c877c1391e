// B = op(A), and A = op(A) in place, by tiles through shared memory: both sides are read and written along columns.
#include <type_traits>

#include "kernels/cuda/grid.cuh"
#include "kernels/kernels.hpp"
#include "kernels/native.hpp"

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

// In place tiles are square: of the smallest elements larger, so that what is read of a column, and written, is 256 bytes.
template <class E>
constexpr int square = sizeof(E) == 4 ? 64 : 32;
template <class E>
constexpr int square_rows = sizeof(E) == 4 ? 16 : 8;  // of a block's threads

// A block reads the tiles (row, col) and (col, row) and writes each, transposed, to the other's place: all pairs, or those from row
// `first` of tiles on. `passing`: what is read and written leaves the L2 cache first.
template <bool conj, bool passing, class E>
__global__ void __launch_bounds__(warp_size* square_rows<E>)
    transpose_in_place_kernel(Block<E> A, std::int64_t tiles, std::int64_t first) {
  constexpr int tile = square<E>;
  __shared__ alignas(16) unsigned char memory[2 * tile * (tile + 1) * sizeof(E)];
  auto below = reinterpret_cast<E(*)[tile + 1]>(memory);
  auto above = below + tile;
  const TilePair pair =
      first == 0 ? tile_pair(blockIdx.x, blockIdx.y, tiles) : TilePair{first + blockIdx.y, std::int64_t(blockIdx.x)};
  if (pair.col > pair.row) return;
  const std::int64_t i0 = pair.row * tile, j0 = pair.col * tile;
  const auto read = [&](std::int64_t i, std::int64_t j) {
    const E* const from = &A(i, j);
    if constexpr (passing)
      return __ldcs(from);
    else
      return *from;
  };
  const auto write = [&](std::int64_t i, std::int64_t j, E x) {
    E* const to = &A(i, j);
    x = maybe_conjugate<conj>(x);
    if constexpr (passing)
      __stcs(to, x);
    else
      *to = x;
  };
#pragma unroll
  for (int y = threadIdx.y; y < tile; y += square_rows<E>)
#pragma unroll
    for (int x = threadIdx.x; x < tile; x += warp_size) {
      if (i0 + x < A.rows && j0 + y < A.cols) below[y][x] = read(i0 + x, j0 + y);
      if (j0 + x < A.rows && i0 + y < A.cols) above[y][x] = read(j0 + x, i0 + y);
    }
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.y; y < tile; y += square_rows<E>)
#pragma unroll
    for (int x = threadIdx.x; x < tile; x += warp_size) {
      if (i0 + x < A.rows && j0 + y < A.cols) write(i0 + x, j0 + y, above[x][y]);
      if (i0 != j0 && j0 + x < A.rows && i0 + y < A.cols) write(j0 + x, i0 + y, below[x][y]);
    }
}

template <bool conj, bool passing, class T>
void launch_in_place(View<T> A, std::int64_t done, Queue& q) {
  using E = device_t<T>;
  DeviceScope scope(q.device());
  const std::int64_t tiles = ceil_div(A.rows, square<E>), first = done / square<E>;
  // gridDim.y stays below its limit up to 2 million rows, beyond any memory.
  const dim3 grid = first == 0 ? dim3(static_cast<unsigned>(tiles % 2 == 1 ? tiles : tiles + 1),
                                      static_cast<unsigned>((tiles + 1) / 2))
                               : dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(tiles - first));
  transpose_in_place_kernel<conj, passing>
      <<<grid, dim3(warp_size, square_rows<E>), 0, stream_of(q)>>>(block_of(A), tiles, first);
  q.launched("transpose_in_place");
}

template <class T>
bool conjugates(Op op) {
  return is_complex<T> && op == Op::ConjTrans;
}

static_assert(transposed_square % square<float> == 0 && transposed_square % square<double> == 0);

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
  if (conjugates<T>(op))
    launch_in_place<is_complex<T>, false>(A, 0, q);
  else
    launch_in_place<false, false>(A, 0, q);
}

template <class T>
void transpose_in_place_passing(View<T> A, Queue& q) {
  if (!A.empty()) launch_in_place<false, true>(A, 0, q);
}

template <class T>
void transpose_in_place_from(std::int64_t done, View<T> A, Queue& q) {
  require(done >= 0 && done <= A.rows && (done == A.rows || done % transposed_square == 0),
          "transpose_in_place_from: ", done, " rows and columns of ", A.rows, " x ", A.cols, " are transposed");
  if (done < A.rows) launch_in_place<false, false>(A, done, q);
}

#define INSTANTIATE(T)                                       \
  template void transpose(Op, View<T>, View<T>, Queue&);     \
  template void transpose_in_place(Op, View<T>, Queue&);     \
  template void transpose_in_place_passing(View<T>, Queue&); \
  template void transpose_in_place_from(std::int64_t, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
