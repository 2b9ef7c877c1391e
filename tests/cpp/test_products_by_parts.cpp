// On a GPU only: gemm_three_fp16 and gemm_six_bf16 against double precision and against BLAS's product: accuracy, infinities
// and NaN, numbers near the ends of the range; and the algorithms that use them, for real and complex matrices.
#include <cmath>
#include <limits>

#include "devobj/rng.hpp"
#include "factor_checks.hpp"
#include "kernels/native.hpp"
#include "products_by_parts.hpp"

namespace devobj::test {
namespace {

class ProductsOnTensorCores : public Everywhere {
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
      if (way_ == Way::three_fp16) {
        const Storage workspace(cuda::gemm_three_fp16_workspace(C.rows, C.cols, depth), q());
        cuda::gemm_three_fp16(opA, opB, alpha, A, B, C, const_cast<void*>(workspace.data()), q());
      } else {
        const Storage workspace(cuda::gemm_six_bf16_workspace(C.rows, C.cols, depth), q());
        cuda::gemm_six_bf16(opA, opB, alpha, A, B, C, guarded, const_cast<void*>(workspace.data()), q());
      }
    }
  }
  /// The test, with each way in turn that this GPU has.
  template <class F>
  void each_way(F&& test) {
    for (const Way way : {Way::six_bf16, Way::three_fp16}) {
      if (way == Way::three_fp16 && !three_fp16_usable()) continue;
      way_ = way;
      SCOPED_TRACE(way == Way::three_fp16 ? "three float16 products" : "six bfloat16 products");
      test();
    }
  }

 private:
  enum class Way { six_bf16, three_fp16 };
  static bool three_fp16_usable() {
    if constexpr (cuda_built) return cuda::gemm_three_fp16_usable();
    return false;
  }
  Way way_ = Way::six_bf16;
};
INSTANTIATE_TEST_SUITE_P(On, ProductsOnTensorCores,
                         testing::Combine(testing::Values(places()[2]), testing::Values(Type::real)), instance_name);

/// The largest error of C + alpha A B relative to |C| + |A| |B|.
double error(const Dense<float>& A, const Dense<float>& B, const Dense<float>& C, const Dense<float>& result,
             float alpha = -1) {
  double worst = 0;
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) {
      double sum = C(i, j), size = std::abs(sum);
      for (std::int64_t k = 0; k < A.cols(); ++k) {
        sum += alpha * double(A(i, k)) * B(k, j);
        size += std::abs(double(A(i, k)) * B(k, j));
      }
      worst = larger(worst, size == 0 ? std::abs(result(i, j)) : std::abs(result(i, j) - sum) / size);
    }
  return worst;
}

TEST_P(ProductsOnTensorCores, AsAccurateAsAPlainProduct) {
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

TEST_P(ProductsOnTensorCores, TransposedOperandsAndBothSigns) {
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
TEST_P(ProductsOnTensorCores, EveryAlignmentOfTheResult) {
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
TEST_P(ProductsOnTensorCores, SmallColumns) {
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

TEST_P(ProductsOnTensorCores, InfinitiesAndNaNAsInAPlainProduct) {
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
TEST_P(ProductsOnTensorCores, GradedDepth) {
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
TEST_P(ProductsOnTensorCores, ALargeProductOfIntegers) {
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

/// The same with small rows of A.
TEST_P(ProductsOnTensorCores, SmallRows) {
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

/// The algorithms that use the products.
class ProductsByPartsUses : public Everywhere {
 public:
  /// For the two types of single precision.
  template <class F>
  void with_single(F&& test) {
    if (type() == Type::real) return test(float{});
    if (type() == Type::complex) return test(std::complex<float>{});
  }
};
INSTANTIATE_TEST_SUITE_P(On, ProductsByPartsUses,
                         testing::Combine(testing::Values(places()[2]), testing::Values(Type::real, Type::complex)),
                         instance_name);

template <class T>
bool is_finite(T x) {
  return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
}
template <class T>
bool same_bits(const Dense<T>& A, const Dense<T>& B) {
  return std::memcmp(A.data(), B.data(), static_cast<std::size_t>(A.size()) * sizeof(T)) == 0;
}

/// A factorization large enough that its updates use the products.
TEST_P(ProductsByPartsUses, LuIsAsAccurateAsInStrictMath) {
  with_single([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{2500, 2400}, {2300, 2700}}) {
      const Dense<T> A = random<T>(m, n, 9);
      LuOptions options{Method::native};
      const LuFactors<T> fast = factor_lu(A, q(), options);
      options.math = Math::strict;
      const LuFactors<T> strict = factor_lu(A, q(), options);
      const double r = lu_residual(A, fast);
      EXPECT_LE(r, residual_bound);
      EXPECT_LE(r, 1.5 * lu_residual(A, strict) + 0.01) << shape_name(m, n);
      EXPECT_FALSE(same_bits(fast.LU, strict.LU)) << "both were computed in the same way";
    }
  });
}

/// Products that are off are BLAS's, and those that are on are not.
TEST_P(ProductsByPartsUses, StrictIsOff) {
  with_single([&]<class T>(T) {
    auto on = [&](Math math, std::int64_t rows, std::int64_t cols) {
      return bool(devobj::ProductsByParts::for_reflectors<T>(math, rows, cols, 256, q()));
    };
    EXPECT_TRUE(on(Math::automatic, by_parts_least, by_parts_least));
    EXPECT_FALSE(on(Math::strict, by_parts_least, by_parts_least));
    EXPECT_FALSE(on(Math::automatic, by_parts_least - 1, 10000));
    EXPECT_FALSE(on(Math::automatic, 10000, by_parts_least - 1));
    EXPECT_FALSE(
        bool(devobj::ProductsByParts::for_reflectors<std::conditional_t<is_complex<T>, std::complex<double>, double>>(
            Math::automatic, 5000, 5000, 256, q())));
    set_math(Math::strict);
    EXPECT_FALSE(on(Math::automatic, 5000, 5000));
    set_math(Math::automatic);
    EXPECT_TRUE(on(Math::automatic, 5000, 5000));
  });
}

/// Block reflectors of complex<double> are real products from 6000 rows and columns on. Where they are, A^H A = R^H R stays right.
TEST_P(ProductsByPartsUses, LargeReflectorsOfDoubleComplexAreRealProducts) {
  if (type() != Type::complex) return;
  using T = std::complex<double>;
  const auto on = [&](std::int64_t rows, std::int64_t cols) {
    return bool(devobj::ProductsByParts::for_reflectors<T>(Math::strict, rows, cols, 256, q()));
  };
  const std::int64_t least = as_real_least_reflected, m = least + 800, n = least + 600;
  EXPECT_TRUE(on(least, least));
  EXPECT_FALSE(on(least - 1, 20000));
  EXPECT_FALSE(on(20000, least - 1));

  Matrix<T> A(m, n, q()), QR(m, n, q()), tau(n, 1, q()), gram(n, n, q());
  Rng rng(q(), Generator::philox, 21);
  rng.uniform<T>(-1, 1, A, q());
  copy<T>(A, QR, q());
  geqrf<T>(QR, tau.view(), q(), QrOptions{Method::native, 256});
  const View<T> R = QR.view()({0, n}, {0, n});
  laset<T>(Uplo::Lower, T(0), T(0), QR.view()({1, m}, {0, n}), q());
  gemm<T>(Op::ConjTrans, Op::NoTrans, T(1), A, A, T(0), gram, q());
  const double size = lange<T>(Norm::One, gram, q());
  gemm<T>(Op::ConjTrans, Op::NoTrans, T(-1), R, R, T(1), gram, q());
  EXPECT_LE(lange<T>(Norm::One, gram, q()) / (size * double(m) * eps<T>), residual_bound);
}

/// Factorizations large enough that their updates use the products, beyond the first two panels; blocks of 256 for V^H C
/// too.
TEST_P(ProductsByPartsUses, QrIsAsAccurateAsInStrictMath) {
  with_single([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{3000, 2800}, {2400, 2900}})
      for (const Method method : {Method::native, Method::hybrid}) {
        const Dense<T> A = random<T>(m, n, 9);
        QrOptions options{method, 256};
        const QrFactors<T> fast = factor_qr(A, q(), options);
        options.math = Math::strict;
        const QrFactors<T> strict = factor_qr(A, q(), options);
        const QrMeasures ours = qr_measures(A, fast), plain = qr_measures(A, strict);
        EXPECT_LE(ours.residual, residual_bound);
        EXPECT_LE(ours.residual, 1.5 * plain.residual + 0.01) << shape_name(m, n);
        EXPECT_LE(ours.orthogonality, 1.5 * plain.orthogonality + 0.01) << shape_name(m, n);
        EXPECT_FALSE(same_bits(fast.QR, strict.QR)) << "both were computed in the same way";
      }
  });
}

TEST_P(ProductsByPartsUses, QIsAsAccurateAsInStrictMath) {
  with_single([&]<class T>(T) {
    const std::int64_t m = 2900, n = 2600;
    const QrFactors<T> f = factor_qr(random<T>(m, n, 10), q(), {Method::native});
    const Dense<T> C = random<T>(m, 2300, 11), CH = op_of(adjoint<T>, C);
    const Dense<precise_t<T>> Q = q_of(f, m);
    const Dense<precise_t<T>> QC = devobj::test::product(Op::NoTrans, Q, Op::NoTrans, precise(C)),
                              QHC = devobj::test::product(adjoint<T>, Q, Op::NoTrans, precise(C));
    struct Results {
      Dense<T> Q, left, left_H, right, right_H;
    };
    auto results = [&](Math math) {
      const QrOptions options{Method::automatic, 0, nullptr, math};
      auto applied = [&](Side side, Op op, const Dense<T>& X) {
        Padded<T> V(f.QR, q()), tau(f.tau, q()), c(X, q());
        ormqr<T>(side, op, V, tau.view(), c, q(), options);
        return c.read("C");
      };
      Padded<T> explicit_Q(f.QR, q()), tau(f.tau, q());
      orgqr<T>(explicit_Q, tau.view(), q(), options);
      return Results{explicit_Q.read("Q"), applied(Side::Left, Op::NoTrans, C), applied(Side::Left, adjoint<T>, C),
                     applied(Side::Right, Op::NoTrans, CH), applied(Side::Right, adjoint<T>, CH)};
    };
    const Results fast = results(Math::automatic), strict = results(Math::strict);
    EXPECT_LE(orthogonality(fast.Q), 1.5 * orthogonality(strict.Q) + 0.01);
    // the errors' root mean square, and the largest, of which there are millions to choose from
    struct Errors {
      double mean = 0, largest = 0;
    };
    auto errors = [&](const Dense<T>& X, const Dense<precise_t<T>>& expected) {
      Errors of;
      for (std::int64_t e = 0; e < X.size(); ++e) {
        const double distance = std::abs(precise_t<T>(X[e]) - expected[e]) / eps<T>;
        of.largest = larger(of.largest, distance);
        of.mean += distance * distance;
      }
      of.mean = std::sqrt(of.mean / static_cast<double>(X.size()));
      return of;
    };
    auto compare = [&](const Dense<T>& ours, const Dense<T>& plain, const Dense<precise_t<T>>& expected,
                       bool in_the_same_way, const char* what) {
      const Errors of_ours = errors(ours, expected), of_plain = errors(plain, expected);
      EXPECT_LE(of_ours.mean, 1.5 * of_plain.mean) << what;
      EXPECT_LE(of_ours.largest, 2 * of_plain.largest) << what;
      EXPECT_EQ(same_bits(ours, plain), in_the_same_way) << what;
    };
    compare(fast.left, strict.left, QC, false, "Q C");
    compare(fast.left_H, strict.left_H, QHC, false, "Q^H C");
    compare(fast.right, strict.right, op_of(adjoint<T>, QHC), is_complex<T>, "C^H Q");
    compare(fast.right_H, strict.right_H, op_of(adjoint<T>, QC), is_complex<T>, "C^H Q^H");
  });
}

TEST_P(ProductsByPartsUses, SolutionsAreAsAccurateAsInStrictMath) {
  with_single([&]<class T>(T) {
    const std::int64_t n = 3100, nrhs = 2200;
    const Dense<T> A = random<T>(n, n, 12), B = random<T>(n, nrhs, 13);
    const LuFactors<T> f = factor_lu(A, q(), {Method::native, 0, nullptr, 0, Math::strict});
    for (const Op op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
      auto solved = [&](Math math) {
        Padded<T> LU(f.LU, q()), X(B, q());
        Padded<std::int32_t> pivots(f.pivots, q());
        getrs<T>(op, LU, pivots.view(), X, q(), {Method::automatic, 0, nullptr, 0, math});
        return X.read("X");
      };
      const Dense<T> fast = solved(Math::automatic), strict = solved(Math::strict);
      const double r = solve_residual(op, A, fast, B);
      EXPECT_LE(r, residual_bound);
      EXPECT_LE(r, 1.5 * solve_residual(op, A, strict, B) + 0.01) << letters(op);
      EXPECT_FALSE(same_bits(fast, strict)) << "both were computed in the same way";
    }
  });
}

/// NaN and infinities reach what they reach in strict math.
TEST_P(ProductsByPartsUses, NaNAndInfGoThroughQrAndSolvesAsInStrictMath) {
  with_single([&]<class T>(T) {
    const std::int64_t n = 2700;
    for (const float bad : {nan<T>, infinity<T>}) {
      Dense<T> A = random<T>(n, n, 14);
      A(1300, 1200) = bad;
      QrOptions options{Method::native, 256};
      const QrFactors<T> fast = factor_qr(A, q(), options);
      options.math = Math::strict;
      const QrFactors<T> strict = factor_qr(A, q(), options);
      std::int64_t differ = 0;
      for (std::int64_t e = 0; e < A.size(); ++e) differ += is_finite(fast.QR[e]) != is_finite(strict.QR[e]);
      EXPECT_EQ(differ, 0) << bad;

      const LuFactors<T> f = lapack_lu(random<T>(n, n, 15));
      Dense<T> B = random<T>(n, 2100, 16);
      B(600, 700) = bad;
      auto solved = [&](Math math) {
        Padded<T> LU(f.LU, q()), X(B, q());
        Padded<std::int32_t> pivots(f.pivots, q());
        getrs<T>(Op::NoTrans, LU, pivots.view(), X, q(), {Method::automatic, 0, nullptr, 0, math});
        return X.read("X");
      };
      const Dense<T> ours = solved(Math::automatic), plain = solved(Math::strict);
      for (std::int64_t j = 0; j < B.cols(); ++j)
        EXPECT_EQ(std::isfinite(column_sum(precise(block_of(ours, {0, n}, {j, j + 1})), 0)),
                  std::isfinite(column_sum(precise(block_of(plain, {0, n}, {j, j + 1})), 0)))
            << bad << ", " << j;
    }
  });
}

}  // namespace
}  // namespace devobj::test
