// window_left: B = B U^-1, the rows of L below a panel's window.
#include "kernels/cuda/window_solve.cuh"

namespace devobj::cuda {

template <class S>
void window_left(View<S> U, View<S> B, Queue& q) {
  window_solve::launch<S, true>("window_left", U, B, q);
}

#define INSTANTIATE(S) template void window_left<S>(View<S>, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
