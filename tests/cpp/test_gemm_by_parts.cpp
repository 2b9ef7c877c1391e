// On a GPU only: gemm_fp16_parts and gemm_six_bf16 against double precision and against BLAS's product: accuracy, infinities
// and NaN, numbers near the ends of the range.
#include <cmath>
#include <limits>

#include "factor_checks.hpp"
#include "kernels/native.hpp"
#include "product_error.hpp"
#include "spared_checks.hpp"

namespace devobj::test {
namespace {

class GemmByParts : public Everywhere {
 protected:
  /// C + alpha op(A) op(B), with the operands given as op(A) and op(B).
  Dense<float> product(const Dense<float>& A, const Dense<float>& B, const Dense<float>& C, bool strict,
                       Side guarded = Side::Right, Op opA = Op::NoTrans, Op opB = Op::NoTrans, float alpha = -1) {
    Padded<float> a(op_of(opA, A), q()), b(op_of(opB, B), q()), c(C, q());
    if (strict)
      gemm<float>(opA, opB, alpha, a, b, 1, c, q());
    else
      multiply(opA, opB, alpha, a.view(), b.view(), c.view(), guarded);
    return c.read();
  }
  void multiply(Op opA, Op opB, float alpha, View<float> A, View<float> B, View<float> C, Side guarded) {
    if constexpr (cuda_built) {
      const std::int64_t depth = opA == Op::NoTrans ? A.cols : A.rows;
      if (way_ != Way::six_bf16) {
        const Storage workspace(cuda::gemm_fp16_parts_workspace(C.rows, C.cols, depth), q());
        cuda::gemm_fp16_parts(opA, opB, alpha, A, B, C, const_cast<void*>(workspace.data()), q(), spared_, {},
                              way_ == Way::fp16_parts, first_);
      } else {
        const Storage workspace(cuda::gemm_six_bf16_workspace(C.rows, C.cols, depth), q());
        cuda::gemm_six_bf16(opA, opB, alpha, A, B, C, guarded, const_cast<void*>(workspace.data()), q());
      }
    }
  }
  /// The test, with each way in turn that this GPU has.
  template <class F>
  void each_way(F&& test) {
    for (const Way way : {Way::six_bf16, Way::fp16_parts, Way::without_low_low}) {
      if (way != Way::six_bf16 && !fp16_parts_usable()) continue;
      way_ = way;
      SCOPED_TRACE(way == Way::six_bf16     ? "six bfloat16 products"
                   : way == Way::fp16_parts ? "products of float16 parts"
                                            : "products of float16 parts without low parts by each other");
      test();
    }
  }

  static bool fp16_parts_usable() {
    if constexpr (cuda_built) return cuda::gemm_fp16_parts_usable();
    return false;
  }
  /// The product by gemm_fp16_parts.
  Dense<float> of_fp16_parts(const Dense<float>& A, const Dense<float>& B, const Dense<float>& C, bool low_low) {
    way_ = low_low ? Way::fp16_parts : Way::without_low_low;
    return product(A, B, C, false);
  }

  /// Whether the present way leaves multiprocessors to others: spared_.
  bool spares() const { return way_ != Way::six_bf16; }
  cuda::Spared spared_;
  cuda::FirstPart first_;

 private:
  enum class Way { six_bf16, fp16_parts, without_low_low };
  Way way_ = Way::six_bf16;
};
INSTANTIATE_TEST_SUITE_P(On, GemmByParts, testing::Combine(testing::Values(places()[2]), testing::Values(Type::real)),
                         instance_name);

TEST_P(GemmByParts, AsAccurateAsAPlainProduct) {
  each_way([&] {
    for (auto [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                           {7, 5, 3},
                           {64, 64, 64},
                           {129, 77, 65},
                           {200, 300, 256},
                           {161, 257, 33},
                           {481, 520, 300},
                           {300, 130, 512}}) {
      const Dense<float> A = random<float>(m, k, 1), B = random<float>(k, n, 2), C = random<float>(m, n, 3);
      const double strict = error(A, B, C, product(A, B, C, true)), ours = error(A, B, C, product(A, B, C, false));
      EXPECT_LE(ours, 2 * strict + 2 * eps<float>) << shape_name(m, n) << " depth " << k;
    }
  });
}

/// Low parts are multiplied by each other up to a depth of 128 in any case, and beyond where that is asked for. Where one operand has
/// none, it makes no difference.
TEST_P(GemmByParts, LowPartsByEachOther) {
  if (!fp16_parts_usable()) GTEST_SKIP() << "skipped: this GPU has no such products";
  for (const std::int64_t k : {64, 128, 129, 256, 257, 512}) {
    const std::int64_t m = 192, n = 160;
    const Dense<float> A = random<float>(m, k, 1), B = random<float>(k, n, 2), C = random<float>(m, n, 3);
    EXPECT_EQ(same_bits(of_fp16_parts(A, B, C, true), of_fp16_parts(A, B, C, false)), k <= 128) << k;
    const auto short_A = Dense<float>::from(m, k, [&](auto i, auto j) { return std::round(A(i, j) * 512) / 512; });
    expect_same(of_fp16_parts(short_A, B, C, true), of_fp16_parts(short_A, B, C, false), std::to_string(k));
  }
}

TEST_P(GemmByParts, TransposedOperandsAndBothSigns) {
  each_way([&] {
    for (auto [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1}, {7, 5, 3}, {129, 77, 65}, {300, 130, 512}})
      for (const Op opA : {Op::NoTrans, Op::Trans})
        for (const Op opB : {Op::NoTrans, Op::Trans})
          for (const float alpha : {1.0f, -1.0f})
            for (const Side guarded : {Side::Left, Side::Right}) {
              Dense<float> A = random<float>(m, k, 1), B = random<float>(k, n, 2);
              // every third guarded vector is left to the plain product
              for (std::int64_t p = 0; p < k; ++p)
                for (std::int64_t i = 1; i < (guarded == Side::Left ? m : n); i += 3)
                  (guarded == Side::Left ? A(i, p) : B(p, i)) *= 0x1p-110f;
              const Dense<float> C(m, n);
              const double strict = error(A, B, C, product(A, B, C, true, guarded, opA, opB, alpha), alpha),
                           ours = error(A, B, C, product(A, B, C, false, guarded, opA, opB, alpha), alpha);
              EXPECT_LE(ours, 2 * strict + 2 * eps<float>)
                  << letters(opA, opB, guarded) << " " << alpha << ", " << shape_name(m, n) << " depth " << k;
            }
  });
}

/// C's columns begin at any place, and are so many that their product does not fit aside at once.
TEST_P(GemmByParts, EveryAlignmentOfTheResult) {
  each_way([&] {
    const std::int64_t n = 1030, k = 40, all = 80;
    const Dense<float> before = random<float>(all, n, 3);
    for (auto [first, m] : {std::pair<std::int64_t, std::int64_t>{0, 64}, {4, 60}, {1, 64}, {2, 62}, {0, 63}, {3, 1}})
      for (const Op opA : {Op::NoTrans, Op::Trans})
        for (const Op opB : {Op::NoTrans, Op::Trans}) {
          const Dense<float> A = random<float>(m, k, 1), B = random<float>(k, n, 2),
                             C = block_of(before, {first, first + m}, {0, n});
          const Padded<float> a(op_of(opA, A), q()), b(op_of(opB, B), q());
          const Matrix<float> device = upload(before, q());
          ASSERT_EQ(device.ld % 4, 0);
          multiply(opA, opB, -1, a.view(), b.view(), device({first, first + m}, {0, n}), Side::Right);
          const Dense<float> after = download<float>(device, q());
          const std::string what =
              std::to_string(first) + " " + shape_name(m, n) + " " + letters(opA, opB, Side::Right);
          EXPECT_LE(error(A, B, C, block_of(after, {first, first + m}, {0, n})), 4 * eps<float>) << what;
          expect_same(block_of(after, {0, first}, {0, n}), block_of(before, {0, first}, {0, n}), what);
          expect_same(block_of(after, {first + m, all}, {0, n}), block_of(before, {first + m, all}, {0, n}), what);
        }
  });
}

/// Columns whose numbers are small, down to the smallest: their own errors stay small.
TEST_P(GemmByParts, SmallColumns) {
  each_way([&] {
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
  });
}

TEST_P(GemmByParts, InfinitiesAndNaNAsInAPlainProduct) {
  each_way([&] {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const std::int64_t m = 40, n = 30, k = 20;
    for (const float bad : {inf, -inf, nan, std::numeric_limits<float>::max()})
      for (const int where : {0, 1, 2, 3}) {
        Dense<float> A = random<float>(m, k, 6), B = random<float>(k, n, 7), C = random<float>(m, n, 8);
        for (std::int64_t i = 0; i < k; ++i) A(3, i) = i % 3 == 0 ? 0.0f : A(3, i);
        (where == 0 || where == 3 ? A(5, 4) : where == 1 ? B(6, 7) : C(9, 2)) = bad;
        if (where == 3) B(4, 7) = B(9, 8) = A(6, 9) = -bad;  // they meet, or not, with each sign
        if (where == 1) A(2, 6) = 0;                         // 0 times an infinity is NaN
        for (const Op op : {Op::NoTrans, Op::Trans}) {
          const Dense<float> ours = product(A, B, C, false, Side::Right, op, op),
                             strict = product(A, B, C, true, Side::Right, op, op);
          for (std::int64_t e = 0; e < C.size(); ++e) {
            EXPECT_EQ(std::isnan(ours[e]), std::isnan(strict[e])) << bad << " at " << where << ", element " << e;
            if (std::isinf(strict[e])) {
              EXPECT_EQ(ours[e], strict[e]) << bad << " at " << where << ", element " << e;
            }
          }
        }
      }
  });
}

/// A's numbers fall along the depth, B's rise: every product counts.
TEST_P(GemmByParts, GradedDepth) {
  each_way([&] {
    const std::int64_t m = 70, n = 65, k = 48;
    Dense<float> A = random<float>(m, k, 4), B = random<float>(k, n, 5);
    const Dense<float> C(m, n);
    for (std::int64_t p = 0; p < k; ++p) {
      for (std::int64_t i = 0; i < m; ++i) A(i, p) = std::ldexp(A(i, p), int(-p / 2));
      for (std::int64_t j = 0; j < n; ++j) B(p, j) = std::ldexp(B(p, j), int(p / 2));
    }
    EXPECT_LE(error(A, B, C, product(A, B, C, false)), 2 * error(A, B, C, product(A, B, C, true)) + 2 * eps<float>);
  });
}

/// Small integers have no roundings: every element of a product of many tiles is the same.
TEST_P(GemmByParts, ALargeProductOfIntegers) {
  each_way([&] {
    const std::int64_t m = 6001, n = 6200, k = 70;
    auto integers = [](std::int64_t rows, std::int64_t cols, std::int64_t seed) {
      return Dense<float>::from(rows, cols,
                                [=](auto i, auto j) { return float((i * 7 + j * j * 5 + i * j + seed) % 9 - 4); });
    };
    const Dense<float> A = integers(m, k, 1), B = integers(k, n, 2), C = integers(m, n, 3);
    expect_same(product(A, B, C, false), product(A, B, C, true), "");
  });
}

/// The same bits on fewer multiprocessors, and beside those whose numbers are given, of which there are more than are spared, or
/// none. (gemm_fp16_parts)
TEST_P(GemmByParts, OnFewerMultiprocessors) {
  each_way([&] {
    if (!spares()) return;
    for (auto [m, n, k] : {std::array<std::int64_t, 3>{4100, 3000, 24}, {2500, 4200, 300}}) {
      SCOPED_TRACE(shape_name(m, n) + " depth " + std::to_string(k));
      const Dense<float> A = random<float>(m, k, 1), B = random<float>(k, n, 2), C = random<float>(m, n, 3);
      const Dense<float> expected = product(A, B, C, false);
      const auto expect_same_with = [&](cuda::Spared spared, const std::string& what) {
        spared_ = spared;
        expect_same(product(A, B, C, false), expected, what);
        spared_ = {};
      };
      for (const int spared : {1, 2, 16, 1000}) expect_same_with({spared}, "on fewer multiprocessors");
      beside_given_multiprocessors(q(), true, expect_same_with);
    }
  });
}

/// C's first rows or columns, up to whole tiles, are there when then() is called, the others as they were; the bits are those of one
/// product, infinities among them. (gemm_fp16_parts)
TEST_P(GemmByParts, AFirstPart) {
  each_way([&] {
    if (!spares()) return;
    const std::int64_t m = 1101, n = 900, k = 300;
    Dense<float> A = random<float>(m, k, 1);
    const Dense<float> B = random<float>(k, n, 2), C = random<float>(m, n, 3);
    A(7, 5) = A(1000, 9) = std::numeric_limits<float>::infinity();
    const Dense<float> all = product(A, B, C, false);
    for (const Side side : {Side::Left, Side::Right})
      for (const std::int64_t first : {1, 200, 768, 899})
        for (const int spared : {0, 16}) {
          SCOPED_TRACE(std::to_string(first) + (side == Side::Left ? " rows, " : " columns, ") +
                       std::to_string(spared));
          const Matrix<float> then = upload(C, q());
          View<float> result;
          bool called = false;
          first_ = {side, first, [&] {
                      called = true;
                      copy<float>(result, then, q());
                    }};
          spared_ = {spared};
          const Padded<float> a(A, q()), b(B, q()), c(C, q());
          result = c.view();
          multiply(Op::NoTrans, Op::NoTrans, -1, a.view(), b.view(), result, Side::Right);
          first_ = {};
          spared_ = {};
          ASSERT_TRUE(called);
          expect_same(c.read(), all, "all of it");
          const Dense<float> meanwhile = download<float>(then, q());
          const auto same = [](float x, float y) { return x == y || (x != x && y != y); };
          // tiles of 160 rows, of two blocks' 256 columns
          const std::int64_t tile = side == Side::Left ? 160 : 256, there = (first + tile - 1) / tile * tile;
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < m; ++i)
              ASSERT_TRUE(same(meanwhile(i, j), (side == Side::Left ? i : j) < there ? all(i, j) : C(i, j)))
                  << i << ", " << j;
        }
    const Padded<float> a(A, q()), b(B, q()), c(C, q());
    first_ = {Side::Left, 0, [] {}};
    EXPECT_THROW(multiply(Op::NoTrans, Op::NoTrans, -1, a.view(), b.view(), c.view(), Side::Right), Error);
    first_ = {};
    expect_same(c.read(), C, "refused");
  });
}

/// The same with small rows of A.
TEST_P(GemmByParts, SmallRows) {
  each_way([&] {
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
  });
}

}  // namespace
}  // namespace devobj::test
