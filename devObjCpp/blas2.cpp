// BLAS level 2 on views: checks, views to vectors, dispatch.
#include "blas_checks.hpp"
#include "devobj/blas.hpp"
#include "kernels/kernels.hpp"
#include "triangles.hpp"

namespace devobj {

template <class T>
void gemv(Op op, scalar<T> alpha, View<T> A, View<T> x, scalar<T> beta, View<T> y, Queue& q) {
  require_op("gemv", "op", op);
  const bool plain = op == Op::NoTrans;
  const Vector<T> in = checked_vector("gemv", "x", x, plain ? A.cols : A.rows);
  const Vector<T> out = checked_vector("gemv", "y", y, plain ? A.rows : A.cols);
  require_distinct("gemv", "y", y, "A", A);
  require_distinct("gemv", "y", y, "x", x);
  if (y.empty()) return;
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::gemv(op, alpha, A, in, beta, out, q);
  host::gemv(op, alpha, A, in, beta, out, q);
}

template <class T>
void geru(scalar<T> alpha, View<T> x, View<T> y, View<T> A, Queue& q) {
  const Vector<T> left = checked_vector("geru", "x", x, A.rows), right = checked_vector("geru", "y", y, A.cols);
  require_distinct("geru", "A", A, "x", x);
  require_distinct("geru", "A", A, "y", y);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::geru(alpha, left, right, A, q);
  host::geru(alpha, left, right, A, q);
}

template <class T>
void gerc(scalar<T> alpha, View<T> x, View<T> y, View<T> A, Queue& q) {
  const Vector<T> left = checked_vector("gerc", "x", x, A.rows), right = checked_vector("gerc", "y", y, A.cols);
  require_distinct("gerc", "A", A, "x", x);
  require_distinct("gerc", "A", A, "y", y);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::gerc(alpha, left, right, A, q);
  host::gerc(alpha, left, right, A, q);
}

namespace {

template <class T>
Vector<T> check_triangular(const char* routine, Uplo uplo, Op op, Diag diag, View<T> A, View<T> x) {
  require_uplo(routine, uplo);
  require_op(routine, "op", op);
  require_diag(routine, diag);
  require_square(routine, "A", A);
  require_distinct(routine, "x", x, "A", A);
  return checked_vector(routine, "x", x, A.rows);
}

}  // namespace

template <class T>
void trmv(Uplo uplo, Op op, Diag diag, View<T> A, View<T> x, Queue& q) {
  const Vector<T> vector = check_triangular("trmv", uplo, op, diag, A, x);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::trmv(uplo, op, diag, A, vector, q);
  host::trmv(uplo, op, diag, A, vector, q);
}

template <class T>
void trsv(Uplo uplo, Op op, Diag diag, View<T> A, View<T> x, Queue& q) {
  const Vector<T> vector = check_triangular("trsv", uplo, op, diag, A, x);
  if constexpr (cuda_built)
    if (q.on_cuda()) {
      if (A.empty() || vector.inc != 1) return cuda::trsv(uplo, op, diag, A, vector, q);
      const View<T> column(vector.data, vector.n, 1, vector.n);
      return TriangleSolver<T>(Math::strict, A.rows, 1, q).solve(uplo, op, diag, A, column, q);
    }
  host::trsv(uplo, op, diag, A, vector, q);
}

#define INSTANTIATE(T)                                                                \
  template void gemv<T>(Op, scalar<T>, View<T>, View<T>, scalar<T>, View<T>, Queue&); \
  template void geru<T>(scalar<T>, View<T>, View<T>, View<T>, Queue&);                \
  template void gerc<T>(scalar<T>, View<T>, View<T>, View<T>, Queue&);                \
  template void trmv<T>(Uplo, Op, Diag, View<T>, View<T>, Queue&);                    \
  template void trsv<T>(Uplo, Op, Diag, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
