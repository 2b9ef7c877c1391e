// The primitives behind devobj/prims.hpp. Arguments have been checked: vectors are contiguous and their sizes agree;
// empty ones have been dealt with.
#pragma once

#include "devobj/prims.hpp"
#include "kernels/kernels.hpp"

namespace devobj {

#define DEVOBJ_PRIMS                                                                                                  \
  /* int32, float, double; y may be x (scan) */                                                                       \
  template <class T> void scan(Scan kind, View<T> x, View<T> y, Queue& q);                                            \
  template <class T> void segmented_scan(Scan kind, View<T> x, View<std::int32_t> heads, View<T> y, Queue& q);        \
  /* (reduce) */                                                                                                      \
  template <class T> sum_t<T> reduce_sum(View<T> x, Queue& q);                        /* waits */                     \
  template <class T> Extremum<T> reduce_extremum(bool largest, View<T> x, Queue& q);  /* waits */                     \
  /* sorted may be keys; values of 4 and 8 bytes go as int32 and int64 (sort) */                                      \
  template <class K> void sort_keys(Order order, View<K> keys, View<K> sorted, Queue& q);                             \
  template <class K, class V>                                                                                         \
  void sort_pairs(Order order, View<K> keys, View<V> values, View<K> sorted_keys, View<V> sorted_values, Queue& q);   \
  template <class T> std::int64_t compact(View<T> x, View<std::int32_t> flags, View<T> y, Queue& q); /* waits */      \
  template <class T> void histogram(View<T> x, T lower, T upper, View<std::int32_t> counts, Queue& q);                \
  /* float, double */                                                                                                 \
  template <class T> void spmv(T alpha, const Csr<T>& A, View<T> x, T beta, View<T> y, Queue& q);

namespace host {
DEVOBJ_PRIMS
}
namespace cuda {
DEVOBJ_PRIMS
}
#undef DEVOBJ_PRIMS

}  // namespace devobj

/// Instantiates M(T) for the element types of the parallel primitives.
#define DEVOBJ_FOR_EACH_PRIM(M) M(std::int32_t) M(float) M(double)
