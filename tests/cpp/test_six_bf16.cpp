// On a GPU only: gemm_six_bf16 against double precision and against BLAS's product: accuracy, infinities and NaN, numbers near the
// ends of the range.
#include <cmath>
#include <limits>

#include "factor_checks.hpp"
#include "kernels/native.hpp"

namespace devobj::test {
namespace {

class SixBf16 : public Everywhere {
 protected:
  /// C - A B
  Dense<float> product(const Dense<float>& A, const Dense<float>& B, const Dense<float>& C, bool strict,
                       Side guarded = Side::Right) {
    Padded<float> a(A, q()), b(B, q()), c(C, q());
    if (strict) {
      gemm<float>(Op::NoTrans, Op::NoTrans, -1, a, b, 1, c, q());
    } else if constexpr (cuda_built) {
      const Storage workspace(cuda::gemm_six_bf16_workspace(C.rows(), C.cols(), A.cols()), q());
      cuda::gemm_six_bf16(a.view(), b.view(), c.view(), guarded, const_cast<void*>(workspace.data()), q());
    }
    return c.read();
  }
};
INSTANTIATE_TEST_SUITE_P(On, SixBf16, testing::Combine(testing::Values(places()[2]), testing::Values(Type::real)),
                         instance_name);

/// The largest error relative to |C| + |A| |B|.
double error(const Dense<float>& A, const Dense<float>& B, const Dense<float>& C, const Dense<float>& result) {
  double worst = 0;
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) {
      double sum = C(i, j), size = std::abs(sum);
      for (std::int64_t k = 0; k < A.cols(); ++k) {
        sum -= double(A(i, k)) * B(k, j);
        size += std::abs(double(A(i, k)) * B(k, j));
      }
      worst = larger(worst, size == 0 ? std::abs(result(i, j)) : std::abs(result(i, j) - sum) / size);
    }
  return worst;
}

TEST_P(SixBf16, AsAccurateAsAPlainProduct) {
  for (auto [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                         {7, 5, 3},
                         {64, 64, 64},
                         {129, 77, 65},
                         {200, 300, 256},
                         {300, 130, 512}}) {
    const Dense<float> A = random<float>(m, k, 1), B = random<float>(k, n, 2), C = random<float>(m, n, 3);
    const double strict = error(A, B, C, product(A, B, C, true)), ours = error(A, B, C, product(A, B, C, false));
    EXPECT_LE(ours, 2 * strict + 2 * eps<float>) << shape_name(m, n) << " depth " << k;
  }
}

/// Columns whose numbers are small, down to the smallest: their own errors stay small.
TEST_P(SixBf16, SmallColumns) {
  const std::int64_t m = 65, n = 8, k = 40;
  const Dense<float> A = random<float>(m, k, 4);
  Dense<float> B = random<float>(k, n, 5);
  const int exponents[n] = {0, -90, -99, -101, -110, -120, -130, 60};
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < k; ++i) B(i, j) = std::ldexp(B(i, j), exponents[j]);
  const Dense<float> C(m, n), ours = product(A, B, C, false), strict = product(A, B, C, true);
  for (std::int64_t j = 0; j < n; ++j) {
    auto column = [&](const Dense<float>& X) { return block_of(X, {0, X.rows()}, {j, j + 1}); };
    const double bound = 2 * error(A, column(B), column(C), column(strict)) + 2 * eps<float>;
    EXPECT_LE(error(A, column(B), column(C), column(ours)), bound) << "2^" << exponents[j];
  }
}

TEST_P(SixBf16, InfinitiesAndNaNAsInAPlainProduct) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::int64_t m = 40, n = 30, k = 20;
  for (const float bad : {inf, -inf, nan, std::numeric_limits<float>::max()})
    for (const int where : {0, 1, 2}) {
      Dense<float> A = random<float>(m, k, 6), B = random<float>(k, n, 7), C = random<float>(m, n, 8);
      for (std::int64_t i = 0; i < k; ++i) A(3, i) = i % 3 == 0 ? 0.0f : A(3, i);
      (where == 0 ? A(5, 4) : where == 1 ? B(6, 7) : C(9, 2)) = bad;
      if (where == 1) A(2, 6) = 0;  // 0 times an infinity is NaN
      const Dense<float> ours = product(A, B, C, false), strict = product(A, B, C, true);
      for (std::int64_t e = 0; e < C.size(); ++e) {
        EXPECT_EQ(std::isnan(ours[e]), std::isnan(strict[e])) << bad << " at " << where << ", element " << e;
        if (std::isinf(strict[e])) {
          EXPECT_EQ(ours[e], strict[e]) << bad << " at " << where << ", element " << e;
        }
      }
    }
}

/// The same with small rows of A.
TEST_P(SixBf16, SmallRows) {
  const std::int64_t m = 8, n = 65, k = 40;
  Dense<float> A = random<float>(m, k, 4);
  const Dense<float> B = random<float>(k, n, 5), C(m, n);
  const int exponents[m] = {0, -90, -99, -101, -110, -120, -130, 60};
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < k; ++j) A(i, j) = std::ldexp(A(i, j), exponents[i]);
  const Dense<float> ours = product(A, B, C, false, Side::Left), strict = product(A, B, C, true);
  for (std::int64_t i = 0; i < m; ++i) {
    auto row = [&](const Dense<float>& X) { return block_of(X, {i, i + 1}, {0, X.cols()}); };
    const double bound = 2 * error(row(A), B, row(C), row(strict)) + 2 * eps<float>;
    EXPECT_LE(error(row(A), B, row(C), row(ours)), bound) << "2^" << exponents[i];
  }
}

/// A factorization large enough that its updates use the products.
TEST_P(SixBf16, LuIsAsAccurateAsInStrictMath) {
  for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{2500, 2400}, {2300, 2700}}) {
    const Dense<float> A = random<float>(m, n, 9);
    LuOptions options{Method::native};
    const LuFactors<float> fast = factor_lu(A, q(), options);
    options.math = Math::strict;
    const LuFactors<float> strict = factor_lu(A, q(), options);
    const double r = lu_residual(A, fast);
    EXPECT_LE(r, residual_bound);
    EXPECT_LE(r, 1.5 * lu_residual(A, strict) + 0.01) << shape_name(m, n);
    EXPECT_NE(std::memcmp(fast.LU.data(), strict.LU.data(), static_cast<std::size_t>(m * n) * sizeof(float)), 0)
        << "both were computed in the same way";
  }
}

}  // namespace
}  // namespace devobj::test
