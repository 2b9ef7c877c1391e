// On a GPU only: gemm_overlapped and project_unaligned, and for complex matrices gemm_3m_overlapped and project_3m, by three real products,
// and gemm_complex_overlapped, by four, against a wider precision and against BLAS's product: accuracy, edges of tiles, many tiles,
// infinities and NaN, places.
#include <cmath>
#include <vector>

#include "factor_checks.hpp"
#include "kernels/native.hpp"
#include "spared_checks.hpp"

namespace devobj::test {
namespace {

/// The workspace has a canary behind it.
template <class T>
void overlapped([[maybe_unused]] int alpha, [[maybe_unused]] View<T> A, [[maybe_unused]] View<T> B,
                [[maybe_unused]] View<T> C, [[maybe_unused]] Queue& q, [[maybe_unused]] cuda::Spared spared,
                [[maybe_unused]] bool by_four) {
  if constexpr (cuda_built) {
    if constexpr (is_complex<T>)
      if (by_four) {
        if (!A.empty()) {
          ASSERT_TRUE(cuda::gemm_complex_overlapped_possible(A, B, C, q));
        }
        return cuda::gemm_complex_overlapped(alpha, A, B, C, q, spared);
      }
    const auto bytes = is_complex<T> ? cuda::gemm_3m_overlapped_workspace(C.rows, C.cols, A.cols)
                                     : cuda::gemm_overlapped_workspace(C.rows, C.cols, A.cols);
    const auto used = static_cast<std::int64_t>(bytes / 4);
    const std::int64_t canary = 64;
    const Dense<std::int32_t> nans(used + canary, 1, 0x7fc5a5a5);
    const Matrix<std::int32_t> workspace = upload(nans, q);
    void* const memory = workspace.view().data;
    if constexpr (is_complex<T>)
      cuda::gemm_3m_overlapped(alpha, A, B, C, memory, q, spared);
    else
      cuda::gemm_overlapped(alpha, A, B, C, cuda::gemm_overlapped_aligned(A, B, C) ? nullptr : memory, q, spared);
    expect_same(download<std::int32_t>(workspace({used, used + canary}, {0, 1}), q),
                block_of(nans, {used, used + canary}, {0, 1}), "behind the workspace");
  }
}

/// Where a matrix is in a larger one: rows above it, whose ld is odd or even.
struct Lie {
  std::int64_t above;
  bool odd_ld;
};
/// All columns are aligned; none is; those with even numbers are; those with odd ones.
constexpr Lie aligned{2, false}, none_aligned{3, false}, even_aligned{3, true}, odd_aligned{2, true};

/// A matrix that lies so, with NaN around it.
template <class T>
class Lying {
 public:
  Lying(const Dense<T>& a, Lie lie, Queue& q) : q_(q), rows_(a.rows()), cols_(a.cols()), above_(lie.above) {
    const std::int64_t least = above_ + rows_ + 2;
    Dense<T> whole(least + (least % 2 != lie.odd_ld), 1 + cols_ + 1, nan<T>);
    for (std::int64_t j = 0; j < cols_; ++j)
      for (std::int64_t i = 0; i < rows_; ++i) whole(above_ + i, 1 + j) = a(i, j);
    whole_ = upload(whole, q);
  }
  View<T> view() const { return whole_({above_, above_ + rows_}, {1, 1 + cols_}); }
  Dense<T> read() const {
    const Dense<T> whole = download<T>(whole_, q_);
    Dense<T> block(rows_, cols_);
    for (std::int64_t j = 0; j < whole.cols(); ++j)
      for (std::int64_t i = 0; i < whole.rows(); ++i) {
        const bool inside = above_ <= i && i < above_ + rows_ && 1 <= j && j < 1 + cols_;
        if (inside)
          block(i - above_, j - 1) = whole(i, j);
        else
          EXPECT_TRUE(std::isnan(std::abs(whole(i, j)))) << "around the matrix, at " << i << ", " << j;
      }
    return block;
  }

 private:
  Queue& q_;
  std::int64_t rows_, cols_, above_;
  Matrix<T> whole_;
};

class Overlapped : public Everywhere {
 public:
  template <class F>
  void with_each_product(F&& test) {
    if (type() == Type::double_precision) return test(double{});
    if (type() == Type::double_complex)
      for (const bool by_four : {false, true}) {
        SCOPED_TRACE(by_four ? "four products" : "three products");
        by_four_ = by_four;
        test(std::complex<double>{});
      }
  }
  /// C + alpha A B; A, B and C lie within larger matrices.
  template <class T>
  Dense<T> product(const Dense<T>& A, const Dense<T>& B, const Dense<T>& C, int alpha = -1, cuda::Spared spared = {},
                   std::array<Lie, 3> lie = {aligned, aligned, aligned}) {
    const Lying<T> a(A, lie[0], q()), b(B, lie[1], q()), c(C, lie[2], q());
    overlapped(alpha, a.view(), b.view(), c.view(), q(), spared, by_four_);
    expect_same(a.read(), A, "A");
    expect_same(b.read(), B, "B");
    return c.read();
  }
  /// C + alpha A B by cuBLAS: op(B) = B^T is none of the kernel's products.
  template <class T>
  Dense<T> plain(const Dense<T>& A, const Dense<T>& B, const Dense<T>& C, int alpha = -1) {
    const Matrix<T> a = upload(A, q()), b = upload(op_of(Op::Trans, B), q()), c = upload(C, q());
    gemm<T>(Op::NoTrans, Op::Trans, T(alpha), a, b, T(1), c, q());
    return download<T>(c, q());
  }

  bool by_four() const { return by_four_; }
  /// Real ones to a product.
  int products() const { return type() == Type::double_precision ? 1 : by_four_ ? 4 : 3; }

 protected:
  void SetUp() override {
    Everywhere::SetUp();
    if constexpr (cuda_built)
      if (!IsSkipped() && !cuda::gemm_overlapped_usable(q().device()))
        GTEST_SKIP() << "skipped: this GPU has another product";
  }

 private:
  bool by_four_ = false;
};
INSTANTIATE_TEST_SUITE_P(On, Overlapped,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::double_precision, Type::double_complex)),
                         instance_name);

/// Complex numbers by three products with three times the error; by four, which are the sums of twice as many numbers, with twice.
template <class T>
void expect_product(const Dense<T>& result, const Dense<T>& A, const Dense<T>& B, const Dense<T>& C, int products,
                    int alpha = -1) {
  const auto exact = combine(wide_t<T>(1), widen(C), wide_t<T>(alpha), multiply(widen(A), widen(B)));
  Dense<Wide> bound = combine(Wide(1), absolute(widen(C)), Wide(1), multiply(absolute(widen(A)), absolute(widen(B))));
  const Wide factor = products == 3 ? 3 : products == 4 ? 2 : 1;
  for (std::int64_t e = 0; e < bound.size(); ++e) bound[e] *= factor * (3 + std::sqrt(Wide(A.cols()))) * eps<double>;
  expect_close(result, exact, bound, "C");
}

TEST_P(Overlapped, ShapesAroundATile) {
  with_each_product([&]<class T>(T) {
    for (auto [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                           {2, 3, 4},
                           {15, 7, 8},
                           {16, 64, 16},
                           {17, 65, 17},
                           {127, 63, 15},
                           {128, 128, 64},
                           {129, 129, 65},
                           {63, 47, 7},
                           {65, 97, 10},
                           {130, 200, 33},
                           {300, 61, 128},
                           {64, 500, 130},
                           {257, 321, 31}})
      for (const int alpha : {-1, 1}) {
        SCOPED_TRACE(shape_name(m, n) + " depth " + std::to_string(k));
        const Dense<T> A = random<T>(m, k, 1), B = random<T>(k, n, 2), C = random<T>(m, n, 3);
        expect_product(product(A, B, C, alpha), A, B, C, products(), alpha);
      }
  });
}

TEST_P(Overlapped, EmptyProductsChangeNothing) {
  with_each_product([&]<class T>(T) {
    for (auto [m, n, k] : {std::array<std::int64_t, 3>{0, 3, 2}, {3, 0, 2}, {3, 2, 0}}) {
      const Dense<T> C = random<T>(m, n, 1);
      const Matrix<T> a = upload(random<T>(m, k, 2), q()), b = upload(random<T>(k, n, 3), q()), c = upload(C, q());
      overlapped<T>(-1, a, b, c, q(), {}, by_four());
      expect_same(download<T>(c, q()), C, "C");
    }
  });
}

/// Real matrices whose columns are not, or not all, aligned.
TEST_P(Overlapped, MatricesThatLieAnyhow) {
  if (type() != Type::double_precision) GTEST_SKIP() << "skipped: complex numbers are aligned";
  using T = double;
  for (const std::array<Lie, 3>& lie : {std::array{none_aligned, none_aligned, none_aligned},
                                        {even_aligned, even_aligned, even_aligned},
                                        {odd_aligned, odd_aligned, odd_aligned},
                                        {aligned, aligned, none_aligned},
                                        {aligned, even_aligned, aligned},
                                        {odd_aligned, aligned, aligned},
                                        {even_aligned, none_aligned, odd_aligned}})
    for (auto [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                           {129, 1, 17},
                           {1, 2, 2},
                           {2, 3, 4},
                           {15, 7, 8},
                           {16, 64, 16},
                           {17, 65, 17},
                           {127, 63, 15},
                           {129, 129, 65},
                           {63, 47, 7},
                           {257, 321, 31},
                           {700, 901, 100}})
      for (const int alpha : {-1, 1}) {
        SCOPED_TRACE(shape_name(m, n) + " depth " + std::to_string(k) + ", " + std::to_string(lie[0].above) + " " +
                     std::to_string(lie[1].above) + " " + std::to_string(lie[2].above) + " rows above");
        const Dense<T> A = random<T>(m, k, 1), B = random<T>(k, n, 2), C = random<T>(m, n, 3);
        expect_product(product(A, B, C, alpha, {}, lie), A, B, C, products(), alpha);
      }
}

/// V^T C wherever V, C and the result are.
TEST_P(Overlapped, ProjectionsOfMatricesThatLieAnyhow) {
  if (type() != Type::double_precision) GTEST_SKIP() << "skipped: complex numbers are aligned";
  if constexpr (cuda_built)
    for (const std::array<Lie, 3>& lie : {std::array{aligned, none_aligned, aligned},
                                          {even_aligned, even_aligned, even_aligned},
                                          {aligned, odd_aligned, aligned},
                                          {none_aligned, even_aligned, none_aligned},
                                          {odd_aligned, none_aligned, odd_aligned},
                                          {even_aligned, aligned, odd_aligned}})
      for (auto [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1}, {1, 2, 3}, {2, 1, 2}, {17, 5, 4}, {700, 333, 65}}) {
        SCOPED_TRACE(shape_name(m, n) + ", " + std::to_string(k) + " columns of V, " + std::to_string(lie[0].above) +
                     " " + std::to_string(lie[1].above) + " " + std::to_string(lie[2].above) + " rows above");
        const Dense<double> V = random<double>(m, k, 1), C = random<double>(m, n, 2);
        const Lying<double> v(V, lie[0], q()), c(C, lie[1], q()), w(Dense<double>(k, n, nan<double>), lie[2], q());
        const Storage workspace(cuda::gemm_overlapped_workspace(m, 0, k), q());
        cuda::project_unaligned(v.view(), c.view(), w.view(), const_cast<void*>(workspace.data()), q());
        const Dense<double> Vt = op_of(Op::Trans, V);
        Dense<Wide> bound = multiply(absolute(widen(Vt)), absolute(widen(C)));
        for (std::int64_t e = 0; e < bound.size(); ++e) bound[e] *= (3 + std::sqrt(Wide(m))) * eps<double>;
        expect_close(w.read(), multiply(widen(Vt), widen(C)), bound, "V^T C");
        expect_same(v.read(), V, "V");
        expect_same(c.read(), C, "C");
      }
}

/// W = V^H C by three products, V, C and W in larger matrices; the workspace has a canary behind it.
Dense<std::complex<double>> projection_by_three([[maybe_unused]] const Dense<std::complex<double>>& V,
                                                const Dense<std::complex<double>>& C, [[maybe_unused]] Lie lie,
                                                Queue& q, [[maybe_unused]] cuda::Spared spared = {}) {
  using T = std::complex<double>;
  Dense<T> result(V.cols(), C.cols());
  if constexpr (cuda_built) {
    const Lying<T> v(V, lie, q), c(C, lie, q), w(Dense<T>(V.cols(), C.cols(), nan<T>), lie, q);
    const auto used = static_cast<std::int64_t>(cuda::project_3m_workspace(V.rows(), V.cols(), C.cols()) / 4);
    const std::int64_t canary = 64;
    const Dense<std::int32_t> nans(used + canary, 1, 0x7fc5a5a5);
    const Matrix<std::int32_t> workspace = upload(nans, q);
    cuda::project_3m(v.view(), c.view(), w.view(), workspace.view().data, q, spared);
    expect_same(download<std::int32_t>(workspace({used, used + canary}, {0, 1}), q),
                block_of(nans, {used, used + canary}, {0, 1}), "behind the workspace");
    expect_same(v.read(), V, "V");
    expect_same(c.read(), C, "C");
    result = w.read();
  }
  return result;
}

TEST_P(Overlapped, ProjectionsByThreeProducts) {
  if (type() != Type::double_complex) GTEST_SKIP() << "skipped: real numbers have one product";
  using T = std::complex<double>;
  for (auto [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                         {2, 3, 4},
                         {7, 5, 2},
                         {8, 48, 64},
                         {9, 49, 65},
                         {17, 97, 63},
                         {47, 96, 128},
                         {48, 95, 129},
                         {49, 200, 20},
                         {700, 333, 65},
                         {1030, 150, 300},   // in two parts
                         {130, 6300, 512}})  // too many tiles for parts
    for (const Lie& lie : {aligned, odd_aligned, none_aligned}) {
      if (n > 6000 && lie.odd_ld) continue;  // which takes long on the host
      SCOPED_TRACE(shape_name(m, n) + ", " + std::to_string(k) + " columns of V, " + std::to_string(lie.above) +
                   " rows above");
      const Dense<T> V = random<T>(m, k, 1), C = random<T>(m, n, 2);
      expect_product(projection_by_three(V, C, lie, q()), op_of(Op::ConjTrans, V), C, Dense<T>(k, n), 3, 1);
    }
  // nothing to add up, and nothing to write
  expect_same(projection_by_three(Dense<T>(0, 3), Dense<T>(0, 4), aligned, q()), Dense<T>(3, 4), "the empty sum");
  EXPECT_EQ(projection_by_three(Dense<T>(5, 0), Dense<T>(5, 4), aligned, q()).size(), 0);
}

/// So many tiles, and sums so long, that the rings go round often: cuBLAS's product but for rounding, and the same bits again.
TEST_P(Overlapped, LongProjectionsByThreeProducts) {
  if (type() != Type::double_complex) GTEST_SKIP() << "skipped: real numbers have one product";
  using T = std::complex<double>;
  for (auto [m, n, k] : {std::array<std::int64_t, 3>{2100, 3000, 256}, {601, 7001, 100}, {5000, 130, 512}}) {
    SCOPED_TRACE(shape_name(m, n) + ", " + std::to_string(k) + " columns of V");
    const Dense<T> V = random<T>(m, k, 1), C = random<T>(m, n, 2);
    const Dense<T> ours = projection_by_three(V, C, aligned, q());
    const Matrix<T> v = upload(V, q()), c = upload(C, q()), w(k, n, q());
    gemm<T>(Op::ConjTrans, Op::NoTrans, T(1), v, c, T(0), w, q());
    const Dense<T> plain = download<T>(w, q());
    // its parts are others with fewer multiprocessors, and so is its rounding
    const auto check = [&](cuda::Spared spared, const std::string& what) {
      const Dense<T> again = projection_by_three(V, C, aligned, q(), spared);
      if (spared.count == 0) return expect_same(again, ours, what);
      double worst = 0;
      for (std::int64_t e = 0; e < plain.size(); ++e) worst = larger(worst, std::abs(again[e] - plain[e]));
      EXPECT_LE(worst, 3 * double(m) * eps<double>) << what;
      if (spared.places != nullptr)
        expect_same(again, projection_by_three(V, C, aligned, q(), {spared.count}), what + ", the same bits");
    };
    for (const int spared : {0, 1, 16, 1000}) check({spared}, std::to_string(spared) + " multiprocessors spared");
    beside_given_multiprocessors(q(), n > 1000, check);
    double worst = 0;
    for (std::int64_t e = 0; e < plain.size(); ++e) worst = larger(worst, std::abs(ours[e] - plain[e]));
    EXPECT_LE(worst, 3 * double(m) * eps<double>);
  }
}

/// A NaN or an infinity makes its row or column of W NaN or infinite, and nothing else.
TEST_P(Overlapped, InfinitiesAndNaNInProjections) {
  if (type() != Type::double_complex) GTEST_SKIP() << "skipped: real numbers have one product";
  using T = std::complex<double>;
  const std::int64_t n = 120, k = 70;
  for (const std::int64_t m : {150, 1030})  // in one part, and in two
    for (const double bad : {infinity<double>, -infinity<double>, nan<double>})
      for (const T& number : {T(bad, 0), T(0, bad)}) {
        Dense<T> V = random<T>(m, k, 4), C = random<T>(m, n, 5);
        V(33, 17) = number;
        C(m - 1, 77) = number;
        const Dense<T> W = projection_by_three(V, C, aligned, q());
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < k; ++i) {
            const bool finite = i != 17 && j != 77;
            ASSERT_EQ(std::isfinite(W(i, j).real()) && std::isfinite(W(i, j).imag()), finite) << i << ", " << j;
          }
      }
}

TEST(Projection, WorkspaceDoesNotFallWithSizes) {
  if constexpr (cuda_built) {
    const std::array<std::int64_t, 9> sizes{1, 8, 63, 64, 65, 511, 4097, 12193, 50000};
    for (const std::int64_t rows : sizes)
      for (const std::int64_t columns : sizes)
        for (const std::int64_t cols : sizes) {
          const std::size_t bytes = cuda::project_3m_workspace(rows, columns, cols);
          EXPECT_GE(cuda::project_3m_workspace(rows + 1, columns, cols), bytes);
          EXPECT_GE(cuda::project_3m_workspace(rows, columns + 1, cols), bytes);
          EXPECT_GE(cuda::project_3m_workspace(rows, columns, cols + 1), bytes);
        }
  } else {
    GTEST_SKIP() << "skipped: the library was built without CUDA";
  }
}

/// So many tiles that every group of warps has several, of depths whose rings go round often or hardly; with the errors of
/// cuBLAS's product, and the same bits again.
TEST_P(Overlapped, ManyTiles) {
  with_each_product([&]<class T>(T) {
    for (auto [m, n, k] :
         {std::array<std::int64_t, 3>{4100, 3000, 24}, {2500, 4200, 200}, {1030, 5000, 1024}, {3000, 1, 64}}) {
      if (by_four() && k == 200) continue;  // which takes long on the host
      if (is_complex<T>) m /= 2;
      SCOPED_TRACE(shape_name(m, n) + " depth " + std::to_string(k));
      const Dense<T> A = random<T>(m, k, 1), B = random<T>(k, n, 2), C = random<T>(m, n, 3);
      const Dense<T> ours = product(A, B, C);
      const auto expect_close_to_ours = [&](const Dense<T>& result, const char* whose) {
        double worst = 0;
        for (std::int64_t e = 0; e < C.size(); ++e) worst = larger(worst, std::abs(ours[e] - result[e]));
        EXPECT_LE(worst, (is_complex<T> ? by_four() ? 2 : 3 : 1) * double(k + 4) * eps<double>) << whose;
      };
      expect_close_to_ours(plain(A, B, C), "cuBLAS's");
      expect_same(product(A, B, C), ours, "the same product again");
      if (n > 1 && !is_complex<T>)
        for (const Lie& lie : {even_aligned, none_aligned}) {
          const Dense<T> result = product(A, B, C, -1, {}, {lie, lie, lie});
          expect_close_to_ours(result, "of matrices that lie otherwise");
          expect_same(product(A, B, C, -1, {16}, {lie, lie, lie}), result, "on fewer multiprocessors");
        }
      const std::vector<int> counts = by_four() ? std::vector{16} : std::vector{1, 16, 1000};
      for (const int spared : counts) expect_same(product(A, B, C, -1, {spared}), ours, "on fewer multiprocessors");
      beside_given_multiprocessors(q(), n > 1, [&](cuda::Spared spared, const std::string& what) {
        expect_same(product(A, B, C, -1, spared), ours, what);
      });
    }
  });
}

/// Both NaN, the same infinity, or finite.
void expect_alike(double x, double expected, std::int64_t i, std::int64_t j) {
  ASSERT_EQ(std::isnan(x), std::isnan(expected)) << i << ", " << j;
  ASSERT_EQ(std::isinf(x), std::isinf(expected)) << i << ", " << j;
  if (std::isinf(x)) {
    ASSERT_EQ(x, expected) << i << ", " << j;
  }
}

/// Three products give NaN where they add infinities of both signs, but never a finite number where there is none, nor one
/// of the two where there is a finite number. All others give what sums in some order give.
TEST_P(Overlapped, InfinitiesAndNaNWhereTheyBelong) {
  const std::int64_t m = 200, n = 150, k = 40;
  with_each_product([&]<class T>(T) {
    const Dense<T> A0 = random<T>(m, k, 4), B0 = random<T>(k, n, 5), C0 = random<T>(m, n, 6);
    for (const double bad : {infinity<double>, -infinity<double>, nan<double>}) {
      Dense<T> A = A0, B = B0, C = C0;
      A(131, 17) = bad;
      B(33, 77) = bad;
      C(3, 4) = bad;
      const Dense<T> result = product(A, B, C);
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i) {
          if constexpr (is_complex<T>) {
            if (by_four()) {
              double re = C(i, j).real(), im = C(i, j).imag();
              for (std::int64_t p = 0; p < k; ++p) {
                const T a = A(i, p), b = B(p, j);
                re = re - a.real() * b.real() + a.imag() * b.imag();
                im = im - a.real() * b.imag() - a.imag() * b.real();
              }
              expect_alike(result(i, j).real(), re, i, j);
              expect_alike(result(i, j).imag(), im, i, j);
              continue;
            }
            const bool finite = i != 131 && j != 77;
            if (i == 3 && j == 4) {
              ASSERT_EQ(std::isnan(result(i, j).real()), std::isnan(bad));
              ASSERT_EQ(std::isinf(result(i, j).real()), std::isinf(bad));
              if (std::isinf(bad)) {
                ASSERT_EQ(result(i, j).real(), bad);
              }
              ASSERT_TRUE(std::isfinite(result(i, j).imag()));
              continue;
            }
            ASSERT_EQ(std::isfinite(result(i, j).real()), finite) << i << ", " << j;
            ASSERT_EQ(std::isfinite(result(i, j).imag()), finite) << i << ", " << j;
          } else {
            T expected = C(i, j);
            for (std::int64_t p = 0; p < k; ++p) expected -= A(i, p) * B(p, j);
            expect_alike(result(i, j), expected, i, j);
          }
        }
    }
  });
}

/// Real and imaginary parts of very different sizes: the errors are relative to their sum.
TEST_P(Overlapped, PartsOfDifferentSizes) {
  if (type() != Type::double_complex) GTEST_SKIP() << "skipped: real numbers have no parts";
  using T = std::complex<double>;
  const std::int64_t m = 130, n = 70, k = 50;
  with_each_product([&](auto) {
    for (const double re : {1.0, 0x1p-40, 0.0})
      for (const double im : {1.0, 0x1p-40, 0.0}) {
        Dense<T> A = random<T>(m, k, 1), B = random<T>(k, n, 2);
        const Dense<T> C = random<T>(m, n, 3);
        for (std::int64_t e = 0; e < A.size(); ++e) A[e] = {A[e].real() * re, A[e].imag()};
        for (std::int64_t e = 0; e < B.size(); ++e) B[e] = {B[e].real(), B[e].imag() * im};
        expect_product(product(A, B, C), A, B, C, products());
      }
  });
}

TEST_P(Overlapped, WhatIsAligned) {
  if constexpr (cuda_built)
    if (type() == Type::double_complex) {
      using T = std::complex<double>;
      const Matrix<T> matrix(40, 40, q());
      const View<T> good = matrix({1, 20}, {1, 20});
      // a matrix may begin between two multiples of 16 bytes
      const View<T> bad(reinterpret_cast<T*>(reinterpret_cast<double*>(good.data) + 1), 19, 19, good.ld);
      EXPECT_TRUE(cuda::gemm_complex_overlapped_possible(good, good, good, q()));
      EXPECT_FALSE(cuda::gemm_complex_overlapped_possible(bad, good, good, q()));
      EXPECT_FALSE(cuda::gemm_complex_overlapped_possible(good, bad, good, q()));
      EXPECT_FALSE(cuda::gemm_complex_overlapped_possible(good, good, bad, q()));
      return;
    }
  if constexpr (cuda_built) {
    const Range all{0, 20}, later{1, 21}, pair{2, 22};
    const Matrix<double> even(40, 40, q()), odd(41, 40, q());
    const View<double> good = even(all, all);
    EXPECT_TRUE(cuda::gemm_overlapped_aligned(good, good, even(pair, later)));
    for (const View<double>& bad : {even(later, all), odd(all, all)}) {
      EXPECT_FALSE(cuda::gemm_overlapped_aligned(bad, good, good));
      EXPECT_FALSE(cuda::gemm_overlapped_aligned(good, bad, good));
      EXPECT_FALSE(cuda::gemm_overlapped_aligned(good, good, bad));
    }
  }
}

}  // namespace
}  // namespace devobj::test
