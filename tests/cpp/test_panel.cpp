// The CPU panels: residuals in units of eps (bound 30), pivots and signs as LAPACK's, bad numbers, any number of
// threads, every instruction set of this machine.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/host/lapack_fortran.hpp"
#include "kernels/host/lu_panel.hpp"
#include "kernels/host/panel_simd.hpp"
#include "kernels/host/qr_panel.hpp"
#include "kernels/host/simd.hpp"
#include "panel_matrices.hpp"
#include "scalars.hpp"

namespace devobj::test {
namespace {

// A thread's rows are a multiple of 16: of five threads one may have none. More threads than cores take turns at every column,
// which is slow: more counts where the residuals of narrow panels are tested.
constexpr int thread_counts[] = {1, 5};
struct Shape {
  std::int64_t m, n;
};
constexpr Shape shapes[] = {{0, 0},   {0, 5},    {5, 0},    {1, 1},     {1, 7},    {7, 1},    {2, 2},
                            {3, 3},   {13, 13},  {16, 16},  {17, 16},   {16, 17},  {15, 33},  {40, 70},
                            {31, 32}, {101, 47}, {127, 64}, {128, 128}, {257, 19}, {509, 67}, {1000, 33}};
using host::Simd;
constexpr Simd levels[] = {Simd::baseline, Simd::avx2, Simd::avx512};

/// Many for panels of up to two inner blocks and a column with this machine's best instructions. `level` is in use afterwards.
std::vector<int> counts_for(std::int64_t n, Simd level) {
  const bool best = host::use_simd(Simd::avx512) == level;
  host::use_simd(level);
  return best && n <= 33 ? std::vector<int>{1, 2, 3, 8} : std::vector<int>{1, 3};
}

template <class T>
struct Lu {
  Panel<T> F;
  std::vector<std::int32_t> ipiv;
  std::int64_t info;
  explicit Lu(Panel<T> A, int threads = 0) : F(std::move(A)), ipiv(std::min(F.m, F.n)) {
    info = host::lu_panel(F.m, F.n, F.get(), F.ld, ipiv.data(), threads);
  }
  bool pivots_in_range() const {
    for (std::size_t i = 0; i < ipiv.size(); ++i)
      if (ipiv[i] < static_cast<std::int64_t>(i) + 1 || ipiv[i] > F.m) return false;
    return true;
  }
};

template <class T>
struct Qr {
  Panel<T> F;
  std::vector<T> tau;
  explicit Qr(Panel<T> A, int threads = 0) : F(std::move(A)), tau(std::min(F.m, F.n)) {
    host::qr_panel(F.m, F.n, F.get(), F.ld, tau.data(), threads);
  }
};

template <class T>
Qr<T> lapack_qr(Panel<T> A) {
  Qr<T> qr(Panel<T>(0, 0));
  qr.tau.resize(std::min(A.m, A.n));
  std::vector<T> work(A.n + 1);
  fortran::geqr2<T>({A.m, "", ""}, {A.n, "", ""}, A.get(), {A.ld, "", ""}, qr.tau.data(), work.data());
  qr.F = A;
  return qr;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
template <class T>
bool all_finite(const Panel<T>& A) {
  for (std::int64_t j = 0; j < A.n; ++j)
    for (std::int64_t i = 0; i < A.m; ++i)
      if (!std::isfinite(std::real(A(i, j))) || !std::isfinite(std::imag(A(i, j)))) return false;
  return true;
}

/// Multiplies row i by 2^rows(i) and column j by 2^columns(j).
template <class T, class Rows, class Columns>
void grade(Panel<T>& A, Rows rows, Columns columns) {
  for (std::int64_t j = 0; j < A.n; ++j)
    for (std::int64_t i = 0; i < A.m; ++i) {
      const int e = rows(i) + columns(j);
      if constexpr (is_complex<T>)
        A(i, j) = T(std::ldexp(A(i, j).real(), e), std::ldexp(A(i, j).imag(), e));
      else
        A(i, j) = std::ldexp(A(i, j), e);
    }
}
template <class T>
constexpr int top_exponent = std::numeric_limits<real_t<T>>::max_exponent - 1;

template <class T>
class PanelTest : public ::testing::Test {
 protected:
  ~PanelTest() override { host::use_simd(Simd::avx512); }
};
TYPED_TEST_SUITE(PanelTest, Scalars);

// ---- LU ----

TYPED_TEST(PanelTest, LuResidual) {
  for (auto [m, n] : shapes) {
    const auto A = uniform<TypeParam>(m, n, 1);
    std::vector<Lu<TypeParam>> good;  // the same bits have the same residual
    for (Simd level : levels) {
      if (host::use_simd(level) != level) continue;
      for (int threads : counts_for(n, level)) {
        SCOPED_TRACE(::testing::Message() << m << " x " << n << ", " << threads << " threads, simd " << int(level));
        const Lu<TypeParam> lu(A, threads);
        EXPECT_EQ(lu.info, 0);
        ASSERT_TRUE(lu.pivots_in_range());
        EXPECT_TRUE(lu.F.padding_intact());
        const auto same = [&](const auto& other) {
          return same_bits(lu.F.data, other.F.data) && lu.ipiv == other.ipiv;
        };
        if (std::any_of(good.begin(), good.end(), same)) continue;
        EXPECT_LE(lu_residual(A, lu.F, lu.ipiv), 30);
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = j + 1; i < m; ++i) ASSERT_LE(std::abs(lu.F(i, j)), std::sqrt(2.) * 1.00001);
        good.push_back(lu);
      }
    }
  }
}

/// A = P^T L U with |L| <= 1/2 below its diagonal, so that rounding cannot change the pivots.
TYPED_TEST(PanelTest, LuPivotsAreLapacks) {
  using T = TypeParam;
  for (auto [m, n] : shapes) {
    auto L = uniform<T>(m, n, 2), U = uniform<T>(n, n, 3);
    Panel<T> A(m, n);
    std::mt19937 gen(4);
    std::vector<std::int64_t> order(m);
    for (std::int64_t i = 0; i < m; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), gen);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        Wide<T> sum = 0;
        for (std::int64_t k = 0; k <= std::min({i, j, m - 1}); ++k) {
          const Wide<T> l = i == k ? Wide<T>(1) : widen(L(i, k)) / Wide<T>(4);
          const Wide<T> u = k == j ? Wide<T>(8) : widen(U(k, j));
          sum += l * u;
        }
        if constexpr (is_complex<T>)
          A(order[i], j) = make<T>(double(sum.real()), double(sum.imag()));
        else
          A(order[i], j) = static_cast<T>(sum);
      }
    auto B = A;
    std::vector<std::int32_t> expected(std::min(m, n));
    if (m > 0 && n > 0) fortran::getf2<T>({m, "", ""}, {n, "", ""}, B.get(), {B.ld, "", ""}, expected.data());
    for (int threads : thread_counts) EXPECT_EQ(Lu<T>(A, threads).ipiv, expected) << m << " x " << n << ", " << threads;
  }
}

/// Numbers for which every step is exact and nearly every column has ties: the lowest row must win, as in the plain
/// loop.
TYPED_TEST(PanelTest, LuTiesGoToTheLowestRow) {
  using T = TypeParam;
  for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{3, 3}, {40, 6}, {300, 20}, {64, 64}}) {
    std::mt19937 gen(5);
    Panel<T> A(m, n);
    std::vector<std::vector<int>> L(m, std::vector<int>(n)), U(n, std::vector<int>(n));
    for (auto& row : L)
      for (int& l : row) l = static_cast<int>(gen() % 3) - 1;
    for (int i = 0; i < n; ++i) L[i][i] = 1;
    // U so sparse that the sums stay small and exact
    for (int i = 0; i < n; ++i)
      for (int j = i; j < n; ++j) U[i][j] = i == j ? 1 : gen() % 4 == 0 && j < i + 4 ? 1 : 0;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        int sum = 0;
        for (std::int64_t k = 0; k <= std::min(i, j); ++k) sum += L[i][k] * U[k][j];
        A(i, j) = make<T>(sum, 0);
      }
    Panel<T> B = A;
    std::vector<std::int32_t> expected;
    for (std::int64_t j = 0; j < std::min(m, n); ++j) {
      std::int64_t p = j;
      for (std::int64_t i = j + 1; i < m; ++i)
        if (size1(B(i, j)) > size1(B(p, j))) p = i;
      expected.push_back(static_cast<std::int32_t>(p + 1));
      if (B(p, j) == T(0)) continue;
      for (std::int64_t c = 0; c < n; ++c) std::swap(B(p, c), B(j, c));
      for (std::int64_t i = j + 1; i < m; ++i) {
        B(i, j) /= B(j, j);
        for (std::int64_t c = j + 1; c < n; ++c) B(i, c) -= B(i, j) * B(j, c);
      }
    }
    for (Simd level : levels) {
      host::use_simd(level);
      for (int threads : thread_counts) {
        const Lu<T> lu(A, threads);
        EXPECT_EQ(lu.ipiv, expected) << m << " x " << n << ", " << threads << " threads";
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < m; ++i) ASSERT_EQ(lu.F(i, j), B(i, j)) << i << ", " << j;
      }
    }
  }
}

TYPED_TEST(PanelTest, LuOfOnesAndZeros) {
  using T = TypeParam;
  for (int threads : thread_counts) {
    Panel<T> ones(100, 20), zero(100, 20), column = uniform<T>(100, 20, 6);
    for (std::int64_t j = 0; j < 20; ++j)
      for (std::int64_t i = 0; i < 100; ++i) {
        ones(i, j) = 1;
        zero(i, j) = 0;
        if (j == 17) column(i, j) = 0;
      }
    std::vector<std::int32_t> straight(20);
    for (int i = 0; i < 20; ++i) straight[i] = i + 1;
    const Lu<T> of_ones(ones, threads), of_zero(zero, threads), of_column(column, threads);
    EXPECT_EQ(of_ones.info, 2);
    EXPECT_EQ(of_ones.ipiv, straight);
    EXPECT_EQ(lu_residual(ones, of_ones.F, of_ones.ipiv), 0);
    EXPECT_EQ(of_zero.info, 1);
    EXPECT_EQ(of_zero.ipiv, straight);
    EXPECT_EQ(lu_residual(zero, of_zero.F, of_zero.ipiv), 0);
    EXPECT_EQ(of_column.info, 18);
    EXPECT_LE(lu_residual(column, of_column.F, of_column.ipiv), 30);
  }
}

/// A NaN anywhere, and everywhere, and Inf: pivots stay in range, the factors hold a NaN or an Inf.
TYPED_TEST(PanelTest, LuOfNan) {
  using T = TypeParam;
  using R = real_t<T>;
  for (R bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()})
    for (int threads : thread_counts)
      for (std::int64_t at : {0, 1, 63, 64, 99, -1}) {
        auto A = uniform<T>(100, 40, 7);
        for (std::int64_t i = 0; i < 100; ++i)
          if (at < 0 || i == at) A(i, at < 0 ? 20 : 5) = make<T>(bad, 0);
        const Lu<T> lu(A, threads);
        EXPECT_TRUE(lu.pivots_in_range());
        EXPECT_FALSE(all_finite(lu.F)) << at;
        EXPECT_EQ(lu.info, 0);
      }
  for (int threads : thread_counts) {
    Panel<T> A(50, 20);
    for (T& a : A.data) a = make<T>(std::nan(""), std::nan(""));
    const Lu<T> lu(A, threads);
    EXPECT_TRUE(lu.pivots_in_range());
    EXPECT_EQ(lu.info, 0);
  }
}

/// A NaN where the search begins stays the pivot, since nothing is larger than it; elsewhere it is passed over.
TYPED_TEST(PanelTest, LuPivotBesideNan) {
  using T = TypeParam;
  for (int threads : thread_counts) {
    auto first = uniform<T>(70, 4, 25), later = first;
    first(0, 0) = later(3, 0) = make<T>(std::nan(""), 0);
    later(60, 0) = T(9);
    EXPECT_EQ(Lu<T>(first, threads).ipiv[0], 1);
    EXPECT_EQ(Lu<T>(later, threads).ipiv[0], 61);
  }
}

/// Everything near underflow and overflow; a subnormal and a huge pivot.
TYPED_TEST(PanelTest, LuOfTinyAndHuge) {
  using T = TypeParam;
  const int top = top_exponent<T>;
  for (int threads : thread_counts) {
    for (int e : {-top + 1, top - 4, -top + 30, top - 30}) {
      auto A = uniform<T>(100, 5, 8);
      grade(
          A, [](auto) { return 0; }, [=](auto) { return e; });
      const Lu<T> lu(A, threads);
      EXPECT_EQ(lu.info, 0);
      EXPECT_LE(lu_residual(A, lu.F, lu.ipiv), 30) << e;
    }
    // a column of subnormals between ordinary ones: L = column / pivot is not infinite
    auto A = uniform<T>(80, 20, 9);
    grade(
        A, [](auto) { return 0; }, [=](auto j) { return j == 0 || j == 4 || j == 19 ? -top - 10 : 0; });
    const Lu<T> lu(A, threads);
    EXPECT_EQ(lu.info, 0);
    EXPECT_LE(lu_residual(A, lu.F, lu.ipiv), 30);
    for (std::int64_t i = 1; i < 80; ++i) EXPECT_LE(std::abs(lu.F(i, 0)), 1.5);
    // of one column L is known to the last bits
    auto c = uniform<T>(80, 1, 10);
    grade(
        c, [](auto) { return 0; }, [=](auto) { return -top - 5; });
    const Lu<T> one(c, threads);
    const auto pc = permuted(c, one.ipiv);
    for (std::int64_t i = 1; i < 80; ++i)
      EXPECT_LE(std::abs(widen(one.F(i, 0)) - widen(pc(i, 0)) / widen(pc(0, 0))), 8 * eps<T>);
  }
}

TYPED_TEST(PanelTest, LuIsRepeatable) {
  const auto A = uniform<TypeParam>(777, 50, 11);
  const Lu<TypeParam> one(A, 1);
  for (int threads : thread_counts) {
    const Lu<TypeParam> first(A, threads), second(A, threads);
    EXPECT_TRUE(same_bits(first.F.data, second.F.data));
    EXPECT_TRUE(same_bits(first.F.data, one.F.data)) << "LU has no sum that depends on the threads";
    EXPECT_EQ(first.ipiv, one.ipiv);
  }
}

// ---- QR ----

TYPED_TEST(PanelTest, QrResidual) {
  using T = TypeParam;
  for (auto [m, n] : shapes) {
    const auto A = uniform<T>(m, n, 12);
    std::vector<Qr<T>> good;  // the same bits have the same residual
    for (Simd level : levels) {
      if (host::use_simd(level) != level) continue;
      for (int threads : counts_for(n, level)) {
        SCOPED_TRACE(::testing::Message() << m << " x " << n << ", " << threads << " threads, simd " << int(level));
        const Qr<T> qr(A, threads);
        EXPECT_TRUE(qr.F.padding_intact());
        const auto same = [&](const auto& other) {
          return same_bits(qr.F.data, other.F.data) && same_bits(qr.tau, other.tau);
        };
        if (std::any_of(good.begin(), good.end(), same)) continue;
        EXPECT_LE(qr_residual(A, qr.F, qr.tau), 30);
        EXPECT_LE(orthogonality(qr.F, qr.tau), 30);
        for (std::int64_t i = 0; i < std::min(m, n); ++i) EXPECT_EQ(std::imag(qr.F(i, i)), 0);
        good.push_back(qr);
      }
    }
  }
}

/// R, V and tau are LAPACK's but for rounding, signs included.
TYPED_TEST(PanelTest, QrIsLapacks) {
  using T = TypeParam;
  for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{200, 40}, {33, 33}, {20, 50}, {1, 1}, {1, 4}, {4, 1}}) {
    auto A = uniform<T>(m, n, 13);
    for (std::int64_t i = 0; i < std::min(m, n); ++i) A(i, i) += T(i % 2 == 0 ? 20 : -20);  // well-conditioned
    const auto expected = lapack_qr(A);
    for (int threads : thread_counts) {
      const Qr<T> qr(A, threads);
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i)
          ASSERT_LE(std::abs(qr.F(i, j) - expected.F(i, j)), 30 * 40 * eps<T>)
              << m << " x " << n << ": " << i << ", " << j;
      for (std::size_t i = 0; i < qr.tau.size(); ++i) ASSERT_LE(std::abs(qr.tau[i] - expected.tau[i]), 100 * eps<T>);
    }
  }
}

/// Zero, repeated, triangular, identity: the reflectors that are none have tau = 0 as in LAPACK.
TYPED_TEST(PanelTest, QrOfDegenerate) {
  using T = TypeParam;
  Panel<T> zero(70, 30), ones(70, 30), repeated = uniform<T>(70, 30, 14), triangular = uniform<T>(70, 30, 15);
  Panel<T> hole = uniform<T>(70, 30, 16), identity(70, 30);
  for (std::int64_t j = 0; j < 30; ++j)
    for (std::int64_t i = 0; i < 70; ++i) {
      zero(i, j) = 0;
      ones(i, j) = 1;
      identity(i, j) = i == j ? 1 : 0;
      repeated(i, j) = repeated(i, j - j % 3);
      if (i > j) triangular(i, j) = 0;
      if (j == 11) hole(i, j) = 0;
    }
  for (int threads : thread_counts) {
    for (const auto* A : {&zero, &ones, &repeated, &triangular, &hole, &identity}) {
      const Qr<T> qr(*A, threads);
      EXPECT_LE(qr_residual(*A, qr.F, qr.tau), 30);
      EXPECT_LE(orthogonality(qr.F, qr.tau), 30);
    }
    for (const auto* A : {&zero, &triangular, &identity}) {
      const Qr<T> qr(*A, threads);
      const auto expected = lapack_qr(*A);
      for (std::size_t i = 0; i < qr.tau.size(); ++i) {
        EXPECT_LE(std::abs(qr.tau[i] - expected.tau[i]), 8 * eps<T>) << i;
        EXPECT_EQ(qr.tau[i] == T(0), expected.tau[i] == T(0)) << i;
      }
    }
  }
}

/// Columns and rows from the smallest to the largest numbers: every column's own backward error is small.
TYPED_TEST(PanelTest, QrOfTinyAndHuge) {
  using T = TypeParam;
  const int top = top_exponent<T>, digits = std::numeric_limits<real_t<T>>::digits;
  for (int threads : thread_counts) {
    for (int e : {-top + 2 * digits, -top / 2 - 10, top / 2 + 3, top - 8}) {
      auto A = uniform<T>(150, 33, 17);
      grade(
          A, [](auto) { return 0; }, [=](auto) { return e; });
      const Qr<T> qr(A, threads);
      EXPECT_LE(qr_residual(A, qr.F, qr.tau), 30) << e;
      EXPECT_LE(orthogonality(qr.F, qr.tau), 30) << e;
    }
    auto columns = uniform<T>(150, 33, 18);
    grade(
        columns, [](auto) { return 0; }, [=](auto j) { return static_cast<int>(j % 3 - 1) * (top - 2 * digits); });
    const Qr<T> by_column(columns, threads);
    EXPECT_LE(qr_residual(columns, by_column.F, by_column.tau), 30);
    EXPECT_LE(orthogonality(by_column.F, by_column.tau), 30);

    auto rows = uniform<T>(60, 33, 19);
    grade(
        rows, [=](auto i) { return static_cast<int>(-2 * top * i / 60 + top - 8); }, [](auto) { return 0; });
    const Qr<T> by_row(rows, threads);
    EXPECT_LE(qr_residual(rows, by_row.F, by_row.tau), 30);
    EXPECT_LE(orthogonality(by_row.F, by_row.tau), 30);
    const auto expected = lapack_qr(rows);
    for (std::size_t i = 0; i < 12; ++i)  // graded so steeply that R's rows are independent
      EXPECT_LE(std::abs(by_row.tau[i] - expected.tau[i]), 300 * eps<T>) << i;
  }
}

/// All subnormal: the numbers have few digits, the reflectors still have theirs.
TYPED_TEST(PanelTest, QrOfSubnormal) {
  using T = TypeParam;
  auto A = uniform<T>(90, 20, 20);
  grade(
      A, [](auto) { return 0; }, [](auto) { return -top_exponent<T> - 6; });
  for (int threads : thread_counts) {
    const Qr<T> qr(A, threads);
    EXPECT_LE(orthogonality(qr.F, qr.tau), 30);
    const long double unit = std::numeric_limits<real_t<T>>::denorm_min() / std::ldexp(1.L, -top_exponent<T> - 6);
    EXPECT_LE(qr_residual(A, qr.F, qr.tau) * eps<T>, 30 * unit);
  }
}

/// Below a large diagonal something that vanishes when it is squared: tau is 2, not 0.
TYPED_TEST(PanelTest, QrOfLargeAboveTiny) {
  using T = TypeParam;
  Panel<T> A(40, 3);
  for (std::int64_t j = 0; j < 3; ++j)
    for (std::int64_t i = 0; i < 40; ++i) {
      const double tiny = std::is_same_v<real_t<T>, float> ? 1e-35 : 1e-290;
      A(i, j) = i == j ? T(3) : i > j ? make<T>(tiny, 0) : T(1);
    }
  const auto expected = lapack_qr(A);
  for (int threads : thread_counts) {
    const Qr<T> qr(A, threads);
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(qr.tau[j], T(2));
      EXPECT_EQ(qr.F(j, j), T(-3));
      for (int i = j + 1; i < 40; ++i)
        EXPECT_LE(std::abs(qr.F(i, j) - expected.F(i, j)),
                  8 * eps<T> * std::abs(expected.F(i, j)) + 4 * std::numeric_limits<real_t<T>>::denorm_min());
    }
  }
}

TYPED_TEST(PanelTest, QrOfNan) {
  using T = TypeParam;
  using R = real_t<T>;
  for (R bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()})
    for (int threads : thread_counts) {
      auto A = uniform<T>(100, 20, 21);
      A(60, 5) = make<T>(bad, 0);
      const Qr<T> qr(A, threads);
      EXPECT_FALSE(all_finite(qr.F));
      EXPECT_TRUE(qr.F.padding_intact());
    }
}

TYPED_TEST(PanelTest, QrIsRepeatable) {
  const auto A = uniform<TypeParam>(777, 50, 22);
  for (int threads : thread_counts) {
    const Qr<TypeParam> first(A, threads), second(A, threads);
    EXPECT_TRUE(same_bits(first.F.data, second.F.data));
    EXPECT_TRUE(same_bits(first.tau, second.tau));
  }
}

/// A large panel with whatever number of threads is chosen; sums of squares are long here.
TYPED_TEST(PanelTest, Large) {
  using T = TypeParam;
  const auto A = uniform<T>(6007, 40, 23);
  const Lu<T> lu(A);
  EXPECT_EQ(lu.info, 0);
  EXPECT_LE(lu_residual(A, lu.F, lu.ipiv), 30);
  const Qr<T> qr(A);
  EXPECT_LE(qr_residual(A, qr.F, qr.tau), 30);
  EXPECT_LE(orthogonality(qr.F, qr.tau), 30);
}

}  // namespace
}  // namespace devobj::test
