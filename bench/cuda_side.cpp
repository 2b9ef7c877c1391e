#include "cuda_side.hpp"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

namespace bench::cuda {

using devobj::fail;
using devobj::Status;

void check_runtime(int status, const char* call) {
  const auto error = static_cast<cudaError_t>(status);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    fail(Status::out_of_memory, call, ": out of device memory");
  }
  if (error != cudaSuccess) fail(Status::device_error, call, ": ", cudaGetErrorString(error));
}

void check_blas(int status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail(Status::device_error, call, ": ", cublasGetStatusString(static_cast<cublasStatus_t>(status)));
}

void check_solver(int status, const char* call) {
  if (status != CUSOLVER_STATUS_SUCCESS) fail(Status::device_error, call, ": cusolverStatus_t ", status);
}

std::string device_name(int device) {
  cudaDeviceProp properties{};
  check_runtime(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return properties.name;
}

void set_device(int device) {
  check_runtime(cudaSetDevice(device), "cudaSetDevice");
}

std::shared_ptr<void> pinned(std::size_t bytes) {
  void* memory = nullptr;
  check_runtime(cudaMallocHost(&memory, bytes), "cudaMallocHost");
  return {memory, [](void* p) { cudaFreeHost(p); }};
}

void memcpy_async(void* to, const void* from, std::size_t bytes, void* stream) {
  check_runtime(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(stream)),
                "cudaMemcpyAsync");
}

void stream_wait(void* stream) {
  check_runtime(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "cudaStreamSynchronize");
}

std::shared_ptr<void> blas_handle(void* stream) {
  cublasHandle_t handle = nullptr;
  check_blas(cublasCreate(&handle), "cublasCreate");
  std::shared_ptr<void> owner(handle, [](void* h) { cublasDestroy(static_cast<cublasHandle_t>(h)); });
  check_blas(cublasSetStream(handle, static_cast<cudaStream_t>(stream)), "cublasSetStream");
  return owner;
}

}  // namespace bench::cuda
