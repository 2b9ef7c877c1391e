// triangle_inverses: of the two triangles of an LU factorization, a block for each strip of columns.
#include "kernels/cuda/window_triangles.cuh"
#include "kernels/randomized.hpp"

namespace devobj::cuda {
namespace {

/// Column blockIdx.x of blocks: a strip of the inverse of L (blockIdx.y 0) or of U.
template <class E>
__global__ void __launch_bounds__(PanelTriangles<E>::order)
    triangle_inverses_kernel(Block<E> LU, Block<E> L, Block<E> U) {
  using Triangles = PanelTriangles<E>;
  constexpr int strip = Triangles::strip;
  __shared__ Triangles triangles;
  const int row = threadIdx.x, warp = row / warp_size, lane = row % warp_size;
  const int first = blockIdx.x * strip, n = static_cast<int>(LU.cols);
  const bool lower = blockIdx.y == 0;
  triangles.invert(LU, lower ? warp : Triangles::tiles + warp, lane);
  __syncthreads();

  E x[strip];
#pragma unroll
  for (int c = 0; c < strip; ++c) x[c] = from_parts<E>(row == first + c ? 1 : 0);
  if (lower)
    triangles.forward(LU, row, x);
  else
    triangles.backward(LU, row, x, {}, -1, x);
  const Block<E> X = lower ? L : U;
#pragma unroll
  for (int c = 0; c < strip; ++c)
    if (row < n && first + c < n) X(row, first + c) = x[c];
}

}  // namespace

template <class S>
void triangle_inverses(View<S> LU, View<S> L, View<S> U, Queue& q) {
  if (LU.empty()) return;
  require(LU.cols <= window_panel_cols<S>, "triangle_inverses: LU has ", LU.cols, " columns, more than ",
          window_panel_cols<S>);
  DeviceScope scope(q.device());
  using E = device_t<S>;
  using Triangles = PanelTriangles<E>;
  const dim3 blocks(static_cast<unsigned>(ceil_div(LU.cols, Triangles::strip)), 2);
  triangle_inverses_kernel<E>
      <<<blocks, Triangles::order, 0, stream_of(q)>>>(block_of(LU), block_of(L), block_of(U));
  q.launched("triangle_inverses");
}

#define INSTANTIATE(S) template void triangle_inverses<S>(View<S>, View<S>, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
