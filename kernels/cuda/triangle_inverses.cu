// triangle_inverses: of the two triangles of an LU factorization, a block for each.
//
//   | T00             |     The tiles of 32 x 32 on the diagonal are inverted by a warp each, a column to a lane. The tiles of
//   | T10 T11         |     the inverse X follow diagonal by diagonal:
//   | T20 T21 T22     |       X_ij = X_ii (-sum_k T_ik X_kj),  k = j ... i - 1
//   | T30 T31 T32 T33 |     U is the triangle T transposed.
#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/cuda/single_precision.cuh"
#include "kernels/randomized.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 256, size = 32, square = 4;  // a thread has square x square elements of a tile
constexpr int tile_threads = size * size / (square * square), groups = threads / tile_threads;

template <class E>
struct Memory {
  static constexpr int order = is_device_complex<E> ? 64 : 128;
  E T[order][order + 1], X[order][order + 1];
  E inverse[order];  // of T's diagonal
  E sums[groups][size][size + 1];
};

template <class E>
__global__ void __launch_bounds__(threads) triangle_inverses_kernel(Block<E> LU, Block<E> L, Block<E> U) {
  using Shared = Memory<E>;
  extern __shared__ __align__(16) unsigned char raw_memory[];
  Shared& memory = *reinterpret_cast<Shared*>(raw_memory);
  const bool lower = blockIdx.x == 0;
  const int order = static_cast<int>(LU.cols), tiles = (order + size - 1) / size;
  const int thread = threadIdx.x, lane = thread % warp_size, warp = thread / warp_size;

  for (int e = thread; e < tiles * size * tiles * size; e += threads) {
    const int i = e % (tiles * size), k = e / (tiles * size);
    const bool inside = i < order && k < order;
    // along the columns of LU
    (lower ? memory.T[i][k] : memory.T[k][i]) = inside && (lower ? i > k : i <= k) ? LU(i, k) : E{};
    memory.X[i][k] = E{};
    if (i == k) memory.inverse[i] = lower || !inside ? from_parts<E>(1) : inverse_of(LU(i, i));
  }
  __syncthreads();

  if (warp < tiles) {
    const int first = warp * size;
    E x[size];
#pragma unroll
    for (int i = 0; i < size; ++i) {
      E s = from_parts<E>(i == lane ? 1 : 0);
#pragma unroll
      for (int k = 0; k < i; ++k) s = minus_product(s, memory.T[first + i][first + k], x[k]);
      x[i] = product(s, memory.inverse[first + i]);
      memory.X[first + i][first + lane] = x[i];
    }
  }
  __syncthreads();

  const int group = thread / tile_threads, member = thread % tile_threads;
  const int r = member / (size / square) * square, c = member % (size / square) * square;
  for (int distance = 1; distance < tiles; ++distance) {
    const int i = (distance + group) * size, j = group * size;
    const bool mine = distance + group < tiles;
    E sum[square][square] = {};
    if (mine)
      for (int k = j; k < i; ++k)
#pragma unroll
        for (int a = 0; a < square; ++a)
#pragma unroll
          for (int b = 0; b < square; ++b)
            sum[a][b] = minus_product(sum[a][b], memory.T[i + r + a][k], memory.X[k][j + c + b]);
#pragma unroll
    for (int a = 0; a < square; ++a)
#pragma unroll
      for (int b = 0; b < square; ++b) memory.sums[group][r + a][c + b] = sum[a][b];
    __syncthreads();
    if (mine) {
      E x[square][square] = {};
      for (int k = 0; k < size; ++k)
#pragma unroll
        for (int a = 0; a < square; ++a)
#pragma unroll
          for (int b = 0; b < square; ++b)
            x[a][b] = minus_product(x[a][b], negative(memory.X[i + r + a][i + k]), memory.sums[group][k][c + b]);
#pragma unroll
      for (int a = 0; a < square; ++a)
#pragma unroll
        for (int b = 0; b < square; ++b) memory.X[i + r + a][j + c + b] = x[a][b];
    }
    __syncthreads();
  }

  for (int e = thread; e < order * order; e += threads) {
    const int i = e % order, k = e / order;
    if (lower)
      L(i, k) = memory.X[i][k];
    else
      U(i, k) = memory.X[k][i];
  }
}

}  // namespace

template <class S>
void triangle_inverses(View<S> LU, View<S> L, View<S> U, Queue& q) {
  if (LU.empty()) return;
  using E = device_t<S>;
  require(LU.cols <= window_panel_cols<S>, "triangle_inverses: LU has ", LU.cols, " columns, more than ",
          window_panel_cols<S>);
  DeviceScope scope(q.device());
  constexpr std::size_t bytes = sizeof(Memory<E>);
  static_assert(bytes <= window_lu_memory);
  const auto kernel = triangle_inverses_kernel<E>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "triangle_inverses");
  kernel<<<2, threads, bytes, stream_of(q)>>>(block_of(LU), block_of(L), block_of(U));
  q.launched("triangle_inverses");
}

#define INSTANTIATE(S) template void triangle_inverses<S>(View<S>, View<S>, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
