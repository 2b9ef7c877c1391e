// What the kernels on batches share: a batch in device code, shared memory, the launch.
#pragma once

#include "kernels/batched.hpp"
#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/shared_memory.hpp"

namespace devobj::cuda {

template <class T>
Batch<device_t<T>> batch_of(Batch<T> A) {
  Batch<device_t<T>> B;
  B.data = raw(A.data);
  B.rows = A.rows;
  B.cols = A.cols;
  B.ld = A.ld;
  B.stride = A.stride;
  B.count = A.count;
  return B;
}
inline Strided<std::int32_t> strided(Vector<std::int32_t> x) {
  return {x.data, x.n, x.inc};
}
/// Matrix k.
template <class E>
__device__ Block<E> matrix_of(const Batch<E>& A, std::int64_t k) {
  return {A.data + k * A.stride, A.rows, A.cols, A.ld};
}

/// Places parts of the dynamic shared memory one behind the other, each at 16 bytes.
class SharedLayout {
 public:
  __host__ __device__ explicit SharedLayout(unsigned char* start = nullptr) : start_(start) {}
  template <class Part>
  __host__ __device__ Part* take(std::size_t count) {
    Part* part = reinterpret_cast<Part*>(start_ + bytes_);
    bytes_ += (count * sizeof(Part) + 15) / 16 * 16;
    return part;
  }
  __host__ __device__ std::size_t bytes() const { return bytes_; }

 private:
  unsigned char* start_;
  std::size_t bytes_ = 0;
};

/// kernel<<<grid, threads, bytes>>>(arguments...) on the queue.
template <class... Parameters, class... Arguments>
void launch_batched(const char* name, void (*kernel)(Parameters...), dim3 grid, int threads, std::size_t bytes,
                    Queue& q, Arguments... arguments) {
  if (bytes > shared_memory_unasked) allow_shared_memory(kernel, q.device(), name);
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = bytes;
  config.stream = stream_of(q);
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), name);
  q.launched(name);
}

inline int round_to_warps(std::int64_t threads) {
  return static_cast<int>(ceil_div(threads, warp_size) * warp_size);
}

}  // namespace devobj::cuda
