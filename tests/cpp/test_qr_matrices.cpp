// geqrf on difficult matrices: graded, rank-deficient, ill-conditioned, structured, extreme in size, with NaN and Inf.
#include "factor_checks.hpp"
#include "factor_matrices.hpp"

namespace devobj::test {
namespace {

class QrMatrices : public Everywhere {};

const std::vector<std::pair<std::int64_t, std::int64_t>> shapes = {{40, 40}, {37, 29}, {29, 37}};

TEST_P(QrMatrices, OfTheGallery) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : shapes)
      for (const auto& [name, A, by, grows] : gallery<T>(m, n)) {
        const QrFactors<T> lapack = lapack_qr(A);
        const QrMeasures of_lapack = qr_measures(A, lapack, By::column);
        for (const Way& way : qr_ways(q(), {0, 5, 16})) {
          const std::string what = name + ", " + shape_name(m, n) + ", " + way.name;
          const QrFactors<T> f = factor_qr(A, q(), way.qr());
          // Householder's QR is stable column by column
          const QrMeasures ours = qr_measures(A, f, By::column);
          EXPECT_LE(ours.residual, residual_bound) << what;
          EXPECT_LE(ours.orthogonality, residual_bound) << what;
          EXPECT_LE(ours.residual, 2 * of_lapack.residual + residual_floor)
              << what << ": LAPACK has " << of_lapack.residual;
          EXPECT_LE(ours.orthogonality, 2 * of_lapack.orthogonality + residual_floor) << what;
        }
      }
  });
}

TEST_P(QrMatrices, AZeroColumnHasTau0) {
  with_type([&]<class T>(T) {
    for (std::int64_t zero : {0, 5, 16, 29}) {
      Dense<T> A = random<T>(40, 30, 31);
      for (std::int64_t i = 0; i < 40; ++i) A(i, zero) = T(0);
      const QrFactors<T> lapack = lapack_qr(A);
      for (const Way& way : qr_ways(q())) {
        const std::string what = "column " + std::to_string(zero) + ", " + way.name;
        const QrFactors<T> f = factor_qr(A, q(), way.qr());
        EXPECT_EQ(f.tau[zero], T(0)) << what;
        EXPECT_EQ(f.QR(zero, zero), T(0)) << what;
        const QrMeasures measures = qr_measures(A, f, By::column);
        EXPECT_LE(measures.residual, residual_bound) << what;
        EXPECT_LE(measures.orthogonality, residual_bound) << what;
      }
    }
  });
}

template <class T>
bool column_is_finite(const Dense<T>& A, std::int64_t j) {
  for (std::int64_t i = 0; i < A.rows(); ++i)
    if (!std::isfinite(std::real(A(i, j))) || !std::isfinite(std::imag(A(i, j)))) return false;
  return true;
}

TEST_P(QrMatrices, NaNAndInfPropagate) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : shapes)
      for (real_t<T> bad : {nan<T>, infinity<T>, -infinity<T>})
        for (auto [row, column] :
             {std::pair<std::int64_t, std::int64_t>{0, 0}, {m / 2, n / 2}, {m - 1, n - 1}, {m - 1, 0}, {0, n - 1}}) {
          Dense<T> A = random<T>(m, n, 33);
          A(row, column) = make<T>(bad, is_complex<T> ? 1 : 0);
          for (const Way& way : qr_ways(q(), {0, 1, 5, 16})) {
            std::ostringstream what;
            what << bad << " at (" << row << ", " << column << ") of " << shape_name(m, n) << ", " << way.name;
            const QrFactors<T> f = factor_qr(A, q(), way.qr());
            EXPECT_FALSE(column_is_finite(f.QR, column)) << what.str();
            EXPECT_FALSE(qr_measures(A, f).residual <= residual_bound) << what.str();
            if (column + 1 < n) {
              // every later column is reflected by a vector of NaN
              EXPECT_FALSE(column_is_finite(f.QR, n - 1)) << what.str();
            }
            // the panels before the bad one do not know of it
            if (way.block == 5 && column >= 5) {
              EXPECT_TRUE(column_is_finite(f.QR, 0)) << what.str();
            }
          }
        }
  });
}

TEST_P(QrMatrices, NaNEverywhere) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : shapes)
      for (real_t<T> bad : {nan<T>, infinity<T>}) {
        const Dense<T> A(m, n, make<T>(bad));
        for (const Way& way : qr_ways(q())) {
          const QrFactors<T> f = factor_qr(A, q(), way.qr());
          for (std::int64_t j = 0; j < n; ++j) EXPECT_FALSE(column_is_finite(f.QR, j)) << way.name << ", column " << j;
        }
      }
  });
}

/// Numbers whose squares underflow or overflow, column by column at different sizes, and mixed within a column.
TEST_P(QrMatrices, SizesWithinAColumn) {
  with_type([&]<class T>(T) {
    const double step = sizeof(real_t<T>) == 8 ? 9 : 1;  // 34 rows from 1e-300 or 1e-34 upwards
    for (double direction : {1.0, -1.0}) {
      const Dense<T> A = multiplied(random<T>(34, 20, 35), [&](double i, double j) {
        return std::pow(10.0, step * (direction * (i - 17) - (j < 10 ? 8 : 0)));
      });
      for (const Way& way : qr_ways(q(), {0, 5})) {
        const QrMeasures measures = qr_measures(A, factor_qr(A, q(), way.qr()), By::column);
        EXPECT_LE(measures.residual, residual_bound) << way.name;
        EXPECT_LE(measures.orthogonality, residual_bound) << way.name;
      }
    }
  });
}

DEVOBJ_EVERYWHERE(QrMatrices);

}  // namespace
}  // namespace devobj::test
