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
  void mark();
  void wait();
  bool ready();

  void* cuda_event = nullptr;
  std::mutex mutex;
  std::condition_variable reached;
  bool done = false;
};

/// Work in order on one thread. After an error the rest is left out until the error has been taken.
class HostWorker {
 public:
  HostWorker();
  ~HostWorker();  ///< Finishes the work.
  /// `always`: runs also after an error (events, releases of memory).
  void enqueue(const char* name, std::function<void()> work, bool always);
  void wait();
  /// The first error since the last call, or null.
  std::exception_ptr take_error();

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
  std::exception_ptr error_;
  std::thread thread_;
};

struct Queue::Impl {
  Backend backend = Backend::host;
  int device = 0;
  void* stream = nullptr;
  void* blas = nullptr;
  void* sparse = nullptr;
  cuda::Context context;  ///< that stream, blas and memory belong to
  void* scratch = nullptr;
  std::size_t scratch_bytes = 0;
  std::vector<void*> workspaces;  ///< the last one is the largest
  std::size_t workspace_bytes = 0;
  const char* last_launch = "queue";
  std::unique_ptr<HostWorker> worker;
  std::vector<std::unique_ptr<Queue>> side_queues[2];  ///< idle ones, by priority
  std::vector<void*> idle_events;                      ///< of SideQueue's fork and join

  ~Impl();
  /// CUDA: false if the caller has reset the device. What belonged to it is gone and must not be touched.
  bool alive() const noexcept;
  /// Host: frees memory when the work before has ended.
  void release_in_order(void* pointer) noexcept;
};

}  // namespace devobj
