// window_right: A = L^-1 A, the columns of U right of a panel.
#include "kernels/host/blas_fortran.hpp"
#include "kernels/randomized.hpp"

namespace devobj::host {

template <class S>
void window_right(View<S> L, View<S> A, Queue& q) {
  const fortran::BlasInt m(L.cols, "window_right", "rows"), n(A.cols, "window_right", "columns"),
      ld_L(L.ld, "window_right", "the ld of L"), ld_A(A.ld, "window_right", "the ld of A");
  if (A.empty()) return;
  q.submit("window_right", [=] {
    fortran::trsm(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, m, n, S(1), L.data, ld_L, A.data, ld_A);
  });
}

#define INSTANTIATE(S) template void window_right<S>(View<S>, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
