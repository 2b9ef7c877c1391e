// The types that tests run with, if they name none: all four, but with ThreadSanitizer one of them (DEVOBJ_TEST_TSAN). Who
// waits for whom does not depend on the type; the time does, to compile and to run.
#pragma once

#include <gtest/gtest.h>

#include <complex>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DEVOBJ_TEST_TSAN
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define DEVOBJ_TEST_TSAN
#endif

namespace devobj::test {
#if defined(DEVOBJ_TEST_TSAN)
using Scalars = ::testing::Types<double>;
#else
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
#endif
}  // namespace devobj::test
