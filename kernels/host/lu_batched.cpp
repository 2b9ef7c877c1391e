// lu_batched: a matrix per thread, small ones by the plain loop, others by the panel's code; large ones by LAPACK.
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/host/batched.hpp"
#include "kernels/host/lapack_fortran.hpp"
#include "kernels/host/lu_panel.hpp"

namespace devobj::host {
namespace {

/// Up to so many elements the plain loop is the fastest.
constexpr std::int64_t plain_elements = 24 * 24;

/// LAPACK's getf2, column by column.
template <class T>
std::int64_t lu_plain(View<T> A, std::int32_t* ipiv) {
  using R = real_t<T>;
  const std::int64_t m = A.rows, n = A.cols;
  std::int64_t info = 0;
  for (std::int64_t j = 0; j < std::min(m, n); ++j) {
    T* const l = A.data + j * A.ld;
    std::int64_t pivot = j;
    R best = magnitude(l[j]);
    for (std::int64_t i = j + 1; i < m; ++i)
      if (const R size = magnitude(l[i]); size > best) {
        best = size;
        pivot = i;
      }
    ipiv[j] = static_cast<std::int32_t>(pivot + 1);
    if (pivot != j)
      for (std::int64_t c = 0; c < n; ++c) std::swap(A.data[j + c * A.ld], A.data[pivot + c * A.ld]);
    if (l[j] == T(0)) {
      if (info == 0) info = j + 1;
    } else if (best >= std::numeric_limits<R>::min() && best <= 1 / std::numeric_limits<R>::min()) {
      const T inverse = T(1) / l[j];
      for (std::int64_t i = j + 1; i < m; ++i) l[i] = product(l[i], inverse);
    } else {
      for (std::int64_t i = j + 1; i < m; ++i) l[i] = l[i] / l[j];
    }
    for (std::int64_t c = j + 1; c < n; ++c) {
      T* const a = A.data + c * A.ld;
      const T u = a[j];
      for (std::int64_t i = j + 1; i < m; ++i) a[i] = minus_product(a[i], l[i], u);
    }
  }
  return info;
}

}  // namespace

template <class T>
void lu_batched(Batch<T> A, View<std::int32_t> ipiv, Vector<std::int32_t> info, Queue& q) {
  const fortran::BlasInt m(A.rows, "getrf_batched", "the rows of A"), n(A.cols, "getrf_batched", "the columns of A"),
      ld(A.ld, "getrf_batched", "the ld of A");
  q.submit("lu_batched", [=] {
    const double k = static_cast<double>(std::min(A.rows, A.cols)),
                 operations = 2 * k * static_cast<double>(A.rows * A.cols);
    const auto pivots = [&](std::int64_t i) { return ipiv.data + i * ipiv.ld; };
    const auto set = [&](std::int64_t i, std::int64_t value) {
      info.data[i * info.inc] = static_cast<std::int32_t>(value);
    };
    if (A.empty()) {
      for (std::int64_t i = 0; i < A.count; ++i) set(i, 0);
    } else if (A.rows * A.cols <= plain_elements) {
      for_each_matrix(A.count, operations, [&](std::int64_t i) { set(i, lu_plain(A[i], pivots(i))); });
    } else if (A.rows * A.cols <= elements_of_one_thread) {
      for_each_matrix(A.count, operations,
                      [&](std::int64_t i) { set(i, lu_panel(A.rows, A.cols, A[i].data, A.ld, pivots(i), 1)); });
    } else {
      for (std::int64_t i = 0; i < A.count; ++i) set(i, fortran::getrf(m, n, A[i].data, ld, pivots(i)));
    }
  });
}

#define INSTANTIATE(T) template void lu_batched(Batch<T>, View<std::int32_t>, Vector<std::int32_t>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
