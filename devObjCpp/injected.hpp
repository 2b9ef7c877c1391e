// Failures that tests inject into a queue's work, as memory.hpp does into allocations.
#pragma once

#include <cstdint>

namespace devobj::injected {

/// Tests: the `nth` piece of work from now on fails (1: the next; 0: none does), with status device_error. On the host it
/// fails when its turn comes, in place of being done; on a GPU where its launch is checked, after it.
void fail_work(std::int64_t nth) noexcept;

/// Throws if this piece of work is the one that has to fail.
void may_fail(const char* name);

}  // namespace devobj::injected
