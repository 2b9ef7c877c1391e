// solve_stream: writes the streams of the triangles on the diagonal of a larger triangle, for trsm_block and exchange_solve.
#include "kernels/cuda/reciprocal.cuh"
#include "kernels/cuda/solve_stream.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

using namespace solve_stream;

/// A triangle on the diagonal of op(A), from a row on, as a lower one, and the order of rows in which it is one.
template <class S>
struct Lower {
  Block<S> A;
  bool reversed, transposed, conjugated, unit;
  std::int64_t first;  // in that order
  __device__ wide_e<S> operator()(int row, int col) const {
    const std::int64_t r = reversed ? A.rows - 1 - first - row : first + row,
                       c = reversed ? A.rows - 1 - first - col : first + col;
    const wide_e<S> a = widened(transposed ? A(c, r) : A(r, c));
    return conjugated ? conjugate(a) : a;
  }
};

/// By one warp, a lane with a column of the inverse: D^-1 to `to`; D has the identity beyond the last row.
template <class E>
__device__ void invert(const E (&D)[tile][tile + 1], bool unit, double* to) {
  const int lane = threadIdx.x % warp_size;
  E x[tile];
#pragma unroll
  for (int i = 0; i < tile; ++i) x[i] = from_parts<E>(i == lane ? 1 : 0);
#pragma unroll
  for (int k = 0; k < tile; ++k) {
    if (!unit) x[k] = Reciprocal<E>(D[k][k]).times(x[k]);
#pragma unroll
    for (int i = k + 1; i < tile; ++i) x[i] = minus_product(x[i], D[i][k], x[k]);
  }
  // above the diagonal there are zeros, also where a pivot is none
#pragma unroll
  for (int i = 0; i < tile; ++i) set_element(to, i, lane, i < lane ? E{} : x[i]);
}

/// A block with a tile of a triangle of `rows_at_once` rows, or of what is left: tile after tile, stripe after stripe.
template <class S>
__global__ void __launch_bounds__(threads)
    solve_stream_kernel(Lower<S> triangle, int rows_at_once, bool refined, double* to) {
  using E = wide_e<S>;
  __shared__ E D[tile][tile + 1];
  const int at_once = tiles_before(stripes_of(rows_at_once), false);
  const std::int64_t triangle_number = blockIdx.x / at_once;
  int s = 0, q = static_cast<int>(blockIdx.x) % at_once;  // the tile of stripe s and column q of tiles
  for (; q > s; ++s) q -= s + 1;
  triangle.first = triangle_number * rows_at_once;
  const auto w = static_cast<int>(min(triangle.A.rows - triangle.first, std::int64_t(rows_at_once)));
  constexpr int tile_doubles = chunks<E> * chunk_doubles;
  to += triangle_number * doubles_of<E>(rows_at_once, refined) + (tiles_before(s, refined) + q) * tile_doubles;
  const int id = threadIdx.x;
  // act(row, column, element): neighbours have what lies side by side
  const auto each = [&](auto act) {
#pragma unroll
    for (int e = 0; e < tile * tile / threads; ++e) {
      const int i = triangle.transposed ? id / tile + e * warps : id % tile;
      const int k = triangle.transposed ? id % tile : id / tile + e * warps;
      const int row = s * tile + i, col = q * tile + k;
      const bool there = row < w && (col < row || (col == row && !triangle.unit));
      act(i, k, there ? triangle(row, col) : from_parts<E>(row == col ? 1 : 0));
    }
  };
  if (q < s) return each([&](int i, int k, E x) { set_element(to, i, k, x); });
  each([&](int i, int k, E x) {
    D[i][k] = x;
    if (refined) set_element(to + tile_doubles, i, k, x);
  });
  __syncthreads();
  if (id < warp_size) invert(D, triangle.unit, to);
  if (!refined) return;
  __syncthreads();
  for (int at = id; at < tile_doubles; at += threads) to[2 * tile_doubles + at] = to[at];
}

}  // namespace

template <class T>
std::int64_t solve_stream_bytes(std::int64_t n, std::int64_t rows, bool refined) {
  return ceil_div(n, rows) * solve_stream::doubles_of<device_t<T>>(rows, refined) * std::int64_t(sizeof(double));
}

template <class T>
void solve_stream_of(Uplo uplo, Op op, Diag diag, View<T> A, std::int64_t rows, bool refined, void* to, Queue& q) {
  if (A.empty()) return;
  DeviceScope scope(q.device());
  const Lower<device_t<T>> triangle{block_of(A),         is_reversed(uplo, op), op != Op::NoTrans,
                                    op == Op::ConjTrans, diag == Diag::Unit,    0};
  const std::int64_t last = (A.rows - 1) / rows, blocks = last * tiles_before(stripes_of(rows), false) +
                                                          tiles_before(stripes_of(A.rows - last * rows), false);
  solve_stream_kernel<<<static_cast<unsigned>(blocks), threads, 0, stream_of(q)>>>(triangle, static_cast<int>(rows),
                                                                                   refined, static_cast<double*>(to));
  q.launched("solve_stream");
}

#define INSTANTIATE(T)                                                           \
  template std::int64_t solve_stream_bytes<T>(std::int64_t, std::int64_t, bool); \
  template void solve_stream_of(Uplo, Op, Diag, View<T>, std::int64_t, bool, void*, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
