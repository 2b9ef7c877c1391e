// The Fortran BLAS that the host backend stands on: prototypes, and one C++ wrapper per routine for the four types.
//
// Sizes are 32-bit there. A size comes in as a BlasInt, which is made from an int64 and throws if it does not fit; make
// it before the work is submitted, so that the caller gets the error and nothing is written. Characters are
// passed with their hidden lengths.
#pragma once

#include <cstddef>
#include <limits>

#include "devobj/error.hpp"
#include "devobj/types.hpp"
#include "devobj/view.hpp"
#include "kernels/by_type.hpp"

namespace devobj::fortran {

/// A 32-bit integer as Fortran takes it, by address.
class BlasInt {
 public:
  /// `what` is named in the error, e.g. BlasInt(A.ld, "gemm", "the ld of A").
  BlasInt(std::int64_t value, const char* routine, const char* what) : value_(static_cast<std::int32_t>(value)) {
    require(value_ == value, routine, ": ", what, " is ", value, ", but the host's BLAS and LAPACK take at most ",
            std::numeric_limits<std::int32_t>::max());
  }
  operator const std::int32_t*() const noexcept { return &value_; }
  std::int32_t value() const noexcept { return value_; }

 private:
  std::int32_t value_;
};

extern "C" {
#define DEVOBJ_PROTOTYPES(p, T)                                                                                        \
  void p##swap_(const int* n, T* x, const int* incx, T* y, const int* incy);                                           \
  void p##axpy_(const int* n, const T* alpha, const T* x, const int* incx, T* y, const int* incy);                     \
  void p##gemv_(const char* op, const int* m, const int* n, const T* alpha, const T* A, const int* lda, const T* x,    \
                const int* incx, const T* beta, T* y, const int* incy, std::size_t);                                   \
  void p##trmv_(const char* uplo, const char* op, const char* diag, const int* n, const T* A, const int* lda, T* x,    \
                const int* incx, std::size_t, std::size_t, std::size_t);                                               \
  void p##trsv_(const char* uplo, const char* op, const char* diag, const int* n, const T* A, const int* lda, T* x,    \
                const int* incx, std::size_t, std::size_t, std::size_t);                                               \
  void p##gemm_(const char* opA, const char* opB, const int* m, const int* n, const int* k, const T* alpha,            \
                const T* A, const int* lda, const T* B, const int* ldb, const T* beta, T* C, const int* ldc,           \
                std::size_t, std::size_t);                                                                             \
  void p##symm_(const char* side, const char* uplo, const int* m, const int* n, const T* alpha, const T* A,            \
                const int* lda, const T* B, const int* ldb, const T* beta, T* C, const int* ldc, std::size_t,          \
                std::size_t);                                                                                          \
  void p##syrk_(const char* uplo, const char* op, const int* n, const int* k, const T* alpha, const T* A,              \
                const int* lda, const T* beta, T* C, const int* ldc, std::size_t, std::size_t);                        \
  void p##trmm_(const char* side, const char* uplo, const char* op, const char* diag, const int* m, const int* n,      \
                const T* alpha, const T* A, const int* lda, T* B, const int* ldb, std::size_t, std::size_t,            \
                std::size_t, std::size_t);                                                                             \
  void p##trsm_(const char* side, const char* uplo, const char* op, const char* diag, const int* m, const int* n,      \
                const T* alpha, const T* A, const int* lda, T* B, const int* ldb, std::size_t, std::size_t,            \
                std::size_t, std::size_t);
#define DEVOBJ_REAL_PROTOTYPES(p, T)                                                                                   \
  void p##ger_(const int* m, const int* n, const T* alpha, const T* x, const int* incx, const T* y, const int* incy,   \
               T* A, const int* lda);
#define DEVOBJ_COMPLEX_PROTOTYPES(p, T, R)                                                                             \
  void p##geru_(const int* m, const int* n, const T* alpha, const T* x, const int* incx, const T* y, const int* incy,  \
                T* A, const int* lda);                                                                                 \
  void p##gerc_(const int* m, const int* n, const T* alpha, const T* x, const int* incx, const T* y, const int* incy,  \
                T* A, const int* lda);                                                                                 \
  void p##hemm_(const char* side, const char* uplo, const int* m, const int* n, const T* alpha, const T* A,            \
                const int* lda, const T* B, const int* ldb, const T* beta, T* C, const int* ldc, std::size_t,          \
                std::size_t);                                                                                          \
  void p##herk_(const char* uplo, const char* op, const int* n, const int* k, const R* alpha, const T* A,              \
                const int* lda, const R* beta, T* C, const int* ldc, std::size_t, std::size_t);

DEVOBJ_PROTOTYPES(s, float)
DEVOBJ_PROTOTYPES(d, double)
DEVOBJ_PROTOTYPES(c, std::complex<float>)
DEVOBJ_PROTOTYPES(z, std::complex<double>)
DEVOBJ_REAL_PROTOTYPES(s, float)
DEVOBJ_REAL_PROTOTYPES(d, double)
DEVOBJ_COMPLEX_PROTOTYPES(c, std::complex<float>, float)
DEVOBJ_COMPLEX_PROTOTYPES(z, std::complex<double>, double)
#undef DEVOBJ_PROTOTYPES
#undef DEVOBJ_REAL_PROTOTYPES
#undef DEVOBJ_COMPLEX_PROTOTYPES
}

/// LAPACK's letter of an option, by address.
template <class Option> class Letter {
 public:
  Letter(Option option) noexcept : letter_(static_cast<char>(option)) {}
  operator const char*() const noexcept { return &letter_; }

 private:
  char letter_;
};

template <class T> void swap(BlasInt n, T* x, BlasInt incx, T* y, BlasInt incy) {
  by_type<T>(sswap_, dswap_, cswap_, zswap_)(n, x, incx, y, incy);
}
template <class T> void axpy(BlasInt n, T alpha, const T* x, BlasInt incx, T* y, BlasInt incy) {
  by_type<T>(saxpy_, daxpy_, caxpy_, zaxpy_)(n, &alpha, x, incx, y, incy);
}

template <class T>
void gemv(Letter<Op> op, BlasInt m, BlasInt n, T alpha, const T* A, BlasInt lda, const T* x, BlasInt incx, T beta, T* y,
          BlasInt incy) {
  by_type<T>(sgemv_, dgemv_, cgemv_, zgemv_)(op, m, n, &alpha, A, lda, x, incx, &beta, y, incy, 1);
}
template <class T>
void geru(BlasInt m, BlasInt n, T alpha, const T* x, BlasInt incx, const T* y, BlasInt incy, T* A, BlasInt lda) {
  by_type<T>(sger_, dger_, cgeru_, zgeru_)(m, n, &alpha, x, incx, y, incy, A, lda);
}
template <class T>
void gerc(BlasInt m, BlasInt n, T alpha, const T* x, BlasInt incx, const T* y, BlasInt incy, T* A, BlasInt lda) {
  by_type<T>(sger_, dger_, cgerc_, zgerc_)(m, n, &alpha, x, incx, y, incy, A, lda);
}
template <class T>
void trmv(Letter<Uplo> uplo, Letter<Op> op, Letter<Diag> diag, BlasInt n, const T* A, BlasInt lda, T* x, BlasInt incx) {
  by_type<T>(strmv_, dtrmv_, ctrmv_, ztrmv_)(uplo, op, diag, n, A, lda, x, incx, 1, 1, 1);
}
template <class T>
void trsv(Letter<Uplo> uplo, Letter<Op> op, Letter<Diag> diag, BlasInt n, const T* A, BlasInt lda, T* x, BlasInt incx) {
  by_type<T>(strsv_, dtrsv_, ctrsv_, ztrsv_)(uplo, op, diag, n, A, lda, x, incx, 1, 1, 1);
}

template <class T>
void gemm(Letter<Op> opA, Letter<Op> opB, BlasInt m, BlasInt n, BlasInt k, T alpha, const T* A, BlasInt lda, const T* B,
          BlasInt ldb, T beta, T* C, BlasInt ldc) {
  by_type<T>(sgemm_, dgemm_, cgemm_, zgemm_)(opA, opB, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc, 1, 1);
}
template <class T>
void symm(Letter<Side> side, Letter<Uplo> uplo, BlasInt m, BlasInt n, T alpha, const T* A, BlasInt lda, const T* B,
          BlasInt ldb, T beta, T* C, BlasInt ldc) {
  by_type<T>(ssymm_, dsymm_, csymm_, zsymm_)(side, uplo, m, n, &alpha, A, lda, B, ldb, &beta, C, ldc, 1, 1);
}
template <class T>
void hemm(Letter<Side> side, Letter<Uplo> uplo, BlasInt m, BlasInt n, T alpha, const T* A, BlasInt lda, const T* B,
          BlasInt ldb, T beta, T* C, BlasInt ldc) {
  by_type<T>(ssymm_, dsymm_, chemm_, zhemm_)(side, uplo, m, n, &alpha, A, lda, B, ldb, &beta, C, ldc, 1, 1);
}
template <class T>
void syrk(Letter<Uplo> uplo, Letter<Op> op, BlasInt n, BlasInt k, T alpha, const T* A, BlasInt lda, T beta, T* C,
          BlasInt ldc) {
  by_type<T>(ssyrk_, dsyrk_, csyrk_, zsyrk_)(uplo, op, n, k, &alpha, A, lda, &beta, C, ldc, 1, 1);
}
template <class T>
void herk(Letter<Uplo> uplo, Letter<Op> op, BlasInt n, BlasInt k, real_t<T> alpha, const T* A, BlasInt lda,
          real_t<T> beta, T* C, BlasInt ldc) {
  by_type<T>(ssyrk_, dsyrk_, cherk_, zherk_)(uplo, op, n, k, &alpha, A, lda, &beta, C, ldc, 1, 1);
}
template <class T>
void trmm(Letter<Side> side, Letter<Uplo> uplo, Letter<Op> op, Letter<Diag> diag, BlasInt m, BlasInt n, T alpha,
          const T* A, BlasInt lda, T* B, BlasInt ldb) {
  by_type<T>(strmm_, dtrmm_, ctrmm_, ztrmm_)(side, uplo, op, diag, m, n, &alpha, A, lda, B, ldb, 1, 1, 1, 1);
}
template <class T>
void trsm(Letter<Side> side, Letter<Uplo> uplo, Letter<Op> op, Letter<Diag> diag, BlasInt m, BlasInt n, T alpha,
          const T* A, BlasInt lda, T* B, BlasInt ldb) {
  by_type<T>(strsm_, dtrsm_, ctrsm_, ztrsm_)(side, uplo, op, diag, m, n, &alpha, A, lda, B, ldb, 1, 1, 1, 1);
}

}  // namespace devobj::fortran
