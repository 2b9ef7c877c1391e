// window_exchange: rows exchanged within the windows of panels that follow each other.
#include <algorithm>
#include <vector>

#include "kernels/randomized.hpp"

namespace devobj::host {

template <class S>
void window_exchange(const std::int32_t* source, std::int64_t panels, std::int64_t step, View<S> A, Queue& q) {
  q.submit("window_exchange", [=] {
    std::vector<S> old(window_rows);
    for (std::int64_t j = 0; j < A.cols; ++j)
      for (std::int64_t p = 0; p < panels; ++p) {
        S* const column = A.data + p * step + j * A.ld;
        const std::int64_t rows = std::min(A.rows - p * step, window_rows);
        std::copy(column, column + rows, old.begin());
        for (std::int64_t i = 0; i < rows; ++i) column[i] = old[source[p * window_rows + i]];
      }
  });
}

#define INSTANTIATE(S) \
  template void window_exchange<S>(const std::int32_t*, std::int64_t, std::int64_t, View<S>, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
INSTANTIATE(std::int32_t)
#undef INSTANTIATE

}  // namespace devobj::host
