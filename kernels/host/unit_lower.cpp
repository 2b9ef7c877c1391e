// V = the unit lower trapezoid of A, with its ones and zeros written out.
#include <algorithm>

#include "kernels/kernels.hpp"

namespace devobj::host {

template <class T>
void unit_lower(View<T> A, View<T> V, Queue& q) {
  q.submit("unit_lower", [=] {
    for (std::int64_t j = 0; j < V.cols; ++j) {
      const T* a = A.data + j * A.ld;
      T* v = V.data + j * V.ld;
      std::fill(v, v + std::min(j, V.rows), T(0));
      if (j < V.rows) {
        v[j] = T(1);
        std::copy(a + j + 1, a + V.rows, v + j + 1);
      }
    }
  });
}

#define INSTANTIATE(T) template void unit_lower(View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
