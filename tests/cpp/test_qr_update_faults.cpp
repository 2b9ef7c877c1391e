// The QR updates with what breaks such code: bad arguments, numbers at the ends of the range, singular downdates, many
// updates in a row, blocks that do not fit one sweep.
#include "update_checks.hpp"

namespace devobj::test {
namespace {

class QrUpdateFaults : public Everywhere {};

constexpr QrUpdateOptions by_update{UpdateMethod::update, 0};

/// Views of the right shapes, of which a test spoils one.
template <class T>
struct Objects {
  Objects(std::int64_t m, std::int64_t n, std::int64_t rows1, std::int64_t cols1, QrForm form, Queue& q)
      : full(form == QrForm::full),
        Q(m, full ? m : n, q),
        R(full ? m : n, n, q),
        d(full ? m : n, 2, q),
        Q1(rows1, full ? rows1 : cols1, q),
        R1(full ? rows1 : cols1, cols1, q),
        d1(full ? rows1 : cols1, 2, q) {
    for (View<T> A : {Q.view(), R.view(), d.view(), Q1.view(), R1.view(), d1.view()})
      laset(Uplo::General, make<T>(0), make<T>(1), A, q);
  }
  bool full;
  Matrix<T> Q, R, d, Q1, R1, d1;
};

TEST_P(QrUpdateFaults, ArgumentsOfAddingColumns) {
  with_type([&]<class T>(T) {
    Objects<T> o(7, 4, 7, 6, QrForm::full, q());
    Matrix<T> U(7, 2, q()), short_U(6, 2, q()), other(5, 5, q());
    const View<T> none{};
    auto add = [&](std::int64_t k, View<T> Q, View<T> R, View<T> u, View<T> Q1, View<T> R1, RightSides<T> rhs = {},
                   QrUpdateOptions options = {}) { qr_add_cols<T>(k, Q, R, u, Q1, R1, q(), rhs, options); };
    EXPECT_INVALID(add(-1, o.Q, o.R, U, o.Q1, o.R1), "qr_add_cols: k is -1, must be 0 to 4");
    EXPECT_INVALID(add(5, o.Q, o.R, U, o.Q1, o.R1), "qr_add_cols: k is 5, must be 0 to 4");
    EXPECT_INVALID(add(0, o.Q, o.R, short_U, o.Q1, o.R1), "qr_add_cols: U is 6 x 2, must be 7 x 2");
    EXPECT_INVALID(add(0, none, other({0, 4}, {0, 4}), U, none, o.R1), "qr_add_cols: Q is absent");
    EXPECT_INVALID(add(0, o.Q, other, U, o.Q1, o.R1),
                   "qr_add_cols: Q is 7 x 7 and R is 5 x 5, must be m x m and m x n (full)");
    EXPECT_INVALID(add(0, o.Q, o.R, U, other, o.R1), "qr_add_cols: Q1 is 5 x 5, must be 7 x 7");
    EXPECT_INVALID(add(0, o.Q, o.R, U, o.Q1, o.R), "qr_add_cols: R1 is 7 x 4, must be 7 x 6");
    EXPECT_INVALID(add(0, o.Q, o.R, U, o.Q1, o.R1, {o.d, none, none}),
                   "qr_add_cols: d is 7 x 2 and d1 is 0 x 0, must both");
    EXPECT_INVALID(add(0, o.Q, o.R, U, o.Q1, o.R1, {o.d, other, none}), "qr_add_cols: d1 is 5 x 5, must be 7 x 2");
    EXPECT_INVALID(add(0, o.Q, o.R, U, o.Q1, o.R1, {other, o.d1, none}), "qr_add_cols: d is 5 x 5, must be 7 x 5");
    EXPECT_INVALID(add(0, o.Q, o.R, o.Q({0, 7}, {2, 4}), o.Q, o.R1), "qr_add_cols: Q1 and U overlap in memory");
    EXPECT_INVALID(add(0, o.Q, o.R, o.Q1({0, 7}, {0, 2}), o.Q1, o.R1), "qr_add_cols: Q1 and U overlap in memory");
    EXPECT_INVALID(add(0, o.Q, o.R, U, o.Q1, o.R1, {}, {static_cast<UpdateMethod>(3), 0}), "qr_add_cols: method is 3");
    EXPECT_INVALID(add(0, o.Q, o.R, U, o.Q1, o.R1, {}, {UpdateMethod::update, 257}), "qr_add_cols: block is 257");

    Objects<T> e(7, 4, 7, 6, QrForm::economic, q()), wide(7, 4, 7, 8, QrForm::economic, q());
    Matrix<T> many(7, 4, q());
    EXPECT_INVALID(add(0, e.Q, e.R, U, e.Q1, e.R1, {e.d, e.d1, none}), "qr_add_cols: b is 0 x 0, must be 7 x 2");
    EXPECT_INVALID(add(0, wide.Q, wide.R, many, wide.Q1, wide.R1),
                   "qr_add_cols: the factorization is economic, with 7 rows for 8 columns");
  });
}

TEST_P(QrUpdateFaults, ArgumentsOfRemovingColumns) {
  with_type([&]<class T>(T) {
    Objects<T> o(7, 4, 7, 2, QrForm::full, q());
    auto remove = [&](std::int64_t k, std::int64_t p, View<T> R1) { qr_remove_cols<T>(k, p, o.Q, o.R, o.Q1, R1, q()); };
    EXPECT_INVALID(remove(-1, 2, o.R1), "qr_remove_cols: k is -1, must be 0 to 2, since p is 2 of 4 columns");
    EXPECT_INVALID(remove(3, 2, o.R1), "qr_remove_cols: k is 3, must be 0 to 2");
    EXPECT_INVALID(remove(INT64_MAX, 2, o.R1), "qr_remove_cols: k is 9223372036854775807, must be 0 to 2");
    EXPECT_INVALID(remove(0, 5, o.R1), "qr_remove_cols: p is 5, must be 0 to 4");
    EXPECT_INVALID(remove(0, -1, o.R1), "qr_remove_cols: p is -1, must be 0 to 4");
    EXPECT_INVALID(remove(0, 1, o.R1), "qr_remove_cols: R1 is 7 x 2, must be 7 x 3");
    EXPECT_INVALID(remove(0, 2, o.R({0, 7}, {0, 2})), "qr_remove_cols: R1 and R overlap in memory");
  });
}

TEST_P(QrUpdateFaults, ArgumentsOfRows) {
  with_type([&]<class T>(T) {
    Objects<T> more(7, 4, 9, 4, QrForm::full, q()), fewer(7, 4, 5, 4, QrForm::full, q());
    Matrix<T> U(2, 4, q()), wrong(2, 5, q()), square(4, 4, q()), square1(4, 4, q()), d(4, 1, q()), d1(4, 1, q());
    const View<T> none{};
    EXPECT_INVALID(qr_add_rows<T>(8, more.Q, more.R, U, more.Q1, more.R1, q()), "qr_add_rows: k is 8, must be 0 to 7");
    EXPECT_INVALID(qr_add_rows<T>(-1, more.Q, more.R, U, more.Q1, more.R1, q()), "qr_add_rows: k is -1");
    EXPECT_INVALID(qr_add_rows<T>(0, more.Q, more.R, wrong, more.Q1, more.R1, q()),
                   "qr_add_rows: U is 2 x 5, must be 2 x 4");
    EXPECT_INVALID(qr_add_rows<T>(0, more.Q, more.R, U, more.Q1, more.R1, q(), {more.d, more.d1, none}),
                   "qr_add_rows: b is 0 x 0, must be 2 x 2");
    EXPECT_INVALID(qr_add_rows<T>(0, none, square.view(), U, more.Q1, square1, q()), "Q is absent, but Q1 is 9 x 9");

    EXPECT_INVALID(qr_remove_rows<T>(6, 2, fewer.Q, fewer.R, none, fewer.Q1, fewer.R1, q()),
                   "qr_remove_rows: k is 6, must be 0 to 5, since p is 2 of 7 rows");
    EXPECT_INVALID(qr_remove_rows<T>(INT64_MAX, 2, fewer.Q, fewer.R, none, fewer.Q1, fewer.R1, q()),
                   "qr_remove_rows: k is 9223372036854775807, must be 0 to 5");
    EXPECT_INVALID(qr_remove_rows<T>(0, 8, fewer.Q, fewer.R, none, fewer.Q1, fewer.R1, q()),
                   "qr_remove_rows: p is 8, must be 0 to 7");
    EXPECT_INVALID(qr_remove_rows<T>(0, -1, fewer.Q, fewer.R, none, fewer.Q1, fewer.R1, q()),
                   "qr_remove_rows: p is -1, must not be negative");
    EXPECT_INVALID(qr_remove_rows<T>(0, 2, fewer.Q, fewer.R, U, fewer.Q1, fewer.R1, q()),
                   "qr_remove_rows: U is 2 x 4, must be 0 x 0");
    EXPECT_INVALID(qr_remove_rows<T>(0, 2, none, square.view(), none, none, square1, q()),
                   "qr_remove_rows: U is 0 x 0, must be 2 x 4");
    EXPECT_INVALID(qr_remove_rows<T>(0, 2, none, square.view(), U, none, square1, q(), {d, d1, none}),
                   "qr_remove_rows: b is 0 x 0, must be 2 x 1");
    EXPECT_INVALID(qr_remove_rows<T>(0, 2, none, square.view(), U, none, square1, q(), {}, {UpdateMethod::refactor, 0}),
                   "qr_remove_rows: method is 'refactor', but without Q");
    Objects<T> e(5, 4, 3, 4, QrForm::economic, q());
    EXPECT_INVALID(qr_remove_rows<T>(0, 2, e.Q, e.R, none, e.Q1, e.R1, q()),
                   "qr_remove_rows: the factorization is economic, with 3 rows for 4 columns");
  });
}

TEST_P(QrUpdateFaults, ArgumentsOfRankUpdatesAndCosts) {
  with_type([&]<class T>(T) {
    Objects<T> o(7, 4, 7, 4, QrForm::full, q());
    Matrix<T> U(7, 1, q()), V(4, 1, q()), short_V(3, 1, q());
    const View<T> none{};
    EXPECT_INVALID(qr_rank_update<T>(U, short_V, o.Q, o.R, q()), "qr_rank_update: V is 3 x 1, must be 4 x 1");
    EXPECT_INVALID(qr_rank_update<T>(V, V, o.Q, o.R, q()), "qr_rank_update: U is 4 x 1, must be 7 x 1");
    EXPECT_INVALID(qr_rank_update<T>(U, V, o.Q, o.R, q(), {o.d, o.d1, none}),
                   "qr_rank_update: d1 is 7 x 2, must be 0 x 0");
    EXPECT_INVALID(qr_rank_update<T>(o.Q({0, 7}, {0, 1}), V, o.Q, o.R, q()), "qr_rank_update: Q and U overlap");
    Objects<T> e(4, 4, 4, 4, QrForm::economic, q());
    EXPECT_INVALID(qr_rank_update<T>(U, V, none, e.R, q()), "qr_rank_update: Q is absent");

    auto cost = [&](QrUpdate what, QrForm form, std::int64_t m, std::int64_t n, std::int64_t p, std::int64_t k) {
      return qr_update_cost<T>(what, form, m, n, p, k, q());
    };
    EXPECT_INVALID(cost(QrUpdate::add_cols, QrForm::without_q, 9, 4, 1, 0),
                   "qr_update_cost: columns cannot be added without Q");
    EXPECT_INVALID(cost(QrUpdate::add_cols, QrForm::full, 9, 4, 1, 5), "qr_update_cost: k is 5, must be 0 to 4");
    EXPECT_INVALID(cost(QrUpdate::remove_rows, QrForm::full, 9, 4, 10, 0), "qr_update_cost: p is 10, must be 0 to 9");
    EXPECT_INVALID(cost(QrUpdate::remove_cols, QrForm::full, 9, -4, 1, 0), "qr_update_cost: n is -4");
    EXPECT_INVALID(cost(QrUpdate::add_rows, QrForm::full, INT64_MAX, 4, 1, 0), "qr_update_cost: m is 9223372036854775807");
    EXPECT_INVALID(cost(QrUpdate::add_cols, QrForm::economic, 9, 4, 6, 0), "with 9 rows for 10 columns");
    for (QrUpdate what : {QrUpdate::add_cols, QrUpdate::remove_cols, QrUpdate::add_rows, QrUpdate::remove_rows,
                          QrUpdate::rank_update}) {
      const QrUpdateCost c = cost(what, QrForm::full, 4000, 1000, 10, 0);
      EXPECT_GT(c.update, 0);
      EXPECT_GT(c.refactor, 0);
      EXPECT_GT(cost(what, QrForm::full, 8000, 2000, 10, 0).refactor, c.refactor);
    }
    EXPECT_LT(cost(QrUpdate::add_cols, QrForm::full, 4000, 2000, 10, 2000).update,
              cost(QrUpdate::add_cols, QrForm::full, 4000, 2000, 10, 0).update);
  });
}

/// The same factorization by refactoring, and by what 'auto' chooses.
TEST_P(QrUpdateFaults, OtherMethods) {
  with_type([&]<class T>(T) {
    for (UpdateMethod method : {UpdateMethod::refactor, UpdateMethod::automatic})
      for (QrForm form : forms()) {
        const QrUpdateOptions o{method, 0};
        const std::int64_t m = 40, n = 12;
        const Dense<T> A = random<T>(m, n, 1), b = random<T>(m, 2, 2), U = random<T>(m, 3, 3),
                       rows = random<T>(3, n, 4);
        const Dense<T> e = random<T>(3, 2, 5);
        const Factored<T> f = factored(A, b, form);
        const std::string what = name_of(form);
        expect_factors(without_cols(A, 4, 3), b, remove_cols(f, 4, 3, q(), o), "remove columns " + what);
        expect_factors(with_rows(A, 5, rows), with_rows(b, 5, e), add_rows(f, 5, rows, e, q(), o), "add rows " + what);
        if (form == QrForm::without_q) continue;
        expect_factors(with_cols(A, 4, U), b, add_cols(f, 4, U, b, q(), o), "add columns " + what);
        expect_factors(without_rows(A, 4, 3), without_rows(b, 4, 3), remove_rows(f, 4, rows, e, b, q(), o),
                       "remove rows " + what);
      }
  });
}

/// Where columns come or go in full form, Q1 may be Q.
TEST_P(QrUpdateFaults, InPlace) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 40, n = 12;
    const Dense<T> A = random<T>(m, n, 1), b(m, 0), U = random<T>(m, 3, 2);
    const Factored<T> f = factored(A, b, QrForm::full);
    for (UpdateMethod method : {UpdateMethod::update, UpdateMethod::refactor}) {
      Padded<T> Q(f.Q, q()), R(f.R, q()), u(U, q()), more(Dense<T>(m, n + 3), q()), fewer(Dense<T>(m, n - 2), q());
      qr_add_cols<T>(4, Q, R, u.view(), Q, more, q(), {}, {method, 0});
      expect_factors(with_cols(A, 4, U), b, Factored<T>{QrForm::full, Q.read(), more.read(), {}},
                     "columns come in place");
      Padded<T> Q2(f.Q, q());
      qr_remove_cols<T>(4, 2, Q2, R, Q2, fewer, q(), {}, {method, 0});
      expect_factors(without_cols(A, 4, 2), b, Factored<T>{QrForm::full, Q2.read(), fewer.read(), {}},
                     "columns go in place");
    }
  });
}

/// More columns and rows than one sweep takes, other block sizes.
TEST_P(QrUpdateFaults, SeveralSweepsAndBlockSizes) {
  if (type() != Type::real && type() != Type::double_complex) return;
  with_type([&]<class T>(T) {
    const std::int64_t m = 620, n = 530;  // a sweep removes up to 512 subdiagonals, or eliminates up to 288 columns
    const Dense<T> A = random<T>(m, n, 1), b = random<T>(m, 1, 2);
    const Factored<T> f = factored(A, b, QrForm::full), g = factored(A, b, QrForm::without_q);
    expect_factors(without_cols(A, 3, 520), b, remove_cols(f, 3, 520, q(), by_update), "520 columns go");
    const Dense<T> U = random<T>(m, 300, 3), rows = random<T>(520, n, 4), e = random<T>(520, 1, 5);
    expect_factors(with_cols(A, 100, U), b, add_cols(f, 100, U, b, q(), by_update), "300 columns come");
    expect_factors(with_rows(A, 9, rows), with_rows(b, 9, e), add_rows(g, 9, rows, e, q(), by_update), "520 rows come");
    expect_factors(without_rows(A, 0, 300), without_rows(b, 0, 300),
                   remove_rows(f, 0, Dense<T>(300, n), Dense<T>(300, 1), b, q(), by_update), "300 rows go");
    for (std::int64_t block : {1, 5, 64, 200})
      expect_factors(without_cols(A, 400, 70), b, remove_cols(f, 400, 70, q(), {UpdateMethod::update, block}),
                     "blocks of " + std::to_string(block));
    for (std::int64_t block : {7, 200})
      expect_factors(with_cols(A, 500, random<T>(m, 5, 3)), b,
                     add_cols(f, 500, random<T>(m, 5, 3), b, q(), {UpdateMethod::update, block}),
                     "columns come, blocks of " + std::to_string(block));
  });
}

/// Columns that add nothing: in the range of Q, zero, tiny. Numbers near the ends of the range.
TEST_P(QrUpdateFaults, DependentAndTinyColumns) {
  with_type([&]<class T>(T) {
    for (QrForm form : {QrForm::full, QrForm::economic}) {
      const std::int64_t m = 60, n = 20;
      const Dense<T> A = random<T>(m, n, 1), b = random<T>(m, 1, 2);
      const Factored<T> f = factored(A, b, form);
      const double tiny = sizeof(real_t<T>) == 4 ? 1e-37 : 1e-300;
      const std::vector<std::pair<std::string, Dense<T>>> columns = {
          {"two columns of A", block_of(A, {0, m}, {3, 5})},
          {"zero", Dense<T>(m, 2)},
          {"tiny", Dense<T>::from(m, 2, [&](auto i, auto j) { return i == j ? make<T>(tiny) : T(0); })},
          {"twice the same", Dense<T>::from(m, 2, [&](auto i, auto) { return random<T>(m, 1, 9)(i, 0); })}};
      for (const auto& [what, U] : columns)
        for (std::int64_t k : {0, 20})
          expect_factors(with_cols(A, k, U), b, add_cols(f, k, U, b, q(), by_update), what + ", " + name_of(form));
      // A = I: what is left of a column of A is exactly zero
      const Dense<T> unit = Dense<T>::from(m, n, [](auto i, auto j) { return T(i == j ? 1 : 0); });
      expect_factors(with_cols(unit, 4, block_of(unit, {0, m}, {0, 2})), b,
                     add_cols(factored(unit, b, form), 4, block_of(unit, {0, m}, {0, 2}), b, q(), by_update),
                     "columns of I, " + name_of(form));
      // the first rows of I go: what is left of A is singular
      expect_factors(
          without_rows(unit, 0, 2), without_rows(b, 0, 2),
          remove_rows(factored(unit, b, form), 0, block_of(unit, {0, 2}, {0, n}), Dense<T>(2, 1), b, q(), by_update),
          "rows of I, " + name_of(form));
    }
  });
}

TEST_P(QrUpdateFaults, LargeAndSmallNumbers) {
  with_type([&]<class T>(T) {
    const int most = sizeof(real_t<T>) == 4 ? 110 : 1000;
    for (int exponent : {-most, most}) {
      const std::int64_t m = 70, n = 40;
      auto scale = [&](Dense<T> X) {
        for (std::int64_t i = 0; i < X.size(); ++i) X[i] *= std::ldexp(real_t<T>(1), exponent);
        return X;
      };
      const Dense<T> A = random<T>(m, n, 1), U = random<T>(m, 3, 2), rows = random<T>(3, n, 3), none(m, 0);
      Factored<T> f = factored(A, none, QrForm::full);
      f.R = scale(f.R);
      auto back = [&](Factored<T> g) {
        for (std::int64_t i = 0; i < g.R.size(); ++i) g.R[i] *= std::ldexp(real_t<T>(1), -exponent);
        return g;
      };
      const std::string what = "times 2^" + std::to_string(exponent);
      expect_factors(with_cols(A, 5, U), none, back(add_cols(f, 5, scale(U), none, q(), by_update)), what);
      expect_factors(without_cols(A, 5, 3), none, back(remove_cols(f, 5, 3, q(), by_update)), what);
      expect_factors(with_rows(A, 5, rows), Dense<T>(m + 3, 0),
                     back(add_rows(f, 5, scale(rows), Dense<T>(3, 0), q(), by_update)), what);
      expect_factors(without_rows(A, 5, 3), Dense<T>(m - 3, 0),
                     back(remove_rows(f, 5, rows, Dense<T>(3, 0), none, q(), by_update)), what);
    }
  });
}

TEST_P(QrUpdateFaults, NaNPropagates) {
  with_type([&]<class T>(T) {
    for (std::int64_t p : {1, 30}) {
      const Dense<T> A = random<T>(80, 40, 1), b = random<T>(80, 1, 2);
      const Factored<T> f = factored(A, b, QrForm::economic);
      Dense<T> U = random<T>(80, p, 3), rows = random<T>(p, 40, 4);
      poison(U);
      poison(rows);
      auto nans = [](const Dense<T>& X) {
        std::int64_t count = 0;
        for (std::int64_t i = 0; i < X.size(); ++i) count += is_nan(precise_t<T>(X[i]));
        return count;
      };
      EXPECT_GT(nans(add_cols(f, 3, U, b, q(), by_update).R), 0);
      EXPECT_GT(nans(add_rows(f, 3, rows, random<T>(p, 1, 5), q(), by_update).R), 0);
      const Factored<T> g = factored(A, b, QrForm::without_q);
      std::int64_t info = 0;
      const Factored<T> r = remove_rows(g, 0, rows, random<T>(p, 1, 5), b, q(), by_update, &info);
      EXPECT_TRUE(info > 0 || nans(r.R) > 0);
    }
  });
}

/// Without Q: what cannot be is reported, and R1 and d1 stay.
TEST_P(QrUpdateFaults, DowndatesThatBreakDown) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 30, n = 10;
    const Dense<T> A = random<T>(m, n, 1), b = random<T>(m, 1, 2);
    const Factored<T> f = factored(A, b, QrForm::without_q);
    auto breaks = [&](const Factored<T>& g, const Dense<T>& rows, std::int64_t expected, const std::string& what) {
      std::int64_t info = 0;
      const Factored<T> after = remove_rows(g, 0, rows, Dense<T>(rows.rows(), 1), b, q(), by_update, &info);
      EXPECT_EQ(info, expected) << what;
      for (std::int64_t i = 0; i < after.R.size(); ++i) EXPECT_TRUE(is_nan(precise_t<T>(after.R[i]))) << what;
      for (std::int64_t i = 0; i < after.d.size(); ++i) EXPECT_TRUE(is_nan(precise_t<T>(after.d[i]))) << what;
    };
    // rows that A never had: the first alone is too much, or the second
    breaks(f, Dense<T>::from(2, n, [](auto, auto) { return make<T>(100); }), 1, "a foreign row");
    breaks(f, Dense<T>::from(2, n, [&](auto i, auto j) { return i == 0 ? A(0, j) : make<T>(100); }), 2,
           "the second row");
    Factored<T> singular = f;
    singular.R(6, 6) = T(0);
    breaks(singular, block_of(A, {0, 2}, {0, n}), n + 7, "a zero on the diagonal");
    // all rows but n - 1 go: nothing but rounding errors is left in some direction
    std::int64_t info = 0;
    const Factored<T> left = remove_rows(f, 0, block_of(A, {0, m - n + 1}, {0, n}), block_of(b, {0, m - n + 1}, {0, 1}),
                                         b, q(), by_update, &info);
    if (info == 0) {
      double least = 1;
      for (std::int64_t i = 0; i < n; ++i) least = std::min<double>(least, std::abs(left.R(i, i)));
      EXPECT_LE(least, 1e3 * std::sqrt(eps<T>));
    }
    // the same with Q is exact to rounding
    const Factored<T> g = factored(A, b, QrForm::full);
    const std::int64_t p = m - n + 1;
    expect_factors(without_rows(A, 0, p), without_rows(b, 0, p),
                   remove_rows(g, 0, block_of(A, {0, p}, {0, n}), Dense<T>(p, 1), b, q(), by_update),
                   "rank n - 1 is left");
  });
}

/// ||Q^H Q - I||_2 / eps, by power iteration.
template <class T>
double loss_of_orthogonality(const Dense<T>& Q) {
  const auto q = precise(Q);
  auto E = product(adjoint<T>, q, Op::NoTrans, q);
  for (std::int64_t i = 0; i < E.rows(); ++i) E(i, i) -= 1;
  auto x = precise(random<T>(E.rows(), 1, 3));
  double norm = 0;
  for (int step = 0; step < 200; ++step) {
    const auto y = product(Op::NoTrans, E, Op::NoTrans, x);
    double square_x = 0, square_y = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) square_x += std::norm(x[i]), square_y += std::norm(y[i]);
    norm = std::sqrt(square_y / square_x);
    for (std::int64_t i = 0; i < x.size(); ++i) x[i] = y[i] * (1 / std::sqrt(square_y));
  }
  return norm / eps<T>;
}

/// A window that slides over the rows: after 1000 updates no drift beyond 100 eps.
TEST_P(QrUpdateFaults, AThousandUpdates) {
  if (type() != Type::real && type() != Type::double_precision) return;
  with_type([&]<class T>(T) {
    const std::int64_t m = 48, n = 12, steps = 500;
    for (QrForm form : {QrForm::full, QrForm::economic}) {
      const Dense<T> data = random<T>(m + steps, n, 1), rhs = random<T>(m + steps, 1, 2);
      Dense<T> A = block_of(data, {0, m}, {0, n}), b = block_of(rhs, {0, m}, {0, 1});
      Factored<T> f = factored(A, b, form);
      for (std::int64_t step = 0; step < steps; ++step) {
        const Dense<T> row = block_of(data, {m + step, m + step + 1}, {0, n});
        const Dense<T> e = block_of(rhs, {m + step, m + step + 1}, {0, 1});
        f = add_rows(f, m, row, e, q(), by_update);
        A = with_rows(A, m, row), b = with_rows(b, m, e);
        f = remove_rows(f, 0, block_of(A, {0, 1}, {0, n}), block_of(b, {0, 1}, {0, 1}), b, q(), by_update);
        A = without_rows(A, 0, 1), b = without_rows(b, 0, 1);
      }
      const UpdateMeasures end = measures(A, b, f);
      const double loss = loss_of_orthogonality(f.Q);
      EXPECT_LE(loss, 100) << name_of(form);
      RecordProperty(std::string("loss of orthogonality, ") + name_of(form), std::to_string(loss));
      EXPECT_LE(end.residual, residual_bound) << name_of(form);
      EXPECT_LE(end.right_sides, residual_bound) << name_of(form);
      EXPECT_TRUE(end.triangular) << name_of(form);
    }
  });
}

/// Rows come at the end and go from the front, 10,000 updates of objects that stay where they are. The loss of orthogonality
/// stays below what a thousand may have.
TEST_P(QrUpdateFaults, TenThousandUpdates) {
  if (type() != Type::real && type() != Type::double_precision) return;
  with_type([&]<class T>(T) {
    const std::int64_t m = 48, n = 12, steps = place().host_mode == HostMode::worker ? 500 : 5000;
    for (QrForm form : {QrForm::full, QrForm::economic}) {
      const bool full = form == QrForm::full;
      const Dense<T> data = random<T>(m + steps, n, 3);
      const Dense<T> A = block_of(data, {0, m}, {0, n});
      const Factored<T> start = factored(A, Dense<T>(m, 0), form);
      Matrix<T> Q = upload(start.Q, q()), R = upload(start.R, q()), rows = upload(data, q());
      Matrix<T> Q1(m + 1, full ? m + 1 : n, q()), R1(full ? m + 1 : n, n, q());
      for (std::int64_t step = 0; step < steps; ++step) {
        const View<T> row = rows({m + step, m + step + 1}, {0, n});
        qr_add_rows<T>(m, Q, R, row, Q1, R1, q(), {}, by_update);
        ASSERT_EQ(qr_remove_rows<T>(0, 1, Q1, R1, View<T>{}, Q, R, q(), {}, by_update), 0);
      }
      const Dense<T> last_Q = download<T>(Q, q()), last_R = download<T>(R, q());
      const Dense<T> last = block_of(data, {steps, m + steps}, {0, n});
      const double loss = loss_of_orthogonality(last_Q);
      EXPECT_LE(loss, 100) << name_of(form);
      RecordProperty(std::string("loss of orthogonality, ") + name_of(form), std::to_string(loss));
      EXPECT_LE(product_residual(last, precise(last_Q), last_R), residual_bound) << name_of(form);
    }
  });
}

TEST_P(QrUpdateFaults, ColumnsComeAndGo) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 50, n = 15, steps = is_complex<T> ? 20 : 200;
    const Dense<T> b = random<T>(m, 1, 2);
    Dense<T> A = random<T>(m, n, 1);
    const Factored<T> start = factored(A, b, QrForm::economic);
    Factored<T> f = start;
    for (std::int64_t step = 0; step < steps; ++step) {  // insert, then remove: the identity
      const std::int64_t k = step % (n + 1);
      f = add_cols(f, k, random<T>(m, 2, std::uint32_t(step)), b, q(), by_update);
      f = remove_cols(f, k, 2, q(), by_update);
    }
    const UpdateMeasures end = measures(A, b, f);
    EXPECT_LE(loss_of_orthogonality(f.Q), 100);
    EXPECT_LE(end.residual, residual_bound);
    for (std::int64_t i = 0; i < n; ++i)
      EXPECT_NEAR(std::abs(f.R(i, i)), std::abs(start.R(i, i)), 200 * eps<T> * std::abs(start.R(i, i))) << i;
  });
}

}  // namespace
DEVOBJ_EVERYWHERE(QrUpdateFaults);
}  // namespace devobj::test
