// window_exchange: rows exchanged within a window.
#include "kernels/cuda/grid.cuh"
#include "kernels/randomized.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = static_cast<int>(window_rows), columns_at_once = 8;

// A thread has a row, a block columns_at_once columns.
template <class E>
__global__ void __launch_bounds__(threads) window_exchange_kernel(const std::int32_t* source, Block<E> A) {
  __shared__ alignas(16) unsigned char raw_memory[sizeof(E) * columns_at_once * threads];
  const auto old = reinterpret_cast<E(*)[threads]>(raw_memory);
  const int i = threadIdx.x;
  const bool here = i < A.rows;
  const std::int64_t first = blockIdx.x * std::int64_t(columns_at_once);
  const int from = here ? source[i] : 0;
#pragma unroll
  for (int c = 0; c < columns_at_once; ++c)
    if (here && first + c < A.cols) old[c][i] = A(i, first + c);
  __syncthreads();
#pragma unroll
  for (int c = 0; c < columns_at_once; ++c)
    if (here && first + c < A.cols) A(i, first + c) = old[c][from];
}

}  // namespace

template <class S>
void window_exchange(const std::int32_t* source, View<S> A, Queue& q) {
  if (A.empty()) return;
  require(A.rows <= window_rows, "window_exchange: A has ", A.rows, " rows, more than ", window_rows);
  DeviceScope scope(q.device());
  const auto blocks = static_cast<unsigned>(ceil_div(A.cols, columns_at_once));
  if constexpr (std::is_same_v<S, std::int32_t>)
    window_exchange_kernel<std::int32_t><<<blocks, threads, 0, stream_of(q)>>>(source, {A.data, A.rows, A.cols, A.ld});
  else
    window_exchange_kernel<<<blocks, threads, 0, stream_of(q)>>>(source, block_of(A));
  q.launched("window_exchange");
}

#define INSTANTIATE(S) template void window_exchange<S>(const std::int32_t*, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
INSTANTIATE(std::int32_t)
#undef INSTANTIATE

}  // namespace devobj::cuda
