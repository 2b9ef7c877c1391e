// Matrix utilities on views: checks and dispatch.
#include "blas_checks.hpp"
#include "devobj/blas.hpp"
#include "kernels/kernels.hpp"

namespace devobj {

template <class T>
void lacpy(Uplo uplo, View<T> A, View<T> B, Queue& q) {
  require_part("lacpy", uplo);
  require_shape("lacpy", "B", B, A.rows, A.cols);
  require_distinct("lacpy", "B", B, "A", A);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::lacpy(uplo, A, B, q);
  host::lacpy(uplo, A, B, q);
}

template <class T>
void laset(Uplo uplo, scalar<T> offdiag, scalar<T> diag, View<T> A, Queue& q) {
  require_part("laset", uplo);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::laset(uplo, offdiag, diag, A, q);
  host::laset(uplo, offdiag, diag, A, q);
}

namespace {

void check_transposes(Op op) {
  require(op == Op::Trans || op == Op::ConjTrans, "transpose: op is '", static_cast<char>(op),
          "', must be one of T, C");
}

}  // namespace

template <class T>
void transpose(Op op, View<T> A, View<T> B, Queue& q) {
  check_transposes(op);
  require_shape("transpose", "B", B, A.cols, A.rows);
  require_distinct("transpose", "B", B, "A", A);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::transpose(op, A, B, q);
  host::transpose(op, A, B, q);
}

template <class T>
void transpose(Op op, View<T> A, Queue& q) {
  check_transposes(op);
  require_square("transpose", "A", A);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::transpose_in_place(op, A, q);
  host::transpose_in_place(op, A, q);
}

template <class T>
void laswp(View<T> A, std::int64_t k1, std::int64_t k2, View<std::int32_t> ipiv, bool forward, Queue& q) {
  require(0 <= k1 && k1 <= k2 && k2 <= A.rows, "laswp: rows ", k1, " to ", k2, " are not within 0 to ", A.rows);
  require(ipiv.rows <= 1 || ipiv.cols <= 1, "laswp: ipiv must be a vector, but is ", ipiv.rows, " x ", ipiv.cols);
  require(ipiv.contiguous(), "laswp: the elements of ipiv must be contiguous, but are ", ipiv.ld, " apart");
  require(ipiv.size() >= k2, "laswp: ipiv has ", ipiv.size(), " elements, must have at least ", k2);
  require_distinct("laswp", "A", A, "ipiv", ipiv);
  const View<std::int32_t> pivots(ipiv.data, ipiv.size(), 1);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::laswp(A, k1, k2, pivots, forward, q);
  host::laswp(A, k1, k2, pivots, forward, q);
}

template <class T>
real_t<T> lange(Norm norm, View<T> A, Queue& q) {
  require(norm == Norm::One || norm == Norm::Inf || norm == Norm::Fro || norm == Norm::Max, "lange: norm is '",
          static_cast<char>(norm), "', must be one of 1, I, F, M");
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::lange(norm, A, q);
  return host::lange(norm, A, q);
}

#define INSTANTIATE(T)                                                                           \
  template void lacpy<T>(Uplo, View<T>, View<T>, Queue&);                                        \
  template void laset<T>(Uplo, scalar<T>, scalar<T>, View<T>, Queue&);                           \
  template void transpose<T>(Op, View<T>, View<T>, Queue&);                                      \
  template void transpose<T>(Op, View<T>, Queue&);                                               \
  template void laswp<T>(View<T>, std::int64_t, std::int64_t, View<std::int32_t>, bool, Queue&); \
  template real_t<T> lange<T>(Norm, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
