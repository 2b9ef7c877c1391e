// scale_rows: row i of A times or divided by factors[i].
#include <complex>

#include "kernels/kernels.hpp"

namespace devobj::host {

template <class T> void scale_rows(const real_t<T>* factors, bool divide, View<T> A, Queue& q) {
  q.submit("scale_rows", [=] {
    for (std::int64_t j = 0; j < A.cols; ++j)
      for (std::int64_t i = 0; i < A.rows; ++i) {
        if (factors[i] == 0) continue;
        T& a = A.data[i + j * A.ld];
        a = divide ? a / factors[i] : a * factors[i];
      }
  });
}

#define INSTANTIATE(T) template void scale_rows<T>(const real_t<T>*, bool, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
