// geqrf: every shape, method and block size against LAPACK's measures and signs; the checkers against mutations.
#include "factor_checks.hpp"
#include "factor_matrices.hpp"

namespace devobj::test {
namespace {

class Qr : public Everywhere {};

template <class T>
void expect_qr(const Dense<T>& A, const QrFactors<T>& f, const QrMeasures& lapack, const std::string& what) {
  const QrMeasures ours = qr_measures(A, f);
  EXPECT_LE(ours.residual, residual_bound) << what;
  EXPECT_LE(ours.orthogonality, residual_bound) << what;
  EXPECT_LE(ours.residual, 2 * lapack.residual + residual_floor) << what;
  EXPECT_LE(ours.orthogonality, 2 * lapack.orthogonality + residual_floor) << what;
}
/// The diagonal of R has LAPACK's signs, and is real in its first columns as LAPACK's is.
template <class T>
void expect_signs(const QrFactors<T>& f, const QrFactors<T>& lapack, const std::string& what) {
  for (std::int64_t i = 0; i < f.tau.size(); ++i) {
    EXPECT_EQ(std::signbit(std::real(f.QR(i, i))), std::signbit(std::real(lapack.QR(i, i)))) << what << ", R" << i;
    EXPECT_EQ(std::imag(f.QR(i, i)), std::imag(lapack.QR(i, i))) << what << ", R" << i;
  }
}

TEST_P(Qr, EveryShapeMethodAndBlockSize) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : factor_shapes()) {
      const Dense<T> A = random<T>(m, n, std::uint32_t(1000 * m + n));
      const QrFactors<T> lapack = lapack_qr(A);
      const QrMeasures of_lapack = qr_measures(A, lapack);
      for (const Way& way : qr_ways(q(), blocks_for(std::min(m, n)))) {
        const std::string what = shape_name(m, n) + ", " + way.name;
        const QrFactors<T> f = factor_qr(A, q(), way.qr());
        expect_qr(A, f, of_lapack, what);
        expect_signs(f, lapack, what);
      }
    }
  });
}

TEST_P(Qr, ABlockSizeAboveTheMatrixIsThatOfTheMatrix) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(50, 40, 3);
    const QrFactors<T> f = factor_qr(A, q(), {Method::hybrid, 256}), g = factor_qr(A, q(), {Method::hybrid, 40});
    expect_same(f.QR, g.QR, "QR");
    expect_same(f.tau, g.tau, "tau");
  });
}

/// The same factors as the host's LAPACK up to rounding: on a GPU, host against GPU.
TEST_P(Qr, FactorsAreLapacks) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 130, n = 110;
    Dense<T> A = random<T>(m, n, 8);
    for (std::int64_t i = 0; i < n; ++i) A(i, i) += make<T>(2 * n);
    const QrFactors<T> lapack = lapack_qr(A);
    const Dense<Wide> bound(m, n, Wide(20 * m * eps<T> * 2 * n)), bound_tau(n, 1, Wide(20 * m * eps<T>));
    for (const Way& way : qr_ways(q())) {
      const QrFactors<T> f = factor_qr(A, q(), way.qr());
      expect_close(f.QR, widen(lapack.QR), bound, way.name);
      expect_close(f.tau, widen(lapack.tau), bound_tau, way.name + ": tau");
    }
  });
}

TEST_P(Qr, BitwiseTheSameFromRunToRun) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{150, 150}, {400, 70}, {70, 200}}) {
      const Dense<T> A = random<T>(m, n, 21);
      for (const Way& way : qr_ways(q(), {0, 16})) {
        const QrFactors<T> first = factor_qr(A, q(), way.qr());
        for (int again = 0; again < 3; ++again) {
          const QrFactors<T> f = factor_qr(A, q(), way.qr());
          expect_same(f.QR, first.QR, way.name);
          expect_same(f.tau, first.tau, way.name);
        }
      }
    }
  });
}

TEST_P(Qr, TauMayBeARow) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(40, 33, 4);
    for (const Way& way : qr_ways(q(), {8})) {
      const QrFactors<T> column = factor_qr(A, q(), way.qr());
      Padded<T> a(A, q()), row(Dense<T>(1, 33), q());
      geqrf<T>(a, row, q(), way.qr());
      expect_same(a.read("A"), column.QR, way.name);
      const Dense<T> tau = row.read("tau");
      for (std::int64_t i = 0; i < 33; ++i) EXPECT_EQ(tau[i], column.tau[i]) << way.name << ", tau " << i;
    }
  });
}

TEST_P(Qr, TheReportOfTheHybridMethod) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(300, 200, 6);
    HybridReport report{-1, -1, -1, -1, -1, -1, -1};
    QrOptions options{Method::hybrid, 48, &report};
    const QrFactors<T> f = factor_qr(A, q(), options), unreported = factor_qr(A, q(), {Method::hybrid, 48});
    expect_same(f.QR, unreported.QR, "QR with a report");
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

// ---- columns with tau = 0 and tau = 2 ----

/// What is triangular already stays as it is, with tau = 0 (complex: where its diagonal is real).
TEST_P(Qr, ATriangleIsLeftAlone) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{40, 40}, {50, 30}, {30, 50}}) {
      Dense<T> A = multiplied(random<T>(m, n, 14), [](double i, double j) { return i <= j ? 1.0 : 0.0; });
      for (std::int64_t i = 0; i < std::min(m, n); ++i) A(i, i) = make<T>(std::real(A(i, i)));
      for (const Way& way : qr_ways(q())) {
        const QrFactors<T> f = factor_qr(A, q(), way.qr());
        const std::string what = shape_name(m, n) + ", " + way.name;
        expect_close(f.QR, widen(A), Dense<Wide>(m, n), what);
        EXPECT_EQ(largest(precise(f.tau)), 0) << what;
      }
    }
  });
}

/// A column that is the axis up to rounding: tau = 2, R = -column, also beside columns with tau = 0.
TEST_P(Qr, AnAxisWithDustHasTau2) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 36, n = 30;
    const double dust = sizeof(real_t<T>) == 8 ? 1e-30 : 1e-15;
    Dense<T> A = real_matrix<T>(m, n, [&](double i, double j) {
      return i == j ? 3.0 : i == j + 1 && std::fmod(j, 3) == 0 ? dust : 0.0;
    });
    for (const Way& way : qr_ways(q())) {
      const QrFactors<T> f = factor_qr(A, q(), way.qr());
      for (std::int64_t j = 0; j < n; ++j) {
        EXPECT_EQ(f.tau[j], make<T>(j % 3 == 0 ? 2 : 0)) << way.name << ", column " << j;
        EXPECT_EQ(std::abs(f.QR(j, j)), 3) << way.name << ", column " << j;
      }
      const QrMeasures measures = qr_measures(A, f);
      EXPECT_LE(measures.residual, residual_bound) << way.name;
      EXPECT_LE(measures.orthogonality, residual_bound) << way.name;
    }
  });
}

/// Alpha = 0 with something below: tau = 1, and the sign of R is that of -(+0).
TEST_P(Qr, AZeroOnTopIsLapacks) {
  with_type([&]<class T>(T) {
    Dense<T> A = random<T>(20, 12, 15);
    for (double zero : {0.0, -0.0}) {
      A(0, 0) = make<T>(zero);
      const QrFactors<T> lapack = lapack_qr(A);
      EXPECT_EQ(std::real(lapack.tau[0]), 1);
      for (const Way& way : qr_ways(q())) {
        const QrFactors<T> f = factor_qr(A, q(), way.qr());
        expect_signs(f, lapack, way.name);
        EXPECT_EQ(std::real(f.tau[0]), 1) << way.name;
      }
    }
  });
}

DEVOBJ_EVERYWHERE(Qr);

// ---- the checkers themselves ----

template <class T>
class QrChecker : public testing::Test {};
TYPED_TEST_SUITE(QrChecker, Scalars);

TYPED_TEST(QrChecker, SeesMutations) {
  using T = TypeParam;
  const std::int64_t m = 70, n = 60;
  const Dense<T> A = random<T>(m, n, 12);
  const QrFactors<T> right = lapack_qr(A);
  const QrMeasures measures = qr_measures(A, right);
  ASSERT_LE(measures.residual, residual_bound);
  ASSERT_LE(measures.orthogonality, residual_bound);
  enum Sees { both, residual_alone };
  auto expect_seen = [&](const char* mutation, Sees sees, auto&& mutate) {
    QrFactors<T> wrong = right;
    mutate(wrong);
    const QrMeasures of_wrong = qr_measures(A, wrong);
    EXPECT_FALSE(of_wrong.residual <= residual_bound) << mutation;
    if (sees == both) {
      EXPECT_FALSE(of_wrong.orthogonality <= residual_bound) << mutation;
    }
  };
  const double off = sizeof(real_t<T>) == 8 ? 1e-10 : 0.05;
  expect_seen("two rows swapped", both, [&](auto& f) {
    for (std::int64_t j = 0; j < n; ++j) std::swap(f.QR(20, j), f.QR(21, j));
  });
  expect_seen("a block transposed", residual_alone, [&](auto& f) {
    for (std::int64_t j = 0; j < 8; ++j)
      for (std::int64_t i = 0; i < j; ++i) std::swap(f.QR(8 + i, 40 + j), f.QR(8 + j, 40 + i));
  });
  expect_seen("an entry of R", residual_alone, [&](auto& f) { f.QR(2, 2) *= make<T>(1 + off); });
  expect_seen("a sign of R", residual_alone, [&](auto& f) { f.QR(5, 5) = -f.QR(5, 5); });
  expect_seen("a tau", both, [&](auto& f) { f.tau[3] *= make<T>(1 + off); });
  expect_seen("an entry of V", both, [&](auto& f) { f.QR(30, 3) *= make<T>(1 + 10 * off); });
  expect_seen("a tau of 0", residual_alone, [&](auto& f) { f.tau[9] = T(0); });
  expect_seen("NaN in R", residual_alone, [&](auto& f) { f.QR(0, 59) = make<T>(nan<T>); });
  expect_seen("NaN in V", both, [&](auto& f) { f.QR(69, 0) = make<T>(nan<T>); });
}

/// Normal equations lose orthogonality with the condition's square: the measure sees it.
TEST(QrCheckerOrthogonality, SeesWhatIsNotOrthogonal) {
  const std::int64_t m = 60, n = 20;
  const Dense<double> A = with_condition<double>(m, n, 1e6, 4);
  // Gram-Schmidt in its classical form
  Dense<double> Q = A;
  for (std::int64_t j = 0; j < n; ++j) {
    std::vector<double> h(std::size_t(j), 0.0);
    for (std::int64_t p = 0; p < j; ++p)
      for (std::int64_t i = 0; i < m; ++i) h[std::size_t(p)] += Q(i, p) * A(i, j);
    double square = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t p = 0; p < j; ++p) Q(i, j) -= h[std::size_t(p)] * Q(i, p);
      square += Q(i, j) * Q(i, j);
    }
    for (std::int64_t i = 0; i < m; ++i) Q(i, j) /= std::sqrt(square);
  }
  EXPECT_GT(orthogonality(Q), residual_bound);
  EXPECT_LE(orthogonality(q_of(lapack_qr(A), n)), residual_bound);
}

}  // namespace
}  // namespace devobj::test
