// band_qr, band_qr_apply, band_qr_solve: QR of band matrices with Q kept as rotations.
#include <algorithm>

#include "blas_checks.hpp"
#include "devobj/givens.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/dispatch_givens.hpp"

namespace devobj {
namespace {

template <class T>
void require_rotations(const char* routine, View<real_t<T>> C, View<T> S, View<T> B) {
  require_shape(routine, "S", S, C.rows, C.cols);
  require(B.rows == C.cols, routine, ": B has ", B.rows, " rows, but the rotations are of order ", C.cols);
  require_distinct(routine, "B", B, "C", C);
  require_distinct(routine, "B", B, "S", S);
}

/// A matrix whose diagonal is R's.
template <class T>
View<T> diagonal_of(View<T> R) {
  View<T> D;
  D.data = R.data;
  D.rows = D.cols = R.cols;
  D.ld = R.ld - 1;
  return D;
}

}  // namespace

template <class T>
void band_qr(View<T> AB, std::int64_t kl, std::int64_t ku, View<real_t<T>> C, View<T> S, View<T> R, Queue& q) {
  const std::int64_t n = AB.cols, most = std::max<std::int64_t>(0, n - 1);
  require(0 <= kl && kl <= most, "band_qr: kl is ", kl, ", must be 0 to ", most);
  require(0 <= ku && ku <= most, "band_qr: ku is ", ku, ", must be 0 to ", most);
  require(AB.rows == kl + ku + 1, "band_qr: AB has ", AB.rows, " rows, must have kl + ku + 1 = ", kl + ku + 1);
  require_shape("band_qr", "C", C, kl, n);
  require_shape("band_qr", "S", S, kl, n);
  require_shape("band_qr", "R", R, kl + ku + 1, n);
  require_distinct("band_qr", "C", C, "AB", AB);
  require_distinct("band_qr", "S", S, "AB", AB);
  require_distinct("band_qr", "R", R, "AB", AB);
  require_distinct("band_qr", "C", C, "S", S);
  require_distinct("band_qr", "C", C, "R", R);
  require_distinct("band_qr", "S", S, "R", R);
  if (n == 0) return;
  band_factor<T>(AB, {kl, ku}, C, S, R, q);
}

template <class T>
void band_qr_apply(Op op, View<scalar<real_t<T>>> C, View<T> S, View<T> B, Queue& q) {
  require(op == Op::NoTrans || op == adjoint<T>, "band_qr_apply: op is '", static_cast<char>(op), "', must be 'N' or '",
          static_cast<char>(adjoint<T>), "' for this type");
  require_rotations<T>("band_qr_apply", C, S, B);
  if (B.empty() || C.empty()) return;
  band_rotate<T>(op == Op::NoTrans, C, S, B, q);
}

template <class T>
std::int64_t band_qr_solve(View<scalar<real_t<T>>> C, View<T> S, View<T> R, View<T> B, Queue& q) {
  require_rotations<T>("band_qr_solve", C, S, B);
  require(R.cols == C.cols && R.rows > C.rows, "band_qr_solve: R is ", R.rows, " x ", R.cols, ", must have more than ",
          C.rows, " rows and ", C.cols, " columns");
  require_distinct("band_qr_solve", "B", B, "R", R);
  if (R.cols == 0) return 0;
  if (const std::int64_t i = first_zero_diagonal(diagonal_of(R), q)) return i;
  if (B.empty()) return 0;
  // X = R^-1 (Q^H B)
  if (C.rows > 0) band_rotate<T>(false, C, S, B, q);
  band_solve(R, B, q);
  q.wait();
  return 0;
}

#define INSTANTIATE(T)                                                                                      \
  template void band_qr<T>(View<T>, std::int64_t, std::int64_t, View<real_t<T>>, View<T>, View<T>, Queue&); \
  template void band_qr_apply<T>(Op, View<real_t<T>>, View<T>, View<T>, Queue&);                            \
  template std::int64_t band_qr_solve<T>(View<real_t<T>>, View<T>, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
