// gels: least squares and least norm, right-hand sides of every kind, and what counts as rank-deficient.
#include "factor_checks.hpp"
#include "factor_matrices.hpp"

namespace devobj::test {
namespace {

class Gels : public Everywhere {};

template <class T>
struct Solution {
  std::int64_t info;
  Dense<T> A, B;  // what they hold afterwards
};
template <class T>
Solution<T> solve(Op op, const Dense<T>& A, const Dense<T>& B, Queue& q, QrOptions options = {}) {
  Padded<T> a(A, q), b(B, q);
  const std::int64_t info = gels<T>(op, a, b, q, options);
  return {info, a.read("A"), b.read("B")};
}

/// What is asked for: op(A) X = B with op(A) rows x cols, B in the first `rows` of B0, X in the first `cols` of the
/// result.
template <class T>
struct Problem {
  using D = precise_t<T>;
  Dense<D> A, B, X, below;

  Problem(Op op, const Dense<T>& A0, const Dense<T>& B0, const Dense<T>& result) : A(op_of(op, precise(A0))) {
    B = block_of(precise(B0), {0, A.rows()}, {0, B0.cols()});
    X = block_of(precise(result), {0, A.cols()}, {0, B0.cols()});
    below = block_of(precise(result), {std::min(A.cols(), result.rows()), result.rows()}, {0, B0.cols()});
  }
  Dense<D> error() const { return residual(B, Op::NoTrans, A, Op::NoTrans, X); }

  /// Least squares: ||A^H (B - A X)|| / (||A|| (||B|| + ||A|| ||X||) max(m, n) eps)
  double normal_residual() const {
    const Dense<D> gradient = product(adjoint<D>, A, Op::NoTrans, error());
    const double size = one_norm(A) * (one_norm(B) + one_norm(A) * one_norm(X));
    return size == 0 ? one_norm(gradient) : one_norm(gradient) / (size * std::max(A.rows(), A.cols()) * eps<T>);
  }
  /// Least norm: ||B - A X|| / (||A|| ||X|| max(m, n) eps)
  double residual_of_equations() const {
    const double size = one_norm(A) * one_norm(X);
    return size == 0 ? one_norm(error()) : one_norm(error()) / (size * std::max(A.rows(), A.cols()) * eps<T>);
  }
  /// Least norm: X is in the range of A^H: ||X - Q Q^H X|| / (||X|| n eps), A^H = Q R
  double outside_row_space() const {
    Dense<D> AH = op_of(adjoint<D>, A);
    const Dense<D> Q = q_of(lapack_qr(AH), AH.cols());
    const Dense<D> outside = residual(X, Op::NoTrans, Q, Op::NoTrans, product(adjoint<D>, Q, Op::NoTrans, X));
    return one_norm(X) == 0 ? 0 : one_norm(outside) / (one_norm(X) * A.cols() * eps<T>);
  }
};

/// gels solves op(A) X = B as well as it can be solved, and leaves below X what belongs there.
template <class T>
void expect_gels_solves(Op op, const Dense<T>& A, const Dense<T>& B, const QrOptions& options, const std::string& what,
                        Queue& q) {
  const Solution<T> s = solve(op, A, B, q, options);
  EXPECT_EQ(s.info, 0) << what;
  const Problem<T> p(op, A, B, s.B);
  if (p.A.rows() >= p.A.cols()) {
    EXPECT_LE(p.normal_residual(), residual_bound) << what;
    // the rows below X: their norm is the residual's
    for (std::int64_t j = 0; j < B.cols(); ++j) {
      const Dense<precise_t<T>> e = p.error();
      double of_error = 0, of_below = 0, of_B = 0;
      for (std::int64_t i = 0; i < e.rows(); ++i) of_error += std::norm(e(i, j)), of_B += std::norm(p.B(i, j));
      for (std::int64_t i = 0; i < p.below.rows(); ++i) of_below += std::norm(p.below(i, j));
      EXPECT_NEAR(std::sqrt(of_below), std::sqrt(of_error), 30 * p.A.rows() * eps<T> * std::sqrt(of_B)) << what;
    }
  } else {
    EXPECT_LE(p.residual_of_equations(), residual_bound) << what;
    EXPECT_LE(p.outside_row_space(), residual_bound) << what;
  }
}

TEST_P(Gels, EveryShapeOpAndNumberOfRightHandSides) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                        {7, 1},
                        {1, 7},
                        {5, 5},
                        {33, 20},
                        {20, 33},
                        {64, 64},
                        {130, 65},
                        {65, 130},
                        {500, 3},
                        {3, 500}})
      for (Op op : {Op::NoTrans, adjoint<T>})
        for (std::int64_t nrhs : {0, 1, 3})
          for (const Way& way : qr_ways(q(), {0, 5, 16})) {
            const std::string what =
                letters(op) + " " + shape_name(m, n) + ", nrhs = " + std::to_string(nrhs) + ", " + way.name;
            const Dense<T> A = random<T>(m, n, std::uint32_t(m + 7 * n)), B = random<T>(std::max(m, n), nrhs, 5);
            expect_gels_solves(op, A, B, way.qr(), what, q());
          }
  });
}

/// On a GPU large triangles and few right-hand sides have a kernel of their own, as in getrs.
TEST_P(Gels, LargeTriangles) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{600, 530}, {530, 600}})
      for (Op op : {Op::NoTrans, adjoint<T>})
        for (std::int64_t nrhs : {1, 6, 40})
          expect_gels_solves(op, random<T>(m, n, 8), random<T>(std::max(m, n), nrhs, 9), {},
                             letters(op) + " " + shape_name(m, n) + ", nrhs = " + std::to_string(nrhs), q());
  });
}

TEST_P(Gels, EmptyOnesHaveTheSolution0) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {0, 5}, {5, 0}}) {
      const Solution<T> s = solve(Op::NoTrans, Dense<T>(m, n), Dense<T>(std::max(m, n), 2, T(3)), q());
      EXPECT_EQ(s.info, 0);
      EXPECT_EQ(largest(precise(s.B)), 0) << shape_name(m, n);
    }
  });
}

/// To rounding only: another leading dimension may lead cuBLAS to another kernel.
TEST_P(Gels, AHoldsTheFactors) {
  with_type([&]<class T>(T) {
    const Dense<Wide> bound(40, 30, Wide(100 * eps<T>)), wide_bound(30, 40, Wide(100 * eps<T>));
    for (const Way& way : qr_ways(q(), {16})) {
      const Dense<T> A = random<T>(40, 30, 2), B = random<T>(40, 1, 3), wide = op_of(adjoint<T>, A);
      const Dense<T> QR = factor_qr(A, q(), way.qr()).QR;
      expect_close(solve(Op::NoTrans, A, B, q(), way.qr()).A, widen(QR), bound, way.name);
      expect_close(solve(Op::NoTrans, wide, B, q(), way.qr()).A, widen(op_of(adjoint<T>, QR)), wide_bound, way.name);
    }
  });
}

// ---- right-hand sides ----

TEST_P(Gels, AConsistentSystemGivesItsSolution) {
  with_type([&]<class T>(T) {
    Dense<T> A = random<T>(60, 40, 6);
    for (std::int64_t i = 0; i < 40; ++i) A(i, i) += make<T>(20);
    const Dense<T> X = random<T>(40, 2, 7);
    const auto B = rounded<T>(product(Op::NoTrans, precise(A), Op::NoTrans, precise(X)));
    const Solution<T> s = solve(Op::NoTrans, A, B, q());
    EXPECT_EQ(s.info, 0);
    expect_close(block_of(s.B, {0, 40}, {0, 2}), widen(X), Dense<Wide>(40, 2, Wide(1000 * eps<T>)), "X");
  });
}

TEST_P(Gels, ARightHandSideOf0OrOrthogonalToTheRangeGives0) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 60, n = 40;
    Dense<T> A = random<T>(m, n, 6);
    for (std::int64_t i = 0; i < n; ++i) A(i, i) += make<T>(20);
    for (double zero : {0.0, -0.0})
      EXPECT_EQ(largest(precise(solve(Op::NoTrans, A, Dense<T>(m, 2, make<T>(zero)), q()).B)), 0);

    const auto Q = q_of(lapack_qr(A), m);
    const auto B = rounded<T>(block_of(Q, {0, m}, {n, n + 2}));
    const Solution<T> s = solve(Op::NoTrans, A, B, q());
    EXPECT_LE(largest(precise(block_of(s.B, {0, n}, {0, 2}))), 30 * m * eps<T>);
    double square = 0;
    for (std::int64_t i = n; i < m; ++i) square += std::norm(precise_t<T>(s.B(i, 0)));
    EXPECT_NEAR(std::sqrt(square), 1, 100 * m * eps<T>);
  });
}

TEST_P(Gels, AHugeResidualLeavesASmallGradient) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 60, n = 40;
    const Dense<T> A = random<T>(m, n, 6), X = random<T>(n, 1, 7);
    const auto Q = q_of(lapack_qr(A), m);
    auto B = product(Op::NoTrans, precise(A), Op::NoTrans, precise(X));
    for (std::int64_t i = 0; i < m; ++i) B(i, 0) += 1e6 * Q(i, n + 1);
    const Dense<T> B0 = rounded<T>(B);
    const Solution<T> s = solve(Op::NoTrans, A, B0, q());
    EXPECT_LE(Problem<T>(Op::NoTrans, A, B0, s.B).normal_residual(), residual_bound);
  });
}

// ---- rank ----

/// m x n of full rank in small integers, exact in every type; columns after the first `rank` are sums of those.
template <class T>
Dense<T> integers_of_rank(std::int64_t m, std::int64_t n, std::int64_t rank) {
  Dense<T> A = real_matrix<T>(
      m, n, [](double i, double j) { return i == j ? 9.0 : std::fmod(i * i + 3 * i * j + 5 * j, 7) - 3; });
  for (std::int64_t j = rank; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) A(i, j) = A(i, j % rank) - A(i, (j + 1) % rank);
  return A;
}

TEST_P(Gels, InfoIsTheFirstDependentColumn) {
  with_type([&]<class T>(T) {
    const Dense<T> B = random<T>(30, 2, 3);
    for (const Way& way : qr_ways(q(), {0, 5})) {
      auto expect_info = [&](const Dense<T>& A, std::int64_t info, const std::string& what) {
        for (Op op : {Op::NoTrans, adjoint<T>}) {
          const Solution<T> tall = solve(op, A, B, q(), way.qr()),
                            wide = solve(op, op_of(adjoint<T>, A), B, q(), way.qr());
          EXPECT_EQ(tall.info, info) << what << ", " << way.name;
          EXPECT_EQ(wide.info, info) << what << ", rows, " << way.name;
          if (info == 0) continue;
          expect_same(tall.B, B, what + ": B");
          expect_same(wide.B, B, what + ": B, rows");
        }
      };
      for (std::int64_t rank : {2, 3, 7, 16, 19})
        expect_info(integers_of_rank<T>(30, 20, rank), rank + 1, "rank " + std::to_string(rank));
      expect_info(integers_of_rank<T>(30, 20, 20), 0, "full rank");
      expect_info(Dense<T>(30, 20), 1, "zero");
      expect_info(real_matrix<T>(30, 20, [](double, double) { return 1.0; }), 2, "ones");
      for (std::int64_t j : {0, 1, 8, 19}) {
        Dense<T> A = integers_of_rank<T>(30, 20, 20);
        for (std::int64_t i = 0; i < 30; ++i) A(i, j) = T(0);
        expect_info(A, j + 1, "zero column");
      }
      for (auto [j, copy] : {std::pair<std::int64_t, std::int64_t>{0, 1}, {0, 19}, {3, 7}, {18, 19}}) {
        Dense<T> A = random<T>(30, 20, 11);
        for (std::int64_t i = 0; i < 30; ++i) A(i, copy) = A(i, j);
        expect_info(A, copy + 1, "equal columns");
        for (std::int64_t i = 0; i < 30; ++i) A(i, copy) *= make<T>(-0x1p40);
        expect_info(A, copy + 1, "columns equal up to a factor");
      }
    }
  });
}

/// Equal columns but for a speck: R = [1 1; 0 speck], whose dependence is the vector (1, -1).
TEST_P(Gels, EqualColumnsWithASpeckAreDependent) {
  with_type([&]<class T>(T) {
    const double unit = eps<T>;
    for (double sign : {1.0, -1.0}) {
      Dense<T> A(2, 2);
      A(0, 0) = T(1);
      A(0, 1) = make<T>(sign);
      A(1, 1) = make<T>(unit / 1000);
      EXPECT_EQ(solve(Op::NoTrans, A, Dense<T>(2, 1, T(1)), q()).info, 2);
      A(1, 1) = make<T>(unit * 100);
      EXPECT_EQ(solve(Op::NoTrans, A, Dense<T>(2, 1, T(1)), q()).info, 0);
    }
  });
}

TEST_P(Gels, ConditionsDecide) {
  with_type([&]<class T>(T) {
    const bool is_double = sizeof(real_t<T>) == 8;
    const Dense<T> B = random<T>(60, 1, 3);
    for (double condition : is_double ? std::vector<double>{1e3, 1e8, 1e12} : std::vector<double>{10, 1e3, 1e4})
      EXPECT_EQ(solve(Op::NoTrans, with_condition<T>(60, 30, condition, 4), B, q()).info, 0) << condition;
    for (double condition : {1e18, 1e25})
      EXPECT_GT(solve(Op::NoTrans, with_condition<T>(60, 30, condition, 4), B, q()).info, 0) << condition;
    EXPECT_GT(
        solve(Op::NoTrans, real_matrix<T>(60, 30, [](double i, double j) { return 1 / (i + j + 1); }), B, q()).info, 0)
        << "Hilbert";
  });
}

/// Columns in bad units have full rank, and the solution's parts the inverse units.
TEST_P(Gels, BadUnitsAreNoDeficiency) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 40, n = 20;
    const int most = sizeof(real_t<T>) == 8 ? 900 : 100;
    Dense<T> A = random<T>(m, n, 8);
    for (std::int64_t i = 0; i < n; ++i) A(i, i) += make<T>(10);
    const Dense<T> B = random<T>(m, 1, 9);
    auto power = [&](std::int64_t j) { return int(most * (2 * j - (n - 1)) / (n - 1)); };
    const Dense<T> scaled_A = multiplied(A, [&](double, double j) { return std::ldexp(1.0, power(std::int64_t(j))); });
    for (const Way& way : qr_ways(q(), {0, 5})) {
      const Solution<T> plain = solve(Op::NoTrans, A, B, q(), way.qr()),
                        scaled_one = solve(Op::NoTrans, scaled_A, B, q(), way.qr());
      EXPECT_EQ(scaled_one.info, 0) << way.name;
      Dense<Wide> bound(n, 1);
      Dense<wide_t<T>> expected(n, 1);
      Dense<T> X(n, 1);
      for (std::int64_t j = 0; j < n; ++j) {
        const Wide unit = std::ldexp(Wide(1), -power(j));
        expected(j, 0) = wide(plain.B(j, 0)) * unit;
        bound(j, 0) = unit * 1000 * eps<T>;
        X(j, 0) = scaled_one.B(j, 0);
      }
      expect_close(X, expected, bound, way.name);
    }
  });
}

TEST_P(Gels, ExtremeSizes) {
  with_type([&]<class T>(T) {
    const double huge = sizeof(real_t<T>) == 8 ? 1e300 : 1e36;
    for (double factor : {huge, 1 / huge}) {
      const Dense<T> A = multiplied(random<T>(40, 20, 8), [&](double, double) { return factor; });
      const Dense<T> B = multiplied(random<T>(40, 1, 9), [&](double, double) { return factor; });
      const Solution<T> s = solve(Op::NoTrans, A, B, q()),
                        plain = solve(Op::NoTrans, random<T>(40, 20, 8), random<T>(40, 1, 9), q());
      EXPECT_EQ(s.info, 0) << factor;
      expect_close(block_of(s.B, {0, 20}, {0, 1}), widen(block_of(plain.B, {0, 20}, {0, 1})),
                   Dense<Wide>(20, 1, Wide(10000 * eps<T>)), "X");
    }
  });
}

/// A and B times powers of two, up to where all elements are subnormal or the largest is near overflow: the solution is
/// that of the rounded problem, times the powers' quotient.
TEST_P(Gels, SubnormalAndNearOverflow) {
  with_type([&]<class T>(T) {
    const int lowest = std::numeric_limits<real_t<T>>::min_exponent, highest = std::numeric_limits<real_t<T>>::max_exponent;
    const int bits = std::numeric_limits<real_t<T>>::digits;
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{40, 20}, {20, 40}, {20, 20}})
      for (auto [of_A, of_B] : {std::pair<int, int>{lowest - 1, lowest - 1},
                                {lowest - bits / 2, lowest - bits / 2},
                                {lowest - 3, 0 - bits},
                                {highest - 2, highest - 2},
                                {highest - 2, bits},
                                {0, lowest - 3},
                                {0, highest - 8}}) {
        auto power = [](const Dense<T>& A, int e) {
          return Dense<T>::from(A.rows(), A.cols(), [&](auto i, auto j) {
            return make<T>(std::ldexp(std::real(A(i, j)), e), std::ldexp(std::imag(A(i, j)), e));
          });
        };
        Dense<T> A0 = random<T>(m, n, 8), B0 = random<T>(std::max(m, n), 2, 9);
        for (std::int64_t i = 0; i < std::min(m, n); ++i) A0(i, i) += make<T>(i % 2 == 0 ? 3 : -3);
        A0 = power(A0, -3);
        const Dense<T> A = power(A0, of_A), B = power(B0, of_B);
        // the same numbers, as far as they have been rounded, at an ordinary size
        const Dense<T> near_A = power(A, -of_A), near_B = power(B, -of_B);
        for (Op op : {Op::NoTrans, adjoint<T>})
          for (const Way& way : qr_ways(q(), {5})) {
            std::ostringstream what;
            what << shape_name(m, n) << " " << letters(op) << ", 2^" << of_A << " and 2^" << of_B << ", " << way.name;
            const Solution<T> s = solve(op, A, B, q(), way.qr()), plain = solve(op, near_A, near_B, q(), way.qr());
            ASSERT_EQ(plain.info, 0) << what.str();
            EXPECT_EQ(s.info, 0) << what.str();
            const std::int64_t unknowns = op == Op::NoTrans ? n : m;
            const Dense<T> X = block_of(power(s.B, of_A - of_B), {0, unknowns}, {0, 2}),
                           expected = block_of(plain.B, {0, unknowns}, {0, 2});
            expect_close(X, widen(expected), Dense<Wide>(unknowns, 2, Wide(3000 * eps<T> * largest(precise(expected)))),
                         what.str());
          }
      }
  });
}

TEST_P(Gels, NaNReachesTheSolution) {
  with_type([&]<class T>(T) {
    for (const Way& way : qr_ways(q(), {5}))
      for (auto [i, j] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {17, 9}, {39, 19}, {39, 0}}) {
        Dense<T> A = random<T>(40, 20, 8), B = random<T>(40, 2, 9);
        A(i, j) = make<T>(nan<T>);
        const Solution<T> s = solve(Op::NoTrans, A, B, q(), way.qr());
        EXPECT_EQ(s.info, 0) << way.name;
        EXPECT_TRUE(std::isnan(largest(precise(s.B)))) << way.name;
        // and one in B stays in its column
        A = random<T>(40, 20, 8);
        B(i, 1) = make<T>(nan<T>);
        const Solution<T> b = solve(Op::NoTrans, A, B, q(), way.qr());
        EXPECT_EQ(b.info, 0) << way.name;
        EXPECT_FALSE(std::isnan(column_sum(precise(b.B), 0))) << way.name;
        EXPECT_TRUE(std::isnan(column_sum(precise(block_of(b.B, {0, 20}, {0, 2})), 1))) << way.name;
      }
  });
}

// ---- errors ----

TEST_P(Gels, ErrorsWriteNothing) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(6, 4, 1), B0 = random<T>(6, 2, 2), short0 = random<T>(4, 2, 2);
    Padded<T> a(A, q()), b(B0, q()), shorter(short0, q());
    EXPECT_INVALID(gels<T>(is_complex<T> ? Op::Trans : Op::ConjTrans, a, b, q()), "gels: op is '");
    EXPECT_INVALID(gels<T>(Op('X'), a, b, q()), "gels: op is 'X'");
    EXPECT_INVALID(gels<T>(Op::NoTrans, a, shorter, q()),
                   "gels: B has 4 rows, but A is 6 x 4 and B must have the larger");
    EXPECT_INVALID(gels<T>(adjoint<T>, a, shorter, q()), "gels: B has 4 rows, but A is 6 x 4");
    EXPECT_INVALID(gels<T>(Op::NoTrans, a, a.view()({0, 6}, {1, 3}), q()), "gels: B and A overlap");
    EXPECT_INVALID(gels<T>(Op::NoTrans, a, b, q(), {Method::givens}), "gels: method 'givens'");
    EXPECT_INVALID(gels<T>(Op::NoTrans, a, b, q(), {Method::hybrid, -1}), "gels: block is -1");
    if (q().on_cuda()) {
      EXPECT_INVALID(gels<T>(Op::NoTrans, a, b, q(), {Method::lapack}), "'lapack'");
    }
    expect_same(a.read("A"), A, "A");
    expect_same(b.read("B"), B0, "B");
    expect_same(shorter.read("B"), short0, "B");
  });
}

DEVOBJ_EVERYWHERE(Gels);

// ---- the checkers themselves ----

TEST(GelsChecker, SeesMutations) {
  const Dense<double> A = random<double>(50, 30, 1), B = random<double>(50, 1, 2);
  const Solution<double> s = solve(Op::NoTrans, A, B, host_queue());
  ASSERT_LE(Problem<double>(Op::NoTrans, A, B, s.B).normal_residual(), residual_bound);
  Dense<double> wrong = s.B;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < 30; ++i)
    if (std::abs(wrong(i, 0)) > std::abs(wrong(at, 0))) at = i;
  wrong(at, 0) *= 1 + 1e-10;
  EXPECT_GT(Problem<double>(Op::NoTrans, A, B, wrong).normal_residual(), residual_bound);

  // a solution of the equations that is not the shortest
  const Dense<double> wide = op_of(Op::Trans, A);
  const Solution<double> shortest = solve(Op::NoTrans, wide, B, host_queue());
  ASSERT_LE(Problem<double>(Op::NoTrans, wide, B, shortest.B).outside_row_space(), residual_bound);
  wrong = shortest.B;
  const auto Q = q_of(lapack_qr(A), 50);
  for (std::int64_t i = 0; i < 50; ++i) wrong(i, 0) += 1e-9 * Q(i, 45);
  EXPECT_LE(Problem<double>(Op::NoTrans, wide, B, wrong).residual_of_equations(), residual_bound);
  EXPECT_GT(Problem<double>(Op::NoTrans, wide, B, wrong).outside_row_space(), residual_bound);
}

}  // namespace
}  // namespace devobj::test
