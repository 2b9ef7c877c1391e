// window_next: what a panel's factors do to columns right of it, in the panel's window and below it.
#include <algorithm>
#include <vector>

#include "kernels/host/blas_fortran.hpp"
#include "kernels/randomized.hpp"

namespace devobj::host {

template <class S>
void window_next(const std::int32_t* source, View<S> LU, View<S> B, View<S> A, View<S> low, Queue& q) {
  const std::int64_t K = LU.cols, others = A.rows - K;
  const fortran::BlasInt k(K, "window_next", "columns of LU"), m(others, "window_next", "rows of A"),
      n(A.cols, "window_next", "columns of A"), below(B.rows, "window_next", "rows of B"),
      ld_LU(LU.ld, "window_next", "the ld of LU"), ld_B(B.ld, "window_next", "the ld of B"),
      ld_A(A.ld, "window_next", "the ld of A"), ld_low(low.ld, "window_next", "the ld of low");
  window_exchange(source, 1, window_panel_cols<S>, A, q);
  q.submit("window_next", [=] {
    fortran::trsm(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, k, n, S(1), LU.data, ld_LU, A.data, ld_A);
    if (others > 0)
      fortran::gemm(Op::NoTrans, Op::NoTrans, m, n, k, S(-1), LU.data + K, ld_LU, A.data, ld_A, S(1), A.data + K, ld_A);
    if (B.rows == 0) return;
    std::vector<S> V(K * A.cols);
    for (std::int64_t j = 0; j < A.cols; ++j) std::copy(A.data + j * A.ld, A.data + j * A.ld + K, V.data() + j * K);
    fortran::trsm(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, k, n, S(1), LU.data, ld_LU, V.data(), k);
    fortran::gemm(Op::NoTrans, Op::NoTrans, below, n, k, S(-1), B.data, ld_B, V.data(), k, S(1), low.data, ld_low);
  });
}

#define INSTANTIATE(S) template void window_next<S>(const std::int32_t*, View<S>, View<S>, View<S>, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
