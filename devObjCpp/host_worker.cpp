// HostWorker: a host queue's own thread.
#include <new>
#include <utility>

#include "devobj/error.hpp"
#include "injected.hpp"
#include "queue_impl.hpp"

namespace devobj {
namespace {

// The exception being handled, as an Error that names the work it came from.
std::exception_ptr caught_in(const char* name) noexcept {
  try {
    try {
      throw;
    } catch (const Error& e) {
      const std::string origin = std::string(name) + ": ";
      if (std::string(e.what()).starts_with(origin)) throw;
      fail(e.status(), origin, e.what());
    } catch (const std::bad_alloc&) {
      fail(Status::out_of_memory, name, ": out of host memory");
    } catch (const std::exception& e) {
      fail(Status::internal_error, name, ": ", e.what());
    } catch (...) {
      fail(Status::internal_error, name, ": unknown exception");
    }
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

HostWorker::HostWorker() : thread_([this] { loop(); }) {}

HostWorker::~HostWorker() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  work_arrived_.notify_all();
  thread_.join();
}

void HostWorker::enqueue(const char* name, std::function<void()> work, bool always) {
  {
    std::lock_guard lock(mutex_);
    tasks_.push_back({name, std::move(work), always});
  }
  work_arrived_.notify_one();
}

void HostWorker::wait() {
  std::unique_lock lock(mutex_);
  work_done_.wait(lock, [this] { return tasks_.empty() && !busy_; });
}

std::exception_ptr HostWorker::take_error() {
  std::lock_guard lock(mutex_);
  if (error_) taken_ = error_;
  return std::exchange(error_, nullptr);
}

std::exception_ptr HostWorker::error() {
  std::lock_guard lock(mutex_);
  return error_;
}

void HostWorker::throw_error_of(HostWorker& other) {
  const std::exception_ptr error = other.take_error();
  {
    std::lock_guard lock(mutex_);
    if (error == taken_) return;
  }
  if (error) std::rethrow_exception(error);
}

void HostWorker::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_arrived_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    const bool left_out = error_ && !task.always;
    busy_ = true;
    lock.unlock();
    std::exception_ptr error;
    try {
      if (!left_out) {
        if (!task.always) injected::may_fail(task.name);
        task.work();
      }
    } catch (...) {
      error = task.always ? std::current_exception() : caught_in(task.name);
    }
    task.work = nullptr;  // without the lock: what it held may enqueue its release
    lock.lock();
    busy_ = false;
    if (error && !error_) error_ = error;
    if (tasks_.empty()) work_done_.notify_all();
  }
}

}  // namespace devobj
