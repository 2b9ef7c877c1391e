// lu_unpack: L, U and the permutation as matrices of their own (paper 002, figure 7, steps 2 and 3).
#include "devobj/blas.hpp"
#include "devobj/lu.hpp"
#include "kernels/dispatch.hpp"
#include "blas_checks.hpp"

namespace devobj {

template <class T>
void lu_unpack(View<T> LU, View<std::int32_t> ipiv, View<T> L, View<T> U, View<std::int32_t> perm, Queue& q) {
  const std::int64_t m = LU.rows, n = LU.cols, k = diagonal(LU);
  require_pivots("lu_unpack", "ipiv", ipiv, k);
  require_shape("lu_unpack", "L", L, m, k);
  require_shape("lu_unpack", "U", U, k, n);
  require_vector("lu_unpack", "perm", perm, m);
  require_distinct("lu_unpack", "L", L, "LU", LU);
  require_distinct("lu_unpack", "U", U, "LU", LU);
  require_distinct("lu_unpack", "L", L, "U", U);
  require_distinct("lu_unpack", "perm", perm, "ipiv", ipiv);
  if (k > 0) {
    // U = upper(LU), zeros below
    laset(Uplo::General, T(0), T(0), U, q);
    lacpy(Uplo::Upper, LU({0, k}, {0, n}), U, q);
    // L = lower(LU), ones on the diagonal, zeros above
    unit_lower(LU({0, m}, {0, k}), L, q);
  }
  if (m > 0) pivots_to_permutation(ipiv, perm, q);
}

#define INSTANTIATE(T) \
  template void lu_unpack<T>(View<T>, View<std::int32_t>, View<T>, View<T>, View<std::int32_t>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
