// Method::givens of qr where several threads make a panel: long columns, and the same bits from run to run.
#include <functional>
#include <limits>

#include "explicit_factors.hpp"

namespace devobj::test {
namespace {

class GivensThreads : public Everywhere {};

/// Columns so long that a slab's rows are done in parts, with zeros wherever parts begin and end.
TEST_P(GivensThreads, LongColumns) {
  with_type([&]<class T>(T) {
    using Kept = std::function<bool(std::int64_t, std::int64_t)>;
    const std::vector<std::pair<std::string, Kept>> patterns = {
        {"full", [](auto, auto) { return true; }},
        {"a staircase within a slab", [](auto i, auto j) { return i <= 20 + 60 * j; }},
        {"steps of many columns", [](auto i, auto j) { return i <= 40 + 400 * (j / 20); }},
        {"short columns before a long one", [](auto i, auto j) { return i <= j + 2 || j % 10 == 9; }},
        {"columns that end in the middle of a part", [](auto i, auto j) { return i <= 230 + 2 * j; }},
        {"zero columns", [](auto, auto j) { return j % 5 != 2; }},
        {"zero rows", [](auto i, auto) { return i % 200 < 100; }},
        {"nonzeros far below", [](auto i, auto j) { return i <= j || i >= 600; }},
        {"one element far below", [](auto i, auto j) { return i <= j || (i == 690 && j == 3); }}};
    // the last is wide; the host does slabs of doubles in parts from 384 rows on, of floats from 768 (givens_shape.hpp)
    const std::int64_t rows = q().on_cuda() ? 700 : 450;
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{700, 70}, {1300, 33}, {rows, rows + 10}})
      for (const auto& pattern : patterns) {
        const std::string& name = pattern.first;
        const Kept& kept = pattern.second;
        if (n > 100 && name != "full" && name != "steps of many columns") continue;
        const Dense<T> A = multiplied(random<T>(m, n, 12), [&](auto i, auto j) {
          return kept(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)) ? 1.0 : 0.0;
        });
        const std::string what = name + " " + shape_name(m, n);
        const Explicit<T> f = explicit_qr(A, false, q(), {Method::givens});
        expect_factors(A, f, By::matrix, what);
        if (q().on_cuda()) continue;
        // Q's zeros below the staircase
        for (std::int64_t j = 0, reach = 0; j < f.Q.cols(); ++j) {
          for (std::int64_t i = std::max(reach, j + 1); i < m; ++i)
            if (A(i, j) != T(0)) reach = i + 1;
          for (std::int64_t i = std::max(reach, j + 1); i < m; ++i)
            ASSERT_EQ(f.Q(i, j), T(0)) << what << " " << i << " " << j;
        }
      }
  });
}

/// NaN and Inf in every part of a long column reach R; elements near over- and underflow in single rows do no harm.
TEST_P(GivensThreads, LongColumnsOfOddNumbers) {
  with_type([&]<class T>(T) {
    for (const std::int64_t row : {0, 200, 500, 799})
      for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        Dense<T> A = random<T>(800, 40, 2);
        A(row, 5) = make<T>(bad);
        const Explicit<T> f = explicit_qr(A, false, q(), {Method::givens});
        EXPECT_FALSE(std::isfinite(std::abs(std::complex<double>(f.R(5, 5))))) << row;
        expect_triangular(f.R, "with NaN");
      }
    const double small = sizeof(real_t<T>) == 4 ? 1e-37 : 1e-307;
    for (const double size : {small, 1 / small}) {
      const Dense<T> A =
          multiplied(random<T>(800, 40, 3), [&](double i, double) { return std::fmod(i, 100) < 3 ? size / 1e3 : 1.0; });
      if (size < 1) expect_factors(A, explicit_qr(A, false, q(), {Method::givens}), By::matrix, "tiny rows");
      const Dense<T> B =
          multiplied(random<T>(800, 40, 3), [&](double, double) { return size < 1 ? size : size / 1e5; });
      expect_factors(B, explicit_qr(B, false, q(), {Method::givens}), By::matrix,
                     "all of size " + std::to_string(size));
    }
  });
}

/// |R| is the Householder method's for a matrix of full rank.
TEST_P(GivensThreads, SameFromRunToRun) {
  with_type([&]<class T>(T) {
    const int long_columns = q().on_cuda() ? 900 : sizeof(real_t<T>) == 4 ? 800 : 500;
    for (const auto& [m, n] : {std::pair{300, 200}, {long_columns, 60}}) {
      const Dense<T> A = random<T>(m, n, 5);
      const Explicit<T> first = explicit_qr(A, true, q(), {Method::givens});
      for (int run = 0; run < 2; ++run) {
        const Explicit<T> again = explicit_qr(A, true, q(), {Method::givens});
        expect_same(again.Q, first.Q, "Q");
        expect_same(again.R, first.R, "R");
      }
    }
  });
}
DEVOBJ_EVERYWHERE(GivensThreads);

}  // namespace
}  // namespace devobj::test
