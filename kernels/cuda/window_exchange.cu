// window_exchange: rows exchanged within the windows of panels that follow each other.
#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/randomized.hpp"

namespace devobj::cuda {
namespace {

constexpr int columns_at_once = 8, most_panels = static_cast<int>(window_most_panels);
constexpr int most_rows = static_cast<int>((window_most_panels - 1) * window_panel_cols<float> + window_rows);

// A thread has a row, a block columns_at_once columns.
template <class E>
__global__ void __launch_bounds__(most_rows)
    window_exchange_kernel(const std::int32_t* source, int panels, int step, Block<E> A) {
  extern __shared__ __align__(16) unsigned char raw_memory[];
  __shared__ int origin[2][most_rows];  // where a row was at first
  const int i = threadIdx.x, rows = static_cast<int>(A.rows);
  E* const old = reinterpret_cast<E*>(raw_memory);  // by columns
  const std::int64_t first = blockIdx.x * std::int64_t(columns_at_once);

  int from[most_panels];
#pragma unroll
  for (int p = 0; p < most_panels; ++p) {
    const int within = i - p * step;
    const bool moves = p < panels && i < rows && within >= 0 && within < int(window_rows);
    from[p] = moves ? p * step + source[p * window_rows + within] : i;
  }
#pragma unroll
  for (int c = 0; c < columns_at_once; ++c)
    if (i < rows && first + c < A.cols) old[c * rows + i] = A(i, first + c);
  if (i < rows) origin[0][i] = from[0];
  __syncthreads();
#pragma unroll
  for (int p = 1; p < most_panels; ++p) {
    if (p >= panels) break;
    if (i < rows) origin[p % 2][i] = origin[(p - 1) % 2][from[p]];
    __syncthreads();
  }
  const int at = i < rows ? origin[(panels - 1) % 2][i] : 0;
#pragma unroll
  for (int c = 0; c < columns_at_once; ++c)
    if (i < rows && first + c < A.cols) A(i, first + c) = old[c * rows + at];
}

template <class E>
void launch(const std::int32_t* source, std::int64_t panels, std::int64_t step, Block<E> A, Queue& q) {
  const auto blocks = static_cast<unsigned>(ceil_div(A.cols, columns_at_once));
  const auto threads = static_cast<unsigned>(ceil_div(A.rows, warp_size) * warp_size);
  const std::size_t bytes = sizeof(E) * columns_at_once * static_cast<std::size_t>(A.rows);
  window_exchange_kernel<E>
      <<<blocks, threads, bytes, stream_of(q)>>>(source, static_cast<int>(panels), static_cast<int>(step), A);
}

}  // namespace

template <class S>
void window_exchange(const std::int32_t* source, std::int64_t panels, std::int64_t step, View<S> A, Queue& q) {
  if (A.empty() || panels == 0) return;
  require(panels <= window_most_panels && step <= window_panel_cols<float>, "window_exchange: ", panels, " panels of ",
          step, " columns, more than ", window_most_panels, " of ", window_panel_cols<float>);
  require(A.rows <= (panels - 1) * step + window_rows, "window_exchange: A has ", A.rows, " rows, more than ",
          (panels - 1) * step + window_rows);
  DeviceScope scope(q.device());
  if constexpr (std::is_same_v<S, std::int32_t>)
    launch<std::int32_t>(source, panels, step, {A.data, A.rows, A.cols, A.ld}, q);
  else
    launch(source, panels, step, block_of(A), q);
  q.launched("window_exchange");
}

#define INSTANTIATE(S) \
  template void window_exchange<S>(const std::int32_t*, std::int64_t, std::int64_t, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
INSTANTIATE(std::int32_t)
#undef INSTANTIATE

}  // namespace devobj::cuda
