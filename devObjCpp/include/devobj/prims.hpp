// Parallel primitives: scans, reductions, sorting, compaction, histograms, and sparse matrix times vector.
//
// T and K are std::int32_t, float or double, V too. The arguments are vectors: columns, or matrices without gaps between their
// columns, taken column by column; a row of a matrix with more rows is an error. Sums of int32 wrap around in scans; results
// are the same bits from run to run, and on the host for any number of threads.
//
// NaN. Scans and sums are NaN from the first NaN on. The minimum and the maximum of a vector with a NaN are NaN, at the
// position of the first one. Histograms and compactions count it as outside and as any other element. Sorting takes
// numbers in the order of their bits, IEEE's totalOrder: in ascending order NaN with the sign bit, -Inf ... +Inf, NaN
// without; in descending order the reverse. (0/0 on x86 has the sign bit.) -0 and +0 are equal.
#pragma once

#include <cstdint>
#include <type_traits>

#include "devobj/matrix.hpp"

namespace devobj {

/// Whether element i of a scan is the sum up to element i, or up to element i - 1.
enum class Scan : int { inclusive = 0, exclusive = 1 };
enum class Order : int { ascending = 0, descending = 1 };

/// y_i = x_1 + ... + x_i, or without x_i. y may be x.
template <class T> void scan(Scan kind, View<T> x, View<T> y, Queue& q);

/// A scan that begins anew at each i with heads_i != 0. y may be x.
template <class T> void segmented_scan(Scan kind, View<T> x, View<std::int32_t> heads, View<T> y, Queue& q);

/// What a sum of T is computed in and returned as: int64 for int32, double for float and double.
template <class T> using sum_t = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;

/// x_1 + ... + x_n; 0 for no elements. Waits.
template <class T> sum_t<T> reduce_sum(View<T> x, Queue& q);

/// A value and where it is first, from 1.
template <class T> struct Extremum {
  T value;
  std::int64_t position;
};
/// The smallest and the largest element. For no elements, as in Fortran, the largest number (Inf) or the smallest, at 0. Wait.
template <class T> Extremum<T> reduce_min(View<T> x, Queue& q);
template <class T> Extremum<T> reduce_max(View<T> x, Queue& q);

/// sorted = keys in order; equal keys stay in their order. sorted may be keys. At most 2^32 - 1 elements.
template <class K> void sort_keys(Order order, View<K> keys, View<K> sorted, Queue& q);
/// The same, and sorted_values are the values that belong to sorted_keys. Each output may be its input.
template <class K, class V>
void sort_pairs(Order order, View<K> keys, View<V> values, View<K> sorted_keys, View<V> sorted_values, Queue& q);

/// y = the x_i with flags_i != 0, in their order; their number is returned, the rest of y stays. y has at least as many
/// elements as x. Waits.
template <class T> std::int64_t compact(View<T> x, View<std::int32_t> flags, View<T> y, Queue& q);

/// counts_k = the number of x_i in bin k of equal bins from lower (included) to upper (not included), k from 1. What is
/// outside is not counted, nor is NaN. Bin k of an x is 1 + floor((x - lower) bins / (upper - lower)): exact for int32,
/// for float and double as double gives it. At most 2^31 - 1 elements.
template <class T> void histogram(View<T> x, scalar<T> lower, scalar<T> upper, View<std::int32_t> counts, Queue& q);

/// A rows x cols sparse matrix in compressed rows: row i (from 0) has the elements offsets_i - base up to
/// offsets_(i + 1) - base, without the last, of columns and values; columns count from base, which is 0 or 1. float and
/// double. What is in offsets and columns is looked at under DEVOBJ_CHECK=1 only; wrong indices read wild memory.
template <class T> struct Csr {
  std::int64_t rows = 0, cols = 0;
  View<std::int32_t> offsets, columns;
  View<T> values;
  int base = 1;
};
/// y = alpha A x + beta y; with beta = 0, y is not read.
template <class T> void spmv(scalar<T> alpha, const Csr<T>& A, View<T> x, scalar<T> beta, View<T> y, Queue& q);

}  // namespace devobj
