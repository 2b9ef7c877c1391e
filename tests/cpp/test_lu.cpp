// getrf: every shape, method and block size against LAPACK's measures and pivots; the checkers against mutations.
#include "factor_checks.hpp"
#include "factor_matrices.hpp"

namespace devobj::test {
namespace {

class Lu : public Everywhere {};

template <class T>
void expect_lu(const Dense<T>& A, const LuFactors<T>& f, double lapack, const std::string& what) {
  const double r = lu_residual(A, f);
  EXPECT_LE(r, residual_bound) << what;
  EXPECT_LE(r, 2 * lapack + residual_floor) << what << ": LAPACK has " << lapack;
}
template <class T>
void expect_same_pivots(const LuFactors<T>& f, const LuFactors<T>& lapack, const std::string& what) {
  expect_same(f.pivots, lapack.pivots, what + ": pivots");
  EXPECT_EQ(f.info, lapack.info) << what;
}

TEST_P(Lu, EveryShapeMethodAndBlockSize) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : factor_shapes()) {
      const Dense<T> A = random<T>(m, n, std::uint32_t(1000 * m + n));
      const LuFactors<T> lapack = lapack_lu(A);
      const double lapack_residual = lu_residual(A, lapack);
      for (const Way& way : lu_ways(q(), blocks_for(std::min(m, n)))) {
        const std::string what = shape_name(m, n) + ", " + way.name;
        const LuFactors<T> f = factor_lu(A, q(), way.lu());
        expect_lu(A, f, lapack_residual, what);
        expect_same_pivots(f, lapack, what);
      }
    }
  });
}

TEST_P(Lu, ABlockSizeAboveTheMatrixIsThatOfTheMatrix) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(50, 40, 3);
    const LuFactors<T> f = factor_lu(A, q(), {Method::hybrid, 1000}), g = factor_lu(A, q(), {Method::hybrid, 40});
    expect_same(f.LU, g.LU, "LU");
    expect_same(f.pivots, g.pivots, "pivots");
  });
}

/// The same factors as the host's LAPACK up to rounding: on a GPU, host against GPU.
TEST_P(Lu, FactorsAreLapacks) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 120;
    Dense<T> A = random<T>(n, n, 8);
    for (std::int64_t i = 0; i < n; ++i) A((5 * i + 2) % n, i) += make<T>(2 * n);  // a condition of a few units
    const LuFactors<T> lapack = lapack_lu(A);
    const Dense<Wide> bound(n, n, Wide(4 * n * eps<T> * 2 * n));
    for (const Way& way : lu_ways(q())) {
      const LuFactors<T> f = factor_lu(A, q(), way.lu());
      expect_same(f.pivots, lapack.pivots, way.name);
      expect_close(f.LU, widen(lapack.LU), bound, way.name);
    }
  });
}

TEST_P(Lu, BitwiseTheSameFromRunToRun) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{150, 150}, {400, 70}, {70, 200}}) {
      const Dense<T> A = random<T>(m, n, 21);
      for (const Way& way : lu_ways(q(), {0, 16})) {
        const LuFactors<T> first = factor_lu(A, q(), way.lu());
        for (int again = 0; again < 3; ++again) {
          const LuFactors<T> f = factor_lu(A, q(), way.lu());
          expect_same(f.LU, first.LU, way.name);
          expect_same(f.pivots, first.pivots, way.name);
        }
      }
    }
  });
}

/// Equal candidates: the lowest row wins, whatever the method and the backend. Small integers make all steps exact.
TEST_P(Lu, TiesGoToTheLowestRow) {
  with_type([&]<class T>(T) {
    auto signs = [](double i, double j) { return std::fmod(i * i + 3 * i * j + 2 * j, 5) < 2 ? -1.0 : 1.0; };
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{3, 3}, {40, 40}, {20000, 3}, {2, 9}}) {
      const std::vector<Named<T>> matrices = {
          {"ones", real_matrix<T>(m, n, [](double, double) { return 1.0; })},
          {"two rows of ones", real_matrix<T>(m, n, [](double i, double j) { return i < 2 || i == j ? 1.0 : 0.0; })},
          {"first two columns of signs", real_matrix<T>(m, 2, signs)}};
      for (const auto& [name, A, by, grows] : matrices) {
        const LuFactors<T> lapack = lapack_lu(A);
        EXPECT_EQ(lapack.pivots[0], 1) << name;
        for (const Way& way : lu_ways(q())) {
          const std::string what = name + ", " + shape_name(A.rows(), A.cols()) + ", " + way.name;
          const LuFactors<T> f = factor_lu(A, q(), way.lu());
          expect_same_pivots(f, lapack, what);
          EXPECT_EQ(lu_residual(A, f), 0) << what;
        }
      }
    }
  });
}

/// Complex pivots are chosen by |re| + |im|: (3, 3) goes before (5, 0), whose modulus is larger.
TEST_P(Lu, ComplexPivotsAreThoseOfTheSumOfParts) {
  with_type([&]<class T>(T) {
    if constexpr (is_complex<T>) {
      Dense<T> A = random<T>(6, 6, 2);
      A(2, 0) = T(5, 0);
      A(4, 0) = T(-3, 3);
      for (const Way& way : lu_ways(q())) EXPECT_EQ(factor_lu(A, q(), way.lu()).pivots[0], 5) << way.name;
    }
  });
}

TEST_P(Lu, PivotsMayBeARow) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(33, 33, 4);
    const LuFactors<T> column = factor_lu(A, q(), {Method::hybrid, 8});
    for (const Way& way : lu_ways(q(), {8})) {
      Padded<T> a(A, q());
      Padded<std::int32_t> row(Dense<std::int32_t>(1, 33), q());
      EXPECT_EQ(getrf<T>(a, row.view(), q(), way.lu()), 0);
      const Dense<std::int32_t> pivots = row.read("ipiv");
      for (std::int64_t i = 0; i < 33; ++i) EXPECT_EQ(pivots[i], column.pivots[i]) << way.name << ", pivot " << i + 1;
    }
  });
}

TEST_P(Lu, TheReportOfTheHybridMethod) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(300, 200, 6);
    HybridReport report{-1, -1, -1, -1, -1, -1, -1};
    LuOptions options{Method::hybrid, 48, &report};
    const LuFactors<T> f = factor_lu(A, q(), options), unreported = factor_lu(A, q(), {Method::hybrid, 48});
    expect_same(f.LU, unreported.LU, "LU with a report");
    EXPECT_EQ(report.panels, 5);
    EXPECT_EQ(report.block, 48);
    EXPECT_GT(report.panel, 0);
    EXPECT_GE(report.panel_wait, 0);
    EXPECT_GE(report.total, report.panel + report.panel_wait);
    EXPECT_LT(report.total, 60000);
    if (q().on_cuda()) {
      EXPECT_GT(report.copy, 0);
      EXPECT_GT(report.update, 0);
    } else {
      EXPECT_EQ(report.copy, 0);
      EXPECT_EQ(report.update, 0);
    }
  });
}

DEVOBJ_EVERYWHERE(Lu);

// ---- the checkers themselves ----

template <class T>
class LuChecker : public testing::Test {};
TYPED_TEST_SUITE(LuChecker, Scalars);

/// Each mutation of a right factorization is seen, that is, its measure is above the bound.
TYPED_TEST(LuChecker, SeesMutations) {
  using T = TypeParam;
  const std::int64_t n = 60;
  const Dense<T> A = random<T>(n, n, 12);
  const LuFactors<T> right = lapack_lu(A);
  ASSERT_LE(lu_residual(A, right), residual_bound);
  auto expect_seen = [&](const char* mutation, auto&& mutate) {
    LuFactors<T> wrong = right;
    mutate(wrong);
    EXPECT_FALSE(lu_residual(A, wrong) <= residual_bound) << mutation;
    EXPECT_FALSE(lu_residual(A, wrong, By::column) <= residual_bound) << mutation;
  };
  expect_seen("two rows swapped", [&](auto& f) {
    for (std::int64_t j = 0; j < n; ++j) std::swap(f.LU(20, j), f.LU(21, j));
  });
  expect_seen("a block transposed", [&](auto& f) {
    for (std::int64_t j = 0; j < 8; ++j)
      for (std::int64_t i = 0; i < j; ++i) std::swap(f.LU(40 + i, 8 + j), f.LU(40 + j, 8 + i));
  });
  expect_seen("one pivot", [&](auto& f) { f.pivots[5] = f.pivots[5] == 30 ? 31 : 30; });
  expect_seen("a pivot out of range", [&](auto& f) { f.pivots[7] = std::int32_t(n + 1); });
  expect_seen("no pivoting", [&](auto& f) {
    for (std::int64_t i = 0; i < n; ++i) f.pivots[i] = std::int32_t(i + 1);
  });
  expect_seen("a column of U not updated", [&](auto& f) {
    for (std::int64_t i = 0; i < 10; ++i) f.LU(i, 50) = A(i, 50);
  });
  expect_seen("NaN", [&](auto& f) { f.LU(59, 59) = make<T>(nan<T>); });
  expect_seen("Inf", [&](auto& f) { f.LU(0, 59) = make<T>(infinity<T>); });
  // an entry of U off by a relative 1e-10 in double, by the like of it in single
  const double off = sizeof(real_t<T>) == 8 ? 1e-10 : 0.05;
  expect_seen("an entry", [&](auto& f) { f.LU(1, 1) *= make<T>(1 + off); });
}

TEST(LuCheckerOrder, MeasuresColumnsByThemselves) {
  // An error of 1e-10 in a column of size 1e-20 is nothing to the matrix, and everything to the column.
  Dense<double> A = random<double>(20, 20, 1);
  for (std::int64_t i = 0; i < 20; ++i) A(i, 7) *= 1e-20;
  LuFactors<double> f = lapack_lu(A);
  EXPECT_LE(lu_residual(A, f, By::column), residual_bound);
  f.LU(7, 7) += 1e-30;
  EXPECT_LE(lu_residual(A, f), residual_bound);
  EXPECT_GT(lu_residual(A, f, By::column), residual_bound);
}

}  // namespace
}  // namespace devobj::test
