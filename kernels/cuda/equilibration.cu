// equilibration: the sizes and sums of a matrix's rows, and the sizes of its columns after scaling the rows.
#include "devobj/matrix.hpp"
#include "kernels/butterfly.hpp"
#include "kernels/cuda/grid.cuh"
#include "kernels/modulus.hpp"
#include "kernels/randomized.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / warp_size;
constexpr std::int64_t least_width = 64, most_parts = 64;  // a row's parts: columns, and how many
constexpr int beside = 4;                     // columns of a block, so that a row's power of two is made once for them

// rows[i] = max |A(i, j)|, parts(i, p) = the sum of |A(i, j)| of part p: `width` columns. A thread has a row, blockIdx.y is the part.
// Numbers that are not negative are ordered as their bits are.
template <class E>
__global__ void __launch_bounds__(threads)
    row_sizes_kernel(Block<E> A, std::int64_t width, double* rows, double* parts) {
  const std::int64_t i = blockIdx.x * std::int64_t(threads) + threadIdx.x;
  if (i >= A.rows) return;
  const std::int64_t begin = blockIdx.y * width, end = min(A.cols, begin + width);
  double largest = 0, sum = 0;
#pragma unroll 8
  for (std::int64_t j = begin; j < end; ++j) {
    const E a = A(i, j);
    largest = fmax(largest, magnitude(a));
    sum += modulus(a);
  }
  atomicMax(reinterpret_cast<unsigned long long*>(rows + i),
            static_cast<unsigned long long>(__double_as_longlong(largest)));
  parts[i + blockIdx.y * A.rows] = sum;
}

// sums[i] = that of row i's parts.
__global__ void __launch_bounds__(threads)
    row_sums_kernel(const double* parts, int count, std::int64_t rows, double* sums) {
  const std::int64_t i = blockIdx.x * std::int64_t(threads) + threadIdx.x;
  if (i >= rows) return;
  double sum = 0;
#pragma unroll 8
  for (int p = 0; p < count; ++p) sum += parts[i + p * rows];
  sums[i] = sum;
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
void equilibration(View<T> A, double* rows, double* columns, double* sums, Queue& q) {
  if (A.empty()) return;
  DeviceScope scope(q.device());
  fill_bytes(rows, 0, static_cast<std::size_t>(A.rows) * sizeof(double), q.stream());
  const std::int64_t width = std::max(least_width, ceil_div(A.cols, most_parts)), parts = ceil_div(A.cols, width);
  Storage of_parts(checked_bytes(A.rows, parts, sizeof(double)), q);
  auto* const part_sums = static_cast<double*>(of_parts.data());
  const auto row_blocks = static_cast<unsigned>(ceil_div(A.rows, threads));
  row_sizes_kernel<<<dim3(row_blocks, static_cast<unsigned>(parts)), threads, 0, stream_of(q)>>>(block_of(A), width,
                                                                                                 rows, part_sums);
  q.launched("equilibration");
  row_sums_kernel<<<row_blocks, threads, 0, stream_of(q)>>>(part_sums, static_cast<int>(parts), A.rows, sums);
  q.launched("equilibration");
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(ceil_div(A.cols, beside), 65535));
  column_sizes_kernel<<<blocks, threads, 0, stream_of(q)>>>(block_of(A), rows, columns);
  q.launched("equilibration");
}

#define INSTANTIATE(T) template void equilibration<T>(View<T>, double*, double*, double*, Queue&);
DEVOBJ_FOR_EACH_DOUBLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
