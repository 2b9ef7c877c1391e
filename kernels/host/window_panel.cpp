// window_panel: LU of a panel with pivots from a window of rows.
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/host/lapack_fortran.hpp"
#include "kernels/randomized.hpp"

namespace devobj::host {

template <class S>
void window_panel(View<S> A, std::int64_t offset, std::int32_t* source, std::int32_t* info, Queue& q) {
  const fortran::BlasInt m(A.rows, "window_panel", "rows"), n(A.cols, "window_panel", "columns"),
      ld(A.ld, "window_panel", "the ld of A");
  q.submit("window_panel", [=] {
    std::vector<std::int32_t> ipiv(A.cols);
    const std::int64_t zero = fortran::getrf(m, n, A.data, ld, ipiv.data());
    if (zero > 0 && *info == 0) *info = static_cast<std::int32_t>(offset + zero);
    std::iota(source, source + A.rows, 0);
    for (std::int64_t i = 0; i < A.cols; ++i) std::swap(source[i], source[ipiv[i] - 1]);
  });
}

#define INSTANTIATE(S) template void window_panel<S>(View<S>, std::int64_t, std::int32_t*, std::int32_t*, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
