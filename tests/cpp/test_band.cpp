// QR of band matrices by rotations: the factor, its solves, its errors.
#include <array>
#include <limits>

#include "devobj/givens.hpp"
#include "explicit_factors.hpp"

namespace devobj::test {
namespace {

class Band : public Everywhere {};

template <class T>
struct BandMatrix {
  std::int64_t n, lower, upper;
  Dense<T> A, AB;
};
/// NaN where band storage has no element of A.
template <class T>
BandMatrix<T> band_matrix(std::int64_t n, std::int64_t lower, std::int64_t upper, std::uint32_t seed) {
  BandMatrix<T> b{n, lower, upper, Dense<T>(n, n), Dense<T>(lower + upper + 1, n, make<T>(nan<T>))};
  const Dense<T> numbers = random<T>(n, n, seed);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = std::max<std::int64_t>(0, j - upper); i < std::min(n, j + lower + 1); ++i)
      b.AB(upper + i - j, j) = b.A(i, j) = numbers(i, j) + (i == j ? T(4) : T(0));
  return b;
}

const std::vector<std::array<std::int64_t, 3>> band_shapes = {
    {1, 0, 0},  {2, 1, 1},   {7, 0, 3},   {9, 8, 8},   {40, 1, 1},  {40, 2, 2},    {41, 3, 3},    {64, 4, 0},
    {65, 5, 2}, {66, 6, 40}, {100, 7, 7}, {100, 8, 1}, {131, 9, 4}, {200, 17, 20}, {130, 33, 33}, {300, 3, 3}};

TEST_P(Band, Solve) {
  with_type([&]<class T>(T) {
    for (const auto& [n, lower, upper] : band_shapes)
      for (const std::int64_t nrhs : {0, 1, 5, 40, 133}) {
        const BandMatrix<T> b = band_matrix<T>(n, lower, upper, 11);
        const Dense<T> B = random<T>(n, nrhs, 12);
        const std::string what = std::to_string(n) + ": " + std::to_string(lower) + ", " + std::to_string(upper) +
                                 "; " + std::to_string(nrhs) + " right-hand sides";
        const Padded<T> AB(b.AB, q()), X(B, q());
        const BandedGivens<T> factors(AB, lower, upper, q());
        EXPECT_EQ(factors.order(), n);
        EXPECT_EQ(factors.lower(), lower);
        EXPECT_EQ(factors.upper(), upper);
        EXPECT_EQ(factors.solve(X, q()), 0) << what;
        EXPECT_LE(solve_residual(Op::NoTrans, b.A, X.read("B"), B), residual_bound) << what;
        AB.read("AB");
        // Q Q^H B = B
        const Padded<T> C(B, q());
        factors.apply(adjoint<T>, C, q());
        factors.apply(Op::NoTrans, C, q());
        const Dense<T> back = C.read("C");
        for (std::int64_t e = 0; e < B.size(); ++e)
          ASSERT_LE(std::abs(back[e] - B[e]), 30 * eps<T> * (lower + 2)) << what;
      }
  });
}

TEST_P(Band, RotationsGiveR) {
  with_type([&]<class T>(T) {
    for (const auto& [n, lower, upper] : band_shapes) {
      const BandMatrix<T> b = band_matrix<T>(n, lower, upper, 13);
      const Padded<T> AB(b.AB, q()), A(b.A, q());
      const BandedGivens<T> factors(AB, lower, upper, q());
      factors.apply(adjoint<T>, A, q());
      const Dense<T> R = A.read("Q^H A"), rows = download(factors.r(), q());
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i) {
          const bool in = 0 <= j - i && j - i <= lower + upper;
          ASSERT_LE(std::abs(R(i, j) - (in ? rows(j - i, i) : T(0))), 100 * eps<T> * (lower + upper + 2))
              << n << " " << lower << " " << upper << ": " << i << " " << j;
        }
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t p = n - i; p <= lower + upper; ++p) ASSERT_EQ(rows(p, i), T(0)) << "beyond the last column";
    }
  });
}

TEST_P(Band, Singular) {
  with_type([&]<class T>(T) {
    BandMatrix<T> b = band_matrix<T>(30, 0, 3, 11);
    b.AB(3, 17) = T(0);
    const Dense<T> B = random<T>(30, 2, 12);
    const Padded<T> AB(b.AB, q()), X(B, q());
    const BandedGivens<T> factors(AB, 0, 3, q());
    EXPECT_EQ(factors.solve(X, q()), 18);
    expect_same(X.read("B"), B, "B");
    const Padded<T> zero(Dense<T>(7, 20), q());
    EXPECT_EQ(BandedGivens<T>(zero, 3, 3, q()).solve(Padded<T>(Dense<T>(20, 1), q()), q()), 1);
  });
}

/// Rotations of (0, 0), (a, 0), (0, b), of huge and tiny pairs, and of NaN: columns of a bidiagonal matrix.
TEST_P(Band, Rotations) {
  with_type([&]<class T>(T) {
    constexpr bool is_double = sizeof(real_t<T>) == 8;
    const double huge = is_double ? 1.5e308 : 3e38, tiny = is_double ? 4.9e-324 : 1.4e-45,
                 small = is_double ? 1e-300 : 1e-37;
    const std::vector<std::pair<double, double>> pairs = {{0, 0},         {3, 0},           {-3, 0},
                                                          {0, 2},         {0, -2},          {3, 4},
                                                          {-3, 4},        {3, -4},          {huge / 2, huge / 2},
                                                          {tiny, tiny},   {huge / 2, tiny}, {tiny, huge / 2},
                                                          {small, 1},     {1, small},       {small, small},
                                                          {-huge / 2, 1}, {1, -huge / 2},   {tiny, 0},
                                                          {0, tiny},      {nan<T>, 1},      {1, nan<T>}};
    for (const auto& [f, g] : pairs) {
      Dense<T> AB(2, 2);
      AB(0, 0) = make<T>(f);
      AB(1, 0) = make<T>(g);
      AB(0, 1) = T(1);
      AB(1, 1) = T(0);
      Matrix<T> ab = upload(AB, q()), S(1, 2, q()), R(2, 2, q());
      Matrix<real_t<T>> C(1, 2, q());
      band_qr<T>(ab, 1, 0, C, S, R, q());
      const T s = download(S.view(), q())(0, 0), r = download(R.view(), q())(0, 0);
      const auto c = download(C.view(), q())(0, 0);
      const std::string what = std::to_string(f) + ", " + std::to_string(g);
      if (std::isnan(f) || std::isnan(g)) {
        EXPECT_TRUE(is_nan(std::complex<double>(r))) << what;
        continue;
      }
      EXPECT_NEAR(double(c) * c + std::norm(precise_t<T>(s)), 1, 8 * eps<T>) << what;
      const double length = std::hypot(f, g);
      EXPECT_NEAR(std::abs(r) / (length == 0 ? 1 : length), length == 0 ? 0 : 1, length < 1e3 * tiny ? 0.5 : 8 * eps<T>)
          << what;
      if (g == 0) {
        EXPECT_EQ(c, 1) << what;
        EXPECT_EQ(s, T(0)) << what;
        EXPECT_EQ(r, make<T>(f)) << what;
      }
      if (f != 0) {
        EXPECT_EQ(std::signbit(std::real(r)), std::signbit(f)) << what;
      }
    }
  });
}

TEST_P(Band, Errors) {
  with_type([&]<class T>(T) {
    const Padded<T> AB(Dense<T>(4, 9), q()), S(Dense<T>(1, 9), q()), R(Dense<T>(4, 9), q()), B(Dense<T>(9, 2), q()),
        short_B(Dense<T>(8, 2), q());
    const Padded<real_t<T>> C(Dense<real_t<T>>(1, 9), q()), wrong(Dense<real_t<T>>(2, 9), q());
    EXPECT_INVALID(band_qr<T>(AB, -1, 2, C, S, R, q()), "band_qr: kl is -1, must be 0 to 8");
    EXPECT_INVALID(band_qr<T>(AB, 9, 2, C, S, R, q()), "band_qr: kl is 9, must be 0 to 8");
    EXPECT_INVALID(band_qr<T>(AB, 1, 9, C, S, R, q()), "band_qr: ku is 9, must be 0 to 8");
    EXPECT_INVALID(band_qr<T>(AB, 1, 1, C, S, R, q()), "band_qr: AB has 4 rows, must have kl + ku + 1 = 3");
    EXPECT_INVALID(band_qr<T>(AB, 1, 2, wrong, S, R, q()), "band_qr: C is 2 x 9, must be 1 x 9");
    EXPECT_INVALID(band_qr<T>(AB, 1, 2, C, R, R, q()), "band_qr: S is 4 x 9, must be 1 x 9");
    EXPECT_INVALID(band_qr<T>(AB, 1, 2, C, S, S, q()), "band_qr: R is 1 x 9, must be 4 x 9");
    EXPECT_INVALID(band_qr<T>(AB, 1, 2, C, S, AB, q()), "band_qr: R and AB overlap");
    EXPECT_INVALID(BandedGivens<T>(AB, -1, 2, q()), "band_qr: kl is -1");
    EXPECT_INVALID(band_qr_apply<T>(adjoint<T>, C, S, short_B, q()),
                   "band_qr_apply: B has 8 rows, but the rotations are of order 9");
    EXPECT_INVALID(band_qr_apply<T>(is_complex<T> ? Op::Trans : Op::ConjTrans, C, S, B, q()), "band_qr_apply: op is");
    EXPECT_INVALID(band_qr_solve<T>(C, S, R, short_B, q()), "band_qr_solve: B has 8 rows");
    EXPECT_INVALID(band_qr_solve<T>(C, S, S, B, q()),
                   "band_qr_solve: R is 1 x 9, must have more than 1 rows and 9 columns");
  });
}
DEVOBJ_EVERYWHERE(Band);

}  // namespace
}  // namespace devobj::test
