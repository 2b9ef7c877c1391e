#include "qr_downdate.hpp"

#include <cmath>
#include <vector>

#include "kernels/dispatch.hpp"
#include "qr_update_chase.hpp"
#include "qr_update_parts.hpp"

namespace devobj {
namespace {

// S (p x p Hermitian, full) = L^H L with L upper triangular, its strict lower triangle zero. The order of the first leading
// minor that is not positive, or 0. A NaN goes on into L.
template <class T> std::int64_t cholesky(std::vector<T>& S, std::int64_t p) {
  auto at = [&](std::int64_t i, std::int64_t j) -> T& { return S[static_cast<std::size_t>(i + j * p)]; };
  for (std::int64_t j = 0; j < p; ++j) {
    for (std::int64_t i = 0; i <= j; ++i) {
      T sum = at(i, j);
      for (std::int64_t l = 0; l < i; ++l) {
        if constexpr (is_complex<T>)
          sum -= std::conj(at(l, i)) * at(l, j);
        else
          sum -= at(l, i) * at(l, j);
      }
      if (i < j) {
        at(i, j) = sum / at(i, i);
        at(j, i) = T(0);
      } else {
        if (std::real(sum) <= 0) return j + 1;
        at(j, j) = T(std::sqrt(std::real(sum)));
      }
    }
  }
  return 0;
}

}  // namespace

// With A2^H = R^-H U^H and L^H L = I - A2 A2^H, [A2^H; L] has orthonormal columns: they are the rows of a Q that R has lost.
// From there on as in qr_remove_rows: chase_up. Source: LINPACK's dchdd, for p rows at once.
template <class T>
std::int64_t qr_downdate(View<T> R, View<T> U, View<T> R1, RightSides<T> rhs, Queue& q, std::int64_t block) {
  const std::int64_t n = R.cols, p = U.rows, sides = rhs.d.cols;
  if (n == 0 || p == 0) {
    copy_upper(R, R1, q);
    if (!absent(rhs.d)) copy(rhs.d, rhs.d1, q);
    return 0;
  }
  if (const std::int64_t zero = first_zero_diagonal(R, q)) return n + zero;

  const Range old{0, n}, fresh{n, n + p}, all{0, p};
  Matrix<T> W(n + p, p, q), H(n + p, n, q), gram(p, p, q), d(sides > 0 ? n + p : 0, sides, q);
  const View<T> A2 = W(old, all), L = W(fresh, all);
  transpose(adjoint<T>, U, A2, q);
  trsm(Side::Left, Uplo::Upper, adjoint<T>, Diag::NonUnit, T(1), R, A2, q);
  laset(Uplo::General, T(0), T(1), gram.view(), q);
  gemm(adjoint<T>, Op::NoTrans, T(-1), A2, A2, T(1), gram.view(), q);
  std::vector<T> S(static_cast<std::size_t>(p * p));
  to_host<T>(gram, {S.data(), p, p, p}, q);
  if (const std::int64_t info = cholesky(S, p)) return info;
  to_device<T>({S.data(), p, p, p}, L, q);

  copy_upper(R, H.view(), q);
  if (sides > 0) {
    // the removed rows' part that d does not know: L^-H (b - A2 d)
    const Range cols{0, sides};
    const View<T> lost = d(fresh, cols);
    copy(rhs.d, d(old, cols), q);
    copy(rhs.b, lost, q);
    gemm(adjoint<T>, Op::NoTrans, T(-1), A2, rhs.d, T(1), lost, q);
    trsm(Side::Left, Uplo::Upper, adjoint<T>, Diag::NonUnit, T(1), L, lost, q);
  }
  chase_up(W.view(), H.view(), View<T>{}, d.view(), true, q, block);
  const Range stay{p, n + p};
  copy(H(stay, old), R1, q);
  if (sides > 0) copy(d(stay, {0, sides}), rhs.d1, q);
  return 0;
}

#define INSTANTIATE(T) \
  template std::int64_t qr_downdate<T>(View<T>, View<T>, View<T>, RightSides<T>, Queue&, std::int64_t);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
