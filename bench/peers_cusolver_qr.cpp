#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <algorithm>
#include <vector>

#include "cuda_side.hpp"
#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "peers_qr.hpp"

namespace bench {

using namespace devobj;

namespace {

template <class T>
constexpr cudaDataType data_type = is_complex<T> ? (sizeof(real_t<T>) == 4 ? CUDA_C_32F : CUDA_C_64F)
                                                 : (sizeof(real_t<T>) == 4 ? CUDA_R_32F : CUDA_R_64F);
template <class T, class S, class D, class C, class Z>
auto by_type(S s, D d, C c, Z z) {
  if constexpr (std::is_same_v<T, float>)
    return s;
  else if constexpr (std::is_same_v<T, double>)
    return d;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return c;
  else
    return z;
}
template <class T>
auto* raw(T* p) {
  if constexpr (std::is_same_v<T, std::complex<float>>)
    return reinterpret_cast<cuComplex*>(p);
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return reinterpret_cast<cuDoubleComplex*>(p);
  else
    return p;
}

}  // namespace

template <class T>
double cusolver_qr_ms(View<T> A, View<T> Q, View<T> R, const Repeat& repeat, Queue& q) {
  const int m = static_cast<int>(A.rows), n = static_cast<int>(A.cols), ld = static_cast<int>(Q.ld);
  cuda::set_device(q.device());
  cusolverDnHandle_t handle = nullptr;
  cusolverDnParams_t params = nullptr;
  cuda::check_solver(cusolverDnCreate(&handle), "cusolverDnCreate");
  cuda::check_solver(cusolverDnSetStream(handle, static_cast<cudaStream_t>(q.stream())), "cusolverDnSetStream");
  cuda::check_solver(cusolverDnCreateParams(&params), "cusolverDnCreateParams");
  std::size_t device_bytes = 0, host_bytes = 0;
  Matrix<T> tau(n, 1, q);
  Matrix<std::int32_t> info(1, 1, q);
  cuda::check_solver(cusolverDnXgeqrf_bufferSize(handle, params, m, n, data_type<T>, Q.data, ld, data_type<T>, tau.data,
                                                 data_type<T>, &device_bytes, &host_bytes),
                     "cusolverDnXgeqrf_bufferSize");
  const auto orgqr_size = by_type<T>(cusolverDnSorgqr_bufferSize, cusolverDnDorgqr_bufferSize,
                                     cusolverDnCungqr_bufferSize, cusolverDnZungqr_bufferSize);
  const auto orgqr = by_type<T>(cusolverDnSorgqr, cusolverDnDorgqr, cusolverDnCungqr, cusolverDnZungqr);
  int elements = 0;
  cuda::check_solver(orgqr_size(handle, m, n, n, raw(Q.data), ld, raw(tau.data), &elements), "orgqr_bufferSize");
  const std::size_t bytes = std::max(device_bytes, static_cast<std::size_t>(elements) * sizeof(T));
  Storage workspace(bytes, q);
  std::vector<char> host_workspace(host_bytes);
  const double ms = median_ms(
      repeat, [] {},
      [&] {
        devobj::copy<T>(A, Q, q);
        cuda::check_solver(
            cusolverDnXgeqrf(handle, params, m, n, data_type<T>, Q.data, ld, data_type<T>, tau.data, data_type<T>,
                             workspace.data(), bytes, host_workspace.data(), host_bytes, info.data),
            "cusolverDnXgeqrf");
        laset<T>(Uplo::General, T(0), T(0), R, q);
        lacpy<T>(Uplo::Upper, Q({0, n}, {0, n}), R, q);
        cuda::check_solver(orgqr(handle, m, n, n, raw(Q.data), ld, raw(tau.data),
                                 raw(static_cast<T*>(workspace.data())), elements, info.data),
                           "orgqr");
      },
      [&] { q.wait(); });
  cusolverDnDestroyParams(params);
  cusolverDnDestroy(handle);
  return ms;
}

#define INSTANTIATE(T) template double cusolver_qr_ms(View<T>, View<T>, View<T>, const Repeat&, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace bench
