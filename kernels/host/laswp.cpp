// Row swaps of a column-major matrix. LAPACK's laswp.
#include <utility>

#include "kernels/host/share.hpp"
#include "kernels/kernels.hpp"

namespace devobj::host {

template <class T>
void laswp(View<T> A, std::int64_t k1, std::int64_t k2, View<std::int32_t> ipiv, bool forward, Queue& q) {
  const std::int64_t inc = ipiv.cols > 1 ? ipiv.ld : 1;
  q.submit("laswp", [=] {
    share(A.cols, 4 * A.cols * (k2 - k1) * sizeof(T), [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t j = begin; j < end; ++j) {
        T* a = A.data + j * A.ld;
        for (std::int64_t step = 0; step < k2 - k1; ++step) {
          const std::int64_t i = forward ? k1 + step : k2 - 1 - step, pivot = ipiv.data[i * inc];
          if (1 <= pivot && pivot <= A.rows) std::swap(a[i], a[pivot - 1]);
        }
      }
    });
  });
}

#define INSTANTIATE(T) template void laswp(View<T>, std::int64_t, std::int64_t, View<std::int32_t>, bool, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
