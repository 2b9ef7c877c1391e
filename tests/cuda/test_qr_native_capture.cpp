// geqrf's native method, orgqr and ormqr inside a caller's graph capture: what is replayed equals what was run, bit for
// bit.
#include <cuda_runtime.h>

#include "assert_cuda.hpp"
#include "factor_checks.hpp"

namespace devobj::test {
namespace {

class QrNativeCapture : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, QrNativeCapture,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::real, Type::double_precision, Type::complex,
                                                          Type::double_complex)),
                         instance_name);

TEST_P(QrNativeCapture, ReplayEqualsEager) {
  with_type([&]<class T>(T) {
    // one panel, several with look-ahead, wide, a cooperative or tall panel
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{100, 60}, {700, 500}, {90, 300}, {40000, 40}}) {
      SCOPED_TRACE(shape_name(m, n));
      const cudaStream_t stream = static_cast<cudaStream_t>(q().stream());
      const std::int64_t k = std::min(m, n);
      const Dense<T> first = random<T>(m, n, 1), second = random<T>(m, n, 2), c = random<T>(m, 5, 3);
      Matrix<T> A(m, n, q()), Q(m, k, q()), C(m, 5, q()), tau(k, 1, q());
      auto work = [&] {
        geqrf<T>(A, tau, q(), {Method::native});
        copy<T>(A({0, m}, {0, k}), Q, q());
        orgqr<T>(Q, tau, q());
        ormqr<T>(Side::Left, adjoint<T>, A({0, m}, {0, k}), tau, C, q());
      };
      auto load = [&](const Dense<T>& a) {
        to_device<T>({a.data(), m, n, m}, A, q());
        to_device<T>({c.data(), m, 5, m}, C, q());
      };
      load(first);
      work();  // warm: side queues and handles exist
      q().wait();
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t ready = nullptr;
      ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      work();
      ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
      ASSERT_CUDA(cudaGraphInstantiate(&ready, graph, 0));
      ASSERT_CUDA(cudaGraphDestroy(graph));
      for (const Dense<T>& a : {second, first}) {
        load(a);
        work();
        const Dense<T> QR = download<T>(A, q()), t = download<T>(tau, q()), q_eager = download<T>(Q, q()),
                       c_eager = download<T>(C, q());
        laset<T>(Uplo::General, 7, 7, tau, q());
        laset<T>(Uplo::General, 7, 7, Q, q());
        load(a);
        ASSERT_CUDA(cudaGraphLaunch(ready, stream));
        expect_same(download<T>(A, q()), QR, "A");
        expect_same(download<T>(tau, q()), t, "tau");
        expect_same(download<T>(Q, q()), q_eager, "Q");
        expect_same(download<T>(C, q()), c_eager, "C");
      }
      ASSERT_CUDA(cudaGraphExecDestroy(ready));
    }
  });
}

}  // namespace
}  // namespace devobj::test
