// The double precision behind the tests' measures: products in every place, the orthogonal factor by blocks, and measures
// of matrices so large that a GPU computes them where there is one.
#include "factor_checks.hpp"

namespace devobj::test {
namespace {

class Precise : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, Precise,
                         ::testing::Combine(::testing::ValuesIn(places()),
                                            ::testing::Values(Type::double_precision, Type::double_complex)),
                         instance_name);

TEST_P(Precise, Products) {
  with_double([&]<class D>(D) {
    const std::int64_t m = 37, n = 29, k = 41;
    for (const Op opA : {Op::NoTrans, Op::Trans, Op::ConjTrans})
      for (const Op opB : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
        const Dense<D> A = random<D>(m, k, 1), B = random<D>(k, n, 2), C = random<D>(m, n, 3);
        auto stored = [](Op op, const Dense<D>& X) { return op_of(op, X); };  // op is its own inverse
        Dense<D> result = C;
        multiply_into(result, -1, opA, stored(opA, A), opB, stored(opB, B), 1, q());
        using W = wide_t<D>;
        expect_close(result, combine(W(1), widen(C), W(-1), multiply(widen(A), widen(B))),
                     Dense<Wide>(m, n, Wide(4 * k * eps<D>)), letters(opA, opB));
      }
  });
}

/// Blocks that divide the columns and that do not, economic and full Q, and a reflector that is the unit matrix.
TEST_P(Precise, QByBlocksIsLapacks) {
  with_double([&]<class D>(D) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{150, 90}, {70, 70}, {40, 64}, {33, 1}})
      for (const std::int64_t block : {16, 32, 45, 256})
        for (const bool full : {false, true}) {
          QrFactors<D> f = lapack_qr(random<D>(m, n, 4));
          const std::int64_t k = f.tau.size(), cols = full ? m : k;
          f.tau[k / 2] = D(0);
          const Dense<D> expected = q_by_lapack(f.QR, f.tau, cols), Q = q_by_blocks(f.QR, f.tau, cols, q(), block);
          expect_close(Q, widen(expected), Dense<Wide>(m, cols, Wide(20 * eps<D>)),
                       shape_name(m, n) + ", blocks of " + std::to_string(block));
        }
  });
}

TEST(PreciseParts, LeadingBits) {
  const int bits = 20;
  for (const double size : {1.0, 1e-300, 1e290, 5e-324 * 1e6}) {
    const Dense<double> A =
        Dense<double>::from(30, 20, [&, u = random<double>(30, 20, 5)](auto i, auto j) { return u(i, j) * size; });
    const Dense<double> leading = leading_bits(A, bits);
    const int unit = std::ilogb(largest(A)) + 1 - bits;
    for (std::int64_t e = 0; e < A.size(); ++e)
      EXPECT_EQ(leading[e], std::ldexp(std::nearbyint(std::ldexp(A[e], -unit)), unit)) << size << ", element " << e;
  }
  const Dense<double> huge(2, 2, 1.7e308);
  expect_same(leading_bits(huge, bits), huge, "near overflow");
}

TEST(PreciseParts, Magnitudes) {
  using C = std::complex<double>;
  for (const C a :
       {C(3, -4), C(0, 0), C(1e300, 1e300), C(1e-310, 0), C(-5e-324, 5e-324), C(1e200, 1), C(1e-160, -1e-160)})
    EXPECT_LE(std::abs(magnitude(a) - std::abs(a)), 2 * eps<double> * std::abs(a)) << a;
  EXPECT_TRUE(std::isnan(magnitude(C(1, nan<double>))));
  EXPECT_TRUE(std::isinf(magnitude(C(1, -infinity<double>))));
}

template <class T>
class LargeChecker : public testing::Test {};
TYPED_TEST_SUITE(LargeChecker, Scalars);

/// An order at which the products are large ones.
template <class T>
std::int64_t large_order() {
  const std::int64_t n = is_complex<T> ? 410 : 660;
  EXPECT_TRUE(is_large<precise_t<T>>(n, n, n));
  return n;
}

TYPED_TEST(LargeChecker, SeesMutationsOfLu) {
  using T = TypeParam;
  const std::int64_t n = large_order<T>();
  const Dense<T> A = random<T>(n, n, 6);
  LuFactors<T> f = lapack_lu(A);
  EXPECT_LE(lu_residual(A, f), residual_bound);
  const double off = 1e5 * eps<T>;
  const T u = f.LU(40, n - 50);
  f.LU(40, n - 50) = u + make<T>(off * n);
  EXPECT_GT(lu_residual(A, f), residual_bound) << "an entry of U";
  f.LU(40, n - 50) = u;
  std::swap(f.pivots[n - 300], f.pivots[n - 301]);
  EXPECT_GT(lu_residual(A, f), residual_bound) << "two pivots";
}

TYPED_TEST(LargeChecker, SeesMutationsOfQr) {
  using T = TypeParam;
  const std::int64_t n = large_order<T>();
  const Dense<T> A = random<T>(n, n, 7);
  const QrFactors<T> right = lapack_qr(A);
  const QrMeasures of_right = qr_measures(A, right);
  EXPECT_LE(of_right.residual, residual_bound);
  EXPECT_LE(of_right.orthogonality, residual_bound);
  const double off = 1e6 * eps<T>;
  QrFactors<T> f = right;
  f.QR(40, n - 50) += make<T>(off);
  EXPECT_GT(qr_measures(A, f).residual, 2 * of_right.residual) << "an entry of R";
  f = right;
  f.QR(n - 50, 40) += make<T>(off);
  EXPECT_GT(qr_measures(A, f).orthogonality, 2 * of_right.orthogonality) << "an entry of V";
  f = right;
  f.tau[n / 2] *= make<T>(1 + off);
  EXPECT_GT(qr_measures(A, f).orthogonality, 2 * of_right.orthogonality) << "a tau";
}

}  // namespace
}  // namespace devobj::test
