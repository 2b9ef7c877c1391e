// On a GPU only: gemm_as_real against a wider precision and against BLAS's product: accuracy, infinities and NaN, small
// numbers, memory; and the native LU of complex matrices, which uses it.
#include <cmath>
#include <limits>

#include "factor_checks.hpp"
#include "kernels/native.hpp"
#include "products_by_parts.hpp"

namespace devobj::test {
namespace {

class AsReal : public Everywhere {
 public:
  /// For the two complex types.
  template <class F>
  void with_complex(F&& test) {
    if (type() == Type::complex) return test(std::complex<float>{});
    if (type() == Type::double_complex) return test(std::complex<double>{});
  }
  /// C + alpha op(A) B, with the first operand given as op(A); by gemm_as_real, whose workspace has a canary behind it, or
  /// by gemm.
  template <class T>
  Dense<T> product(const Dense<T>& A, const Dense<T>& B, const Dense<T>& C, bool plain, Op op = Op::NoTrans,
                   Side guarded = Side::Right, int alpha = -1) {
    const Dense<T> stored = op_of(op, A);
    Padded<T> a(stored, q()), b(B, q()), c(C, q());
    if (plain) {
      gemm<T>(op, Op::NoTrans, T(alpha), a, b, T(1), c, q());
    } else if constexpr (cuda_built && is_complex<T>) {
      const std::int64_t used = cuda::gemm_as_real_workspace<T>(C.rows(), C.cols(), A.cols()) / 4 + 1, canary = 64;
      const Matrix<std::int32_t> workspace = upload(Dense<std::int32_t>(used + canary, 1, 0x7fc5a5a5), q());  // NaN
      cuda::gemm_as_real<T>(op, real_t<T>(alpha), a, b, c, guarded, workspace.view().data, q(), {}, low_low_);
      expect_same(download<std::int32_t>(workspace({used, used + canary}, {0, 1}), q()),
                  Dense<std::int32_t>(canary, 1, 0x7fc5a5a5), "behind the workspace");
    }
    expect_same(a.read("A"), stored, "A");
    expect_same(b.read("B"), B, "B");
    return c.read("C");
  }
  bool low_low_ = true;
};
INSTANTIATE_TEST_SUITE_P(On, AsReal,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::complex, Type::double_complex)),
                         instance_name);

/// C + alpha A B in a wider precision, and |C| + |A| |B|.
template <class T>
struct Exact {
  Dense<wide_t<T>> value;
  Dense<Wide> size;
  Exact(const Dense<T>& A, const Dense<T>& B, const Dense<T>& C, int alpha = -1)
      : value(combine(wide_t<T>(1), widen(C), wide_t<T>(alpha), multiply(widen(A), widen(B)))),
        size(combine(Wide(1), absolute(widen(C)), Wide(1), multiply(absolute(widen(A)), absolute(widen(B))))) {}
  /// The largest error relative to the size.
  double error(const Dense<T>& result) const {
    double worst = 0;
    for (std::int64_t e = 0; e < size.size(); ++e)
      worst = larger(worst, double(std::abs(wide(result[e]) - value[e]) / (size[e] == 0 ? 1 : size[e])));
    return worst;
  }
};

/// In single precision, of twice the depth as a real product.
TEST_P(AsReal, LowPartsByEachOther) {
  if constexpr (cuda_built)
    if (!cuda::gemm_fp16_parts_usable()) GTEST_SKIP() << "skipped: this GPU has no such products";
  with_complex([&]<class T>(T) {
    for (const std::int64_t k : {64, 65, 256, 300}) {
      const Dense<T> A = random<T>(150, k, 1), B = random<T>(k, 140, 2), C = random<T>(150, 140, 3);
      low_low_ = true;
      const Dense<T> with = product(A, B, C, false);
      low_low_ = false;
      const bool no_difference = k <= 64 || type() == Type::double_complex;
      EXPECT_EQ(same_bits(with, product(A, B, C, false)), no_difference) << k;
    }
  });
}

TEST_P(AsReal, AsAccurateAsAPlainProduct) {
  with_complex([&]<class T>(T) {
    // 256 is the depth of one product by six
    for (auto [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                           {7, 5, 3},
                           {64, 64, 64},
                           {129, 77, 65},
                           {200, 130, 256},
                           {97, 131, 257},
                           {131, 97, 600}}) {
      const Dense<T> A = random<T>(m, k, 1), B = random<T>(k, n, 2), C = random<T>(m, n, 3);
      for (const int alpha : {1, -1}) {
        const Exact<T> exact(A, B, C, alpha);
        for (const Op op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
          const double plain = exact.error(product(A, B, C, true, op, Side::Right, alpha));
          for (const Side guarded : {Side::Left, Side::Right})
            EXPECT_LE(exact.error(product(A, B, C, false, op, guarded, alpha)), 2 * plain + 2 * eps<T>)
                << letters(op, guarded) << " " << alpha << ", " << shape_name(m, n) << " depth " << k;
        }
      }
    }
  });
}

TEST_P(AsReal, EmptyProductsChangeNothing) {
  with_complex([&]<class T>(T) {
    for (auto [m, n, k] : {std::array<std::int64_t, 3>{0, 3, 2}, {3, 0, 2}, {3, 2, 0}}) {
      const Dense<T> C = random<T>(m, n, 1);
      expect_same(product(random<T>(m, k, 2), random<T>(k, n, 3), C, false), C, "C");
    }
  });
}

/// Rows of op(A), or columns of B, whose numbers are small, down to the smallest of single precision: their own errors
/// stay small.
TEST_P(AsReal, SmallRowsAndColumns) {
  with_complex([&]<class T>(T) {
    const std::vector<int> exponents = {0, -90, -99, -101, -110, -120, -130, 60};
    const std::int64_t few = 8, many = 65, k = 40;
    for (const Side guarded : {Side::Left, Side::Right})
      for (const Op op : {Op::NoTrans, Op::ConjTrans}) {
        const bool rows = guarded == Side::Left;
        Dense<T> A = random<T>(rows ? few : many, k, 4), B = random<T>(k, rows ? many : few, 5);
        for (std::int64_t v = 0; v < few; ++v)
          for (std::int64_t p = 0; p < k; ++p) {
            T& x = rows ? A(v, p) : B(p, v);
            x = T(scaled(std::complex<double>(x), exponents[std::size_t(v)]));
          }
        const Dense<T> C(A.rows(), B.cols()), ours = product(A, B, C, false, op, guarded),
                                              plain = product(A, B, C, true, op);
        for (std::int64_t v = 0; v < few; ++v) {
          auto vector = [&](const Dense<T>& X) {
            return rows ? block_of(X, {v, v + 1}, {0, X.cols()}) : block_of(X, {0, X.rows()}, {v, v + 1});
          };
          const Exact<T> exact(rows ? vector(A) : A, rows ? B : vector(B), vector(C));
          EXPECT_LE(exact.error(vector(ours)), 2 * exact.error(vector(plain)) + 2 * eps<T>)
              << letters(guarded, op) << " 2^" << exponents[std::size_t(v)];
        }
      }
  });
}

/// re and im of C - A B as Fortran computes them, four real products for each of complex ones.
template <class T>
Dense<T> by_parts(const Dense<T>& A, const Dense<T>& B, Dense<T> C) {
  using R = real_t<T>;
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) {
      R re = C(i, j).real(), im = C(i, j).imag();
      for (std::int64_t p = 0; p < A.cols(); ++p) {
        const T a = A(i, p), b = B(p, j);
        re -= a.real() * b.real() - a.imag() * b.imag();
        im -= a.real() * b.imag() + a.imag() * b.real();
      }
      C(i, j) = T(re, im);
    }
  return C;
}

TEST_P(AsReal, InfinitiesAndNaNAsByParts) {
  with_complex([&]<class T>(T) {
    using R = real_t<T>;
    const std::int64_t m = 40, n = 30, k = 20;
    for (const R bad : {infinity<T>, -infinity<T>, nan<T>})
      for (const bool imaginary : {false, true})
        for (const int where : {0, 1, 2}) {
          Dense<T> A = random<T>(m, k, 6), B = random<T>(k, n, 7), C = random<T>(m, n, 8);
          for (std::int64_t p = 0; p < k; p += 3) A(3, p) = T(0);
          T& element = where == 0 ? A(5, 4) : where == 1 ? B(6, 7) : C(9, 2);
          element = imaginary ? T(R(0.5), bad) : T(bad, R(0.5));
          if (where == 0) B(4, 11) = T(R(0.25), 0);  // 0 times an infinity is NaN, in one part
          if (where == 1) A(2, 6) = T(0);
          const Dense<T> expected = by_parts(A, B, C);
          for (const Op op : {Op::NoTrans, Op::ConjTrans, Op::Trans}) {
            const Dense<T> ours = product(A, B, C, false, op);
            for (std::int64_t e = 0; e < C.size(); ++e)
              for (const bool part : {false, true}) {
                const R here = part ? ours[e].imag() : ours[e].real(),
                        there = part ? expected[e].imag() : expected[e].real();
                EXPECT_EQ(std::isnan(here), std::isnan(there))
                    << bad << (imaginary ? " i" : "") << " at " << where << ", element " << e << ", " << letters(op);
                if (std::isinf(there)) {
                  EXPECT_EQ(here, there) << bad << " at " << where << ", element " << e << ", " << letters(op);
                }
              }
          }
        }
  });
}

/// Blocks of 64 and of 300 columns, whose depth is that of two products by six.
TEST_P(AsReal, LuIsAsAccurateAsLapacks) {
  with_complex([&]<class T>(T) {
    for (auto [m, n, block] : {std::array<std::int64_t, 3>{2500, 2401, 0}, {2301, 2700, 64}, {2703, 2699, 300}}) {
      const Dense<T> A = random<T>(m, n, 9);
      const LuFactors<T> f = factor_lu(A, q(), {Method::native, block}), lapack = lapack_lu(A);
      EXPECT_LE(lu_residual(A, f), 2 * lu_residual(A, lapack) + 0.05) << shape_name(m, n) << ", " << block;
      EXPECT_TRUE(pivots_in_range(f));
    }
  });
}

/// Strict math: plain products in single precision, four real products to one in double precision, on Hopper not as real ones.
TEST_P(AsReal, StrictMathIsAnotherProduct) {
  with_complex([&]<class T>(T) {
    const std::int64_t n = 2300;
    const Dense<T> A = random<T>(n, n, 10);
    LuOptions options{Method::native, 64};
    const LuFactors<T> automatic = factor_lu(A, q(), options);
    options.math = Math::strict;
    const LuFactors<T> strict = factor_lu(A, q(), options);
    bool as_real_anyway = false;
    if constexpr (cuda_built && sizeof(real_t<T>) == 8) {
      as_real_anyway = !cuda::gemm_3m_overlapped_possible(View<T>(), q());
      EXPECT_LE(lu_residual(A, automatic), 2 * lu_residual(A, strict));
    }
    EXPECT_EQ(same_bits(automatic.LU, strict.LU), as_real_anyway);
  });
}

/// Square and large: row-major meanwhile, so that U^T is what is written out. (In double precision on GPUs other than Hopper; there
/// it is multiplied as it lies.)
TEST_P(AsReal, ALargeSquareMatrix) {
  with_complex([&]<class T>(T) {
    const std::int64_t n = 6101;
    const Dense<T> A = random<T>(n, n, 13);
    LuOptions options{Method::native, 300, nullptr, 100};
    for (const Math math : {Math::automatic, Math::strict}) {
      if (math == Math::strict && sizeof(real_t<T>) == 4) continue;
      options.math = math;
      const LuFactors<T> f = factor_lu(A, q(), options);
      EXPECT_LE(lu_residual(A, f), 1);
      EXPECT_TRUE(pivots_in_range(f));
    }
  });
}

/// A bad number in U, in a block's first row, goes down its column and nowhere else: the column is beyond the last pivot.
TEST_P(AsReal, NaNAndInfGoThroughLuAsThroughPlainProducts) {
  with_complex([&]<class T>(T) {
    using R = real_t<T>;
    const std::int64_t m = 2400, n = 2600, row = 64, column = 2590;
    for (const R bad : {nan<T>, infinity<T>})
      for (const bool imaginary : {false, true}) {
        Dense<T> A = random<T>(m, n, 14);
        for (std::int64_t i = 0; i < m; ++i) A(i, i) += T(R(4 * m));  // no rows are exchanged
        A(row, column) = imaginary ? T(R(0.5), bad) : T(bad, R(0.5));
        const LuFactors<T> f = factor_lu(A, q(), {Method::native, 64});
        std::int64_t wrong = 0;
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < m; ++i) {
            const bool finite = std::isfinite(f.LU(i, j).real()) && std::isfinite(f.LU(i, j).imag());
            wrong += finite != (j != column || i < row);
          }
        EXPECT_EQ(wrong, 0) << bad << (imaginary ? " i" : "");
        for (std::int64_t i = 0; i < m; ++i) ASSERT_EQ(f.pivots[i], i + 1);
      }
  });
}

}  // namespace
}  // namespace devobj::test
