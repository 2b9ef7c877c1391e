// The primitives of mixed-precision solves, in addition to kernels.hpp: T is double or complex<double>.
#pragma once

#include "kernels/kernels.hpp"

namespace devobj {

namespace detail {
template <class T>
struct single_precision;
template <>
struct single_precision<double> {
  using type = float;
};
template <>
struct single_precision<std::complex<double>> {
  using type = std::complex<float>;
};
}  // namespace detail

/// The single precision type beside T: float for double.
template <class T>
using single_t = typename detail::single_precision<T>::type;

#define DEVOBJ_PRECISION_PRIMITIVES                                                                                     \
  /* S = A, rounded to single precision. *misfit, in the queue's memory, becomes 1 if an element of A is beyond       \
     single's range, infinite or NaN (that element of S is then an infinity or NaN), and 0 otherwise. LAPACK's dlag2s,             \
     zlag2c. (convert) */ \
  template <class T>                                                                                                    \
  void narrow(View<T> A, View<single_t<T>> S, std::int32_t* misfit, Queue& q);                                          \
  /* Row i of S = row rows[i] (from 1) of A, rounded. rows is in the queue's memory. (convert) */                       \
  template <class T>                                                                                                    \
  void narrow_rows(View<T> A, const std::int32_t* rows, View<single_t<T>> S, Queue& q);                                 \
  /* A = S, or A += S if `add`. LAPACK's slag2d, clag2z. (convert) */                                                   \
  template <class T>                                                                                                    \
  void widen(View<single_t<T>> S, bool add, View<T> A, Queue& q);                                                       \
  /* norms[j] = the norm of column j: Max, the largest |re| + |im|; Fro, ||A(:, j)||_2 without overflow or underflow. \
     NaN if there is one. norms has A.cols elements in the queue's memory. (column_sizes) */ \
  template <class T>                                                                                                    \
  void column_sizes(Norm norm, View<T> A, real_t<T>* norms, Queue& q);

namespace host {
DEVOBJ_PRECISION_PRIMITIVES
}
namespace cuda {
DEVOBJ_PRECISION_PRIMITIVES
}
#undef DEVOBJ_PRECISION_PRIMITIVES

}  // namespace devobj

/// Instantiates M(T) for the types that have a narrower one.
#define DEVOBJ_FOR_EACH_DOUBLE(M) M(double) M(std::complex<double>)
