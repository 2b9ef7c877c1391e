// On a GPU: gemm_overlapped beside a kernel that has all multiprocessors but those that it is to avoid: for a while its blocks
// can be nowhere else, and the product is made there.
#include <cuda_runtime.h>

#include "kernels/native.hpp"
#include "testing.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

#define ASSERT_CUDA(call) ASSERT_EQ((call), cudaSuccess)

struct Places {
  int number[cuda::lu_panel_places];
};

/// Stays so long on a multiprocessor that is not one of the places.
__global__ void stay_kernel(Places places, long long ns) {
  unsigned here = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(here));
  for (const int place : places.number)
    if (place == static_cast<int>(here)) return;
  long long start = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < ns);
}

class Busy : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, Busy,
                         testing::Combine(testing::Values(places()[2]), testing::Values(Type::double_precision)),
                         instance_name);

TEST_P(Busy, AProductOnTheMultiprocessorsThatItIsToAvoid) {
  const int device = q().device();
  if (!cuda::gemm_overlapped_usable(device)) GTEST_SKIP() << "skipped: on this GPU cuBLAS makes the products";
  int processors = 0, bytes = 0;
  ASSERT_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  ASSERT_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  ASSERT_CUDA(cudaFuncSetAttribute(stay_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const std::int64_t m = 2500, n = 4200, k = 200;
  const Matrix<double> A = upload(random<double>(m, k, 1), q()), B = upload(random<double>(k, n, 2), q());
  const Dense<double> before = random<double>(m, n, 3);
  const auto product = [&](cuda::Spared spared) {
    const Matrix<double> C = upload(before, q());
    cuda::gemm_overlapped(-1, A, B, C, nullptr, q(), spared);
    return download<double>(C, q());
  };
  const Dense<double> expected = product({});

  Places avoided;
  Dense<std::int32_t> numbers(cuda::lu_panel_places, 1);
  for (int i = 0; i < cuda::lu_panel_places; ++i) numbers[i] = avoided.number[i] = i;
  const Matrix<std::int32_t> in_memory = upload(numbers, q());
  const Dense<std::int32_t> zeros(cuda::spared_counts, 1);
  const Matrix<std::int32_t> counts = upload(zeros, q());
  const Matrix<double> C = upload(before, q());
  q().wait();
  cudaStream_t other = nullptr;
  ASSERT_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  constexpr long long longer_than_blocks_wait = 5'000'000;
  stay_kernel<<<processors, 32, bytes, other>>>(avoided, longer_than_blocks_wait);
  ASSERT_CUDA(cudaGetLastError());
  cuda::gemm_overlapped(-1, A, B, C, nullptr, q(), {16, in_memory.view().data, counts.view().data});
  q().wait();
  expect_same(download<double>(C, q()), expected, "C");
  expect_same(download<std::int32_t>(counts, q()), zeros, "counts");
  ASSERT_CUDA(cudaStreamSynchronize(other));
  ASSERT_CUDA(cudaStreamDestroy(other));
}

}  // namespace
