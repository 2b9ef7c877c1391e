// Batched routines in CUDA graphs: captured once, launched with other numbers, the same bits as called directly.
#include <cuda_runtime.h>

#include <functional>
#include <utility>
#include <vector>

#include "assert_cuda.hpp"
#include "batched_support.hpp"

namespace devobj::test {
namespace {

class CaptureBatched : public Everywhere {
 protected:
  cudaStream_t stream() { return static_cast<cudaStream_t>(q().stream()); }
};
INSTANTIATE_TEST_SUITE_P(On, CaptureBatched,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::real, Type::double_precision, Type::complex,
                                                          Type::double_complex)),
                         instance_name);

TEST_P(CaptureBatched, IsCaptured) {
  with_type([&]<class T>(T) {
    // in registers, in shared memory, by panels
    for (auto [n, batch] : {std::pair<std::int64_t, std::int64_t>{12, 50}, {60, 20}, {300, 3}}) {
      const std::int64_t nrhs = 2;
      const Dense<T> first = random<T>(n, n * batch, 1), second = random<T>(n, n * batch, 2);
      const Dense<T> right = random<T>(n, nrhs * batch, 3);
      Matrix<T> source(n, n * batch, q()), A(n, n * batch, q()), B0 = upload(right, q()), B(n, nrhs * batch, q()),
                                                                 tau(n, batch, q());
      Matrix<std::int32_t> ipiv(n, batch, q()), info(batch, 1, q());
      const std::vector<std::pair<const char*, std::function<void()>>> calls = {
          {"getrf_batched", [&] { getrf_batched<T>(batch, A, ipiv, info, q()); }},
          {"getrs_batched", [&] { getrs_batched<T>(Op::Trans, batch, A, ipiv, B, q()); }},
          {"gesv_batched", [&] { gesv_batched<T>(batch, A, ipiv, B, info, q()); }},
          {"geqrf_batched", [&] { geqrf_batched<T>(batch, A, tau, q()); }},
          {"gels_batched", [&] { gels_batched<T>(Op::NoTrans, batch, A, B, info, q()); }},
      };
      for (const auto& [name, call] : calls) {
        const std::string what = std::string(name) + ", n = " + std::to_string(n);
        const bool needs_factors = std::string(name) == "getrs_batched";
        const auto prepare = [&](const Dense<T>& numbers) {
          to_device<T>({numbers.data(), n, n * batch, n}, source, q());
          copy<T>(source, A, q());
          copy<T>(B0, B, q());
          if (needs_factors) getrf_batched<T>(batch, A, ipiv, info, q());
        };
        prepare(first);
        call();  // warm
        q().wait();
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t ready = nullptr;
        ASSERT_CUDA(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal)) << what;
        EXPECT_NO_THROW(call()) << what;
        ASSERT_CUDA(cudaStreamEndCapture(stream(), &graph)) << what;
        ASSERT_CUDA(cudaGraphInstantiate(&ready, graph, 0)) << what;
        ASSERT_CUDA(cudaGraphDestroy(graph));
        for (const Dense<T>& numbers : {second, first}) {
          prepare(numbers);
          call();
          const Dense<T> a = download<T>(A, q()), b = download<T>(B, q());
          const Dense<std::int32_t> p = download<std::int32_t>(ipiv, q()), i = download<std::int32_t>(info, q());
          prepare(numbers);
          ASSERT_CUDA(cudaGraphLaunch(ready, stream())) << what;
          expect_same(download<T>(A, q()), a, what + ": A");
          expect_same(download<T>(B, q()), b, what + ": B");
          expect_same(download<std::int32_t>(ipiv, q()), p, what + ": ipiv");
          expect_same(download<std::int32_t>(info, q()), i, what + ": info");
        }
        ASSERT_CUDA(cudaGraphExecDestroy(ready));
      }
    }
  });
}

/// A warm call takes no memory: the pool's use is the same before and after many of them.
TEST_P(CaptureBatched, WarmCallsAllocateNothing) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 40, batch = 30;
    Matrix<T> A = upload(random<T>(n, n * batch, 1), q()), B = upload(random<T>(n, batch, 2), q());
    Matrix<std::int32_t> ipiv(n, batch, q()), info(batch, 1, q());
    const auto both = [&] {
      gesv_batched<T>(batch, A, ipiv, B, info, q());
      gels_batched<T>(Op::NoTrans, batch, A, B, info, q());
      q().wait();
    };
    both();
    std::size_t before = 0, after = 0, total = 0;
    ASSERT_CUDA(cudaMemGetInfo(&before, &total));
    for (int i = 0; i < 100; ++i) both();
    ASSERT_CUDA(cudaMemGetInfo(&after, &total));
    EXPECT_EQ(before, after);
  });
}

}  // namespace
}  // namespace devobj::test
