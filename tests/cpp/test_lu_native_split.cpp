// On a GPU only: lu_panel's products of three in single precision, beside plain ones.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "lu_panel_shapes.hpp"

namespace devobj::test {
namespace {

class LuNativeSplit : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, LuNativeSplit, testing::Combine(testing::Values(places()[2]), testing::Values(Type::real)),
                         instance_name);

/// As `plain`, whose products are: the same pivots, NaN and infinities, and other numbers up to `bound` times the largest of their
/// column, or, of the row `small`, times `size`.
template <class T>
void expect_near_plain(const LuFactors<T>& f, const LuFactors<T>& plain, std::int64_t small, T size, T bound,
                       const std::string& what) {
  constexpr T least = 100 * std::numeric_limits<T>::denorm_min();
  expect_same(f.pivots, plain.pivots, what + ": pivots");
  for (std::int64_t j = 0; j < f.LU.cols(); ++j) {
    T largest = 0;
    for (std::int64_t i = 0; i < f.LU.rows(); ++i) largest = std::max(largest, std::abs(plain.LU(i, j)));
    for (std::int64_t i = 0; i < f.LU.rows(); ++i) {
      const T expected = plain.LU(i, j), actual = f.LU(i, j);
      if (!std::isfinite(expected)) {
        ASSERT_EQ(std::isnan(actual), std::isnan(expected)) << what << ": " << i << ", " << j;
        ASSERT_TRUE(std::isnan(expected) || actual == expected) << what << ": " << i << ", " << j;
      } else {
        ASSERT_LE(std::abs(actual - expected), bound * (i == small ? size : largest) + least)
            << what << ": " << i << ", " << j;
      }
    }
  }
}

/// In single precision products beside the elimination are sums of three where columns are boxes, but with infinities, NaN or numbers that
/// are too large or too small they are plain: as without the copy engine.
TEST_P(LuNativeSplit, NumbersThatCannotBeSplit) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built && std::is_same_v<T, float>) {
      const bool hopper = cuda::gemm_overlapped_usable(q().device());
      using Size = std::pair<std::int64_t, std::int64_t>;
      for (auto [m, n] : {Size{1000, 64}, {3000, 200}, {9000, 64}, {13000, 64}, {17000, 64}}) {
        const std::int64_t marked = n == 64 ? 50 : 180, small = m - 2;
        const Dense<T> numbers = random<T>(m, n, 23);
        // a row and a column by a factor; a diagonal, if it is large so that L is small and nothing large grows
        const auto with = [&](T row, T column, T diagonal) {
          return Dense<T>::from(m, n, [&](auto i, auto j) {
            return i == j && j < marked && diagonal > 0
                       ? diagonal
                       : numbers(i, j) * (j == marked ? column : T(1)) * (i == small ? row : T(1));
          });
        };
        Dense<T> infinity = with(1, 1, 1000), not_a_number = infinity, in_L = with(1, 1, 0);
        infinity(3, marked) = std::numeric_limits<T>::infinity();
        not_a_number(7, marked) = nan<T>;
        in_L(m - 1, 15) = nan<T>;  // a pivot, below which the last column of the first sub-panel is NaN, and U12 is not
        struct Case {
          const char* what;
          Dense<T> A;
          bool all_plain;  // as long as the marked column is in U12, which of 64 columns is always
          T size = 1;      // of the small row
        };
        const Case cases[] = {{"infinity", infinity, true},
                              {"NaN", not_a_number, true},
                              {"NaN in L", in_L, false},
                              {"3e38", with(1, 3e38F, 1000), true},
                              {"2^126", with(1, 0x1p126F, 1000), true},
                              {"column 2^-100", with(1, 0x1p-100F, 0), false},
                              {"column 2^-115", with(1, 0x1p-115F, 0), true},
                              {"column 2^-124", with(1, 0x1p-124F, 0), true},
                              {"row 2^-100", with(0x1p-100F, 1, 0), false, 0x1p-100F},
                              {"row 2^-115", with(0x1p-115F, 1, 0), false, 0x1p-115F},
                              {"row 2^-120", with(0x1p-120F, 1, 0), false, 0x1p-120F}};
        for (const auto& [what, A, all_plain, size] : cases) {
          const auto factor = [&, &A = A](const cuda::LuPanelShape& shape, bool& boxes) {
            Matrix<T> LU = upload(A, q());
            Matrix<std::int32_t> ipiv(n, 1, q()), info = upload(Dense<std::int32_t>(1, 1), q());
            boxes = factor_panel<T>(shape, LU, ipiv, info, q()).boxes;
            return LuFactors<T>{download<T>(LU, q()), download<std::int32_t>(ipiv, q()), 0};
          };
          const std::vector<cuda::LuPanelShape> shapes = shapes_for<T>(m, n);
          cuda::LuPanelShape without = shapes.front();
          without.boxes = false;
          bool used = false;
          const LuFactors<T> plain = factor(without, used);
          EXPECT_FALSE(used);
          int boxes = 0;
          for (const cuda::LuPanelShape& shape : shapes) {
            const std::string text = name_of(shape, m, n) + ", " + what;
            const LuFactors<T> f = factor(shape, used);
            boxes += used;
            if (!used || (all_plain && n == 64))
              expect_same(f.LU, plain.LU, text);
            else
              expect_near_plain(f, plain, small, size, 1e-5F, text);  // 4e-6 was measured
          }
          EXPECT_EQ(boxes > 0, hopper) << m;
        }
      }
    }
  });
}

/// As the LU chooses them: with strict math products are plain, else, of so many rows, sums of three.
TEST_P(LuNativeSplit, StrictMath) {
  with_type([&]<class T>(T) {
    if constexpr (cuda_built && std::is_same_v<T, float>) {
      const std::int64_t m = 9000, n = 128;
      const Dense<T> A = random<T>(m, n, 29);
      Dense<T> factors[2];
      for (const bool boxes : {false, true}) {
        cuda::LuPanelShape shape = cuda::lu_panel_shape<T>(m, n);
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

}  // namespace
}  // namespace devobj::test
