// What a Queue owns. Shared with the Storage objects that were allocated on it, so that they outlive it safely.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "devobj/queue.hpp"
#include "kernels/device.hpp"

namespace devobj {

/// A moment of a host queue, or a CUDA event.
struct Event::Impl {
  ~Impl();
  /// Host: the moment has come; `failed` is the error of the work before it, or null.
  void mark(std::exception_ptr failed);
  void wait();
  bool ready();
  /// Host: waits; throws what mark was given.
  void wait_for_success();

  void* cuda_event = nullptr;
  bool timed = true;
  std::mutex mutex;
  std::condition_variable reached;
  bool done = false;
  std::exception_ptr error;
};

/// Work in order on one thread. After an error the rest is left out until the error has been taken. So it is on queues that
/// wait for an event of this one: an event carries the error on.
class HostWorker {
 public:
  HostWorker();
  ~HostWorker();  ///< Finishes the work.
  /// `always`: runs also after an error (events, releases of memory); what it throws is an error of other work.
  void enqueue(const char* name, std::function<void()> work, bool always);
  void wait();
  /// The first error since the last call, or null.
  std::exception_ptr take_error();
  /// The same without taking it.
  std::exception_ptr error();
  /// Throws the error that another queue has left, unless it is the one that was taken here last: an error of several queues
  /// is reported once.
  void throw_error_of(HostWorker& other);

 private:
  struct Task {
    const char* name;
    std::function<void()> work;
    bool always;
  };
  void loop();
  std::mutex mutex_;
  std::condition_variable work_arrived_, work_done_;
  std::deque<Task> tasks_;
  bool busy_ = false, ending_ = false;
  std::exception_ptr error_, taken_;
  std::thread thread_;
};

struct Queue::Impl {
  Backend backend = Backend::host;
  int device = 0;
  void* stream = nullptr;
  void* blas = nullptr;
  void* sparse = nullptr;
  cuda::Context context;  ///< that stream, blas and memory belong to
  /// Memory that grows. What was taken before stays, since a captured graph may use it.
  struct Growing {
    std::vector<void*> blocks;  ///< the last one is the largest
    std::size_t bytes = 0;      ///< that it has
  };
  Growing scratch, workspace;
  const char* last_launch = "queue";
  std::unique_ptr<HostWorker> worker;
  std::vector<std::unique_ptr<Queue>> side_queues[2];  ///< idle ones, by priority

  ~Impl();
  /// CUDA: false if the caller has reset the device. What belonged to it is gone and must not be touched.
  bool alive() const noexcept;
  /// Host: frees memory when the work before has ended.
  void release_in_order(void* pointer) noexcept;
};

}  // namespace devobj
