// window_right: A = L^-1 A, the columns of U right of a panel.
#include "kernels/cuda/window_solve.cuh"

namespace devobj::cuda {

template <class S>
void window_right(View<S> L, View<S> A, Queue& q) {
  window_solve::launch<S, false>("window_right", L, A, q);
}

#define INSTANTIATE(S) template void window_right<S>(View<S>, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
