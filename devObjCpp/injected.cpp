#include "injected.hpp"

#include <atomic>

#include "devobj/error.hpp"

namespace devobj::injected {
namespace {
std::atomic<std::int64_t> countdown{0};
}

void fail_work(std::int64_t nth) noexcept {
  countdown = nth;
}

void may_fail(const char* name) {
  if (countdown.load(std::memory_order_relaxed) > 0 && --countdown == 0)
    fail(Status::device_error, name, ": a failure that a test has asked for");
}

}  // namespace devobj::injected
