// LAPACK's argument lists with host arrays: gpu_sgetrf ... gpu_zgeqrf, and with an underscore for Fortran 77 calls.
// On the GPU the matrix travels there and back; on the host backend LAPACK works in place.
#include <algorithm>
#include <limits>

#include "c_support.hpp"
#include "devobj/lu.hpp"
#include "devobj/qr.hpp"

using namespace devobj;
using namespace devobj::c;

namespace {

// LAPACK's info for argument number `argument`; the text names it.
template <class... Parts> int refused(int argument, const Parts&... parts) {
  guard([&] { fail(Status::invalid_argument, parts...); });
  return -argument;
}

// -100 - status where LAPACK has no info for it
template <class F> int run(F&& work) {
  int info = 0;
  const devobj_status status = guard([&] { info = static_cast<int>(work()); });
  return status == DEVOBJ_SUCCESS ? info : -100 - static_cast<int>(status);
}

template <class T> void getrf_on_host_arrays(const char* name, int m, int n, T* a, int lda, int* ipiv, int* info) {
  if (m < 0) return void(*info = refused(1, name, ": m is ", m, ", must not be negative"));
  if (n < 0) return void(*info = refused(2, name, ": n is ", n, ", must not be negative"));
  if (lda < std::max(1, m)) return void(*info = refused(4, name, ": lda is ", lda, ", must be at least max(1, m) = ", std::max(1, m)));
  const int k = std::min(m, n);
  if (k > 0 && a == nullptr) return void(*info = refused(3, name, ": a is a null pointer"));
  if (k > 0 && ipiv == nullptr) return void(*info = refused(5, name, ": ipiv is a null pointer"));
  *info = run([&]() -> std::int64_t {
    if (k == 0) return 0;
    runtime::ensure_open();
    Queue& q = queue();
    if (!q.on_cuda()) return getrf(View<T>(a, m, n, lda), View<std::int32_t>(ipiv, k, 1), q);
    Matrix<T> A(m, n, q);
    Matrix<std::int32_t> pivots(k, 1, q);
    to_device<T>({a, m, n, lda}, A, q);
    const std::int64_t zero_pivot = getrf(A, pivots.view(), q);
    to_host<T>(A, {a, m, n, lda}, q);
    to_host<std::int32_t>(pivots, {ipiv, k, 1, k}, q);
    return zero_pivot;
  });
}

template <class T>
void geqrf_on_host_arrays(const char* name, int m, int n, T* a, int lda, T* tau, T* work, int lwork, int* info) {
  if (m < 0) return void(*info = refused(1, name, ": m is ", m, ", must not be negative"));
  if (n < 0) return void(*info = refused(2, name, ": n is ", n, ", must not be negative"));
  if (lda < std::max(1, m)) return void(*info = refused(4, name, ": lda is ", lda, ", must be at least max(1, m) = ", std::max(1, m)));
  if (lwork != -1 && lwork < std::max(1, n))
    return void(*info = refused(7, name, ": lwork is ", lwork, ", must be at least max(1, n) = ", std::max(1, n)));
  if (work != nullptr) {
    // The size as a number of T that is not below n: a float cannot hold every int.
    const auto size = static_cast<real_t<T>>(std::max(1, n));
    work[0] = static_cast<double>(size) < std::max(1, n) ? std::nextafter(size, std::numeric_limits<real_t<T>>::max()) : size;
  }
  *info = 0;
  const int k = std::min(m, n);
  if (lwork == -1 || k == 0) return;
  if (a == nullptr) return void(*info = refused(3, name, ": a is a null pointer"));
  if (tau == nullptr) return void(*info = refused(5, name, ": tau is a null pointer"));
  *info = run([&]() -> std::int64_t {
    runtime::ensure_open();
    Queue& q = queue();
    if (!q.on_cuda()) {
      geqrf(View<T>(a, m, n, lda), View<T>(tau, k, 1), q);
      return 0;
    }
    Matrix<T> A(m, n, q), taus(k, 1, q);
    to_device<T>({a, m, n, lda}, A, q);
    geqrf(A.view(), taus.view(), q);
    to_host<T>(A, {a, m, n, lda}, q);
    to_host<T>(taus, {tau, k, 1, k}, q);
    return 0;
  });
}

}  // namespace

extern "C" {

#define GETRF(name, T, C)                                                                                  \
  void name(const int* m, const int* n, C* a, const int* lda, int* ipiv, int* info) {                      \
    getrf_on_host_arrays(#name, *m, *n, static_cast<T*>(static_cast<void*>(a)), *lda, ipiv, info);         \
  }                                                                                                        \
  void name##_(const int* m, const int* n, C* a, const int* lda, int* ipiv, int* info) {                   \
    name(m, n, a, lda, ipiv, info);                                                                        \
  }
#define GEQRF(name, T, C)                                                                                             \
  void name(const int* m, const int* n, C* a, const int* lda, C* tau, C* work, const int* lwork, int* info) {         \
    geqrf_on_host_arrays(#name, *m, *n, static_cast<T*>(static_cast<void*>(a)), *lda,                                 \
                         static_cast<T*>(static_cast<void*>(tau)), static_cast<T*>(static_cast<void*>(work)), *lwork, \
                         info);                                                                                       \
  }                                                                                                                   \
  void name##_(const int* m, const int* n, C* a, const int* lda, C* tau, C* work, const int* lwork, int* info) {      \
    name(m, n, a, lda, tau, work, lwork, info);                                                                       \
  }
GETRF(gpu_sgetrf, float, float)
GETRF(gpu_dgetrf, double, double)
GETRF(gpu_cgetrf, std::complex<float>, void)
GETRF(gpu_zgetrf, std::complex<double>, void)
GEQRF(gpu_sgeqrf, float, float)
GEQRF(gpu_dgeqrf, double, double)
GEQRF(gpu_cgeqrf, std::complex<float>, void)
GEQRF(gpu_zgeqrf, std::complex<double>, void)
#undef GETRF
#undef GEQRF

}  // extern "C"
