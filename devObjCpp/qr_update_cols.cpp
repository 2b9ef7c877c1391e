// Columns of A that come and go.
#include "devobj/qr_update.hpp"
#include "qr_update_chase.hpp"
#include "qr_update_parts.hpp"

namespace devobj {
namespace {

// B = [Q R(:, 0:k), U, Q R(:, k:n)] or, without columns k ... k+p-1, [Q R(:, 0:k), Q R(:, k+p:n)]; b = Q d.
template <class T>
void refactor_cols(bool adds, const UpdateShape& s, std::int64_t k, std::int64_t p, View<T> Q, View<T> R, View<T> U, View<T> Q1,
                   View<T> R1, RightSides<T> rhs, Queue& q) {
  Matrix<T> A(s.m, s.n, q), A1(s.m, s.n1, q), b1(absent(rhs.d) ? 0 : s.m, rhs.d.cols, q);
  if (s.without_q())
    copy_upper(R, A.view(), q);
  else
    original(s, Q, R, A.view(), q);
  const Range all{0, s.m}, rest{adds ? k : k + p, s.n}, rest1{adds ? k + p : k, s.n1};
  copy(A(all, {0, k}), A1(all, {0, k}), q);
  if (adds) copy(U, A1(all, {k, k + p}), q);
  copy(A(all, rest), A1(all, rest1), q);
  if (!absent(rhs.d)) {
    if (s.economic() && adds)
      copy(rhs.b, b1.view(), q);
    else if (s.without_q())
      copy(rhs.d, b1.view(), q);
    else
      gemm(Op::NoTrans, Op::NoTrans, T(1), Q, rhs.d, T(0), b1.view(), q);
  }
  make_anew(s, A1.view(), Q1, R1, b1.view(), rhs.d1, q);
}

}  // namespace

// R1 = [R(:, 0:k)  W  R(:, k:n)] with W = Q^H U: from row k on, chase_up makes W a triangle and gives the columns on its
// right p subdiagonals, which belong to R1's triangle there. In economic form Q is continued by p columns first.
template <class T>
void qr_add_cols(std::int64_t k, View<T> Q, View<T> R, View<T> U, View<T> Q1, View<T> R1, Queue& q, RightSides<T> rhs,
                 QrUpdateOptions options) {
  const std::int64_t p = U.cols, n = R.cols;
  const UpdateShape s = shape_of_update("qr_add_cols", Q, R, Q1, 0, p);
  require(!s.without_q(), "qr_add_cols: Q is absent, but columns cannot be added without it");
  require(0 <= k && k <= n, "qr_add_cols: k is ", k, ", must be 0 to ", n, ", the number of columns");
  require_shape("qr_add_cols", "U", U, s.m, p);
  require_economic(s, s.m, s.n1);
  require_updated(s, Q1, R1, rhs);
  require_b(s.routine, rhs, s.m, s.economic());
  require_update_options("qr_add_cols", options);
  const bool in_place = s.full() && same_view(Q, Q1);
  require_apart("qr_add_cols", sizeof(T), {named("Q1", Q1), named("R1", R1), named("d1", rhs.d1)},
                {named("Q", in_place ? View<T>{} : Q), named("R", R), named("U", U), named("d", rhs.d), named("b", rhs.b)});
  if (refactors<T>(QrUpdate::add_cols, s, p, k, q, options))
    return refactor_cols(true, s, k, p, Q, R, U, Q1, R1, rhs, q);

  const Range in{k, k + p}, right{k + p, n + p}, below{std::min(k, R1.rows), R1.rows};
  copy_upper(R(all_rows(R), {0, k}), R1(all_rows(R1), {0, k}), q);
  if (s.full())
    copy(R({0, below.begin}, {k, n}), R1({0, below.begin}, right), q);
  else
    copy_upper_from(R, k, R1(all_rows(R1), right), q);
  const View<T> W = R1(all_rows(R1), in);
  if (s.full()) {
    adjoint_product(Q, U, W, q);
    if (!in_place) copy(cols_of(Q, {0, below.begin}), cols_of(Q1, {0, below.begin}), q);
    if (!absent(rhs.d)) copy(rhs.d, rhs.d1, q);
  } else {
    const Range old{0, n}, fresh{n, n + p}, all{0, s.m};
    copy(Q, Q1(all, old), q);
    copy(U, Q1(all, fresh), q);
    orthogonal_complement(Q, Q1(all, fresh), W(old, {0, p}), W(fresh, {0, p}), q);
    if (!absent(rhs.d)) {
      copy(rhs.d, rhs.d1(old, all_cols(rhs.d)), q);
      gemm(adjoint<T>, Op::NoTrans, T(1), Q1(all, fresh), rhs.b, T(0), rhs.d1(fresh, all_cols(rhs.d)), q);
    }
  }
  if (below.size() == 0) return;
  chase_up(W(below, {0, p}), R1(below, right), Q1(all_rows(Q1), below),
           absent(rhs.d1) ? View<T>{} : rhs.d1(below, all_cols(rhs.d1)), s.economic(), q, options.block,
           s.full() && !in_place ? cols_of(Q, below) : View<T>{}, s.full() ? R(below, {k, n}) : View<T>{});
}

// R1 = [R(:, 0:k) R(:, k+p:n)] has p subdiagonals from column k on.
template <class T>
void qr_remove_cols(std::int64_t k, std::int64_t p, View<T> Q, View<T> R, View<T> Q1, View<T> R1, Queue& q,
                    RightSides<T> rhs, QrUpdateOptions options) {
  const std::int64_t n = R.cols;
  require(0 <= p && p <= n, "qr_remove_cols: p is ", p, ", must be 0 to ", n, ", the number of columns");
  require(0 <= k && k <= n - p, "qr_remove_cols: k is ", k, ", must be 0 to ", n - p, ", since p is ", p, " of ", n,
          " columns");
  const UpdateShape s = shape_of_update("qr_remove_cols", Q, R, Q1, 0, -p);
  require_updated(s, Q1, R1, rhs);
  require_b(s.routine, rhs, 0, false);
  require_update_options("qr_remove_cols", options);
  const bool in_place = s.full() && same_view(Q, Q1);
  require_apart("qr_remove_cols", sizeof(T), {named("Q1", Q1), named("R1", R1), named("d1", rhs.d1)},
                {named("Q", in_place ? View<T>{} : Q), named("R", R), named("d", rhs.d)});
  if (refactors<T>(QrUpdate::remove_cols, s, p, k, q, options))
    return refactor_cols(false, s, k, p, Q, R, View<T>{}, Q1, R1, rhs, q);

  const std::int64_t rows = R.rows, left = n - p - k;  // columns on the right of those that go
  const Range below{std::min(k, rows), rows};
  copy_upper(R(all_rows(R), {0, k}), R1(all_rows(R1), {0, k}), q);
  if (s.full()) {
    const bool chased = left > 0 && p > 0;
    if (!in_place) copy(cols_of(Q, {0, chased ? below.begin : rows}), cols_of(Q1, {0, chased ? below.begin : rows}), q);
    if (!absent(rhs.d)) copy(rhs.d, rhs.d1, q);
    if (left == 0) return;
    const Range right{k + p, n}, right1{k, n - p};
    copy(R({0, below.begin}, right), R1({0, below.begin}, right1), q);
    return chase_down(R1(below, right1), p, Q1(all_rows(Q1), below),
                      absent(rhs.d1) ? View<T>{} : rhs.d1(below, all_cols(rhs.d1)), q, options.block,
                      chased && !in_place ? cols_of(Q, below) : View<T>{}, R(below, right));
  }
  // Rows and columns that go at the end are in copies.
  const Range kept{0, left}, kept1{k, n - p}, above{0, k};
  Matrix<T> H(n, left, q), Qk(s.economic() ? s.m : 0, s.economic() ? n - k : 0, q);
  Matrix<T> d(absent(rhs.d) ? 0 : n - k, rhs.d.cols, q);
  copy_upper_from(R, k + p, H.view(), q);
  if (s.economic()) copy(Q({0, s.m}, below), Qk.view(), q);
  if (!absent(rhs.d)) copy(rhs.d(below, all_cols(rhs.d)), d.view(), q);
  chase_down(H(below, kept), p, Qk.view(), d.view(), q, options.block);
  copy(H({0, n - p}, kept), R1(all_rows(R1), kept1), q);
  if (s.economic()) {
    copy(Q({0, s.m}, above), Q1({0, s.m}, above), q);
    copy(Qk({0, s.m}, kept), Q1({0, s.m}, kept1), q);
  }
  if (absent(rhs.d)) return;
  copy(rhs.d(above, all_cols(rhs.d)), rhs.d1(above, all_cols(rhs.d)), q);
  copy(d(kept, all_cols(rhs.d)), rhs.d1(kept1, all_cols(rhs.d)), q);
}

#define INSTANTIATE(T)                                                                                               \
  template void qr_add_cols<T>(std::int64_t, View<T>, View<T>, View<T>, View<T>, View<T>, Queue&, RightSides<T>,     \
                               QrUpdateOptions);                                                                     \
  template void qr_remove_cols<T>(std::int64_t, std::int64_t, View<T>, View<T>, View<T>, View<T>, Queue&,            \
                                  RightSides<T>, QrUpdateOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
