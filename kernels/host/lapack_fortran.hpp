// The Fortran LAPACK that the host backend stands on: prototypes, and one C++ wrapper per routine for the four types.
//
// Sizes are 32-bit there and come in as BlasInt (blas_fortran.hpp), which throws if an int64 does not fit. Every wrapper
// with an info returns it: 0 or LAPACK's positive value; a negative one (an argument that LAPACK refuses) is thrown as
// internal_error, since arguments have been checked before. Routines with a workspace come in two forms: `work` and
// `lwork` as in LAPACK (`?_work_size` asks for the best lwork), or without them, where the wrapper allocates.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "kernels/host/blas_fortran.hpp"

namespace devobj::fortran {

extern "C" {
#define DEVOBJ_PROTOTYPES(p, T, R)                                                                                     \
  void p##getrf_(const int* m, const int* n, T* A, const int* lda, int* ipiv, int* info);                              \
  void p##getf2_(const int* m, const int* n, T* A, const int* lda, int* ipiv, int* info);                              \
  void p##getrs_(const char* op, const int* n, const int* nrhs, const T* A, const int* lda, const int* ipiv, T* B,     \
                 const int* ldb, int* info, std::size_t);                                                              \
  void p##getri_(const int* n, T* A, const int* lda, const int* ipiv, T* work, const int* lwork, int* info);           \
  void p##trtri_(const char* uplo, const char* diag, const int* n, T* A, const int* lda, int* info, std::size_t,       \
                 std::size_t);                                                                                         \
  void p##laswp_(const int* n, T* A, const int* lda, const int* k1, const int* k2, const int* ipiv, const int* inc);   \
  void p##geqrf_(const int* m, const int* n, T* A, const int* lda, T* tau, T* work, const int* lwork, int* info);      \
  void p##geqr2_(const int* m, const int* n, T* A, const int* lda, T* tau, T* work, int* info);                        \
  void p##gelqf_(const int* m, const int* n, T* A, const int* lda, T* tau, T* work, const int* lwork, int* info);      \
  void p##gels_(const char* op, const int* m, const int* n, const int* nrhs, T* A, const int* lda, T* B,               \
                const int* ldb, T* work, const int* lwork, int* info, std::size_t);                                    \
  void p##larft_(const char* direct, const char* storev, const int* n, const int* k, const T* V, const int* ldv,       \
                 const T* tau, T* Tri, const int* ldt, std::size_t, std::size_t);                                      \
  R p##lange_(const char* norm, const int* m, const int* n, const T* A, const int* lda, R* work, std::size_t);
#define DEVOBJ_ORTHOGONAL_PROTOTYPES(gqr, mqr, glq, mlq, T)                                                            \
  void gqr(const int* m, const int* n, const int* k, T* A, const int* lda, const T* tau, T* work, const int* lwork,    \
           int* info);                                                                                                 \
  void mqr(const char* side, const char* op, const int* m, const int* n, const int* k, const T* A, const int* lda,     \
           const T* tau, T* C, const int* ldc, T* work, const int* lwork, int* info, std::size_t, std::size_t);        \
  void glq(const int* m, const int* n, const int* k, T* A, const int* lda, const T* tau, T* work, const int* lwork,    \
           int* info);                                                                                                 \
  void mlq(const char* side, const char* op, const int* m, const int* n, const int* k, const T* A, const int* lda,     \
           const T* tau, T* C, const int* ldc, T* work, const int* lwork, int* info, std::size_t, std::size_t);

DEVOBJ_PROTOTYPES(s, float, float)
DEVOBJ_PROTOTYPES(d, double, double)
DEVOBJ_PROTOTYPES(c, std::complex<float>, float)
DEVOBJ_PROTOTYPES(z, std::complex<double>, double)
DEVOBJ_ORTHOGONAL_PROTOTYPES(sorgqr_, sormqr_, sorglq_, sormlq_, float)
DEVOBJ_ORTHOGONAL_PROTOTYPES(dorgqr_, dormqr_, dorglq_, dormlq_, double)
DEVOBJ_ORTHOGONAL_PROTOTYPES(cungqr_, cunmqr_, cunglq_, cunmlq_, std::complex<float>)
DEVOBJ_ORTHOGONAL_PROTOTYPES(zungqr_, zunmqr_, zunglq_, zunmlq_, std::complex<double>)
#undef DEVOBJ_PROTOTYPES
#undef DEVOBJ_ORTHOGONAL_PROTOTYPES

// The third workspace of trcon is integer for real types and real for complex ones.
void strcon_(const char* norm, const char* uplo, const char* diag, const int* n, const float* A, const int* lda,
             float* rcond, float* work, int* iwork, int* info, std::size_t, std::size_t, std::size_t);
void dtrcon_(const char* norm, const char* uplo, const char* diag, const int* n, const double* A, const int* lda,
             double* rcond, double* work, int* iwork, int* info, std::size_t, std::size_t, std::size_t);
void ctrcon_(const char* norm, const char* uplo, const char* diag, const int* n, const std::complex<float>* A,
             const int* lda, float* rcond, std::complex<float>* work, float* rwork, int* info, std::size_t, std::size_t,
             std::size_t);
void ztrcon_(const char* norm, const char* uplo, const char* diag, const int* n, const std::complex<double>* A,
             const int* lda, double* rcond, std::complex<double>* work, double* rwork, int* info, std::size_t,
             std::size_t, std::size_t);
}

/// info as it came back; negative values are thrown.
inline std::int64_t checked_info(const char* routine, int info) {
  if (info < 0) fail(Status::internal_error, routine, ": LAPACK refuses argument number ", -info);
  return info;
}

/// A workspace query's answer as a size. It comes in T's precision, so that large ones may have been rounded down.
template <class T> BlasInt work_size(const char* routine, T answer) {
  double size = static_cast<double>(std::real(answer));
  if (std::is_same_v<real_t<T>, float> && size > 1 << 24) size *= 1 + 1.2e-7;
  return BlasInt(std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(size))), routine, "the workspace");
}

template <class T> std::unique_ptr<T[]> workspace(std::int64_t size) {
  return std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(std::max<std::int64_t>(1, size)));
}

/// Asks `call(work, lwork)` for its best workspace.
template <class T, class Call> BlasInt query(const char* routine, Call&& call) {
  T answer{};
  call(&answer, BlasInt(-1, routine, "the workspace"));
  return work_size(routine, answer);
}

// ---- LU ----
template <class T> std::int64_t getrf(BlasInt m, BlasInt n, T* A, BlasInt lda, std::int32_t* ipiv) {
  int info = 0;
  by_type<T>(sgetrf_, dgetrf_, cgetrf_, zgetrf_)(m, n, A, lda, ipiv, &info);
  return checked_info("getrf", info);
}
/// The unblocked form.
template <class T> std::int64_t getf2(BlasInt m, BlasInt n, T* A, BlasInt lda, std::int32_t* ipiv) {
  int info = 0;
  by_type<T>(sgetf2_, dgetf2_, cgetf2_, zgetf2_)(m, n, A, lda, ipiv, &info);
  return checked_info("getf2", info);
}
template <class T>
void getrs(Letter<Op> op, BlasInt n, BlasInt nrhs, const T* A, BlasInt lda, const std::int32_t* ipiv, T* B,
           BlasInt ldb) {
  int info = 0;
  by_type<T>(sgetrs_, dgetrs_, cgetrs_, zgetrs_)(op, n, nrhs, A, lda, ipiv, B, ldb, &info, 1);
  checked_info("getrs", info);
}
template <class T>
std::int64_t getri(BlasInt n, T* A, BlasInt lda, const std::int32_t* ipiv, T* work, BlasInt lwork) {
  int info = 0;
  by_type<T>(sgetri_, dgetri_, cgetri_, zgetri_)(n, A, lda, ipiv, work, lwork, &info);
  return checked_info("getri", info);
}
template <class T> BlasInt getri_work_size(BlasInt n, BlasInt lda) {
  return query<T>("getri", [&](T* w, BlasInt l) { getri<T>(n, nullptr, lda, nullptr, w, l); });
}
template <class T> std::int64_t getri(BlasInt n, T* A, BlasInt lda, const std::int32_t* ipiv) {
  BlasInt lwork = getri_work_size<T>(n, lda);
  return getri(n, A, lda, ipiv, workspace<T>(lwork.value()).get(), lwork);
}
template <class T> std::int64_t trtri(Letter<Uplo> uplo, Letter<Diag> diag, BlasInt n, T* A, BlasInt lda) {
  int info = 0;
  by_type<T>(strtri_, dtrtri_, ctrtri_, ztrtri_)(uplo, diag, n, A, lda, &info, 1, 1);
  return checked_info("trtri", info);
}
/// Row swaps k1 ... k2 (from 1); inc = 1 forward, -1 backward.
template <class T>
void laswp(BlasInt n, T* A, BlasInt lda, BlasInt k1, BlasInt k2, const std::int32_t* ipiv, BlasInt inc) {
  by_type<T>(slaswp_, dlaswp_, claswp_, zlaswp_)(n, A, lda, k1, k2, ipiv, inc);
}

// ---- QR and LQ ----
template <class T>
void geqrf(BlasInt m, BlasInt n, T* A, BlasInt lda, T* tau, T* work, BlasInt lwork) {
  int info = 0;
  by_type<T>(sgeqrf_, dgeqrf_, cgeqrf_, zgeqrf_)(m, n, A, lda, tau, work, lwork, &info);
  checked_info("geqrf", info);
}
template <class T> BlasInt geqrf_work_size(BlasInt m, BlasInt n, BlasInt lda) {
  return query<T>("geqrf", [&](T* w, BlasInt l) { geqrf<T>(m, n, nullptr, lda, nullptr, w, l); });
}
template <class T> void geqrf(BlasInt m, BlasInt n, T* A, BlasInt lda, T* tau) {
  BlasInt lwork = geqrf_work_size<T>(m, n, lda);
  geqrf(m, n, A, lda, tau, workspace<T>(lwork.value()).get(), lwork);
}
/// The unblocked form; work has n elements.
template <class T> void geqr2(BlasInt m, BlasInt n, T* A, BlasInt lda, T* tau, T* work) {
  int info = 0;
  by_type<T>(sgeqr2_, dgeqr2_, cgeqr2_, zgeqr2_)(m, n, A, lda, tau, work, &info);
  checked_info("geqr2", info);
}
template <class T>
void gelqf(BlasInt m, BlasInt n, T* A, BlasInt lda, T* tau, T* work, BlasInt lwork) {
  int info = 0;
  by_type<T>(sgelqf_, dgelqf_, cgelqf_, zgelqf_)(m, n, A, lda, tau, work, lwork, &info);
  checked_info("gelqf", info);
}
template <class T> BlasInt gelqf_work_size(BlasInt m, BlasInt n, BlasInt lda) {
  return query<T>("gelqf", [&](T* w, BlasInt l) { gelqf<T>(m, n, nullptr, lda, nullptr, w, l); });
}
template <class T> void gelqf(BlasInt m, BlasInt n, T* A, BlasInt lda, T* tau) {
  BlasInt lwork = gelqf_work_size<T>(m, n, lda);
  gelqf(m, n, A, lda, tau, workspace<T>(lwork.value()).get(), lwork);
}

/// Q's first n columns from k reflectors (ungqr for complex).
template <class T>
void orgqr(BlasInt m, BlasInt n, BlasInt k, T* A, BlasInt lda, const T* tau, T* work, BlasInt lwork) {
  int info = 0;
  by_type<T>(sorgqr_, dorgqr_, cungqr_, zungqr_)(m, n, k, A, lda, tau, work, lwork, &info);
  checked_info("orgqr", info);
}
template <class T> BlasInt orgqr_work_size(BlasInt m, BlasInt n, BlasInt k, BlasInt lda) {
  return query<T>("orgqr", [&](T* w, BlasInt l) { orgqr<T>(m, n, k, nullptr, lda, nullptr, w, l); });
}
template <class T> void orgqr(BlasInt m, BlasInt n, BlasInt k, T* A, BlasInt lda, const T* tau) {
  BlasInt lwork = orgqr_work_size<T>(m, n, k, lda);
  orgqr(m, n, k, A, lda, tau, workspace<T>(lwork.value()).get(), lwork);
}

/// C = op(Q) C or C op(Q) (unmqr for complex); op is NoTrans or adjoint<T>.
template <class T>
void ormqr(Letter<Side> side, Letter<Op> op, BlasInt m, BlasInt n, BlasInt k, const T* A, BlasInt lda, const T* tau,
           T* C, BlasInt ldc, T* work, BlasInt lwork) {
  int info = 0;
  by_type<T>(sormqr_, dormqr_, cunmqr_, zunmqr_)(side, op, m, n, k, A, lda, tau, C, ldc, work, lwork, &info, 1, 1);
  checked_info("ormqr", info);
}
template <class T>
BlasInt ormqr_work_size(Letter<Side> side, Letter<Op> op, BlasInt m, BlasInt n, BlasInt k, BlasInt lda, BlasInt ldc) {
  return query<T>("ormqr", [&](T* w, BlasInt l) {
    ormqr<T>(side, op, m, n, k, nullptr, lda, nullptr, nullptr, ldc, w, l);
  });
}
template <class T>
void ormqr(Letter<Side> side, Letter<Op> op, BlasInt m, BlasInt n, BlasInt k, const T* A, BlasInt lda, const T* tau,
           T* C, BlasInt ldc) {
  BlasInt lwork = ormqr_work_size<T>(side, op, m, n, k, lda, ldc);
  ormqr(side, op, m, n, k, A, lda, tau, C, ldc, workspace<T>(lwork.value()).get(), lwork);
}

/// The first m rows of the Q of an LQ factorization (unglq for complex).
template <class T> void orglq(BlasInt m, BlasInt n, BlasInt k, T* A, BlasInt lda, const T* tau) {
  auto call = [&](T* work, BlasInt lwork) {
    int info = 0;
    by_type<T>(sorglq_, dorglq_, cunglq_, zunglq_)(m, n, k, A, lda, tau, work, lwork, &info);
    checked_info("orglq", info);
  };
  BlasInt lwork = query<T>("orglq", call);
  call(workspace<T>(lwork.value()).get(), lwork);
}
/// C = op(Q) C or C op(Q) with the Q of an LQ factorization (unmlq for complex).
template <class T>
void ormlq(Letter<Side> side, Letter<Op> op, BlasInt m, BlasInt n, BlasInt k, const T* A, BlasInt lda, const T* tau,
           T* C, BlasInt ldc) {
  auto call = [&](T* work, BlasInt lwork) {
    int info = 0;
    by_type<T>(sormlq_, dormlq_, cunmlq_, zunmlq_)(side, op, m, n, k, A, lda, tau, C, ldc, work, lwork, &info, 1, 1);
    checked_info("ormlq", info);
  };
  BlasInt lwork = query<T>("ormlq", call);
  call(workspace<T>(lwork.value()).get(), lwork);
}

/// T of the block reflector of V's columns (n x k, forward); see LAPACK.
template <class T> void larft(BlasInt n, BlasInt k, const T* V, BlasInt ldv, const T* tau, T* Tri, BlasInt ldt) {
  by_type<T>(slarft_, dlarft_, clarft_, zlarft_)("F", "C", n, k, V, ldv, tau, Tri, ldt, 1, 1);
}

template <class T>
std::int64_t gels(Letter<Op> op, BlasInt m, BlasInt n, BlasInt nrhs, T* A, BlasInt lda, T* B, BlasInt ldb, T* work,
                  BlasInt lwork) {
  int info = 0;
  by_type<T>(sgels_, dgels_, cgels_, zgels_)(op, m, n, nrhs, A, lda, B, ldb, work, lwork, &info, 1);
  return checked_info("gels", info);
}
template <class T>
std::int64_t gels(Letter<Op> op, BlasInt m, BlasInt n, BlasInt nrhs, T* A, BlasInt lda, T* B, BlasInt ldb) {
  BlasInt lwork = query<T>("gels", [&](T* w, BlasInt l) { gels<T>(op, m, n, nrhs, A, lda, B, ldb, w, l); });
  return gels(op, m, n, nrhs, A, lda, B, ldb, workspace<T>(lwork.value()).get(), lwork);
}

// ---- norms and conditions ----
/// 1 / cond of a triangular matrix, estimated in the one or the infinity norm.
template <class T>
real_t<T> trcon(Letter<Norm> norm, Letter<Uplo> uplo, Letter<Diag> diag, BlasInt n, const T* A, BlasInt lda) {
  using Third = std::conditional_t<is_complex<T>, real_t<T>, int>;
  real_t<T> rcond = 0;
  int info = 0;
  auto work = workspace<T>((is_complex<T> ? 2 : 3) * std::int64_t(n.value()));
  auto third = workspace<Third>(n.value());
  by_type<T>(strcon_, dtrcon_, ctrcon_, ztrcon_)(norm, uplo, diag, n, A, lda, &rcond, work.get(), third.get(), &info, 1,
                                                 1, 1);
  checked_info("trcon", info);
  return rcond;
}
template <class T> real_t<T> lange(Letter<Norm> norm, BlasInt m, BlasInt n, const T* A, BlasInt lda) {
  auto work = workspace<real_t<T>>(*norm == 'I' ? m.value() : 1);
  return by_type<T>(slange_, dlange_, clange_, zlange_)(norm, m, n, A, lda, work.get(), 1);
}

}  // namespace devobj::fortran
