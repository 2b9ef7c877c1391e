// exchange_solve: what a factored panel does to the rows beside its triangle: the exchange of rows and A12 = L11^-1 A12.
//
//   L11          A (m x n)       A block has some columns of A in shared memory, and all of L11 in tiles of 32 x 32. While
//   +--+         +---------+     the rows that come are on their way, a warp inverts each diagonal tile D. Then, stripe by
//   |D0|         | stripe 0|     stripe, a warp, or several, with eight columns:
//   +--+--+      | stripe 1|       b = stripe - (tiles T to the left) (solved stripes)
//   |T |D1|      |   ...   |       stripe = D^-1 b
//   +--+--+      | rows    |
//                | below   |     Double precision multiplies on the tensor cores where there are some.
//                +---------+
//
// Many columns are solved with L11 as a stream (solve_stream.cuh), inverted once for all blocks, if the caller has made one.
// Few columns of a column-major matrix are solved by substitution, a warp with a column: that is sooner done; or, in single precision
// with 128 rows, by exchange_solve_slices.
#include <algorithm>

#include "kernels/cuda/exchange_solve_rows.cuh"
#include "kernels/cuda/exchange_solve_slices.hpp"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/cuda/solve_stream.cuh"
#include "kernels/cuda/two_parts.cuh"

namespace devobj::cuda {
namespace {

using namespace exchange_solve_tiles;

/// By a team: a stripe of its columns -= the products to its left; whether all of it is finite then.
template <class E, class Sums, int members>
__device__ bool subtract(const Team<members>& team, const Sums& left, Column<E>* X, int k0) {
  bool finite = true;
  left.each([&](int i, int c, E sum_of_left) {
    E& b = X[c][k0 + i];
    b = sum(b, negative(sum_of_left));
    finite = finite && isfinite(re(b)) && isfinite(im(b));
  });
  return team.all(finite);
}

/// Chunks of L's stream in shared memory.
template <class E>
constexpr int stages = is_device_complex<E> ? 5 : 4;
template <class E, int columns>
struct StreamedMemory {
  typename solve_stream::Stream<stages<E>>::Memory stream;
  std::int32_t from[most_rows], to[most_rows];
  alignas(16) Column<E> X[columns];
};

/// `by_rows`: A is given by its transpose. A block has eight columns for each of its teams, which share its warps.
template <class E, int teams, bool by_rows>
__global__ void __launch_bounds__(threads) exchange_solve_kernel(Block<E> stored_L, bool L_by_rows, Block<E> A,
                                                                 RowExchange exchange, int part_rows, unsigned kept) {
  extern __shared__ __align__(16) unsigned char bytes[];
  constexpr int columns = teams * warp_columns, members = warps / teams < 4 ? warps / teams : 4;
  auto& memory = *reinterpret_cast<Memory<E>*>(bytes);
  const int warp = threadIdx.x / warp_size;
  const int w = static_cast<int>(stored_L.rows), stripes = (w + tile - 1) / tile;
  Column<E>* const X = memory.columns(stripes);
  const Rows<E, columns, by_rows> rows(A, blockIdx.x * std::int64_t(columns), X);

  if (L_by_rows)
    fetch<true>(memory.L, stored_L, stripes);
  else
    fetch<false>(memory.L, stored_L, stripes);
  rows.exchange(exchange, part_rows, w, memory.from, memory.to, [&] {
    __pipeline_wait_prior(1);
    __syncthreads();
    if (warp < stripes) invert<E>(memory.L[tiles_before(warp + 1) - 1]);
  });

  const Team<members> team(warp);
  if (team.number >= teams) return;
  Column<E>* const own = X + team.number * warp_columns;
  for (int s = 0; s < stripes; ++s) {
    const Tile<E>* const L = memory.L + tiles_before(s);
    const int k0 = s * tile;
    Sums<E, members> left(team.member), solved(team.member);
    for (int q = 0; q < s; ++q) left.template add<false>(L[q], own, q * tile);
    E before[Sums<E, members>::count];
    if constexpr (has_two_parts<E>) left.each([&, n = 0](int i, int c, E) mutable { before[n++] = own[c][k0 + i]; });
    if (subtract<E>(team, left, own, k0)) {
      solved.template add<true>(L[s], own, k0);
      team.meet();
      solved.each([&, n = 0](int i, int c, E x) mutable {
        if constexpr (has_two_parts<E>) x = changed_of_kept_bits(before[n++], x, kept);
        own[c][k0 + i] = x;
      });
    } else if (team.member == 0) {
      multiply_exactly<E>([&](int i, int k) { return L[s][i][k]; }, own, warp_columns, k0);
    }
    team.meet();
    rows.template store<warp_columns>(team, k0, w);
  }
}

/// The same with L as a stream, for many columns: a block's memory is for these, and two blocks share a multiprocessor.
template <class E, int solving, bool by_rows>
__global__ void __launch_bounds__(threads, 2)
    exchange_solve_streamed_kernel(const double* L, int w, Block<E> A, RowExchange exchange, int part_rows) {
  extern __shared__ __align__(16) unsigned char bytes[];
  constexpr int warp_columns = solve_stream::warp_columns<E>, columns = solving * warp_columns;
  auto& memory = *reinterpret_cast<StreamedMemory<E, columns>*>(bytes);
  const int warp = threadIdx.x / warp_size, stripes = solve_stream::stripes_of(w);
  const bool wanted = warp < solving;
  const Rows<E, columns, by_rows> rows(A, blockIdx.x * std::int64_t(columns), memory.X);
  constexpr int chunks = solve_stream::chunks<E>;
  solve_stream::Stream<stages<E>> stream(memory.stream, L, solve_stream::tiles_before(stripes, false) * chunks,
                                         solving);
  rows.exchange(exchange, part_rows, w, memory.from, memory.to, [] {});

  const Team<1> team(warp);
  Column<E>* const own = memory.X + (wanted ? warp : 0) * warp_columns;
  for (int s = 0; s < stripes; ++s) {
    const int k0 = s * tile;
    solve_stream::Sums<E> left, solved;
    for (int q = 0; q < s; ++q) left.template add<false>(stream, wanted, own, q * tile);
    const bool finite = wanted && subtract<E>(team, left, own, k0);
    solved.template add<true>(stream, finite, own, k0);
    if (!wanted) continue;
    __syncwarp();
    if (finite) {
      solved.each([&](int i, int c, E x) { own[c][k0 + i] = x; });
      __syncwarp();
    } else {
      const double* const D = L + (solve_stream::tiles_before(s, false) + s) * (chunks * solve_stream::chunk_doubles);
      multiply_exactly<E>(solve_stream::Elements<E>{D}, own, warp_columns, k0);
    }
    rows.template store<warp_columns>(team, k0, w);
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
bool launch_streamed(const double* L, std::int64_t w, Block<E> A, RowExchange exchange, int part_rows, Queue& q) {
  constexpr auto kernel = exchange_solve_streamed_kernel<E, solving, by_rows>;
  constexpr int columns = solving * solve_stream::warp_columns<E>;
  constexpr std::size_t bytes = sizeof(StreamedMemory<E, columns>);
  if (bytes > shared_memory_limit(q.device())) return false;
  allow_shared_memory(kernel, q.device(), "exchange_solve");
  const auto blocks = static_cast<unsigned>(ceil_div(by_rows ? A.rows : A.cols, columns));
  kernel<<<blocks, threads, bytes, stream_of(q)>>>(L, static_cast<int>(w), A, exchange, part_rows);
  return true;
}
/// As many columns to a block as let each multiprocessor have one.
template <class E, bool by_rows>
bool launch_streamed(const double* L, std::int64_t w, Block<E> A, RowExchange exchange, int part_rows, Queue& q) {
  constexpr int most = 4;
  const std::int64_t columns = by_rows ? A.rows : A.cols;
  if (columns > 128 * most * solve_stream::warp_columns<E> &&
      launch_streamed<E, most, by_rows>(L, w, A, exchange, part_rows, q))
    return true;
  return launch_streamed<E, most / 2, by_rows>(L, w, A, exchange, part_rows, q);
}

template <class E, int teams, bool by_rows>
bool launch(Block<E> L, bool L_by_rows, Block<E> A, RowExchange exchange, int part_rows, unsigned kept, Queue& q) {
  constexpr auto kernel = exchange_solve_kernel<E, teams, by_rows>;
  constexpr int columns = teams * warp_columns;
  const auto bytes = Memory<E>::bytes(static_cast<int>(ceil_div(L.rows, tile)), columns);
  if (bytes > shared_memory_limit(q.device())) return false;
  allow_shared_memory(kernel, q.device(), "exchange_solve");
  const auto blocks = static_cast<unsigned>(ceil_div(by_rows ? A.rows : A.cols, columns));
  kernel<<<blocks, threads, bytes, stream_of(q)>>>(L, L_by_rows, A, exchange, part_rows, kept);
  return true;
}

/// Teams of a block with which `beside` multiprocessors are in few turns done with so many columns; 0 if that does not matter.
template <class E>
int fitting_teams(std::int64_t rows, std::int64_t columns, int beside, Queue& q) {
  if (beside == 0 || !by_tensor_cores<E> || columns > exchange_solve_few) return 0;
  const std::size_t limit = shared_memory_limit(q.device());
  const auto turns = [&](int teams) {
    const std::size_t bytes = Memory<E>::bytes(static_cast<int>(ceil_div(rows, tile)), teams * warp_columns),
                      at_once = beside * std::min<std::size_t>(limit / bytes, 2048 / threads);
    const auto blocks = static_cast<std::size_t>(ceil_div(columns, teams * warp_columns));
    return at_once == 0 ? blocks : (blocks + at_once - 1) / at_once;
  };
  if (turns(1) == 1) return 0;
  int best = 1;
  for (const int teams : {2, 4})
    if (turns(teams) < turns(best)) best = teams;
  return best;
}
/// As many columns to a block as let each multiprocessor have one; the time for few is that of the way through the rows.
template <class E, bool by_rows>
void launch(Block<E> L, bool L_by_rows, Block<E> A, RowExchange exchange, int part_rows, const double* stream,
            int beside, unsigned kept, Queue& q) {
  const std::int64_t columns = by_rows ? A.rows : A.cols;
  if (const int teams = fitting_teams<E>(L.rows, columns, beside, q); teams > 0) {
    if (teams == 4 && launch<E, 4, by_rows>(L, L_by_rows, A, exchange, part_rows, kept, q)) return;
    if (teams == 2 && launch<E, 2, by_rows>(L, L_by_rows, A, exchange, part_rows, kept, q)) return;
    if (launch<E, 1, by_rows>(L, L_by_rows, A, exchange, part_rows, kept, q)) return;
  }
  if constexpr (by_tensor_cores<E>)
    if (stream != nullptr && launch_streamed<E, by_rows>(stream, L.rows, A, exchange, part_rows, q)) return;
  if (!by_rows && launch_few<E>(L, L_by_rows, A, exchange, part_rows, q)) return;
  if constexpr (!by_rows && std::is_same_v<E, float>)
    if (columns <= exchange_solve_slices_most && !L_by_rows && exchange.rows <= part_rows &&
        exchange_solve_slices(L, A, exchange, q))
      return;
  if (columns > 4096 && launch<E, 8, by_rows>(L, L_by_rows, A, exchange, part_rows, kept, q)) return;
  if (columns > exchange_solve_few && launch<E, 4, by_rows>(L, L_by_rows, A, exchange, part_rows, kept, q)) return;
  if (columns > exchange_solve_few && launch<E, 2, by_rows>(L, L_by_rows, A, exchange, part_rows, kept, q)) return;
  launch<E, 1, by_rows>(L, L_by_rows, A, exchange, part_rows, kept, q);
}

}  // namespace

template <class T>
std::int64_t exchange_solve_rows(const Queue& q) {
  const auto bytes = Memory<device_t<T>>::bytes(exchange_solve_max / tile, warp_columns);
  return bytes <= shared_memory_limit(q.device()) ? exchange_solve_max : exchange_solve_max / 2;
}

template <class T>
void exchange_solve(View<T> L, bool L_by_rows, View<T> A, bool A_by_rows, RowExchange exchange, std::int64_t part_rows,
                    const void* stream, Queue& q, int beside, bool two_parts) {
  using E = device_t<T>;
  if (A.empty() || (L.rows <= 1 && exchange.rows == 0)) return;
  DeviceScope scope(q.device());
  const int rows = static_cast<int>(part_rows);
  const unsigned kept = kept_bits(two_parts);
  const auto* const of_L = static_cast<const double*>(stream);
  if (A_by_rows)
    launch<E, true>(block_of(L), L_by_rows, block_of(A), exchange, rows, of_L, beside, kept, q);
  else
    launch<E, false>(block_of(L), L_by_rows, block_of(A), exchange, rows, of_L, beside, kept, q);
  q.launched("exchange_solve");
}

#define INSTANTIATE(T)                                        \
  template std::int64_t exchange_solve_rows<T>(const Queue&); \
  template void exchange_solve(View<T>, bool, View<T>, bool, RowExchange, std::int64_t, const void*, Queue&, int, bool);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
