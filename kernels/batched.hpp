// Primitives on many small matrices at once: the same name and meaning in host/NAME.cpp and cuda/NAME.cu. Arguments
// have been checked by the caller (devObjCpp/batched.cpp); work goes to the queue in order, nothing waits, a warm call
// allocates nothing. Matrix k of a batch is independent of the others: NaN, zero pivots and the bits of its results
// stay its own.
#pragma once

#include "kernels/kernels.hpp"

namespace devobj {

/// `count` matrices of one shape and leading dimension, `stride` elements apart.
template <class T>
struct Batch {
  T* data = nullptr;
  std::int64_t rows = 0, cols = 0, ld = 1, stride = 0, count = 0;

  Batch() = default;
  /// The matrices side by side in A: matrix k is columns k cols ... (k + 1) cols - 1.
  Batch(View<T> A, std::int64_t count_)
      : data(A.data),
        rows(A.rows),
        cols(count_ > 0 ? A.cols / count_ : 0),
        ld(A.ld),
        stride(cols * A.ld),
        count(count_) {}
  bool empty() const noexcept { return rows == 0 || cols == 0 || count == 0; }
  /// The same block of each matrix.
  Batch operator()(Range r, Range c) const {
    Batch block = *this;
    block.rows = r.size();
    block.cols = c.size();
    block.data = block.empty() ? nullptr : data + r.begin + c.begin * ld;
    return block;
  }
  /// Matrix k as a view.
  View<T> operator[](std::int64_t k) const {
    View<T> A;
    A.rows = rows;
    A.cols = cols;
    A.ld = ld;
    A.data = rows == 0 || cols == 0 ? nullptr : data + k * stride;
    return A;
  }
};

/// The largest number of rows for which the GPU has kernels on batches; the host has no limit.
inline constexpr std::int64_t batched_rows_max = 1024;

#define DEVOBJ_BATCHED_PRIMITIVES                                                                                      \
  /* P A = L U for each matrix with LAPACK's pivots: ipiv is min(m, n) x count, info has count elements. A matrix with \
     m > batched_rows_max is not for cuda. (lu_batched) */                                                             \
  template <class T>                                                                                                   \
  void lu_batched(Batch<T> A, View<std::int32_t> ipiv, Vector<std::int32_t> info, Queue& q);                           \
  /* op(A) X = B with these factors, B overwritten by X; a matrix whose info is not 0 is left out, if info is given    \
     (n = 0: it is not). (solve_batched) */                                                                            \
  template <class T>                                                                                                   \
  void lu_solve_batched(Op op, Batch<T> LU, View<std::int32_t> ipiv, Vector<std::int32_t> info, Batch<T> B, Queue& q); \
  /* R X = B for the upper triangle R of the first n rows of each A, B's first n rows overwritten by X; info as above. \
     (solve_batched) */                                                                                                \
  template <class T>                                                                                                   \
  void upper_solve_batched(Batch<T> A, Vector<std::int32_t> info, Batch<T> B, Queue& q);                               \
  /* info(k) = the first i, from 1, with A(i, i) = 0 in matrix k, or 0. (solve_batched) */                             \
  template <class T>                                                                                                   \
  void zero_diagonal_batched(Batch<T> A, Vector<std::int32_t> info, Queue& q);                                         \
  /* A = Q R for each matrix, LAPACK's geqrf; tau is min(m, n) x count. m as for lu_batched. (qr_batched) */           \
  template <class T>                                                                                                   \
  void qr_batched(Batch<T> A, View<T> tau, Queue& q);                                                                  \
  /* B = Q^H B with the reflectors of qr_batched: the first tau.rows columns of V. (reflect_batched) */                \
  template <class T>                                                                                                   \
  void reflect_batched(Batch<T> V, View<T> tau, Batch<T> B, Queue& q);

namespace host {
DEVOBJ_BATCHED_PRIMITIVES
}
namespace cuda {
DEVOBJ_BATCHED_PRIMITIVES
/// Whether lu_solve_batched has shared memory enough for matrices of order n.
template <class T>
bool solve_batched_possible(std::int64_t n, const Queue& q);
/// min || B - A X || for each matrix by one kernel: A becomes its QR factors, B's first n rows X, or B Q^H B where info
/// is not 0, the first i from 1 with R(i, i) = 0. Only for shapes that are possible. (qr_batched_small)
template <class T>
void least_squares_batched(Batch<T> A, Vector<std::int32_t> info, Batch<T> B, Queue& q);
template <class T>
bool least_squares_batched_possible(Batch<T> A, Batch<T> B);
/// C -= A B for each matrix. (gemm_batched)
template <class T>
void gemm_batched(Batch<T> A, Batch<T> B, Batch<T> C, Queue& q);
}  // namespace cuda
#undef DEVOBJ_BATCHED_PRIMITIVES

}  // namespace devobj
