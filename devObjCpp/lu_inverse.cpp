// getri: the inverse from the factors of getrf, in place, with one block column of workspace.
#include <algorithm>

#include "blas_checks.hpp"
#include "devobj/blas.hpp"
#include "devobj/lu.hpp"
#include "devobj/matrix.hpp"
#include "kernels/dispatch.hpp"
#include "lu_pivots.hpp"

namespace devobj {
namespace {

constexpr std::int64_t block = 128;

// U = U^-1, upper triangular, block column by block column:
//   [ U00 U01 ]^-1   [ U00^-1  -U00^-1 U01 U11^-1 ]
//   [     U11 ]    = [          U11^-1            ]
template <class T> void trtri_upper(View<T> U, View<T> inverse, Queue& q) {
  const std::int64_t n = U.rows;
  for (std::int64_t j = 0; j < n; j += block) {
    const Range above{0, j}, J{j, std::min(j + block, n)}, first{0, J.size()};
    // U01 = -U00^-1 U01 U11^-1
    trmm(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(1), U(above, above), U(above, J), q);
    trsm(Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(-1), U(J, J), U(above, J), q);
    // U11 = U11^-1
    View<T> X = inverse(first, first);
    laset(Uplo::General, T(0), T(1), X, q);
    trsm(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, T(1), U(J, J), X, q);
    lacpy(Uplo::Upper, X, U(J, J), q);
  }
}

}  // namespace

template <class T> std::int64_t getri(View<T> A, View<std::int32_t> ipiv, Queue& q) {
  const std::int64_t n = A.rows;
  require_square("getri", "A", A);
  require_pivots("getri", "ipiv", ipiv, n);
  require_distinct("getri", "A", A, "ipiv", ipiv);
  if (n == 0) return 0;
  Matrix<std::int32_t> memory;
  const View<std::int32_t> pivots = contiguous_pivots(ipiv, memory, q);
  Matrix<T> L(n, std::min(block, n), q);
  reserve_for_laswp(n, q);
  if (const std::int64_t info = first_zero_diagonal(A, q)) return info;

  trtri_upper<T>(A, L, q);

  // X L = U^-1, from the last block column to the first; A's lower triangle makes place for X.
  const std::int64_t last = (n - 1) / block * block;
  for (std::int64_t j = last; j >= 0; j -= block) {
    const Range all{0, n}, J{j, std::min(j + block, n)}, after{J.end, n}, below{j, n}, columns{0, J.size()};
    lacpy(Uplo::Lower, A(below, J), L(below, columns), q);
    if (J.size() > 1) laset(Uplo::Lower, T(0), T(0), A({j + 1, J.end}, {j, J.end - 1}), q);
    if (after.size() > 0) laset(Uplo::General, T(0), T(0), A(after, J), q);
    // X(:, J) = (U^-1(:, J) - X(:, after) L(after, J)) L(J, J)^-1
    gemm(Op::NoTrans, Op::NoTrans, T(-1), A(all, after), L(after, columns), T(1), A(all, J), q);
    trsm(Side::Right, Uplo::Lower, Op::NoTrans, Diag::Unit, T(1), L(J, columns), A(all, J), q);
  }

  // A^-1 = X P: the swaps of columns, as swaps of rows of the transpose
  transpose(Op::Trans, A, q);
  laswp(A, 0, n, pivots, false, q);
  transpose(Op::Trans, A, q);
  q.wait();
  return 0;
}

#define INSTANTIATE(T) template std::int64_t getri<T>(View<T>, View<std::int32_t>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
