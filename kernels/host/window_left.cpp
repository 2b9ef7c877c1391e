// window_left: B = B U^-1, the rows of L below a panel's window.
#include "kernels/host/blas_fortran.hpp"
#include "kernels/randomized.hpp"

namespace devobj::host {

template <class S>
void window_left(View<S> U, View<S> B, Queue& q) {
  const fortran::BlasInt m(B.rows, "window_left", "rows"), n(U.cols, "window_left", "columns"),
      ld_U(U.ld, "window_left", "the ld of U"), ld_B(B.ld, "window_left", "the ld of B");
  if (B.empty()) return;
  q.submit("window_left", [=] {
    fortran::trsm(Side::Right, Uplo::Upper, Op::NoTrans, Diag::NonUnit, m, n, S(1), U.data, ld_U, B.data, ld_B);
  });
}

#define INSTANTIATE(S) template void window_left<S>(View<S>, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
