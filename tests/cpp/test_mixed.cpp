// gesv_mixed and gels_mixed: refined solutions are as good as gesv's and gels', A is left alone, and what single
// precision cannot do is done in double precision, bit for bit as by gesv and gels.
#include "devObjCpp/c_support.hpp"
#include "mixed_checks.hpp"

namespace devobj::test {
namespace {

class Mixed : public Everywhere {};

/// The pivots of a single precision factorization on the same queue.
template <class T>
Dense<std::int32_t> single_pivots(const Dense<T>& A, Queue& q, LuOptions options) {
  using S = std::conditional_t<is_complex<T>, std::complex<float>, float>;
  return factor_lu(Dense<S>::from(A.rows(), A.cols(), [&](auto i, auto j) { return S(A(i, j)); }), q, options).pivots;
}

// ---- gesv_mixed ----

TEST_P(Mixed, GesvRefinesEveryOrderAndNumberOfRightHandSides) {
  with_double([&]<class T>(T) {
    for (std::int64_t n : {1, 2, 3, 17, 64, 127, 128, 200})
      for (std::int64_t nrhs : {0, 1, 2, 35})
        for (const Way& way : lu_ways(q(), {0, 16})) {
          const std::string what = "n = " + std::to_string(n) + ", nrhs = " + std::to_string(nrhs) + ", " + way.name;
          Dense<T> A = random<T>(n, n, std::uint32_t(n));
          for (std::int64_t i = 0; i < n; ++i) A(i, i) += make<T>(3);
          const Dense<T> B = random<T>(n, nrhs, 5);
          const Solved<T> s = solve(A, B, q(), way.lu()), d = solve_double(A, B, q(), way.lu());
          if (n == 1 && s.result.iterations < 0) {  // LAPACK's bound is the rounding of X itself then
            expect_as_double(s, d, -31, what);
            continue;
          }
          EXPECT_EQ(s.result.info, 0) << what;
          EXPECT_GE(s.result.iterations, 0) << what;
          EXPECT_LE(s.result.iterations, 5) << what;
          if (nrhs > 0 && n > 1) {
            EXPECT_GE(s.result.iterations, 1) << what << ": single precision cannot be enough";
          }
          expect_same(s.A, A, what + ": A");
          expect_same(s.pivots, single_pivots(A, q(), way.lu()), what + ": ipiv");
          const double r = solve_residual(Op::NoTrans, A, s.X, B);
          EXPECT_LE(r, residual_bound) << what;
          EXPECT_LE(r, 2 * solve_residual(Op::NoTrans, A, d.X, B) + residual_floor) << what;
        }
  });
}

TEST_P(Mixed, GesvOfNothing) {
  with_double([&]<class T>(T) {
    for (std::int64_t nrhs : {0, 3}) {
      const Solved<T> s = solve(Dense<T>(0, 0), Dense<T>(0, nrhs), q());
      EXPECT_EQ(s.result.info, 0);
      EXPECT_EQ(s.result.iterations, 0);
    }
  });
}

TEST_P(Mixed, GesvTakesMoreRefinementsTheWorseTheCondition) {
  with_double([&]<class T>(T) {
    const std::int64_t n = 100;
    const Dense<T> B = random<T>(n, 3, 8);
    std::int64_t before = 0;
    for (double condition : {1e1, 1e3, 1e5}) {
      const Dense<T> A = with_condition<T>(n, n, condition, 4);
      const Solved<T> s = solve(A, B, q());
      EXPECT_EQ(s.result.info, 0) << condition;
      EXPECT_GE(s.result.iterations, std::max<std::int64_t>(1, before)) << condition;
      EXPECT_LE(s.result.iterations, 30) << condition;
      before = s.result.iterations;
      expect_same(s.A, A, "A");
      EXPECT_LE(solve_residual(Op::NoTrans, A, s.X, B), residual_bound) << condition;
    }
  });
}

TEST_P(Mixed, GesvFallsBackWhereRefinementDoesNotConverge) {
  with_double([&]<class T>(T) {
    const Dense<T> B = random<T>(100, 2, 8);
    for (double condition : {1e11, 1e14}) {
      const Dense<T> A = with_condition<T>(100, 100, condition, 4);
      for (const Way& way : lu_ways(q(), {0, 16})) {
        const Solved<T> s = solve(A, B, q(), way.lu());
        // by steps that lead nowhere, or by some that lead beyond single precision
        EXPECT_TRUE(s.result.iterations == -31 || s.result.iterations == -2)
            << condition << ": " << s.result.iterations;
        expect_as_double(s, solve_double(A, B, q(), way.lu()), s.result.iterations, way.name);
        EXPECT_LE(solve_residual(Op::NoTrans, A, s.X, B), residual_bound) << way.name;
      }
    }
  });
}

/// Corrections below single precision's range change nothing: all 30 are made, where they are not scaled.
TEST_P(Mixed, FallBackFromBelowSinglePrecision) {
  with_double([&]<class T>(T) {
    Dense<T> A = random<T>(40, 40, 3);
    for (std::int64_t i = 0; i < 40; ++i) A(i, i) += make<T>(10);
    const Dense<T> tall = block_of(A, {0, 40}, {0, 20});
    const auto tiny = [](const Dense<T>& B) { return multiplied(B, [](double, double) { return 1e-42; }); };
    const Dense<T> B = tiny(random<T>(40, 2, 4)), many = tiny(random<T>(40, 5, 4));
    expect_as_double(solve(A, many, q()), solve_double(A, many, q()), -31, "gesv_mixed");
    expect_as_double(solve(Op::NoTrans, tall, B, q()), solve_double(Op::NoTrans, tall, B, q()), -31, "gels_mixed");
  });
}

TEST_P(Mixed, GesvFallsBackBeyondSinglePrecision) {
  with_double([&]<class T>(T) {
    const std::int64_t n = 40;
    const Dense<T> A = random<T>(n, n, 3), B = random<T>(n, 2, 4);
    for (double big : {1e39, -1e39, 1e300})
      for (std::int64_t at : {std::int64_t{0}, n * n / 2, n * n - 1}) {
        Dense<T> large = A;
        large[at] = make<T>(big);
        expect_as_double(solve(large, B, q()), solve_double(large, B, q()), -2, "A with " + std::to_string(big));
        if constexpr (is_complex<T>) {
          large[at] = make<T>(1, big);
          expect_as_double(solve(large, B, q()), solve_double(large, B, q()), -2, "A with i " + std::to_string(big));
        }
      }
    Dense<T> large = B;
    large(n - 1, 1) = make<T>(1e39);
    expect_as_double(solve(A, large, q()), solve_double(A, large, q()), -2, "B");
    // the largest number of single precision fits
    large(n - 1, 1) = make<T>(std::numeric_limits<float>::max());
    EXPECT_NE(solve(Dense<T>::from(n, n, [](auto i, auto j) { return T(i == j); }), large, q()).result.iterations, -2);
    large(n - 1, 1) = make<T>(double(std::numeric_limits<float>::max()) * (1 + 1e-9));
    EXPECT_EQ(solve(Dense<T>::from(n, n, [](auto i, auto j) { return T(i == j); }), large, q()).result.iterations, -2);
  });
}

TEST_P(Mixed, GesvTreatsNaNAndInfAsGesv) {
  with_double([&]<class T>(T) {
    const std::int64_t n = 40;
    const Dense<T> A = random<T>(n, n, 3), B = random<T>(n, 2, 4);
    for (double value : {nan<T>, infinity<T>, -infinity<T>}) {
      for (std::int64_t at : {std::int64_t{0}, n * n / 2 + 3, n * n - 1}) {
        Dense<T> a = A;
        a[at] = make<T>(value);
        const Solved<T> s = solve(a, B, q()), d = solve_double(a, B, q());
        EXPECT_EQ(s.result.iterations, -2);
        EXPECT_EQ(s.result.info, d.result.info);
        for (std::int64_t e = 0; e < s.X.size(); ++e)
          EXPECT_EQ(std::isfinite(std::abs(s.X[e])), std::isfinite(std::abs(d.X[e]))) << value << ", " << e;
        if (std::isnan(value)) {
          EXPECT_TRUE(std::isnan(largest(s.X))) << "NaN was swallowed";
        }
      }
      Dense<T> b = B;
      b(7, 1) = make<T>(value);
      const Solved<T> s = solve(A, b, q());
      EXPECT_EQ(s.result.iterations, -2);
      EXPECT_TRUE(std::isfinite(column_sum(s.X, 0)));
      EXPECT_FALSE(std::isfinite(column_sum(s.X, 1)));
    }
  });
}

TEST_P(Mixed, GesvOfSingularMatrices) {
  with_double([&]<class T>(T) {
    const std::int64_t n = 30;
    const Dense<T> B = random<T>(n, 2, 8);
    Dense<T> A = random<T>(n, n, 7);
    for (std::int64_t i = 0; i < n; ++i) A(i, 11) = T(0);
    for (const Way& way : lu_ways(q(), {0, 16})) {
      const Solved<T> s = solve(A, B, q(), way.lu());
      expect_as_double(s, solve_double(A, B, q(), way.lu()), -3, way.name);
      EXPECT_EQ(s.result.info, 12) << way.name;
      expect_same(s.X, B, "B");
    }
    // singular to single precision alone
    Dense<T> nearly = random<T>(n, n, 7);
    for (std::int64_t i = 0; i < n; ++i) nearly(i, 11) *= 1e-60;
    const Solved<T> s = solve(nearly, B, q());
    EXPECT_EQ(s.result.iterations, -3);
    EXPECT_EQ(s.result.info, 0);
    EXPECT_LE(solve_residual(Op::NoTrans, nearly, s.X, B), residual_bound);
  });
}

TEST_P(Mixed, GesvOfTheGallery) {
  with_double([&]<class T>(T) { expect_gallery<T>(q(), {}); });
}

TEST_P(Mixed, GesvTakesARowOfPivots) {
  with_double([&]<class T>(T) {
    const Dense<T> A = random<T>(20, 20, 3), B = random<T>(20, 1, 4);
    Padded<T> a(A, q()), b(B, q());
    Pivots row(Dense<std::int32_t>(1, 20, 77), q());
    EXPECT_GE(gesv_mixed<T>(a, row.view(), b, q()).iterations, 0);
    const Dense<std::int32_t> p = row.read("ipiv"), expected = single_pivots(A, q(), {});
    for (std::int64_t i = 0; i < 20; ++i) EXPECT_EQ(p[i], expected[i]) << i;
  });
}

TEST_P(Mixed, GesvsErrorsWriteNothing) {
  with_double([&]<class T>(T) {
    const Dense<T> A = random<T>(4, 4, 1), R = random<T>(4, 3, 2), B = random<T>(4, 2, 3), B5 = random<T>(5, 2, 4);
    Padded<T> a(A, q()), r(R, q()), b(B, q()), b5(B5, q());
    Pivots four = pivots_of(4, q()), three = pivots_of(3, q());
    EXPECT_INVALID(gesv_mixed<T>(r, four.view(), b, q()), "gesv_mixed: A is 4 x 3, must be square");
    EXPECT_INVALID(gesv_mixed<T>(a, three.view(), b, q()), "gesv_mixed: ipiv is 3 x 1, must be a vector of 4 elements");
    EXPECT_INVALID(gesv_mixed<T>(a, four.view(), b5, q()), "gesv_mixed: B has 5 rows, but A is 4 x 4");
    EXPECT_INVALID(gesv_mixed<T>(a, four.view(), a, q()), "gesv_mixed: B and A overlap");
    const View<std::int32_t> in_A(reinterpret_cast<std::int32_t*>(a.view().data), 4, 1);
    const View<std::int32_t> in_B(reinterpret_cast<std::int32_t*>(b.view().data), 4, 1);
    EXPECT_INVALID(gesv_mixed<T>(a, in_A, b, q()), "gesv_mixed: ipiv and A overlap");
    EXPECT_INVALID(gesv_mixed<T>(a, in_B, b, q()), "gesv_mixed: ipiv and B overlap");
    EXPECT_INVALID(gesv_mixed<T>(a, four.view(), b, q(), {Method::givens}), "'givens'");
    EXPECT_INVALID(gesv_mixed<T>(a, four.view(), b, q(), {Method::hybrid, -3}), "block is -3");
    expect_same(a.read("A"), A, "A");
    expect_same(r.read("A"), R, "A");
    expect_same(b.read("B"), B, "B");
    expect_same(b5.read("B"), B5, "B");
    expect_same(four.read("ipiv"), Dense<std::int32_t>(4, 1, 77), "ipiv");
  });
}

TEST_P(Mixed, OutOfMemoryLeavesEverything) {
  with_double([&]<class T>(T) {
    const Dense<T> A = random<T>(90, 90, 2), B = random<T>(90, 2, 3), tall = random<T>(90, 50, 4);
    const Dense<T> ill = with_condition<T>(90, 90, 1e13, 4);
    for (const Dense<T>& M : {A, ill}) {
      Padded<T> a(M, q()), b(B, q());
      Pivots p = pivots_of(90, q());
      EXPECT_GE(fail_each_allocation(
                    [&] {
                      EXPECT_EQ(gesv_mixed<T>(a, p.view(), b, q(), {Method::hybrid, 16}).info, 0);
                    },
                    [&] {
                      expect_same(a.read("A"), M, "A");
                      expect_same(b.read("B"), B, "B");
                      expect_same(p.read("ipiv"), Dense<std::int32_t>(90, 1, 77), "ipiv");
                    }),
                6);
      EXPECT_LE(solve_residual(Op::NoTrans, M, b.read("B"), B), residual_bound);
    }
    Padded<T> a(tall, q()), b(B, q());
    EXPECT_GE(fail_each_allocation(
                  [&] {
                    EXPECT_EQ(gels_mixed<T>(Op::NoTrans, a, b, q(), {Method::hybrid, 16}).info, 0);
                  },
                  [&] {
                    expect_same(a.read("A"), tall, "A");
                    expect_same(b.read("B"), B, "B");
                  }),
              8);
  });
}

// ---- gels_mixed ----

/// op(A) X = B, least squares or least norm: the measures of test_gels.
template <class T>
struct Measures {
  double gradient = 0, equations = 0, outside = 0, error_norm = 0, below_norm = 0, B_norm = 0;

  Measures(Op op, const Dense<T>& A0, const Dense<T>& B0, const Dense<T>& result) {
    const Dense<T> A = op_of(op, A0);
    const std::int64_t rows = A.rows(), cols = A.cols(), nrhs = B0.cols();
    const Dense<T> B = block_of(B0, {0, rows}, {0, nrhs}), X = block_of(result, {0, cols}, {0, nrhs});
    const Dense<T> E = residual(B, Op::NoTrans, A, Op::NoTrans, X);
    const double unit = std::max(rows, cols) * eps<T>, size = one_norm(A) * one_norm(X);
    if (nrhs == 0) return;
    if (rows >= cols) {
      gradient = one_norm(product(adjoint<T>, A, Op::NoTrans, E)) / (one_norm(A) * (one_norm(B) + size) * unit);
      for (std::int64_t i = 0; i < rows; ++i) error_norm += std::norm(E(i, 0)), B_norm += std::norm(B(i, 0));
      for (std::int64_t i = cols; i < rows; ++i) below_norm += std::norm(result(i, 0));
    } else {
      equations = one_norm(E) / (size * unit);
      const Dense<T> Q = q_of(lapack_qr(op_of(adjoint<T>, A)), rows);
      const Dense<T> rest = residual(X, Op::NoTrans, Q, Op::NoTrans, product(adjoint<T>, Q, Op::NoTrans, X));
      outside = one_norm(rest) / (one_norm(X) * unit);
    }
  }
  void expect_good(const std::string& what) const {
    EXPECT_LE(gradient, residual_bound) << what;
    EXPECT_LE(equations, residual_bound) << what;
    EXPECT_LE(outside, residual_bound) << what;
    EXPECT_NEAR(std::sqrt(below_norm), std::sqrt(error_norm), 1e-12 * std::sqrt(B_norm)) << what;
  }
};

TEST_P(Mixed, GelsRefinesEveryShapeOpAndNumberOfRightHandSides) {
  with_double([&]<class T>(T) {
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
          for (const Way& way : qr_ways(q(), {0, 16})) {
            const std::string what =
                letters(op) + " " + shape_name(m, n) + ", nrhs = " + std::to_string(nrhs) + ", " + way.name;
            Dense<T> A = random<T>(m, n, std::uint32_t(m + 7 * n));
            for (std::int64_t i = 0; i < std::min(m, n); ++i) A(i, i) += make<T>(4);
            const Dense<T> B = random<T>(std::max(m, n), nrhs, 5);
            const Solved<T> s = solve(op, A, B, q(), way.qr());
            EXPECT_EQ(s.result.info, 0) << what;
            EXPECT_GE(s.result.iterations, 0) << what;
            EXPECT_LE(s.result.iterations, 6) << what;
            expect_same(s.A, A, what + ": A");
            const Measures<T> mixed(op, A, B, s.X), plain(op, A, B, solve_double(op, A, B, q(), way.qr()).X);
            mixed.expect_good(what);
            EXPECT_LE(mixed.gradient, 2 * plain.gradient + residual_floor) << what;
            EXPECT_LE(mixed.equations, 2 * plain.equations + residual_floor) << what;
            EXPECT_LE(mixed.outside, 2 * plain.outside + residual_floor) << what;
          }
  });
}

/// The solution itself, against the one in double precision: refinement of X alone would stop at the condition's
/// square times the residual.
TEST_P(Mixed, GelsConvergesForLargeResiduals) {
  with_double([&]<class T>(T) {
    const std::int64_t m = 80, n = 30;
    for (double condition : {1e1, 1e3, 1e4}) {
      const Dense<T> A = with_condition<T>(m, n, condition, 6), B = random<T>(m, 2, 7);
      const Solved<T> s = solve(Op::NoTrans, A, B, q()), d = solve_double(Op::NoTrans, A, B, q());
      EXPECT_GE(s.result.iterations, 1) << condition;
      Measures<T>(Op::NoTrans, A, B, s.X).expect_good("condition " + std::to_string(condition));
      const Dense<T> X = block_of(s.X, {0, n}, {0, 2}), expected = block_of(d.X, {0, n}, {0, 2});
      const Dense<T> one = Dense<T>::from(n, n, [](auto i, auto j) { return T(i == j); });
      const double error = one_norm(residual(X, Op::NoTrans, one, Op::NoTrans, expected));
      EXPECT_LE(error, 100 * condition * condition * eps<T> * one_norm(expected)) << condition;
    }
  });
}

TEST_P(Mixed, GelsOfConsistentSystemsAndZeros) {
  with_double([&]<class T>(T) {
    Dense<T> A = random<T>(60, 40, 6);
    for (std::int64_t i = 0; i < 40; ++i) A(i, i) += make<T>(20);
    const Dense<T> X = random<T>(40, 2, 7), B = product(Op::NoTrans, A, Op::NoTrans, X);
    const Solved<T> s = solve(Op::NoTrans, A, B, q());
    EXPECT_GE(s.result.iterations, 0);
    expect_close(block_of(s.X, {0, 40}, {0, 2}), widen(X), Dense<Wide>(40, 2, Wide(1000 * eps<T>)), "X");
    for (Op op : {Op::NoTrans, adjoint<T>}) {
      const Solved<T> zero = solve(op, A, Dense<T>(60, 2), q());
      EXPECT_EQ(zero.result.iterations, 0);
      EXPECT_EQ(largest(zero.X), 0);
    }
  });
}

/// Columns in bad units: the criterion is one of columns.
TEST_P(Mixed, GelsKeepsTheAccuracyOfSmallColumns) {
  with_double([&]<class T>(T) {
    const std::int64_t m = 40, n = 20;
    Dense<T> A = random<T>(m, n, 8);
    for (std::int64_t i = 0; i < n; ++i) A(i, i) += make<T>(10);
    const Dense<T> B = random<T>(m, 1, 9);
    auto power = [&](std::int64_t j) { return int(40 * (2 * j - (n - 1)) / (n - 1)); };
    const Dense<T> scaled_A = multiplied(A, [&](double, double j) { return std::ldexp(1.0, power(std::int64_t(j))); });
    const Solved<T> plain = solve_double(Op::NoTrans, A, B, q()), s = solve(Op::NoTrans, scaled_A, B, q());
    EXPECT_GE(s.result.iterations, 1);
    Dense<Wide> bound(n, 1);
    Dense<wide_t<T>> expected(n, 1);
    for (std::int64_t j = 0; j < n; ++j) {
      const Wide unit = std::ldexp(Wide(1), -power(j));
      expected(j, 0) = wide(plain.X(j, 0)) * unit;
      bound(j, 0) = unit * 1000 * eps<T>;
    }
    expect_close(block_of(s.X, {0, n}, {0, 1}), expected, bound, "X");
  });
}

TEST_P(Mixed, GelsFallsBack) {
  with_double([&]<class T>(T) {
    const Dense<T> B = random<T>(60, 2, 3), A = random<T>(60, 30, 4), wide = random<T>(30, 60, 4);
    auto expect_fallback = [&](const Dense<T>& M, const Dense<T>& b, std::int64_t iterations, const std::string& what) {
      for (Op op : {Op::NoTrans, adjoint<T>}) {
        const Solved<T> s = solve(op, M, b, q());
        EXPECT_TRUE(s.result.iterations == iterations || (iterations == -31 && s.result.iterations == -3))
            << what << ": " << s.result.iterations;
        expect_as_double(s, solve_double(op, M, b, q()), s.result.iterations, what);
      }
    };
    expect_fallback(with_condition<T>(60, 30, 1e10, 4), B, -31, "condition 1e10");
    expect_fallback(with_condition<T>(30, 60, 1e10, 4), B, -31, "condition 1e10, wide");
    expect_fallback(with_condition<T>(60, 30, 1e18, 4), B, -3, "condition 1e18");
    Dense<T> M = A;
    M(59, 29) = make<T>(1e39);
    expect_fallback(M, B, -2, "A beyond single precision");
    M = wide;
    M(29, 59) = make<T>(-1e300);
    expect_fallback(M, B, -2, "wide A beyond single precision");
    Dense<T> b = B;
    b(0, 1) = make<T>(1e39);
    expect_fallback(A, b, -2, "B beyond single precision");
    M = A;
    for (std::int64_t i = 0; i < 60; ++i) M(i, 9) = M(i, 3);
    const Solved<T> s = solve(Op::NoTrans, M, B, q());
    expect_as_double(s, solve_double(Op::NoTrans, M, B, q()), -3, "equal columns");
    EXPECT_EQ(s.result.info, 10);
    expect_same(s.X, B, "B");
    for (std::int64_t i = 0; i < 60; ++i) M(i, 9) = T(0);
    EXPECT_EQ(solve(Op::NoTrans, M, B, q()).result.info, 10);
  });
}

TEST_P(Mixed, GelsTreatsNaNAndInfAsGels) {
  with_double([&]<class T>(T) {
    for (double value : {nan<T>, infinity<T>}) {
      Dense<T> A = random<T>(40, 20, 8), B = random<T>(40, 2, 9);
      A(17, 9) = make<T>(value);
      Solved<T> s = solve(Op::NoTrans, A, B, q());
      EXPECT_EQ(s.result.iterations, -2);
      EXPECT_EQ(s.result.info, solve_double(Op::NoTrans, A, B, q()).result.info);
      EXPECT_FALSE(s.result.info == 0 && std::isfinite(largest(s.X)));
      A = random<T>(40, 20, 8);
      B(39, 1) = make<T>(value);
      s = solve(Op::NoTrans, A, B, q());
      EXPECT_EQ(s.result.iterations, -2);
      EXPECT_TRUE(std::isfinite(column_sum(s.X, 0)));
      EXPECT_FALSE(std::isfinite(column_sum(block_of(s.X, {0, 20}, {0, 2}), 1)));
    }
  });
}

TEST_P(Mixed, GelsOfNothing) {
  with_double([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {0, 5}, {5, 0}}) {
      const Solved<T> s = solve(Op::NoTrans, Dense<T>(m, n), Dense<T>(std::max(m, n), 2, T(3)), q());
      EXPECT_EQ(s.result.info, 0);
      EXPECT_EQ(s.result.iterations, 0);
      EXPECT_EQ(largest(s.X), 0) << shape_name(m, n);
    }
  });
}

TEST_P(Mixed, GelssErrorsWriteNothing) {
  with_double([&]<class T>(T) {
    const Dense<T> A = random<T>(6, 4, 1), B0 = random<T>(6, 2, 2), short0 = random<T>(4, 2, 2);
    Padded<T> a(A, q()), b(B0, q()), shorter(short0, q());
    EXPECT_INVALID(gels_mixed<T>(is_complex<T> ? Op::Trans : Op::ConjTrans, a, b, q()), "gels_mixed: op is '");
    EXPECT_INVALID(gels_mixed<T>(Op('X'), a, b, q()), "gels_mixed: op is 'X'");
    EXPECT_INVALID(gels_mixed<T>(Op::NoTrans, a, shorter, q()),
                   "gels_mixed: B has 4 rows, but A is 6 x 4 and B must have the larger");
    EXPECT_INVALID(gels_mixed<T>(Op::NoTrans, a, a.view()({0, 6}, {1, 3}), q()), "gels_mixed: B and A overlap");
    EXPECT_INVALID(gels_mixed<T>(Op::NoTrans, a, b, q(), {Method::givens}), "gels_mixed: method 'givens'");
    EXPECT_INVALID(gels_mixed<T>(Op::NoTrans, a, b, q(), {Method::hybrid, -1}), "gels_mixed: block is -1");
    expect_same(a.read("A"), A, "A");
    expect_same(b.read("B"), B0, "B");
    expect_same(shorter.read("B"), short0, "B");
  });
}

TEST_P(Mixed, TheSameBitsFromRunToRun) {
  with_double([&]<class T>(T) {
    const Dense<T> A = random<T>(150, 150, 3), B = random<T>(150, 4, 4);
    const Solved<T> first = solve(A, B, q()), least = solve(Op::NoTrans, A, B, q());
    for (int again = 0; again < 3; ++again) {
      expect_same(solve(A, B, q()).X, first.X, "gesv_mixed");
      expect_same(solve(Op::NoTrans, A, B, q()).X, least.X, "gels_mixed");
    }
  });
}

DEVOBJ_EVERYWHERE_DOUBLE(Mixed);

}  // namespace
}  // namespace devobj::test
