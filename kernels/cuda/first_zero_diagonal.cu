// The first i, from 1, with A(i, i) == 0, or 0: the info of a factorization.
#include "devobj/matrix.hpp"
#include "kernels/cuda/grid.cuh"
#include "kernels/kernels.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 1024;
constexpr std::int32_t none = INT32_MAX;

__device__ std::int32_t warp_min(std::int32_t x) {
  return __reduce_min_sync(0xffffffffu, x);
}

// One block; its threads share out the diagonal.
template <class E>
__global__ void __launch_bounds__(threads) first_zero_diagonal_kernel(Block<E> A, std::int32_t* info) {
  __shared__ std::int32_t first_of_warp[threads / warp_size];
  std::int32_t first = none;
#pragma unroll 8
  for (std::int64_t i = threadIdx.x; i < min(A.rows, A.cols); i += threads)
    if (is_zero(A(i, i))) first = min(first, static_cast<std::int32_t>(i + 1));
  first = warp_min(first);
  if (threadIdx.x % warp_size == 0) first_of_warp[threadIdx.x / warp_size] = first;
  __syncthreads();
  if (threadIdx.x < warp_size) {
    first = warp_min(first_of_warp[threadIdx.x]);
    if (threadIdx.x == 0) *info = first == none ? 0 : first;
  }
}

}  // namespace

template <class T>
std::int64_t first_zero_diagonal(View<T> A, Queue& q) {
  if (A.empty()) return 0;
  DeviceScope scope(q.device());
  const View<std::int32_t> info(static_cast<std::int32_t*>(q.scratch(sizeof(std::int32_t))), 1, 1);
  first_zero_diagonal_kernel<<<1, threads, 0, stream_of(q)>>>(block_of(A), info.data);
  q.launched("first_zero_diagonal");
  std::int32_t result = 0;
  to_host<std::int32_t>(info, {&result, 1, 1, 1}, q);
  return result;
}

#define INSTANTIATE(T) template std::int64_t first_zero_diagonal(View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
