// Bands: their widths, and the ways between full matrices and band storage.
#include "devobj/matrix.hpp"
#include "kernels/cuda/generate.cuh"
#include "kernels/givens.hpp"

namespace devobj::cuda {
namespace {

// The grid's threads go down the columns; widths[0] gets max(i - j), widths[1] max(j - i) over the nonzeros.
template <class E>
__global__ void __launch_bounds__(threads_per_block) bandwidths_kernel(Block<E> A, std::int32_t* widths) {
  std::int32_t lower = 0, upper = 0;
  for (std::int64_t j = blockIdx.y; j < A.cols; j += gridDim.y)
    for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < A.rows;
         i += std::int64_t(gridDim.x) * blockDim.x)
      if (!is_zero(A(i, j))) {
        const auto distance = static_cast<std::int32_t>(i - j);
        lower = max(lower, distance);
        upper = max(upper, -distance);
      }
  lower = __reduce_max_sync(0xffffffffu, lower);
  upper = __reduce_max_sync(0xffffffffu, upper);
  if (threadIdx.x % warp_size == 0) {
    if (lower > widths[0]) atomicMax(widths, lower);
    if (upper > widths[1]) atomicMax(widths + 1, upper);
  }
}

template <class E>
struct Packed {
  Block<E> A;
  std::int64_t upper;
  E zero;
  __device__ E operator()(std::int64_t r, std::int64_t j) const {
    const std::int64_t i = j + r - upper;
    return 0 <= i && i < A.rows ? A(i, j) : zero;
  }
};

template <class E>
struct Unpacked {
  Block<E> RB;
  E zero;
  __device__ E operator()(std::int64_t i, std::int64_t j) const {
    return i <= j && j - i < RB.rows ? RB(j - i, i) : zero;
  }
};

}  // namespace

template <class T>
Bandwidths bandwidths(View<T> A, Queue& q) {
  if (A.empty()) return {};
  DeviceScope scope(q.device());
  const View<std::int32_t> widths(static_cast<std::int32_t*>(q.scratch(2 * sizeof(std::int32_t))), 2, 1);
  fill_bytes(widths.data, 0, 2 * sizeof(std::int32_t), q.stream());
  const dim3 grid(static_cast<unsigned>(std::min<std::int64_t>(4, ceil_div(A.rows, threads_per_block))),
                  static_cast<unsigned>(std::min<std::int64_t>(A.cols, 2048)));
  bandwidths_kernel<<<grid, threads_per_block, 0, stream_of(q)>>>(block_of(A), widths.data);
  q.launched("bandwidths");
  std::int32_t found[2];
  to_host<std::int32_t>(widths, {found, 2, 1, 2}, q);
  return {found[0], found[1]};
}

template <class T>
void band_pack(View<T> A, Bandwidths band, View<T> AB, Queue& q) {
  using E = device_t<T>;
  generate<E>("band_pack", Uplo::General, block_of(AB), Packed<E>{block_of(A), band.upper, raw_value(T(0))}, q);
}

template <class T>
void band_unpack(View<T> RB, View<T> R, Queue& q) {
  using E = device_t<T>;
  generate<E>("band_unpack", Uplo::General, block_of(R), Unpacked<E>{block_of(RB), raw_value(T(0))}, q);
}

#define INSTANTIATE(T)                                           \
  template Bandwidths bandwidths(View<T>, Queue&);               \
  template void band_pack(View<T>, Bandwidths, View<T>, Queue&); \
  template void band_unpack(View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
