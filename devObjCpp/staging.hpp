// Copies between pinned host buffers and the queue's memory that run beside the caller: the links of the hybrid
// factorizations between the CPU's panel and the GPU's update.
#pragma once

#include <cstring>

#include "devobj/matrix.hpp"
#include "kernels/device.hpp"
#include "kernels/kernels.hpp"
#include "queue_impl.hpp"

namespace devobj {

/// dst = the rows x cols array at `pinned` with leading dimension ldp. Does not wait.
template <class T> void send(const T* pinned, std::int64_t ldp, View<T> dst, Queue& q) {
  if (dst.empty()) return;
  if constexpr (cuda_built)
    if (q.on_cuda())
      return cuda::copy_2d(dst.data, dst.ld * sizeof(T), pinned, ldp * sizeof(T), dst.rows * sizeof(T), dst.cols,
                           q.stream());
  q.submit("send", [=] {
    for (std::int64_t j = 0; j < dst.cols; ++j)
      std::memcpy(static_cast<void*>(dst.data + j * dst.ld), pinned + j * ldp, dst.rows * sizeof(T));
  });
}

/// The rows x cols array at `pinned` = src. Does not wait.
template <class T> void receive(View<T> src, T* pinned, std::int64_t ldp, Queue& q) {
  if (src.empty()) return;
  if constexpr (cuda_built)
    if (q.on_cuda())
      return cuda::copy_2d(pinned, ldp * sizeof(T), src.data, src.ld * sizeof(T), src.rows * sizeof(T), src.cols,
                           q.stream());
  q.submit("receive", [=] {
    for (std::int64_t j = 0; j < src.cols; ++j)
      std::memcpy(static_cast<void*>(pinned + j * ldp), src.data + j * src.ld, src.rows * sizeof(T));
  });
}

/// Waits for the queue at the end of the scope, also when an exception leaves it, so that no copy outlives its buffer. An error
/// of the queue's work stays for who waits for it.
class WaitAtEnd {
 public:
  explicit WaitAtEnd(Queue& q) : q_(q) {}
  ~WaitAtEnd() {
    if (HostWorker* worker = q_.impl()->worker.get()) {
      worker->wait();
      return;
    }
    try {
      q_.wait();
    } catch (...) {  // CUDA's errors are met again at the next wait
    }
  }
  WaitAtEnd(const WaitAtEnd&) = delete;
  WaitAtEnd& operator=(const WaitAtEnd&) = delete;

 private:
  Queue& q_;
};

}  // namespace devobj
