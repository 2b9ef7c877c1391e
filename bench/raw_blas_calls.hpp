// The routines of raw_blas.hpp by one name for the four types: `fortran::gemm(...)` and, with CUDA, `vendor::gemm(...)`.
#pragma once

#include "devobj/types.hpp"
#include "lapack.hpp"

#ifdef DEVOBJ_BENCH_CUDA
#include <cublas_v2.h>

#include "cuda_side.hpp"
#endif

namespace bench {
namespace fortran {

#define BENCH_CALLS(x, T, nrm)                                                                     \
  inline void gemm(int m, int n, int k, const T* a, int lda, const T* b, int ldb, T* c, int ldc) { \
    const T one = 1, zero = 0;                                                                     \
    x##gemm_("N", "N", &m, &n, &k, &one, a, &lda, b, &ldb, &zero, c, &ldc, 1, 1);                  \
  }                                                                                                \
  inline void syrk(int n, int k, const T* a, int lda, T* c, int ldc) {                             \
    const T one = 1, zero = 0;                                                                     \
    x##syrk_("L", "N", &n, &k, &one, a, &lda, &zero, c, &ldc, 1, 1);                               \
  }                                                                                                \
  inline void trsm(devobj::Uplo uplo, int m, int n, const T* a, int lda, T* b, int ldb) {          \
    const T one = 1;                                                                               \
    const char* const letter = uplo == devobj::Uplo::Lower ? "L" : "U";                            \
    x##trsm_("L", letter, "N", "N", &m, &n, &one, a, &lda, b, &ldb, 1, 1, 1, 1);                   \
  }                                                                                                \
  inline void gemv(int m, int n, const T* a, int lda, const T* u, T* v) {                          \
    const T one = 1, zero = 0;                                                                     \
    const int inc = 1;                                                                             \
    x##gemv_("N", &m, &n, &one, a, &lda, u, &inc, &zero, v, &inc, 1);                              \
  }                                                                                                \
  inline void axpy(int n, const T* u, T* v) {                                                      \
    const T one = 1;                                                                               \
    const int inc = 1;                                                                             \
    x##axpy_(&n, &one, u, &inc, v, &inc);                                                          \
  }                                                                                                \
  inline void scal(int n, T* u) {                                                                  \
    const T one = 1;                                                                               \
    const int inc = 1;                                                                             \
    x##scal_(&n, &one, u, &inc);                                                                   \
  }                                                                                                \
  inline auto nrm2(int n, const T* u) {                                                            \
    const int inc = 1;                                                                             \
    return nrm##_(&n, u, &inc);                                                                    \
  }
BENCH_CALLS(s, float, snrm2)
BENCH_CALLS(d, double, dnrm2)
BENCH_CALLS(c, std::complex<float>, scnrm2)
BENCH_CALLS(z, std::complex<double>, dznrm2)
#undef BENCH_CALLS

}  // namespace fortran

#ifdef DEVOBJ_BENCH_CUDA
namespace vendor {

#define BENCH_CALLS(X, T, V, R, nrm)                                                                                 \
  inline V* cast(T* p) {                                                                                             \
    return reinterpret_cast<V*>(p);                                                                                  \
  }                                                                                                                  \
  inline const V* cast(const T* p) {                                                                                 \
    return reinterpret_cast<const V*>(p);                                                                            \
  }                                                                                                                  \
  inline void gemm(cublasHandle_t h, int m, int n, int k, const T* a, int lda, const T* b, int ldb, T* c, int ldc) { \
    const T one = 1, zero = 0;                                                                                       \
    cuda::check_blas(cublas##X##gemm(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, cast(&one), cast(a), lda, cast(b), ldb,   \
                                     cast(&zero), cast(c), ldc),                                                     \
                     "cublas" #X "gemm");                                                                            \
  }                                                                                                                  \
  inline void syrk(cublasHandle_t h, int n, int k, const T* a, int lda, T* c, int ldc) {                             \
    const T one = 1, zero = 0;                                                                                       \
    cuda::check_blas(cublas##X##syrk(h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, k, cast(&one), cast(a), lda,         \
                                     cast(&zero), cast(c), ldc),                                                     \
                     "cublas" #X "syrk");                                                                            \
  }                                                                                                                  \
  inline void trsm(cublasHandle_t h, devobj::Uplo uplo, int m, int n, const T* a, int lda, T* b, int ldb) {          \
    const T one = 1;                                                                                                 \
    const auto fill = uplo == devobj::Uplo::Lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;                 \
    cuda::check_blas(cublas##X##trsm(h, CUBLAS_SIDE_LEFT, fill, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, m, n, cast(&one), \
                                     cast(a), lda, cast(b), ldb),                                                    \
                     "cublas" #X "trsm");                                                                            \
  }                                                                                                                  \
  inline void gemv(cublasHandle_t h, int m, int n, const T* a, int lda, const T* u, T* v) {                          \
    const T one = 1, zero = 0;                                                                                       \
    cuda::check_blas(                                                                                                \
        cublas##X##gemv(h, CUBLAS_OP_N, m, n, cast(&one), cast(a), lda, cast(u), 1, cast(&zero), cast(v), 1),        \
        "cublas" #X "gemv");                                                                                         \
  }                                                                                                                  \
  inline void axpy(cublasHandle_t h, int n, const T* u, T* v) {                                                      \
    const T one = 1;                                                                                                 \
    cuda::check_blas(cublas##X##axpy(h, n, cast(&one), cast(u), 1, cast(v), 1), "cublas" #X "axpy");                 \
  }                                                                                                                  \
  inline void scal(cublasHandle_t h, int n, T* u) {                                                                  \
    const T one = 1;                                                                                                 \
    cuda::check_blas(cublas##X##scal(h, n, cast(&one), cast(u), 1), "cublas" #X "scal");                             \
  }                                                                                                                  \
  inline R nrm2(cublasHandle_t h, int n, const T* u) {                                                               \
    R result = 0;                                                                                                    \
    cuda::check_blas(cublas##nrm(h, n, cast(u), 1, &result), "cublas" #nrm);                                         \
    return result;                                                                                                   \
  }
BENCH_CALLS(S, float, float, float, Snrm2)
BENCH_CALLS(D, double, double, double, Dnrm2)
BENCH_CALLS(C, std::complex<float>, cuComplex, float, Scnrm2)
BENCH_CALLS(Z, std::complex<double>, cuDoubleComplex, double, Dznrm2)
#undef BENCH_CALLS

}  // namespace vendor
#endif

}  // namespace bench
