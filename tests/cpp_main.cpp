// main for the C++ tests. Exit status: GoogleTest's; 77 if every test that was to run was skipped (no GPU); 1 if the
// filter left no test at all.
#include <gtest/gtest.h>

#include <cstdio>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

int main(int argc, char** argv) {
#if defined(__GLIBC__)
  // Large arrays come and go all the time: given back and had again page by page they take half of some tests' time.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);
#endif
  testing::InitGoogleTest(&argc, argv);
  const bool listing = testing::GTEST_FLAG(list_tests);
  const int status = RUN_ALL_TESTS();
  if (status != 0 || listing) return status;
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  if (tests.test_to_run_count() == 0) {
    std::fprintf(stderr, "no test has a name that the filter lets through\n");
    return 1;
  }
  return tests.successful_test_count() == 0 ? 77 : 0;
}
