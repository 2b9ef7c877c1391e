// window_exchange: rows exchanged within a window.
#include <algorithm>
#include <vector>

#include "kernels/randomized.hpp"

namespace devobj::host {

template <class S>
void window_exchange(const std::int32_t* source, View<S> A, Queue& q) {
  q.submit("window_exchange", [=] {
    std::vector<S> old(A.rows);
    for (std::int64_t j = 0; j < A.cols; ++j) {
      S* column = A.data + j * A.ld;
      std::copy(column, column + A.rows, old.begin());
      for (std::int64_t i = 0; i < A.rows; ++i) column[i] = old[source[i]];
    }
  });
}

#define INSTANTIATE(S) template void window_exchange<S>(const std::int32_t*, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
INSTANTIATE(std::int32_t)
#undef INSTANTIATE

}  // namespace devobj::host
