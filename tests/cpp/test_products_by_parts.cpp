// On a GPU only: the algorithms that multiply by parts, for real and complex matrices, beside themselves in strict math.
#include <cmath>
#include <limits>

#include "devobj/rng.hpp"
#include "factor_matrices.hpp"
#include "failing_allocations.hpp"
#include "products_by_parts.hpp"
#include "qr_orthogonal.hpp"

namespace devobj::test {
namespace {

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

/// Solves multiply low parts by each other, block reflectors and factorizations that a refinement follows do not.
TEST_P(ProductsByPartsUses, LowPartsByEachOtherAreForSolves) {
  if constexpr (cuda_built) {
    if (!cuda::gemm_fp16_parts_usable()) GTEST_SKIP() << "skipped: this GPU has no such products";
    if (type() != Type::real) return;
    using devobj::ProductsByParts;
    const std::int64_t m = 2100, n = 2080, k = 256;
    const Dense<float> A = random<float>(m, k, 1), B = random<float>(k, n, 2), C = random<float>(m, n, 3);
    const Matrix<float> a = upload(A, q()), b = upload(B, q());
    const auto direct = [&](bool low_low) {
      const Matrix<float> c = upload(C, q());
      const Storage workspace(cuda::gemm_fp16_parts_workspace(m, n, k), q());
      cuda::gemm_fp16_parts(Op::NoTrans, Op::NoTrans, -1, a, b, c, const_cast<void*>(workspace.data()), q(), {}, {},
                            low_low);
      return download<float>(c, q());
    };
    const auto by = [&](const ProductsByParts& parts) {
      const Matrix<float> c = upload(C, q());
      parts.add<float>(Op::NoTrans, Op::NoTrans, -1, a, b, c, Side::Right, q());
      return download<float>(c, q());
    };
    const Dense<float> with = direct(true), without = direct(false);
    EXPECT_FALSE(same_bits(with, without));
    expect_same(by(ProductsByParts::for_triangles<float>(Math::automatic, m + by_parts_triangle, n, q())), with,
                "triangles");
    expect_same(by(ProductsByParts::for_reflectors<float>(Math::automatic, m, n, k, q())), without, "reflectors");
    expect_same(by(ProductsByParts::for_updates<float>(Math::automatic, m, n, k, q())), without, "updates");
  }
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

/// Products by parts that are off are BLAS's, and those that are on are not.
TEST_P(ProductsByPartsUses, StrictIsOff) {
  with_single([&]<class T>(T) {
    auto on = [&](Math math, std::int64_t rows, std::int64_t cols) {
      return bool(devobj::ProductsByParts::for_reflectors<T>(math, rows, cols, 256, q()));
    };
    EXPECT_TRUE(on(Math::automatic, by_parts_least, by_parts_least));
    EXPECT_FALSE(on(Math::strict, by_parts_least, by_parts_least));
    EXPECT_FALSE(on(Math::automatic, by_parts_least - 1, 10000));
    EXPECT_FALSE(on(Math::automatic, 10000, by_parts_least - 1));
    EXPECT_FALSE(bool(devobj::ProductsByParts::for_reflectors<double>(Math::automatic, 5000, 5000, 256, q())));
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

  for (const Math math : {Math::automatic, Math::strict}) {
    Matrix<T> A(m, n, q()), QR(m, n, q()), tau(n, 1, q()), gram(n, n, q());
    Rng rng(q(), Generator::philox, 21);
    rng.uniform<T>(-1, 1, A, q());
    copy<T>(A, QR, q());
    geqrf<T>(QR, tau.view(), q(), QrOptions{Method::native, 256, nullptr, math});
    const View<T> R = QR.view()({0, n}, {0, n});
    laset<T>(Uplo::Lower, T(0), T(0), QR.view()({1, m}, {0, n}), q());
    gemm<T>(Op::ConjTrans, Op::NoTrans, T(1), A, A, T(0), gram, q());
    const double size = lange<T>(Norm::One, gram, q());
    gemm<T>(Op::ConjTrans, Op::NoTrans, T(-1), R, R, T(1), gram, q());
    EXPECT_LE(lange<T>(Norm::One, gram, q()) / (size * double(m) * eps<T>), residual_bound);
  }
}

/// QR by geqrf in QR's place, with Q^H A by ormqr and Q by orgqr, all on the GPU; `factors` is given what geqrf left.
template <class T>
QrMeasures measured_qr(View<T> A, View<T> QR, const QrOptions& options, Queue& q, Dense<T>* factors = nullptr) {
  const std::int64_t m = A.rows, n = A.cols;
  Matrix<T> others(QR.ld, n, q), R(n, n, q), tau(n, 1, q), gram(n, n, q);
  const View<T> E = others({0, m}, {0, n});
  const double size = lange<T>(Norm::One, A, q);
  copy<T>(A, QR, q);
  geqrf<T>(QR, tau.view(), q, options);
  if (factors != nullptr) *factors = download<T>(QR, q);
  laset<T>(Uplo::General, T(0), T(0), R, q);
  lacpy<T>(Uplo::Upper, QR({0, n}, {0, n}), R, q);
  // E = Q^H A - [R; 0]
  copy<T>(A, E, q);
  ormqr<T>(Side::Left, adjoint<T>, QR, tau.view(), E, q, options);
  axpy<T>(T(-1), R, E({0, n}, {0, n}), q);
  const double residual = lange<T>(Norm::One, E, q) / (size * double(m) * eps<T>);
  orgqr<T>(QR, tau.view(), q, options);
  gemm<T>(adjoint<T>, Op::NoTrans, T(1), QR, QR, T(0), gram, q);
  laset<T>(Uplo::General, T(0), T(1), R, q);
  axpy<T>(T(-1), R, gram, q);
  return {residual, lange<T>(Norm::One, gram, q) / (double(m) * eps<T>)};
}

/// QR, orgqr and ormqr in double precision of a large matrix with an odd ld, whose reflectors are applied to every other column
/// at a time, are as accurate as with an even one.
TEST_P(ProductsByPartsUses, QrOfDoublePrecisionOfAnOddLeadingDimension) {
  if (type() != Type::real) return;
  if constexpr (cuda_built)
    if (!cuda::gemm_overlapped_usable(q().device())) GTEST_SKIP() << "skipped: this GPU has no such product";
  using T = double;
  const std::int64_t m = unaligned_least + 1201, n = unaligned_least + 900, block = 256;
  Matrix<T> A(m, n, q());
  Rng rng(q(), Generator::philox, 22);
  rng.uniform<T>(-1, 1, A, q());
  Dense<T> of_even;
  QrMeasures even{};
  for (const std::int64_t ld : {m + m % 2, m + 1 - m % 2}) {
    SCOPED_TRACE("ld " + std::to_string(ld));
    Matrix<T> memory(ld, n, q());
    const View<T> QR = memory({0, m}, {0, n});
    EXPECT_EQ(bool(devobj::ProductsByParts::for_reflectors<T>(Math::automatic, m, n - block, block, q(), QR)),
              ld % 2 != 0);
    Dense<T> factors;
    const QrMeasures here = measured_qr<T>(A, QR, {Method::native, block}, q(), &factors);
    EXPECT_LE(here.residual, residual_bound);
    EXPECT_LE(here.orthogonality, residual_bound);
    if (ld % 2 == 0) {
      of_even = factors, even = here;
      continue;
    }
    EXPECT_LE(here.residual, 1.5 * even.residual + 0.01);
    EXPECT_LE(here.orthogonality, 1.5 * even.orthogonality + 0.01);
    EXPECT_FALSE(same_bits(factors, of_even)) << "both were computed in the same way";
  }
}

/// So large that orgqr and ormqr have blocks of 512 columns, and in double precision C^H V instead of V^H C.
TEST_P(ProductsByPartsUses, QrOfLargeMatricesWithTheLibrarysBlocks) {
  const auto check = [&]<class T>(T, std::int64_t m, std::int64_t n, Math math) {
    SCOPED_TRACE(shape_name(m, n));
    Matrix<T> A(m, n, q()), QR(m, n, q());
    Rng rng(q(), Generator::philox, 23);
    rng.uniform<T>(-1, 1, A, q());
    const QrMeasures here = measured_qr<T>(A, QR, {Method::native, 0, nullptr, math}, q());
    EXPECT_LE(here.residual, residual_bound);
    EXPECT_LE(here.orthogonality, residual_bound);
  };
  if (type() == Type::real) {
    check(float{}, 3300, 3100, Math::automatic);
    check(double{}, 6700, 6600, Math::automatic);
  } else {
    check(std::complex<float>{}, 3300, 3100, Math::automatic);
    check(std::complex<double>{}, 3700, 3600, Math::strict);
  }
}

/// V^H C of complex<double> is three real products instead of four, where C is large and math is not strict. Rows and columns
/// of very different sizes keep their own errors, real and imaginary parts with them.
TEST_P(ProductsByPartsUses, QrOfDoubleComplexByThreeRealProductsIsAsAccurateAsInStrictMath) {
  if (type() != Type::complex) return;
  using T = std::complex<double>;
  const std::int64_t block = 256, m = by_three_least + 1000, n = by_three_least + 800;
  Dense<T> A = random<T>(m, n, 9);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      const int exponent = static_cast<int>(j % 5) * 60 - 120;
      A(i, j) = {std::ldexp(A(i, j).real(), exponent), std::ldexp(A(i, j).imag(), exponent - (j % 3 == 1 ? 30 : 0))};
    }
  // the largest error of a column of A - Q R relative to its norm, in units of m eps; the same for Q^H Q - I
  const auto measures = [&](Math math, Dense<T>& factors) {
    Matrix<T> QR = upload(A, q()), R(n, n, q()), E = upload(A, q()), gram(n, n, q()), tau(n, 1, q());
    geqrf<T>(QR, tau.view(), q(), {Method::native, block, nullptr, math});
    factors = download<T>(QR, q());
    laset<T>(Uplo::General, T(0), T(0), R, q());
    lacpy<T>(Uplo::Upper, QR.view()({0, n}, {0, n}), R, q());
    orgqr<T>(QR, tau.view(), q(), {Method::automatic, 0, nullptr, Math::strict});
    gemm<T>(Op::NoTrans, Op::NoTrans, T(-1), QR, R, T(1), E, q());
    const Dense<T> error = download<T>(E, q());
    double worst = 0;
    for (std::int64_t c = 0; c < n; ++c) {
      double of_error = 0, of_column = 0;
      for (std::int64_t r = 0; r < m; ++r) of_error += std::norm(error(r, c)), of_column += std::norm(A(r, c));
      worst = larger(worst, std::sqrt(of_error / of_column) / (double(m) * eps<T>));
    }
    gemm<T>(Op::ConjTrans, Op::NoTrans, T(1), QR, QR, T(0), gram, q());
    laset<T>(Uplo::General, T(0), T(1), R, q());
    gemm<T>(Op::NoTrans, Op::NoTrans, T(-1), R, R, T(1), gram, q());
    return QrMeasures{worst, lange<T>(Norm::One, gram, q()) / (double(m) * eps<T>)};
  };
  Dense<T> fast, strict;
  const QrMeasures ours = measures(Math::automatic, fast), plain = measures(Math::strict, strict);
  EXPECT_LE(ours.residual, residual_bound);
  EXPECT_LE(ours.residual, 1.5 * plain.residual + 0.01);
  EXPECT_LE(ours.orthogonality, residual_bound);
  EXPECT_LE(ours.orthogonality, 1.5 * plain.orthogonality + 0.01);
  EXPECT_FALSE(same_bits(fast, strict)) << "both were computed in the same way";

  A(7, n - 1) = {std::numeric_limits<double>::quiet_NaN(), 0};
  const QrFactors<T> with_nan = factor_qr(A, q(), QrOptions{Method::native, block});
  for (std::int64_t i = 0; i < n; ++i) ASSERT_TRUE(std::isnan(std::abs(with_nan.QR(i, n - 1)))) << i;
  for (std::int64_t j = 0; j < n - 1; ++j)
    for (std::int64_t i = 0; i < m; ++i) ASSERT_TRUE(is_finite(with_nan.QR(i, j))) << i << ", " << j;
}

/// Factorizations large enough that their updates use the products, beyond the first two panels; blocks of 256 for V^H C
/// too.
TEST_P(ProductsByPartsUses, QrIsAsAccurateAsInStrictMath) {
  with_single([&]<class T>(T) {
    // the last: blocks deeper than one such product
    for (auto [m, n, block] : {std::array<std::int64_t, 3>{3000, 2800, 256}, {2400, 2900, 256}, {2300, 3700, 768}}) {
      const Dense<T> A = random<T>(m, n, 9);
      for (const Method method : {Method::native, Method::hybrid}) {
        if (method == Method::hybrid && block > qr_block_max) continue;
        QrOptions options{method, block};
        const QrFactors<T> fast = factor_qr(A, q(), options);
        options.math = Math::strict;
        const QrFactors<T> strict = factor_qr(A, q(), options);
        const QrMeasures ours = qr_measures(A, fast), plain = qr_measures(A, strict);
        EXPECT_LE(ours.residual, residual_bound);
        EXPECT_LE(ours.residual, 1.5 * plain.residual + 0.01) << shape_name(m, n);
        EXPECT_LE(ours.orthogonality, 1.5 * plain.orthogonality + 0.01) << shape_name(m, n);
        EXPECT_FALSE(same_bits(fast.QR, strict.QR)) << "both were computed in the same way";
      }
    }
  });
}

TEST_P(ProductsByPartsUses, QIsAsAccurateAsInStrictMath) {
  with_single([&]<class T>(T) {
    const std::int64_t m = 2900, n = 2600;
    const QrFactors<T> f = factor_qr(random<T>(m, n, 10), q(), {Method::native});
    const Dense<T> C = random<T>(m, 2300, 11), CH = op_of(adjoint<T>, C);
    const Dense<precise_t<T>> Q = q_of(f, m);
    const Dense<precise_t<T>> C0 = precise(C), QC = devobj::test::product(Op::NoTrans, Q, Op::NoTrans, C0),
                              QHC = devobj::test::product(adjoint<T>, Q, Op::NoTrans, C0);
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
        const double distance = magnitude(precise_t<T>(X[e]) - expected[e]) / eps<T>;
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

/// Of complex<double> the products of solves with many right-hand sides are by remainders of integers, unless there is no memory for
/// them: solutions of all sizes are as accurate, and a NaN stays in its column.
TEST_P(ProductsByPartsUses, SolutionsByResiduesAreAsAccurateAsInStrictMath) {
  if (type() != Type::complex) return;
  if (!residues_usable(Math::automatic, q())) GTEST_SKIP() << "skipped: this GPU has no such product";
  using T = std::complex<double>;
  const std::int64_t n = 3001, nrhs = 6100;  // in strict math by halves too
  const Dense<T> A = random<T>(n, n, 12);
  Dense<T> B = random<T>(n, nrhs, 13);
  for (std::int64_t j = 0; j < nrhs; ++j)
    for (std::int64_t i = 0; i < n; ++i) B(i, j) *= std::ldexp(1.0, static_cast<int>(j % 7) * 50 - 150);
  const LuFactors<T> f = factor_lu(A, q(), {Method::native, 0, nullptr, 0, Math::strict});
  const double norm = one_norm(A);
  const Matrix<T> device_A = upload(A, q());
  const auto solved = [&](const Dense<T>& right_hand_sides, Op op, Math math) {
    Padded<T> LU(f.LU, q()), X(right_hand_sides, q());
    Padded<std::int32_t> pivots(f.pivots, q());
    getrs<T>(op, LU, pivots.view(), X, q(), {Method::automatic, 0, nullptr, 0, math});
    return X.read("X");
  };
  // the largest of B - op(A) X's columns relative to ||A|| ||x||, in units of n eps
  const auto residual_of = [&](Op op, const Dense<T>& X) {
    const Matrix<T> device_X = upload(X, q()), E = upload(B, q());
    gemm<T>(op, Op::NoTrans, T(-1), device_A, device_X, T(1), E, q());
    const Dense<T> error = download<T>(E, q());
    double worst = 0;
    for (std::int64_t j = 0; j < nrhs; ++j) worst = larger(worst, column_sum(error, j) / column_sum(X, j));
    return worst / (norm * double(n) * eps<T>);
  };
  for (const Op op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
    const Dense<T> fast = solved(B, op, Math::automatic), strict = solved(B, op, Math::strict);
    const double r = residual_of(op, fast);
    EXPECT_LE(r, residual_bound);
    EXPECT_LE(r, 1.5 * residual_of(op, strict) + 0.01) << letters(op);
    EXPECT_FALSE(same_bits(fast, strict)) << "both were computed in the same way";
  }

  bool went_without = false;
  const Dense<T> strict = solved(B, Op::NoTrans, Math::strict);
  for (int nth = 1; nth <= 4 && !went_without; ++nth) {
    Padded<T> LU(f.LU, q()), X(B, q());
    Padded<std::int32_t> pivots(f.pivots, q());
    q().wait();
    Queue fresh(Backend::cuda);
    memory::fail_allocation(nth);
    try {
      getrs<T>(Op::NoTrans, LU, pivots.view(), X, fresh);
      memory::fail_allocation(0);
      fresh.wait();
      went_without = same_bits(X.read("X"), strict);
    } catch (const Error& error) {
      memory::fail_allocation(0);
      EXPECT_EQ(error.status(), Status::out_of_memory) << error.what();
    }
  }
  EXPECT_TRUE(went_without);

  B(600, 700) = make<T>(nan<T>);
  const Dense<T> X = solved(B, Op::NoTrans, Math::automatic);
  for (std::int64_t j = 0; j < nrhs; ++j)
    for (std::int64_t i = j == 700 ? n - 1 : 0; i < n; ++i) ASSERT_EQ(is_finite(X(i, j)), j != 700) << i << ", " << j;
}

/// NaN and infinities reach what they reach in strict math.
TEST_P(ProductsByPartsUses, NaNAndInfGoThroughQrAndSolvesAsInStrictMath) {
  with_single([&]<class T>(T) {
    const std::int64_t n = 2700;
    const LuFactors<T> f = lapack_lu(random<T>(n, n, 15));
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

      Dense<T> B = random<T>(n, 2100, 16);
      B(600, 700) = bad;
      auto solved = [&](Math math) {
        Padded<T> LU(f.LU, q()), X(B, q());
        Padded<std::int32_t> pivots(f.pivots, q());
        getrs<T>(Op::NoTrans, LU, pivots.view(), X, q(), {Method::automatic, 0, nullptr, 0, math});
        return X.read("X");
      };
      const Dense<T> ours = solved(Math::automatic), plain = solved(Math::strict);
      auto column_is_finite = [&](const Dense<T>& X, std::int64_t j) {
        return std::all_of(&X(0, j), &X(0, j) + n, [](T x) { return is_finite(x); });
      };
      for (std::int64_t j = 0; j < B.cols(); ++j)
        EXPECT_EQ(column_is_finite(ours, j), column_is_finite(plain, j)) << bad << ", " << j;
    }
  });
}

}  // namespace
}  // namespace devobj::test
