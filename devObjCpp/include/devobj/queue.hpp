// Queue: work in order, asynchronous to the caller, with the same meaning on the GPU and on the host.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "devobj/types.hpp"

namespace devobj {

/// How a host queue runs its work: at once in the caller's thread, or in order on a worker thread of its own.
/// `from_environment` is DEVOBJ_HOST_QUEUE (synchronous or worker), synchronous without it.
enum class HostMode : int { from_environment, synchronous, worker };

struct QueueOptions {
  HostMode host_mode = HostMode::from_environment;
  bool high_priority = false;  ///< CUDA: a stream whose blocks are scheduled before those of ordinary queues
  int device = -1;             ///< CUDA: the device's number; -1 is the one in use (DEVOBJ_DEVICE or 0)
};

/// A moment in a queue's work.
class Event {
 public:
  Event() = default;
  void wait() const;          ///< Waits in the calling thread until the moment has come.
  bool ready() const;         ///< True if it has come; does not wait.
  /// Time between two timed events of CUDA queues. Waits. Error: not_supported for other events.
  double milliseconds_since(const Event& earlier) const;

  struct Impl;

 private:
  friend class Queue;
  std::shared_ptr<Impl> impl_;
};

/// A queue owns a stream and a cuBLAS handle (CUDA) or a worker thread (host, if asked for). It is the last argument
/// of every operation. Operations of one queue run in order; those of two queues in any order, unless an Event or a
/// SideQueue says otherwise. Not copyable. One thread at a time may use a queue.
class Queue {
 public:
  /// Errors: no_device if `cuda` is asked for and cannot be had, with the reason; invalid_argument for a bad
  /// DEVOBJ_ environment variable.
  explicit Queue(Backend backend = Backend::automatic, QueueOptions options = {});
  ~Queue();  ///< Waits for the queue's work.
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Backend backend() const noexcept;
  bool on_cuda() const noexcept { return on_cuda_; }
  int device() const noexcept;

  /// Waits until all work is done. Throws the first error that occurred in it, with the routine it came from.
  void wait();
  /// Marks this moment. An event that is not `timed` has no milliseconds_since; a CUDA queue that waits for it goes on sooner.
  Event record(bool timed = true);
  /// Later work of this queue starts after `event`; if the work before the event failed, it is left out, and the error is
  /// this queue's too. Does not wait.
  void wait_for(const Event& event);

  void* stream() const noexcept;  ///< the cudaStream_t; null on the host
  void* blas() const;             ///< the cublasHandle_t, set to this stream; null on the host. Created at the first call.
  void* sparse() const;           ///< the cusparseHandle_t, likewise

  /// CUDA: at least `bytes` of device memory of the queue's own, for a result on its way to the host; it stays allocated as
  /// long as the queue lives. What is in it lasts until the next call. Up to 64 KiB never need more than the first call's
  /// allocation. Error: out_of_memory.
  void* scratch(std::size_t bytes);
  /// CUDA: at least `bytes` of device memory for what an algorithm keeps from its first step to its last. It stays
  /// allocated as long as the queue lives, also when a larger one is taken later, so that a captured graph remains valid.
  /// What is in it lasts until the next call. Error: out_of_memory.
  void* workspace(std::size_t bytes);

  /// Host: runs `work` in order with the queue's other work. `name` is what an error is reported as.
  template <class Work> void submit(const char* name, Work&& work) {
    if (synchronous_) {
      starts(name);
      work();
      return;
    }
    enqueue(name, std::function<void()>(std::forward<Work>(work)));
  }
  /// CUDA: checks the launch of `name`; under DEVOBJ_CHECK=1 waits for it too.
  void launched(const char* name);

  struct Impl;
  const std::shared_ptr<Impl>& impl() const noexcept { return impl_; }

 private:
  friend class SideQueue;
  static void starts(const char* name);  // where tests let work fail
  void enqueue(const char* name, std::function<void()> work);
  std::shared_ptr<Impl> impl_;
  bool on_cuda_ = false;
  bool synchronous_ = true;
};

/// A second queue for one scope: it starts after the work that `parent` has now, and its destructor makes the
/// parent's later work wait for it, also when an exception leaves the scope. The queue itself is cached in the parent.
class SideQueue {
 public:
  explicit SideQueue(Queue& parent, bool high_priority = false);
  ~SideQueue();
  SideQueue(const SideQueue&) = delete;
  SideQueue& operator=(const SideQueue&) = delete;
  Queue& queue() noexcept { return *side_; }
  operator Queue&() noexcept { return *side_; }

 private:
  Queue& parent_;
  std::unique_ptr<Queue> side_;
  bool high_priority_;
};

/// What `automatic` stands for here and now, and why in words ("no CUDA driver on this machine", ...).
struct BackendChoice {
  Backend backend;
  std::string reason;
};
/// Errors: no_device and invalid_argument as for Queue.
BackendChoice choose_backend(Backend wanted);

}  // namespace devobj
