// A + U V^H.
#include "devobj/qr_update.hpp"
#include "qr_update_chase.hpp"
#include "qr_update_parts.hpp"

namespace devobj {

// With W = Q^H U, chase_up makes W = [T; 0] and gives R p subdiagonals; T V^H joins its first p rows, and chase_down takes
// the subdiagonals away. In economic form U's part outside of Q's range takes p columns more.
template <class T>
void qr_rank_update(View<T> U, View<T> V, View<T> Q, View<T> R, Queue& q, RightSides<T> rhs, QrUpdateOptions options) {
  const std::int64_t p = U.cols, n = R.cols, m = Q.rows;
  const char* routine = "qr_rank_update";
  const UpdateShape s = shape_of_update(routine, Q, R, Q, 0, 0);
  require(!s.without_q(), "qr_rank_update: Q is absent, but is needed");
  require_shape(routine, "U", U, m, p);
  require_shape(routine, "V", V, n, p);
  require(!s.economic() || m >= n + p, routine, ": the factorization is economic, with ", m, " rows for ", n,
          " columns, must have ", p, " more rows than columns (use the full form)");
  require_shape(routine, "d", rhs.d, absent(rhs.d) ? 0 : s.rows(), rhs.d.cols);
  require_shape(routine, "d1", rhs.d1, 0, 0);
  require_b(routine, rhs, m, s.economic());
  require_update_options(routine, options);
  require_apart(routine, sizeof(T), {named("Q", Q), named("R", R), named("d", rhs.d)},
                {named("U", U), named("V", V), named("b", rhs.b)});
  if (R.rows > 1 && n > 0) laset(Uplo::Lower, T(0), T(0), R({1, R.rows}, {0, std::min(n, R.rows - 1)}), q);
  if (p == 0 || m == 0) return;

  if (refactors<T>(QrUpdate::rank_update, s, p, 0, q, options)) {
    Matrix<T> A(m, n, q), b1(absent(rhs.d) ? 0 : m, rhs.d.cols, q);
    original(s, Q, R, A.view(), q);
    gemm(Op::NoTrans, adjoint<T>, T(1), U, V, T(1), A.view(), q);
    if (!absent(rhs.d)) {
      if (s.economic())
        copy(rhs.b, b1.view(), q);
      else
        gemm(Op::NoTrans, Op::NoTrans, T(1), Q, rhs.d, T(0), b1.view(), q);
    }
    return make_anew(s, A.view(), Q, R, b1.view(), rhs.d, q);
  }

  const std::int64_t inner = s.full() ? m : n + p, top = std::min(p, inner);
  const Range old{0, R.rows}, fresh{n, inner}, all{0, m}, sides = all_cols(rhs.d);
  Matrix<T> W(inner, p, q), H, E, d;
  View<T> Hv = R, Ev = Q, dv = rhs.d;
  if (s.full()) {
    adjoint_product(Q, U, W.view(), q);
  } else {
    H = Matrix<T>(inner, n, q);
    E = Matrix<T>(m, inner, q);
    d = Matrix<T>(absent(rhs.d) ? 0 : inner, rhs.d.cols, q);
    Hv = H, Ev = E, dv = d;
    copy_upper(R, Hv, q);
    copy(Q, E(all, {0, n}), q);
    const View<T> Y = E(all, fresh);
    copy(U, Y, q);
    orthogonal_complement(Q, Y, W({0, n}, {0, p}), W(fresh, {0, p}), q);
    if (!absent(rhs.d)) {
      copy(rhs.d, dv(old, sides), q);
      gemm(adjoint<T>, Op::NoTrans, T(1), Y, rhs.b, T(0), dv(fresh, sides), q);
    }
  }
  chase_up(W.view(), Hv, Ev, dv, s.economic(), q, options.block);
  gemm(Op::NoTrans, adjoint<T>, T(1), W({0, top}, {0, p}), V, T(1), Hv({0, top}, {0, n}), q);
  chase_down(Hv, p, Ev, dv, q, options.block);
  if (s.full()) return;
  copy(Hv(old, {0, n}), R, q);
  copy(Ev(all, {0, n}), Q, q);
  if (!absent(rhs.d)) copy(dv(old, sides), rhs.d, q);
}

#define INSTANTIATE(T)                                                                              \
  template void qr_rank_update<T>(View<T>, View<T>, View<T>, View<T>, Queue&, RightSides<T>, QrUpdateOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
