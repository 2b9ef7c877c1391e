// On a GPU only: gemm_residues, real and complex, against a wider precision and against BLAS's product: accuracy, numbers of different sizes,
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
  template <class T>
  Dense<T> product(const Dense<T>& A, const Dense<T>& B, const Dense<T>& C, bool plain, Op opA = Op::NoTrans,
                   Op opB = Op::NoTrans, int alpha = -1) {
    Padded<T> a(op_of(opA, A), q()), b(op_of(opB, B), q()), c(C, q());
    if (plain)
      gemm<T>(opA, opB, T(alpha), a, b, T(1), c, q());
    else
      multiply<T>(opA, opB, alpha, a.view(), b.view(), c.view());
    return c.read();
  }
  template <class T>
  void multiply(Op opA, Op opB, int alpha, View<T> A, View<T> B, View<T> C) {
    if constexpr (cuda_built) {
      const Storage workspace(cuda::gemm_residues_workspace<T>(C.rows, C.cols, opA == Op::NoTrans ? A.cols : A.rows),
                              q());
      cuda::gemm_residues<T>(opA, opB, alpha, A, B, C, const_cast<void*>(workspace.data()), q(), spared_);
    }
  }
  cuda::Spared spared_;
};
INSTANTIATE_TEST_SUITE_P(On, GemmResidues,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::double_precision, Type::double_complex)),
                         instance_name);

/// Errors of C + alpha A B relative to |C| + |A| |B|: the largest, and the root of the mean of their squares.
struct Errors {
  double largest = 0, root_mean_square = 0;
};
template <class T>
Errors errors(const Dense<T>& A, const Dense<T>& B, const Dense<T>& C, const Dense<T>& result, int alpha = -1) {
  Errors all;
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) {
      wide_t<T> sum = wide(C(i, j));
      long double size = std::abs(sum);
      for (std::int64_t k = 0; k < A.cols(); ++k) {
        const wide_t<T> a = wide(A(i, k)), b = wide(B(k, j));
        if constexpr (is_complex<T>)  // the operator looks for infinities
          sum += wide_t<T>(alpha * (a.real() * b.real() - a.imag() * b.imag()),
                           alpha * (a.real() * b.imag() + a.imag() * b.real()));
        else
          sum += alpha * a * b;
        size += static_cast<long double>(magnitude(A(i, k))) * magnitude(B(k, j));
      }
      const long double difference = std::abs(wide(result(i, j)) - sum);
      const double error = static_cast<double>(size == 0 ? difference : difference / size);
      all.largest = larger(all.largest, error);
      all.root_mean_square += error * error / static_cast<double>(C.size());
    }
  all.root_mean_square = std::sqrt(all.root_mean_square);
  return all;
}
/// C - A B. (BLAS's product of complex matrices multiplies an infinite part of the sum with the 0 of alpha = -1.)
template <class T>
Dense<T> plain_on_host(const Dense<T>& A, const Dense<T>& B, const Dense<T>& C) {
  Dense<T> result = C;
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i)
      for (std::int64_t k = 0; k < A.cols(); ++k) {
        const T a = A(i, k), b = B(k, j);
        if constexpr (is_complex<T>)
          result(i, j) -= T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
        else
          result(i, j) -= a * b;
      }
  return result;
}
/// 2^e x
double times_power(double x, int e) {
  return std::ldexp(x, e);
}
std::complex<double> times_power(std::complex<double> x, int e) {
  return {std::ldexp(x.real(), e), std::ldexp(x.imag(), e)};
}

TEST_P(GemmResidues, AsAccurateAsAPlainProduct) {
  with_double([&]<class T>(T) {
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
      const Dense<T> A = random<T>(m, k, 1), B = random<T>(k, n, 2), C = random<T>(m, n, 3);
      const Errors plain = errors(A, B, C, product(A, B, C, true)), ours = errors(A, B, C, product(A, B, C, false));
      EXPECT_LE(ours.largest, 2 * plain.largest + eps<double>);
      EXPECT_LE(ours.root_mean_square, plain.root_mean_square + eps<double> / 8);
      if (k >= 1024) {
        EXPECT_LE(ours.root_mean_square, 0.7 * plain.root_mean_square) << "all of it was plain";
      }
    }
  });
}

/// Vectors of more pieces than a block that reduces them has warps: what their last elements are counts as much as what the first are.
TEST_P(GemmResidues, DeepVectors) {
  with_double([&]<class T>(T) {
    for (const std::int64_t k : {1281, 1990, 2500}) {
      SCOPED_TRACE("depth " + std::to_string(k));
      Dense<T> A = random<T>(50, k, 1), B = random<T>(k, 70, 2);
      const Dense<T> C = random<T>(50, 70, 3);
      for (const std::int64_t p : {std::int64_t(1), k / 2, k - 4, k - 1}) A(3, p) = times_power(A(3, p), 40);
      A(4, k - 1) = times_power(A(4, k - 1), 450);
      for (std::int64_t p = 0; p < k; ++p) {
        B(p, 7) = 0;
        if (p < k - 100) A(6, p) = 0;
      }
      B(k - 1, 9) = times_power(B(k - 1, 9), 20);
      // behind a large number a plain sum is rounded as often as there are numbers
      const double bound = std::sqrt(double(k)) * eps<double>;
      const Dense<T> ours = product(A, B, C, false);
      EXPECT_LE(errors(A, B, C, ours).largest, bound);
      for (std::int64_t i = 0; i < 50; ++i) EXPECT_EQ(ours(i, 7), C(i, 7)) << i;
      A(5, k - 1) = std::numeric_limits<double>::quiet_NaN();
      Dense<T> others = product(A, B, C, false);
      for (std::int64_t j = 0; j < 70; ++j) {
        EXPECT_TRUE(is_nan(others(5, j))) << j;
        others(5, j) = C(5, j);
      }
      for (std::int64_t p = 0; p < k; ++p) A(5, p) = 0;
      EXPECT_LE(errors(A, B, C, others).largest, bound);
    }
  });
}

TEST_P(GemmResidues, TransposedOperandsAndBothSigns) {
  with_double([&]<class T>(T) {
    for (auto [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1}, {7, 5, 3}, {129, 77, 65}, {200, 130, 150}})
      for (const Op opA : {Op::NoTrans, Op::Trans, Op::ConjTrans})
        for (const Op opB : {Op::NoTrans, Op::Trans, Op::ConjTrans})
          for (const int alpha : {1, -1}) {
            const Dense<T> A = random<T>(m, k, 1), B = random<T>(k, n, 2), C = random<T>(m, n, 3);
            EXPECT_LE(errors(A, B, C, product(A, B, C, false, opA, opB, alpha), alpha).largest, 2 * eps<double>)
                << letters(opA, opB, Side::Right) << " " << alpha << ", " << shape_name(m, n) << " depth " << k;
          }
  });
}

/// C's columns begin at any place, and have any number of rows: what lies beside them stays.
TEST_P(GemmResidues, EveryAlignmentOfTheResult) {
  with_double([&]<class T>(T) {
    const std::int64_t n = 300, k = 140, all = 400;
    const Dense<T> before = random<T>(all, n, 3);
    for (auto [first, m] :
         {std::pair<std::int64_t, std::int64_t>{0, 384}, {2, 398}, {1, 384}, {4, 383}, {0, 255}, {0, 129}, {3, 1}}) {
      SCOPED_TRACE(std::to_string(first) + " " + shape_name(m, n));
      const Dense<T> A = random<T>(m, k, 1), B = random<T>(k, n, 2), C = block_of(before, {first, first + m}, {0, n});
      const Padded<T> a(A, q()), b(B, q());
      const Matrix<T> device = upload(before, q());
      ASSERT_EQ(device.ld % 2, 0);
      multiply<T>(Op::NoTrans, Op::NoTrans, -1, a.view(), b.view(), device({first, first + m}, {0, n}));
      const Dense<T> after = download<T>(device, q());
      EXPECT_LE(errors(A, B, C, block_of(after, {first, first + m}, {0, n})).largest, 2 * eps<double>);
      expect_same(block_of(after, {0, first}, {0, n}), block_of(before, {0, first}, {0, n}), "above");
      expect_same(block_of(after, {first + m, all}, {0, n}), block_of(before, {first + m, all}, {0, n}), "below");
    }
  });
}

/// Many tiles, which come and go by the copy engine; a few columns are computed anew.
TEST_P(GemmResidues, ManyTiles) {
  with_double([&]<class T>(T) {
    for (auto [m, n, k] : {std::array<std::int64_t, 3>{4100, 3000, 1024}, {2050, 8200, 300}, {8192, 1024, 100}}) {
      SCOPED_TRACE(shape_name(m, n) + " depth " + std::to_string(k));
      const Dense<T> A = random<T>(m, k, 1), B = random<T>(k, n, 2), C = random<T>(m, n, 3);
      const Matrix<T> a = upload(A, q()), b = upload(B, q()), c = upload(C, q());
      multiply<T>(Op::NoTrans, Op::NoTrans, -1, a, b, c);
      const Dense<T> result = download<T>(c, q());
      constexpr std::int64_t some = 3;
      for (const std::int64_t first : {std::int64_t(0), n / 2, n - some}) {
        const auto columns = [&](const Dense<T>& X) { return block_of(X, {0, X.rows()}, {first, first + some}); };
        EXPECT_LE(errors(A, columns(B), columns(C), columns(result)).largest, eps<double>) << "columns from " << first;
      }
    }
  });
}

/// Columns of B, or rows of A, of all sizes: each is as accurate for itself. Those near the ends of the range are not rounded to
/// integers, nor are those beside them.
TEST_P(GemmResidues, SmallAndLargeVectors) {
  with_double([&]<class T>(T) {
    const std::int64_t m = 65, n = 9, k = 40;
    using Exponents = std::array<int, n>;
    for (const Exponents& exponents : {Exponents{0, -390, -410, -800, -1000, -1060, 390, 410, 1000},
                                       Exponents{0, -390, 390, 10, -10, 399, -399, 7, 300}})
      for (const bool of_rows : {false, true}) {
        Dense<T> A = random<T>(of_rows ? n : m, k, 4), B = random<T>(k, of_rows ? m : n, 5);
        for (std::int64_t v = 0; v < n; ++v)
          for (std::int64_t p = 0; p < k; ++p) {
            T& x = of_rows ? A(v, p) : B(p, v);
            x = times_power(x, exponents[v]);
          }
        const Dense<T> C(A.rows(), B.cols()), ours = product(A, B, C, false), plain = product(A, B, C, true);
        for (std::int64_t v = 0; v < n; ++v) {
          const auto own = [&](const Dense<T>& X, bool all) {
            if (all) return X;
            return of_rows ? block_of(X, {v, v + 1}, {0, X.cols()}) : block_of(X, {0, X.rows()}, {v, v + 1});
          };
          const Dense<T> a = own(A, !of_rows), b = own(B, of_rows), c = own(C, false);
          EXPECT_LE(errors(a, b, c, own(ours, false)).largest,
                    2 * errors(a, b, c, own(plain, false)).largest + 2 * eps<double>)
              << (of_rows ? "row 2^" : "column 2^") << exponents[v];
        }
      }
  });
}

/// A's numbers fall along the depth and B's rise, or in places of their own: the rows' and columns' norms say nothing about the
/// products, which count all the same.
TEST_P(GemmResidues, NormsThatSayNothing) {
  with_double([&]<class T>(T) {
    const std::int64_t m = 150, n = 140, k = 96;
    for (const bool graded : {true, false}) {
      Dense<T> A = random<T>(m, k, 4), B = random<T>(k, n, 5);
      const Dense<T> C(m, n);
      for (std::int64_t p = 0; p < k; ++p) {
        const int e = static_cast<int>(graded ? p : 40 * (p % 2));
        for (std::int64_t i = 0; i < m; ++i) A(i, p) = times_power(A(i, p), -e);
        for (std::int64_t j = 0; j < n; ++j) B(p, j) = times_power(B(p, j), graded ? e : e - 40);
      }
      EXPECT_LE(errors(A, B, C, product(A, B, C, false)).largest,
                2 * errors(A, B, C, product(A, B, C, true)).largest + 2 * eps<double>)
          << (graded ? "graded" : "by turns");
    }
  });
}

/// Parts of tiles that are not by integers beside others that are, with C by way of shared memory, and tiles that follow.
TEST_P(GemmResidues, PartsThatAreNotByIntegers) {
  with_double([&]<class T>(T) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::int64_t m = 3000, n = 2800, k = 200;
    Dense<T> A = random<T>(m, k, 1), B = random<T>(k, n, 2);
    const Dense<T> C = random<T>(m, n, 3);
    A(700, 3) = nan;
    for (std::int64_t p = 0; p < k; ++p) {
      B(p, 40) = times_power(B(p, 40), 500);
      for (std::int64_t i = 1024; i < 1040; ++i) A(i, p) = times_power(A(i, p), static_cast<int>(-p));
      for (std::int64_t j = 512; j < 528; ++j) B(p, j) = times_power(B(p, j), static_cast<int>(p - k));
    }
    const Matrix<T> a = upload(A, q()), b = upload(B, q()), c = upload(C, q()), d = upload(C, q());
    multiply<T>(Op::NoTrans, Op::NoTrans, -1, a, b, c);
    gemm<T>(Op::NoTrans, Op::NoTrans, -1, a, b, T(1), d, q());
    const Dense<T> ours = download<T>(c, q()), plain = download<T>(d, q());
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        if (i == 700) {
          ASSERT_TRUE(is_nan(ours(i, j))) << j;
          continue;
        }
        const double size = larger(std::abs(plain(i, j)), j == 40 ? 0x1p505 : 100.0);
        ASSERT_LE(std::abs(ours(i, j) - plain(i, j)), 10 * eps<double> * size) << i << ", " << j;
      }
    // where rows are small and columns are, by themselves
    const auto some = [](const Dense<T>& X, Range rows, Range cols) { return block_of(X, rows, cols); };
    const Range rows{1024, 1040}, cols{512, 528};
    EXPECT_LE(errors(some(A, rows, {0, k}), some(B, {0, k}, cols), some(C, rows, cols), some(ours, rows, cols)).largest,
              2 * eps<double>);
  });
}

TEST_P(GemmResidues, ZerosStayZero) {
  with_double([&]<class T>(T) {
    Dense<T> A = random<T>(140, 70, 1), B = random<T>(70, 150, 2);
    const Dense<T> C(140, 150);
    for (std::int64_t p = 0; p < 70; ++p) A(5, p) = B(p, 7) = 0;
    const Dense<T> of_integers = product(A, B, C, false);
    for (std::int64_t j = 0; j < 150; ++j) EXPECT_EQ(of_integers(5, j), T(0)) << j;
    for (std::int64_t i = 0; i < 140; ++i) EXPECT_EQ(of_integers(i, 7), T(0)) << i;
    EXPECT_LE(errors(A, B, C, of_integers).largest, 2 * eps<double>);
    // parts of tiles in which sizes add up to nothing are not by integers
    for (std::int64_t p = 0; p < 70; ++p) {
      for (std::int64_t i = 0; i < 140; i += 3) A(i, p) = p < 35 ? A(i, p) : 0;
      for (std::int64_t j = 0; j < 150; j += 2) B(p, j) = p < 35 ? 0 : B(p, j);
    }
    const Dense<T> result = product(A, B, C, false);
    for (std::int64_t j = 0; j < 150; ++j)
      for (std::int64_t i = 0; i < 140; ++i)
        if ((i % 3 == 0 && j % 2 == 0) || i == 5 || j == 7) {
          EXPECT_EQ(result(i, j), T(0)) << i << ", " << j;
        }
    EXPECT_LE(errors(A, B, C, result).largest, 2 * eps<double>);
  });
}

TEST_P(GemmResidues, InfinitiesAndNaNAsInAPlainProduct) {
  with_double([&]<class T>(T) {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const std::int64_t m = 140, n = 130, k = 20;
    for (const double bad : {inf, -inf, nan, std::numeric_limits<double>::max()})
      for (const int where : {0, 1, 2, 3}) {
        Dense<T> A = random<T>(m, k, 6), B = random<T>(k, n, 7), C = random<T>(m, n, 8);
        for (std::int64_t i = 0; i < k; ++i) A(3, i) = i % 3 == 0 ? 0.0 : A(3, i);
        (where == 0 || where == 3 ? A(5, 4) : where == 1 ? B(6, 7) : C(9, 2)) = bad;
        if (where == 3) B(4, 7) = B(9, 8) = A(6, 9) = -bad;  // they meet, or not, with each sign
        if (where == 1) A(2, 6) = 0;                         // 0 times an infinity is NaN
        for (const Op op : {Op::NoTrans, Op::Trans}) {
          const Dense<T> ours = product(A, B, C, false, op, op), plain = plain_on_host(A, B, C);
          // real numbers, and the parts of complex ones
          const auto *ours_parts = reinterpret_cast<const double*>(ours.data()),
                     *plain_parts = reinterpret_cast<const double*>(plain.data());
          for (std::int64_t e = 0; e < C.size() * std::int64_t(sizeof(T) / sizeof(double)); ++e) {
            const double x = ours_parts[e], expected = plain_parts[e];
            EXPECT_EQ(std::isnan(x), std::isnan(expected)) << bad << " at " << where << ", part " << e;
            if (std::isinf(expected) || std::isinf(x)) {
              EXPECT_EQ(x, expected) << bad << " at " << where << ", part " << e;
            } else if (!std::isnan(expected)) {
              EXPECT_LE(std::abs(x - expected), 100 * eps<double> * larger(std::abs(expected), 10.0)) << "part " << e;
            }
          }
        }
      }
  });
}

/// C's first rows or columns are there when then() is called, the others as they were; the bits are those of one product.
TEST_P(GemmResidues, AFirstPart) {
  with_double([&]<class T>(T) {
    const std::int64_t m = is_complex<T> ? 1101 : 1102, n = 900, k = 300;
    Dense<T> A = random<T>(m, k, 1), B = random<T>(k, n, 2);
    for (std::int64_t p = 0; p < k; ++p)  // what is not by integers, in the first part and behind it
      for (const std::int64_t v : {70, 850}) {
        A(v, p) = times_power(A(v, p), static_cast<int>(-p));
        B(p, v) = times_power(B(p, v), static_cast<int>(p - k));
      }
    const Dense<T> C = random<T>(m, n, 3), all = product(A, B, C, false);
    EXPECT_LE(errors(A, B, C, all).largest, std::sqrt(double(k)) * eps<double>);
    const Matrix<T> a = upload(A, q()), b = upload(B, q());
    for (const Side side : {Side::Left, Side::Right})
      for (const std::int64_t first : {256, 768})
        for (const int spared : {0, 16}) {
          SCOPED_TRACE(std::to_string(first) + (side == Side::Left ? " rows, " : " columns, ") +
                       std::to_string(spared));
          const Matrix<T> c = upload(C, q()), then = upload(C, q());
          if constexpr (cuda_built) {
            const Storage workspace(cuda::gemm_residues_workspace<T>(m, n, k), q());
            cuda::gemm_residues<T>(Op::NoTrans, Op::NoTrans, -1, a, b, c, const_cast<void*>(workspace.data()), q(),
                                   {spared}, {side, first, [&] { copy<T>(c, then, q()); }});
          }
          expect_same(download<T>(c, q()), all, "all of it");
          const Dense<T> meanwhile = download<T>(then, q());
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < m; ++i)
              ASSERT_EQ(meanwhile(i, j), (side == Side::Left ? i : j) < first ? all(i, j) : C(i, j)) << i << ", " << j;
        }
    if constexpr (cuda_built) {
      const Matrix<T> c = upload(C, q()), left(m, 2049, q()), right(2049, n, q());
      const auto refuses = [&](View<T> A, View<T> B, std::int64_t first) {
        EXPECT_THROW(
            cuda::gemm_residues<T>(Op::NoTrans, Op::NoTrans, -1, A, B, c, nullptr, q(), {}, {Side::Left, first, [] {}}),
            Error)
            << first << ", depth " << A.cols;
      };
      for (const std::int64_t first : {0, 100, 1280}) refuses(a, b, first);
      refuses(left, right, 256);
    }
  });
}

/// The same bits on fewer multiprocessors, and beside those whose numbers are given, of which there are more than are spared, or
/// none.
TEST_P(GemmResidues, OnFewerMultiprocessors) {
  with_double([&]<class T>(T) {
    for (auto [m, n, k] : {std::array<std::int64_t, 3>{4100, 3000, 24}, {2500, 4200, 300}}) {
      SCOPED_TRACE(shape_name(m, n) + " depth " + std::to_string(k));
      const Dense<T> A = random<T>(m, k, 1), B = random<T>(k, n, 2), C = random<T>(m, n, 3);
      const Matrix<T> a = upload(A, q()), b = upload(B, q());
      const auto result = [&] {
        const Matrix<T> c = upload(C, q());
        multiply<T>(Op::NoTrans, Op::NoTrans, -1, a, b, c);
        return download<T>(c, q());
      };
      const Dense<T> expected = result();
      const auto expect_same_with = [&](cuda::Spared spared, const std::string& what) {
        spared_ = spared;
        expect_same(result(), expected, what);
        spared_ = {};
      };
      for (const int spared : {1, 2, 16, 1000}) expect_same_with({spared}, "on fewer multiprocessors");
      beside_given_multiprocessors(q(), true, expect_same_with);
    }
  });
}

}  // namespace
}  // namespace devobj::test
