// Calls whose first, second, ... allocation fails.
#pragma once

#include <malloc.h>

#include "devObjCpp/memory.hpp"
#include "testing.hpp"

namespace devobj::test {

/// Bytes in use on the heap.
inline std::int64_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

/// Calls work() with its first allocation failing, then its second, and so on until all succeed, and unchanged() after
/// each failure, which must be an out_of_memory. Returns the number of failures; work() has succeeded once then.
template <class Work, class Unchanged>
int fail_each_allocation(Work&& work, Unchanged&& unchanged) {
  int failures = 0;
  for (std::int64_t nth = 1; nth < 1000; ++nth) {
    memory::fail_allocation(nth);
    try {
      work();
      memory::fail_allocation(0);
      return failures;
    } catch (const Error& e) {
      memory::fail_allocation(0);
      EXPECT_EQ(e.status(), Status::out_of_memory) << e.what();
      ++failures;
      unchanged();
    }
  }
  ADD_FAILURE() << "no end of allocations";
  return failures;
}

}  // namespace devobj::test
