// The parallel primitives: what is checked, and the choice of the backend.
#include "devobj/prims.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "blas_checks.hpp"
#include "environment.hpp"
#include "kernels/prims.hpp"

namespace devobj {
namespace {

/// The elements as one column. Error if they do not lie side by side.
template <class T>
View<T> line(const char* routine, const char* argument, View<T> x) {
  require(x.contiguous() || x.empty(), routine, ": ", argument, " is ", x.rows, " x ", x.cols,
          " with leading dimension ", x.ld,
          "; its elements must lie side by side (a column, or a matrix without gaps)");
  return x.empty() ? View<T>() : View<T>(x.data, x.size(), 1);
}

template <class T, class U>
void same_size(const char* routine, const char* name_x, View<T> x, const char* name_y, View<U> y) {
  require(x.size() == y.size(), routine, ": ", name_y, " has ", y.size(), " elements, but ", name_x, " has ", x.size());
}

/// Different memory, or the very same.
template <class T, class U>
void same_or_distinct(const char* routine, const char* name_x, View<T> x, const char* name_y, View<U> y) {
  if (static_cast<const void*>(x.data) != static_cast<const void*>(y.data) || sizeof(T) != sizeof(U))
    require_distinct(routine, name_x, x, name_y, y);
}

void require_kind(const char* routine, Scan kind) {
  require(kind == Scan::inclusive || kind == Scan::exclusive, routine, ": kind is ", static_cast<int>(kind),
          ", must be 0 (inclusive) or 1 (exclusive)");
}
void require_order(const char* routine, Order order) {
  require(order == Order::ascending || order == Order::descending, routine, ": order is ", static_cast<int>(order),
          ", must be 0 (ascending) or 1 (descending)");
}

/// Values as integers of their size: sorting only moves them.
template <class V>
using moved_t = std::conditional_t<sizeof(V) == 8, std::int64_t, std::int32_t>;
template <class V>
View<moved_t<V>> moved(View<V> x) {
  View<moved_t<V>> v;
  v.data = reinterpret_cast<moved_t<V>*>(x.data);
  v.rows = x.rows;
  v.cols = x.cols;
  v.ld = x.ld;
  return v;
}

constexpr std::int64_t most_sorted = 4294967295, most_counted = 2147483647;

template <class K>
void require_sortable(const char* routine, View<K> keys) {
  require(keys.size() <= most_sorted, routine, ": keys has ", keys.size(), " elements, must have at most ",
          most_sorted);
}

/// Under DEVOBJ_CHECK=1: offsets rise from base to base + the number of values, and columns are within the matrix.
/// Waits.
template <class T>
void check_contents(const Csr<T>& A, Queue& q) {
  const std::int64_t n = A.offsets.size(), elements = A.columns.size();
  std::vector<std::int32_t> offsets(static_cast<std::size_t>(n)), columns(static_cast<std::size_t>(elements));
  to_host<std::int32_t>(A.offsets, {offsets.data(), n, 1, n}, q);
  if (elements > 0) to_host<std::int32_t>(A.columns, {columns.data(), elements, 1, elements}, q);
  require(offsets[0] == A.base && offsets[n - 1] == A.base + elements, "spmv: offsets go from ", offsets[0], " to ",
          offsets[n - 1], ", must go from ", A.base, " to ", A.base + elements);
  for (std::int64_t i = 1; i < n; ++i)
    require(offsets[i - 1] <= offsets[i], "spmv: offsets fall from ", offsets[i - 1], " to ", offsets[i], " in row ",
            i);
  for (std::int64_t e = 0; e < elements; ++e)
    require(A.base <= columns[e] && columns[e] < A.base + A.cols, "spmv: element ", e + 1, " of columns is ",
            columns[e], ", must be ", A.base, " to ", A.base + A.cols - 1);
}

template <class T>
Extremum<T> extremum(const char* routine, bool largest, View<T> x, Queue& q) {
  const View<T> from = line(routine, "x", x);
  if (from.empty()) {
    using limits = std::numeric_limits<T>;
    if constexpr (limits::has_infinity)
      return {largest ? -limits::infinity() : limits::infinity(), 0};
    else
      return {largest ? limits::lowest() : limits::max(), 0};
  }
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::reduce_extremum(largest, from, q);
  return host::reduce_extremum(largest, from, q);
}

}  // namespace

template <class T>
void scan(Scan kind, View<T> x, View<T> y, Queue& q) {
  require_kind("scan", kind);
  const View<T> from = line("scan", "x", x), to = line("scan", "y", y);
  same_size("scan", "x", from, "y", to);
  same_or_distinct("scan", "x", from, "y", to);
  if (from.empty()) return;
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::scan(kind, from, to, q);
  host::scan(kind, from, to, q);
}

template <class T>
void segmented_scan(Scan kind, View<T> x, View<std::int32_t> heads, View<T> y, Queue& q) {
  require_kind("segmented_scan", kind);
  const View<T> from = line("segmented_scan", "x", x), to = line("segmented_scan", "y", y);
  const View<std::int32_t> starts = line("segmented_scan", "heads", heads);
  same_size("segmented_scan", "x", from, "heads", starts);
  same_size("segmented_scan", "x", from, "y", to);
  same_or_distinct("segmented_scan", "x", from, "y", to);
  require_distinct("segmented_scan", "heads", starts, "y", to);
  if (from.empty()) return;
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::segmented_scan(kind, from, starts, to, q);
  host::segmented_scan(kind, from, starts, to, q);
}

template <class T>
sum_t<T> reduce_sum(View<T> x, Queue& q) {
  const View<T> from = line("reduce_sum", "x", x);
  if (from.empty()) return 0;
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::reduce_sum(from, q);
  return host::reduce_sum(from, q);
}

template <class T>
Extremum<T> reduce_min(View<T> x, Queue& q) {
  return extremum("reduce_min", false, x, q);
}
template <class T>
Extremum<T> reduce_max(View<T> x, Queue& q) {
  return extremum("reduce_max", true, x, q);
}

template <class K>
void sort_keys(Order order, View<K> keys, View<K> sorted, Queue& q) {
  require_order("sort_keys", order);
  const View<K> from = line("sort_keys", "keys", keys), to = line("sort_keys", "sorted", sorted);
  same_size("sort_keys", "keys", from, "sorted", to);
  same_or_distinct("sort_keys", "keys", from, "sorted", to);
  require_sortable("sort_keys", from);
  if (from.empty()) return;
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::sort_keys(order, from, to, q);
  host::sort_keys(order, from, to, q);
}

template <class K, class V>
void sort_pairs(Order order, View<K> keys, View<V> values, View<K> sorted_keys, View<V> sorted_values, Queue& q) {
  constexpr const char* name = "sort_pairs";
  require_order(name, order);
  const View<K> from = line(name, "keys", keys), to = line(name, "sorted_keys", sorted_keys);
  const View<V> with = line(name, "values", values), to_with = line(name, "sorted_values", sorted_values);
  same_size(name, "keys", from, "values", with);
  same_size(name, "keys", from, "sorted_keys", to);
  same_size(name, "keys", from, "sorted_values", to_with);
  same_or_distinct(name, "keys", from, "sorted_keys", to);
  same_or_distinct(name, "values", with, "sorted_values", to_with);
  require_distinct(name, "keys", from, "sorted_values", to_with);
  require_distinct(name, "values", with, "sorted_keys", to);
  require_distinct(name, "sorted_keys", to, "sorted_values", to_with);
  require_sortable(name, from);
  if (from.empty()) return;
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::sort_pairs(order, from, moved(with), to, moved(to_with), q);
  host::sort_pairs(order, from, moved(with), to, moved(to_with), q);
}

template <class T>
std::int64_t compact(View<T> x, View<std::int32_t> flags, View<T> y, Queue& q) {
  const View<T> from = line("compact", "x", x), to = line("compact", "y", y);
  const View<std::int32_t> chosen = line("compact", "flags", flags);
  same_size("compact", "x", from, "flags", chosen);
  require(to.size() >= from.size(), "compact: y has ", to.size(), " elements, must have at least the ", from.size(),
          " of x");
  require_distinct("compact", "x", from, "y", to);
  require_distinct("compact", "flags", chosen, "y", to);
  if (from.empty()) return 0;
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::compact(from, chosen, to, q);
  return host::compact(from, chosen, to, q);
}

template <class T>
void histogram(View<T> x, scalar<T> lower, scalar<T> upper, View<std::int32_t> counts, Queue& q) {
  const View<T> from = line("histogram", "x", x);
  const View<std::int32_t> to = line("histogram", "counts", counts);
  require(!to.empty(), "histogram: counts has no elements, must have one for each bin");
  require(lower < upper && std::isfinite(double(upper) - double(lower)), "histogram: the bins go from ", lower, " to ",
          upper, "; lower must be below upper, and both finite");
  require(from.size() <= most_counted, "histogram: x has ", from.size(), " elements, must have at most ", most_counted);
  require_distinct("histogram", "x", from, "counts", to);
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::histogram<T>(from, lower, upper, to, q);
  host::histogram<T>(from, lower, upper, to, q);
}

template <class T>
void spmv(scalar<T> alpha, const Csr<T>& A, View<T> x, scalar<T> beta, View<T> y, Queue& q) {
  Csr<T> matrix = A;
  require(A.rows >= 0 && A.cols >= 0, "spmv: the matrix is ", A.rows, " x ", A.cols, "; sizes must not be negative");
  require(A.base == 0 || A.base == 1, "spmv: base is ", A.base, ", must be 0 or 1");
  matrix.offsets = line("spmv", "offsets", A.offsets);
  matrix.columns = line("spmv", "columns", A.columns);
  matrix.values = line("spmv", "values", A.values);
  const View<T> from = line("spmv", "x", x), to = line("spmv", "y", y);
  require(matrix.offsets.size() == A.rows + 1, "spmv: offsets has ", matrix.offsets.size(),
          " elements, must have one more than the ", A.rows, " rows");
  same_size("spmv", "columns", matrix.columns, "values", matrix.values);
  require(from.size() == A.cols, "spmv: x has ", from.size(), " elements, but A has ", A.cols, " columns");
  require(to.size() == A.rows, "spmv: y has ", to.size(), " elements, but A has ", A.rows, " rows");
  require_distinct("spmv", "x", from, "y", to);
  require_distinct("spmv", "values", matrix.values, "y", to);
  require_distinct("spmv", "columns", matrix.columns, "y", to);
  require_distinct("spmv", "offsets", matrix.offsets, "y", to);
  if (environment().check) check_contents(matrix, q);
  if (to.empty()) return;
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::spmv<T>(alpha, matrix, from, beta, to, q);
  host::spmv<T>(alpha, matrix, from, beta, to, q);
}

#define INSTANTIATE(T)                                                                               \
  template void scan(Scan, View<T>, View<T>, Queue&);                                                \
  template void segmented_scan(Scan, View<T>, View<std::int32_t>, View<T>, Queue&);                  \
  template sum_t<T> reduce_sum(View<T>, Queue&);                                                     \
  template Extremum<T> reduce_min(View<T>, Queue&);                                                  \
  template Extremum<T> reduce_max(View<T>, Queue&);                                                  \
  template void sort_keys(Order, View<T>, View<T>, Queue&);                                          \
  template void sort_pairs(Order, View<T>, View<std::int32_t>, View<T>, View<std::int32_t>, Queue&); \
  template void sort_pairs(Order, View<T>, View<float>, View<T>, View<float>, Queue&);               \
  template void sort_pairs(Order, View<T>, View<double>, View<T>, View<double>, Queue&);             \
  template std::int64_t compact(View<T>, View<std::int32_t>, View<T>, Queue&);                       \
  template void histogram<T>(View<T>, T, T, View<std::int32_t>, Queue&);
DEVOBJ_FOR_EACH_PRIM(INSTANTIATE)
#undef INSTANTIATE
template void spmv<float>(float, const Csr<float>&, View<float>, float, View<float>, Queue&);
template void spmv<double>(double, const Csr<double>&, View<double>, double, View<double>, Queue&);

}  // namespace devobj
