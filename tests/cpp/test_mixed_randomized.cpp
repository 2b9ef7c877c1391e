// gesv_mixed by random mixtures of rows and columns: as accurate as gesv, and what it cannot do is done by other pivots or
// in double precision.
#include "mixed_checks.hpp"

namespace devobj::test {
namespace {

class MixedRandomized : public Everywhere {};
DEVOBJ_EVERYWHERE_DOUBLE(MixedRandomized);

const LuOptions randomized{Method::randomized};

TEST_P(MixedRandomized, RefinesEveryOrderAndNumberOfRightHandSides) {
  with_double([&]<class T>(T) {
    for (std::int64_t n : {3, 4, 5, 17, 64, 127, 128, 130, 257, 400})
      for (std::int64_t nrhs : {0, 1, 2, 35}) {
        const std::string what = "n = " + std::to_string(n) + ", nrhs = " + std::to_string(nrhs);
        Dense<T> A = random<T>(n, n, std::uint32_t(n));
        for (std::int64_t i = 0; i < n; ++i) A(i, (i + 3) % n) += make<T>(3);
        const Dense<T> B = random<T>(n, nrhs, 5);
        const Solved<T> s = solve(A, B, q(), randomized), d = solve_double(A, B, q());
        EXPECT_EQ(s.result.info, 0) << what;
        EXPECT_GE(s.result.iterations, nrhs > 0 ? 1 : 0) << what;
        EXPECT_LE(s.result.iterations, 8) << what;
        expect_same(s.A, A, what + ": A");
        for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(s.pivots[i], i + 1) << what;
        const double r = solve_residual(Op::NoTrans, A, s.X, B);
        EXPECT_LE(r, residual_bound) << what;
        EXPECT_LE(r, 2 * solve_residual(Op::NoTrans, A, d.X, B) + residual_floor) << what;
        expect_same(solve(A, B, q(), randomized).X, s.X, what + ", again");
      }
  });
}

/// Large ones, whose products are by parts and, of aligned columns, of TF32 numbers. On a GPU only.
TEST_P(MixedRandomized, LargeMatrices) {
  if (!q().on_cuda()) return;
  with_double([&]<class T>(T) {
    for (const std::int64_t n : {5100, 5101}) {
      const Dense<T> A = random<T>(n, n, 15), B = random<T>(n, 2, 16);
      const Solved<T> s = solve(A, B, q(), randomized);
      EXPECT_EQ(s.result.info, 0) << n;
      EXPECT_GE(s.result.iterations, 1) << n;
      EXPECT_LE(s.result.iterations, 8) << n;
      EXPECT_LE(solve_residual(Op::NoTrans, A, s.X, B), residual_bound) << n;
      expect_same(solve(A, B, q(), randomized).X, s.X, std::to_string(n) + ", again");
    }
  });
}

/// Rows and columns from 1e-9 to 1e9 are brought to one size; no window has the largest element of a permuted matrix.
TEST_P(MixedRandomized, ScalesAndMixes) {
  with_double([&]<class T>(T) {
    const std::int64_t n = 500;
    const Dense<T> R = random<T>(n, n, 5), X = random<T>(n, 2, 6);
    const auto size = [&](std::int64_t i) { return std::pow(10.0, double(i * 18 / n) - 9); };
    const Dense<T> by_rows = Dense<T>::from(n, n, [&](auto i, auto j) { return R(i, j) * size(i); }),
                   by_columns = Dense<T>::from(n, n, [&](auto i, auto j) { return R(i, j) * size(j); }),
                   permuted = Dense<T>::from(
                       n, n, [&](auto i, auto j) { return (i * 137 + 11) % n == j ? T(n) : R(i, j) * 0.5; });
    for (const auto& [A, name] :
         {std::pair{by_rows, "rows"}, std::pair{by_columns, "columns"}, std::pair{permuted, "permuted"}}) {
      const auto B = rounded<T>(product(Op::NoTrans, precise(A), Op::NoTrans, precise(X)));
      const Solved<T> s = solve(A, B, q(), randomized);
      EXPECT_GE(s.result.iterations, 0) << name;
      EXPECT_EQ(s.result.info, 0) << name;
      EXPECT_LE(solve_residual(Op::NoTrans, A, s.X, B), residual_bound) << name;
    }
  });
}

TEST_P(MixedRandomized, GivesWay) {
  with_double([&]<class T>(T) {
    const std::int64_t n = 200;
    const Dense<T> B = random<T>(n, 2, 8);
    // to double precision, bit for bit
    Dense<T> large = random<T>(n, n, 3), invalid = large;
    large(7, 9) = make<T>(1e39);
    invalid(n - 1, 0) = make<T>(nan<T>);
    const Dense<T> ill = with_condition<T>(n, n, 1e12, 4);
    expect_as_double(solve(large, B, q(), randomized), solve_double(large, B, q()), -2, "large");
    expect_as_double(solve(ill, B, q(), randomized), solve_double(ill, B, q()), -31, "ill-conditioned");
    const Solved<T> s = solve(invalid, B, q(), randomized);
    EXPECT_EQ(s.result.iterations, -2);
    EXPECT_TRUE(std::isnan(largest(s.X))) << "NaN was swallowed";
    Dense<T> singular = random<T>(n, n, 7);
    for (std::int64_t i = 0; i < n; ++i) singular(i, 11) = T(0);
    const Solved<T> none = solve(singular, B, q(), randomized);
    EXPECT_EQ(none.result.info, 12);
    EXPECT_LT(none.result.iterations, 0);
    expect_same(none.X, B, "B of a singular matrix");
    // to the pivots of whole columns: the mixture of a permutation matrix is sparse, and a leading block of it singular
    const Dense<T> P = Dense<T>::from(n, n, [&](auto i, auto j) { return T((i * 67 + 5) % n == j); });
    const Solved<T> exchanged = solve(P, B, q(), randomized);
    EXPECT_EQ(exchanged.result.info, 0);
    for (std::int64_t c = 0; c < 2; ++c)
      for (std::int64_t i = 0; i < n; ++i) EXPECT_LE(std::abs(exchanged.X((i * 67 + 5) % n, c) - B(i, c)), 1e-15) << i;
  });
}

TEST_P(MixedRandomized, OfTheGallery) {
  with_double([&]<class T>(T) { expect_gallery<T>(q(), randomized); });
}

TEST_P(MixedRandomized, ErrorsWriteNothing) {
  with_double([&]<class T>(T) {
    const Dense<T> A = random<T>(4, 4, 1), B = random<T>(4, 2, 3);
    Padded<T> a(A, q()), b(B, q());
    Pivots four = pivots_of(4, q());
    EXPECT_INVALID(gesv_mixed<T>(a, four.view(), b, q(), {Method::randomized, -3}), "gesv_mixed: block is -3");
    EXPECT_INVALID(gesv<T>(a, four.view(), b, q(), randomized), "'randomized'");
    EXPECT_INVALID(gels_mixed<T>(Op::NoTrans, a, b, q(), {Method::randomized}), "'randomized'");
    expect_same(a.read("A"), A, "A");
    expect_same(b.read("B"), B, "B");
    expect_same(four.read("ipiv"), Dense<std::int32_t>(4, 1, 77), "ipiv");
    const Dense<T> M = random<T>(300, 300, 2), R = random<T>(300, 2, 3);
    Padded<T> m(M, q()), r(R, q());
    Pivots p = pivots_of(300, q());
    EXPECT_GE(fail_each_allocation([&] { EXPECT_EQ(gesv_mixed<T>(m, p.view(), r, q(), randomized).info, 0); },
                                   [&] {
                                     expect_same(m.read("A"), M, "A");
                                     expect_same(r.read("B"), R, "B");
                                     expect_same(p.read("ipiv"), Dense<std::int32_t>(300, 1, 77), "ipiv");
                                   }),
              9);
    EXPECT_LE(solve_residual(Op::NoTrans, M, r.read("B"), R), residual_bound);
  });
}

}  // namespace
}  // namespace devobj::test
