// Waiting for another thread for microseconds.
#pragma once

#include <sched.h>

namespace devobj::host {

inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins politely: bare at first, then with pauses, and from `patience` turns on giving the core to others.
class Spin {
 public:
  explicit Spin(long patience) noexcept : patience_(patience) {}
  /// True now and then, when it is time to look at what changes rarely.
  bool turn() noexcept {
    ++turns_;
    if (turns_ > bare_turns) pause();
    if (turns_ % 16 != 0 && patience_ != 0) return false;
    if (turns_ >= patience_) sched_yield();
    return true;
  }

 private:
  static constexpr int bare_turns = 64;
  long patience_;
  long turns_ = 0;
};

// Turns of some 40 ns. An exchange between running threads takes less; if one is not running, its core may be this one.
inline constexpr long long_patience = 256;

}  // namespace devobj::host
