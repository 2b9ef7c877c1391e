// A = offdiag beside and diag on the diagonal, whole or a triangle. LAPACK's laset.
#include <algorithm>

#include "kernels/kernels.hpp"

namespace devobj::host {

template <class T>
void laset(Uplo uplo, T offdiag, T diag, View<T> A, Queue& q) {
  q.submit("laset", [=] {
    for (std::int64_t j = 0; j < A.cols; ++j) {
      T* a = A.data + j * A.ld;
      const std::int64_t above = std::min(j, A.rows), below = std::min(j + 1, A.rows);
      if (uplo != Uplo::Lower) std::fill(a, a + above, offdiag);
      if (uplo != Uplo::Upper) std::fill(a + below, a + A.rows, offdiag);
      if (j < A.rows) a[j] = diag;
    }
  });
}

#define INSTANTIATE(T) template void laset(Uplo, T, T, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
