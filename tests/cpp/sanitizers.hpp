// For tests that do what a sanitizer forbids by default: memory that cannot be had, threads in a forked child, an operator
// new of their own. DEVOBJ_TEST_ASAN comes from the build where the tests themselves are not instrumented.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DEVOBJ_TEST_ASAN
#elif __has_feature(thread_sanitizer)
#define DEVOBJ_TEST_TSAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(DEVOBJ_TEST_ASAN)
#define DEVOBJ_TEST_ASAN
#elif defined(__SANITIZE_THREAD__)
#define DEVOBJ_TEST_TSAN
#endif

namespace devobj::test {
/// Whether memory behaves as a sanitizer wants it: freed memory is kept for a while, operator new is taken.
#if defined(DEVOBJ_TEST_ASAN) || defined(DEVOBJ_TEST_TSAN)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
}  // namespace devobj::test

// malloc returns null where there is no memory, instead of ending the program; a forked child may start threads, and
// leaves its parent's team of threads alone, which is no leak.
extern "C" {
[[gnu::used]] const char* __lsan_default_suppressions() { return "leak:TeamOwner::create\n"; }
[[gnu::used]] const char* __lsan_default_options() { return "print_suppressions=0"; }
[[gnu::used]] const char* __asan_default_options() { return "allocator_may_return_null=1"; }
[[gnu::used]] const char* __tsan_default_options() {
  return "allocator_may_return_null=1:die_after_fork=0";
}
}
