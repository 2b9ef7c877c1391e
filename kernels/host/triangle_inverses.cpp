// triangle_inverses: of the two triangles of an LU factorization.
#include <algorithm>

#include "kernels/host/blas_fortran.hpp"
#include "kernels/randomized.hpp"

namespace devobj::host {

template <class S>
void triangle_inverses(View<S> LU, View<S> L, View<S> U, Queue& q) {
  const fortran::BlasInt n(LU.cols, "triangle_inverses", "order"), ld(LU.ld, "triangle_inverses", "the ld of LU"),
      ld_L(L.ld, "triangle_inverses", "the ld of L"), ld_U(U.ld, "triangle_inverses", "the ld of U");
  q.submit("triangle_inverses", [=] {
    for (const View<S> X : {L, U})
      for (std::int64_t j = 0; j < LU.cols; ++j) {
        std::fill(X.data + j * X.ld, X.data + j * X.ld + LU.cols, S(0));
        X.data[j + j * X.ld] = S(1);
      }
    fortran::trsm(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, n, n, S(1), LU.data, ld, L.data, ld_L);
    fortran::trsm(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, n, n, S(1), LU.data, ld, U.data, ld_U);
  });
}

#define INSTANTIATE(S) template void triangle_inverses<S>(View<S>, View<S>, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
