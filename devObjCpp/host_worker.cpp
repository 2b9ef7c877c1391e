// HostWorker: a host queue's own thread.
#include <utility>

#include "devobj/error.hpp"
#include "queue_impl.hpp"

namespace devobj {

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
  return std::exchange(error_, nullptr);
}

void HostWorker::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_arrived_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    if (error_ && !task.always) {
      if (tasks_.empty()) work_done_.notify_all();
      continue;
    }
    busy_ = true;
    lock.unlock();
    std::exception_ptr error;
    try {
      task.work();
    } catch (const Error& e) {
      error = std::make_exception_ptr(Error(e.status(), std::string(task.name) + ": " + e.what()));
    } catch (const std::exception& e) {
      error = std::make_exception_ptr(Error(Status::internal_error, std::string(task.name) + ": " + e.what()));
    } catch (...) {
      error = std::make_exception_ptr(Error(Status::internal_error, std::string(task.name) + ": unknown exception"));
    }
    task.work = nullptr;
    lock.lock();
    busy_ = false;
    if (error && !error_) error_ = error;
    if (tasks_.empty()) work_done_.notify_all();
  }
}

}  // namespace devobj
