// A = factor A + shift on every element: one formula, a kernel for the GPU, a loop for the host.
// nvcc compiles both; a C++ compiler (where there is no CUDA toolkit) the loop alone.
#include <cstdint>

#ifdef __CUDACC__
#include <cuda_runtime.h>
#define EXAMPLE_BOTH __host__ __device__
#else
#define EXAMPLE_BOTH
#endif

namespace {

EXAMPLE_BOTH inline float example_element(float x, float factor, float shift) { return factor * x + shift; }

#ifdef __CUDACC__
constexpr int threads = 256;
constexpr std::int64_t most_blocks_y = 65535;

/// Threads run along the rows, blocks in x over the rows, in y over the columns.
__global__ void example_kernel(float* A, std::int64_t rows, std::int64_t cols, std::int64_t ld, float factor,
                               float shift) {
  const std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x;
  if (i >= rows) return;
  for (std::int64_t j = blockIdx.y; j < cols; j += gridDim.y)
    A[i + j * ld] = example_element(A[i + j * ld], factor, shift);
}
#endif

}  // namespace

/// Starts the kernel on `stream`; does not wait. Returns null, or what went wrong.
extern "C" const char* example_on_gpu(float* A, std::int64_t rows, std::int64_t cols, std::int64_t ld, float factor,
                                      float shift, void* stream) {
#ifdef __CUDACC__
  int device_before = 0;
  cudaPointerAttributes where{};
  cudaError_t status = cudaGetDevice(&device_before);
  if (status == cudaSuccess) status = cudaPointerGetAttributes(&where, A);
  if (status == cudaSuccess) status = cudaSetDevice(where.device);
  if (status != cudaSuccess) return cudaGetErrorString(status);

  const dim3 grid(static_cast<unsigned>((rows + threads - 1) / threads),
                  static_cast<unsigned>(cols < most_blocks_y ? cols : most_blocks_y));
  example_kernel<<<grid, threads, 0, static_cast<cudaStream_t>(stream)>>>(A, rows, cols, ld, factor, shift);
  status = cudaGetLastError();
  cudaSetDevice(device_before);
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
#else
  (void)A, (void)rows, (void)cols, (void)ld, (void)factor, (void)shift, (void)stream;
  return "example.cu was compiled without CUDA, but the object is on a GPU";
#endif
}

extern "C" void example_on_host(float* A, std::int64_t rows, std::int64_t cols, std::int64_t ld, float factor,
                                float shift) {
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < rows; ++i) A[i + j * ld] = example_element(A[i + j * ld], factor, shift);
}
