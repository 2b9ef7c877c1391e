// On a GPU: warm transforms and parallel primitives inside a caller's graph capture; a program's own CUB beside the
// library's.
#include <cuda_runtime.h>

#include "assert_cuda.hpp"
#include "devobj/fft.hpp"
#include "kernels.hpp"
#include "prims_testing.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

class Toolbox : public Everywhere {
 protected:
  cudaStream_t stream() { return static_cast<cudaStream_t>(q().stream()); }
};
INSTANTIATE_TEST_SUITE_P(On, Toolbox, testing::Combine(testing::Values(places()[2]), testing::Values(Type::real)),
                         instance_name);

TEST_P(Toolbox, IsCaptured) {
  using C = std::complex<float>;
  const std::int64_t n = 3000;
  const Dense<float> first = numbers<float>(n, 1), second = numbers<float>(n, 2);
  FftPlan plan(Type::real, {60, 50}, q(), {.scaling = FftScaling::inverse});
  Matrix<float> X = upload(first, q()), Z(60, 50, q()), Y(n, 1, q()), S(n, 1, q());
  Matrix<C> F(31, 50, q());
  Matrix<std::int32_t> V(n, 1, q()), counts(20, 1, q()), offsets = upload(column<std::int32_t>({1, 3, 4}), q()),
                                                         columns = upload(column<std::int32_t>({2, 1, 2}), q()),
                                                         heads = upload(small_integers(n, 3, 4), q());
  Matrix<float> product(2, 1, q());
  const View<float> image(X.data, 60, 50);
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"forward", [&] { plan.forward(image, F.view(), q()); }},
      {"inverse", [&] { plan.inverse(F.view(), Z.view(), q()); }},
      {"scan", [&] { scan(Scan::inclusive, X.view(), Y.view(), q()); }},
      {"segmented_scan", [&] { segmented_scan(Scan::exclusive, X.view(), heads.view(), S.view(), q()); }},
      {"scan of integers", [&] { scan(Scan::exclusive, heads.view(), V.view(), q()); }},
      {"sort_pairs", [&] { sort_pairs(Order::descending, Y.view(), V.view(), Y.view(), V.view(), q()); }},
      {"histogram", [&] { histogram<float>(X.view(), -1, 1, counts.view(), q()); }},
      {"spmv",
       [&] {
         spmv<float>(1, Csr<float>{2, 2, offsets.view(), columns.view(), X.view()({0, 3}, {0, 1}), 1},
                     X.view()({5, 7}, {0, 1}), 0, product.view(), q());
       }},
  };
  std::vector<cudaGraphExec_t> graphs;
  for (const auto& call : calls) {
    call.second();  // warm
    q().wait();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    ASSERT_CUDA(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal));
    EXPECT_NO_THROW(call.second()) << call.first;
    ASSERT_CUDA(cudaStreamEndCapture(stream(), &graph)) << call.first;
    ASSERT_CUDA(cudaGraphInstantiate(&ready, graph, 0)) << call.first;
    ASSERT_CUDA(cudaGraphDestroy(graph));
    graphs.push_back(ready);
  }
  for (const Dense<float>& x : {second, first}) {
    to_device<float>({x.data(), n, 1, n}, X, q());
    for (const auto& call : calls) call.second();
    const Dense<C> f = download<C>(F, q());
    const Dense<float> z = download<float>(Z, q()), y = download<float>(Y, q()), s = download<float>(S, q()),
                       p = download<float>(product, q());
    const Dense<std::int32_t> v = download<std::int32_t>(V, q()), c = download<std::int32_t>(counts, q());
    const Dense<float> nothing(n, 1, -7);
    to_device<float>({nothing.data(), n, 1, n}, Y, q());
    to_device<float>({nothing.data(), n, 1, n}, S, q());
    for (cudaGraphExec_t graph : graphs) ASSERT_CUDA(cudaGraphLaunch(graph, stream()));
    expect_same(download<C>(F, q()), f, "forward");
    expect_same(download<float>(Z, q()), z, "inverse");
    expect_same(download<float>(Y, q()), y, "scan, sorted");
    expect_same(download<float>(S, q()), s, "segmented scan");
    expect_same(download<std::int32_t>(V, q()), v, "values");
    expect_same(download<std::int32_t>(counts, q()), c, "histogram");
    expect_same(download<float>(product, q()), p, "product");
  }
  for (cudaGraphExec_t graph : graphs) ASSERT_CUDA(cudaGraphExecDestroy(graph));
}

TEST_P(Toolbox, AProgramsOwnCub) {
  const std::int64_t n = 100000;
  const Dense<std::int32_t> x = small_integers(n, 100, 5);
  Matrix<std::int32_t> X = upload(x, q()), Y(n, 1, q()), Z(n, 1, q());
  std::size_t bytes = 0;
  ASSERT_CUDA(inclusive_sum(nullptr, bytes, X.data, Y.data, n, stream()));
  Matrix<float> memory(static_cast<std::int64_t>(bytes / 4 + 1), 1, q());
  ASSERT_CUDA(inclusive_sum(memory.data, bytes, X.data, Y.data, n, stream()));
  scan(Scan::inclusive, X.view(), Z.view(), q());
  expect_same(download<std::int32_t>(Z, q()), download<std::int32_t>(Y, q()), "both scans");
}

}  // namespace
