// On a GPU only: the panel of geqrf's native method: every spread over the GPU, extreme sizes, zero columns, NaN, tall panels.
#include "factor_checks.hpp"
#include "factor_matrices.hpp"
#include "kernels/qr_panel_native.hpp"

namespace devobj::test {
namespace {

class QrNativePanel : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, QrNativePanel,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::real, Type::double_precision, Type::complex,
                                                          Type::double_complex)),
                         instance_name);

template <class T>
struct PanelResult {
  QrFactors<T> f;
  Dense<T> V, Tri;
};

/// One panel surrounded by canaries, with `above` rows of V before it, by factor(A, tau, V, T).
template <class T, class Factor>
PanelResult<T> factor_by(Factor factor, const Dense<T>& A, std::int64_t above, Queue& q) {
  const std::int64_t m = A.rows(), w = A.cols();
  Padded<T> a(A, q), tau(Dense<T>(w, 1, make<T>(7)), q), V(Dense<T>(m + above, w, make<T>(7)), q),
      Tri(Dense<T>(w, w, make<T>(7)), q);
  factor(a.view(), tau.view(), V.view(), Tri.view());
  return {{a.read("A"), tau.read("tau")}, V.read("V"), Tri.read("T")};
}
template <class T>
PanelResult<T> factor_panel(const Dense<T>& A, std::int64_t above, Queue& q, cuda::QrPanelSpread spread = {}) {
  return factor_by(
      [&](auto... views) {
        if constexpr (cuda_built) cuda::qr_panel_native<T>(views..., q, spread);
      },
      A, above, q);
}
template <class T>
PanelResult<T> factor_tall(const Dense<T>& A, std::int64_t above, Queue& q, bool by_columns = false) {
  return factor_by(
      [&](auto... views) {
        if constexpr (cuda_built) cuda::qr_panel_tall<T>(views..., q, by_columns);
      },
      A, above, q);
}
/// The columns that qr_panel_native takes.
template <class T>
std::int64_t panel_width(std::int64_t m, const Queue& q) {
  if constexpr (cuda_built)
    return cuda::qr_panel_width<T>(m, q);
  else
    return 0;
}

/// V is the unit trapezoid of what A holds, below zeros; T is larft's.
template <class T>
void expect_reflector(const PanelResult<T>& r, std::int64_t above, const std::string& what) {
  using D = precise_t<T>;
  const std::int64_t m = r.f.QR.rows(), w = r.f.QR.cols();
  for (std::int64_t j = 0; j < w; ++j)
    for (std::int64_t i = 0; i < m + above; ++i) {
      const std::int64_t row = i - above;
      const T expected = row > j ? r.f.QR(row, j) : make<T>(row == j ? 1 : 0);
      ASSERT_EQ(std::memcmp(&r.V(i, j), &expected, sizeof(T)), 0) << what << ": V(" << i << ", " << j << ")";
    }
  const Dense<D> V = block_of(precise(r.V), {above, above + m}, {0, w}), G = product(adjoint<D>, V, Op::NoTrans, V),
                 tau = precise(r.f.tau);
  Dense<Wide> bound(w, w, Wide(30 * w * eps<T>));
  Dense<wide_t<T>> expected(w, w);
  for (std::int64_t j = 0; j < w; ++j) {
    for (std::int64_t i = 0; i < j; ++i) {
      wide_t<T> sum{};
      for (std::int64_t l = i; l < j; ++l) sum += expected(i, l) * wide_t<T>(G(l, j));
      expected(i, j) = -wide_t<T>(tau[j]) * sum;
    }
    expected(j, j) = wide_t<T>(tau[j]);
  }
  expect_close(r.Tri, expected, bound, what + ": T");
}

/// Every kernel with clusters of several sizes, strips of every width, and columns that are missing.
TEST_P(QrNativePanel, PanelsOfAllSpreads) {
  with_type([&]<class T>(T) {
    for (auto [m, w] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                        {3, 2},
                        {8, 8},
                        {40, 9},
                        {64, 64},
                        {130, 17},
                        {200, 33},
                        {500, 64},
                        {501, 8},
                        {1000, 50}})
      for (int groups : {0, 1, 2, 4, 8})
        for (auto [warps, blocks] : {std::pair{0, 0}, {4, 16}, {8, 4}, {8, 1}}) {
          if (groups > 0 && w > 8 * groups) continue;
          const Dense<T> A = random<T>(m, w, std::uint32_t(m + w));
          const std::int64_t above = m % 5;
          PanelResult<T> r;
          try {
            r = factor_panel(A, above, q(), {warps, blocks, groups});
          } catch (const Error&) {  // so few blocks and warps do not hold it
            EXPECT_GT(blocks, 0) << "the spread of the library's choice";
            continue;
          }
          const std::string what = shape_name(m, w) + ", groups " + std::to_string(groups) + ", warps " +
                                   std::to_string(warps) + ", blocks " + std::to_string(blocks);
          expect_lapacks(A, r.f, lapack_qr(A), By::matrix, what);
          expect_reflector(r, above, what);
        }
  });
}

/// Panels that are factored by products where they are well-conditioned: blocks with few rows and with none, missing columns, the
/// most rows of a cluster; the same bits again; and those that are not.
TEST_P(QrNativePanel, PanelsByProducts) {
  with_type([&]<class T>(T) {
    for (auto [m, w] : {std::pair<std::int64_t, std::int64_t>{70, 32},
                        {64, 31},
                        {130, 64},
                        {129, 33},
                        {272, 49},
                        {2049, 64},
                        {4096, 63},
                        {4097, 32},
                        {8190, 30},
                        {5000, 16}}) {
      if (w > panel_width<T>(m, q())) continue;
      const Dense<T> A = random<T>(m, w, std::uint32_t(m));
      const PanelResult<T> r = factor_panel(A, m % 3, q()), again = factor_panel(A, m % 3, q());
      expect_lapacks(A, r.f, lapack_qr(A), By::matrix, shape_name(m, w));
      expect_reflector(r, m % 3, shape_name(m, w));
      expect_same(r.f.QR, again.f.QR, "the same bits");
      expect_same(r.Tri, again.Tri, "the same bits of T");
    }
    for (const double condition : {1e1, 1e2, 1e3, 1e4, 1e6, 1e12})
      for (const std::int64_t w : {16, 32, 64}) {
        if (w > panel_width<T>(700, q())) continue;
        const Dense<T> A = with_condition<T>(700, w, condition, 4);
        const PanelResult<T> r = factor_panel(A, 0, q());
        const QrMeasures ours = qr_measures(A, r.f), theirs = qr_measures(A, lapack_qr(A));
        const std::string what = std::to_string(w) + " columns, condition " + std::to_string(condition);
        EXPECT_LE(ours.residual, 2 * theirs.residual + residual_floor) << what;
        EXPECT_LE(ours.orthogonality, 2 * theirs.orthogonality + residual_floor) << what;
        expect_reflector(r, 0, what);
      }
  });
}

/// Columns of the largest and smallest sizes beside each other, and remainders that vanish in the squares.
TEST_P(QrNativePanel, PanelsOfColumnsOfAllSizes) {
  with_type([&]<class T>(T) {
    constexpr bool is_double = sizeof(real_t<T>) == 8;
    const double span = is_double ? 300 : 36;
    for (std::int64_t m : {70, 600}) {
      const std::int64_t w = 40;
      Dense<T> A = random<T>(m, w, 9);
      for (std::int64_t j = 0; j < w; ++j) {
        const double size = std::pow(10.0, span * (j % 5 - 2) / 2);
        for (std::int64_t i = 0; i < m; ++i) A(i, j) = make<T>(std::real(A(i, j)) * size, std::imag(A(i, j)) * size);
        // what is left below row 20 is far smaller than the column
        if (j % 3 == 2)
          for (std::int64_t i = 20; i < m; ++i) {
            const double dust = std::pow(10.0, is_double ? -(40.0 + 10 * j) : -(5.0 + j));
            A(i, j) = make<T>(std::real(A(i, j)) * dust, std::imag(A(i, j)) * dust);
          }
      }
      const PanelResult<T> r = factor_panel(A, 0, q());
      expect_lapacks(A, r.f, lapack_qr(A), By::column, std::to_string(m) + " rows");
      expect_reflector(r, 0, std::to_string(m) + " rows");
    }
  });
}

/// Zero columns, and columns already eliminated, have tau = 0 and stay as they are.
TEST_P(QrNativePanel, PanelsWithNothingToEliminate) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 300, w = 64;
    const Dense<T> zero(m, w);
    PanelResult<T> r = factor_panel(zero, 2, q());
    expect_same(r.f.QR, zero, "a zero panel");
    expect_same(r.f.tau, Dense<T>(w, 1), "its tau");
    Dense<T> triangle = random<T>(m, w, 3);
    for (std::int64_t j = 0; j < w; ++j) {
      for (std::int64_t i = j + 1; i < m; ++i) triangle(i, j) = T(0);
      triangle(j, j) = make<T>(std::real(triangle(j, j)));
    }
    r = factor_panel(triangle, 0, q());
    expect_same(r.f.QR, triangle, "a triangle");
    expect_same(r.f.tau, Dense<T>(w, 1), "its tau");
    // well-conditioned: Cholesky-QR by itself would make reflectors of it
    for (std::int64_t columns : {32, 64})
      for (bool tall : {false, true}) {
        Dense<T> easy(m, columns);
        for (std::int64_t j = 0; j < columns; ++j) {
          easy(j, j) = T(real_t<T>(j % 3 - 2.5));
          if (j > 0) easy(j - 1, j) = T(real_t<T>(0.25));
        }
        if (tall && columns > cuda::qr_panel_tall_width<T>) continue;
        r = tall ? factor_tall(easy, 0, q()) : factor_panel(easy, 0, q());
        const std::string what = std::to_string(columns) + (tall ? " columns, tall" : " columns");
        expect_same(r.f.QR, easy, what);
        expect_same(r.f.tau, Dense<T>(columns, 1), what + ": tau");
        // beside each other: reflectors for some columns only
        for (std::int64_t j = 0; j < columns; j += 7)
          for (std::int64_t i = 200; i < m; ++i) easy(i, j) = make<T>(real_t<T>((i * j) % 11 - 5.25));
        r = tall ? factor_tall(easy, 0, q()) : factor_panel(easy, 0, q());
        expect_lapacks(easy, r.f, lapack_qr(easy), By::matrix, what + ", some of them full");
        expect_reflector(r, 0, what);
      }
  });
}

/// A NaN or Inf stays in its column and poisons those to the right, not R to the left.
TEST_P(QrNativePanel, PanelsWithNaN) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 300, w = 40;
    for (real_t<T> bad : {nan<T>, infinity<T>})
      for (std::int64_t row : {0, 5, 299}) {
        const Dense<T> clean = random<T>(m, w, 3);
        Dense<T> A = clean;
        A(row, 10) = make<T>(bad);
        const PanelResult<T> r = factor_panel(A, 0, q());
        // column by column, what is left of it has the bits of the panel without it
        const cuda::QrPanelSpread spread{8, 4};
        const PanelResult<T> columns = factor_panel(A, 0, q(), spread), of_clean = factor_panel(clean, 0, q(), spread);
        for (std::int64_t j = 0; j < 10; ++j) {
          EXPECT_EQ(columns.f.tau[j], of_clean.f.tau[j]);
          for (std::int64_t i = 0; i < m; ++i) ASSERT_EQ(columns.f.QR(i, j), of_clean.f.QR(i, j)) << i << ", " << j;
        }
        // and it is a factorization of its own
        const QrFactors<T> left{block_of(r.f.QR, {0, m}, {0, 10}), block_of(r.f.tau, {0, 10}, {0, 1})};
        const Dense<T> of_A = block_of(clean, {0, m}, {0, 10});
        expect_lapacks(of_A, left, lapack_qr(of_A), By::matrix, "beside a column with " + std::to_string(bad));
        EXPECT_TRUE(is_nan(precise_t<T>(r.f.tau[10])) || is_nan(precise_t<T>(r.f.QR(11, 10))));
        for (std::int64_t j = 11; j < w; ++j) EXPECT_TRUE(is_nan(precise_t<T>(r.f.QR(11, j)))) << j;
      }
  });
}

// ---- the tall panel ----

TEST_P(QrNativePanel, TallPanels) {
  with_type([&]<class T>(T) {
    for (auto [m, w] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                        {9, 4},
                        {64, 32},
                        {100, 17},
                        {257, 32},
                        {1000, 31},
                        {5000, 32},
                        {5001, 9},
                        {30000, 32}})
      for (bool by_columns : {false, true}) {
        const std::string what = shape_name(m, w) + (by_columns ? ", by columns" : "");
        const Dense<T> A = random<T>(m, w, std::uint32_t(m));
        const PanelResult<T> r = factor_tall(A, m % 3, q(), by_columns);
        expect_lapacks(A, r.f, lapack_qr(A), By::matrix, what);
        expect_reflector(r, m % 3, what);
      }
    if constexpr (32 < cuda::qr_panel_tall_width<T>) {
      for (auto [m, w] :
           {std::pair<std::int64_t, std::int64_t>{65, 64}, {129, 33}, {300, 47}, {1023, 63}, {2000, 48}}) {
        const Dense<T> A = random<T>(m, w, std::uint32_t(m));
        const PanelResult<T> r = factor_tall(A, 1, q());
        expect_lapacks(A, r.f, lapack_qr(A), By::matrix, shape_name(m, w));
        expect_reflector(r, 1, shape_name(m, w));
      }
      const Dense<T> A = random<T>(4000, 64, 8), B = random<T>(4000, 50, 9);
      for (bool by_columns : {false, true}) {
        expect_lapacks(A, factor_tall(A, 0, q(), by_columns).f, lapack_qr(A), By::matrix, "64 columns");
        expect_reflector(factor_tall(B, 7, q(), by_columns), 7, "50 columns");
      }
    }
  });
}

/// Cholesky-QR loses these: the result must be that of the columns taken one by one, bit for bit.
TEST_P(QrNativePanel, TallPanelsThatDefeatCholeskyQr) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 1500, w = 30;
    for (const Named<T>& matrix : gallery<T>(m, w)) {
      if (matrix.name == "Foster") continue;  // of order m
      const QrFactors<T> lapack = lapack_qr(matrix.A);
      const QrMeasures theirs = qr_measures(matrix.A, lapack, matrix.by);
      for (bool by_columns : {false, true}) {
        const PanelResult<T> r = factor_tall(matrix.A, 0, q(), by_columns);
        const QrMeasures ours = qr_measures(matrix.A, r.f, matrix.by);
        const std::string what = matrix.name + (by_columns ? ", by columns" : "");
        EXPECT_LE(ours.residual, 2 * theirs.residual + residual_floor) << what;
        EXPECT_LE(ours.orthogonality, 2 * theirs.orthogonality + residual_floor) << what;
      }
    }
    for (double condition : {1e3, 1e6, 1e12}) {
      const Dense<T> A = with_condition<T>(m, w, condition, 4);
      const PanelResult<T> r = factor_tall(A, 0, q()), columns = factor_tall(A, 0, q(), true);
      expect_same(r.f.QR, columns.f.QR, "the fallback's factors");
      expect_same(r.f.tau, columns.f.tau, "tau");
      expect_same(r.Tri, columns.Tri, "T");
    }
    Dense<T> bad = random<T>(m, w, 4);
    bad(700, 3) = make<T>(nan<T>);
    const PanelResult<T> r = factor_tall(bad, 0, q());
    EXPECT_TRUE(is_nan(precise_t<T>(r.f.QR(5, 5))));
    EXPECT_FALSE(is_nan(precise_t<T>(r.f.QR(2, 2))));
  });
}

}  // namespace
}  // namespace devobj::test
