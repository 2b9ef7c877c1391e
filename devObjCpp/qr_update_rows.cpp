// Rows of A that come and go.
#include <algorithm>

#include "devobj/qr_update.hpp"
#include "qr_downdate.hpp"
#include "qr_update_chase.hpp"
#include "qr_update_parts.hpp"

namespace devobj {
namespace {

// [A(0:k, :); U; A(k:, :)], or A without the p rows from k on, from Q R; b1 likewise from `b` or Q d.
template <class T>
void refactor_rows(bool adds, const UpdateShape& s, std::int64_t k, std::int64_t p, View<T> Q, View<T> R, View<T> U, View<T> Q1,
                   View<T> R1, RightSides<T> rhs, Queue& q) {
  const std::int64_t m = s.without_q() ? s.n : s.m, m1 = adds ? m + p : m - p, sides = rhs.d.cols;
  Matrix<T> A(m, s.n, q), A1(m1, s.n, q), b(sides > 0 ? m : 0, sides, q), b1(sides > 0 ? m1 : 0, sides, q);
  if (s.without_q())
    copy_upper(R, A.view(), q);
  else
    original(s, Q, R, A.view(), q);
  if (sides > 0) {
    if (s.without_q())
      copy(rhs.d, b.view(), q);
    else if (!adds && s.economic())
      copy(rhs.b, b.view(), q);
    else
      gemm(Op::NoTrans, Op::NoTrans, T(1), Q, rhs.d, T(0), b.view(), q);
  }
  if (adds) {
    const std::int64_t at = s.without_q() ? m : k;
    copy_with_rows(A.view(), at, U, A1.view(), q);
    copy_with_rows(b.view(), at, rhs.b, b1.view(), q);
  } else {
    copy_without_rows(A.view(), {k, k + p}, A1.view(), q);
    copy_without_rows(b.view(), {k, k + p}, b1.view(), q);
  }
  make_anew(s, A1.view(), Q1, R1, b1.view(), rhs.d1, q);
}

}  // namespace

// [U; R] has p subdiagonals, and its unitary factor is [0 Q; I 0] with the rows in A1's order.
template <class T>
void qr_add_rows(std::int64_t k, View<T> Q, View<T> R, View<T> U, View<T> Q1, View<T> R1, Queue& q, RightSides<T> rhs,
                 QrUpdateOptions options) {
  const std::int64_t p = U.rows, n = R.cols;
  UpdateShape s = shape_of_update("qr_add_rows", Q, R, Q1, p, 0);
  if (s.without_q()) s.m1 = s.n1 = n;
  require(s.without_q() || (0 <= k && k <= s.m), "qr_add_rows: k is ", k, ", must be 0 to ", s.m,
          ", the number of rows");
  require_shape("qr_add_rows", "U", U, p, n);
  require_updated(s, Q1, R1, rhs);
  require_b(s.routine, rhs, p, true);
  require_update_options("qr_add_rows", options);
  require_apart("qr_add_rows", sizeof(T), {named("Q1", Q1), named("R1", R1), named("d1", rhs.d1)},
                {named("Q", Q), named("R", R), named("U", U), named("d", rhs.d), named("b", rhs.b)});
  if (refactors<T>(QrUpdate::add_rows, s, p, k, q, options))
    return refactor_rows(true, s, k, p, Q, R, U, Q1, R1, rhs, q);

  const std::int64_t rows = R.rows;
  const Range fresh{0, p}, old{p, p + rows}, kept{0, R1.rows}, sides = all_cols(rhs.d), all = all_cols(R);
  auto stack_R = [&](View<T> H) {
    copy(U, H(fresh, all), q);
    copy_upper(R, H(old, all), q);
  };
  auto stack_d = [&](View<T> d) {
    if (absent(rhs.d)) return;
    if (p > 0) copy(rhs.b, d(fresh, sides), q);
    copy(rhs.d, d(old, sides), q);
  };
  // [0 Q; I 0] with Q's rows from k on below the unit matrix
  auto extend_Q = [&](View<T> E) {
    if (s.without_q()) return;
    const Range above{0, k}, in{k, k + p}, below{k + p, s.m1};
    laset(Uplo::General, T(0), T(0), E(all_rows(E), fresh), q);
    laset(Uplo::General, T(0), T(1), E(in, fresh), q);
    laset(Uplo::General, T(0), T(0), E(in, old), q);
    copy(Q(above, all_cols(Q)), E(above, old), q);
    copy(Q({k, s.m}, all_cols(Q)), E(below, old), q);
  };
  if (s.full()) {
    stack_d(rhs.d1);
    if (chase_rows_in(U, R, R1, Q, k, Q1, rhs.d1, q, options.block)) return;
    stack_R(R1);
    extend_Q(Q1);
    return chase_down(R1, p, Q1, rhs.d1, q, options.block);
  }
  Matrix<T> H(p + n, n, q), d(absent(rhs.d) ? 0 : p + n, rhs.d.cols, q);
  Matrix<T> E(s.economic() ? s.m1 : 0, s.economic() ? p + n : 0, q);
  stack_R(H);
  stack_d(d);
  extend_Q(E);
  chase_down(H.view(), p, E.view(), d.view(), q, options.block);
  copy(H(kept, all), R1, q);
  if (!absent(rhs.d)) copy(d(kept, sides), rhs.d1, q);
  if (s.economic()) copy(E(all_rows(E), kept), Q1, q);
}

// With W = Q(K, :)^H, chase_up makes G^H W = [D; 0], D diagonal and unitary: then Q G is zero in rows K and columns from p
// on, and outside of both it is Q1; G^H R is R1 below its first p rows. In economic form the columns K of the unit matrix
// first join Q's range.
template <class T>
std::int64_t qr_remove_rows(std::int64_t k, std::int64_t p, View<T> Q, View<T> R, View<T> U, View<T> Q1, View<T> R1,
                            Queue& q, RightSides<T> rhs, QrUpdateOptions options) {
  const std::int64_t n = R.cols, m = Q.rows;
  require(p >= 0, "qr_remove_rows: p is ", p, ", must not be negative");
  UpdateShape s = shape_of_update("qr_remove_rows", Q, R, Q1, -p, 0);
  if (s.without_q()) s.m1 = s.n1 = n;
  require(s.without_q() || p <= m, "qr_remove_rows: p is ", p, ", must be 0 to ", m, ", the number of rows");
  require(s.without_q() || (0 <= k && k <= m - p), "qr_remove_rows: k is ", k, ", must be 0 to ", m - p,
          ", since p is ", p, " of ", m, " rows");
  require_shape("qr_remove_rows", "U", U, s.without_q() ? p : 0, s.without_q() ? n : 0);
  require_economic(s, s.m1, s.n);
  require_updated(s, Q1, R1, rhs);
  require_b(s.routine, rhs, s.without_q() ? p : m, !s.full());
  require_update_options("qr_remove_rows", options);
  require(!s.without_q() || options.method != UpdateMethod::refactor,
          "qr_remove_rows: method is 'refactor', but without Q the rows that stay are not known");
  require_apart("qr_remove_rows", sizeof(T), {named("Q1", Q1), named("R1", R1), named("d1", rhs.d1)},
                {named("Q", Q), named("R", R), named("U", U), named("d", rhs.d), named("b", rhs.b)});
  if (s.without_q()) return qr_downdate(R, U, R1, rhs, q, options.block);
  if (refactors<T>(QrUpdate::remove_rows, s, p, k, q, options)) {
    refactor_rows(false, s, k, p, Q, R, U, Q1, R1, rhs, q);
    return 0;
  }

  const std::int64_t inner = s.full() ? m : n + p;  // columns of the Q that is transformed
  const Range K{k, k + p}, old{0, R.rows}, fresh{n, inner}, all{0, m}, sides = all_cols(rhs.d);
  const Range stay{p, inner};
  Matrix<T> W(inner, p, q), d(absent(rhs.d) ? 0 : inner, rhs.d.cols, q);
  if (!absent(rhs.d)) copy(rhs.d, d(old, sides), q);
  if (s.full() && p > 0) {
    transpose(adjoint<T>, Q(K, all), W.view(), q);
    if (chase_rows_out(W.view(), R, R1, Q, k, Q1, d.view(), q, options.block)) {
      if (!absent(rhs.d)) copy(d(stay, sides), rhs.d1, q);
      return 0;
    }
  }
  Matrix<T> E(m, inner, q), H(inner, n, q);
  copy_upper(R, H.view(), q);
  if (s.full()) {
    if (p == 0) copy(Q, E.view(), q);
  } else {
    copy(Q, E(all, {0, n}), q);
    const View<T> Y = E(all, fresh);
    laset(Uplo::General, T(0), T(0), Y, q);
    laset(Uplo::General, T(0), T(1), Y(K, {0, p}), q);
    orthogonal_complement(Q, Y, W({0, n}, {0, p}), W(fresh, {0, p}), q);
    if (!absent(rhs.d)) gemm(adjoint<T>, Op::NoTrans, T(1), Y, rhs.b, T(0), d(fresh, sides), q);
  }
  chase_up(W.view(), H.view(), E.view(), d.view(), s.economic(), q, options.block,
           s.full() && p > 0 ? Q : View<T>{});
  copy_without_rows(E(all, stay), K, Q1, q);
  copy(H(stay, {0, n}), R1, q);
  if (!absent(rhs.d)) copy(d(stay, sides), rhs.d1, q);
  return 0;
}

#define INSTANTIATE(T)                                                                                              \
  template void qr_add_rows<T>(std::int64_t, View<T>, View<T>, View<T>, View<T>, View<T>, Queue&, RightSides<T>,    \
                               QrUpdateOptions);                                                                    \
  template std::int64_t qr_remove_rows<T>(std::int64_t, std::int64_t, View<T>, View<T>, View<T>, View<T>, View<T>,  \
                                          Queue&, RightSides<T>, QrUpdateOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
