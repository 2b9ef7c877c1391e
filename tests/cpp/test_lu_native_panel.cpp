// On a GPU only: lu_panel, the panel kernel of the native LU, in every shape. Its products in single precision: test_lu_native_split.cpp.
#include <limits>

#include "lu_panel_shapes.hpp"
#include "two_parts.hpp"

namespace devobj::test {
namespace {

class LuNativePanel : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, LuNativePanel,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::real, Type::double_precision, Type::complex,
                                                          Type::double_complex)),
                         instance_name);

/// One block, clusters of 2 to 16, grids; 128, 256 or 384 threads with 1 to 16 rows each; one warp that eliminates and others that follow, of few
/// columns and rows in single precision: the same bits, and LAPACK's pivots. (The panels do not begin at 16 bytes: so there are no
/// boxes, with which single precision has others.)
TEST_P(LuNativePanel, EveryShapeGivesTheSameBits) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built) {
      for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{100, 100},
                          {200, 150},
                          {256, 256},
                          {1000, 77},
                          {2000, 150},
                          {4001, 40},
                          {5000, 129},
                          {700, 256},
                          {1, 1},
                          {64, 64},
                          {90, 37},
                          {128, 17},
                          {129, 64},
                          {300, 48},
                          {1000, 64},
                          {1025, 16},
                          {2048, 50}}) {
        const Dense<T> A = random<T>(m, n, 11);
        const LuFactors<T> lapack = lapack_lu(A);
        Dense<T> first;
        for (const cuda::LuPanelShape& shape : shapes_for<T>(m, n)) {
          const std::string text = name_of(shape, m, n);
          const char* what = text.c_str();
          Padded<T> a(A, q());
          Padded<std::int32_t> ipiv(Dense<std::int32_t>(n, 1), q());
          Matrix<std::int32_t> info = upload(Dense<std::int32_t>(1, 1), q());
          factor_panel<T>(shape, a.view(), ipiv.view(), info, q());
          const Dense<T> LU = a.read(what);
          expect_same(ipiv.read(what), lapack.pivots, text + ": pivots");
          EXPECT_EQ(download<std::int32_t>(info, q())[0], 0) << what;
          if (first.size() == 0) {
            first = LU;
            EXPECT_LE(lu_residual(A, LuFactors<T>{LU, lapack.pivots, 0}), residual_bound) << what;
          }
          expect_same(LU, first, what);
        }
        if (std::is_same_v<T, float> && cuda::lu_panel_shape<T>(1000, 64).cluster) {
          EXPECT_EQ(cuda::lu_panel_shape<T>(m, n).threads == 32, n <= 64 && (m <= 128 || (m > 256 && m <= 2048)))
              << shape_name(m, n);
        }
      }
    }
  });
}

/// Tall panels in single precision: clusters as long as there are some, then a grid, which beside products has half of the blocks.
TEST_P(LuNativePanel, ShapesOfTallPanels) {
  if constexpr (cuda_built) {
    if (type() != Type::real || !cuda::lu_panel_shape<float>(1000, 64).cluster)
      GTEST_SKIP() << "skipped: of other types, and without clusters, there is one grid";
    const auto shape = [](std::int64_t m, bool beside) { return cuda::lu_panel_shape<float>(m, 128, beside); };
    for (const bool beside : {false, true}) {
      EXPECT_TRUE(shape(24576, beside).cluster && shape(24576, beside).rows == 6) << beside;
      EXPECT_TRUE(shape(32768, beside).cluster && shape(32768, beside).rows == 8) << beside;
      EXPECT_TRUE(!shape(32769, beside).cluster && shape(32769, beside).rows == (beside ? 4 : 2)) << beside;
    }
  }
}

/// Columns whose pivots are zero, NaN, infinite, subnormal, large, or one of two equals, in panels of few columns and of more:
/// the same in every shape. In what follows a NaN or an infinity nothing else is left.
TEST_P(LuNativePanel, HardColumnsInEveryShape) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built) {
      using R = real_t<T>;
      using Limits = std::numeric_limits<R>;
      const R hard[] = {
          R(0), Limits::quiet_NaN(), Limits::infinity(), Limits::denorm_min(), Limits::min() / 2, Limits::max() / 4,
          R(1)};
      for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{64, 64}, {500, 64}, {1500, 40}, {1500, 100}})
        for (const R value : hard)
          for (const std::int64_t column : {0, 5, 16, 37}) {
            // everywhere in the column, or in two of its rows
            Dense<T> A = random<T>(m, n, 41);
            const bool everywhere = value == 0 || std::abs(value) < 1;
            for (std::int64_t i = 0; i < m; ++i)
              if (everywhere || i == column + 1 || i == m - 1) A(i, column) = T(value);
            Dense<T> first;
            Dense<std::int32_t> first_pivots;
            std::int32_t first_info = 0;
            for (cuda::LuPanelShape shape : shapes_for<T>(m, n)) {
              const std::string what =
                  name_of(shape, m, n) + ", " + std::to_string(value) + " in column " + std::to_string(column);
              shape.boxes = false;
              Padded<T> a(A, q());
              Padded<std::int32_t> ipiv(Dense<std::int32_t>(n, 1), q());
              Matrix<std::int32_t> info = upload(Dense<std::int32_t>(1, 1), q());
              factor_panel<T>(shape, a.view(), ipiv.view(), info, q());
              const Dense<T> LU = a.read(what.c_str());
              const Dense<std::int32_t> pivots = ipiv.read(what.c_str());
              const std::int32_t found = download<std::int32_t>(info, q())[0];
              if (first.size() == 0) {
                first = LU;
                first_pivots = pivots;
                first_info = found;
              }
              expect_same(pivots, first_pivots, what + ": pivots");
              EXPECT_EQ(found, first_info) << what;
              std::int64_t others = 0;
              for (std::int64_t e = 0; e < LU.size(); ++e)
                others += LU[e] != first[e] && !(LU[e] != LU[e] && first[e] != first[e]);
              EXPECT_EQ(others, 0) << what;
            }
            if (value == 0 || value == 1) {  // (others overflow in LAPACK)
              expect_same(first_pivots, lapack_lu(A).pivots, "LAPACK's pivots");
            }
          }
    }
  });
}

/// The same where all columns begin and end at multiples of 16 bytes, which the copy engine needs; what is around the panel stays. In
/// single precision products are sums of three then: the same bits are those of all panels with them, and of all without.
TEST_P(LuNativePanel, ForTheCopyEngine) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built) {
      const bool hopper = cuda::gemm_overlapped_usable(q().device()), copied = !std::is_same_v<T, std::complex<float>>,
                 splits = std::is_same_v<T, float>;
      using Size = std::pair<std::int64_t, std::int64_t>;
      for (auto [m, n] : {Size{1000, 77}, {1000, 200}, {1060, 80}, {4004, 128}, {6000, 49}, {9000, 129}, {700, 256}}) {
        const Dense<T> A = random<T>(m, n, 18);
        const LuFactors<T> lapack = lapack_lu(A);
        Dense<T> firsts[2];
        int boxes = 0, stacks = 0, keep_L = 0;
        for (const cuda::LuPanelShape& shape : shapes_for<T>(m, n)) {
          const std::string what = name_of(shape, m, n);
          constexpr std::int64_t around = 4, right = 20;
          Matrix<T> whole(m + 2 * around, n + right, q());
          laset<T>(Uplo::General, 7, 7, whole, q());
          const View<T> panel = whole({around, around + m}, {0, n});
          to_device<T>({A.data(), m, n, m}, panel, q());
          Matrix<std::int32_t> ipiv(n, 1, q()), info = upload(Dense<std::int32_t>(1, 1), q());
          const cuda::LuPanelShape used = factor_panel<T>(shape, panel, ipiv.view(), info, q());
          boxes += used.boxes;
          stacks += used.stacks;
          keep_L += used.keeps_L;
          EXPECT_TRUE(shape.stacks || !used.stacks) << what;
          expect_same(download<std::int32_t>(ipiv, q()), lapack.pivots, what + ": pivots");
          const Dense<T> LU = download<T>(panel, q());
          Dense<T>& first = firsts[splits && used.boxes];
          if (first.size() == 0) {
            first = LU;
            EXPECT_LE(lu_residual(A, LuFactors<T>{LU, lapack.pivots, 0}), residual_bound) << what;
          }
          expect_same(LU, first, what);
          for (const View<T>& border : {whole({0, around}, {0, n}), whole({around + m, m + 2 * around}, {0, n}),
                                        whole({0, m}, {n, n + right})}) {
            const Dense<T> elements = download<T>(border, q());
            for (std::int64_t e = 0; e < elements.size(); ++e) ASSERT_EQ(elements[e], T(7)) << what;
          }
        }
        EXPECT_EQ(boxes > 0, hopper && copied) << shape_name(m, n);
        EXPECT_EQ(stacks > 0, hopper && (std::is_same_v<T, std::complex<double>>)) << shape_name(m, n);
        if (hopper) {
          EXPECT_EQ(keep_L > 0, (std::is_same_v<T, double>)) << shape_name(m, n);
        }
      }
    }
  });
}

/// Panels whose columns do not end at 16 bytes, in memory that may be overwritten up to there, and no further; and in memory that may not.
TEST_P(LuNativePanel, PaddedForTheCopyEngine) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built) {
      constexpr std::int64_t together = sizeof(T) < 16 ? 16 / sizeof(T) : 1, below = 8, n = 100;
      const bool copied = cuda::gemm_overlapped_usable(q().device()) && !std::is_same_v<T, std::complex<float>>;
      for (const std::int64_t m : {1001, 4003, 9002, 9001}) {
        const Dense<T> A = random<T>(m, n, 19);
        const LuFactors<T> lapack = lapack_lu(A);
        const std::int64_t ends = (m + together - 1) / together * together;
        int boxes = 0;
        for (cuda::LuPanelShape shape : cuda::lu_panel_shapes<T>(m, n)) {
          const std::string what = name_of(shape, m, n);
          Dense<T> LU[2];
          bool splits = false;
          for (const bool padded : {false, true}) {
            shape.padded = padded;
            Matrix<T> whole((m + below + 3) / 4 * 4, n, q());
            laset<T>(Uplo::General, 7, 7, whole, q());
            const View<T> panel = whole.view()({0, m}, {0, n});
            to_device<T>({A.data(), m, n, m}, panel, q());
            Matrix<std::int32_t> ipiv(n, 1, q()), info = upload(Dense<std::int32_t>(1, 1), q());
            const cuda::LuPanelShape used = factor_panel<T>(shape, panel, ipiv.view(), info, q());
            if (!padded && ends != m) {
              EXPECT_FALSE(used.boxes) << what;
            }
            boxes += used.boxes;
            splits |= used.boxes && std::is_same_v<T, float>;
            expect_same(download<std::int32_t>(ipiv, q()), lapack.pivots, what + ": pivots");
            LU[padded] = download<T>(panel, q());
            EXPECT_LE(lu_residual(A, LuFactors<T>{LU[padded], lapack.pivots, 0}), residual_bound) << what;
            const View<T> rest = whole.view()({padded ? ends : m, whole.view().rows}, {0, n});
            const Dense<T> elements = download<T>(rest, q());
            for (std::int64_t e = 0; e < elements.size(); ++e) ASSERT_EQ(elements[e], T(7)) << what;
          }
          if (!splits) expect_same(LU[true], LU[false], what);
        }
        EXPECT_EQ(boxes > 0, copied) << m;
      }
    }
  });
}

/// Multipliers of two parts, in single precision, if they are asked for; but all of those whose pivot is a power of two, which are exact.
TEST_P(LuNativePanel, MultipliersOfTwoParts) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built) {
      constexpr bool single = sizeof(real_t<T>) == 4;
      for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{120, 100},
                                 {120, 60},
                                 {250, 100},
                                 {500, 64},
                                 {500, 100},
                                 {1500, 64},
                                 {1500, 100},
                                 {3000, 100},
                                 {9000, 100},
                                 {13000, 100},
                                 {17000, 100}}) {
        Dense<T> A = random<T>(m, n, 31);
        const std::int64_t first_pivot = m / 2;
        A(first_pivot, 0) = T(4);
        Dense<T> firsts[2];
        for (cuda::LuPanelShape shape : cuda::lu_panel_shapes<T>(m, n)) {
          const std::string what = name_of(shape, m, n);
          shape.boxes = shape.boxes && !std::is_same_v<T, float>;  // whose products are others
          for (const bool two_parts : {false, true}) {
            shape.two_parts = two_parts;
            Padded<T> a(A, q());
            Padded<std::int32_t> ipiv(Dense<std::int32_t>(n, 1), q());
            Matrix<std::int32_t> info = upload(Dense<std::int32_t>(1, 1), q());
            factor_panel<T>(shape, a.view(), ipiv.view(), info, q());
            const LuFactors<T> f{a.read(what.c_str()), ipiv.read(what.c_str()), 0};
            Dense<T>& first = firsts[two_parts];
            if (first.size() == 0) {
              first = f.LU;
              EXPECT_LE(lu_residual(A, f), residual_bound) << what;
              EXPECT_TRUE(pivots_in_range(f)) << what;
            }
            expect_same(f.LU, first, what);
          }
        }
        if constexpr (single) {
          const Dense<T>& LU = firsts[true];
          std::int64_t others = 0;
          for (std::int64_t i = 1; i < m; ++i) others += !of_two_parts(LU(i, 0));
          EXPECT_GT(others, m / 4) << m << ": with 4 for a pivot";
          for (std::int64_t i = 1; i < m; ++i) {
            ASSERT_EQ(LU(i, 0), firsts[false](i, 0)) << m << ": " << i;
            for (std::int64_t j = 1; j < std::min(i, n); ++j)
              ASSERT_TRUE(of_two_parts(LU(i, j))) << m << ": " << i << ", " << j;
          }
        } else {
          expect_same(firsts[true], firsts[false], "in double precision nothing is taken away");
        }
      }
    }
  });
}

/// Candidates that differ in their last bits only, or not at all, in every block, warp and thread.
TEST_P(LuNativePanel, PivotsAmongNearlyEqualElements) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built) {
      for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{100, 5},
                                 {100, 40},
                                 {500, 5},
                                 {1000, 5},
                                 {1000, 40},
                                 {2001, 5},
                                 {4001, 5},
                                 {9001, 5},
                                 {13001, 5},
                                 {17001, 5}}) {
        Dense<T> A = random<T>(m, n, 17);
        for (std::int64_t i = 0; i < m; ++i) {
          const real_t<T> last_bits = real_t<T>(i * 7 % 5) * std::numeric_limits<real_t<T>>::epsilon();
          A(i, 0) = T((i % 3 == 0 ? -1 : 1) * (1 + last_bits));
        }
        const LuFactors<T> lapack = lapack_lu(A);
        for (const cuda::LuPanelShape& shape : shapes_for<T>(m, n)) {
          Matrix<T> LU = upload(A, q());
          Matrix<std::int32_t> ipiv(n, 1, q()), info = upload(Dense<std::int32_t>(1, 1), q());
          factor_panel<T>(shape, LU, ipiv, info, q());
          expect_same(download<std::int32_t>(ipiv, q()), lapack.pivots, name_of(shape, m, n));
        }
      }
    }
  });
}

/// Of equals the pivot is the one with the lowest position, also right after an exchange has given it that: column by column, a row that was
/// displaced from the top and a row further down have ones, and all others nothing. In the same lane, another one, another block; also
/// where a block's rows are all done.
TEST_P(LuNativePanel, EqualsAfterAnExchange) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built) {
      for (const auto& [m, other] :
           {std::pair<std::int64_t, std::int64_t>{64, 7}, {128, 32}, {300, 200}, {1500, 1400}, {129, 128}, {257, 256}})
        for (const std::int64_t step : {0, 15, 16, 17}) {
          const std::int64_t n = 40, away = 5 + step;  // the row that displaces row `step`
          Dense<T> A(m, n);
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < m; ++i) A(i, j) = T(0);
          for (std::int64_t j = 0; j < step; ++j) A(j, j) = T(2);
          A(away, step) = T(1);
          A(step, step + 1) = A(other == 7 ? m - 1 : other, step + 1) = T(1);
          for (std::int64_t j = step + 2; j < n; ++j) A(m - 1 - (j - step) % 3, j) = T(3);
          const LuFactors<T> lapack = lapack_lu(A);
          ASSERT_EQ(lapack.pivots[step + 1], away + 1) << "the row that was displaced is taken";
          for (const cuda::LuPanelShape& shape : shapes_for<T>(m, n)) {
            Matrix<T> LU = upload(A, q());
            Matrix<std::int32_t> ipiv(n, 1, q()), info(1, 1, q());
            factor_panel<T>(shape, LU, ipiv, info, q());
            const std::string what = name_of(shape, m, n) + ", step " + std::to_string(step);
            expect_same(download<std::int32_t>(ipiv, q()), lapack.pivots, what);
            EXPECT_EQ(download<std::int32_t>(info, q())[0], lapack.info) << what;
          }
        }
    }
  });
}

/// Many blocks, one workspace for panel after panel, in which anything was before; a NaN as the first element, another, and a column of
/// zeros.
TEST_P(LuNativePanel, GridsOfManyBlocks) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built) {
      for (const std::int64_t m : {20000, 40000}) {
        const std::int64_t n = 24, zero = 9;
        Dense<T> plain = random<T>(m, n, 31), hard = plain;
        const T nan = std::numeric_limits<real_t<T>>::quiet_NaN();
        hard(0, 0) = nan;  // is the pivot, and then everywhere
        Dense<T> later = plain;
        for (std::int64_t i = 0; i < m; ++i) later(i, zero) = T(0);
        later(m - 1, zero + 5) = nan;
        const Storage workspace(cuda::lu_panel_workspace<T>(n), q());
        cuda::fill_bytes(const_cast<void*>(workspace.data()), 0xff, cuda::lu_panel_workspace<T>(n), q().stream());
        for (const Dense<T>* A : {&plain, &hard, &later}) {
          Dense<std::int32_t> pivots;  // LAPACK's, or, where there are NaN, the first shape's
          if (A == &plain) pivots = lapack_lu(plain).pivots;
          for (const cuda::LuPanelShape& shape : cuda::lu_panel_shapes<T>(m, n)) {
            const std::string what = name_of(shape, m, n);
            Matrix<T> LU = upload(*A, q());
            Matrix<std::int32_t> ipiv(n, 1, q()), info = upload(Dense<std::int32_t>(1, 1), q()), lists(n, 2, q());
            cuda::lu_panel<T>(LU, ipiv.view(), 0, info.view().data, {lists.view().data, lists.view().data + n, n},
                              const_cast<void*>(workspace.data()), shape, nullptr, q());
            const Dense<std::int32_t> found = download<std::int32_t>(ipiv, q());
            if (pivots.size() == 0) pivots = found;
            expect_same(found, pivots, what + ": pivots");
            EXPECT_EQ(download<std::int32_t>(info, q())[0], A == &later ? zero + 1 : 0) << what;
            const Dense<T> factors = download<T>(LU, q());
            const bool swallowed = A == &hard && !std::isnan(std::abs(factors(m - 1, 0)));
            EXPECT_FALSE(swallowed) << what;
            if (A == &later) {
              EXPECT_TRUE(std::isnan(std::abs(factors(m - 1, n - 1)))) << what;
            }
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace devobj::test
