// The primitives that a backend provides: the same name and meaning in host/NAME.cpp and cuda/NAME.cu.
//
// Arguments have been checked by the caller (devObjCpp/blas.cpp and the algorithms): shapes agree, nothing overlaps.
// Work goes to the queue `q`, in order; nothing waits unless it returns a value. Empty operands are allowed.
// A host primitive is one q.submit(name, ...), a CUDA primitive ends in q.launched(name).
// Instantiated for float, double, complex<float>, complex<double> by DEVOBJ_FOR_EACH_SCALAR; `copy` for int32 too.
#pragma once

#include <cstddef>

#include "devobj/queue.hpp"
#include "devobj/types.hpp"
#include "devobj/view.hpp"

namespace devobj {

#ifdef DEVOBJ_HAVE_CUDA
inline constexpr bool cuda_built = true;
#else
inline constexpr bool cuda_built = false;
#endif

/// n elements, inc apart.
template <class T> struct Vector {
  T* data = nullptr;
  std::int64_t n = 0;
  std::int64_t inc = 1;
};

/// Rows that permute_columns exchanges without memory of its own.
inline constexpr int permute_at_once = 512;
/// Columns of a block reflector whose T larft makes; wider ones: devObjCpp/qr_triangle.hpp.
inline constexpr std::int64_t larft_max = 256;

#define DEVOBJ_PRIMITIVES                                                                                              \
  /* level 1 (blas1) */                                                                                                \
  template <class T> void swap(Vector<T> x, Vector<T> y, Queue& q);                                                    \
  template <class T> void scal(T alpha, Vector<T> x, Queue& q);                                                        \
  template <class T> void axpy(T alpha, Vector<T> x, Vector<T> y, Queue& q);                                           \
  template <class T> T dotu(Vector<T> x, Vector<T> y, Queue& q);  /* waits */                                          \
  template <class T> T dotc(Vector<T> x, Vector<T> y, Queue& q);  /* waits */                                          \
  template <class T> real_t<T> nrm2(Vector<T> x, Queue& q);       /* waits */                                          \
  template <class T> real_t<T> asum(Vector<T> x, Queue& q);       /* waits */                                          \
  template <class T> std::int64_t iamax(Vector<T> x, Queue& q);   /* waits; from 1 */                                  \
  /* level 2 (blas2) */                                                                                                \
  template <class T> void gemv(Op op, T alpha, View<T> A, Vector<T> x, T beta, Vector<T> y, Queue& q);                 \
  template <class T> void geru(T alpha, Vector<T> x, Vector<T> y, View<T> A, Queue& q);                                \
  template <class T> void gerc(T alpha, Vector<T> x, Vector<T> y, View<T> A, Queue& q);                                \
  template <class T> void trmv(Uplo uplo, Op op, Diag diag, View<T> A, Vector<T> x, Queue& q);                         \
  template <class T> void trsv(Uplo uplo, Op op, Diag diag, View<T> A, Vector<T> x, Queue& q);                         \
  /* level 3 (blas3) */                                                                                                \
  template <class T> void gemm(Op opA, Op opB, T alpha, View<T> A, View<T> B, T beta, View<T> C, Queue& q);            \
  template <class T> void symm(Side side, Uplo uplo, T alpha, View<T> A, View<T> B, T beta, View<T> C, Queue& q);      \
  template <class T> void hemm(Side side, Uplo uplo, T alpha, View<T> A, View<T> B, T beta, View<T> C, Queue& q);      \
  template <class T> void syrk(Uplo uplo, Op op, T alpha, View<T> A, T beta, View<T> C, Queue& q);                     \
  template <class T> void herk(Uplo uplo, Op op, real_t<T> alpha, View<T> A, real_t<T> beta, View<T> C, Queue& q);     \
  template <class T> void trmm(Side side, Uplo uplo, Op op, Diag diag, T alpha, View<T> A, View<T> B, Queue& q);       \
  template <class T> void trsm(Side side, Uplo uplo, Op op, Diag diag, T alpha, View<T> A, View<T> B, Queue& q);       \
  /* matrix utilities (lacpy, laset, transpose, laswp, lange: a file each) */                                          \
  template <class T> void lacpy(Uplo uplo, View<T> A, View<T> B, Queue& q);                                            \
  template <class T> void laset(Uplo uplo, T offdiag, T diag, View<T> A, Queue& q);                                    \
  template <class T> void transpose(Op op, View<T> A, View<T> B, Queue& q);                                            \
  template <class T> void transpose_in_place(Op op, View<T> A, Queue& q);                                              \
  template <class T>                                                                                                   \
  void laswp(View<T> A, std::int64_t k1, std::int64_t k2, View<std::int32_t> ipiv, bool forward, Queue& q);            \
  template <class T> real_t<T> lange(Norm norm, View<T> A, Queue& q); /* waits */                                      \
  /* Gathers rows: for i < count, row dst[i] of A = the old row src[i]; dst and src are in the queue's memory, each    \
     row appears at most once in either, and the sets are equal. A is given by its transpose At (cols x rows), so that \
     a row of A is contiguous. CUDA, for more than permute_at_once rows: through the queue's workspace, of At.rows x   \
     count elements. Paper 002's row-major LU. (permute_columns) */                                                    \
  template <class T>                                                                                                   \
  void permute_columns(View<T> At, std::int64_t count, const std::int32_t* dst, const std::int32_t* src, Queue& q);    \
  /* T (k x k upper triangular) of the block reflector H = I - V T V^H, from G = V^H V (upper triangle used) and tau.  \
     LAPACK's larft, forward, columnwise; k <= larft_max. T's strict lower triangle is set to zero. (larft) */         \
  template <class T> void larft(View<T> G, View<T> tau, View<T> Tri, Queue& q);                                        \
  /* V = the unit lower trapezoid of A with explicit ones and zeros; A.rows >= A.cols. (unit_lower) */                 \
  template <class T> void unit_lower(View<T> A, View<T> V, Queue& q);                                                  \
  /* perm = the permutation (from 1) that ipiv's swaps make of 1 ... perm.size(). (pivots_to_permutation) */           \
  void pivots_to_permutation(View<std::int32_t> ipiv, View<std::int32_t> perm, Queue& q);                              \
  /* First i (from 1) with A(i, i) == 0, or 0. Waits. (first_zero_diagonal) */                                         \
  template <class T> std::int64_t first_zero_diagonal(View<T> A, Queue& q);                                            \
  /* norms[j] = ||A(:, j)||_2 for the upper triangle of A, without overflow or underflow; norms has A.cols elements    \
     in the queue's memory. (column_norms) */                                                                          \
  template <class T> void column_norms(View<T> A, real_t<T>* norms, Queue& q);                                         \
  /* Row i of A *= factors[i] (or /= factors[i]; a factor 0 leaves the row). factors in the queue's memory.            \
     (scale_rows) */                                                                                                   \
  template <class T> void scale_rows(const real_t<T>* factors, bool divide, View<T> A, Queue& q);                      \
  /* Bt = Bt Lt^-1, Lt unit upper triangular (w x w, w <= 128): the row-major form of L^-1 B, one right-hand side per  \
     row of Bt. (trsm_right_unit) */                                                                                   \
  template <class T> void trsm_right_unit(View<T> Lt, View<T> Bt, Queue& q);

namespace host {
DEVOBJ_PRIMITIVES
}
namespace cuda {
DEVOBJ_PRIMITIVES
}
#undef DEVOBJ_PRIMITIVES

}  // namespace devobj
