// trsm_block of few columns, and of all types but double: B = op(A)^-1 B for a triangle of at most 256 rows.
//
//   L            B             A block has eight columns of B. Each stripe of 32 rows has two warps, with half of it each in
//   +--+         +---------+   registers, as in solve_streamed_few; from it they subtract what the stripes above bring,
//   |D0|         | stripe 0|       b -= T (solved stripe)
//   +--+--+      +---------+   and then
//   |T |D1|      | stripe 1|       x = D^-1 b,  d = D^-1 (b - D x),  stripe = x + d
//   +--+--+      +---------+   by substitution where d is not well below x (trsm_block). Four products of tiles are left
//                              between a stripe and the next.
//
// Single precision is solved in double precision, which takes no longer on tensor cores: a solution is rounded once.
#include "kernels/cuda/half_tiles.cuh"
#include "kernels/cuda/overlapped_launch.cuh"
#include "kernels/cuda/trsm_block_few.hpp"

namespace devobj::cuda {
namespace {

using namespace solve_stream;

constexpr int pairs = static_cast<int>(trsm_block_rows / tile);

// what is read side by side lies in other banks
template <class E>
struct Memory {
  E X[block_columns][pairs * tile + 4];  // the stripe whose turn it is, and solved ones, negated
  E x[pairs][block_columns][tile + 4];
  std::uint64_t solved[pairs];
};

/// B's elements are of type S.
template <class S>
__global__ void __launch_bounds__(2 * pairs * warp_size)
    trsm_block_few_kernel(const double* triangle, bool reversed, bool unit, Block<S> B) {
  using E = wide_e<S>;
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& memory = *reinterpret_cast<Memory<E>*>(bytes);
  const Pair pair(threadIdx.x / warp_size);
  const int w = static_cast<int>(B.rows), stripe = pair.number, k0 = stripe * tile,
            first_row = k0 + pair.member * half_rows;
  auto* const X = memory.X;
  auto* const of_x = memory.x[stripe];
  if (threadIdx.x < pairs) barrier_init(shared_address(memory.solved + threadIdx.x), 2 * warp_size);
  barriers_ready();
  // of real numbers D and D^-1 have registers of their own; a complex tile is multiplied for longer than the next one is on its way
  constexpr bool apart = !is_device_complex<E>;
  constexpr int tile_doubles = chunks<E> * chunk_doubles;
  const double* const tiles = triangle + tiles_before(stripe, true) * tile_doubles;
  const auto half_of = [&](int q) { return tiles + q * tile_doubles + pair.member * parts<E> * half_doubles; };
  const int inverse_at = stripe, diagonal_at = stripe + 1, last = stripe + 2;  // in the stripe's stream

  HalfTile<E> T, inverse;
  T.load(half_of(apart && stripe == 0 ? diagonal_at : 0));
  if (apart && stripe < 2) inverse.load(half_of(inverse_at));
  wait_for_previous();
  // act(whether it is there, where, element)
  const std::int64_t first_column = blockIdx.x * std::int64_t(block_columns);
  const auto each = [&](HalfStripe<E>& s, auto act) {
    s.each([&](int i, int c, E& x) {
      const std::int64_t row = first_row + i, column = first_column + c;
      act(row < w && column < B.cols, B.data + (reversed ? w - 1 - row : row) + column * B.ld, x);
    });
  };
  HalfStripe<E> left;
  each(left, [](bool there, const S* from, E& x) { x = there ? widened(*from) : E{}; });
  __syncthreads();

  // sums += D^-1, D, or D^-1 once more, times columns
  const auto multiply = [&](int at, HalfStripe<E>& sums, const auto* columns, int first) {
    const HalfTile<E>& D = apart && at != diagonal_at ? inverse : T;
    if (!apart && at < last)
      T.multiply(sums, columns, first, half_of(at + 1));
    else if (pair.member == 0)
      D.template multiply<half_rows>(sums, columns, first);
    else
      D.template multiply<tile>(sums, columns, first);
  };
  const auto solve = [&] {
    // act(the element's place in x, its place in X, element)
    const auto each_place = [&](HalfStripe<E>& s, auto act) {
      s.each(
          [&](int i, int c, E& element) { act(of_x[c][pair.member * half_rows + i], X[c][first_row + i], element); });
    };
    each_place(left, [](E&, E& in_X, E b) { in_X = b; });
    pair.meet();
    HalfStripe<E> x, of_D, d;
    multiply(inverse_at, x, X, k0);
    each_place(x, [](E& in_x, E&, E element) { in_x = element; });
    pair.meet();
    multiply(diagonal_at, of_D, of_x, 0);
    each_place(of_D, [](E&, E& in_X, E product) { in_X = sum(in_X, negative(product)); });
    pair.meet();
    multiply(last, d, X, k0);
    bool good = true;
    each_place(d, [&](E& in_x, E&, E& element) {
      const E corrected = sum(in_x, element);
      good = good && is_refined(corrected, element);
      element = corrected;
    });
    if (!pair.all(good)) {
      each_place(left, [](E&, E& in_X, E b) { in_X = b; });
      pair.meet();
      constexpr int own = block_columns / 2;
      substitute<own>(tiles + diagonal_at * tile_doubles, unit, X + pair.member * own, k0);
      pair.meet();
      each_place(d, [](E&, E& in_X, E& element) { element = in_X; });
    }
    each_place(d, [](E&, E& in_X, E element) { in_X = negative(element); });
    barrier_arrive(shared_address(memory.solved + stripe));
    each(d, [](bool there, S* to, E element) {
      if (there) *to = narrowed<S>(element);
    });
  };
  const auto subtract = [&](int q) {
    T.multiply(left, X, q * tile, half_of(apart && q + 1 == stripe ? diagonal_at : q + 1));
    if (apart && q == 0 && stripe >= 2) inverse.load(half_of(inverse_at));
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

}  // namespace

template <class S>
void trsm_block_few(const double* triangle, bool reversed, bool unit, Block<S> B, bool early, Queue& q) {
  constexpr auto kernel = trsm_block_few_kernel<S>;
  launch_overlapped("trsm_block", early && overlap_usable(kernel, q.device()), kernel,
                    ceil_div(B.cols, std::int64_t(block_columns)), 2 * stripes_of(B.rows) * warp_size,
                    sizeof(Memory<wide_e<S>>), q, triangle, reversed, unit, B);
}

template void trsm_block_few(const double*, bool, bool, Block<float>, bool, Queue&);
template void trsm_block_few(const double*, bool, bool, Block<double>, bool, Queue&);
template void trsm_block_few(const double*, bool, bool, Block<cuComplex>, bool, Queue&);
template void trsm_block_few(const double*, bool, bool, Block<cuDoubleComplex>, bool, Queue&);

}  // namespace devobj::cuda
