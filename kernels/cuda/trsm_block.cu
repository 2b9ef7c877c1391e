// trsm_block: B = op(A)^-1 B for a triangle of a few hundred rows, with many columns of B.
//
//   L            X             A block has some columns of B in shared memory, and op(A) as a stream of tiles of 32 x 32 (a
//   +--+         +---------+   triangle that is upper is taken from its last row to its first). Stripe by stripe, two warps
//   |D0|         | stripe 0|   with sixteen columns, each with half of a stripe's rows, on the tensor cores where there are some:
//   +--+--+      +---------+       b = stripe - (tiles T to the left) (solved stripes)
//   |T |D1|      | stripe 1|       x = D^-1 b,  d = D^-1 (b - D x),  stripe = x + d
//   +--+--+      +---------+
//
// U's tiles may be as ill-conditioned as the matrix, and x alone would have a residual to match. That of x + d is
// eps |D| |x| as substitution's, as long as |D^-1| |b - D x| is no larger than |x|: what D^-1 lacks,
// |D D^-1 - I| <= c eps |D| |D^-1|, then meets a vector that is small enough. Where d is not well below x, or a number is not
// finite, the stripe is solved by substitution.
#include "kernels/cuda/overlapped_launch.cuh"
#include "kernels/cuda/solve_stream.cuh"
#include "kernels/cuda/trsm_block_few.hpp"

namespace devobj::cuda {
namespace {

using namespace solve_stream;
using E = double;
constexpr int warp_columns = solve_stream::warp_columns<E>;

constexpr int stages = 4;
// what is read side by side lies in other banks
using Column = E[trsm_block_rows + 4];

/// For `pairs` pairs of warps.
template <int pairs>
struct Memory {
  Stream<stages>::Memory stream;
  Column X[pairs * warp_columns];
};
/// A warp more, which has the stream copied.
template <int pairs>
constexpr int threads_for = (2 * pairs + 1) * warp_size;

/// The columns of which a member takes all rows where rows are not shared.
constexpr int own_columns = warp_columns / 2;
__device__ inline Column* own(const Pair& pair, Column* X) {
  return X + pair.member * own_columns;
}

/// A stripe by the stream's D^-1, D, D^-1; D is in device memory too. By all threads of the block.
__device__ inline void solve_stripe(Stream<stages>& stream, const Pair& pair, Column* X, const double* D, bool unit,
                                    int k0) {
  if (!stream.wanted()) {
    for (int n = 0; n < 3; ++n) stream.next();
    return;
  }
  constexpr int elements = tile / 2 * warp_columns / warp_size;
  E b[elements], x[elements];
  Sums<E, 1> first(pair.member), of_D(pair.member), correction(pair.member);
  first.add<true>(stream, true, X, k0);
  pair.meet();
  int n = 0;
  first.each([&](int i, int c, E sum) {
    b[n] = X[c][k0 + i];
    X[c][k0 + i] = x[n++] = sum;
  });
  pair.meet();
  of_D.add<true>(stream, true, X, k0);
  pair.meet();
  n = 0;
  of_D.each([&](int i, int c, E sum) {
    X[c][k0 + i] = b[n] - sum;
    ++n;
  });
  pair.meet();
  correction.add<true>(stream, true, X, k0);
  bool good = true;
  n = 0;
  correction.each([&](int, int, E d) {
    x[n] += d;
    good = good && is_refined(x[n], d);
    ++n;
  });
  good = pair.all(good);
  n = 0;
  correction.each([&](int i, int c, E) {
    X[c][k0 + i] = good ? x[n] : b[n];
    ++n;
  });
  pair.meet();
  if (good) return;
  substitute<own_columns>(D, unit, own(pair, X), k0);
  pair.meet();
}

/// A block has columns for `pairs` pairs of warps.
template <int pairs>
__global__ void __launch_bounds__(threads_for<pairs>)
    trsm_block_kernel(const double* triangle, bool reversed, bool unit, Block<E> B) {
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& memory = *reinterpret_cast<Memory<pairs>*>(bytes);
  const int lane = threadIdx.x % warp_size;
  const int w = static_cast<int>(B.rows), stripes = stripes_of(w);
  const Pair pair(threadIdx.x / warp_size);
  Column* const X = memory.X + pair.number % pairs * warp_columns;
  Stream<stages> stream(memory.stream, triangle, tiles_before(stripes, true), 2 * pairs);
  wait_for_previous();
  // the warp's own columns
  Column* const mine = own(pair, X);
  const std::int64_t first = blockIdx.x * std::int64_t(pairs * warp_columns) + (mine - memory.X);
  const auto each = [&](int from, int to, auto act) {
    if (!stream.wanted()) return;
    for (int t = from * tile + lane; t < to * tile; t += warp_size)
#pragma unroll
      for (int c = 0; c < own_columns; ++c)
        act(t < w && first + c < B.cols, B.data + (reversed ? w - 1 - t : t) + (first + c) * B.ld, mine[c][t]);
  };
  const auto fetch = [](bool there, const E* from, E& to) {
    if (there)
      __pipeline_memcpy_async(&to, from, sizeof(E));
    else
      to = 0.0;
  };
  const auto store = [](bool there, E* to, E& from) {
    if (there) *to = from;
  };
  each(0, 1, fetch);
  __pipeline_commit();
  each(1, stripes, fetch);
  __pipeline_commit();
  for (int s = 0; s < stripes; ++s) {
    const int k0 = s * tile;
    if (s == 0)
      __pipeline_wait_prior(1);
    else
      __pipeline_wait_prior(0);
    Sums<E, 1> left(pair.member);
    for (int q = 0; q < s; ++q) left.add<false>(stream, stream.wanted(), X, q * tile);
    if (stream.wanted()) {
      if (s <= 1) pair.meet();  // the columns are there
      if (s > 0) left.each([&](int i, int c, E sum_of_left) { X[c][k0 + i] -= sum_of_left; });
      pair.meet();
    }
    solve_stripe(stream, pair, X, triangle + (tiles_before(s, true) + s + 1) * chunk_doubles, unit, k0);
    each(s, s + 1, store);
  }
}

template <int pairs>
bool launch(const double* triangle, bool reversed, bool unit, Block<E> B, bool early, Queue& q) {
  constexpr auto kernel = trsm_block_kernel<pairs>;
  constexpr std::size_t bytes = sizeof(Memory<pairs>);
  if (allow_shared_memory(kernel, q.device(), "trsm_block") < bytes) return false;
  launch_overlapped("trsm_block", early && overlap_usable(kernel, q.device()), kernel,
                    ceil_div(B.cols, pairs * warp_columns), threads_for<pairs>, bytes, q, triangle, reversed, unit, B);
  return true;
}

// Columns up to which trsm_block_few is faster: its blocks have eight, and all multiprocessors of an H200 two of them in turn.
constexpr std::int64_t few_columns = 2 * 8 * 132;

}  // namespace

template <class T>
void trsm_block(Uplo uplo, Op op, Diag diag, const void* triangle, View<T> B, Queue& q, bool early) {
  if (B.empty()) return;
  DeviceScope scope(q.device());
  const auto* const of_A = static_cast<const double*>(triangle);
  const bool reversed = is_reversed(uplo, op), unit = diag == Diag::Unit;
  if constexpr (std::is_same_v<T, double>)
    if (B.cols > few_columns) {
      // As many columns to a block as let each multiprocessor have one.
      if (B.cols > 4096 && launch<4>(of_A, reversed, unit, block_of(B), early, q)) return;
      if (launch<2>(of_A, reversed, unit, block_of(B), early, q)) return;
    }
  trsm_block_few(of_A, reversed, unit, block_of(B), early, q);
}

bool solves_single_in_double(int device) {
  int ratio = 0;
  check(cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, device), "trsm_block");
  return ratio <= 2;
}

#define INSTANTIATE(T) template void trsm_block(Uplo, Op, Diag, const void*, View<T>, Queue&, bool);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
