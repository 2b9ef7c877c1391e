// column_norms: the norms of the columns of an upper triangle.
#include <algorithm>
#include <complex>

#include "kernels/kernels.hpp"
#include "kernels/scaled_squares.hpp"

namespace devobj::host {

template <class T> void column_norms(View<T> A, real_t<T>* norms, Queue& q) {
  q.submit("column_norms", [=] {
    for (std::int64_t j = 0; j < A.cols; ++j) {
      const std::int64_t n = std::min(j + 1, A.rows);
      ScaledSquares squares;
      for (std::int64_t i = 0; i < n; ++i) {
        const T a = A.data[i + j * A.ld];
        squares.add(std::real(a));
        if constexpr (is_complex<T>) squares.add(std::imag(a));
      }
      norms[j] = static_cast<real_t<T>>(squares.root());
    }
  });
}

#define INSTANTIATE(T) template void column_norms<T>(View<T>, real_t<T>*, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
