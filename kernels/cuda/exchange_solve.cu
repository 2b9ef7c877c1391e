// exchange_solve: what a factored panel does to the rows beside its triangle: the exchange of rows and A12 = L11^-1 A12.
//
//   L11          A (m x n)       A block has some columns of A in shared memory, and all of L11 in tiles of 32 x 32. While
//   +--+         +---------+     the rows that come are on their way, a warp inverts each diagonal tile D. Then, stripe by
//   |D0|         | stripe 0|     stripe, a warp with eight columns:
//   +--+--+      | stripe 1|       b = stripe - (tiles T to the left) (solved stripes)
//   |T |D1|      |   ...   |       stripe = D^-1 b
//   +--+--+      | rows    |
//                | below   |     Double precision multiplies on the tensor cores where there are some.
//                +---------+
//
// Few columns of a column-major matrix are solved by substitution, a warp with a column: that is sooner done.
#include <algorithm>

#include "kernels/cuda/exchange_solve_tiles.cuh"
#include "kernels/cuda/shared_memory.hpp"

namespace devobj::cuda {
namespace {

using namespace exchange_solve_tiles;

/// `by_rows`: A is given by its transpose. A block has eight columns for each of its `solving` warps.
template <class E, int solving, bool by_rows>
__global__ void __launch_bounds__(threads)
    exchange_solve_kernel(Block<E> stored_L, bool L_by_rows, Block<E> A, RowExchange exchange, int part_rows) {
  extern __shared__ __align__(16) unsigned char bytes[];
  constexpr int columns = solving * warp_columns, share = most_rows * columns / threads;
  constexpr int at_once = share < 128 / int(sizeof(E)) ? share : 128 / int(sizeof(E));
  auto& memory = *reinterpret_cast<Memory<E>*>(bytes);
  const int id = threadIdx.x, warp = id / warp_size, lane = id % warp_size;
  const int w = static_cast<int>(stored_L.rows), stripes = (w + tile - 1) / tile;
  const std::int64_t first = blockIdx.x * std::int64_t(columns);
  Column<E>* const X = memory.columns(stripes);
  const auto has = [&](int c) { return first + c < (by_rows ? A.rows : A.cols); };
  const auto at = [&](std::int64_t t, int c) -> E& { return by_rows ? A(first + c, t) : A(t, first + c); };
  // element u of the thread's share of most_rows x columns; neighbours have what lies side by side, and in other banks
  const auto row_of = [&](int u) {
    return by_rows ? lane / 8 + (warp / solving + u * (warps / solving)) * 4 : lane % 8 + (warp + warps * (u % 2)) * 8;
  };
  const auto column_of = [&](int u) { return by_rows ? lane % 8 + warp % solving * 8 : lane / 8 + u / 2 * 4; };

  if (L_by_rows)
    fetch<true>(memory.L, stored_L, stripes);
  else
    fetch<false>(memory.L, stored_L, stripes);
  const bool several = exchange.rows > part_rows;
  for (std::int64_t top = 0; top == 0 || top < exchange.rows; top += part_rows) {
    const int moved = static_cast<int>(min(static_cast<std::int64_t>(part_rows), exchange.rows - top));
    const int rows = moved > 0 ? moved : w;
    if (id < rows) {
      const std::int32_t from = moved > 0 ? exchange.source[top + id] : id;
      const std::int32_t to = moved > 0 ? exchange.displaced_to[top + id] : -1;
      memory.from[id] = from;
      memory.to[id] = from != id ? to : -1;
    }
    __syncthreads();
    // the rows that come, to shared memory
#pragma unroll
    for (int u = 0; u < share; ++u) {
      const int t = row_of(u), c = column_of(u);
      if (t < rows && has(c))
        __pipeline_memcpy_async(&X[c][t], &at(top + memory.from[t], c), sizeof(E));
      else
        X[c][t] = E{};
    }
    __pipeline_commit();
    // those that leave, to where they go when all that come have been read
    E old[at_once];
    const auto leave = [&](int u0) {
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        const int t = row_of(u0 + u), c = column_of(u0 + u);
        if (t < rows && has(c) && memory.to[t] >= 0) old[u] = at(top + t, c);
      }
    };
    const auto arrive = [&](int u0) {
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        const int t = row_of(u0 + u), c = column_of(u0 + u);
        if (t < rows && has(c) && memory.to[t] >= 0) at(top + memory.to[t], c) = old[u];
      }
    };
    leave(0);
    if (top == 0) {
      __pipeline_wait_prior(1);
      __syncthreads();
      if (warp < stripes) invert<E>(memory.L[tiles_before(warp + 1) - 1]);
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    arrive(0);
#pragma unroll
    for (int u0 = at_once; u0 < share; u0 += at_once) {
      leave(u0);
      arrive(u0);
    }
    if (several) {
      __syncthreads();
#pragma unroll 4
      for (int u = 0; u < share; ++u) {
        const int t = row_of(u), c = column_of(u);
        if (t < rows && has(c) && memory.from[t] != t) at(top + t, c) = X[c][t];
      }
    }
    __syncthreads();
  }
  if (several) {
#pragma unroll 4
    for (int u = 0; u < share; ++u) {
      const int t = row_of(u), c = column_of(u);
      X[c][t] = t < w && has(c) ? at(t, c) : E{};
    }
    __syncthreads();
  }

  if (warp >= solving) return;
  Column<E>* const own = X + warp * warp_columns;
  for (int s = 0; s < stripes; ++s) {
    const Tile<E>* const L = memory.L + tiles_before(s);
    const int k0 = s * tile;
    Sums<E> left, solved;
    for (int q = 0; q < s; ++q) left.template add<false>(L[q], own, q * tile);
    bool finite = true;
    left.each([&](int i, int c, E sum_of_left) {
      E& b = own[c][k0 + i];
      b = sum(b, negative(sum_of_left));
      finite = finite && isfinite(re(b)) && isfinite(im(b));
    });
    __syncwarp();
    if (__all_sync(all_lanes, finite)) {
      solved.template add<true>(L[s], own, k0);
      __syncwarp();
      solved.each([&](int i, int c, E x) { own[c][k0 + i] = x; });
      __syncwarp();
    } else {
      multiply_exactly<E>(L[s], own, k0);
    }
#pragma unroll
    for (int u = 0; u < tile * warp_columns / warp_size; ++u) {
      const int i = by_rows ? lane / 8 + 4 * u : lane % 8 + u % 4 * 8;
      const int c = by_rows ? lane % 8 : lane / 8 + u / 4 * 4;
      if (k0 + i < w && has(warp * warp_columns + c)) at(k0 + i, warp * warp_columns + c) = own[c][k0 + i];
    }
  }
}

/// Of which lanes read a column without conflicts.
template <class E>
using OddTile = E[tile][tile + 1];

/// The same for few columns of a column-major matrix, exchanged in one part: a warp with a column, a lane with a row of each
/// stripe. x_k goes round by shuffle, the lanes below subtract. There is no barrier on the way but one.
template <class E>
__global__ void __launch_bounds__(threads)
    exchange_solve_few_kernel(Block<E> stored_L, bool L_by_rows, Block<E> A, RowExchange exchange) {
  extern __shared__ __align__(16) unsigned char bytes[];
  auto* const L = reinterpret_cast<OddTile<E>*>(bytes);
  constexpr int most = most_rows / tile;
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const int w = static_cast<int>(stored_L.rows), stripes = (w + tile - 1) / tile;
  const std::int64_t column = blockIdx.x * std::int64_t(warps) + warp;
  const bool here = column < A.cols;
  if (L_by_rows)
    fetch<true>(L, stored_L, stripes);
  else
    fetch<false>(L, stored_L, stripes);

  std::int32_t from[most], to[most];
  E x[most], old[most];
#pragma unroll
  for (int s = 0; s < most; ++s) {
    const int t = s * tile + lane;
    from[s] = t < exchange.rows ? exchange.source[t] : t;
    to[s] = t < exchange.rows ? exchange.displaced_to[t] : -1;
    if (from[s] == t || !here) to[s] = -1;
  }
#pragma unroll
  for (int s = 0; s < most; ++s) {
    x[s] = here && s * tile + lane < w ? A(from[s], column) : E{};
    if (to[s] >= 0) old[s] = A(s * tile + lane, column);
  }
  __syncwarp();  // all have read
#pragma unroll
  for (int s = 0; s < most; ++s)
    if (to[s] >= 0) A(to[s], column) = old[s];

  __pipeline_wait_prior(0);
  __syncthreads();
#pragma unroll
  for (int s = 0; s < most; ++s) {
    if (s >= stripes) break;
    const OddTile<E>* const row = L + tiles_before(s);
#pragma unroll
    for (int q = 0; q < s; ++q)
#pragma unroll 8
      for (int k = 0; k < tile; ++k) x[s] = minus_product(x[s], row[q][lane][k], shuffle(x[q], k));
#pragma unroll 8
    for (int k = 0; k < tile - 1; ++k) {
      const E x_k = shuffle(x[s], k);
      if (lane > k) x[s] = minus_product(x[s], row[s][lane][k], x_k);
    }
    if (here && s * tile + lane < w) A(s * tile + lane, column) = x[s];
  }
}

/// Whether that is faster: up to two stripes, and for complex numbers, whose tiles take longer to invert.
template <class E>
bool launch_few(Block<E> L, bool L_by_rows, Block<E> A, RowExchange exchange, int part_rows, Queue& q) {
  if (A.cols > exchange_solve_few || exchange.rows > std::min<std::int64_t>(L.rows, part_rows)) return false;
  if (L.rows > 2 * tile && !is_device_complex<E>) return false;
  const auto bytes = tiles_before(static_cast<int>(ceil_div(L.rows, tile))) * sizeof(OddTile<E>);
  if (bytes > shared_memory_limit(q.device())) return false;
  constexpr auto kernel = exchange_solve_few_kernel<E>;
  allow_shared_memory(kernel, q.device(), "exchange_solve");
  const auto blocks = static_cast<unsigned>(ceil_div(A.cols, warps));
  kernel<<<blocks, threads, bytes, stream_of(q)>>>(L, L_by_rows, A, exchange);
  return true;
}

template <class E, int solving, bool by_rows>
bool launch(Block<E> L, bool L_by_rows, Block<E> A, RowExchange exchange, int part_rows, Queue& q) {
  constexpr auto kernel = exchange_solve_kernel<E, solving, by_rows>;
  constexpr int columns = solving * warp_columns;
  const auto bytes = Memory<E>::bytes(static_cast<int>(ceil_div(L.rows, tile)), columns);
  if (bytes > shared_memory_limit(q.device())) return false;
  allow_shared_memory(kernel, q.device(), "exchange_solve");
  const auto blocks = static_cast<unsigned>(ceil_div(by_rows ? A.rows : A.cols, columns));
  kernel<<<blocks, threads, bytes, stream_of(q)>>>(L, L_by_rows, A, exchange, part_rows);
  return true;
}

/// As many columns to a block as let each multiprocessor have one; the time for few is that of the way through the rows.
template <class E, bool by_rows>
void launch(Block<E> L, bool L_by_rows, Block<E> A, RowExchange exchange, int part_rows, Queue& q) {
  const std::int64_t columns = by_rows ? A.rows : A.cols;
  if (!by_rows && launch_few<E>(L, L_by_rows, A, exchange, part_rows, q)) return;
  if (columns > 4096 && launch<E, 8, by_rows>(L, L_by_rows, A, exchange, part_rows, q)) return;
  if (columns > exchange_solve_few && launch<E, 4, by_rows>(L, L_by_rows, A, exchange, part_rows, q)) return;
  if (columns > exchange_solve_few && launch<E, 2, by_rows>(L, L_by_rows, A, exchange, part_rows, q)) return;
  launch<E, 1, by_rows>(L, L_by_rows, A, exchange, part_rows, q);
}

}  // namespace

template <class T>
std::int64_t exchange_solve_rows(const Queue& q) {
  const auto bytes = Memory<device_t<T>>::bytes(exchange_solve_max / tile, warp_columns);
  return bytes <= shared_memory_limit(q.device()) ? exchange_solve_max : exchange_solve_max / 2;
}

template <class T>
void exchange_solve(View<T> L, bool L_by_rows, View<T> A, bool A_by_rows, RowExchange exchange, std::int64_t part_rows,
                    Queue& q) {
  using E = device_t<T>;
  if (A.empty() || (L.rows <= 1 && exchange.rows == 0)) return;
  DeviceScope scope(q.device());
  const int rows = static_cast<int>(part_rows);
  if (A_by_rows)
    launch<E, true>(block_of(L), L_by_rows, block_of(A), exchange, rows, q);
  else
    launch<E, false>(block_of(L), L_by_rows, block_of(A), exchange, rows, q);
  q.launched("exchange_solve");
}

#define INSTANTIATE(T)                                        \
  template std::int64_t exchange_solve_rows<T>(const Queue&); \
  template void exchange_solve(View<T>, bool, View<T>, bool, RowExchange, std::int64_t, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
