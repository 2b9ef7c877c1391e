// The QR updates where little room is left: columns in Q's range with hardly a direction beside it, no right-hand sides in
// a d that is there, no rows, rank 0.
#include "update_checks.hpp"

namespace devobj::test {
namespace {

class QrUpdateEdges : public Everywhere {};

constexpr QrUpdateOptions by_update{UpdateMethod::update, 0};
constexpr UpdateMethod both_methods[] = {UpdateMethod::update, UpdateMethod::refactor};

struct Shape {
  std::int64_t m, n, p;
};
// rows that are left beside n + p columns: none, one, some
const std::vector<Shape> tight = {{4, 3, 1},  {6, 4, 1},    {10, 8, 2},    {9, 2, 3},   {6, 3, 3},   {17, 8, 5},
                                  {13, 6, 7}, {71, 57, 14}, {150, 145, 4}, {40, 6, 34}, {74, 36, 38}};

/// p columns of which `which(j)` says what they are: a column of A, a zero, the column before, or any.
enum class Is { of_A, zero, repeated, any };
template <class T, class Which>
Dense<T> columns(const Dense<T>& A, std::int64_t p, Which&& which) {
  const Dense<T> fresh = random<T>(A.rows(), p, 7);
  Dense<T> U(A.rows(), p);
  for (std::int64_t j = 0; j < p; ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i) switch (j == 0 && which(j) == Is::repeated ? Is::any : which(j)) {
        case Is::of_A:
          U(i, j) = A(i, j % A.cols());
          break;
        case Is::zero:
          U(i, j) = T(0);
          break;
        case Is::repeated:
          U(i, j) = U(i, j - 1);
          break;
        case Is::any:
          U(i, j) = fresh(i, j);
          break;
      }
  return U;
}

/// A column in Q's range is followed by others that are not, whose parts along its replacement must not get lost.
TEST_P(QrUpdateEdges, ColumnsInTheRangeOfQ) {
  with_type([&]<class T>(T) {
    using Which = Is (*)(std::int64_t);
    const std::pair<const char*, Which> kinds[] = {
        {"columns of A", [](std::int64_t) { return Is::of_A; }},
        {"zeros", [](std::int64_t) { return Is::zero; }},
        {"a column of A first", [](std::int64_t j) { return j == 0 ? Is::of_A : Is::any; }},
        {"a zero first", [](std::int64_t j) { return j == 0 ? Is::zero : Is::any; }},
        {"columns of A between others", [](std::int64_t j) { return j % 2 == 0 ? Is::any : Is::of_A; }},
        {"pairs", [](std::int64_t j) { return j % 2 == 0 ? Is::any : Is::repeated; }},
        {"all kinds", [](std::int64_t j) { return static_cast<Is>(j % 4); }}};
    for (const Shape s : tight)
      for (const std::string of : {"random", "unit columns", "ones"}) {
        if (of == "ones" && s.m > 70) continue;  // of rank 1 in any size
        const Dense<T> any = random<T>(s.m, s.n, 1);
        const Dense<T> A = Dense<T>::from(s.m, s.n, [&](auto i, auto j) {
          return of == "random" ? any(i, j) : T(of == "ones" || i == (5 * j + 3) % s.n ? 1 : 0);
        });
        const Dense<T> b = random<T>(s.m, 2, 2), V = random<T>(s.n, s.p, 4);
        const Factored<T> f = factored(A, b, QrForm::economic);
        for (const auto& [name, which] : kinds) {
          const Dense<T> U = columns(A, s.p, which);
          const std::string what = std::to_string(s.m) + " x " + std::to_string(s.n) + ", p = " + std::to_string(s.p) +
                                   " of " + of + ", " + name;
          for (const std::int64_t k : {std::int64_t(0), s.n})
            expect_factors(with_cols(A, k, U), b, add_cols(f, k, U, b, q(), by_update), what);

          Padded<T> Q(f.Q, q()), R(f.R, q()), d(f.d, q()), u(U, q()), v(V, q()), rhs(b, q());
          qr_rank_update<T>(u, v, Q, R, q(), {d.view(), {}, rhs.view()}, by_update);
          auto A1 = product(Op::NoTrans, precise(U), adjoint<T>, precise(V));  // A + U V^H
          for (std::int64_t e = 0; e < A1.size(); ++e) A1[e] += precise_t<T>(A[e]);
          expect_factors(rounded<T>(A1), b, Factored<T>{QrForm::economic, Q.read("Q"), R.read("R"), d.read("d")},
                         "rank update: " + what);
        }
        const Dense<T> rows = block_of(A, {0, s.p}, {0, s.n});
        expect_factors(without_rows(A, 0, s.p), without_rows(b, 0, s.p),
                       remove_rows(f, 0, rows, Dense<T>(s.p, 2), b, q(), by_update), "rows go");
      }
  });
}

/// d has rows and no columns.
TEST_P(QrUpdateEdges, NoRightHandSides) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 9, n = 4, p = 2;
    const Dense<T> A = random<T>(m, n, 1), none(m, 0), U = random<T>(p, n, 3);
    for (const UpdateMethod method : both_methods)
      for (const QrForm form : {QrForm::full, QrForm::economic}) {
        const Factored<T> f = factored(A, none, form);
        const std::int64_t inner = f.R.rows(), full_rows = form == QrForm::full ? 1 : 0;
        const QrUpdateOptions o{method, 0};
        auto check = [&](const char* what, const Dense<T>& A1, std::int64_t part, auto&& update) {
          const std::int64_t m1 = A1.rows(), inner1 = full_rows ? m1 : A1.cols();
          Padded<T> Q(f.Q, q()), R(f.R, q()), Q1(Dense<T>(m1, inner1), q()), R1(Dense<T>(inner1, A1.cols()), q());
          Matrix<T> d(inner, 0, q()), d1(inner1, 0, q()), b(part, 0, q());
          update(Q.view(), R.view(), Q1.view(), R1.view(), RightSides<T>{d, d1, b});
          expect_factors(A1, Dense<T>(m1, 0), Factored<T>{form, Q1.read("Q1"), R1.read("R1"), {}},
                         std::string(what) + ", " + name_of(form));
        };
        Padded<T> u(U, q()), v(random<T>(m, p, 4), q());
        check("rows come", with_rows(A, 1, U), p, [&](View<T> Q, View<T> R, View<T> Q1, View<T> R1, RightSides<T> rhs) {
          qr_add_rows<T>(1, Q, R, u.view(), Q1, R1, q(), rhs, o);
        });
        check("rows go", without_rows(A, 1, p), m,
              [&](View<T> Q, View<T> R, View<T> Q1, View<T> R1, RightSides<T> rhs) {
                EXPECT_EQ(qr_remove_rows<T>(1, p, Q, R, {}, Q1, R1, q(), rhs, o), 0);
              });
        check("columns come", with_cols(A, 1, v.read()), m,
              [&](View<T> Q, View<T> R, View<T> Q1, View<T> R1, RightSides<T> rhs) {
                qr_add_cols<T>(1, Q, R, v.view(), Q1, R1, q(), rhs, o);
              });
        check("columns go", without_cols(A, 1, p), 0,
              [&](View<T> Q, View<T> R, View<T> Q1, View<T> R1, RightSides<T> rhs) {
                qr_remove_cols<T>(1, p, Q, R, Q1, R1, q(), {rhs.d, rhs.d1, {}}, o);
              });
      }
  });
}

/// No rows come: b, which would have none, need not be there.
TEST_P(QrUpdateEdges, NoRowsAndNoB) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(9, 4, 1), b = random<T>(9, 3, 2);
    for (const UpdateMethod method : both_methods)
      for (const QrForm form : forms()) {
        const Factored<T> f = factored(A, b, form);
        Matrix<T> U(0, 4, q());
        const Factored<T> g = updated(f, f.Q.rows(), 4, Dense<T>(0, 0), q(),
                                      [&](View<T> Q, View<T> R, View<T> Q1, View<T> R1, RightSides<T> rhs) {
                                        qr_add_rows<T>(0, Q, R, U.view(), Q1, R1, q(), rhs, {method, 0});
                                      });
        expect_factors(A, b, g, name_of(form));
      }
  });
}

/// No columns come to a matrix without full rank: by a new factorization Q1 may have directions that Q has not, along which
/// b counts, not Q d.
TEST_P(QrUpdateEdges, NoColumnsAndDependentOnes) {
  with_type([&]<class T>(T) {
    const Dense<T> b = random<T>(9, 2, 2), none(9, 0);
    for (const UpdateMethod method : both_methods) {
      Factored<T> f = factored(random<T>(9, 4, 3), b, QrForm::economic);  // any Q, and R of rank 2
      for (std::int64_t j : {1, 3})
        for (std::int64_t i = 0; i < 4; ++i) f.R(i, j) = T(0);
      for (std::int64_t i = 0; i < 4; ++i) f.R(2, i) = T(0);
      const Dense<T> given = rounded<T>(product(Op::NoTrans, precise(f.Q), Op::NoTrans, precise(f.R)));
      expect_factors(given, b, add_cols(f, 1, none, b, q(), {method, 0}), "no columns");
    }
  });
}

/// What lies below R's diagonal is not looked at, and is zero afterwards, also for p = 0.
TEST_P(QrUpdateEdges, RankUpdatesLeaveATriangle) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(9, 4, 1), b(9, 0);
    for (const UpdateMethod method : both_methods)
      for (const QrForm form : {QrForm::full, QrForm::economic})
        for (const std::int64_t p : {0, 1}) {
          Factored<T> f = factored(A, b, form);
          for (std::int64_t j = 0; j < 4; ++j)
            for (std::int64_t i = j + 1; i < f.R.rows(); ++i) f.R(i, j) = make<T>(nan<T>);
          Padded<T> Q(f.Q, q()), R(f.R, q());
          Matrix<T> U(9, p, q()), V(4, p, q());
          for (const View<T> X : {U.view(), V.view()}) laset(Uplo::General, T(0), T(0), X, q());
          qr_rank_update<T>(U, V, Q, R, q(), {}, {method, 0});
          expect_factors(A, b, Factored<T>{form, Q.read("Q"), R.read("R"), {}},
                         name_of(form) + ", p = " + std::to_string(p));
        }
  });
}

}  // namespace
DEVOBJ_EVERYWHERE(QrUpdateEdges);
}  // namespace devobj::test
