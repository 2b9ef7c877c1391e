#include <cub/device/device_scan.cuh>

#include "kernels.hpp"
#include "kernels/cuda/cluster.cuh"

namespace devobj::test {
namespace {

__global__ void add_one_kernel(double* x, int n) {
  if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n) x[i] += 1;
}

__global__ void stay_kernel(Places avoided, long long ns) {
  const int here = cuda::multiprocessor();
  for (const int place : avoided.number)
    if (place == here) return;
  const std::uint64_t start = cuda::nanoseconds();
  while (static_cast<long long>(cuda::nanoseconds() - start) < ns) {
  }
}

__global__ void locate_kernel(std::int32_t* place) {
  const int here = cuda::multiprocessor();
  if (threadIdx.x == 0) place[blockIdx.x] = here;
}

}  // namespace

void add_one(double* x, int n, cudaStream_t stream) {
  constexpr int threads = 32;
  add_one_kernel<<<(n + threads - 1) / threads, threads, 0, stream>>>(x, n);
}

cudaError_t allow_shared_memory(int bytes) {
  const cudaError_t status = cudaFuncSetAttribute(stay_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  return cudaFuncSetAttribute(locate_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

void stay(int blocks, int bytes, const Places& avoided, long long ns, cudaStream_t stream) {
  stay_kernel<<<blocks, 32, bytes, stream>>>(avoided, ns);
}

void locate(int blocks, int bytes, std::int32_t* place, cudaStream_t stream) {
  locate_kernel<<<blocks, 32, bytes, stream>>>(place);
}

cudaError_t inclusive_sum(void* memory, std::size_t& bytes, const std::int32_t* x, std::int32_t* y, std::int64_t n,
                          cudaStream_t stream) {
  return cub::DeviceScan::InclusiveSum(memory, bytes, x, y, n, stream);
}

}  // namespace devobj::test
