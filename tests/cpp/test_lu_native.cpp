// On a GPU only: the native LU beyond what test_lu*.cpp ask of every method: panels of every height, blocks of every kind, info on the
// device, and the arguments that only it has. Its panels by themselves: test_lu_native_panel.cpp and
// test_lu_native_split.cpp.
#include <atomic>
#include <limits>
#include <thread>
#include <vector>

#include "devObjCpp/lu_native_products.hpp"
#include "devobj/rng.hpp"
#include "factor_checks.hpp"
#include "kernels/native.hpp"

namespace devobj::test {
namespace {

class LuNative : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, LuNative,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::real, Type::double_precision, Type::complex,
                                                          Type::double_complex)),
                         instance_name);

/// The shapes that the library chooses: a block, clusters, and the grid.
TEST_P(LuNative, PanelsOfEveryHeight) {
  with_type([&]<class T>(T) {
    for (const std::int64_t m :
         {128, 129, 255, 256, 257, 511, 513, 1025, 2048, 2049, 4097, 8193, 12288, 12289, 16385, 24577, 32769, 70001}) {
      const std::int64_t n = 21;
      const Dense<T> A = random<T>(m, n, std::uint32_t(m));
      const LuFactors<T> lapack = lapack_lu(A), f = factor_lu(A, q(), {Method::native});
      expect_same(f.pivots, lapack.pivots, shape_name(m, n));
      EXPECT_LE(lu_residual(A, f), 2 * lu_residual(A, lapack) + residual_floor) << shape_name(m, n);
    }
  });
}

/// Large square matrices are row-major meanwhile; here panels of every kind, several kernels in one.
TEST_P(LuNative, ALargeSquareMatrix) {
  with_type([&]<class T>(T) {
    if constexpr (!is_complex<T>)
      for (const std::int64_t n : {6101, 6102}) {  // not aligned, and aligned, which gemm_overlapped distinguishes
        const Dense<T> A = random<T>(n, n, 13);
        for (const LuOptions& options :
             {LuOptions{Method::native, 192}, LuOptions{Method::native, 300, nullptr, 100},
              LuOptions{Method::native, 4000, nullptr, 128}, LuOptions{Method::native, 7000, nullptr, 128}}) {
          const LuFactors<T> f = factor_lu(A, q(), options);
          EXPECT_LE(lu_residual(A, f), 1) << n << ", blocks of " << options.block;  // 0.03 was measured
          EXPECT_TRUE(pivots_in_range(f));
        }
      }
  });
}

/// Column-major matrices whose updates are by products that leave multiprocessors to the panels, of complex<float> two of them one
/// after the other in wide blocks: the same bits again.
TEST_P(LuNative, UpdatesBesideThePanels) {
  with_type([&]<class T>(T) {
    using Shapes = std::vector<std::pair<std::int64_t, std::int64_t>>;
    const Shapes shapes = std::is_same_v<T, double>
                              ? Shapes{{2500, 2600}, {2600, 2500}, {4000, 4000}, {4501, 4400}, {4400, 4501}}
                          : std::is_same_v<T, std::complex<double>>
                              ? Shapes{{1700, 1600}, {1300, 3000}, {3000, 1300}, {2700, 2800}, {2800, 2700}}
                              : Shapes{{2700, 2800}, {2800, 2700}};
    for (auto [m, n] : shapes) {
      const Dense<T> A = random<T>(m, n, 14);
      LuOptions strict{Method::native, 0};
      strict.math = Math::strict;
      for (const LuOptions& options : {LuOptions{Method::native, 0}, LuOptions{Method::native, 256, nullptr, 64},
                                       LuOptions{Method::native, 512, nullptr, 128}, strict}) {
        SCOPED_TRACE(shape_name(m, n) + ", blocks of " + std::to_string(options.block) +
                     (options.math == Math::strict ? ", strict" : ""));
        const LuFactors<T> f = factor_lu(A, q(), options), again = factor_lu(A, q(), options);
        EXPECT_LE(lu_residual(A, f), 1);
        EXPECT_TRUE(pivots_in_range(f));
        expect_same(again.LU, f.LU, "LU, again");
        expect_same(again.pivots, f.pivots, "pivots, again");
      }
    }
  });
}

/// Column-major matrices so large that the columns left of a block are exchanged at the end, if they are not too tall and have not
/// too many blocks, and, in double precision, the block after the next is updated on a queue of its own.
TEST_P(LuNative, LargeMatricesThatAreNotSquare) {
  with_type([&]<class T>(T) {
    const auto check = [&](std::int64_t m, std::int64_t n, std::int64_t block = 0, std::int64_t inner = 0) {
      const Dense<T> A = random<T>(m, n, 16);
      const LuFactors<T> f = factor_lu(A, q(), {Method::native, block, nullptr, inner});
      EXPECT_LE(lu_residual(A, f), 1) << shape_name(m, n);
      EXPECT_TRUE(pivots_in_range(f));
    };
    check(5300, 3100);
    check(16500, 1000);           // too tall
    check(4700, 2300, 256, 128);  // so tall that exchanges beside panels are slow, in single precision
    if (!std::is_same_v<T, std::complex<float>>)
      check(6000, 2900, 256, 128);                               // and the product brings what they displace
    if (std::is_same_v<T, double>) check(6001, 2900, 256, 128);  // of these it is this matrix that is aligned
    if (std::is_same_v<real_t<T>, double>) {
      const std::int64_t least = is_complex<T> ? 4000 : 5000;
      check(least + 201, least + 100);
      check(least + 100, least + 302);
      check(least + 100, least + 1, 16);  // with too many blocks
    }
  });
}

/// Of real ones the first panel of a block waits for its own columns alone.
TEST_P(LuNative, TallMatrices) {
  with_type([&]<class T>(T) {
    const std::int64_t n = is_complex<T> ? 4100 : std::is_same_v<T, double> ? 5100 : 6100, m = 2 * n + 8;
    const Dense<T> A = random<T>(m, n, 17);
    const LuFactors<T> f = factor_lu(A, q(), {Method::native});
    EXPECT_TRUE(pivots_in_range(f));
    EXPECT_LE(residual_of_rows(A, f), 10);
  });
}

/// Small matrices of double precision have the same factors wherever they are.
TEST_P(LuNative, SmallMatricesThatAreNotAligned) {
  if constexpr (cuda_built)
    if (!cuda::gemm_overlapped_usable(q().device())) GTEST_SKIP() << "skipped: on this GPU cuBLAS makes the products";
  with_type([&]<class T>(T) {
    if constexpr (std::is_same_v<T, double>)
      for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{300, 300}, {777, 777}, {1000, 501}, {500, 1001}}) {
        SCOPED_TRACE(shape_name(m, n));
        const Dense<T> A = random<T>(m, n, 15);
        Dense<T> first;
        for (const std::int64_t above : {0, 1})
          for (const std::int64_t ld : {1002, 1003}) {
            Matrix<T> whole(ld, n, q());
            laset<T>(Uplo::General, 7, 7, whole, q());
            const View<T> LU = whole({above, above + m}, {0, n});
            Matrix<std::int32_t> ipiv(std::min(m, n), 1, q());
            to_device<T>({A.data(), m, n, m}, LU, q());
            EXPECT_EQ(getrf<T>(LU, ipiv.view(), q(), {Method::native}), 0);
            const Dense<T> factors = download<T>(LU, q());
            if (first.size() == 0) {
              first = factors;
              EXPECT_LE(lu_residual(A, LuFactors<T>{factors, download<std::int32_t>(ipiv, q()), 0}), 1);
            }
            expect_same(factors, first, std::to_string(above) + " rows above, ld " + std::to_string(ld));
            const Dense<T> below = download<T>(whole({above + m, ld}, {0, n}), q());
            for (std::int64_t e = 0; e < below.size(); ++e) ASSERT_EQ(below[e], 7);
          }
      }
  });
}

/// Blocks of several panels, of which each has several kernels, as the library chooses them for large matrices.
TEST_P(LuNative, WideBlocks) {
  with_type([&]<class T>(T) {
    constexpr bool single = sizeof(real_t<T>) == 4;
    const std::int64_t n = single ? 13100 : 16100;
    Matrix<T> A(n, n, q()), LU(n, n, q()), x(n, 1, q()), b(n, 1, q());
    Rng rng(q(), Generator::philox, 12);
    rng.uniform<T>(-1, 1, A, q());
    laset<T>(Uplo::General, T(1), T(1), x, q());
    gemv<T>(Op::NoTrans, T(1), A, x, T(0), b, q());
    const double size = lange<T>(Norm::Max, b, q());
    Dense<std::int32_t> first;
    for (const LuOptions& options : {LuOptions{Method::native}, LuOptions{Method::native, 1024, nullptr, 128},
                                     LuOptions{Method::native, 320, nullptr, 64}}) {
      copy<T>(A, LU, q());
      copy<T>(b, x, q());
      Matrix<std::int32_t> ipiv(n, 1, q());
      EXPECT_EQ(getrf<T>(LU, ipiv.view(), q(), options), 0);
      const Dense<std::int32_t> pivots = download<std::int32_t>(ipiv, q());
      if (!single) {  // rounding errors of single precision choose among so many candidates
        if (first.size() == 0) first = pivots;
        expect_same(pivots, first, "pivots, blocks of " + std::to_string(options.block));
      }
      getrs<T>(Op::NoTrans, LU, ipiv.view(), x, q());
      Matrix<T> rest(n, 1, q());
      copy<T>(b, rest, q());
      gemv<T>(Op::NoTrans, T(-1), A, x, T(1), rest, q());
      // a block that is not updated, or other rows exchanged, leaves about as much as b instead of rounding errors
      EXPECT_LE(lange<T>(Norm::Max, rest, q()), (single ? 1e-2 : 1e-8) * size) << "blocks of " << options.block;
    }
  });
}

/// Blocks of several panels, also of widths that nothing divides: each column gets the exchanges of every panel behind it once.
TEST_P(LuNative, BlocksOfSeveralPanels) {
  with_type([&]<class T>(T) {
    using Pair = std::pair<std::int64_t, std::int64_t>;
    for (auto [m, n] : {Pair{700, 700}, {900, 500}, {400, 650}}) {
      const Dense<T> A = random<T>(m, n, 31);
      const LuFactors<T> plain = factor_lu(A, q(), {Method::native});
      for (auto [block, inner] : {Pair{256, 32}, {320, 64}, {200, 24}, {100, 1}, {130, 48}, {512, 128}}) {
        SCOPED_TRACE(shape_name(m, n) + ", blocks of " + std::to_string(block) + ", panels of " +
                     std::to_string(inner));
        const LuFactors<T> F = factor_lu(A, q(), {Method::native, block, nullptr, inner});
        EXPECT_LE(lu_residual(A, F), residual_bound);
        if (sizeof(real_t<T>) == 8) expect_same(F.pivots, plain.pivots, "pivots");
      }
    }
  });
}

/// Panels begin before the kernel before them has ended, and what is beside them is sooner or later: always the same bits.
TEST_P(LuNative, AgainAndAgain) {
  with_type([&]<class T>(T) {
    for (const std::int64_t n : {333, 1100}) {
      const Dense<T> A = random<T>(n, n, 21);
      const LuFactors<T> first = factor_lu(A, q(), {Method::native});
      EXPECT_LE(lu_residual(A, first), residual_bound) << n;
      for (int again = 0; again < 10; ++again) {
        const LuFactors<T> F = factor_lu(A, q(), {Method::native});
        expect_same(F.LU, first.LU, "LU");
        expect_same(F.pivots, first.pivots, "pivots");
      }
    }
  });
}

/// In single precision products between two panels begin beside the kernel before them, of tall matrices in a third queue too; in
/// double precision the third queue exchanges the rows of the next block.
TEST_P(LuNative, LargeMatricesAgainAndAgain) {
  with_type([&]<class T>(T) {
    if constexpr (!is_complex<T>)
      for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{8000, 8000}, {12600, 6300}}) {
        SCOPED_TRACE(shape_name(m, n));
        Matrix<T> A(m, n, q()), LU(m, n, q());
        Rng rng(q(), Generator::philox, 13);
        rng.uniform<T>(-1, 1, A, q());
        Dense<T> first;
        Dense<std::int32_t> first_pivots;
        for (int again = 0; again < 3; ++again) {
          copy<T>(A, LU, q());
          Matrix<std::int32_t> ipiv(n, 1, q());
          EXPECT_EQ(getrf<T>(LU, ipiv.view(), q(), {Method::native}), 0);
          const Dense<T> now = download<T>(LU, q());
          const Dense<std::int32_t> pivots = download<std::int32_t>(ipiv, q());
          if (again == 0) first = now, first_pivots = pivots;
          expect_same(now, first, "LU");
          expect_same(pivots, first_pivots, "pivots");
        }
      }
  });
}

/// Row-major matrices so large that in single precision the columns of the block after the next are a first part of the rest's product:
/// as good as by plain products, which have none.
TEST_P(LuNative, AFirstPartOfTheRest) {
  with_type([&]<class T>(T) {
    if constexpr (std::is_same_v<real_t<T>, float>) {
      const std::int64_t n = LuNativeProducts<T>::first_part_least + 1101;
      const Dense<T> A = random<T>(n, n, 14);
      LuOptions options{Method::native};
      const double ours = residual_of_rows(A, factor_lu(A, q(), options));
      options.math = Math::strict;
      const double strict = residual_of_rows(A, factor_lu(A, q(), options));
      EXPECT_LE(ours, 2 * strict + residual_floor) << "strict " << strict;
      RecordProperty("residuals", std::to_string(ours) + " " + std::to_string(strict));
    }
  });
}

/// Factorizations of several threads at once, of which one at a time has kernels that wait for another queue's: with their own queues and the
/// same results.
TEST_P(LuNative, SeveralThreadsAtOnce) {
  with_type([&]<class T>(T) {
    const auto factors = [](const Dense<T>& A, Queue& on) {
      const Matrix<T> LU = upload(A, on);
      const Matrix<std::int32_t> ipiv(A.rows(), 1, on);
      getrf<T>(LU, ipiv, on, {Method::native});
      return download<T>(LU, on);
    };
    std::vector<Dense<T>> A, expected;
    for (const std::int64_t n : {300, 700, 1000, 2000}) {
      A.push_back(random<T>(n, n, 31));
      expected.push_back(factors(A.back(), q()));
    }
    std::atomic<int> different = 0;
    const auto factor_all = [&](std::size_t thread) {
      Queue own(Backend::cuda);
      for (std::size_t again = 0; again < 12; ++again) {
        const std::size_t i = (thread + again) % A.size();
        if (!same_bits(factors(A[i], own), expected[i])) ++different;
      }
    };
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 8; ++t) threads.emplace_back(factor_all, t);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(different, 0);
  });
}

TEST_P(LuNative, InfoStaysOnTheDevice) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 150;
    Dense<T> A = random<T>(n, n, 3);
    for (std::int64_t i = 0; i < n; ++i) A(i, 140) = A(i, 70) = T(0);
    const LuFactors<T> waited = factor_lu(A, q(), {Method::native, 32});
    EXPECT_EQ(waited.info, 71);
    for (const std::int32_t before : {-5, 5}) {
      Padded<T> a(A, q());
      Padded<std::int32_t> ipiv(Dense<std::int32_t>(n, 1), q()), info(Dense<std::int32_t>(1, 1, before), q());
      getrf<T>(a, ipiv.view(), info.view(), q(), {Method::native, 32});
      EXPECT_EQ(info.read()[0], 71) << before;
      expect_same(a.read(), waited.LU, "LU");
      expect_same(ipiv.read(), waited.pivots, "pivots");
    }
    Padded<std::int32_t> info(Dense<std::int32_t>(1, 1, 5), q());
    Padded<T> regular(random<T>(n, n, 4), q());
    Padded<std::int32_t> pivots(Dense<std::int32_t>(n, 1), q());
    getrf<T>(regular, pivots.view(), info.view(), q(), {Method::native, 32});
    EXPECT_EQ(info.read()[0], 0);

    Padded<T> none(Dense<T>(0, 4), q());
    Padded<std::int32_t> no_pivots(Dense<std::int32_t>(0, 1), q());
    getrf<T>(none, no_pivots.view(), info.view(), q());
    EXPECT_EQ(info.read()[0], 0);
  });
}

TEST_P(LuNative, WrongArgumentsWriteNothing) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(6, 4, 1);
    const Dense<std::int32_t> pivots(4, 1, 9), two(2, 1, 7), one(1, 1, 5);
    Padded<T> a(A, q());
    Padded<std::int32_t> p(pivots, q()), i2(two, q()), i1(one, q());
    EXPECT_INVALID(getrf<T>(a, p.view(), i2.view(), q()), "getrf: info is 2 x 1, must be 1 x 1");
    EXPECT_INVALID(getrf<T>(a, i2.view(), i1.view(), q()), "getrf: ipiv is 2 x 1, must be a vector of 4 elements");
    EXPECT_INVALID(getrf<T>(a, p.view(), p.view()({0, 1}, {0, 1}), q()), "getrf: info and ipiv overlap");
    EXPECT_INVALID(getrf<T>(a, p.view(), i1.view(), q(), {Method::hybrid}), "getrf: method 'hybrid' waits");
    EXPECT_INVALID(getrf<T>(a, p.view(), q(), {Method::native, 0, nullptr, -2}), "getrf: inner_block is -2");
    expect_same(a.read(), A, "A");
    expect_same(p.read(), pivots, "ipiv");
    expect_same(i1.read(), one, "info");
  });
}

}  // namespace
}  // namespace devobj::test
