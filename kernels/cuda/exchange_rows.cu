// exchange_rows: the row exchanges of factored panels on other columns, one panel after the other.
//
// Of a column-major matrix, thread t has top row t: it reads the row that comes there and the row that leaves, eight
// columns at a time, and writes both when all threads have read. Of a row-major one, given by its transpose, a warp has
// a few top rows and 32 columns: what it reads and writes is contiguous.
#include <algorithm>
#include <cstdint>

#include "kernels/cuda/grid.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

constexpr int columns_at_once = 8;
// Blocks beside a panel: half of what the memory could give, and the panel's letters and columns are not behind all that.
constexpr std::int64_t blocks_beside = 16;

/// Of the panels themselves: a column gets the exchanges of the pivots from the first of these numbers on that is larger than its own.
struct Firsts {
  int count;
  std::int32_t of[exchange_rows_firsts];
  __device__ std::int64_t behind(std::int64_t column) const {
    for (int i = 0; i < count; ++i)
      if (of[i] > column) return of[i];
    return INT64_MAX;
  }
};

template <bool leaves, class E>
__device__ E load(const E& from) {
  if constexpr (leaves) return __ldcs(&from);
  return from;
}
template <bool leaves, class E>
__device__ void store(E& to, E x) {
  if constexpr (leaves)
    __stcs(&to, x);
  else
    to = x;
}

/// `own`: there are such numbers. `beside`: what is moved leaves the cache first.
template <bool own, bool beside, class E>
__global__ void __launch_bounds__(lu_panel_max)
    exchange_rows_kernel(Block<E> A, RowExchange exchange, int part_rows, const __grid_constant__ Firsts firsts) {
  const int t = threadIdx.x;
  for (std::int64_t j0 = std::int64_t(blockIdx.x) * columns_at_once; j0 < A.cols;
       j0 += std::int64_t(gridDim.x) * columns_at_once) {
    std::int64_t first[columns_at_once] = {};
    if constexpr (own)
#pragma unroll
      for (int u = 0; u < columns_at_once; ++u) first[u] = firsts.behind(j0 + u);
    for (std::int64_t top = first[0]; top < exchange.rows; top += part_rows) {
      if (top > first[0]) __syncthreads();  // the part before has been written
      const bool mine = t < part_rows && top + t < exchange.rows;
      const std::int32_t source = mine ? exchange.source[top + t] : 0, to = mine ? exchange.displaced_to[top + t] : -1;
      const bool moves = mine && source != t;
      E fresh[columns_at_once], old[columns_at_once];
#pragma unroll
      for (int u = 0; u < columns_at_once; ++u) {
        if (!moves || j0 + u >= A.cols || top < first[u]) continue;
        fresh[u] = load<beside>(A(top + source, j0 + u));
        if (to >= 0) old[u] = load<beside>(A(top + t, j0 + u));
      }
      __syncthreads();
#pragma unroll
      for (int u = 0; u < columns_at_once; ++u) {
        if (!moves || j0 + u >= A.cols || top < first[u]) continue;
        store<beside>(A(top + t, j0 + u), fresh[u]);
        if (to >= 0) store<beside>(A(top + to, j0 + u), old[u]);
      }
    }
  }
}

constexpr int rows_per_warp = 16;
template <class E>
constexpr int most_threads = exchange_columns_max<E> / rows_per_warp* warp_size;

template <class E>
__global__ void __launch_bounds__(most_threads<E>)
    exchange_columns_kernel(Block<E> At, RowExchange exchange, int part_rows) {
  const int lane = threadIdx.x % warp_size, warps = blockDim.x / warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t c = blockIdx.x * std::int64_t(warp_size) + lane;
  const bool here = c < At.rows;
  for (std::int64_t top = 0; top < exchange.rows; top += part_rows) {
    if (top > 0) __syncthreads();  // the part before has been written
    const int rows = static_cast<int>(min(exchange.rows - top, std::int64_t(part_rows)));
    // the lists first: a load of each row behind a load of its number would wait for the memory twice as often
    std::int32_t source[rows_per_warp], to[rows_per_warp];
#pragma unroll
    for (int u = 0; u < rows_per_warp; ++u) {
      const int t = warp + u * warps;
      source[u] = here && t < rows ? exchange.source[top + t] : t;
      to[u] = here && t < rows ? exchange.displaced_to[top + t] : -1;
    }
    E fresh[rows_per_warp], old[rows_per_warp];
#pragma unroll
    for (int u = 0; u < rows_per_warp; ++u) {
      const int t = warp + u * warps;
      if (source[u] == t) to[u] = -1;
      if (source[u] != t) fresh[u] = At(c, top + source[u]);
      if (to[u] >= 0) old[u] = At(c, top + t);
    }
    __syncthreads();
#pragma unroll
    for (int u = 0; u < rows_per_warp; ++u) {
      const int t = warp + u * warps;
      if (source[u] != t) At(c, top + t) = fresh[u];
      if (to[u] >= 0) At(c, top + to[u]) = old[u];
    }
  }
}

}  // namespace

template <class T>
void exchange_columns(View<T> At, RowExchange exchange, std::int64_t part_rows, Queue& q) {
  if (At.empty() || exchange.rows == 0) return;
  DeviceScope scope(q.device());
  part_rows = std::min(part_rows, exchange.rows);
  const auto threads = static_cast<unsigned>(ceil_div(part_rows, rows_per_warp) * warp_size);
  exchange_columns_kernel<<<static_cast<unsigned>(ceil_div(At.rows, warp_size)), threads, 0, stream_of(q)>>>(
      block_of(At), exchange, static_cast<int>(part_rows));
  q.launched("exchange_columns");
}

template <class T>
void exchange_rows(View<T> A, RowExchange exchange, std::int64_t part_rows, Queue& q,
                   const std::vector<std::int64_t>& firsts, bool beside) {
  if (A.empty() || exchange.rows == 0) return;
  DeviceScope scope(q.device());
  part_rows = std::min(part_rows, exchange.rows);
  Firsts all{static_cast<int>(firsts.size()), {}};
  require(firsts.size() <= exchange_rows_firsts, "exchange_rows: too many parts of the columns");
  std::transform(firsts.begin(), firsts.end(), all.of, [](std::int64_t of) { return static_cast<std::int32_t>(of); });
  const auto threads = static_cast<unsigned>(ceil_div(part_rows, warp_size) * warp_size);
  const auto blocks = static_cast<unsigned>(
      std::min<std::int64_t>(ceil_div(A.cols, columns_at_once), beside ? blocks_beside : 1 << 20));
  using E = device_t<T>;
  const auto kernel = !firsts.empty() ? exchange_rows_kernel<true, false, E>
                      : beside        ? exchange_rows_kernel<false, true, E>
                                      : exchange_rows_kernel<false, false, E>;
  kernel<<<blocks, threads, 0, stream_of(q)>>>(block_of(A), exchange, static_cast<int>(part_rows), all);
  q.launched("exchange_rows");
}

#define INSTANTIATE(T)                                                                                             \
  template void exchange_rows(View<T>, RowExchange, std::int64_t, Queue&, const std::vector<std::int64_t>&, bool); \
  template void exchange_columns(View<T>, RowExchange, std::int64_t, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
