// What the tests of the QR updates share: a factorization in each form, an update of it on blocks with canaries, and
// the measures of the result against the updated matrix.
#pragma once

#include <tuple>

#include "devobj/qr_update.hpp"
#include "factor_checks.hpp"

namespace devobj::test {

inline const std::vector<QrForm>& forms() {
  static const std::vector<QrForm> all = {QrForm::full, QrForm::economic, QrForm::without_q};
  return all;
}
inline std::string name_of(QrForm form) {
  return form == QrForm::full ? "full" : form == QrForm::economic ? "economic" : "without Q";
}

/// A = Q R and d = Q^H b in a form; Q is 0 x 0 without Q.
template <class T>
struct Factored {
  QrForm form;
  Dense<T> Q, R, d;
};

template <class T>
Dense<T> rounded(const Dense<precise_t<T>>& A) {
  return Dense<T>::from(A.rows(), A.cols(), [&](auto i, auto j) {
    if constexpr (is_complex<T>)
      return T(static_cast<real_t<T>>(A(i, j).real()), static_cast<real_t<T>>(A(i, j).imag()));
    else
      return static_cast<T>(A(i, j));
  });
}

/// By LAPACK in T's precision, on the host.
template <class T>
Factored<T> factored(const Dense<T>& A, const Dense<T>& b, QrForm form) {
  const std::int64_t m = A.rows(), n = A.cols(), k = std::min(m, n), inner = form == QrForm::full ? m : n;
  Dense<T> QR = A, Q(m, inner), R(inner, n), tau(k, 1);
  geqrf<T>(host_view(QR), host_view(tau), host_queue());
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i <= std::min(j, inner - 1); ++i) R(i, j) = QR(i, j);
  for (std::int64_t j = 0; j < k; ++j)
    for (std::int64_t i = j; i < m; ++i) Q(i, j) = QR(i, j);
  orgqr<T>(host_view(Q), host_view(tau), host_queue());
  const Dense<T> d = rounded<T>(product(adjoint<T>, precise(Q), Op::NoTrans, precise(b)));
  return {form, form == QrForm::without_q ? Dense<T>(0, 0) : Q, R, b.cols() > 0 ? d : Dense<T>(0, 0)};
}

template <class T>
View<T> view_or_absent(const Padded<T>& A) {
  return A.view().empty() ? View<T>{} : A.view();
}

/// The measures of LAPACK's tests, in eps; each has residual_bound.
struct UpdateMeasures {
  double residual = 0, orthogonality = 0, right_sides = 0;
  bool triangular = true;
};

/// Of f as a factorization of A with right-hand sides b. Without Q: R^H R against A^H A, and R^H d against A^H b.
template <class T>
UpdateMeasures measures(const Dense<T>& A, const Dense<T>& b, const Factored<T>& f) {
  UpdateMeasures result;
  const auto a = precise(A), r = precise(f.R), rhs = precise(b);
  const double size = static_cast<double>(std::max<std::int64_t>({A.rows(), A.cols(), 1})) * eps<T>;
  for (std::int64_t j = 0; j < f.R.cols(); ++j)
    for (std::int64_t i = j + 1; i < f.R.rows(); ++i) result.triangular = result.triangular && f.R(i, j) == T(0);
  auto ratio = [](double x, double y) { return x == 0 ? 0 : x / y; };
  if (f.form == QrForm::without_q) {
    const auto gram = product(adjoint<T>, a, Op::NoTrans, a);
    result.residual = ratio(one_norm(residual(gram, adjoint<T>, r, Op::NoTrans, r)), one_norm(gram) * size);
    if (b.cols() > 0)
      result.right_sides =
          ratio(one_norm(residual(product(adjoint<T>, a, Op::NoTrans, rhs), adjoint<T>, r, Op::NoTrans, precise(f.d))),
                one_norm(a) * one_norm(rhs) * size);
    return result;
  }
  const auto q = precise(f.Q);
  result.residual = ratio(one_norm(residual(a, Op::NoTrans, q, Op::NoTrans, r)), one_norm(a) * size);
  auto unit = product(adjoint<T>, q, Op::NoTrans, q);
  for (std::int64_t i = 0; i < unit.rows(); ++i) unit(i, i) -= 1;
  result.orthogonality = one_norm(unit) / size;
  if (b.cols() > 0)
    result.right_sides = ratio(one_norm(residual(precise(f.d), adjoint<T>, q, Op::NoTrans, rhs)), one_norm(rhs) * size);
  return result;
}
template <class T>
void expect_factors(const Dense<T>& A, const Dense<T>& b, const Factored<T>& f, const std::string& what,
                    double bound = residual_bound) {
  const UpdateMeasures m = measures(A, b, f);
  EXPECT_LE(m.residual, bound) << what;
  EXPECT_LE(m.orthogonality, bound) << what;
  EXPECT_LE(m.right_sides, bound) << what;
  EXPECT_TRUE(m.triangular) << what << ": R1 is not exactly triangular";
}

// ---- the updated matrices ----

template <class T>
Dense<T> with_cols(const Dense<T>& A, std::int64_t k, const Dense<T>& U) {
  return Dense<T>::from(A.rows(), A.cols() + U.cols(), [&](auto i, auto j) {
    return j < k ? A(i, j) : j < k + U.cols() ? U(i, j - k) : A(i, j - U.cols());
  });
}
template <class T>
Dense<T> without_cols(const Dense<T>& A, std::int64_t k, std::int64_t p) {
  return Dense<T>::from(A.rows(), A.cols() - p, [&](auto i, auto j) { return A(i, j < k ? j : j + p); });
}
template <class T>
Dense<T> with_rows(const Dense<T>& A, std::int64_t k, const Dense<T>& U) {
  return Dense<T>::from(A.rows() + U.rows(), A.cols(), [&](auto i, auto j) {
    return i < k ? A(i, j) : i < k + U.rows() ? U(i - k, j) : A(i - U.rows(), j);
  });
}
template <class T>
Dense<T> without_rows(const Dense<T>& A, std::int64_t k, std::int64_t p) {
  return Dense<T>::from(A.rows() - p, A.cols(), [&](auto i, auto j) { return A(i < k ? i : i + p, j); });
}

// ---- updates on blocks with canaries; what is read must stay as it was ----

/// The objects of one update: update(Q, R, Q1, R1, {d, d1, b}) is run on them.
template <class T, class Update>
Factored<T> updated(const Factored<T>& f, std::int64_t m1, std::int64_t n1, const Dense<T>& b, Queue& q,
                    Update&& update) {
  const std::int64_t inner1 = f.form == QrForm::full ? m1 : n1, sides = f.d.cols();
  const bool has_q = f.form != QrForm::without_q;
  const T mark = make<T>(nan<T>);
  Padded<T> Q(f.Q, q), R(f.R, q), d(f.d, q), rhs_b(b, q);
  Padded<T> Q1(has_q ? Dense<T>(m1, inner1, mark) : Dense<T>(0, 0), q), R1(Dense<T>(inner1, n1, mark), q);
  Padded<T> d1(sides > 0 ? Dense<T>(inner1, sides, mark) : Dense<T>(0, 0), q);
  update(Q.view(), R.view(), Q1.view(), R1.view(), RightSides<T>{d.view(), d1.view(), rhs_b.view()});
  expect_same(Q.read("Q"), f.Q, "Q");
  expect_same(R.read("R"), f.R, "R");
  expect_same(d.read("d"), f.d, "d");
  expect_same(rhs_b.read("b"), b, "b");
  return {f.form, Q1.read("Q1"), R1.read("R1"), d1.read("d1")};
}

/// What of the right-hand sides an update needs (see RightSides): `part` where it is wanted.
template <class T>
Dense<T> needed(bool wanted, const Dense<T>& part) {
  return wanted && part.cols() > 0 ? part : Dense<T>(0, 0);
}

template <class T>
Factored<T> add_cols(const Factored<T>& f, std::int64_t k, const Dense<T>& U, const Dense<T>& b, Queue& q,
                     QrUpdateOptions o = {}) {
  Padded<T> u(U, q);
  return updated(f, f.Q.rows(), f.R.cols() + U.cols(), needed(f.form == QrForm::economic, b), q,
                 [&](View<T> Q, View<T> R, View<T> Q1, View<T> R1, RightSides<T> rhs) {
                   qr_add_cols<T>(k, Q, R, u.view(), Q1, R1, q, rhs, o);
                   expect_same(u.read("U"), U, "U");
                 });
}
template <class T>
Factored<T> remove_cols(const Factored<T>& f, std::int64_t k, std::int64_t p, Queue& q, QrUpdateOptions o = {}) {
  return updated(f, f.Q.rows(), f.R.cols() - p, Dense<T>(0, 0), q,
                 [&](View<T> Q, View<T> R, View<T> Q1, View<T> R1, RightSides<T> rhs) {
                   qr_remove_cols<T>(k, p, Q, R, Q1, R1, q, rhs, o);
                 });
}
template <class T>
Factored<T> add_rows(const Factored<T>& f, std::int64_t k, const Dense<T>& U, const Dense<T>& e, Queue& q,
                     QrUpdateOptions o = {}) {
  Padded<T> u(U, q);
  return updated(f, f.Q.rows() + U.rows(), f.R.cols(), needed(true, e), q,
                 [&](View<T> Q, View<T> R, View<T> Q1, View<T> R1, RightSides<T> rhs) {
                   qr_add_rows<T>(k, Q, R, u.view(), Q1, R1, q, rhs, o);
                   expect_same(u.read("U"), U, "U");
                 });
}
/// `rows` and `e`: the rows that go and their right-hand sides; b: all of them.
template <class T>
Factored<T> remove_rows(const Factored<T>& f, std::int64_t k, const Dense<T>& rows, const Dense<T>& e,
                        const Dense<T>& b, Queue& q, QrUpdateOptions o = {}, std::int64_t* info = nullptr) {
  const bool without = f.form == QrForm::without_q;
  const std::int64_t p = rows.rows();
  Padded<T> u(without ? rows : Dense<T>(0, 0), q);
  return updated(f, f.Q.rows() - p, f.R.cols(), without ? needed(true, e) : needed(f.form == QrForm::economic, b), q,
                 [&](View<T> Q, View<T> R, View<T> Q1, View<T> R1, RightSides<T> rhs) {
                   const std::int64_t found = qr_remove_rows<T>(k, p, Q, R, u.view(), Q1, R1, q, rhs, o);
                   if (info != nullptr)
                     *info = found;
                   else
                     EXPECT_EQ(found, 0);
                 });
}

}  // namespace devobj::test
