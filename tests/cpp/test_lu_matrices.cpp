// getrf on difficult matrices: graded, singular, ill-conditioned, structured, extreme in size, with NaN and Inf.
#include "factor_checks.hpp"
#include "factor_matrices.hpp"

namespace devobj::test {
namespace {

class LuMatrices : public Everywhere {};

const std::vector<std::pair<std::int64_t, std::int64_t>> shapes = {{40, 40}, {37, 29}, {29, 37}};

/// Some LAPACKs multiply by the reciprocal of a subnormal pivot, which is infinite (OpenBLAS 0.3.21), or has few digits
/// (0.3.26, single precision). Where LAPACK does the work, the result is as LAPACK's.
bool lapack_gives_up(const Way& way, const Queue& q, double lapack_residual) {
  return way.method != Method::hybrid && !q.on_cuda() && !(lapack_residual <= residual_bound);
}

TEST_P(LuMatrices, OfTheGallery) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : shapes)
      for (const auto& [name, A, by, grows] : gallery<T>(m, n)) {
        const LuFactors<T> lapack = lapack_lu(A);
        const double lapack_residual = lu_residual(A, lapack, by);
        for (const Way& way : lu_ways(q(), {0, 5, 16})) {
          const std::string what = name + ", " + shape_name(m, n) + ", " + way.name;
          const LuFactors<T> f = factor_lu(A, q(), way.lu());
          const double r = lu_residual(A, f, by), grown = grows ? std::max(1.0, growth(A, f)) : 1;
          if (!lapack_gives_up(way, q(), lapack_residual)) {
            EXPECT_LE(r, residual_bound * grown) << what;
          }
          if (std::isfinite(lapack_residual)) {
            EXPECT_LE(r, 2 * lapack_residual + residual_floor * grown) << what << ": LAPACK has " << lapack_residual;
          }
          EXPECT_EQ(f.info, first_zero_pivot(f.LU)) << what;
        }
      }
  });
}

TEST_P(LuMatrices, AZeroMatrixHasInfo1) {
  with_type([&]<class T>(T) {
    for (double zero : {0.0, -0.0})
      for (auto [m, n] : shapes) {
        const Dense<T> A(m, n, make<T>(zero));
        for (const Way& way : lu_ways(q())) {
          const LuFactors<T> f = factor_lu(A, q(), way.lu());
          EXPECT_EQ(f.info, 1) << way.name;
          EXPECT_EQ(largest(precise(f.LU)), 0) << way.name;
          for (std::int64_t i = 0; i < f.pivots.size(); ++i) EXPECT_EQ(f.pivots[i], i + 1) << way.name;
        }
      }
  });
}

TEST_P(LuMatrices, AZeroColumnIsInfoAndTheRestIsFactored) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : shapes)
      for (std::int64_t zero :
           {std::int64_t(0), std::int64_t(4), std::int64_t(15), std::int64_t(16), std::min(m, n) - 1}) {
        Dense<T> A = random<T>(m, n, 31);
        for (std::int64_t i = 0; i < m; ++i) A(i, zero) = T(0);
        for (const Way& way : lu_ways(q())) {
          const std::string what = shape_name(m, n) + ", column " + std::to_string(zero + 1) + ", " + way.name;
          const LuFactors<T> f = factor_lu(A, q(), way.lu());
          EXPECT_EQ(f.info, zero + 1) << what;
          EXPECT_LE(lu_residual(A, f), residual_bound) << what;
          for (std::int64_t i = zero + 1; i < std::min(m, n); ++i) EXPECT_NE(f.LU(i, i), T(0)) << what << ", row " << i;
        }
      }
  });
}

TEST_P(LuMatrices, InfoIsTheFirstOfSeveralZeroPivots) {
  with_type([&]<class T>(T) {
    Dense<T> A = random<T>(70, 70, 32);
    for (std::int64_t column : {20, 21, 45, 69})
      for (std::int64_t i = 0; i < 70; ++i) A(i, column) = T(0);
    for (const Way& way : lu_ways(q())) EXPECT_EQ(factor_lu(A, q(), way.lu()).info, 21) << way.name;
  });
}

/// Matrices without rounding in their elimination: pivots and info are LAPACK's.
TEST_P(LuMatrices, ExactOnesHaveLapacksPivotsAndInfo) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{3, 3}, {20, 20}, {23, 17}, {17, 23}})
      for (const auto& [name, A, by, grows] : gallery<T>(m, n)) {
        const bool exact = name == "ones" || name == "identity" || name == "permutation" || name == "diagonal" ||
                           name == "reversed identity" || name == "Wilkinson's growth" || name == "zero" ||
                           name == "upper triangular" || name == "Kahan";
        if (!exact) continue;
        const LuFactors<T> lapack = lapack_lu(A);
        for (const Way& way : lu_ways(q(), {0, 1, 5})) {
          const std::string what = name + ", " + shape_name(m, n) + ", " + way.name;
          const LuFactors<T> f = factor_lu(A, q(), way.lu());
          expect_same(f.pivots, lapack.pivots, what);
          EXPECT_EQ(f.info, lapack.info) << what;
          EXPECT_EQ(lu_residual(A, f), 0) << what;
        }
        if (name == "ones") {
          EXPECT_EQ(lapack.info, 2);
        }
      }
  });
}

/// L(i, j) = A(i, j) / pivot for pivots of which 1 / pivot overflows.
TEST_P(LuMatrices, SubnormalPivotsDivide) {
  with_type([&]<class T>(T) {
    const real_t<T> unit = std::numeric_limits<real_t<T>>::denorm_min();
    const Dense<T> A = real_matrix<T>(3, 2, [&](double i, double j) {
      return unit * (j == 0 ? 4 - i : i == 1 ? 3 : 1);
    });
    for (const Way& way : lu_ways(q(), {0, 1})) {
      const LuFactors<T> f = factor_lu(A, q(), way.lu());
      if (lapack_gives_up(way, q(), lu_residual(A, f))) continue;
      EXPECT_EQ(f.info, 0) << way.name;
      EXPECT_LE(std::abs(wide(f.LU(1, 0)) - Wide(0.75)), 2 * eps<T>) << way.name;
      EXPECT_LE(std::abs(wide(f.LU(2, 0)) - Wide(0.5)), 2 * eps<T>) << way.name;
    }
  });
}

// ---- NaN and Inf ----

template <class T>
bool column_is_finite(const Dense<T>& A, std::int64_t j) {
  for (std::int64_t i = 0; i < A.rows(); ++i)
    if (!std::isfinite(std::real(A(i, j))) || !std::isfinite(std::imag(A(i, j)))) return false;
  return true;
}

TEST_P(LuMatrices, NaNAndInfPropagate) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : shapes)
      for (real_t<T> bad : {nan<T>, infinity<T>, -infinity<T>})
        for (auto [row, column] :
             {std::pair<std::int64_t, std::int64_t>{0, 0}, {m / 2, n / 2}, {m - 1, n - 1}, {m - 1, 0}, {0, n - 1}}) {
          Dense<T> A = random<T>(m, n, 33);
          A(row, column) = make<T>(bad, is_complex<T> ? 1 : 0);
          for (const Way& way : lu_ways(q(), {0, 1, 5, 16})) {
            std::ostringstream what;
            what << bad << " at (" << row << ", " << column << ") of " << shape_name(m, n) << ", " << way.name;
            const LuFactors<T> f = factor_lu(A, q(), way.lu());
            EXPECT_TRUE(pivots_in_range(f)) << what.str();
            EXPECT_FALSE(column_is_finite(f.LU, column)) << what.str();
            EXPECT_FALSE(lu_residual(A, f) <= residual_bound) << what.str();
            // columns before the bad one do not know of it
            for (std::int64_t j = 0; j < column; ++j)
              EXPECT_TRUE(column_is_finite(f.LU, j)) << what.str() << ", column " << j;
            EXPECT_TRUE(f.info == 0 || f.info == first_zero_pivot(f.LU)) << what.str();
          }
        }
  });
}

TEST_P(LuMatrices, NaNEverywhere) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : shapes)
      for (real_t<T> bad : {nan<T>, infinity<T>}) {
        const Dense<T> A(m, n, make<T>(bad));
        for (const Way& way : lu_ways(q())) {
          const LuFactors<T> f = factor_lu(A, q(), way.lu());
          EXPECT_TRUE(pivots_in_range(f)) << way.name;
          EXPECT_EQ(f.info, 0) << way.name;
          for (std::int64_t j = 0; j < n; ++j) EXPECT_FALSE(column_is_finite(f.LU, j)) << way.name << ", column " << j;
        }
      }
  });
}

/// A NaN in the matrix is in the solution.
TEST_P(LuMatrices, NaNReachesTheSolution) {
  with_type([&]<class T>(T) {
    for (std::int64_t at : {0, 12, 39}) {
      Dense<T> A = random<T>(40, 40, 34);
      A(at, 39 - at) = make<T>(nan<T>);
      for (const Way& way : lu_ways(q(), {0, 5})) {
        Padded<T> a(A, q()), b(Dense<T>(40, 2, T(1)), q());
        Padded<std::int32_t> pivots(Dense<std::int32_t>(40, 1), q());
        EXPECT_EQ(gesv<T>(a, pivots.view(), b, q(), way.lu()), 0) << way.name;
        EXPECT_TRUE(std::isnan(largest(precise(b.read("B"))))) << way.name << ", NaN at " << at;
      }
    }
  });
}

DEVOBJ_EVERYWHERE(LuMatrices);

}  // namespace
}  // namespace devobj::test
