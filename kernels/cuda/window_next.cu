// window_next: what a panel's factors do to columns right of it, in the panel's window and below it.
//
//            K
//         +------+------+     A block has a strip of columns. The window's rows are exchanged, then
//   window| L\U  |  A   |       the chain          U12 = L11^-1 A12, V = U11^-1 U12, tile after tile (triangle_chain.cuh)
//         |  L   |      |       the window's rows  A22 -= L21 U12, a row to a thread
//         +------+------+       the rows below     low -= B V, where B has not been divided by U11 yet, a row to a thread
//         |  B   | low  |
//         +------+------+     all at once, these two one tile behind the chain. Their parts of L and B are in registers before
//                             they are needed. While the chain's warps invert the tiles of L, the others fetch those off the
//                             diagonal; then those of the rows below invert the tiles of U.
#include "kernels/cuda/triangle_chain.cuh"
#include "kernels/randomized.hpp"

namespace devobj::cuda {
namespace {

constexpr int most_rows = static_cast<int>(window_rows);

/// The block's warps: first the chain's, then those of the rows below, then those of the window's rows beneath the triangle.
template <class E>
struct Warps {
  using Chain = TriangleChain<E>;
  static constexpr int chain = Chain::warps, low = Chain::tiles, window = (most_rows - Chain::order) / warp_size;
  static constexpr int threads = (chain + low + window) * warp_size;
  static constexpr int low_threads = low * warp_size, window_threads = window * warp_size;
  static constexpr int helpers = low + window;  // that fetch the tiles off the diagonal
};

template <class E>
struct Arguments {
  const std::int32_t* source;
  Block<E> LU, B, A, low;
};

/// The strip of columns of a block.
struct Strip {
  std::int64_t first;
  int cols;
};

template <class E>
__device__ void chain(TriangleChain<E>& memory, const Arguments<E>& in, Strip strip, int thread) {
  using Chain = TriangleChain<E>;
  const int warp = thread / warp_size, lane = thread % warp_size;
  const int rows = static_cast<int>(in.A.rows), n = static_cast<int>(in.LU.cols);
  const typename Chain::Place place(thread);
  const auto row = [&](int t) { return t * Chain::tile + place.row; };
  const bool has_column = place.column < strip.cols;

  int from[Chain::tiles];
  E l[Chain::tile], x[Chain::tiles];
#pragma unroll
  for (int t = 0; t < Chain::tiles; ++t) from[t] = row(t) < rows ? in.source[row(t)] : 0;
  Chain::fetch(in.LU, warp * Chain::tile + lane, warp * Chain::tile, l);
  __syncwarp();  // all reads are under way before one is waited for
  memory.put_lower(warp, lane, l);
#pragma unroll
  for (int t = 0; t < Chain::tiles; ++t)
    x[t] = has_column && row(t) < rows ? in.A(from[t], strip.first + place.column) : E{};
  memory.invert_lower(warp, lane);
  meet(T_ready, Warps<E>::threads);

  memory.template solve<Triangle::L, Warps<E>::window_threads>(place, n, x, [&](int t, E u) {
    if (has_column && row(t) < rows) in.A(row(t), strip.first + place.column) = u;
  });
  if (in.B.rows == 0) return;
#pragma unroll
  for (int t = 0; t < Chain::tiles; ++t)
    if (row(t) >= n) x[t] = E{};  // not Inf, by which zeros would be multiplied
  meet(U_ready, Chain::threads + Warps<E>::low_threads);
  memory.template solve<Triangle::U, Warps<E>::low_threads>(place, n, x, [](int, E) {});
}

/// low -= B V
template <class E>
__device__ void below(TriangleChain<E>& memory, const Arguments<E>& in, Strip strip, int thread) {
  using Chain = TriangleChain<E>;
  const int warp = thread / warp_size, lane = thread % warp_size, n = static_cast<int>(in.LU.cols);
  const bool exists = thread < in.B.rows;
  E u[Chain::tile], x[Chain::strip];
  typename Chain::template Staging<Warps<E>::helpers, Triangle::U> staging{Warps<E>::window + warp, lane, {}};
  staging.fetch(in.LU);
  Chain::fetch(in.LU, warp * Chain::tile + lane, warp * Chain::tile, u);
  __syncwarp();  // all reads are under way before one is waited for
  staging.put(memory);
  announce(T_ready, Warps<E>::threads);
  if (in.B.rows == 0) return;

  memory.put_upper(warp, lane, n, u);
  memory.invert_upper(warp, lane);
  announce(U_ready, Chain::threads + Warps<E>::low_threads);
  typename Chain::template Follower<Triangle::U, Warps<E>::low_threads> follower(in.B, thread);
#pragma unroll
  for (int c = 0; c < Chain::strip; ++c) x[c] = exists && c < strip.cols ? in.low(thread, strip.first + c) : E{};
  follower.follow(memory, x);
#pragma unroll
  for (int c = 0; c < Chain::strip; ++c)
    if (exists && c < strip.cols) in.low(thread, strip.first + c) = x[c];
}

/// A22 -= L21 U12
template <class E>
__device__ void beneath_triangle(TriangleChain<E>& memory, const Arguments<E>& in, Strip strip, int thread) {
  using Chain = TriangleChain<E>;
  const int row = Chain::order + thread;
  const bool exists = row < in.A.rows;
  typename Chain::template Staging<Warps<E>::helpers, Triangle::U> staging{thread / warp_size, thread % warp_size, {}};
  staging.fetch(in.LU);
  const int from = exists ? in.source[row] : 0;
  __syncwarp();  // all reads are under way before one is waited for
  staging.put(memory);
  __syncwarp();
  E x[Chain::strip];
#pragma unroll
  for (int c = 0; c < Chain::strip; ++c) x[c] = exists && c < strip.cols ? in.A(from, strip.first + c) : E{};
  typename Chain::template Follower<Triangle::L, Warps<E>::window_threads> follower(in.LU, row);
  announce(T_ready, Warps<E>::threads);  // and that the rows to be exchanged have been read
  follower.follow(memory, x);
#pragma unroll
  for (int c = 0; c < Chain::strip; ++c)
    if (exists && c < strip.cols) in.A(row, strip.first + c) = x[c];
}

template <class E>
__global__ void __launch_bounds__(Warps<E>::threads) window_next_kernel(Arguments<E> in) {
  extern __shared__ __align__(16) unsigned char raw_memory[];
  TriangleChain<E>& memory = *reinterpret_cast<TriangleChain<E>*>(raw_memory);
  const std::int64_t first = blockIdx.x * std::int64_t(TriangleChain<E>::strip);
  const Strip strip{first, static_cast<int>(min(std::int64_t(TriangleChain<E>::strip), in.A.cols - first))};
  const int thread = threadIdx.x;
  constexpr int first_below = Warps<E>::chain * warp_size, first_beneath = first_below + Warps<E>::low_threads;
  if (thread < first_below)
    chain(memory, in, strip, thread);
  else if (thread < first_beneath)
    below(memory, in, strip, thread - first_below);
  else
    beneath_triangle(memory, in, strip, thread - first_beneath);
}

}  // namespace

template <class S>
void window_next(const std::int32_t* source, View<S> LU, View<S> B, View<S> A, View<S> low, Queue& q) {
  if (A.empty()) return;
  require(LU.rows <= window_rows && LU.cols <= window_panel_cols<S> && LU.cols <= LU.rows, "window_next: LU is ",
          LU.rows, " x ", LU.cols, ", at most ", window_rows, " x ", window_panel_cols<S>, ", not wider than tall");
  require(B.rows <= window_panel_cols<S>, "window_next: B has ", B.rows, " rows, more than ", window_panel_cols<S>);
  DeviceScope scope(q.device());
  using E = device_t<S>;
  using Memory = TriangleChain<E>;
  const auto blocks = static_cast<unsigned>(ceil_div(A.cols, Memory::strip));
  const auto kernel = window_next_kernel<E>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(sizeof(Memory))),
        "window_next");
  kernel<<<blocks, Warps<E>::threads, sizeof(Memory), stream_of(q)>>>(
      {source, block_of(LU), block_of(B), block_of(A), block_of(low)});
  q.launched("window_next");
}

#define INSTANTIATE(S) template void window_next<S>(const std::int32_t*, View<S>, View<S>, View<S>, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
