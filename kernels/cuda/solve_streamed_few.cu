// solve_streamed of few columns, where the time from one panel of an LU to the next counts and not the multiprocessors, and of complex ones.
//
//   L            B             A block has eight columns of B. Each stripe of 32 rows has two warps, with half of it each in registers, from
//   +--+         +---------+   which they subtract what one stripe after the other brings,
//   |D0|         | stripe 0|       stripe -= T (solved stripe)
//   +--+--+      +---------+   until it is its own turn:
//   |T |D1|      | stripe 1|       stripe = D^-1 stripe
//   +--+--+      +---------+   Solved stripes are in shared memory. Between one and the next there are two products of tiles, D^-1 and the T
//                              below it; all others are beside these. Tiles come as lanes have them (solve_stream.cuh), one ahead.
//
// Tiles of complex numbers take so many registers that there are eight pairs, which have a second stripe each where there are more.
#include <algorithm>

#include "kernels/cuda/half_tiles.cuh"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/cuda/solve_streamed_few.hpp"

namespace devobj::cuda {
namespace {

using namespace solve_stream;

template <class E, int stripes>
struct Memory {
  // the stripe whose turn it is, and solved ones, negated; what is read side by side lies in other banks
  E X[block_columns][stripes * tile + 4];
  std::uint64_t solved[stripes];
};

/// As many pairs of warps as there are stripes, at most `pairs`; each has up to `turns` stripes, one after the other. `by_rows`: B is given
/// by its transpose.
template <class E, int pairs, int turns, bool by_rows>
__global__ void __launch_bounds__(2 * pairs * warp_size) solve_streamed_few_kernel(const double* L, int w, Block<E> B) {
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& memory = *reinterpret_cast<Memory<E, pairs * turns>*>(bytes);
  auto* const X = memory.X;
  const Pair pair(threadIdx.x / warp_size);
  const int stripes = stripes_of(w);
  if (threadIdx.x < pairs * turns) barrier_init(shared_address(memory.solved + threadIdx.x), 2 * warp_size);
  barriers_ready();
  // of real numbers D^-1 has registers of its own: to multiply a tile of complex ones takes longer than the next one is on its way
  constexpr bool inverse_apart = !is_device_complex<E>;
  constexpr int tile_doubles = chunks<E> * chunk_doubles;

  const std::int64_t first = blockIdx.x * std::int64_t(block_columns), columns = by_rows ? B.rows : B.cols;
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    const int stripe = turn * pairs + pair.number, k0 = stripe * tile, first_row = k0 + pair.member * half_rows;
    const bool wanted = turn == 0 || stripe < stripes;
    // act(whether it is there, where, element)
    const auto each = [&](HalfStripe<E>& s, auto act) {
      s.each([&](int i, int c, E& x) {
        const std::int64_t row = first_row + i, column = first + c;
        act(row < w && column < columns, B.data + (by_rows ? column + row * B.ld : row + column * B.ld), x);
      });
    };
    const double* const tiles = L + tiles_before(stripe, false) * tile_doubles;
    const auto half_of = [&](int q) { return tiles + q * tile_doubles + pair.member * parts<E> * half_doubles; };
    HalfStripe<E> left;
    HalfTile<E> T, inverse;
    if (wanted) {
      each(left, [](bool there, const E* from, E& x) { x = there ? *from : E{}; });
      T.load(half_of(0));
      // D^-1, of later stripes not before what all of them wait for
      if (inverse_apart && stripe < 2) inverse.load(half_of(stripe));
    }
    if (turn == 0) __syncthreads();

    const auto solve = [&] {
      bool finite = true;
      left.each([&](int i, int c, E x) {
        X[c][first_row + i] = x;
        finite = finite && isfinite(re(x)) && isfinite(im(x));
      });
      HalfStripe<E> x;
      if (pair.all(finite)) {
        const HalfTile<E>& D = inverse_apart ? inverse : T;
        if (pair.member == 0)
          D.template multiply<half_rows>(x, X, k0);
        else
          D.template multiply<tile>(x, X, k0);
      } else {
        constexpr int own = block_columns / 2;
        multiply_exactly<E>(Elements<E>{tiles + stripe * tile_doubles}, X + pair.member * own, own, k0);
        pair.meet();
        x.each([&](int i, int c, E& of) { of = X[c][first_row + i]; });
      }
      pair.meet();
      x.each([&](int i, int c, E of) { X[c][first_row + i] = negative(of); });
      barrier_arrive(shared_address(memory.solved + stripe));
      each(x, [](bool there, E* to, E of) {
        if (there) *to = of;
      });
    };
    const auto subtract = [&](int q) {
      T.multiply(left, X, q * tile, half_of(q + 1));
      if (inverse_apart && q == 0 && stripe >= 2) inverse.load(half_of(stripe));
    };
#if __CUDA_ARCH__ >= 900
    if (!wanted) return;
#pragma unroll 1
    for (int q = 0; q < stripe; ++q) {
      barrier_wait(shared_address(memory.solved + q), 0);
      subtract(q);
    }
    solve();
#else  // the block meets after each stripe
    for (int q = 0; q < min(stripes, (turn + 1) * pairs); ++q) {
      if (q == stripe) solve();
      __syncthreads();
      if (wanted && q < stripe) subtract(q);
    }
#endif
  }
}

template <class E, int pairs, int turns, bool by_rows>
void launch(const double* L, int w, Block<E> B, Queue& q) {
  constexpr auto kernel = solve_streamed_few_kernel<E, pairs, turns, by_rows>;
  constexpr std::size_t bytes = sizeof(Memory<E, pairs * turns>);
  if constexpr (bytes > shared_memory_unasked) allow_shared_memory(kernel, q.device(), "solve_streamed");
  const auto blocks = static_cast<unsigned>(ceil_div(by_rows ? B.rows : B.cols, std::int64_t(block_columns)));
  const int threads = 2 * std::min(stripes_of(w), pairs) * warp_size;
  kernel<<<blocks, static_cast<unsigned>(threads), bytes, stream_of(q)>>>(L, w, B);
}
template <int pairs, int turns, class E>
void launch(const double* L, int w, Block<E> B, bool by_rows, Queue& q) {
  by_rows ? launch<E, pairs, turns, true>(L, w, B, q) : launch<E, pairs, turns, false>(L, w, B, q);
}

// Stripes up to which each has a pair of its own that can have all the registers that its tiles need.
constexpr int few = 8;

}  // namespace

void solve_streamed_few(const double* L, int w, Block<double> B, bool by_rows, Queue& q) {
  constexpr int most = static_cast<int>(solve_streamed_rows<double> / tile);
  stripes_of(w) <= few ? launch<few, 1>(L, w, B, by_rows, q) : launch<most, 1>(L, w, B, by_rows, q);
}
void solve_streamed_few(const double* L, int w, Block<cuDoubleComplex> B, bool by_rows, Queue& q) {
  constexpr int most_turns = static_cast<int>(solve_streamed_rows<std::complex<double>> / tile) / few;
  static_assert(most_turns * few * tile == solve_streamed_rows<std::complex<double>>);
  stripes_of(w) <= few ? launch<few, 1>(L, w, B, by_rows, q) : launch<few, most_turns>(L, w, B, by_rows, q);
}

}  // namespace devobj::cuda
