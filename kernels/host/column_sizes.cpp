// column_sizes: a norm of each column.
#include <cmath>
#include <complex>

#include "kernels/host/arithmetic.hpp"
#include "kernels/modulus.hpp"
#include "kernels/precision.hpp"
#include "kernels/scaled_squares.hpp"

namespace devobj::host {
namespace {

template <class T>
double largest_of(const T* column, std::int64_t n) {
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i) largest = larger(largest, magnitude(column[i]));
  return largest;
}

template <class T>
double length_of(const T* column, std::int64_t n) {
  ScaledSquares squares;
  for (std::int64_t i = 0; i < n; ++i) {
    squares.add(std::real(column[i]));
    if constexpr (is_complex<T>) squares.add(std::imag(column[i]));
  }
  return squares.root();
}

}  // namespace

template <class T>
void column_sizes(Norm norm, View<T> A, real_t<T>* norms, Queue& q) {
  q.submit("column_sizes", [=] {
    for (std::int64_t j = 0; j < A.cols; ++j) {
      const T* column = A.data + j * A.ld;
      norms[j] = static_cast<real_t<T>>(norm == Norm::Max ? largest_of(column, A.rows) : length_of(column, A.rows));
    }
  });
}

#define INSTANTIATE(T) template void column_sizes<T>(Norm, View<T>, real_t<T>*, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
