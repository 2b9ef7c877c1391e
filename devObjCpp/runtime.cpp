#include "runtime.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <sstream>
#include <vector>

#include "devobj/devobj.h"
#include "devobj/error.hpp"
#include "environment.hpp"
#include "host_blas_info.hpp"
#include "kernels/device.hpp"
#include "kernels/host/team.hpp"
#include "kernels/kernels.hpp"
#include "memory.hpp"
#include "queue_impl.hpp"
#include "registry.hpp"
#include "tuning.hpp"

namespace devobj::runtime {
namespace {

struct State {
  std::mutex mutex;
  int opened = 0;
  std::atomic<Backend> backend = Backend::automatic;  // automatic: not open
  std::atomic<int> device = 0;
  std::string reason;
  pid_t pid = 0;
  std::vector<std::weak_ptr<Queue::Impl>> queues;  // of all threads, for close
  // In a forked child: what was the parent's, never destroyed.
  std::vector<std::unique_ptr<HostWorker>> workers_of_parent;
  std::vector<std::unique_ptr<Queue>> queues_of_parent;
};
void follow_forks();
State& state() {
  static State* s = [] {  // lives until the end: threads may end after main
    follow_forks();
    return new State;
  }();
  return *s;
}

// Counts openings, so that a thread sees that its queue belongs to an earlier one. 0: not open.
std::atomic<std::uint64_t> epoch{0};
std::uint64_t last_epoch = 0;

// Destructors of static objects run after those of the main thread's thread_local objects; `ended` has no destructor.
thread_local bool ended = false;
struct ThreadQueue {
  ~ThreadQueue() { ended = true; }
  std::uint64_t epoch = 0;
  std::unique_ptr<Queue> queue;
};
thread_local ThreadQueue thread_queue;

// Holds the state's mutex. `held_here` is for a fork on the way: the CUDA driver starts programs while it is opened.
thread_local bool held_here = false;
class Lock {
 public:
  explicit Lock(State& s) : mutex_(s.mutex) {
    mutex_.lock();
    held_here = true;
  }
  ~Lock() {
    held_here = false;
    mutex_.unlock();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::mutex& mutex_;
};

// A forked child has only the thread that forked. It leaves the parent's queues and their worker threads alone and makes
// queues of its own; work that was pending is not done in the child.
void leave_queues_to_the_parent(State& s) {
  for (auto& weak : s.queues)
    if (auto impl = weak.lock()) s.workers_of_parent.push_back(std::move(impl->worker));
  s.queues.clear();
  if (!ended) s.queues_of_parent.push_back(std::move(thread_queue.queue));
  if (epoch != 0) epoch = ++last_epoch;
}
void follow_forks() {
  pthread_atfork(
      [] {
        if (!held_here) state().mutex.lock();
      },
      [] {
        if (!held_here) state().mutex.unlock();
      },
      [] {
        if (held_here) return;
        leave_queues_to_the_parent(state());
        state().mutex.unlock();
      });
}

// Returns the first error of work that nobody has waited for, or null.
std::exception_ptr wait_for_all_queues(State& s) noexcept {
  std::exception_ptr first;
  for (auto& weak : s.queues)
    if (auto impl = weak.lock()) {
      std::exception_ptr error;
      if (impl->worker) {
        impl->worker->wait();
        error = impl->worker->take_error();
      }
      if constexpr (cuda_built)
        if (impl->stream != nullptr && impl->alive()) {
          try {
            cuda::stream_wait(impl->stream, impl->last_launch);
          } catch (...) {
            error = std::current_exception();
          }
        }
      if (!first) first = error;
    }
  return first;
}

const char* name_of(Backend b) { return b == Backend::cuda ? "cuda" : "host"; }

}  // namespace

namespace {

void open_locked(State& s, Backend backend, int device) {
  require(device >= -1, "open: device is ", device, ", must be -1 (default) or a device's number");
  if (s.opened > 0) {
    require(backend == Backend::automatic || backend == s.backend, "open: backend is ", name_of(backend),
            ", but the library is open with ", name_of(s.backend));
    require(device < 0 || s.backend == Backend::host || device == s.device, "open: device is ", device,
            ", but the library is open with device ", s.device.load());
    ++s.opened;
    return;
  }
  BackendChoice choice = choose_backend(backend);
  const int number = device < 0 ? environment().device : device;
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

}  // namespace

void open(Backend backend, int device) {
  host::Team::shared();  // so that a bad DEVOBJ_NUM_THREADS is found here
  State& s = state();
  Lock lock(s);
  open_locked(s, backend, device);
}

void ensure_open() {
  if (epoch != 0) return;
  host::Team::shared();
  State& s = state();
  Lock lock(s);
  if (s.opened == 0) open_locked(s, Backend::automatic, -1);
}

void close() {
  State& s = state();
  Lock lock(s);
  if (s.opened == 0) fail(Status::not_open, "close: the library is not open");
  if (--s.opened > 0) return;
  epoch = 0;
  [[maybe_unused]] const Backend backend = s.backend.exchange(Backend::automatic);
  const std::exception_ptr error = wait_for_all_queues(s);
  std::vector<Object> left = Registry::instance().clear();
  std::ostringstream names;
  for (std::size_t i = 0; i < std::min<std::size_t>(left.size(), 8); ++i)
    if (left[i].content)
      names << (i ? ", " : "") << left[i].kind;
    else
      names << (i ? ", " : "") << left[i].rows << " x " << left[i].cols;
  const std::size_t count = left.size();
  left.clear();
  wait_for_all_queues(s);  // for the releases
  s.queues.clear();
  if (!ended) thread_queue.queue.reset();
  PinnedBuffer::release_cache();
  if constexpr (cuda_built)
    if (backend == Backend::cuda) cuda::trim_pool(s.device);
  try {
    if (error) std::rethrow_exception(error);
  } catch (const Error& e) {
    fail(e.status(), "close: ", e.what());
  }
  if (environment().check && count > 0)
    fail(Status::invalid_argument, "close: ", count, " objects were not freed before (DEVOBJ_CHECK=1): ", names.str(),
         count > 8 ? ", ..." : "");
}

Backend backend_in_use() noexcept { return state().backend; }
int device_in_use() noexcept { return state().device; }

std::string info() {
  std::ostringstream text;
  text << "devObject " << DEVOBJ_VERSION_MAJOR << "." << DEVOBJ_VERSION_MINOR << "." << DEVOBJ_VERSION_PATCH;
  if (epoch == 0) {
    text << ", not open\n";
  } else {
    std::string reason;
    {
      Lock lock(state());
      reason = state().reason;
    }
    text << "\nbackend: " << name_of(state().backend) << " (" << reason << ")\n";
    if constexpr (cuda_built)
      if (state().backend == Backend::cuda) text << "device: " << cuda::describe(state().device) << "\n";
  }
  text << host_blas_info();
  if (epoch != 0) text << tuning_info(state().backend == Backend::cuda ? state().device.load() : -1);
  return text.str();
}

Queue& queue() {
  if (ended) [[unlikely]]
    fail(Status::not_open, "this thread has ended: no work is done in the destructors of static objects, only freeing");
  const std::uint64_t now = epoch.load(std::memory_order_acquire);
  ThreadQueue& mine = thread_queue;
  if (now != 0 && mine.epoch == now && mine.queue) [[likely]] {
    if (mine.queue->impl()->alive()) [[likely]]
      return *mine.queue;
    fail(Status::device_error, "the program has reset the CUDA device: its objects are lost; close the library and open it again");
  }
  if (now == 0) fail(Status::not_open, "the library is not open: call open_devObjects (Fortran) or devobj_open (C) first");
  State& s = state();
  Lock lock(s);
  if (s.pid != getpid() && s.backend == Backend::cuda)
    fail(Status::device_error, "CUDA cannot be used in a child process after fork; open the library in the child only");
  mine.queue.reset();
  mine.queue = std::make_unique<Queue>(s.backend, QueueOptions{HostMode::from_environment, false, s.device});
  mine.epoch = now;
  s.queues.erase(std::remove_if(s.queues.begin(), s.queues.end(), [](auto& w) { return w.expired(); }), s.queues.end());
  s.queues.push_back(mine.queue->impl());
  return *mine.queue;
}

const void* queue_of_thread() noexcept {
  if (ended) return nullptr;
  const ThreadQueue& mine = thread_queue;
  return mine.queue && mine.epoch == epoch ? mine.queue->impl().get() : nullptr;
}

}  // namespace devobj::runtime
