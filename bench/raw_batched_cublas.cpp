#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "cuda_side.hpp"
#include "kernels/by_type.hpp"
#include "raw_batched.hpp"

namespace bench::cuda {

using namespace devobj;

namespace {

template <class T>
struct CublasType {
  using type = T;
};
template <>
struct CublasType<std::complex<float>> {
  using type = cuComplex;
};
template <>
struct CublasType<std::complex<double>> {
  using type = cuDoubleComplex;
};

/// Pointers to the matrices, on the device.
template <class E>
std::shared_ptr<E*> pointers(void* first, std::int64_t stride, std::int64_t count) {
  std::vector<E*> all;
  for (std::int64_t k = 0; k < count; ++k) all.push_back(static_cast<E*>(first) + k * stride);
  void* memory = nullptr;
  const std::size_t bytes = all.size() * sizeof(E*);
  check_runtime(cudaMalloc(&memory, bytes), "cudaMalloc");
  check_runtime(cudaMemcpy(memory, all.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  return {static_cast<E**>(memory), [](E** p) { cudaFree(p); }};
}

}  // namespace

template <class T>
std::function<void()> raw_batched(const BatchedProblem<T>& p, void* stream) {
  using E = typename CublasType<T>::type;
  const std::shared_ptr<void> owner = blas_handle(stream);
  const auto handle = static_cast<cublasHandle_t>(owner.get());
  const int m = static_cast<int>(p.A.rows), n = static_cast<int>(p.A.cols / p.batch), count = static_cast<int>(p.batch);
  const auto A = pointers<E>(p.A.data, std::int64_t(n) * p.A.ld, count), B = pointers<E>(p.B.data, p.B.ld, count),
             tau = pointers<E>(p.tau.data, p.tau.ld, count);
  return [=] {
    (void)owner;
    int argument = 0;
    const auto getrf = [&] {
      check_blas(by_type<T>(cublasSgetrfBatched, cublasDgetrfBatched, cublasCgetrfBatched, cublasZgetrfBatched)(
                     handle, n, A.get(), m, p.ipiv.data, p.info.data, count),
                 "getrfBatched");
    };
    const auto getrs = [&] {
      check_blas(by_type<T>(cublasSgetrsBatched, cublasDgetrsBatched, cublasCgetrsBatched, cublasZgetrsBatched)(
                     handle, CUBLAS_OP_N, n, 1, A.get(), m, p.ipiv.data, B.get(), m, &argument, count),
                 "getrsBatched");
    };
    if (p.routine == "getrf" || p.routine == "gesv") getrf();
    if (p.routine == "getrs" || p.routine == "gesv") getrs();
    if (p.routine == "geqrf")
      check_blas(by_type<T>(cublasSgeqrfBatched, cublasDgeqrfBatched, cublasCgeqrfBatched, cublasZgeqrfBatched)(
                     handle, m, n, A.get(), m, tau.get(), &argument, count),
                 "geqrfBatched");
    if (p.routine == "gels")
      check_blas(by_type<T>(cublasSgelsBatched, cublasDgelsBatched, cublasCgelsBatched, cublasZgelsBatched)(
                     handle, CUBLAS_OP_N, m, n, 1, A.get(), m, B.get(), m, &argument, p.info.data, count),
                 "gelsBatched");
  };
}

#define INSTANTIATE(T) template std::function<void()> raw_batched(const BatchedProblem<T>&, void*);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace bench::cuda
