// equilibration: the sizes of a matrix's rows, and of its columns after scaling the rows.
#include "kernels/butterfly.hpp"
#include "kernels/cuda/grid.cuh"
#include "kernels/randomized.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / warp_size;
constexpr std::int64_t columns_at_once = 64;  // of a thread that looks at a row
constexpr int beside = 4;                     // columns of a block, so that a row's power of two is made once for them

// rows[i] = max |A(i, j)|. A thread has a row, blockIdx.y takes columns_at_once columns at a time. Numbers that are not
// negative are ordered as their bits are.
template <class E>
__global__ void __launch_bounds__(threads) row_sizes_kernel(Block<E> A, double* rows) {
  const std::int64_t i = blockIdx.x * std::int64_t(threads) + threadIdx.x;
  if (i >= A.rows) return;
  for (std::int64_t first = blockIdx.y * columns_at_once; first < A.cols; first += gridDim.y * columns_at_once) {
    const std::int64_t end = min(A.cols, first + columns_at_once);
    double largest = 0;
#pragma unroll 8
    for (std::int64_t j = first; j < end; ++j) largest = fmax(largest, magnitude(A(i, j)));
    atomicMax(reinterpret_cast<unsigned long long*>(rows + i),
              static_cast<unsigned long long>(__double_as_longlong(largest)));
  }
}

// columns[j] = max power_to_one(rows[i]) |A(i, j)|, a block to `beside` columns.
template <class E>
__global__ void __launch_bounds__(threads) column_sizes_kernel(Block<E> A, const double* rows, double* columns) {
  __shared__ double shared[warps][beside];
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  for (std::int64_t first = blockIdx.x * std::int64_t(beside); first < A.cols;
       first += gridDim.x * std::int64_t(beside)) {
    double largest[beside] = {};
#pragma unroll 2
    for (std::int64_t i = threadIdx.x; i < A.rows; i += threads) {
      const double power = power_to_one(rows[i]);
#pragma unroll
      for (int c = 0; c < beside; ++c)
        if (first + c < A.cols) largest[c] = fmax(largest[c], power * magnitude(A(i, first + c)));
    }
#pragma unroll
    for (int c = 0; c < beside; ++c) {
      for (int distance = warp_size / 2; distance > 0; distance /= 2)
        largest[c] = fmax(largest[c], __shfl_xor_sync(~0u, largest[c], distance));
      if (lane == 0) shared[warp][c] = largest[c];
    }
    __syncthreads();
    if (threadIdx.x < beside && first + threadIdx.x < A.cols) {
      double of_all = shared[0][threadIdx.x];
      for (int w = 1; w < warps; ++w) of_all = fmax(of_all, shared[w][threadIdx.x]);
      columns[first + threadIdx.x] = of_all;
    }
    __syncthreads();
  }
}

}  // namespace

template <class T>
void equilibration(View<T> A, double* rows, double* columns, Queue& q) {
  if (A.empty()) return;
  DeviceScope scope(q.device());
  fill_bytes(rows, 0, static_cast<std::size_t>(A.rows) * sizeof(double), q.stream());
  const dim3 grid(static_cast<unsigned>(ceil_div(A.rows, threads)),
                  static_cast<unsigned>(std::min(ceil_div(A.cols, columns_at_once), max_grid_y)));
  row_sizes_kernel<<<grid, threads, 0, stream_of(q)>>>(block_of(A), rows);
  q.launched("equilibration");
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(ceil_div(A.cols, beside), 65535));
  column_sizes_kernel<<<blocks, threads, 0, stream_of(q)>>>(block_of(A), rows, columns);
  q.launched("equilibration");
}

#define INSTANTIATE(T) template void equilibration<T>(View<T>, double*, double*, Queue&);
DEVOBJ_FOR_EACH_DOUBLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
