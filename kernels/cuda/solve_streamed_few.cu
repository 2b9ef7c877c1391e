// solve_streamed of few columns, where the time from one panel of an LU to the next counts and not the multiprocessors.
//
//   L            B             A block has eight columns of B. Each stripe of 32 rows has two warps, with half of it each in registers, from
//   +--+         +---------+   which they subtract what one stripe after the other brings,
//   |D0|         | stripe 0|       stripe -= T (solved stripe)
//   +--+--+      +---------+   until it is its own turn:
//   |T |D1|      | stripe 1|       stripe = D^-1 stripe
//   +--+--+      +---------+   Solved stripes are in shared memory. Between one and the next there are two products of tiles, D^-1 and the T
//                              below it; all others are beside these. Tiles come as lanes have them (solve_stream.cuh), one ahead.
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/solve_stream.cuh"
#include "kernels/cuda/solve_streamed_few.hpp"

namespace devobj::cuda {
namespace {

using namespace solve_stream;
using E = double;

constexpr int columns_of_block = 8;
using Pair = exchange_solve_tiles::Team<2>;

template <int pairs>
struct Memory {
  // the stripe whose turn it is, and solved ones, negated; what is read side by side lies in other banks
  E X[columns_of_block][pairs * tile + 4];
  std::uint64_t solved[pairs];
};

/// A lane's elements of half a stripe.
struct HalfStripe {
  E of[4] = {};
  /// act(row of the half, column, element)
  template <class Act>
  __device__ void each(Act act) {
#pragma unroll
    for (int e = 0; e < 4; ++e) act(e / 2 * 8 + outer(), 2 * inner() + e % 2, of[e]);
  }
};

/// A lane's elements of the upper or lower half of a tile.
class HalfTile {
 public:
  __device__ void load(const double* from) {
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece) load(from, piece);
  }
  /// sums += its first `columns` columns times rows k0 ... of X, of which column c begins at X[c].
  template <int columns, class Column>
  __device__ void multiply(HalfStripe& sums, const Column* X, int k0) const {
#pragma unroll
    for (int k = 0; k < columns; k += 8) multiply_by(sums, X, k0, k);
  }
  /// The same with all columns, each of which is one of `next` as soon as it has been multiplied.
  template <class Column>
  __device__ void multiply(HalfStripe& sums, const Column* X, int k0, const double* next) {
#pragma unroll
    for (int k = 0; k < tile; k += 8) {
      multiply_by(sums, X, k0, k);
      load(next, k / 4);
      load(next, k / 4 + 1);
    }
  }

 private:
  __device__ void load(const double* from, int piece) {
    of_[piece] = __ldg(reinterpret_cast<const double2*>(from) + piece * warp_size + threadIdx.x % warp_size);
  }
  template <class Column>
  __device__ void multiply_by(HalfStripe& sums, const Column* X, int k0, int k) const {
    const double2 a = of_[k / 4], more = of_[k / 4 + 1];
    multiply_16x8x8(sums.of, a.x, a.y, more.x, more.y, X[outer()][k0 + k + inner()], X[outer()][k0 + k + 4 + inner()]);
  }
  static constexpr int pieces = tile / 4;
  double2 of_[pieces];
};

/// As many pairs of warps as there are stripes, at most `pairs`; `by_rows`: B is given by its transpose.
template <int pairs, bool by_rows>
__global__ void __launch_bounds__(2 * pairs * warp_size) solve_streamed_few_kernel(const double* L, int w, Block<E> B) {
  __shared__ Memory<pairs> memory;
  auto* const X = memory.X;
  const Pair pair(threadIdx.x / warp_size);
  const int stripe = pair.number, k0 = stripe * tile, first_row = k0 + pair.member * half_rows;
  if (threadIdx.x < pairs) barrier_init(shared_address(memory.solved + threadIdx.x), 2 * warp_size);
  barriers_ready();

  const std::int64_t first = blockIdx.x * std::int64_t(columns_of_block), columns = by_rows ? B.rows : B.cols;
  // act(whether it is there, where, element)
  const auto each = [&](HalfStripe& s, auto act) {
    s.each([&](int i, int c, E& x) {
      const std::int64_t row = first_row + i, column = first + c;
      act(row < w && column < columns, B.data + (by_rows ? column + row * B.ld : row + column * B.ld), x);
    });
  };
  const double* const tiles = L + tiles_before(stripe, false) * chunk_doubles;
  const auto half_of = [&](int q) { return tiles + q * chunk_doubles + pair.member * half_doubles; };
  HalfStripe left;
  HalfTile T, inverse;
  each(left, [](bool there, const E* from, E& x) { x = there ? *from : 0.0; });
  T.load(half_of(0));
  // D^-1, of later stripes not before what all of them wait for
  if (stripe < 2) inverse.load(half_of(stripe));
  __syncthreads();

  const auto solve = [&] {
    bool finite = true;
    left.each([&](int i, int c, E x) {
      X[c][first_row + i] = x;
      finite = finite && isfinite(x);
    });
    HalfStripe x;
    if (pair.all(finite)) {
      if (pair.member == 0)
        inverse.multiply<half_rows>(x, X, k0);
      else
        inverse.multiply<tile>(x, X, k0);
    } else {
      constexpr int own = columns_of_block / 2;
      multiply_exactly(tiles + stripe * chunk_doubles, X + pair.member * own, own, k0);
      pair.meet();
      x.each([&](int i, int c, E& of) { of = X[c][first_row + i]; });
    }
    pair.meet();
    x.each([&](int i, int c, E of) { X[c][first_row + i] = -of; });
    barrier_arrive(shared_address(memory.solved + stripe));
    each(x, [](bool there, E* to, E of) {
      if (there) *to = of;
    });
  };
  const auto subtract = [&](int q) {
    T.multiply(left, X, q * tile, half_of(q + 1));
    if (q == 0 && stripe >= 2) inverse.load(half_of(stripe));
  };
#if __CUDA_ARCH__ >= 900
#pragma unroll 1
  for (int q = 0; q < stripe; ++q) {
    barrier_wait(shared_address(memory.solved + q), 0);
    subtract(q);
  }
  solve();
#else  // the block meets after each stripe
  for (int q = 0; q < stripes_of(w); ++q) {
    if (q == stripe) solve();
    __syncthreads();
    if (q < stripe) subtract(q);
  }
#endif
}

template <int pairs, bool by_rows>
void launch(const double* L, int w, Block<E> B, Queue& q) {
  const auto blocks = static_cast<unsigned>(ceil_div(by_rows ? B.rows : B.cols, std::int64_t(columns_of_block)));
  solve_streamed_few_kernel<pairs, by_rows>
      <<<blocks, static_cast<unsigned>(2 * stripes_of(w) * warp_size), 0, stream_of(q)>>>(L, w, B);
}
template <int pairs>
void launch(const double* L, int w, Block<E> B, bool by_rows, Queue& q) {
  by_rows ? launch<pairs, true>(L, w, B, q) : launch<pairs, false>(L, w, B, q);
}

}  // namespace

void solve_streamed_few(const double* L, int w, Block<double> B, bool by_rows, Queue& q) {
  constexpr int few = 8, most = static_cast<int>(solve_streamed_rows / tile);  // stripes: fewer have more registers
  stripes_of(w) <= few ? launch<few>(L, w, B, by_rows, q) : launch<most>(L, w, B, by_rows, q);
}

}  // namespace devobj::cuda
