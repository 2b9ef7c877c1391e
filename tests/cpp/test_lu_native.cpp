// On a GPU only: the native LU beyond what test_lu*.cpp ask of every method: every shape of the panel kernel, panels of every height,
// info on the device, and the arguments that only it has.
#include <cstring>
#include <limits>

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

std::string name_of(const cuda::LuPanelShape& shape, std::int64_t m, std::int64_t n) {
  return shape_name(m, n) + ": " + std::to_string(shape.blocks) + " blocks of " + std::to_string(shape.threads) +
         " threads, " + std::to_string(shape.rows) + " rows per thread" + (shape.cluster ? ", cluster" : ", grid") +
         (shape.keeps_L ? "" : ", L not kept") + (shape.boxes ? "" : ", no boxes");
}

/// All that there are, and the one beside products, of which blocks may have no rows.
template <class T>
std::vector<cuda::LuPanelShape> shapes_for(std::int64_t m) {
  std::vector<cuda::LuPanelShape> shapes;
  if constexpr (cuda_built) {
    shapes = cuda::lu_panel_shapes<T>(m);
    for (std::size_t i = 0, count = shapes.size(); i < count; ++i)
      for (const auto& [keeps_L, boxes] : {std::pair{false, true}, {true, false}, {false, false}}) {
        shapes.push_back(shapes[i]);
        shapes.back().keeps_L = keeps_L;
        shapes.back().boxes = boxes;
      }
    shapes.push_back(cuda::lu_panel_shape<T>(m, true));
  }
  return shapes;
}

template <class T>
cuda::LuPanelShape factor_panel(const cuda::LuPanelShape& shape, View<T> A, View<std::int32_t> ipiv,
                                View<std::int32_t> info, Queue& q) {
  Matrix<std::int32_t> lists(A.cols, 2, q);
  const Storage workspace(cuda::lu_panel_workspace<T>(A.cols), q);
  return cuda::lu_panel(A, ipiv, 0, info.data, {lists.view().data, lists.view().data + A.cols, A.cols},
                        const_cast<void*>(workspace.data()), shape, nullptr, q);
}

/// One block, clusters of 2 to 16, grids; 128 or 256 threads with 1 to 16 rows each: the same bits, and LAPACK's pivots. (The panels do
/// not begin at 16 bytes: so there are no boxes, with which single precision has others.)
TEST_P(LuNative, EveryShapeOfThePanelGivesTheSameBits) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built) {
      for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{100, 100},
                          {200, 150},
                          {256, 256},
                          {1000, 77},
                          {2000, 150},
                          {4001, 40},
                          {5000, 129},
                          {700, 256}}) {
        const Dense<T> A = random<T>(m, n, 11);
        const LuFactors<T> lapack = lapack_lu(A);
        Dense<T> first;
        for (const cuda::LuPanelShape& shape : shapes_for<T>(m)) {
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
      }
    }
  });
}

/// The same where all columns begin and end at multiples of 16 bytes, which the copy engine needs; what is around the panel stays. In
/// single precision products are sums of three then: the same bits are those of all panels with them, and of all without.
TEST_P(LuNative, PanelsForTheCopyEngine) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built) {
      const bool hopper = cuda::gemm_overlapped_usable(q().device()), copied = !std::is_same_v<T, std::complex<float>>,
                 splits = std::is_same_v<T, float>;
      using Size = std::pair<std::int64_t, std::int64_t>;
      for (auto [m, n] : {Size{1000, 77}, {1000, 200}, {1060, 80}, {4004, 128}, {6000, 49}, {9000, 129}, {700, 256}}) {
        const Dense<T> A = random<T>(m, n, 18);
        const LuFactors<T> lapack = lapack_lu(A);
        Dense<T> firsts[2];
        int boxes = 0, keep_L = 0;
        for (const cuda::LuPanelShape& shape : shapes_for<T>(m)) {
          const std::string what = name_of(shape, m, n);
          constexpr std::int64_t around = 4, right = 20;
          Matrix<T> whole(m + 2 * around, n + right, q());
          laset<T>(Uplo::General, 7, 7, whole, q());
          const View<T> panel = whole({around, around + m}, {0, n});
          to_device<T>({A.data(), m, n, m}, panel, q());
          Matrix<std::int32_t> ipiv(n, 1, q()), info = upload(Dense<std::int32_t>(1, 1), q());
          const cuda::LuPanelShape used = factor_panel<T>(shape, panel, ipiv.view(), info, q());
          boxes += used.boxes;
          keep_L += used.keeps_L;
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
        if (hopper) {
          EXPECT_EQ(keep_L > 0, (std::is_same_v<T, double>)) << shape_name(m, n);
        }
      }
    }
  });
}

/// In single precision products beside the elimination are sums of three where columns are boxes, but with infinities, NaN or numbers that
/// are too large or too small they are plain: as without the copy engine.
TEST_P(LuNative, PanelsWithNumbersThatCannotBeSplit) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built && std::is_same_v<T, float>) {
      const bool hopper = cuda::gemm_overlapped_usable(q().device());
      using Size = std::pair<std::int64_t, std::int64_t>;
      for (auto [m, n] : {Size{1000, 64}, {3000, 200}, {9000, 64}, {13000, 64}, {17000, 64}}) {
        const std::int64_t marked = n == 64 ? 50 : 180;
        const Dense<T> random_numbers = random<T>(m, n, 23);
        const auto with = [&](T row, T column,
                              T diagonal) {  // factors of a row and a column, a number to begin the diagonal
          return Dense<T>::from(m, n, [&](auto i, auto j) {
            return i == j && j < marked && diagonal > 0
                       ? diagonal
                       : random_numbers(i, j) * (j == marked ? column : T(1)) * (i == m - 2 ? row : T(1));
          });
        };
        // a large diagonal: small L, so that nothing large grows
        Dense<T> infinity = with(1, 1, 1000), not_a_number = infinity, in_L = with(1, 1, 0);
        infinity(3, marked) = std::numeric_limits<T>::infinity();
        not_a_number(7, marked) = nan<T>;
        in_L(m - 1, 15) = nan<T>;  // a pivot, below which the last column of the first sub-panel is NaN, and U12 is not
        enum class Compare { bits, numbers, nan };
        struct Case {
          const char* what;
          Dense<T> A;
          Compare compare;
        };
        const bool all_columns_plain =
            n == 64;  // of the other one those before the marked one's sub-panel has come into U12
        const Compare bits = all_columns_plain ? Compare::bits : Compare::numbers;
        const Case cases[] = {{"infinity", infinity, bits},
                              {"NaN", not_a_number, bits},
                              {"NaN in L", in_L, Compare::nan},
                              {"3e38", with(1, 3e38F, 1000), bits},
                              {"2^126", with(1, 0x1p126F, 1000), bits},
                              {"column 2^-100", with(1, 0x1p-100F, 0), Compare::numbers},
                              {"column 2^-115", with(1, 0x1p-115F, 0), Compare::numbers},
                              {"column 2^-124", with(1, 0x1p-124F, 0), Compare::numbers},
                              {"row 2^-100", with(0x1p-100F, 1, 0), Compare::numbers},
                              {"row 2^-115", with(0x1p-115F, 1, 0), Compare::numbers},
                              {"row 2^-120", with(0x1p-120F, 1, 0), Compare::numbers}};
        for (const auto& [what, A, compare] : cases) {
          LuFactors<T> plain;
          int boxes = 0;
          for (const cuda::LuPanelShape& shape : shapes_for<T>(m)) {
            const std::string text = name_of(shape, m, n) + ", " + what;
            Matrix<T> LU = upload(A, q());
            Matrix<std::int32_t> ipiv(n, 1, q()), info = upload(Dense<std::int32_t>(1, 1), q());
            const bool used = factor_panel<T>(shape, LU, ipiv, info, q()).boxes;
            const LuFactors<T> f{download<T>(LU, q()), download<std::int32_t>(ipiv, q()), 0};
            if (plain.LU.size() == 0) {
              cuda::LuPanelShape without = shape;
              without.boxes = false;
              LU = upload(A, q());
              factor_panel<T>(without, LU, ipiv, info, q());
              plain = {download<T>(LU, q()), download<std::int32_t>(ipiv, q()), 0};
            }
            boxes += used;
            if (compare == Compare::bits || !used) {
              expect_same(f.LU, plain.LU, text);
              continue;
            }
            expect_same(f.pivots, plain.pivots, text + ": pivots");
            for (std::int64_t j = 0; j < n; ++j) {
              // what is in a column, but the small row by itself, has been rounded relative to the largest there
              T largest = 0;
              for (std::int64_t i = 0; i < m; ++i) largest = std::max(largest, std::abs(plain.LU(i, j)));
              for (std::int64_t i = 0; i < m; ++i) {
                const T expected = plain.LU(i, j), actual = f.LU(i, j);
                if (compare == Compare::nan || std::isnan(expected) || std::isinf(expected)) {
                  ASSERT_EQ(std::isnan(actual), std::isnan(expected)) << text << ": " << i << ", " << j;
                  if (std::isinf(expected)) {
                    ASSERT_EQ(actual, expected) << text << ": " << i << ", " << j;
                  }
                  continue;
                }
                const bool small_row = i == m - 2 && std::string(what).starts_with("row");
                const T size = small_row ? std::ldexp(T(1), -std::stoi(std::string(what).substr(7))) : largest;
                ASSERT_LE(std::abs(actual - expected), 1e-4F * size + std::numeric_limits<T>::denorm_min() * 100)
                    << text << ": " << i << ", " << j;
              }
            }
          }
          EXPECT_EQ(boxes > 0, hopper) << m;
        }
      }
    }
  });
}

/// In panels too: with strict math products are plain, else, of so many rows, sums of three.
TEST_P(LuNative, StrictMathInPanels) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built && std::is_same_v<T, float>) {
      const std::int64_t m = 9000, n = 128;
      const Dense<T> A = random<T>(m, n, 29);
      Dense<T> factors[2];
      for (const bool boxes : {false, true}) {
        cuda::LuPanelShape shape = cuda::lu_panel_shape<T>(m);
        shape.boxes = boxes;
        Matrix<T> LU = upload(A, q());
        Matrix<std::int32_t> ipiv(n, 1, q()), info = upload(Dense<std::int32_t>(1, 1), q());
        EXPECT_EQ(factor_panel<T>(shape, LU, ipiv, info, q()).boxes,
                  boxes && cuda::gemm_overlapped_usable(q().device()));
        factors[boxes] = download<T>(LU, q());
        LuOptions options{Method::native, n, nullptr, n};
        if (!boxes) options.math = Math::strict;
        LU = upload(A, q());
        getrf<T>(LU, ipiv, q(), options);
        expect_same(download<T>(LU, q()), factors[boxes], boxes ? "sums of three" : "strict");
      }
      const bool same = std::memcmp(factors[0].data(), factors[1].data(), m * n * sizeof(T)) == 0;
      EXPECT_EQ(same, !cuda::gemm_overlapped_usable(q().device()));
    }
  });
}

/// Panels whose columns do not end at 16 bytes, in memory that may be overwritten up to there, and no further; and in memory that may not.
TEST_P(LuNative, PaddedPanelsForTheCopyEngine) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built) {
      constexpr std::int64_t together = sizeof(T) < 16 ? 16 / sizeof(T) : 1, below = 8, n = 100;
      const bool copied = cuda::gemm_overlapped_usable(q().device()) && !std::is_same_v<T, std::complex<float>>;
      for (const std::int64_t m : {1001, 4003, 9002, 9001}) {
        const Dense<T> A = random<T>(m, n, 19);
        const LuFactors<T> lapack = lapack_lu(A);
        const std::int64_t ends = (m + together - 1) / together * together;
        int boxes = 0;
        for (cuda::LuPanelShape shape : cuda::lu_panel_shapes<T>(m)) {
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

/// Candidates that differ in their last bits only, or not at all, in every block, warp and thread.
TEST_P(LuNative, PivotsAmongNearlyEqualElements) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built) {
      for (const std::int64_t m : {100, 500, 1000, 2001, 4001, 9001, 13001, 17001}) {
        const std::int64_t n = 5;
        Dense<T> A = random<T>(m, n, 17);
        for (std::int64_t i = 0; i < m; ++i) {
          const real_t<T> last_bits = real_t<T>(i * 7 % 5) * std::numeric_limits<real_t<T>>::epsilon();
          A(i, 0) = T((i % 3 == 0 ? -1 : 1) * (1 + last_bits));
        }
        const LuFactors<T> lapack = lapack_lu(A);
        for (const cuda::LuPanelShape& shape : shapes_for<T>(m)) {
          Matrix<T> LU = upload(A, q());
          Matrix<std::int32_t> ipiv(n, 1, q()), info = upload(Dense<std::int32_t>(1, 1), q());
          factor_panel<T>(shape, LU, ipiv, info, q());
          expect_same(download<std::int32_t>(ipiv, q()), lapack.pivots, name_of(shape, m, n));
        }
      }
    }
  });
}

/// Many blocks, one workspace for panel after panel, in which anything was before; a NaN as the first element, another, and a column of
/// zeros.
TEST_P(LuNative, GridsOfManyBlocks) {
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
          for (const cuda::LuPanelShape& shape : cuda::lu_panel_shapes<T>(m)) {
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

/// The shapes that the library chooses: a block, clusters, and the grid.
TEST_P(LuNative, PanelsOfEveryHeight) {
  with_type([&]<class T>(T) {
    for (const std::int64_t m :
         {128, 129, 255, 256, 257, 511, 513, 1025, 2048, 2049, 4097, 8193, 12288, 12289, 16385, 70001}) {
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
    if (std::is_same_v<real_t<T>, double>) {
      const std::int64_t least = is_complex<T> ? 4000 : 5000;
      check(least + 201, least + 100);
      check(least + 100, least + 302);
      check(least + 100, least + 1, 16);  // with too many blocks
    }
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
