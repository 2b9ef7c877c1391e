// exchange_solve: what a factored panel does to the rows beside its triangle: the exchange of rows and A12 = L11^-1 A12.
//
//   L11        A (m x n)        The exchange part after part: all read the rows that come and those that leave, and write
//   +--+       +---------+      both when all have read. Then a warp has C columns, lane i row i of each stripe of 32 rows
//   |D0|       | stripe 0|      of them. Stripe by stripe:
//   +--+--+    | stripe 1|        stripe -= (tiles of L11 to the left) (solved stripes), which lie in shared memory
//   |  |D1|    |   ...   |        solve with the diagonal tile: x_k goes round by shuffle, lanes below subtract
//   +--+--+    | rows    |      The tiles of L11 go through shared memory, one in use, the next on its way.
//              | below   |
//              +---------+      By columns, a warp is alone with its columns from the exchange to the end. By rows (the
//                               matrix is given by its transpose), 32 columns are exchanged and loaded by a block, lane j
//                               having column j, and are solved from shared memory.
#include "kernels/cuda/arithmetic.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

constexpr int tile = warp_size;
constexpr int stripes = exchange_solve_max / tile;
constexpr int threads = 256;
constexpr int warps = threads / warp_size;

/// The tiles of L in the order of their use: (0, 0), (1, 0), (1, 1), (2, 0) ...
template <class E, bool by_rows>
class Tiles {
 public:
  static constexpr int buffers = sizeof(E) == 16 ? 1 : 2;
  using Buffer = E[buffers][tile][tile + 1];  // [.][k][i] = L(i, k) of a tile; zero where L has none

  __device__ Tiles(Buffer& memory, Block<E> stored, int w) : part_(memory), stored_(stored), w_(w) { fetch(0, 0); }
  /// By all threads: tile (i0, k0), which is next, is there.
  __device__ void next(int i0, int k0) {
    if constexpr (buffers == 1) __syncthreads();
    current_ = buffers - 1 - current_;
#pragma unroll
    for (int e = 0; e < share; ++e) {
      const int other = warp_ + e * warps;
      part_[current_][by_rows ? lane_ : other][by_rows ? other : lane_] = ahead_[e];
    }
    __syncthreads();
    if (k0 < i0)
      fetch(i0, k0 + tile);
    else
      fetch(i0 + tile, 0);
  }
  __device__ E operator()(int i, int k) const {
    return part_[current_][k][i];
  }

 private:
  static constexpr int share = tile * tile / threads;
  __device__ void fetch(int i0, int k0) {  // threads side by side read what lies so
#pragma unroll
    for (int e = 0; e < share; ++e) {
      const int other = warp_ + e * warps, i = i0 + (by_rows ? other : lane_), k = k0 + (by_rows ? lane_ : other);
      ahead_[e] = i < w_ && k < i ? (by_rows ? stored_(k, i) : stored_(i, k)) : E{};
    }
  }
  Buffer& part_;
  const Block<E> stored_;
  const int w_, lane_ = threadIdx.x % warp_size, warp_ = threadIdx.x / warp_size;
  int current_ = 0;
  E ahead_[share];
};

/// A row of C columns in shared memory.
template <class E, int C>
struct alignas(C * sizeof(E) < 16 ? C * sizeof(E) : 16) Row {
  E x[C];
};

/// x = L^-1 x for a warp's columns, x[s][c] of lane i being row 32 s + i of column c. `solved(k)` is where the lanes find
/// row k of each other.
template <class E, int C, bool by_rows, class Solved>
__device__ void solve(Tiles<E, by_rows>& L, int w, E (&x)[stripes][C], Solved solved) {
  const int lane = threadIdx.x % warp_size;
#pragma unroll
  for (int s = 0; s < stripes; ++s) {
    const int i0 = s * tile;
    if (i0 >= w) break;
    for (int k0 = 0; k0 < i0; k0 += tile) {
      L.next(i0, k0);
#pragma unroll 8
      for (int k = 0; k < tile; ++k) {
        const E l = L(lane, k);
        const Row<E, C> row = solved(k0 + k);
#pragma unroll
        for (int c = 0; c < C; ++c) x[s][c] = minus_product(x[s][c], l, row.x[c]);
      }
    }
    L.next(i0, i0);
#pragma unroll 8
    for (int k = 0; k < tile - 1; ++k)
#pragma unroll
      for (int c = 0; c < C; ++c) {
        const E x_k = shuffle(x[s][c], k);
        if (lane > k) x[s][c] = minus_product(x[s][c], L(lane, k), x_k);
      }
    Row<E, C> row;
#pragma unroll
    for (int c = 0; c < C; ++c) row.x[c] = x[s][c];
    solved(i0 + lane) = row;
    __syncwarp();
  }
}

/// What happens to row t of a part of the exchange, which begins at row `top` and has so many rows.
struct Moves {
  std::int32_t from, to;  // what comes to row t; where row t goes, or -1; from == t: nothing happens to it
  __device__ Moves(const RowExchange& exchange, std::int64_t top, int t, int rows) : from(t), to(-1) {
    if (t >= rows) return;
    from = exchange.source[top + t];
    to = exchange.displaced_to[top + t];
  }
  __device__ bool goes(int t) const { return from != t && to >= 0; }
};

template <class E, int C>
__global__ void __launch_bounds__(threads)
    exchange_solve_kernel(Block<E> stored_L, Block<E> A, RowExchange exchange, int part_rows) {
  extern __shared__ __align__(16) unsigned char bytes[];
  using Tiles = Tiles<E, false>;
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, w = static_cast<int>(stored_L.rows);
  const std::int64_t first = (blockIdx.x * std::int64_t(warps) + warp) * C;
  const auto has = [&](int c) { return first + c < A.cols; };
  Tiles L(*reinterpret_cast<typename Tiles::Buffer*>(bytes), stored_L, w);

  for (std::int64_t top = 0; top < exchange.rows; top += part_rows) {
    const int rows = static_cast<int>(min(static_cast<std::int64_t>(part_rows), exchange.rows - top));
    E fresh[stripes][C], old[stripes][C];
    std::int32_t from[stripes], to[stripes];
#pragma unroll
    for (int s = 0; s < stripes; ++s) {
      const Moves moves(exchange, top, s * tile + lane, rows);
      from[s] = moves.from;
      to[s] = moves.goes(s * tile + lane) ? moves.to : -1;
    }
#pragma unroll
    for (int s = 0; s < stripes; ++s)
#pragma unroll
      for (int c = 0; c < C; ++c) {
        const int t = s * tile + lane;
        if (from[s] != t && has(c)) fresh[s][c] = A(top + from[s], first + c);
        if (to[s] >= 0 && has(c)) old[s][c] = A(top + t, first + c);
      }
    __syncwarp();
#pragma unroll
    for (int s = 0; s < stripes; ++s)
#pragma unroll
      for (int c = 0; c < C; ++c) {
        const int t = s * tile + lane;
        if (from[s] != t && has(c)) A(top + t, first + c) = fresh[s][c];
        if (to[s] >= 0 && has(c)) A(top + to[s], first + c) = old[s][c];
      }
    __syncwarp();
  }

  E x[stripes][C];
#pragma unroll
  for (int s = 0; s < stripes; ++s)
#pragma unroll
    for (int c = 0; c < C; ++c) x[s][c] = s * tile + lane < w && has(c) ? A(s * tile + lane, first + c) : E{};
  auto* const own = reinterpret_cast<Row<E, C>*>(bytes + sizeof(typename Tiles::Buffer)) + warp * exchange_solve_max;
  solve<E, C>(L, w, x, [&](int k) -> Row<E, C>& { return own[k]; });
#pragma unroll
  for (int s = 0; s < stripes; ++s)
#pragma unroll
    for (int c = 0; c < C; ++c)
      if (s * tile + lane < w && has(c)) A(s * tile + lane, first + c) = x[s][c];
}

/// Of a row of 32 columns in shared memory: whole pieces of 16 bytes, of which eight lanes below each other meet all banks.
template <class E>
constexpr int padded_columns = warp_size + 16 / static_cast<int>(sizeof(E));

template <class E>
__global__ void __launch_bounds__(threads)
    exchange_solve_by_rows_kernel(Block<E> stored_L, Block<E> At, RowExchange exchange, int part_rows) {
  extern __shared__ __align__(16) unsigned char bytes[];
  using Tiles = Tiles<E, true>;
  constexpr int columns = warp_size, share = exchange_solve_max / warps, C = columns / warps;
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, w = static_cast<int>(stored_L.rows);
  const std::int64_t column = blockIdx.x * std::int64_t(columns) + lane;
  const bool here = column < At.rows;
  auto& X = *reinterpret_cast<E(*)[exchange_solve_max][padded_columns<E>]>(bytes + sizeof(typename Tiles::Buffer));
  const auto own = [&](int k) -> Row<E, C>& { return *reinterpret_cast<Row<E, C>*>(&X[k][warp * C]); };
  Tiles L(*reinterpret_cast<typename Tiles::Buffer*>(bytes), stored_L, w);

  for (std::int64_t top = 0; top < exchange.rows; top += part_rows) {
    const int rows = static_cast<int>(min(static_cast<std::int64_t>(part_rows), exchange.rows - top));
    E fresh[share], old[share];
    std::int32_t from[share], to[share];
#pragma unroll
    for (int u = 0; u < share; ++u) {
      const int t = warp + u * warps;
      const Moves moves(exchange, top, t, rows);
      from[u] = moves.from;
      to[u] = moves.goes(t) ? moves.to : -1;
    }
#pragma unroll
    for (int u = 0; u < share; ++u) {
      const int t = warp + u * warps;
      if (from[u] != t && here) fresh[u] = At(column, top + from[u]);
      if (to[u] >= 0 && here) old[u] = At(column, top + t);
    }
    __syncthreads();
#pragma unroll
    for (int u = 0; u < share; ++u) {
      const int t = warp + u * warps;
      if (from[u] != t && here) At(column, top + t) = fresh[u];
      if (to[u] >= 0 && here) At(column, top + to[u]) = old[u];
    }
    __syncthreads();
  }

#pragma unroll
  for (int u = 0; u < share; ++u) {
    const int t = warp + u * warps;
    X[t][lane] = t < w && here ? At(column, t) : E{};
  }
  __syncthreads();
  E x[stripes][C];
#pragma unroll
  for (int s = 0; s < stripes; ++s)
#pragma unroll
    for (int c = 0; c < C; ++c) x[s][c] = own(s * tile + lane).x[c];
  solve<E, C>(L, w, x, own);
  __syncthreads();
#pragma unroll
  for (int u = 0; u < share; ++u) {
    const int t = warp + u * warps;
    if (t < w && here) At(column, t) = X[t][lane];
  }
}

template <class E, int C>
void by_columns(Block<E> L, Block<E> A, RowExchange exchange, int part_rows, Queue& q) {
  constexpr auto kernel = exchange_solve_kernel<E, C>;
  constexpr auto bytes = sizeof(typename Tiles<E, false>::Buffer) + warps * C * exchange_solve_max * sizeof(E);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "exchange_solve");
  kernel<<<static_cast<unsigned>(ceil_div(A.cols, C * warps)), threads, bytes, stream_of(q)>>>(L, A, exchange,
                                                                                               part_rows);
}

template <class E>
void by_rows(Block<E> L, Block<E> At, RowExchange exchange, int part_rows, Queue& q) {
  constexpr auto kernel = exchange_solve_by_rows_kernel<E>;
  constexpr auto bytes = sizeof(typename Tiles<E, true>::Buffer) + exchange_solve_max * padded_columns<E> * sizeof(E);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "exchange_solve");
  kernel<<<static_cast<unsigned>(ceil_div(At.rows, warp_size)), threads, bytes, stream_of(q)>>>(L, At, exchange,
                                                                                                part_rows);
}

}  // namespace

template <class T>
void exchange_solve(View<T> L, View<T> A, RowExchange exchange, std::int64_t part_rows, bool row_major, Queue& q) {
  using E = device_t<T>;
  if (A.empty() || (L.rows <= 1 && exchange.rows == 0)) return;
  DeviceScope scope(q.device());
  const int rows = static_cast<int>(part_rows);
  if (row_major)
    by_rows<E>(block_of(L), block_of(A), exchange, rows, q);
  else if (A.cols <= 1024)  // spread over more warps, since the time is that of the chain through the rows
    by_columns<E, 1>(block_of(L), block_of(A), exchange, rows, q);
  else
    by_columns<E, sizeof(E) == 16 ? 2 : 4>(block_of(L), block_of(A), exchange, rows, q);
  q.launched("exchange_solve");
}

#define INSTANTIATE(T) template void exchange_solve(View<T>, View<T>, RowExchange, std::int64_t, bool, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
