// On a GPU only: gemm_overlapped against a wider precision and against BLAS's product: accuracy, edges of tiles, many tiles,
// infinities and NaN, places.
#include <cmath>

#include "factor_checks.hpp"
#include "kernels/native.hpp"

namespace devobj::test {
namespace {

class Overlapped : public Everywhere {
 protected:
  void SetUp() override {
    Everywhere::SetUp();
    if constexpr (cuda_built)
      if (!IsSkipped() && !cuda::gemm_overlapped_usable(q().device()))
        GTEST_SKIP() << "skipped: this GPU has another product";
  }
  /// C + alpha A B; A, B and C lie within larger matrices.
  Dense<double> product(const Dense<double>& A, const Dense<double>& B, const Dense<double>& C, int alpha = -1,
                        cuda::Spared spared = {}) {
    const Even a(A, q()), b(B, q()), c(C, q());
    if constexpr (cuda_built) {
      EXPECT_TRUE(cuda::gemm_overlapped_possible(a.view(), b.view(), c.view(), q()));
      cuda::gemm_overlapped(alpha, a.view(), b.view(), c.view(), q(), spared);
    }
    expect_same(a.read(), A, "A");
    expect_same(b.read(), B, "B");
    return c.read();
  }
  /// C + alpha A B by cuBLAS: op(B) = B^T is none of gemm_overlapped's products.
  Dense<double> plain(const Dense<double>& A, const Dense<double>& B, const Dense<double>& C, int alpha = -1) {
    const Matrix<double> a = upload(A, q()), b = upload(op_of(Op::Trans, B), q()), c = upload(C, q());
    gemm<double>(Op::NoTrans, Op::Trans, alpha, a, b, 1, c, q());
    return download<double>(c, q());
  }

 private:
  /// A matrix whose columns begin at multiples of 16 bytes, with NaN around it.
  class Even {
   public:
    Even(const Dense<double>& a, Queue& q) : q_(q), rows_(a.rows()), cols_(a.cols()) {
      Dense<double> whole(2 + rows_ + 2 + rows_ % 2, 1 + cols_ + 1, nan<double>);
      for (std::int64_t j = 0; j < cols_; ++j)
        for (std::int64_t i = 0; i < rows_; ++i) whole(2 + i, 1 + j) = a(i, j);
      whole_ = upload(whole, q);
    }
    View<double> view() const { return whole_({2, 2 + rows_}, {1, 1 + cols_}); }
    Dense<double> read() const {
      const Dense<double> whole = download<double>(whole_, q_);
      Dense<double> block(rows_, cols_);
      for (std::int64_t j = 0; j < whole.cols(); ++j)
        for (std::int64_t i = 0; i < whole.rows(); ++i) {
          const bool inside = 2 <= i && i < 2 + rows_ && 1 <= j && j < 1 + cols_;
          if (inside)
            block(i - 2, j - 1) = whole(i, j);
          else
            EXPECT_TRUE(std::isnan(whole(i, j))) << "around the matrix, at " << i << ", " << j;
        }
      return block;
    }

   private:
    Queue& q_;
    std::int64_t rows_, cols_;
    Matrix<double> whole_;
  };
};
INSTANTIATE_TEST_SUITE_P(On, Overlapped,
                         testing::Combine(testing::Values(places()[2]), testing::Values(Type::double_precision)),
                         instance_name);

void expect_product(const Dense<double>& result, const Dense<double>& A, const Dense<double>& B, const Dense<double>& C,
                    int alpha = -1) {
  const Dense<Wide> exact = combine(Wide(1), widen(C), Wide(alpha), multiply(widen(A), widen(B)));
  Dense<Wide> bound =
      combine(Wide(1), absolute(widen(C)), std::abs(Wide(alpha)), multiply(absolute(widen(A)), absolute(widen(B))));
  for (std::int64_t e = 0; e < bound.size(); ++e) bound[e] *= (3 + std::sqrt(Wide(A.cols()))) * eps<double>;
  expect_close(result, exact, bound, "C");
}

TEST_P(Overlapped, ShapesAroundATile) {
  for (auto [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                         {2, 3, 4},
                         {15, 7, 8},
                         {16, 64, 16},
                         {17, 65, 17},
                         {127, 63, 15},
                         {128, 128, 64},
                         {129, 129, 65},
                         {130, 200, 33},
                         {300, 61, 128},
                         {64, 500, 130},
                         {257, 321, 31}})
    for (const int alpha : {-1, 1}) {
      SCOPED_TRACE(shape_name(m, n) + " depth " + std::to_string(k));
      const Dense<double> A = random<double>(m, k, 1), B = random<double>(k, n, 2), C = random<double>(m, n, 3);
      expect_product(product(A, B, C, alpha), A, B, C, alpha);
    }
}

TEST_P(Overlapped, EmptyProductsChangeNothing) {
  for (auto [m, n, k] : {std::array<std::int64_t, 3>{0, 3, 2}, {3, 0, 2}, {3, 2, 0}}) {
    const Dense<double> C = random<double>(m, n, 1);
    const Matrix<double> a = upload(random<double>(m, k, 2), q()), b = upload(random<double>(k, n, 3), q()),
                         c = upload(C, q());
    if constexpr (cuda_built) cuda::gemm_overlapped(-1, a, b, c, q());
    expect_same(download<double>(c, q()), C, "C");
  }
}

/// So many tiles that every group of warps has several, of depths whose rings go round often or hardly; with the errors of
/// cuBLAS's product, and the same bits again.
TEST_P(Overlapped, ManyTiles) {
  for (auto [m, n, k] :
       {std::array<std::int64_t, 3>{4100, 3000, 24}, {2500, 4200, 200}, {1030, 5000, 1024}, {3000, 1, 64}}) {
    SCOPED_TRACE(shape_name(m, n) + " depth " + std::to_string(k));
    const Dense<double> A = random<double>(m, k, 1), B = random<double>(k, n, 2), C = random<double>(m, n, 3);
    const Dense<double> ours = product(A, B, C), theirs = plain(A, B, C);
    double worst = 0;
    for (std::int64_t e = 0; e < C.size(); ++e) worst = larger(worst, std::abs(ours[e] - theirs[e]));
    EXPECT_LE(worst, double(k + 4) * eps<double>);
    expect_same(product(A, B, C), ours, "the same product again");
    for (const int spared : {1, 16, 1000})
      expect_same(product(A, B, C, -1, {spared}), ours, "on fewer multiprocessors");
    // beside the multiprocessors whose numbers are given, of which there are more than are spared, or none
    for (const int first : {0, 60, 100000})
      for (const int step : {1, 2, 0}) {
        Dense<std::int32_t> numbers(cuda::lu_panel_places, 1);
        for (int i = 0; i < cuda::lu_panel_places; ++i) numbers(i, 0) = first + i * step;
        const Matrix<std::int32_t> places = upload(numbers, q());
        const Dense<std::int32_t> zeros(cuda::spared_counts, 1);
        const Matrix<std::int32_t> counts = upload(zeros, q());
        for (const int spared : {2, 16})
          expect_same(product(A, B, C, -1, {spared, places.view().data, counts.view().data}), ours,
                      "beside multiprocessors " + std::to_string(first) + " + " + std::to_string(step) + " i");
        expect_same(download<std::int32_t>(counts, q()), zeros, "counts");
        if (n == 1) continue;  // fewer tiles than multiprocessors
        // as if as many had left as may: the rest multiply where they are
        Dense<std::int32_t> left = zeros;
        left(0, 0) = 1000000;
        to_device<std::int32_t>({left.data(), cuda::spared_counts, 1, cuda::spared_counts}, counts, q());
        const Dense<double> result = product(A, B, C, -1, {16, places.view().data, counts.view().data});
        expect_same(result, ours, "none may leave");
        expect_same(download<std::int32_t>(counts, q()), zeros, "counts, none may leave");
      }
  }
}

TEST_P(Overlapped, InfinitiesAndNaNWhereTheyBelong) {
  const std::int64_t m = 200, n = 150, k = 40;
  const Dense<double> A0 = random<double>(m, k, 4), B0 = random<double>(k, n, 5), C0 = random<double>(m, n, 6);
  for (const double bad : {infinity<double>, -infinity<double>, nan<double>}) {
    Dense<double> A = A0, B = B0, C = C0;
    A(131, 17) = bad;
    B(33, 77) = bad;
    C(3, 4) = bad;
    const Dense<double> result = product(A, B, C);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        double expected = C(i, j);
        for (std::int64_t p = 0; p < k; ++p) expected -= A(i, p) * B(p, j);
        const double x = result(i, j);
        ASSERT_EQ(std::isnan(x), std::isnan(expected)) << i << ", " << j;
        ASSERT_EQ(std::isinf(x), std::isinf(expected)) << i << ", " << j;
        if (std::isinf(x)) {
          ASSERT_EQ(x, expected) << i << ", " << j;
        }
      }
  }
}

/// It is not for matrices whose columns begin anywhere.
TEST_P(Overlapped, PlacesItIsFor) {
  const Matrix<double> even(40, 40, q()), odd(41, 40, q());
  const Range all{0, 20}, later{1, 21}, pair{2, 22};
  const View<double> good = even(all, all), shifted = even(later, all), uneven = odd(all, all);
  auto possible = [&](View<double> A, View<double> B, View<double> C) {
    if constexpr (cuda_built) return cuda::gemm_overlapped_possible(A, B, C, q());
    return false;
  };
  EXPECT_TRUE(possible(good, good, even(pair, later)));
  for (const View<double>& bad : {shifted, uneven}) {
    EXPECT_FALSE(possible(bad, good, good));
    EXPECT_FALSE(possible(good, bad, good));
    EXPECT_FALSE(possible(good, good, bad));
  }
}

}  // namespace
}  // namespace devobj::test
