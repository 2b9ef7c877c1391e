// triangle_inverse: of the unit lower triangle of an LU factorization.
#include <algorithm>

#include "kernels/host/blas_fortran.hpp"
#include "kernels/randomized.hpp"

namespace devobj::host {

template <class S>
void triangle_inverse(View<S> LU, View<S> X, Queue& q) {
  const fortran::BlasInt n(LU.cols, "triangle_inverse", "order"), ld(LU.ld, "triangle_inverse", "the ld of LU"),
      ld_X(X.ld, "triangle_inverse", "the ld of X");
  q.submit("triangle_inverse", [=] {
    for (std::int64_t j = 0; j < LU.cols; ++j) {
      std::fill(X.data + j * X.ld, X.data + j * X.ld + LU.cols, S(0));
      X.data[j + j * X.ld] = S(1);
    }
    fortran::trsm(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, n, n, S(1), LU.data, ld, X.data, ld_X);
  });
}

#define INSTANTIATE(S) template void triangle_inverse<S>(View<S>, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
