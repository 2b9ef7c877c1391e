// For tests that do what a sanitizer forbids by default: memory that cannot be had, threads in a forked child, an operator
// new of their own; and for those that take smaller sizes with AddressSanitizer.
#pragma once

#include "scalars.hpp"

/// Of AddressSanitizer's runtime. A test program may have been compiled without it and linked with it (tests/CMakeLists.txt).
extern "C" [[gnu::weak]] void __asan_init();

namespace devobj::test {
inline const bool address_sanitizer = __asan_init != nullptr;
/// Whether memory behaves as a sanitizer wants it: freed memory is kept for a while, operator new is taken.
#if defined(DEVOBJ_TEST_TSAN)
inline const bool sanitized = true;
#else
inline const bool sanitized = address_sanitizer;
#endif
/// A size: the full one, and one that with AddressSanitizer finds as much in less time.
template <class N>
N size_or(N full, N with_address_sanitizer) {
  return address_sanitizer ? with_address_sanitizer : full;
}
}  // namespace devobj::test

// malloc returns null where there is no memory, instead of ending the program; a forked child may start threads, and
// leaves its parent's team of threads alone, which is no leak.
extern "C" {
[[gnu::used]] const char* __lsan_default_suppressions() {
  return "leak:TeamOwner::create\n";
}
[[gnu::used]] const char* __lsan_default_options() {
  return "print_suppressions=0";
}
[[gnu::used]] const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
[[gnu::used]] const char* __tsan_default_options() {
  return "allocator_may_return_null=1:die_after_fork=0";
}
}
