// trsm_right_unit: Bt = Bt Lt^-1, by BLAS's trsm.
#include "kernels/kernels.hpp"

namespace devobj::host {

template <class T> void trsm_right_unit(View<T> Lt, View<T> Bt, Queue& q) {
  trsm(Side::Right, Uplo::Upper, Op::NoTrans, Diag::Unit, T(1), Lt, Bt, q);
}

#define INSTANTIATE(T) template void trsm_right_unit<T>(View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
