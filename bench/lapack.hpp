// The linked BLAS and LAPACK by their Fortran names, for the four types. Character arguments carry their length last.
#pragma once

#include <complex>
#include <cstddef>

extern "C" {
#define BENCH_DECLARE(x, T)                                                                                            \
  void x##getrf_(const int* m, const int* n, T* a, const int* lda, int* ipiv, int* info);                              \
  void x##geqrf_(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info);      \
  void x##gemm_(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*,          \
                const T*, const int*, const T*, T*, const int*, std::size_t, std::size_t);                             \
  void x##syrk_(const char*, const char*, const int*, const int*, const T*, const T*, const int*, const T*, T*,        \
                const int*, std::size_t, std::size_t);                                                                 \
  void x##trsm_(const char*, const char*, const char*, const char*, const int*, const int*, const T*, const T*,        \
                const int*, T*, const int*, std::size_t, std::size_t, std::size_t, std::size_t);                       \
  void x##gemv_(const char*, const int*, const int*, const T*, const T*, const int*, const T*, const int*, const T*,   \
                T*, const int*, std::size_t);                                                                          \
  void x##axpy_(const int*, const T*, const T*, const int*, T*, const int*);                                           \
  void x##scal_(const int*, const T*, T*, const int*);
BENCH_DECLARE(s, float)
BENCH_DECLARE(d, double)
BENCH_DECLARE(c, std::complex<float>)
BENCH_DECLARE(z, std::complex<double>)
#undef BENCH_DECLARE
float snrm2_(const int*, const float*, const int*);
double dnrm2_(const int*, const double*, const int*);
float scnrm2_(const int*, const std::complex<float>*, const int*);
double dznrm2_(const int*, const std::complex<double>*, const int*);
}
