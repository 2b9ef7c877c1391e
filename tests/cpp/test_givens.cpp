// Method::givens of qr: factors of all shapes, zeros that are there, instruction sets, errors.
#include "explicit_factors.hpp"
#include "kernels/host/simd.hpp"
#include "sanitizers.hpp"

namespace devobj::test {
namespace {

class Givens : public Everywhere {};

TEST_P(Givens, FactorsOfAllShapes) {
  with_type([&]<class T>(T) {
    for (const auto& [m, n] : factor_shapes())
      for (const bool full : {false, true}) {
        if (full && m > 1000) continue;
        const Dense<T> A = random<T>(m, n, 3);
        expect_factors(A, explicit_qr(A, full, q(), {Method::givens}), By::matrix,
                       shape_name(m, n) + (full ? " full" : ""));
      }
  });
}

TEST_P(Givens, FactorsOfManyMatrices) {
  with_type([&]<class T>(T) {
    // the largest: several blocks of the GPU; on the host the order from which two threads take part
    const int order = q().on_cuda() ? 300 : size_or(140, 70);
    for (const auto& [m, n] : {std::pair{45, 45}, {70, 33}, {33, 50}, {order, order}}) {
      for (const auto& matrix : gallery<T>(m, n))
        expect_factors(matrix.A, explicit_qr(matrix.A, false, q(), {Method::givens}), matrix.by,
                       matrix.name + " " + shape_name(m, n));
    }
  });
}

/// Around the heights at which the GPU's panels get other tiles, or one more level of them; on the host those of which a slab is
/// done in parts (three of 128 or 256 rows at least, kernels/host/givens_shape.hpp), and in the most.
TEST_P(Givens, TallPanels) {
  with_type([&]<class T>(T) {
    const std::vector<std::int64_t> heights =
        q().on_cuda() ? std::vector<std::int64_t>{127, 128, 129, 1024, 1025, 1536, 1537, 2048, 2049, 8192, 8193, 12289}
                      : std::vector<std::int64_t>{127, 129, 255, 257, 383, 385, 767, 769, 1025, 2305};
    for (const std::int64_t m : heights) {
      const std::int64_t n = 33;
      Dense<T> A = random<T>(m, n, 4);
      expect_factors(A, explicit_qr(A, false, q(), {Method::givens}), By::matrix, shape_name(m, n));
      // the second half of the rows is zero, and so is every third column
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i)
          if (2 * i > m || j % 3 == 1) A(i, j) = T(0);
      expect_factors(A, explicit_qr(A, false, q(), {Method::givens}), By::matrix, shape_name(m, n) + " with zeros");
    }
  });
}

/// Bands and staircases of every kind, around the widths of windows and slabs.
TEST_P(Givens, ZerosThatAreThere) {
  with_type([&]<class T>(T) {
    for (const std::int64_t n : {1, 5, 33, 64, 100, 131, 260})
      for (const std::int64_t lower : {0, 1, 2, 3, 4, 5, 8, 9, 20, 33})
        for (const std::int64_t upper : {0, 1, 3, 40}) {
          if (lower >= n || upper >= n) continue;
          // a narrow band and a wide one; AddressSanitizer has them in 131 rows
          if (n == 260 && !q().on_cuda() && (lower % 30 != 3 || address_sanitizer)) continue;
          const Dense<T> A = multiplied(
              random<T>(n, n, 7), [&](double i, double j) { return i - j <= lower && j - i <= upper ? 1.0 : 0.0; });
          const std::string what =
              std::to_string(lower) + " + " + std::to_string(upper) + " diagonals of " + std::to_string(n);
          const Explicit<T> f = explicit_qr(A, false, q(), {Method::givens});
          expect_factors(A, f, By::matrix, what);
          // R's band, and Q's zeros below it
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < n; ++i) {
              if (q().on_cuda() && lower > 32) continue;  // a full matrix for the GPU's blocks
              if (j - i > lower + upper) {
                ASSERT_EQ(f.R(i, j), T(0)) << what << " R " << i << " " << j;
              }
              if (i - j > lower) {
                ASSERT_EQ(f.Q(i, j), T(0)) << what << " Q " << i << " " << j;
              }
            }
        }
    const Dense<T> stairs = multiplied(random<T>(150, 90, 9), [](double i, double j) {
      return i <= 2 * std::floor(j / 10) * 10 + 3 && j <= i + 30 ? 1.0 : 0.0;
    });
    expect_factors(stairs, explicit_qr(stairs, true, q(), {Method::givens}), By::matrix, "a staircase");
  });
}

/// The last rows of A are zero, so that columns of the full Q beside R's are those of the unit matrix.
TEST_P(Givens, FullFactorsWithZerosBelow) {
  with_type([&]<class T>(T) {
    for (const auto& [m, n] : {std::pair{2, 1}, {9, 7}, {40, 3}, {31, 20}, {70, 33}, {300, 150}})
      for (const std::int64_t rows : {0, 1, n / 2, n, n + 1}) {
        const Dense<T> A = multiplied(random<T>(m, n, 6), [&](double i, double) { return i < rows ? 1.0 : 0.0; });
        expect_factors(A, explicit_qr(A, true, q(), {Method::givens}), By::matrix,
                       shape_name(m, n) + " with " + std::to_string(rows) + " rows that are not zero");
      }
  });
}

TEST_P(Givens, SameAsHouseholder) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(90, 70, 5);
    const Explicit<T> f = explicit_qr(A, false, q(), {Method::givens});
    const QrFactors<T> h = lapack_qr(A);
    for (std::int64_t j = 0; j < 70; ++j)
      for (std::int64_t i = 0; i <= j; ++i)
        ASSERT_NEAR(std::abs(f.R(i, j)), std::abs(h.QR(i, j)), 200 * eps<T> * 10) << i << " " << j;
  });
}

TEST_P(Givens, NotANumber) {
  with_type([&]<class T>(T) {
    for (const std::int64_t n : {1, 20, 64, 150}) {
      Dense<T> A = random<T>(n, n, 2);
      poison(A);
      const Explicit<T> f = explicit_qr(A, false, q(), {Method::givens});
      bool found = false;
      for (std::int64_t e = 0; e < f.R.size(); ++e) found = found || is_nan(std::complex<double>(f.R[e]));
      EXPECT_TRUE(found) << n;
      expect_triangular(f.R, "with NaN");
    }
  });
}

TEST_P(Givens, EveryInstructionSet) {
  if (q().on_cuda()) GTEST_SKIP() << "skipped: a matter of the host";
  with_type([&]<class T>(T) {
    for (const auto level : {host::Simd::baseline, host::Simd::avx2, host::Simd::avx512}) {
      if (host::use_simd(level) != level) continue;
      for (const auto& [m, n] : {std::pair{150, 90}, {97, 97}, {40, 130}})
        for (const bool full : {false, true}) {
          const Dense<T> A = random<T>(m, n, 8);
          expect_factors(A, explicit_qr(A, full, q(), {Method::givens}), By::matrix,
                         shape_name(m, n) + " instruction set " + std::to_string(static_cast<int>(level)));
        }
    }
  });
  host::use_simd(host::Simd::avx512);
}

TEST_P(Givens, Errors) {
  with_type([&]<class T>(T) {
    const Padded<T> A(random<T>(6, 4, 1), q()), tau(Dense<T>(4, 1), q()), B(Dense<T>(6, 1), q());
    EXPECT_INVALID(geqrf<T>(A, tau, q(), {Method::givens}), "geqrf: method 'givens' is not available");
    EXPECT_INVALID(gels<T>(Op::NoTrans, A, B, q(), {Method::givens}), "gels: method 'givens' is not available");
    EXPECT_INVALID(qr<T>(A, A, A, q(), {Method::givens}), "qr: Q is 6 x 4 and R is 6 x 4");
  });
}
DEVOBJ_EVERYWHERE(Givens);

}  // namespace
}  // namespace devobj::test
