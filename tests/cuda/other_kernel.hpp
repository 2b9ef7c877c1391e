// A kernel beside those under test, which has all multiprocessors but some for a while.
#pragma once

#include <cuda_runtime.h>

#include "assert_cuda.hpp"
#include "devobj/queue.hpp"
#include "kernels.hpp"

namespace devobj::test {

class OtherKernel {
 public:
  /// To be called first; its stream is there then.
  void prepare(const Queue& q) {
    ASSERT_CUDA(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, q.device()));
    ASSERT_CUDA(cudaDeviceGetAttribute(&bytes_, cudaDevAttrMaxSharedMemoryPerBlockOptin, q.device()));
    ASSERT_CUDA(allow_shared_memory(bytes_));
    ASSERT_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~OtherKernel() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  OtherKernel() = default;
  OtherKernel(const OtherKernel&) = delete;
  OtherKernel& operator=(const OtherKernel&) = delete;

  /// Stays so many nanoseconds on all multiprocessors that are none of `avoided`.
  void stays(const Places& avoided, long long ns) {
    stay(processors_, bytes_, avoided, ns, stream_);
    ASSERT_CUDA(cudaGetLastError());
  }
  bool is_there() const { return cudaStreamQuery(stream_) == cudaErrorNotReady; }
  /// places[i] = where block i of such blocks is. Waits.
  void finds(int blocks, std::int32_t* places) {
    locate(blocks, bytes_, places, stream_);
    ends();
  }
  void ends() { ASSERT_CUDA(cudaStreamSynchronize(stream_)); }

 private:
  int processors_ = 0, bytes_ = 0;
  cudaStream_t stream_ = nullptr;
};

}  // namespace devobj::test
