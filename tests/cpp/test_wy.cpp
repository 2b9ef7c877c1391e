// Methods householder and block_householder of qr and geqrf, and what they share with givens.
#include <limits>

#include "explicit_factors.hpp"
#include "qr_blocked.hpp"

namespace devobj::test {
namespace {

class Wy : public Everywhere {};

/// Paper 000's checks: ||Q R - A|| <= m u ||A|| and ||Q^H Q - I|| <= m u with u = 2^-23, or 2^-52 in double precision.
template <class T>
void expect_paper_checks(const Dense<T>& A, const Explicit<T>& f, const std::string& what) {
  const double u = sizeof(real_t<T>) == 4 ? 0x1p-23 : 0x1p-52, m = static_cast<double>(A.rows());
  using D = precise_t<T>;
  const Dense<D> unit = Dense<D>::from(f.Q.cols(), f.Q.cols(), [](auto i, auto j) { return D(i == j ? 1 : 0); });
  const Dense<D> Q = precise(f.Q);
  EXPECT_LE(one_norm(residual(unit, adjoint<D>, Q, Op::NoTrans, Q)), m * u) << what;
  EXPECT_LE(one_norm(residual(precise(A), Op::NoTrans, Q, Op::NoTrans, precise(f.R))), m * u * one_norm(precise(A)))
      << what;
}

TEST_P(Wy, PaperChecks) {
  with_type([&]<class T>(T) {
    for (const auto method : {Method::householder, Method::block_householder})
      for (const std::int64_t n : {64, 129, q().on_cuda() ? 200 : 65})
        for (const bool full : {false, true}) {
          const Dense<T> A = random<T>(2 * n, n, 4);
          expect_paper_checks(A, explicit_qr(A, full, q(), {method}), std::to_string(n) + (full ? " full" : ""));
        }
  });
}

TEST_P(Wy, FactorsOfAllShapes) {
  with_type([&]<class T>(T) {
    for (const auto& [m, n] : factor_shapes()) {
      const Dense<T> A = random<T>(m, n, 3);
      const QrFactors<T> lapack = lapack_qr(A);
      std::vector<std::pair<Method, std::int64_t>> ways = {{Method::householder, 0}};
      for (const std::int64_t block : blocks_for(std::min(m, n))) ways.push_back({Method::block_householder, block});
      for (const auto& [method, block] : ways) {
        const std::string what = shape_name(m, n) + " method " + std::to_string(static_cast<int>(method)) + " block " +
                                 std::to_string(block);
        const QrFactors<T> f = factor_qr(A, q(), {method, block});
        const QrMeasures ours = qr_measures(A, f);
        EXPECT_LE(ours.residual, residual_bound) << what;
        EXPECT_LE(ours.orthogonality, residual_bound) << what;
        for (std::int64_t i = 0; i < f.tau.size(); ++i) {
          EXPECT_EQ(std::signbit(std::real(f.QR(i, i))), std::signbit(std::real(lapack.QR(i, i))))
              << what << " row " << i;
          if (i + 1 < m) {
            EXPECT_EQ(std::imag(f.QR(i, i)), 0) << what << " row " << i;
          }
        }
      }
    }
  });
}

TEST_P(Wy, FactorsOfManyMatrices) {
  with_type([&]<class T>(T) {
    for (const auto method : {Method::householder, Method::block_householder})
      for (const auto& [m, n] : {std::pair{45, 45}, {70, 33}, {33, 50}})
        for (const auto& matrix : gallery<T>(m, n)) {
          const std::string what =
              matrix.name + " " + shape_name(m, n) + " method " + std::to_string(static_cast<int>(method));
          const QrMeasures ours = qr_measures(matrix.A, factor_qr(matrix.A, q(), {method, 16}), matrix.by);
          EXPECT_LE(ours.residual, residual_bound) << what;
          EXPECT_LE(ours.orthogonality, residual_bound) << what;
          expect_factors(matrix.A, explicit_qr(matrix.A, true, q(), {method, 16}), matrix.by, what);
        }
  });
}

TEST_P(Wy, NotANumber) {
  with_type([&]<class T>(T) {
    for (const auto method : {Method::householder, Method::block_householder}) {
      Dense<T> A = random<T>(150, 100, 2);
      poison(A);
      const QrFactors<T> f = factor_qr(A, q(), {method, 32});
      EXPECT_TRUE(is_nan(std::complex<double>(f.QR(50, 99)))) << static_cast<int>(method);
    }
  });
}

/// Blocks that leave the zeros outside of a band alone.
TEST_P(Wy, BandsByBlocks) {
  with_type([&]<class T>(T) {
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{150, 150}, {170, 120}, {120, 170}, {64, 64}})
      for (const std::int64_t lower : {0, 1, 20, 33, 119})
        for (const std::int64_t upper : {0, 2, 60}) {
          if (m != n && (lower == 1 || lower == 20)) continue;
          const Dense<T> A = multiplied(
              random<T>(m, n, 7), [&](double i, double j) { return i - j <= lower && j - i <= upper ? 1.0 : 0.0; });
          const std::int64_t k = std::min(m, n);
          const std::string what = shape_name(m, n) + ": " + std::to_string(lower) + ", " + std::to_string(upper);
          for (const auto method : {Method::block_householder, Method::givens}) {
            if (method == Method::givens && !q().on_cuda()) continue;
            const Padded<T> F(A, q()), tau(Dense<T>(k, 1), q());
            geqrf_blocked<T>(F, tau, q(), {method, 32}, Bandwidths{lower, upper});
            const Dense<T> QR = F.read("A");
            Dense<T> V(m, k);
            for (std::int64_t j = 0; j < k; ++j)
              for (std::int64_t i = j + 1; i < m; ++i) V(i, j) = QR(i, j);
            const Padded<T> Q(V, q());
            orgqr_banded<T>(Q, tau, {lower, upper}, q());
            expect_factors(A, {Q.read("Q"), triangle(Uplo::Upper, Diag::NonUnit, block_of(QR, {0, k}, {0, n}))},
                           By::matrix, what);
            for (std::int64_t j = 0; j < n; ++j)
              for (std::int64_t i = 0; i < m; ++i)
                if (i - j > lower + 32 || (i < j && j - i > lower + upper + 32)) {
                  ASSERT_EQ(QR(i, j), T(0)) << what;
                }
          }
        }
  });
}

TEST_P(Wy, LeastSquares) {
  with_type([&]<class T>(T) {
    for (const auto method : {Method::householder, Method::block_householder}) {
      const Dense<T> A = random<T>(120, 40, 6), X = random<T>(40, 3, 8);
      const auto B = multiply(widen(A), widen(X));
      const Padded<T> a(A, q()),
          b(Dense<T>::from(
                120, 3,
                [&](auto i, auto j) { return make<T>(double(std::real(B(i, j))), double(std::imag(B(i, j)))); }),
            q());
      EXPECT_EQ(gels<T>(Op::NoTrans, a, b, q(), {method}), 0);
      const Dense<T> found = b.read("B");
      for (std::int64_t j = 0; j < 3; ++j)
        for (std::int64_t i = 0; i < 40; ++i) ASSERT_LE(std::abs(found(i, j) - X(i, j)), 1e4 * eps<T>);
    }
  });
}
DEVOBJ_EVERYWHERE(Wy);

}  // namespace
}  // namespace devobj::test
