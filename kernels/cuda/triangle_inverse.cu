// triangle_inverse: of the unit lower triangle of an LU factorization, a block for each strip of columns.
#include "kernels/cuda/window_triangles.cuh"
#include "kernels/randomized.hpp"

namespace devobj::cuda {
namespace {

template <class E>
__global__ void __launch_bounds__(PanelTriangles<E>::order) triangle_inverse_kernel(Block<E> LU, Block<E> X) {
  using Triangles = PanelTriangles<E>;
  constexpr int strip = Triangles::strip;
  __shared__ Triangles triangles;
  const int row = threadIdx.x, first = blockIdx.x * strip, n = static_cast<int>(LU.cols);
  triangles.invert(LU, row / warp_size, row % warp_size);
  __syncthreads();

  E x[strip];
#pragma unroll
  for (int c = 0; c < strip; ++c) x[c] = from_parts<E>(row == first + c ? 1 : 0);
  triangles.forward(LU, row, x);
#pragma unroll
  for (int c = 0; c < strip; ++c)
    if (row < n && first + c < n) X(row, first + c) = x[c];
}

}  // namespace

template <class S>
void triangle_inverse(View<S> LU, View<S> X, Queue& q) {
  if (LU.empty()) return;
  require(LU.cols <= window_panel_cols<S>, "triangle_inverse: LU has ", LU.cols, " columns, more than ",
          window_panel_cols<S>);
  DeviceScope scope(q.device());
  using E = device_t<S>;
  using Triangles = PanelTriangles<E>;
  const auto blocks = static_cast<unsigned>(ceil_div(LU.cols, Triangles::strip));
  triangle_inverse_kernel<E><<<blocks, Triangles::order, 0, stream_of(q)>>>(block_of(LU), block_of(X));
  q.launched("triangle_inverse");
}

#define INSTANTIATE(S) template void triangle_inverse<S>(View<S>, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
