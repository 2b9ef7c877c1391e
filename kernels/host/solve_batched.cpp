// lu_solve_batched, upper_solve_batched: a matrix per thread by substitution, four right-hand sides at once; large ones
// by BLAS.
#include "kernels/host/batched.hpp"
#include "kernels/host/blas_fortran.hpp"

namespace devobj::host {
namespace {

/// op(A) x = x for C columns of B, by columns of A (NoTrans) or by rows of op(A), which are columns of A.
template <class T, int C>
void substitute(Uplo uplo, Op op, Diag diag, std::int64_t n, const T* A, std::int64_t lda, T* B, std::int64_t ldb) {
  const bool forward = (uplo == Uplo::Lower) == (op == Op::NoTrans);
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t j = forward ? step : n - 1 - step;
    const T* const a = A + j * lda;
    const std::int64_t first = uplo == Uplo::Lower ? j + 1 : 0, last = uplo == Uplo::Lower ? n : j;
    T x[C];
    for (int c = 0; c < C; ++c) x[c] = B[j + c * ldb];
    if (op != Op::NoTrans) {
      // x_j -= op(A)(j, done) x(done)
      for (std::int64_t i = first; i < last; ++i) {
        const T e = op == Op::ConjTrans ? conjugate(a[i]) : a[i];
        for (int c = 0; c < C; ++c) x[c] = minus_product(x[c], e, B[i + c * ldb]);
      }
    }
    if (diag == Diag::NonUnit) {
      const T d = op == Op::ConjTrans ? conjugate(a[j]) : a[j];
      for (int c = 0; c < C; ++c) x[c] = x[c] / d;
    }
    for (int c = 0; c < C; ++c) B[j + c * ldb] = x[c];
    if (op == Op::NoTrans) {
      // x(rest) -= A(rest, j) x_j
      for (std::int64_t i = first; i < last; ++i)
        for (int c = 0; c < C; ++c) B[i + c * ldb] = minus_product(B[i + c * ldb], a[i], x[c]);
    }
  }
}

/// op(A) X = B for a triangle of A.
template <class T>
void solve_triangle(Uplo uplo, Op op, Diag diag, View<T> A, View<T> B) {
  constexpr int at_once = 4;
  const std::int64_t n = A.cols;
  if (n * n > elements_of_one_thread) {
    const char* const name = "solve_batched";
    const fortran::BlasInt order(n, name, "the columns of A"), nrhs(B.cols, name, "the columns of B"),
        lda(A.ld, name, "the ld of A"), ldb(B.ld, name, "the ld of B");
    fortran::trsm(Side::Left, uplo, op, diag, order, nrhs, T(1), A.data, lda, B.data, ldb);
    return;
  }
  std::int64_t c = 0;
  for (; c + at_once <= B.cols; c += at_once)
    substitute<T, at_once>(uplo, op, diag, n, A.data, A.ld, B.data + c * B.ld, B.ld);
  for (; c < B.cols; ++c) substitute<T, 1>(uplo, op, diag, n, A.data, A.ld, B.data + c * B.ld, B.ld);
}

/// LAPACK's laswp; an entry that is no row is left out.
template <class T>
void swap_rows(View<T> B, const std::int32_t* ipiv, bool forward) {
  for (std::int64_t step = 0; step < B.rows; ++step) {
    const std::int64_t i = forward ? step : B.rows - 1 - step, other = ipiv[i] - 1;
    if (other == i || other < 0 || other >= B.rows) continue;
    for (std::int64_t c = 0; c < B.cols; ++c) std::swap(B.data[i + c * B.ld], B.data[other + c * B.ld]);
  }
}

/// solve(k) for all matrices whose info is 0 or not given, each thread some of them if they are small.
template <class T, class Solve>
void solve_each(Batch<T> A, Vector<std::int32_t> info, Batch<T> B, const Solve& solve) {
  const auto one = [&](std::int64_t k) {
    if (info.n == 0 || info.data[k * info.inc] == 0) solve(k);
  };
  if (A.cols * A.cols <= elements_of_one_thread)
    for_each_matrix(B.count, 2 * static_cast<double>(A.cols * A.cols) * static_cast<double>(B.cols), one);
  else
    for (std::int64_t k = 0; k < B.count; ++k) one(k);
}

}  // namespace

template <class T>
void lu_solve_batched(Op op, Batch<T> LU, View<std::int32_t> ipiv, Vector<std::int32_t> info, Batch<T> B, Queue& q) {
  if (B.empty()) return;
  q.submit("lu_solve_batched", [=] {
    solve_each(LU, info, B, [&](std::int64_t k) {
      const std::int32_t* const pivots = ipiv.data + k * ipiv.ld;
      if (op == Op::NoTrans) {
        // X = U^-1 L^-1 P B
        swap_rows(B[k], pivots, true);
        solve_triangle(Uplo::Lower, op, Diag::Unit, LU[k], B[k]);
        solve_triangle(Uplo::Upper, op, Diag::NonUnit, LU[k], B[k]);
      } else {
        // X = P^T L^-T U^-T B
        solve_triangle(Uplo::Upper, op, Diag::NonUnit, LU[k], B[k]);
        solve_triangle(Uplo::Lower, op, Diag::Unit, LU[k], B[k]);
        swap_rows(B[k], pivots, false);
      }
    });
  });
}

template <class T>
void upper_solve_batched(Batch<T> A, Vector<std::int32_t> info, Batch<T> B, Queue& q) {
  if (B.empty() || A.empty()) return;
  q.submit("upper_solve_batched", [=] {
    solve_each(A, info, B,
               [&](std::int64_t k) { solve_triangle(Uplo::Upper, Op::NoTrans, Diag::NonUnit, A[k], B[k]); });
  });
}

template <class T>
void zero_diagonal_batched(Batch<T> A, Vector<std::int32_t> info, Queue& q) {
  q.submit("zero_diagonal_batched", [=] {
    for (std::int64_t k = 0; k < A.count; ++k) {
      std::int32_t first = 0;
      for (std::int64_t i = 0; i < std::min(A.rows, A.cols) && first == 0; ++i)
        if (A[k].data[i + i * A.ld] == T(0)) first = static_cast<std::int32_t>(i + 1);
      info.data[k * info.inc] = first;
    }
  });
}

#define INSTANTIATE(T)                                                                                      \
  template void lu_solve_batched(Op, Batch<T>, View<std::int32_t>, Vector<std::int32_t>, Batch<T>, Queue&); \
  template void upper_solve_batched(Batch<T>, Vector<std::int32_t>, Batch<T>, Queue&);                      \
  template void zero_diagonal_batched(Batch<T>, Vector<std::int32_t>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
