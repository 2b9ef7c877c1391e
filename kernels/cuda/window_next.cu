// window_next: what a panel's factors do to columns right of it, in the panel's window and below it.
//
//            K
//         +------+------+     A block has a strip of columns, a thread a row of it.
//   window| L\U  |  A   |       the window's rows are exchanged, U12 = L11^-1 A12, the rows below in the window -= L21 U12,
//         |  L   |      |       V = U11^-1 U12,
//         +------+------+       low -= B V, where B has not been divided by U11 yet
//         |  B   | low  |
//         +------+------+
#include "kernels/cuda/window_triangles.cuh"
#include "kernels/randomized.hpp"

namespace devobj::cuda {
namespace {

constexpr int most_rows = static_cast<int>(window_rows);
template <class E>
constexpr int threads = most_rows + PanelTriangles<E>::order;

template <class E>
__global__ void __launch_bounds__(threads<E>)
    window_next_kernel(const std::int32_t* source, Block<E> LU, Block<E> B, Block<E> A, Block<E> low) {
  using Triangles = PanelTriangles<E>;
  constexpr int strip = Triangles::strip;
  __shared__ Triangles triangles;
  const int thread = threadIdx.x, warp = thread / warp_size, lane = thread % warp_size;
  const int rows = static_cast<int>(A.rows), n = static_cast<int>(LU.cols);
  const std::int64_t first = blockIdx.x * std::int64_t(strip);
  const int cols = static_cast<int>(min(std::int64_t(strip), A.cols - first));
  const int other = thread - most_rows;
  const bool in_window = thread < rows, is_other = other >= 0 && other < B.rows;

  E x[strip], z[strip];
  const int from = in_window ? source[thread] : 0;
#pragma unroll
  for (int c = 0; c < strip; ++c)
    x[c] = c >= cols ? E{} : in_window ? A(from, first + c) : is_other ? low(other, first + c) : E{};
  if (warp < 2 * Triangles::tiles) triangles.invert(LU, warp, lane);
  __syncthreads();

  triangles.forward(LU, thread, x);
#pragma unroll
  for (int c = 0; c < strip; ++c) {
    if (c < cols && in_window) A(thread, first + c) = x[c];
    z[c] = thread < n ? x[c] : E{};
  }
  if (B.rows == 0) return;
  triangles.backward(LU, thread, z, B, other, x);
#pragma unroll
  for (int c = 0; c < strip; ++c)
    if (c < cols && is_other) low(other, first + c) = x[c];
}

}  // namespace

template <class S>
void window_next(const std::int32_t* source, View<S> LU, View<S> B, View<S> A, View<S> low, Queue& q) {
  if (A.empty()) return;
  require(LU.rows <= window_rows && LU.cols <= window_panel_cols<S> && LU.cols <= LU.rows, "window_next: LU is ",
          LU.rows, " x ", LU.cols, ", at most ", window_rows, " x ", window_panel_cols<S>, ", not wider than tall");
  require(B.rows <= window_panel_cols<S>, "window_next: B has ", B.rows, " rows, more than ", window_panel_cols<S>);
  DeviceScope scope(q.device());
  using E = device_t<S>;
  const auto blocks = static_cast<unsigned>(ceil_div(A.cols, PanelTriangles<E>::strip));
  window_next_kernel<E>
      <<<blocks, threads<E>, 0, stream_of(q)>>>(source, block_of(LU), block_of(B), block_of(A), block_of(low));
  q.launched("window_next");
}

#define INSTANTIATE(S) template void window_next<S>(const std::int32_t*, View<S>, View<S>, View<S>, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
