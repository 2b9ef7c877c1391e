// Method::givens, householder and block_householder of qr and geqrf, and the band routines.
#include <functional>
#include <limits>

#include "devobj/givens.hpp"
#include "factor_checks.hpp"
#include "factor_matrices.hpp"
#include "kernels/host/simd.hpp"
#include "qr_blocked.hpp"

namespace devobj::test {
namespace {

class Givens : public Everywhere {};
class Wy : public Everywhere {};
class Band : public Everywhere {};

/// Explicit factors, all surrounded by canaries.
template <class T>
struct Explicit {
  Dense<T> Q, R;
};
template <class T>
Explicit<T> explicit_qr(const Dense<T>& A, bool full, Queue& q, QrOptions options) {
  const std::int64_t m = A.rows(), n = A.cols(), k = full ? m : std::min(m, n);
  const Padded<T> a(A, q), Q(Dense<T>(m, k), q), R(Dense<T>(k, n), q);
  qr<T>(a, Q, R, q, options);
  expect_same(a.read("A"), A, "A");
  return {Q.read("Q"), R.read("R")};
}

template <class T>
void expect_triangular(const Dense<T>& R, const std::string& what) {
  for (std::int64_t j = 0; j < R.cols(); ++j)
    for (std::int64_t i = j + 1; i < R.rows(); ++i)
      if (!(R(i, j) == T(0))) {
        ADD_FAILURE() << what << ": R(" << i << ", " << j << ") is " << R(i, j);
        return;
      }
}
template <class T>
void expect_factors(const Dense<T>& A, const Explicit<T>& f, By by, const std::string& what) {
  EXPECT_LE(product_residual(A, precise(f.Q), f.R, by), residual_bound) << what;
  EXPECT_LE(orthogonality(f.Q), residual_bound) << what;
  expect_triangular(f.R, what);
}

TEST_P(Givens, FactorsOfAllShapes) {
  with_type([&]<class T>(T) {
    for (const auto& [m, n] : factor_shapes())
      for (const bool full : {false, true}) {
        if (full && m > 1000) continue;
        const Dense<T> A = random<T>(m, n, 3);
        expect_factors(A, explicit_qr(A, full, q(), {Method::givens}), By::matrix,
                       shape_name(m, n) + (full ? " full" : ""));
      }
  });
}

TEST_P(Givens, FactorsOfManyMatrices) {
  with_type([&]<class T>(T) {
    for (const auto& [m, n] : {std::pair{45, 45}, {70, 33}, {33, 50}, {300, 300}})
      for (const auto& matrix : gallery<T>(m, n))
        expect_factors(matrix.A, explicit_qr(matrix.A, false, q(), {Method::givens}), matrix.by,
                       matrix.name + " " + shape_name(m, n));
  });
}

/// Bands and staircases of every kind, around the widths of windows and slabs.
TEST_P(Givens, ZerosThatAreThere) {
  with_type([&]<class T>(T) {
    for (const std::int64_t n : {1, 5, 33, 64, 100, 131, 260})
      for (const std::int64_t lower : {0, 1, 2, 3, 4, 5, 8, 9, 20, 33})
        for (const std::int64_t upper : {0, 1, 3, 40}) {
          if (lower >= n || upper >= n) continue;
          const Dense<T> A = multiplied(
              random<T>(n, n, 7), [&](double i, double j) { return i - j <= lower && j - i <= upper ? 1.0 : 0.0; });
          const std::string what =
              std::to_string(lower) + " + " + std::to_string(upper) + " diagonals of " + std::to_string(n);
          const Explicit<T> f = explicit_qr(A, false, q(), {Method::givens});
          expect_factors(A, f, By::matrix, what);
          // R's band, and Q's zeros below it
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < n; ++i) {
              if (q().on_cuda() && lower > 32) continue;  // a full matrix for the GPU's blocks
              if (j - i > lower + upper) {
                ASSERT_EQ(f.R(i, j), T(0)) << what << " R " << i << " " << j;
              }
              if (i - j > lower) {
                ASSERT_EQ(f.Q(i, j), T(0)) << what << " Q " << i << " " << j;
              }
            }
        }
    const Dense<T> stairs = multiplied(random<T>(150, 90, 9), [](double i, double j) {
      return i <= 2 * std::floor(j / 10) * 10 + 3 && j <= i + 30 ? 1.0 : 0.0;
    });
    expect_factors(stairs, explicit_qr(stairs, true, q(), {Method::givens}), By::matrix, "a staircase");
  });
}

/// Columns so long that a slab's rows are done in parts, with zeros wherever parts begin and end.
TEST_P(Givens, LongColumns) {
  with_type([&]<class T>(T) {
    using Kept = std::function<bool(std::int64_t, std::int64_t)>;
    const std::vector<std::pair<std::string, Kept>> patterns = {
        {"full", [](auto, auto) { return true; }},
        {"a staircase within a slab", [](auto i, auto j) { return i <= 20 + 60 * j; }},
        {"steps of many columns", [](auto i, auto j) { return i <= 40 + 400 * (j / 20); }},
        {"zero columns", [](auto, auto j) { return j % 5 != 2; }},
        {"zero rows", [](auto i, auto) { return i % 200 < 100; }},
        {"nonzeros far below", [](auto i, auto j) { return i <= j || i >= 600; }},
        {"one element far below", [](auto i, auto j) { return i <= j || (i == 690 && j == 3); }}};
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{700, 70}, {1300, 33}, {700, 710}})
      for (const auto& pattern : patterns) {
        const std::string& name = pattern.first;
        const Kept& kept = pattern.second;
        if (n > 100 && name != "full" && name != "steps of many columns") continue;
        const Dense<T> A = multiplied(random<T>(m, n, 12), [&](auto i, auto j) {
          return kept(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)) ? 1.0 : 0.0;
        });
        const std::string what = name + " " + shape_name(m, n);
        const Explicit<T> f = explicit_qr(A, false, q(), {Method::givens});
        expect_factors(A, f, By::matrix, what);
        if (q().on_cuda()) continue;
        // Q's zeros below the staircase
        for (std::int64_t j = 0, reach = 0; j < f.Q.cols(); ++j) {
          for (std::int64_t i = std::max(reach, j + 1); i < m; ++i)
            if (A(i, j) != T(0)) reach = i + 1;
          for (std::int64_t i = std::max(reach, j + 1); i < m; ++i)
            ASSERT_EQ(f.Q(i, j), T(0)) << what << " " << i << " " << j;
        }
      }
  });
}

/// NaN and Inf in every part of a long column reach R; elements near over- and underflow in single rows do no harm.
TEST_P(Givens, LongColumnsOfOddNumbers) {
  with_type([&]<class T>(T) {
    for (const std::int64_t row : {0, 200, 500, 799})
      for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        Dense<T> A = random<T>(800, 40, 2);
        A(row, 5) = make<T>(bad);
        const Explicit<T> f = explicit_qr(A, false, q(), {Method::givens});
        EXPECT_FALSE(std::isfinite(std::abs(std::complex<double>(f.R(5, 5))))) << row;
        expect_triangular(f.R, "with NaN");
      }
    const double small = sizeof(real_t<T>) == 4 ? 1e-37 : 1e-307;
    for (const double size : {small, 1 / small}) {
      const Dense<T> A =
          multiplied(random<T>(800, 40, 3), [&](double i, double) { return std::fmod(i, 100) < 3 ? size / 1e3 : 1.0; });
      if (size < 1) expect_factors(A, explicit_qr(A, false, q(), {Method::givens}), By::matrix, "tiny rows");
      const Dense<T> B =
          multiplied(random<T>(800, 40, 3), [&](double, double) { return size < 1 ? size : size / 1e5; });
      expect_factors(B, explicit_qr(B, false, q(), {Method::givens}), By::matrix,
                     "all of size " + std::to_string(size));
    }
  });
}

/// |R| is the Householder method's for a matrix of full rank.
TEST_P(Givens, SameAsHouseholder) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(90, 70, 5);
    const Explicit<T> f = explicit_qr(A, false, q(), {Method::givens});
    const QrFactors<T> h = lapack_qr(A);
    for (std::int64_t j = 0; j < 70; ++j)
      for (std::int64_t i = 0; i <= j; ++i)
        ASSERT_NEAR(std::abs(f.R(i, j)), std::abs(h.QR(i, j)), 200 * eps<T> * 10) << i << " " << j;
  });
}

TEST_P(Givens, NotANumber) {
  with_type([&]<class T>(T) {
    for (const std::int64_t n : {1, 20, 64, 150}) {
      Dense<T> A = random<T>(n, n, 2);
      poison(A);
      const Explicit<T> f = explicit_qr(A, false, q(), {Method::givens});
      bool found = false;
      for (std::int64_t e = 0; e < f.R.size(); ++e) found = found || is_nan(std::complex<double>(f.R[e]));
      EXPECT_TRUE(found) << n;
      expect_triangular(f.R, "with NaN");
    }
  });
}

TEST_P(Givens, SameFromRunToRun) {
  with_type([&]<class T>(T) {
    for (const auto& [m, n] : {std::pair{300, 200}, {900, 60}}) {
      const Dense<T> A = random<T>(m, n, 5);
      const Explicit<T> first = explicit_qr(A, true, q(), {Method::givens});
      for (int run = 0; run < 3; ++run) {
        const Explicit<T> again = explicit_qr(A, true, q(), {Method::givens});
        expect_same(again.Q, first.Q, "Q");
        expect_same(again.R, first.R, "R");
      }
    }
  });
}

TEST_P(Givens, EveryInstructionSet) {
  if (q().on_cuda()) GTEST_SKIP() << "skipped: a matter of the host";
  with_type([&]<class T>(T) {
    for (const auto level : {host::Simd::baseline, host::Simd::avx2, host::Simd::avx512}) {
      if (host::use_simd(level) != level) continue;
      for (const auto& [m, n] : {std::pair{150, 90}, {97, 97}, {40, 130}})
        for (const bool full : {false, true}) {
          const Dense<T> A = random<T>(m, n, 8);
          expect_factors(A, explicit_qr(A, full, q(), {Method::givens}), By::matrix,
                         shape_name(m, n) + " instruction set " + std::to_string(static_cast<int>(level)));
        }
    }
  });
  host::use_simd(host::Simd::avx512);
}

TEST_P(Givens, Errors) {
  with_type([&]<class T>(T) {
    const Padded<T> A(random<T>(6, 4, 1), q()), tau(Dense<T>(4, 1), q()), B(Dense<T>(6, 1), q());
    EXPECT_INVALID(geqrf<T>(A, tau, q(), {Method::givens}), "geqrf: method 'givens' is not available");
    EXPECT_INVALID(gels<T>(Op::NoTrans, A, B, q(), {Method::givens}), "gels: method 'givens' is not available");
    EXPECT_INVALID(qr<T>(A, A, A, q(), {Method::givens}), "qr: Q is 6 x 4 and R is 6 x 4");
  });
}
DEVOBJ_EVERYWHERE(Givens);

// ---- householder, block_householder ----

/// Paper 000's checks: ||Q R - A|| <= m u ||A|| and ||Q^H Q - I|| <= m u with u = 2^-23, or 2^-52 in double precision.
template <class T>
void expect_paper_checks(const Dense<T>& A, const Explicit<T>& f, const std::string& what) {
  const double u = sizeof(real_t<T>) == 4 ? 0x1p-23 : 0x1p-52, m = static_cast<double>(A.rows());
  using D = precise_t<T>;
  const Dense<D> unit = Dense<D>::from(f.Q.cols(), f.Q.cols(), [](auto i, auto j) { return D(i == j ? 1 : 0); });
  const Dense<D> Q = precise(f.Q);
  EXPECT_LE(one_norm(residual(unit, adjoint<D>, Q, Op::NoTrans, Q)), m * u) << what;
  EXPECT_LE(one_norm(residual(precise(A), Op::NoTrans, Q, Op::NoTrans, precise(f.R))), m * u * one_norm(precise(A)))
      << what;
}

TEST_P(Wy, PaperChecks) {
  with_type([&]<class T>(T) {
    for (const auto method : {Method::householder, Method::block_householder})
      for (const std::int64_t n : {64, 129, 200})
        for (const bool full : {false, true}) {
          const Dense<T> A = random<T>(2 * n, n, 4);
          expect_paper_checks(A, explicit_qr(A, full, q(), {method}), std::to_string(n) + (full ? " full" : ""));
        }
  });
}

TEST_P(Wy, FactorsOfAllShapes) {
  with_type([&]<class T>(T) {
    for (const auto& [m, n] : factor_shapes()) {
      const Dense<T> A = random<T>(m, n, 3);
      const QrFactors<T> lapack = lapack_qr(A);
      std::vector<std::pair<Method, std::int64_t>> ways = {{Method::householder, 0}};
      for (const std::int64_t block : blocks_for(std::min(m, n))) ways.push_back({Method::block_householder, block});
      for (const auto& [method, block] : ways) {
        const std::string what = shape_name(m, n) + " method " + std::to_string(static_cast<int>(method)) + " block " +
                                 std::to_string(block);
        const QrFactors<T> f = factor_qr(A, q(), {method, block});
        const QrMeasures ours = qr_measures(A, f);
        EXPECT_LE(ours.residual, residual_bound) << what;
        EXPECT_LE(ours.orthogonality, residual_bound) << what;
        for (std::int64_t i = 0; i < f.tau.size(); ++i) {
          EXPECT_EQ(std::signbit(std::real(f.QR(i, i))), std::signbit(std::real(lapack.QR(i, i))))
              << what << " row " << i;
          if (i + 1 < m) {
            EXPECT_EQ(std::imag(f.QR(i, i)), 0) << what << " row " << i;
          }
        }
      }
    }
  });
}

TEST_P(Wy, FactorsOfManyMatrices) {
  with_type([&]<class T>(T) {
    for (const auto method : {Method::householder, Method::block_householder})
      for (const auto& [m, n] : {std::pair{45, 45}, {70, 33}, {33, 50}})
        for (const auto& matrix : gallery<T>(m, n)) {
          const std::string what =
              matrix.name + " " + shape_name(m, n) + " method " + std::to_string(static_cast<int>(method));
          const QrMeasures ours = qr_measures(matrix.A, factor_qr(matrix.A, q(), {method, 16}), matrix.by);
          EXPECT_LE(ours.residual, residual_bound) << what;
          EXPECT_LE(ours.orthogonality, residual_bound) << what;
          expect_factors(matrix.A, explicit_qr(matrix.A, true, q(), {method, 16}), matrix.by, what);
        }
  });
}

TEST_P(Wy, NotANumber) {
  with_type([&]<class T>(T) {
    for (const auto method : {Method::householder, Method::block_householder}) {
      Dense<T> A = random<T>(150, 100, 2);
      poison(A);
      const QrFactors<T> f = factor_qr(A, q(), {method, 32});
      EXPECT_TRUE(is_nan(std::complex<double>(f.QR(50, 99)))) << static_cast<int>(method);
    }
  });
}

/// Blocks that leave the zeros outside of a band alone.
TEST_P(Wy, BandsByBlocks) {
  with_type([&]<class T>(T) {
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{150, 150}, {170, 120}, {120, 170}, {64, 64}})
      for (const std::int64_t lower : {0, 1, 20, 33, 119})
        for (const std::int64_t upper : {0, 2, 60}) {
          const Dense<T> A = multiplied(
              random<T>(m, n, 7), [&](double i, double j) { return i - j <= lower && j - i <= upper ? 1.0 : 0.0; });
          const std::int64_t k = std::min(m, n);
          const std::string what = shape_name(m, n) + ": " + std::to_string(lower) + ", " + std::to_string(upper);
          for (const auto method : {Method::block_householder, Method::givens}) {
            if (method == Method::givens && !q().on_cuda()) continue;
            const Padded<T> F(A, q()), tau(Dense<T>(k, 1), q());
            geqrf_blocked<T>(F, tau, q(), {method, 32}, Bandwidths{lower, upper});
            const Dense<T> QR = F.read("A");
            Dense<T> V(m, k);
            for (std::int64_t j = 0; j < k; ++j)
              for (std::int64_t i = j + 1; i < m; ++i) V(i, j) = QR(i, j);
            const Padded<T> Q(V, q());
            orgqr_banded<T>(Q, tau, {lower, upper}, q());
            expect_factors(A, {Q.read("Q"), triangle(Uplo::Upper, Diag::NonUnit, block_of(QR, {0, k}, {0, n}))},
                           By::matrix, what);
            for (std::int64_t j = 0; j < n; ++j)
              for (std::int64_t i = 0; i < m; ++i)
                if (i - j > lower + 32 || (i < j && j - i > lower + upper + 32)) {
                  ASSERT_EQ(QR(i, j), T(0)) << what;
                }
          }
        }
  });
}

TEST_P(Wy, LeastSquares) {
  with_type([&]<class T>(T) {
    for (const auto method : {Method::householder, Method::block_householder}) {
      const Dense<T> A = random<T>(120, 40, 6), X = random<T>(40, 3, 8);
      const auto B = multiply(widen(A), widen(X));
      const Padded<T> a(A, q()),
          b(Dense<T>::from(
                120, 3,
                [&](auto i, auto j) { return make<T>(double(std::real(B(i, j))), double(std::imag(B(i, j)))); }),
            q());
      EXPECT_EQ(gels<T>(Op::NoTrans, a, b, q(), {method}), 0);
      const Dense<T> found = b.read("B");
      for (std::int64_t j = 0; j < 3; ++j)
        for (std::int64_t i = 0; i < 40; ++i) ASSERT_LE(std::abs(found(i, j) - X(i, j)), 1e4 * eps<T>);
    }
  });
}
DEVOBJ_EVERYWHERE(Wy);

// ---- bands ----

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
