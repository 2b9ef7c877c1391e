// T of the block reflector I - V T V^H. LAPACK's larft, forward and columnwise, from G = V^H V.
#include <algorithm>

#include "kernels/host/arithmetic.hpp"
#include "kernels/kernels.hpp"

namespace devobj::host {

template <class T>
void larft(View<T> G, View<T> tau, View<T> Tri, Queue& q) {
  const std::int64_t k = Tri.rows, inc = tau.cols > 1 ? tau.ld : 1;
  q.submit("larft", [=] {
    for (std::int64_t j = 0; j < k; ++j) {
      const T* g = G.data + j * G.ld;
      T* t = Tri.data + j * Tri.ld;
      const T tau_j = tau.data[j * inc];
      std::fill(t, t + k, T(0));
      t[j] = tau_j;
      if (tau_j == T(0)) continue;
      // T(0:j, j) = -tau_j T(0:j, 0:j) G(0:j, j)
      for (std::int64_t l = 0; l < j; ++l) {
        const T *column = Tri.data + l * Tri.ld, factor = product(-tau_j, g[l]);
        for (std::int64_t i = 0; i <= l; ++i) t[i] += product(column[i], factor);
      }
    }
  });
}

#define INSTANTIATE(T) template void larft(View<T>, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
