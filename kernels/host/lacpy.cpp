// B = A, whole or a triangle. LAPACK's lacpy.
#include "kernels/host/share.hpp"
#include "kernels/kernels.hpp"

namespace devobj::host {

template <class T>
void lacpy(Uplo uplo, View<T> A, View<T> B, Queue& q) {
  q.submit("lacpy", [=] {
    share(A.cols, 2 * A.size() * sizeof(T), [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t j = begin; j < end; ++j) {
        const std::int64_t first = uplo == Uplo::Lower ? std::min(j, A.rows) : 0;
        const std::int64_t last = uplo == Uplo::Upper ? std::min(j + 1, A.rows) : A.rows;
        if (first < last) std::copy(A.data + first + j * A.ld, A.data + last + j * A.ld, B.data + first + j * B.ld);
      }
    });
  });
}

#define INSTANTIATE(T) template void lacpy(Uplo, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
