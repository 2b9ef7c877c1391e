// solve_streamed: B = L^-1 B for a unit lower triangle of a few hundred rows in double precision, without the residual of a substitution:
// what an LU's blocks do to the rows beside them.
//
//   L            X             A block has some columns of B in shared memory, all rows of them, and L as a stream of tiles of
//   +--+         +---------+   32 x 32 (solve_stream.cuh). Stripe by stripe, two warps with sixteen columns, each with half of a
//   |D0|         | stripe 0|   stripe's rows, on the tensor cores where there are some:
//   +--+--+      +---------+       b = stripe - (tiles T to the left) (solved stripes)
//   |T |D1|      | stripe 1|       stripe = D^-1 b
//   +--+--+      +---------+
//
// Few columns, and complex ones, are solve_streamed_few's. trsm_block is the same with a step of refinement.
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/cuda/solve_stream.cuh"
#include "kernels/cuda/solve_streamed_few.hpp"

namespace devobj::cuda {
namespace {

using namespace solve_stream;
using E = double;
constexpr int warp_columns = solve_stream::warp_columns<E>;

// what is read side by side lies in other banks
template <int rows>
using Column = E[rows + 4];

/// For `pairs` pairs of warps.
template <int rows, int pairs, int stages>
struct Memory {
  typename Stream<stages>::Memory stream;
  Column<rows> X[pairs * warp_columns];
};
/// A warp more, which has the stream copied.
template <int pairs>
constexpr int threads_for = (2 * pairs + 1) * warp_size;

/// The columns that a member loads and stores.
constexpr int own_columns = warp_columns / 2;

/// `by_rows`: B is given by its transpose.
template <int rows, int pairs, int stages, bool by_rows>
__global__ void __launch_bounds__(threads_for<pairs>) solve_streamed_kernel(const double* L, int w, Block<E> B) {
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& memory = *reinterpret_cast<Memory<rows, pairs, stages>*>(bytes);
  const int lane = threadIdx.x % warp_size, stripes = stripes_of(w);
  const Pair pair(threadIdx.x / warp_size);
  Column<rows>* const X = memory.X + pair.number % pairs * warp_columns;
  Stream<stages> stream(memory.stream, L, tiles_before(stripes, false), 2 * pairs);
  const bool wanted = stream.wanted();

  Column<rows>* const own = X + pair.member * own_columns;
  const std::int64_t first = blockIdx.x * std::int64_t(pairs * warp_columns) + (own - memory.X),
                     columns = by_rows ? B.rows : B.cols;
  // act(whether it is there, where, in shared memory) for the warp's own columns; neighbours have what lies side by side
  const auto each = [&](int from, int to, auto act) {
    if (!wanted) return;
    if constexpr (by_rows) {
      const int c = lane % own_columns;
      constexpr int step = warp_size / own_columns;
#pragma unroll 8
      for (int t = from * tile + lane / own_columns; t < to * tile; t += step)
        act(t < w && first + c < columns, B.data + (first + c) + t * B.ld, own[c][t]);
    } else {
      for (int t = from * tile + lane; t < to * tile; t += warp_size)
#pragma unroll
        for (int c = 0; c < own_columns; ++c)
          act(t < w && first + c < columns, B.data + t + (first + c) * B.ld, own[c][t]);
    }
  };
  const auto fetch = [](bool there, const E* from, E& to) {
    if (there)
      __pipeline_memcpy_async(&to, from, sizeof(E));
    else
      to = 0.0;
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
    Sums<E, 1> left(pair.member), solved(pair.member);
    for (int q = 0; q < s; ++q) left.template add<false>(stream, wanted, X, q * tile);
    bool finite = wanted;
    if (wanted) {
      if (s <= 1) pair.meet();  // the columns are there
      left.each([&](int i, int c, E sum_of_left) {
        E& b = X[c][k0 + i];
        b -= sum_of_left;
        finite = finite && isfinite(b);
      });
      finite = pair.all(finite);
    }
    solved.template add<true>(stream, finite, X, k0);
    if (!wanted) continue;
    pair.meet();
    if (finite)
      solved.each([&](int i, int c, E x) { X[c][k0 + i] = x; });
    else
      multiply_exactly<E>(Elements<E>{L + (tiles_before(s, false) + s) * chunk_doubles}, own, own_columns, k0);
    pair.meet();
    each(s, s + 1, [](bool there, E* to, E& from) {
      if (there) *to = from;
    });
  }
}

template <int rows, int pairs, bool by_rows>
bool launch(const double* L, int w, Block<E> B, Queue& q) {
  constexpr int stages = pairs > 4 ? 3 : 4;  // what there is room for
  constexpr auto kernel = solve_streamed_kernel<rows, pairs, stages, by_rows>;
  constexpr std::size_t bytes = sizeof(Memory<rows, pairs, stages>);
  if (allow_shared_memory(kernel, q.device(), "solve_streamed") < bytes) return false;
  const auto blocks = static_cast<unsigned>(ceil_div(by_rows ? B.rows : B.cols, pairs * warp_columns));
  kernel<<<blocks, threads_for<pairs>, bytes, stream_of(q)>>>(L, w, B);
  return true;
}

// Columns up to which eight to a block are faster: as many as an H200's multiprocessors have at once.
constexpr std::int64_t few_columns = 8 * 132;

/// As many columns to a block as let each multiprocessor have one.
template <int rows, bool by_rows>
bool launch(const double* L, int w, Block<E> B, Queue& q) {
  const std::int64_t columns = by_rows ? B.rows : B.cols;
  if constexpr (rows <= 256)
    if (columns > solve_streamed_turn && launch<rows, 6, by_rows>(L, w, B, q)) return true;
  return (columns > 4096 && launch<rows, 4, by_rows>(L, w, B, q)) ||
         (columns > 2048 && launch<rows, 2, by_rows>(L, w, B, q)) || launch<rows, 1, by_rows>(L, w, B, q);
}

}  // namespace

template <class T>
void solve_streamed(const void* stream, View<T> B, bool B_by_rows, Queue& q) {
  if (B.empty()) return;
  DeviceScope scope(q.device());
  const auto* const L = static_cast<const double*>(stream);
  const auto w = static_cast<int>(B_by_rows ? B.cols : B.rows);
  bool done = true;
  if (is_complex<T> || (B_by_rows ? B.rows : B.cols) <= few_columns)
    solve_streamed_few(L, w, block_of(B), B_by_rows, q);
  else if constexpr (!is_complex<T>)
    done = w <= 256 ? (B_by_rows ? launch<256, true>(L, w, block_of(B), q) : launch<256, false>(L, w, block_of(B), q))
                    : (B_by_rows ? launch<384, true>(L, w, block_of(B), q) : launch<384, false>(L, w, block_of(B), q));
  if (!done) fail(Status::internal_error, "solve_streamed: ", w, " rows are too many for this GPU's shared memory");
  q.launched("solve_streamed");
}

template void solve_streamed(const void*, View<double>, bool, Queue&);
template void solve_streamed(const void*, View<std::complex<double>>, bool, Queue&);

}  // namespace devobj::cuda
