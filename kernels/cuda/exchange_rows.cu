// exchange_rows: the row exchange of a factored panel on other columns.
//
// Of a column-major matrix, thread t has top row t: it reads the row that comes there and the row that leaves, eight
// columns at a time, and writes both when all threads have read. Of a row-major one, given by its transpose, a warp has
// a few top rows and 32 columns: what it reads and writes is contiguous.
#include "kernels/cuda/grid.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

constexpr int columns_at_once = 8;

template <class E>
__global__ void __launch_bounds__(lu_panel_max) exchange_rows_kernel(Block<E> A, RowExchange exchange) {
  const int t = threadIdx.x;
  const bool mine = t < exchange.rows;
  const std::int32_t source = mine ? exchange.source[t] : 0, to = mine ? exchange.displaced_to[t] : -1;
  const bool moves = mine && source != t;
  for (std::int64_t j0 = std::int64_t(blockIdx.x) * columns_at_once; j0 < A.cols;
       j0 += std::int64_t(gridDim.x) * columns_at_once) {
    E fresh[columns_at_once], old[columns_at_once];
#pragma unroll
    for (int u = 0; u < columns_at_once; ++u) {
      if (!moves || j0 + u >= A.cols) continue;
      fresh[u] = A(source, j0 + u);
      if (to >= 0) old[u] = A(t, j0 + u);
    }
    __syncthreads();
#pragma unroll
    for (int u = 0; u < columns_at_once; ++u) {
      if (!moves || j0 + u >= A.cols) continue;
      A(t, j0 + u) = fresh[u];
      if (to >= 0) A(to, j0 + u) = old[u];
    }
  }
}

constexpr int rows_per_warp = 16;
template <class E>
constexpr int most_threads = exchange_columns_max<E> / rows_per_warp* warp_size;

template <class E>
__global__ void __launch_bounds__(most_threads<E>) exchange_columns_kernel(Block<E> At, RowExchange exchange) {
  const int lane = threadIdx.x % warp_size, warps = blockDim.x / warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t c = blockIdx.x * std::int64_t(warp_size) + lane;
  const bool here = c < At.rows;
  // the lists first: a load of each row behind a load of its number would wait for the memory twice as often
  std::int32_t source[rows_per_warp], to[rows_per_warp];
#pragma unroll
  for (int u = 0; u < rows_per_warp; ++u) {
    const int t = warp + u * warps;
    source[u] = here && t < exchange.rows ? exchange.source[t] : t;
    to[u] = here && t < exchange.rows ? exchange.displaced_to[t] : -1;
  }
  E fresh[rows_per_warp], old[rows_per_warp];
#pragma unroll
  for (int u = 0; u < rows_per_warp; ++u) {
    const int t = warp + u * warps;
    if (source[u] == t) to[u] = -1;
    if (source[u] != t) fresh[u] = At(c, source[u]);
    if (to[u] >= 0) old[u] = At(c, t);
  }
  __syncthreads();
#pragma unroll
  for (int u = 0; u < rows_per_warp; ++u) {
    const int t = warp + u * warps;
    if (source[u] != t) At(c, t) = fresh[u];
    if (to[u] >= 0) At(c, to[u]) = old[u];
  }
}

}  // namespace

template <class T>
void exchange_columns(View<T> At, RowExchange exchange, Queue& q) {
  if (At.empty() || exchange.rows == 0) return;
  DeviceScope scope(q.device());
  const auto threads = static_cast<unsigned>(ceil_div(exchange.rows, rows_per_warp) * warp_size);
  exchange_columns_kernel<<<static_cast<unsigned>(ceil_div(At.rows, warp_size)), threads, 0, stream_of(q)>>>(
      block_of(At), exchange);
  q.launched("exchange_columns");
}

template <class T>
void exchange_rows(View<T> A, RowExchange exchange, Queue& q) {
  if (A.empty() || exchange.rows == 0) return;
  DeviceScope scope(q.device());
  const auto threads = static_cast<unsigned>(ceil_div(exchange.rows, warp_size) * warp_size);
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(ceil_div(A.cols, columns_at_once), 1 << 20));
  exchange_rows_kernel<<<blocks, threads, 0, stream_of(q)>>>(block_of(A), exchange);
  q.launched("exchange_rows");
}

#define INSTANTIATE(T)                                       \
  template void exchange_rows(View<T>, RowExchange, Queue&); \
  template void exchange_columns(View<T>, RowExchange, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
