#include "runtime.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <sstream>
#include <vector>

#include "devobj/devobj.h"
#include "devobj/error.hpp"
#include "environment.hpp"
#include "host_blas_info.hpp"
#include "kernels/device.hpp"
#include "kernels/kernels.hpp"
#include "memory.hpp"
#include "queue_impl.hpp"
#include "registry.hpp"

namespace devobj::runtime {
namespace {

struct State {
  std::mutex mutex;
  int opened = 0;
  Backend backend = Backend::automatic;
  int device = 0;
  std::string reason;
  pid_t pid = 0;
  std::vector<std::weak_ptr<Queue::Impl>> queues;  // of all threads, for close
};
State& state() {
  static auto* s = new State;  // lives until the end: threads may end after main
  return *s;
}

// Counts openings, so that a thread sees that its queue belongs to an earlier one. 0: not open.
std::atomic<std::uint64_t> epoch{0};
std::uint64_t last_epoch = 0;

struct ThreadQueue {
  std::uint64_t epoch = 0;
  std::unique_ptr<Queue> queue;
  // A thread that ends after the process has begun to leave the CUDA driver leaves its queue to the system.
};
thread_local ThreadQueue thread_queue;

void wait_for_all_queues(State& s) noexcept {
  for (auto& weak : s.queues)
    if (auto impl = weak.lock()) {
      if (impl->worker) impl->worker->wait();
      if constexpr (cuda_built)
        if (impl->stream != nullptr) {
          try {
            cuda::stream_wait(impl->stream, "close");
          } catch (...) {  // objects are freed all the same
          }
        }
    }
  s.queues.clear();
}

const char* name_of(Backend b) { return b == Backend::cuda ? "cuda" : "host"; }

}  // namespace

void open(Backend backend, int device) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  require(device >= -1, "open: device is ", device, ", must be -1 (default) or a device's number");
  if (s.opened > 0) {
    require(backend == Backend::automatic || backend == s.backend, "open: backend is ", name_of(backend),
            ", but the library is open with ", name_of(s.backend));
    require(device < 0 || s.backend == Backend::host || device == s.device, "open: device is ", device,
            ", but the library is open with device ", s.device);
    ++s.opened;
    return;
  }
  BackendChoice choice = choose_backend(backend);
  int number = device < 0 ? environment().device : device;
  if constexpr (cuda_built)
    if (choice.backend == Backend::cuda && number != environment().device) {
      cuda::Probe found = cuda::probe(number);
      if (!found.usable) fail(Status::no_device, "open: ", found.text);
    }
  s.backend = choice.backend;
  s.reason = choice.reason;
  s.device = number;
  s.pid = getpid();
  s.opened = 1;
  epoch = ++last_epoch;
}

void ensure_open() {
  if (epoch == 0) open(Backend::automatic, -1);
}

void close() {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (s.opened == 0) fail(Status::not_open, "close: the library is not open");
  if (--s.opened > 0) return;
  epoch = 0;
  s.backend = Backend::automatic;
  wait_for_all_queues(s);
  std::vector<Object> left = Registry::instance().clear();
  std::ostringstream names;
  for (std::size_t i = 0; i < std::min<std::size_t>(left.size(), 8); ++i)
    names << (i ? ", " : "") << left[i].rows << " x " << left[i].cols;
  const std::size_t count = left.size();
  left.clear();
  thread_queue.queue.reset();
  PinnedBuffer::release_cache();
  if (environment().check && count > 0)
    fail(Status::invalid_argument, "close: ", count, " objects were not freed before (DEVOBJ_CHECK=1): ", names.str(),
         count > 8 ? ", ..." : "");
}

Backend backend_in_use() noexcept { return epoch == 0 ? Backend::automatic : state().backend; }
int device_in_use() noexcept { return state().device; }

std::string info() {
  std::ostringstream text;
  text << "devObject " << DEVOBJ_VERSION_MAJOR << "." << DEVOBJ_VERSION_MINOR << "." << DEVOBJ_VERSION_PATCH;
  if (epoch == 0) {
    text << ", not open\n";
  } else {
    std::string reason;
    {
      std::lock_guard lock(state().mutex);
      reason = state().reason;
    }
    text << "\nbackend: " << name_of(state().backend) << " (" << reason << ")\n";
    if constexpr (cuda_built)
      if (state().backend == Backend::cuda) text << "device: " << cuda::describe(state().device) << "\n";
  }
  text << host_blas_info();
  return text.str();
}

Queue& queue() {
  const std::uint64_t now = epoch.load(std::memory_order_acquire);
  ThreadQueue& mine = thread_queue;
  if (now != 0 && mine.epoch == now && mine.queue) [[likely]]
    return *mine.queue;
  if (now == 0) fail(Status::not_open, "the library is not open: call open_devObjects (Fortran) or devobj_open (C) first");
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (s.pid != getpid() && s.backend == Backend::cuda)
    fail(Status::device_error, "CUDA cannot be used in a child process after fork; open the library in the child only");
  mine.queue.reset();
  mine.queue = std::make_unique<Queue>(s.backend, QueueOptions{HostMode::from_environment, false, s.device});
  mine.epoch = now;
  s.queues.erase(std::remove_if(s.queues.begin(), s.queues.end(), [](auto& w) { return w.expired(); }), s.queues.end());
  s.queues.push_back(mine.queue->impl());
  return *mine.queue;
}

}  // namespace devobj::runtime
