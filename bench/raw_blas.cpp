#include "raw_blas.hpp"

#include <limits>

#include "cuda_side.hpp"
#include "raw_blas_calls.hpp"

namespace bench {

using namespace devobj;

namespace {

int narrow(std::int64_t value) {
  require(value <= std::numeric_limits<int>::max(), "raw BLAS: ", value, " does not fit into the vendor's integers");
  return static_cast<int>(value);
}

}  // namespace

// The same call of the same name, on the GPU if there is a handle.
#ifdef DEVOBJ_BENCH_CUDA
#define BENCH_CALL(name, ...)                                                                \
  if (handle_) return vendor::name(static_cast<cublasHandle_t>(handle_.get()), __VA_ARGS__); \
  return fortran::name(__VA_ARGS__)
#else
#define BENCH_CALL(name, ...) return fortran::name(__VA_ARGS__)
#endif

RawBlas::RawBlas(Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) {
      cuda::set_device(q.device());
      handle_ = cuda::blas_handle(q.stream());
    }
}

template <class T>
void RawBlas::gemm(View<T> A, View<T> B, View<T> C) {
  const int m = narrow(C.rows), n = narrow(C.cols), k = narrow(A.cols);
  BENCH_CALL(gemm, m, n, k, A.data, narrow(A.ld), B.data, narrow(B.ld), C.data, narrow(C.ld));
}
template <class T>
void RawBlas::syrk(View<T> A, View<T> C) {
  BENCH_CALL(syrk, narrow(A.rows), narrow(A.cols), A.data, narrow(A.ld), C.data, narrow(C.ld));
}
template <class T>
void RawBlas::trsm(Uplo uplo, View<T> A, View<T> B) {
  BENCH_CALL(trsm, uplo, narrow(B.rows), narrow(B.cols), A.data, narrow(A.ld), B.data, narrow(B.ld));
}
template <class T>
void RawBlas::gemv(View<T> A, View<T> x, View<T> y) {
  BENCH_CALL(gemv, narrow(A.rows), narrow(A.cols), A.data, narrow(A.ld), x.data, y.data);
}
template <class T>
void RawBlas::axpy(View<T> x, View<T> y) {
  BENCH_CALL(axpy, narrow(x.size()), x.data, y.data);
}
template <class T>
void RawBlas::scal(View<T> x) {
  BENCH_CALL(scal, narrow(x.size()), x.data);
}
template <class T>
real_t<T> RawBlas::nrm2(View<T> x) {
  BENCH_CALL(nrm2, narrow(x.size()), x.data);
}
#undef BENCH_CALL

#define INSTANTIATE(T)                                    \
  template void RawBlas::gemm(View<T>, View<T>, View<T>); \
  template void RawBlas::syrk(View<T>, View<T>);          \
  template void RawBlas::trsm(Uplo, View<T>, View<T>);    \
  template void RawBlas::gemv(View<T>, View<T>, View<T>); \
  template void RawBlas::axpy(View<T>, View<T>);          \
  template void RawBlas::scal(View<T>);                   \
  template real_t<T> RawBlas::nrm2(View<T>);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace bench
