// Kernels that wait, in a loop, for what another queue does: whose turn it is to have them.
#pragma once

#include <mutex>

#include "devobj/queue.hpp"

namespace devobj {

/// Of the factorizations on a GPU at the same time one may have kernels that wait: those of several could have all multiprocessors, and
/// what they wait for none.
class WaitingTurn {
 public:
  WaitingTurn() = default;
  WaitingTurn(const WaitingTurn&) = delete;
  WaitingTurn& operator=(const WaitingTurn&) = delete;
  /// Whether it is this factorization's: the last one that had it is done, or before it in the same queue.
  bool take(Queue& q) {
    Last& last = of(q.device());
    const std::lock_guard lock(last.mutex);
    if (last.taken || !(last.stream == q.stream() || ended(last.end))) return false;
    last.taken = true;
    queue_ = &q;
    return true;
  }
  /// Behind the factorization's work in the queue.
  ~WaitingTurn() {
    if (queue_ == nullptr) return;
    Last& last = of(queue_->device());
    const std::lock_guard lock(last.mutex);
    last.taken = false;
    last.stream = queue_->stream();
    try {
      last.end = queue_->record(false);
    } catch (...) {
      last.taken = true;  // nobody's from now on
    }
  }

 private:
  struct Last {
    std::mutex mutex;
    bool taken = false;
    void* stream = nullptr;
    Event end;
  };
  static Last& of(int device) {
    static Last* const all = new Last[64];  // for factorizations while the program ends, too
    return all[device % 64];
  }
  static bool ended(const Event& end) {
    try {
      return end.ready();
    } catch (...) {  // of a device that has been reset
      return true;
    }
  }
  Queue* queue_ = nullptr;
};

}  // namespace devobj
