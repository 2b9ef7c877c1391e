// On a GPU only: gemm_residues against a wider precision and against BLAS's product: accuracy, numbers of different sizes,
// infinities and NaN.
#include <cmath>
#include <limits>

#include "factor_checks.hpp"
#include "kernels/native.hpp"
#include "spared_checks.hpp"

namespace devobj::test {
namespace {

class GemmResidues : public Everywhere {
 protected:
  void SetUp() override {
    Everywhere::SetUp();
    if constexpr (cuda_built)
      if (!IsSkipped() && !cuda::gemm_residues_usable(q().device()))
        GTEST_SKIP() << "skipped: this GPU has no such product";
  }
  /// C + alpha op(A) op(B), with the operands given as op(A) and op(B).
  Dense<double> product(const Dense<double>& A, const Dense<double>& B, const Dense<double>& C, bool plain,
                        Op opA = Op::NoTrans, Op opB = Op::NoTrans, int alpha = -1) {
    Padded<double> a(op_of(opA, A), q()), b(op_of(opB, B), q()), c(C, q());
    if (plain)
      gemm<double>(opA, opB, alpha, a, b, 1, c, q());
    else
      multiply(opA, opB, alpha, a.view(), b.view(), c.view());
    return c.read();
  }
  void multiply(Op opA, Op opB, int alpha, View<double> A, View<double> B, View<double> C) {
    if constexpr (cuda_built) {
      const Storage workspace(cuda::gemm_residues_workspace(C.rows, C.cols, opA == Op::NoTrans ? A.cols : A.rows), q());
      cuda::gemm_residues(opA, opB, alpha, A, B, C, const_cast<void*>(workspace.data()), q(), spared_);
    }
  }
  cuda::Spared spared_;
};
INSTANTIATE_TEST_SUITE_P(On, GemmResidues, testing::Combine(testing::Values(places()[2]), testing::Values(Type::real)),
                         instance_name);

/// Errors of C + alpha A B relative to |C| + |A| |B|: the largest, and the root of the mean of their squares.
struct Errors {
  double largest = 0, root_mean_square = 0;
};
Errors errors(const Dense<double>& A, const Dense<double>& B, const Dense<double>& C, const Dense<double>& result,
              int alpha = -1) {
  Errors all;
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) {
      long double sum = C(i, j), size = std::abs(C(i, j));
      for (std::int64_t k = 0; k < A.cols(); ++k) {
        const long double x = static_cast<long double>(A(i, k)) * B(k, j);
        sum += alpha * x;
        size += std::abs(x);
      }
      const double error = static_cast<double>(size == 0 ? std::abs(static_cast<long double>(result(i, j)))
                                                         : std::abs(result(i, j) - sum) / size);
      all.largest = larger(all.largest, error);
      all.root_mean_square += error * error / static_cast<double>(C.size());
    }
  all.root_mean_square = std::sqrt(all.root_mean_square);
  return all;
}

TEST_P(GemmResidues, AsAccurateAsAPlainProduct) {
  for (auto [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                         {7, 5, 3},
                         {64, 64, 64},
                         {129, 77, 65},
                         {200, 300, 256},
                         {161, 257, 33},
                         {481, 520, 300},
                         {260, 140, 1024},
                         {130, 260, 1280},
                         {100, 100, 3000}}) {
    SCOPED_TRACE(shape_name(m, n) + " depth " + std::to_string(k));
    const Dense<double> A = random<double>(m, k, 1), B = random<double>(k, n, 2), C = random<double>(m, n, 3);
    const Errors plain = errors(A, B, C, product(A, B, C, true)), ours = errors(A, B, C, product(A, B, C, false));
    EXPECT_LE(ours.largest, 2 * plain.largest + eps<double>);
    EXPECT_LE(ours.root_mean_square, plain.root_mean_square + eps<double> / 8);
  }
}

TEST_P(GemmResidues, TransposedOperandsAndBothSigns) {
  for (auto [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1}, {7, 5, 3}, {129, 77, 65}, {300, 130, 512}})
    for (const Op opA : {Op::NoTrans, Op::Trans})
      for (const Op opB : {Op::NoTrans, Op::Trans})
        for (const int alpha : {1, -1}) {
          const Dense<double> A = random<double>(m, k, 1), B = random<double>(k, n, 2), C = random<double>(m, n, 3);
          EXPECT_LE(errors(A, B, C, product(A, B, C, false, opA, opB, alpha), alpha).largest, 2 * eps<double>)
              << letters(opA, opB, Side::Right) << " " << alpha << ", " << shape_name(m, n) << " depth " << k;
        }
}

/// C's columns begin at any place, and have any number of rows: what lies beside them stays.
TEST_P(GemmResidues, EveryAlignmentOfTheResult) {
  const std::int64_t n = 300, k = 140, all = 400;
  const Dense<double> before = random<double>(all, n, 3);
  for (auto [first, m] :
       {std::pair<std::int64_t, std::int64_t>{0, 384}, {2, 398}, {1, 384}, {4, 383}, {0, 255}, {0, 129}, {3, 1}}) {
    SCOPED_TRACE(std::to_string(first) + " " + shape_name(m, n));
    const Dense<double> A = random<double>(m, k, 1), B = random<double>(k, n, 2),
                        C = block_of(before, {first, first + m}, {0, n});
    const Padded<double> a(A, q()), b(B, q());
    const Matrix<double> device = upload(before, q());
    ASSERT_EQ(device.ld % 2, 0);
    multiply(Op::NoTrans, Op::NoTrans, -1, a.view(), b.view(), device({first, first + m}, {0, n}));
    const Dense<double> after = download<double>(device, q());
    EXPECT_LE(errors(A, B, C, block_of(after, {first, first + m}, {0, n})).largest, 2 * eps<double>);
    expect_same(block_of(after, {0, first}, {0, n}), block_of(before, {0, first}, {0, n}), "above");
    expect_same(block_of(after, {first + m, all}, {0, n}), block_of(before, {first + m, all}, {0, n}), "below");
  }
}

/// Many tiles, which come and go by the copy engine; a few columns are computed anew.
TEST_P(GemmResidues, ManyTiles) {
  for (auto [m, n, k] : {std::array<std::int64_t, 3>{4100, 3000, 1024}, {2050, 8200, 300}, {8192, 1024, 100}}) {
    SCOPED_TRACE(shape_name(m, n) + " depth " + std::to_string(k));
    const Dense<double> A = random<double>(m, k, 1), B = random<double>(k, n, 2), C = random<double>(m, n, 3);
    const Matrix<double> a = upload(A, q()), b = upload(B, q()), c = upload(C, q());
    multiply(Op::NoTrans, Op::NoTrans, -1, a, b, c);
    const Dense<double> result = download<double>(c, q());
    constexpr std::int64_t some = 3;
    for (const std::int64_t first : {std::int64_t(0), n / 2, n - some}) {
      const auto columns = [&](const Dense<double>& X) { return block_of(X, {0, X.rows()}, {first, first + some}); };
      EXPECT_LE(errors(A, columns(B), columns(C), columns(result)).largest, eps<double>) << "columns from " << first;
    }
  }
}

/// Columns of B, or rows of A, of all sizes: each is as accurate for itself. Those near the ends of the range are not rounded to
/// integers, nor are those beside them.
TEST_P(GemmResidues, SmallAndLargeVectors) {
  const std::int64_t m = 65, n = 9, k = 40;
  using Exponents = std::array<int, n>;
  for (const Exponents& exponents : {Exponents{0, -390, -410, -800, -1000, -1060, 390, 410, 1000},
                                     Exponents{0, -390, 390, 10, -10, 399, -399, 7, 300}})
    for (const bool of_rows : {false, true}) {
      Dense<double> A = random<double>(of_rows ? n : m, k, 4), B = random<double>(k, of_rows ? m : n, 5);
      for (std::int64_t v = 0; v < n; ++v)
        for (std::int64_t p = 0; p < k; ++p) {
          double& x = of_rows ? A(v, p) : B(p, v);
          x = std::ldexp(x, exponents[v]);
        }
      const Dense<double> C(A.rows(), B.cols()), ours = product(A, B, C, false), plain = product(A, B, C, true);
      for (std::int64_t v = 0; v < n; ++v) {
        const auto own = [&](const Dense<double>& X, bool all) {
          if (all) return X;
          return of_rows ? block_of(X, {v, v + 1}, {0, X.cols()}) : block_of(X, {0, X.rows()}, {v, v + 1});
        };
        const Dense<double> a = own(A, !of_rows), b = own(B, of_rows), c = own(C, false);
        EXPECT_LE(errors(a, b, c, own(ours, false)).largest,
                  2 * errors(a, b, c, own(plain, false)).largest + 2 * eps<double>)
            << (of_rows ? "row 2^" : "column 2^") << exponents[v];
      }
    }
}

/// A's numbers fall along the depth and B's rise, or in places of their own: the rows' and columns' norms say nothing about the
/// products, which count all the same.
TEST_P(GemmResidues, NormsThatSayNothing) {
  const std::int64_t m = 150, n = 140, k = 96;
  for (const bool graded : {true, false}) {
    Dense<double> A = random<double>(m, k, 4), B = random<double>(k, n, 5);
    const Dense<double> C(m, n);
    for (std::int64_t p = 0; p < k; ++p) {
      const int e = static_cast<int>(graded ? p : 40 * (p % 2));
      for (std::int64_t i = 0; i < m; ++i) A(i, p) = std::ldexp(A(i, p), -e);
      for (std::int64_t j = 0; j < n; ++j) B(p, j) = std::ldexp(B(p, j), graded ? e : e - 40);
    }
    EXPECT_LE(errors(A, B, C, product(A, B, C, false)).largest,
              2 * errors(A, B, C, product(A, B, C, true)).largest + 2 * eps<double>)
        << (graded ? "graded" : "by turns");
  }
}

/// Parts of tiles that are not by integers beside others that are, with C by way of shared memory, and tiles that follow.
TEST_P(GemmResidues, PartsThatAreNotByIntegers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::int64_t m = 3000, n = 2800, k = 200;
  Dense<double> A = random<double>(m, k, 1), B = random<double>(k, n, 2);
  const Dense<double> C = random<double>(m, n, 3);
  A(700, 3) = nan;
  for (std::int64_t p = 0; p < k; ++p) {
    B(p, 40) = std::ldexp(B(p, 40), 500);
    for (std::int64_t i = 1024; i < 1040; ++i) A(i, p) = std::ldexp(A(i, p), static_cast<int>(-p));
    for (std::int64_t j = 512; j < 528; ++j) B(p, j) = std::ldexp(B(p, j), static_cast<int>(p - k));
  }
  const Matrix<double> a = upload(A, q()), b = upload(B, q()), c = upload(C, q()), d = upload(C, q());
  multiply(Op::NoTrans, Op::NoTrans, -1, a, b, c);
  gemm<double>(Op::NoTrans, Op::NoTrans, -1, a, b, 1, d, q());
  const Dense<double> ours = download<double>(c, q()), plain = download<double>(d, q());
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      if (i == 700) {
        ASSERT_TRUE(std::isnan(ours(i, j))) << j;
        continue;
      }
      const double size = larger(std::abs(plain(i, j)), j == 40 ? 0x1p505 : 100.0);
      ASSERT_LE(std::abs(ours(i, j) - plain(i, j)), 10 * eps<double> * size) << i << ", " << j;
    }
  // where rows are small and columns are, by themselves
  const auto some = [](const Dense<double>& X, Range rows, Range cols) { return block_of(X, rows, cols); };
  const Range rows{1024, 1040}, cols{512, 528};
  EXPECT_LE(errors(some(A, rows, {0, k}), some(B, {0, k}, cols), some(C, rows, cols), some(ours, rows, cols)).largest,
            2 * eps<double>);
}

TEST_P(GemmResidues, ZerosStayZero) {
  Dense<double> A = random<double>(140, 70, 1), B = random<double>(70, 150, 2);
  const Dense<double> C(140, 150);
  for (std::int64_t p = 0; p < 70; ++p) A(5, p) = B(p, 7) = 0;
  const Dense<double> of_integers = product(A, B, C, false);
  for (std::int64_t j = 0; j < 150; ++j) EXPECT_EQ(of_integers(5, j), 0) << j;
  for (std::int64_t i = 0; i < 140; ++i) EXPECT_EQ(of_integers(i, 7), 0) << i;
  EXPECT_LE(errors(A, B, C, of_integers).largest, 2 * eps<double>);
  // parts of tiles in which sizes add up to nothing are not by integers
  for (std::int64_t p = 0; p < 70; ++p) {
    for (std::int64_t i = 0; i < 140; i += 3) A(i, p) = p < 35 ? A(i, p) : 0;
    for (std::int64_t j = 0; j < 150; j += 2) B(p, j) = p < 35 ? 0 : B(p, j);
  }
  const Dense<double> result = product(A, B, C, false);
  for (std::int64_t j = 0; j < 150; ++j)
    for (std::int64_t i = 0; i < 140; ++i)
      if ((i % 3 == 0 && j % 2 == 0) || i == 5 || j == 7) {
        EXPECT_EQ(result(i, j), 0) << i << ", " << j;
      }
  EXPECT_LE(errors(A, B, C, result).largest, 2 * eps<double>);
}

TEST_P(GemmResidues, InfinitiesAndNaNAsInAPlainProduct) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::int64_t m = 140, n = 130, k = 20;
  for (const double bad : {inf, -inf, nan, std::numeric_limits<double>::max()})
    for (const int where : {0, 1, 2, 3}) {
      Dense<double> A = random<double>(m, k, 6), B = random<double>(k, n, 7), C = random<double>(m, n, 8);
      for (std::int64_t i = 0; i < k; ++i) A(3, i) = i % 3 == 0 ? 0.0 : A(3, i);
      (where == 0 || where == 3 ? A(5, 4) : where == 1 ? B(6, 7) : C(9, 2)) = bad;
      if (where == 3) B(4, 7) = B(9, 8) = A(6, 9) = -bad;  // they meet, or not, with each sign
      if (where == 1) A(2, 6) = 0;                         // 0 times an infinity is NaN
      for (const Op op : {Op::NoTrans, Op::Trans}) {
        const Dense<double> ours = product(A, B, C, false, op, op), plain = product(A, B, C, true, op, op);
        for (std::int64_t e = 0; e < C.size(); ++e) {
          EXPECT_EQ(std::isnan(ours[e]), std::isnan(plain[e])) << bad << " at " << where << ", element " << e;
          if (std::isinf(plain[e]) || std::isinf(ours[e])) {
            EXPECT_EQ(ours[e], plain[e]) << bad << " at " << where << ", element " << e;
          } else if (!std::isnan(plain[e])) {
            EXPECT_LE(std::abs(ours[e] - plain[e]), 100 * eps<double> * larger(std::abs(plain[e]), 10.0))
                << "element " << e;
          }
        }
      }
    }
}

/// The same bits on fewer multiprocessors, and beside those whose numbers are given, of which there are more than are spared, or
/// none.
TEST_P(GemmResidues, OnFewerMultiprocessors) {
  for (auto [m, n, k] : {std::array<std::int64_t, 3>{4100, 3000, 24}, {2500, 4200, 300}}) {
    SCOPED_TRACE(shape_name(m, n) + " depth " + std::to_string(k));
    const Dense<double> A = random<double>(m, k, 1), B = random<double>(k, n, 2), C = random<double>(m, n, 3);
    const Matrix<double> a = upload(A, q()), b = upload(B, q());
    const auto result = [&] {
      const Matrix<double> c = upload(C, q());
      multiply(Op::NoTrans, Op::NoTrans, -1, a, b, c);
      return download<double>(c, q());
    };
    const Dense<double> expected = result();
    const auto expect_same_with = [&](cuda::Spared spared, const std::string& what) {
      spared_ = spared;
      expect_same(result(), expected, what);
      spared_ = {};
    };
    for (const int spared : {1, 2, 16, 1000}) expect_same_with({spared}, "on fewer multiprocessors");
    beside_given_multiprocessors(q(), true, expect_same_with);
  }
}

}  // namespace
}  // namespace devobj::test
