// The library inside the caller's OpenMP parallel regions, whose number of threads it leaves alone.
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>

#include "opened.hpp"

using namespace devobj::test;

namespace {

std::vector<double> factors(int seed) {
  const std::int64_t n = 150;
  std::vector<double> a(n * n);
  for (std::int64_t e = 0; e < n * n; ++e) a[e] = std::sin(0.2 * e * (seed + 1)) + (e % (n + 1) == 0 ? 20 : 0);
  const devobj_handle A = object_of(DEVOBJ_DOUBLE, n, n, a), p = allocate(DEVOBJ_INTEGER, n, 1);
  std::int64_t info = -1;
  EXPECT_OK(devobj_getrf(A, p, DEVOBJ_METHOD_HYBRID, 32, &info));
  EXPECT_EQ(info, 0);
  const std::vector<double> result = values_of<double>(A);
  EXPECT_OK(devobj_free(A));
  EXPECT_OK(devobj_free(p));
  return result;
}

class OpenMp : public Opened {};
DEVOBJ_OPENED_EVERYWHERE(OpenMp);

TEST_P(OpenMp, ParallelRegionsGiveWhatOneThreadGives) {
  constexpr int tasks = 12;
  std::vector<std::vector<double>> serial(tasks), parallel(tasks);
  for (int i = 0; i < tasks; ++i) serial[i] = factors(i);
#pragma omp parallel for num_threads(4) schedule(dynamic)
  for (int i = 0; i < tasks; ++i) parallel[i] = factors(i);
  for (int i = 0; i < tasks; ++i) EXPECT_EQ(parallel[i], serial[i]) << "task " << i;
  EXPECT_EQ(devobj_live_objects(), 0);
}

TEST_P(OpenMp, TheCallersThreadsStay) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  factors(1);
  EXPECT_EQ(omp_get_max_threads(), 3);
  int seen = 0;
#pragma omp parallel
#pragma omp single
  seen = omp_get_num_threads();
  EXPECT_EQ(seen, 3);
  omp_set_num_threads(before);
}

}  // namespace
