// The second queue of a chase.
#pragma once

#include <optional>

#include "qr_update_parts.hpp"

namespace devobj {

/// A queue beside `q` for what the next block does not wait for: Q and the right-hand sides. On the host there is none,
/// since the products themselves use all cores.
class Beside {
 public:
  Beside(Queue& q, bool needed) : q_(q) {
    if (needed && q.on_cuda()) side_.emplace(q);
  }
  Queue& queue() { return side_ ? side_->queue() : q_; }
  /// What is now in the main queue comes before what follows beside it.
  void after_main() {
    if (side_) queue().wait_for(q_.record(false));
  }
  /// What is now beside comes before what follows in the main queue, `slots` calls later.
  void done(Event& event) {
    if (side_) event = queue().record(false);
  }
  void main_after(const Event& event) {
    if (side_) q_.wait_for(event);
  }

 private:
  Queue& q_;
  std::optional<SideQueue> side_;
};

}  // namespace devobj
