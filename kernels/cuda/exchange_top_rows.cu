// exchange_top_rows: the row exchanges of factored panels on columns of a column-major matrix, but for what they displace.
//
//   before     after          A kernel of one block follows the lists of the panels, part after part: what comes to each row in the
//   +---+      +---+          end. Then thread t has top row t: it reads what comes there, copies the row to `rows`, and writes when
//   | a |      | d |          all threads have read. Rows below are only read.
//   | b |      | b |
//   +---+      +---+          That rows below get nothing but top rows, which are all in `rows`, follows from the order of the pivots:
//   | c |      | c |          a step exchanges its row, in which no step before had its pivot put, with one that is not above it.
//   | d |      |(a)|
//   +---+      +---+  rows: a, b
#include <algorithm>
#include <cstdint>

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/vectors.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

template <class E>
constexpr int columns_at_once = sizeof(E) == 16 ? 4 : 8;
// As in exchange_rows: the panel beside it is not behind all that the memory could give.
template <class E>
constexpr std::int64_t blocks_beside = sizeof(E) == 16 ? 64 : 32;

/// comes[r]: the row that comes to row r, of all rows.
__global__ void __launch_bounds__(exchange_top_rows_max)
    compose_kernel(RowExchange exchange, int part_rows, std::int32_t* comes, int rows) {
  const int t = threadIdx.x;
  for (int r = t; r < rows; r += static_cast<int>(blockDim.x)) comes[r] = r;
  for (std::int64_t top = 0; top < exchange.rows; top += part_rows) {
    __syncthreads();  // the part before is there
    const bool mine = t < part_rows && top + t < exchange.rows;
    const std::int32_t source = mine ? exchange.source[top + t] : 0, to = mine ? exchange.displaced_to[top + t] : -1;
    const bool moves = mine && source != t;
    std::int32_t fresh = 0, old = 0;
    if (moves) fresh = comes[top + source], old = comes[top + t];
    __syncthreads();
    if (moves) comes[top + t] = fresh;
    if (moves && to >= 0) comes[top + to] = old;
  }
}

/// `rows`: row-major, given by its transpose; its rows begin at multiples of columns_at_once<E>.
template <class E>
__global__ void __launch_bounds__(exchange_top_rows_max)
    exchange_top_rows_kernel(Block<E> A, const std::int32_t* comes, int top_rows, Block<E> rows) {
  constexpr int at_once = columns_at_once<E>;
  struct alignas(16) Piece {
    E of[at_once];
  };
  const int t = threadIdx.x;
  const bool mine = t < top_rows;
  const std::int32_t source = mine ? comes[t] : t;
  for (std::int64_t j0 = std::int64_t(blockIdx.x) * at_once; j0 < A.cols; j0 += std::int64_t(gridDim.x) * at_once) {
    E fresh[at_once];
    Piece old{};
#pragma unroll
    for (int u = 0; u < at_once; ++u)
      if (mine && j0 + u < A.cols) fresh[u] = __ldcs(&A(source, j0 + u));
#pragma unroll
    for (int u = 0; u < at_once; ++u)
      if (mine && j0 + u < A.cols) old.of[u] = A(t, j0 + u);
    if (mine) *reinterpret_cast<Piece*>(&rows(j0, t)) = old;
    __syncthreads();
#pragma unroll
    for (int u = 0; u < at_once; ++u)
      if (mine && j0 + u < A.cols) A(t, j0 + u) = fresh[u];
  }
}

template <class E>
std::int64_t padded(std::int64_t cols) {
  return ceil_div(cols, std::int64_t(columns_at_once<E>)) * columns_at_once<E>;
}
std::size_t bytes_of_list(std::int64_t rows) {
  return aligned_bytes(static_cast<std::size_t>(rows) * sizeof(std::int32_t));
}

}  // namespace

template <class T>
std::size_t exchange_top_rows_workspace(std::int64_t rows, std::int64_t cols, std::int64_t top) {
  return bytes_of_list(rows) + static_cast<std::size_t>(top * padded<T>(cols)) * sizeof(T);
}

template <class T>
DisplacedRows<T> exchange_top_rows(View<T> A, RowExchange exchange, std::int64_t part_rows, void* workspace, Queue& q) {
  require(exchange.rows > 0 && exchange.rows <= std::min(A.rows, exchange_top_rows_max),
          "exchange_top_rows: ", exchange.rows, " rows");
  if (A.empty()) return {};
  DeviceScope scope(q.device());
  auto* const comes = static_cast<std::int32_t*>(workspace);
  View<T> rows(reinterpret_cast<T*>(static_cast<unsigned char*>(workspace) + bytes_of_list(A.rows)), padded<T>(A.cols),
               exchange.rows);
  part_rows = std::min(part_rows, exchange.rows);
  compose_kernel<<<1, exchange_top_rows_max, 0, stream_of(q)>>>(exchange, static_cast<int>(part_rows), comes,
                                                                static_cast<int>(A.rows));
  const auto threads = static_cast<unsigned>(ceil_div(exchange.rows, warp_size) * warp_size);
  const auto blocks =
      static_cast<unsigned>(std::min(ceil_div(A.cols, std::int64_t(columns_at_once<T>)), blocks_beside<T>));
  exchange_top_rows_kernel<<<blocks, threads, 0, stream_of(q)>>>(block_of(A), comes, static_cast<int>(exchange.rows),
                                                                 block_of(rows));
  q.launched("exchange_top_rows");
  return {comes + exchange.rows, exchange.rows, rows};
}

#define INSTANTIATE(T)                                                                           \
  template std::size_t exchange_top_rows_workspace<T>(std::int64_t, std::int64_t, std::int64_t); \
  template DisplacedRows<T> exchange_top_rows(View<T>, RowExchange, std::int64_t, void*, Queue&);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(std::complex<double>)
#undef INSTANTIATE

}  // namespace devobj::cuda
