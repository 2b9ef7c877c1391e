// window_left: B = B U^-1, the rows of L below a panel's window. A block has a strip of rows, a thread a column of it: the
// strip's transpose is solved with the transpose of U.
#include "kernels/cuda/window_triangles.cuh"
#include "kernels/randomized.hpp"

namespace devobj::cuda {
namespace {

template <class E>
__global__ void __launch_bounds__(PanelTriangles<E>::order) window_left_kernel(Block<E> U, Block<E> B) {
  using Triangles = PanelTriangles<E>;
  constexpr int strip = Triangles::strip;
  __shared__ Triangles triangles;
  const int column = threadIdx.x, n = static_cast<int>(U.cols);
  const std::int64_t first = blockIdx.x * std::int64_t(strip);
  E x[strip];
#pragma unroll
  for (int c = 0; c < strip; ++c) x[c] = column < n && first + c < B.rows ? B(first + c, column) : E{};
  triangles.invert(U, Triangles::tiles + column / warp_size, column % warp_size, true);
  __syncthreads();
  triangles.forward_transposed(U, column, x);
#pragma unroll
  for (int c = 0; c < strip; ++c)
    if (column < n && first + c < B.rows) B(first + c, column) = x[c];
}

}  // namespace

template <class S>
void window_left(View<S> U, View<S> B, Queue& q) {
  if (B.empty()) return;
  require(U.cols <= window_panel_cols<S>, "window_left: U has ", U.cols, " columns, more than ", window_panel_cols<S>);
  DeviceScope scope(q.device());
  using E = device_t<S>;
  using Triangles = PanelTriangles<E>;
  const auto blocks = static_cast<unsigned>(ceil_div(B.rows, Triangles::strip));
  window_left_kernel<E><<<blocks, Triangles::order, 0, stream_of(q)>>>(block_of(U), block_of(B));
  q.launched("window_left");
}

#define INSTANTIATE(S) template void window_left<S>(View<S>, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
