// On a GPU only: gemm_three_tf32 against double precision and against BLAS's product: accuracy, what cannot be split, places,
// and a beginning beside the kernel that makes an operand.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "factor_checks.hpp"
#include "kernels/native.hpp"
#include "product_error.hpp"
#include "warp_groups.hpp"

namespace devobj::test {
namespace {

/// A copy of a matrix whose first element is at a multiple of 16 bytes, with a frame that must not change.
class Framed {
 public:
  Framed(const Dense<float>& X, Queue& q) : q_(q), rows_(X.rows()), cols_(X.cols()) {
    whole_ = Dense<float>((above + rows_ + below) / 4 * 4, cols_ + right);  // ld is a multiple, too
    for (std::int64_t e = 0; e < whole_.size(); ++e) whole_[e] = frame;
    for (std::int64_t j = 0; j < cols_; ++j)
      for (std::int64_t i = 0; i < rows_; ++i) whole_(above + i, j) = X(i, j);
    on_device_ = upload(whole_, q);
  }
  View<float> view() const { return on_device_({above, above + rows_}, {0, cols_}); }
  Dense<float> read() const {
    const Dense<float> now = download<float>(on_device_, q_);
    for (std::int64_t j = 0; j < now.cols(); ++j)
      for (std::int64_t i = 0; i < now.rows(); ++i)
        if (i < above || i >= above + rows_ || j >= cols_) {
          EXPECT_EQ(now(i, j), frame) << "around it, " << i << ", " << j;
        }
    return block_of(now, {above, above + rows_}, {0, cols_});
  }

 private:
  static constexpr std::int64_t above = 4, below = 7, right = 2;
  static constexpr float frame = 12345;
  Queue& q_;
  std::int64_t rows_, cols_;
  Dense<float> whole_;
  Matrix<float> on_device_;
};

class GemmThreeTf32 : public OnWarpGroups {
 protected:
  bool apply([[maybe_unused]] View<float> A, [[maybe_unused]] View<float> B, [[maybe_unused]] View<float> C,
             [[maybe_unused]] bool early = false) {
    if constexpr (cuda_built) return cuda::gemm_three_tf32(A, B, C, q(), early);
    return false;
  }
  /// C - A B
  Dense<float> product(const Dense<float>& A, const Dense<float>& B, const Dense<float>& C) {
    const Framed a(A, q()), b(B, q()), c(C, q());
    EXPECT_TRUE(apply(a.view(), b.view(), c.view()));
    return c.read();
  }
  Dense<float> plain(const Dense<float>& A, const Dense<float>& B, const Dense<float>& C) {
    const Framed a(A, q()), b(B, q()), c(C, q());
    gemm<float>(Op::NoTrans, Op::NoTrans, -1, a.view(), b.view(), 1, c.view(), q());
    return c.read();
  }
};
INSTANTIATE_TEST_SUITE_P(On, GemmThreeTf32, testing::Combine(testing::Values(places()[2]), testing::Values(Type::real)),
                         instance_name);

// Both widths of a tile, one piece of the depth to more than are copied ahead, all ends of rows in a tile.
TEST_P(GemmThreeTf32, AsAccurateAsAPlainProduct) {
  for (auto [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 4},
                         {7, 5, 4},
                         {129, 77, 64},
                         {128, 64, 32},
                         {1000, 65, 36},
                         {258, 130, 128},
                         {255, 64, 160},
                         {8600, 128, 68},
                         {8501, 130, 128},
                         {4403, 256, 256},
                         {700, 200, 512}}) {
    const Dense<float> A = random<float>(m, k, 1), B = random<float>(k, n, 2), C = random<float>(m, n, 3);
    EXPECT_LE(error(A, B, C, product(A, B, C)), 2 * error(A, B, C, plain(A, B, C)) + 3 * eps<float>)
        << shape_name(m, n) << " depth " << k;
  }
}

/// Small integers have no roundings; from run to run they are the same anyway.
TEST_P(GemmThreeTf32, IntegersAndTheSameBits) {
  const auto integers = [](std::int64_t rows, std::int64_t cols, std::int64_t seed) {
    return Dense<float>::from(rows, cols,
                              [=](auto i, auto j) { return float((i * 7 + j * j * 5 + i * j + seed) % 9 - 4); });
  };
  for (auto [m, n, k] : {std::array<std::int64_t, 3>{3001, 200, 136}, {9000, 128, 512}, {130, 9000, 8}}) {
    const Dense<float> A = integers(m, k, 1), B = integers(k, n, 2), C = integers(m, n, 3);
    expect_same(product(A, B, C), plain(A, B, C), shape_name(m, n));
    const Dense<float> X = random<float>(m, k, 4);
    expect_same(product(X, B, C), product(X, B, C), shape_name(m, n) + ", again");
  }
}

/// Where all sums have one sign, as the tensor cores' truncation has: only 128 products are summed by them.
TEST_P(GemmThreeTf32, SumsOfOneSign) {
  for (auto [m, n, k] : {std::array<std::int64_t, 3>{300, 140, 512}, {300, 64, 128}}) {
    const auto positive = [](std::int64_t rows, std::int64_t cols, std::int64_t seed) {
      Dense<float> X = random<float>(rows, cols, seed);
      for (std::int64_t e = 0; e < X.size(); ++e) X[e] = std::abs(X[e]);
      return X;
    };
    Dense<float> A = positive(m, k, 1);
    const Dense<float> B = positive(k, n, 2), C(m, n);
    for (std::int64_t e = 0; e < A.size(); ++e) A[e] = -A[e];
    EXPECT_LE(error(A, B, C, product(A, B, C)), 8 * eps<float>) << shape_name(m, n) << " depth " << k;
  }
}

/// A number in the last piece of the depth that cannot be split: the sums that C has had by then are taken back.
TEST_P(GemmThreeTf32, PlainBlocks) {
  const float inf = std::numeric_limits<float>::infinity();
  for (auto [m, n, k] : {std::array<std::int64_t, 3>{300, 140, 260}, {300, 64, 128}, {131, 200, 384}})
    for (const float bad : {inf, 0x1p126F, 0x1p-110F})
      for (const bool in_A : {true, false}) {
        Dense<float> A = random<float>(m, k, 1), B = random<float>(k, n, 2);
        const Dense<float> C = random<float>(m, n, 3);
        const auto put = [&](std::int64_t p, float x) { (in_A ? A(70, p) : B(p, 33)) = x; };
        for (std::int64_t p = 0; p < k; ++p)
          if (bad < 1) put(p, bad);
        put(k - 1, bad);
        const Dense<float> ours = product(A, B, C), strict = plain(A, B, C);
        Dense<float> a = A, b = B, c = C, ours_finite = ours;  // what is not finite left out
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < m; ++i) {
            ASSERT_EQ(std::isfinite(ours(i, j)), std::isfinite(strict(i, j))) << i << ", " << j;
            if (!std::isfinite(strict(i, j))) {
              ASSERT_EQ(ours(i, j), strict(i, j)) << i << ", " << j;
              ours_finite(i, j) = c(i, j) = 0;
            }
          }
        if (bad == inf)
          for (std::int64_t p = 0; p < k; ++p) (in_A ? a(70, p) : b(p, 33)) = 0;
        EXPECT_LE(error(a, b, c, ours_finite), 2 * error(a, b, c, plain(a, b, c)) + 3 * eps<float>)
            << shape_name(m, n) << " depth " << k << ", " << bad << (in_A ? " in A" : " in B");
      }
}

/// Columns, rows, and single numbers of all sizes, whose own errors stay small.
TEST_P(GemmThreeTf32, SmallAndLargeNumbers) {
  const std::int64_t m = 140, n = 70, k = 40;
  const Dense<float> C(m, n);
  for (const int exponent : {-149, -140, -126, -110, -103, -101, -90, 60, 100, 120})
    for (const int where : {0, 1, 2, 3, 4}) {
      Dense<float> A = random<float>(m, k, 4), B = random<float>(k, n, 5);
      const float scale = std::ldexp(1.0F, exponent);
      for (std::int64_t p = 0; p < k; ++p)
        if (where == 0)
          A(3, p) *= scale;
        else if (where == 1)
          B(p, 66) *= scale;
      if (where == 4) {  // their products
        for (std::int64_t e = 0; e < A.size(); ++e) A[e] = std::ldexp(A[e], exponent / 2);
        for (std::int64_t e = 0; e < B.size(); ++e) B[e] = std::ldexp(B[e], exponent - exponent / 2);
      }
      if (where == 2) A(131, 7) *= scale;
      if (where == 3) B(39, 2) *= scale;
      const Dense<float> ours = product(A, B, C), strict = plain(A, B, C);
      const auto compare = [&](Range rows, Range columns) {
        const auto of = [&](const Dense<float>& X) { return block_of(X, rows, columns); };
        const Dense<float> a = block_of(A, rows, {0, k}), b = block_of(B, {0, k}, columns);
        EXPECT_LE(error(a, b, of(C), of(ours)), 2 * error(a, b, of(C), of(strict)) + 2 * eps<float>)
            << "2^" << exponent << " at " << where;
      };
      compare({3, 4}, {0, n});
      compare({0, m}, {66, 67});
      compare({0, m}, {0, n});
    }
}

TEST_P(GemmThreeTf32, InfinitiesAndNaNAsInAPlainProduct) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::int64_t m = 150, n = 70, k = 40;
  for (const float bad : {inf, -inf, nan, std::numeric_limits<float>::max()})
    for (const int where : {0, 1, 2, 3}) {
      Dense<float> A = random<float>(m, k, 6), B = random<float>(k, n, 7), C = random<float>(m, n, 8);
      for (std::int64_t i = 0; i < k; ++i) A(3, i) = i % 3 == 0 ? 0.0F : A(3, i);
      (where == 0 || where == 3 ? A(5, 4) : where == 1 ? B(6, 67) : C(149, 2)) = bad;
      if (where == 3) B(4, 7) = B(9, 8) = A(146, 9) = -bad;  // they meet, or not, with each sign
      if (where == 1) A(2, 6) = 0;                           // 0 times an infinity is NaN
      const Dense<float> ours = product(A, B, C), strict = plain(A, B, C);
      for (std::int64_t e = 0; e < C.size(); ++e) {
        EXPECT_EQ(std::isnan(ours[e]), std::isnan(strict[e])) << bad << " at " << where << ", element " << e;
        if (std::isinf(strict[e])) {
          EXPECT_EQ(ours[e], strict[e]) << bad << " at " << where << ", element " << e;
        }
      }
    }
}

/// What is below C's last row, in the same 16 bytes, has no part in the result, not even in its bits.
TEST_P(GemmThreeTf32, WhatIsBelow) {
  const std::int64_t m = 130, n = 64, k = 64;
  const Dense<float> A = random<float>(m, k, 1), B = random<float>(k, n, 2), C = random<float>(m, n, 3),
                     expected = product(A, B, C);
  for (const float below : {0.0F, std::numeric_limits<float>::quiet_NaN(), 0x1p-140F}) {
    Dense<float> longer(m + 2, k);
    for (std::int64_t p = 0; p < k; ++p)
      for (std::int64_t i = 0; i < m + 2; ++i) longer(i, p) = i < m ? A(i, p) : below;
    const Framed a(longer, q()), b(B, q()), c(C, q());
    ASSERT_TRUE(apply(a.view()({0, m}, {0, k}), b.view(), c.view()));
    expect_same(c.read(), expected, std::to_string(below) + " below");
  }
}

TEST_P(GemmThreeTf32, NotEveryPlaceAndDepth) {
  const std::int64_t m = 200, n = 70, k = 64;
  const Dense<float> A = random<float>(m + 1, k, 1), B = random<float>(k + 1, n, 2), C = random<float>(m + 1, n, 3);
  const Framed a(A, q()), b(B, q()), c(C, q()), other(C, q());
  const Range rows{0, m}, below{1, m + 1}, cols{0, n}, depth{0, k};
  ASSERT_TRUE(apply(a.view()(rows, depth), b.view()(depth, cols), other.view()(rows, cols)));
  EXPECT_FALSE(apply(a.view()(below, depth), b.view()(depth, cols), c.view()(rows, cols)));
  EXPECT_FALSE(apply(a.view()(rows, depth), b.view()({1, k + 1}, cols), c.view()(rows, cols)));
  EXPECT_FALSE(apply(a.view()(rows, depth), b.view()(depth, cols), c.view()(below, cols)));
  EXPECT_FALSE(apply(a.view()(rows, {0, 62}), b.view()({0, 62}, cols), c.view()(rows, cols)));
  expect_same(c.read(), C, "C");
}

/// B and C are made by the kernel before, which lets it begin.
TEST_P(GemmThreeTf32, BesideTheKernelBefore) {
  const std::int64_t m = 9000, n = 128, k = 128;
  Dense<float> L = random<float>(m, k, 1);
  for (std::int64_t j = 0; j < k; ++j)
    for (std::int64_t i = 0; i < k; ++i) L(i, j) *= 0.01F;
  const Dense<float> X = random<float>(m, n, 2);
  const Framed l(L, q());
  const Matrix<float> large(4000, 4000, q()), square(4000, 4000, q());
  laset<float>(Uplo::General, 1, 1, large, q());
  Dense<float> expected;
  for (int i = 0; i < 12; ++i) {
    const Framed x(X, q());
    const View<float> below = l.view()({k, m}, {0, k}), top = x.view()({0, k}, {0, n}), C = x.view()({k, m}, {0, n});
    const bool early = i > 0;
    // meanwhile both kernels are put into the queue
    gemm<float>(Op::NoTrans, Op::NoTrans, 1, large, large, 0, square, q());
    if constexpr (cuda_built)
      cuda::exchange_solve<float>(l.view()({0, k}, {0, k}), false, x.view(), false, {nullptr, nullptr, 0}, k, nullptr,
                                  q());
    if (!early) q().wait();
    ASSERT_TRUE(apply(below, top, C, early));
    const Dense<float> result = x.read();
    if (!early) expected = result;
    expect_same(result, expected, "early");
  }
}

}  // namespace
}  // namespace devobj::test
