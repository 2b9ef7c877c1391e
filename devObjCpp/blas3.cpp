// BLAS level 3 on views: checks and dispatch.
#include "blas_checks.hpp"
#include "devobj/blas.hpp"
#include "kernels/kernels.hpp"
#include "kernels/native.hpp"
#include "triangles.hpp"

namespace devobj {
namespace {

template <class T>
std::int64_t rows_of(Op op, View<T> A) {
  return op == Op::NoTrans ? A.rows : A.cols;
}
template <class T>
std::int64_t cols_of(Op op, View<T> A) {
  return op == Op::NoTrans ? A.cols : A.rows;
}

template <class T>
void check_product(const char* routine, View<T> A, View<T> B, View<T> C) {
  require_distinct(routine, "C", C, "A", A);
  require_distinct(routine, "C", C, "B", B);
}

template <class T>
void check_symmetric(const char* routine, Side side, Uplo uplo, View<T> A, View<T> B, View<T> C) {
  require_side(routine, side);
  require_uplo(routine, uplo);
  require_square(routine, "A", A);
  require_shape(routine, "B", B, C.rows, C.cols);
  const std::int64_t n = side == Side::Left ? C.rows : C.cols;
  require(A.rows == n, routine, ": A is ", A.rows, " x ", A.cols, ", but C has ", n,
          side == Side::Left ? " rows" : " columns");
  check_product(routine, A, B, C);
}

template <class T>
void check_rank_k(const char* routine, Uplo uplo, Op op, View<T> A, View<T> C) {
  require_uplo(routine, uplo);
  require_square(routine, "C", C);
  require(rows_of(op, A) == C.rows, routine, ": op(A) has ", rows_of(op, A), " rows, but C has ", C.rows);
  require_distinct(routine, "C", C, "A", A);
}

template <class T>
void check_triangular(const char* routine, Side side, Uplo uplo, Op op, Diag diag, View<T> A, View<T> B) {
  require_side(routine, side);
  require_uplo(routine, uplo);
  require_op(routine, "op", op);
  require_diag(routine, diag);
  require_square(routine, "A", A);
  const std::int64_t n = side == Side::Left ? B.rows : B.cols;
  require(A.rows == n, routine, ": A is ", A.rows, " x ", A.cols, ", but B has ", n,
          side == Side::Left ? " rows" : " columns");
  require_distinct(routine, "B", B, "A", A);
}

}  // namespace

template <class T>
void gemm(Op opA, Op opB, scalar<T> alpha, View<T> A, View<T> B, scalar<T> beta, View<T> C, Queue& q) {
  require_op("gemm", "opA", opA);
  require_op("gemm", "opB", opB);
  require(rows_of(opA, A) == C.rows, "gemm: op(A) has ", rows_of(opA, A), " rows, but C has ", C.rows);
  require(cols_of(opB, B) == C.cols, "gemm: op(B) has ", cols_of(opB, B), " columns, but C has ", C.cols);
  require(cols_of(opA, A) == rows_of(opB, B), "gemm: op(A) has ", cols_of(opA, A), " columns, but op(B) has ",
          rows_of(opB, B), " rows");
  check_product("gemm", A, B, C);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::gemm(opA, opB, alpha, A, B, beta, C, q);
  host::gemm(opA, opB, alpha, A, B, beta, C, q);
}

template <class T>
void symm(Side side, Uplo uplo, scalar<T> alpha, View<T> A, View<T> B, scalar<T> beta, View<T> C, Queue& q) {
  check_symmetric("symm", side, uplo, A, B, C);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::symm(side, uplo, alpha, A, B, beta, C, q);
  host::symm(side, uplo, alpha, A, B, beta, C, q);
}

template <class T>
void hemm(Side side, Uplo uplo, scalar<T> alpha, View<T> A, View<T> B, scalar<T> beta, View<T> C, Queue& q) {
  check_symmetric("hemm", side, uplo, A, B, C);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::hemm(side, uplo, alpha, A, B, beta, C, q);
  host::hemm(side, uplo, alpha, A, B, beta, C, q);
}

template <class T>
void syrk(Uplo uplo, Op op, scalar<T> alpha, View<T> A, scalar<T> beta, View<T> C, Queue& q) {
  require_op("syrk", "op", op);
  require(!is_complex<T> || op != Op::ConjTrans, "syrk: op is 'C', must be one of N, T for complex matrices");
  check_rank_k("syrk", uplo, op, A, C);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::syrk(uplo, op, alpha, A, beta, C, q);
  host::syrk(uplo, op, alpha, A, beta, C, q);
}

template <class T>
void herk(Uplo uplo, Op op, real_t<T> alpha, View<T> A, real_t<T> beta, View<T> C, Queue& q) {
  require_op("herk", "op", op);
  require(!is_complex<T> || op != Op::Trans, "herk: op is 'T', must be one of N, C for complex matrices");
  check_rank_k("herk", uplo, op, A, C);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::herk(uplo, op, alpha, A, beta, C, q);
  host::herk(uplo, op, alpha, A, beta, C, q);
}

template <class T>
void trmm(Side side, Uplo uplo, Op op, Diag diag, scalar<T> alpha, View<T> A, View<T> B, Queue& q) {
  check_triangular("trmm", side, uplo, op, diag, A, B);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::trmm(side, uplo, op, diag, alpha, A, B, q);
  host::trmm(side, uplo, op, diag, alpha, A, B, q);
}

template <class T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, scalar<T> alpha, View<T> A, View<T> B, Queue& q) {
  check_triangular("trsm", side, uplo, op, diag, A, B);
  if constexpr (cuda_built)
    if (q.on_cuda()) {
      if (side == Side::Right || alpha == T(0)) return cuda::trsm(side, uplo, op, diag, alpha, A, B, q);
      const TriangleSolver<T> triangle(Math::strict, A.rows, B.cols, q);
      cuda::scale(alpha, B, q);
      return triangle.solve(uplo, op, diag, A, B, q);
    }
  host::trsm(side, uplo, op, diag, alpha, A, B, q);
}

#define INSTANTIATE(T)                                                                        \
  template void gemm<T>(Op, Op, scalar<T>, View<T>, View<T>, scalar<T>, View<T>, Queue&);     \
  template void symm<T>(Side, Uplo, scalar<T>, View<T>, View<T>, scalar<T>, View<T>, Queue&); \
  template void hemm<T>(Side, Uplo, scalar<T>, View<T>, View<T>, scalar<T>, View<T>, Queue&); \
  template void syrk<T>(Uplo, Op, scalar<T>, View<T>, scalar<T>, View<T>, Queue&);            \
  template void herk<T>(Uplo, Op, real_t<T>, View<T>, real_t<T>, View<T>, Queue&);            \
  template void trmm<T>(Side, Uplo, Op, Diag, scalar<T>, View<T>, View<T>, Queue&);           \
  template void trsm<T>(Side, Uplo, Op, Diag, scalar<T>, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
