// Random matrices with given properties, EVERYWHERE and for all types.
#include <cmath>

#include "devobj/lu.hpp"
#include "devobj/qr.hpp"
#include "rng_support.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

class RngMatrices : public Everywhere {};
DEVOBJ_EVERYWHERE(RngMatrices);

/// max |A^H A - I|, or of A A^H for a wide A
template <class T>
double distance_from_orthonormal(const Dense<T>& a) {
  const auto A = widen(a);
  const auto product =
      a.rows() >= a.cols() ? multiply(op_of(Op::ConjTrans, A), A) : multiply(A, op_of(Op::ConjTrans, A));
  double worst = 0;
  for (std::int64_t j = 0; j < product.cols(); ++j)
    for (std::int64_t i = 0; i < product.rows(); ++i)
      worst = std::max(worst, static_cast<double>(std::abs(product(i, j) - wide_t<T>(i == j ? 1 : 0))));
  return worst;
}

TEST_P(RngMatrices, OrthogonalColumnsOrRows) {
  with_type([&]<class T>(T) {
    for (const Generator kind : own_generators())
      for (const auto& shape : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                {2, 2},
                                {31, 31},
                                {67, 20},
                                {20, 67},
                                {5, 1},
                                {1, 5},
                                {0, 3}}) {
        Rng rng(q(), kind, 4);
        Padded<T> A(Dense<T>(shape.first, shape.second), q());
        random_orthogonal<T>(rng, A.view(), q());
        const double m = static_cast<double>(std::max(shape.first, shape.second));
        EXPECT_LE(distance_from_orthonormal(A.read("A")), 30 * m * eps<T>) << shape.first << " x " << shape.second;
      }
  });
}

TEST_P(RngMatrices, OrthogonalMatricesAreHaars) {
  // An element of a Haar matrix has mean 0 and E|q|^2 = 1/m; without the random signs the first column would have one
  // sign in its first place.
  with_type([&]<class T>(T) {
    constexpr std::int64_t m = 4, count = 400;
    Rng rng(q(), Generator::philox, 6);
    Matrix<T> A(m, m, q());
    double mean[m][m] = {}, squares[m][m] = {};
    for (int i = 0; i < count; ++i) {
      random_orthogonal<T>(rng, A, q());
      const auto a = download<T>(A, q());
      for (std::int64_t r = 0; r < m; ++r)
        for (std::int64_t c = 0; c < m; ++c) {
          mean[r][c] += std::real(a(r, c)) / count;
          squares[r][c] += std::norm(a(r, c)) / count;
        }
    }
    for (std::int64_t r = 0; r < m; ++r)
      for (std::int64_t c = 0; c < m; ++c) {
        EXPECT_LT(std::abs(mean[r][c]), 4.5 * std::sqrt(1. / m / count)) << r << ", " << c;
        EXPECT_LT(std::abs(squares[r][c] - 1. / m), 4.5 * std::sqrt(3. / 24 / count)) << r << ", " << c;
      }
  });
}

/// The squares of the singular values have these sums of powers: trace(G), trace(G^2), trace(G^3) with G = A^H A.
template <class T>
void expect_singular_values(const Dense<T>& a, const std::vector<double>& s, const std::string& what) {
  const auto A = widen(a);
  const auto gram = a.rows() >= a.cols() ? multiply(op_of(Op::ConjTrans, A), A) : multiply(A, op_of(Op::ConjTrans, A));
  auto power = gram;
  for (int k = 1; k <= 3; ++k) {
    Wide trace = 0, expected = 0;
    for (std::int64_t i = 0; i < power.rows(); ++i) trace += std::real(power(i, i));
    for (const double x : s) expected += std::pow(static_cast<Wide>(x), 2 * k);
    EXPECT_NEAR(static_cast<double>(trace), static_cast<double>(expected),
                30 * static_cast<double>(std::max(a.rows(), a.cols())) * eps<T> * static_cast<double>(expected))
        << what << ", power " << k;
    power = multiply(power, gram);
  }
}

TEST_P(RngMatrices, GivenSingularValues) {
  with_type([&]<class T>(T) {
    for (const auto& shape : {std::pair<std::int64_t, std::int64_t>{3, 3}, {10, 3}, {3, 10}, {40, 40}}) {
      const std::int64_t k = std::min(shape.first, shape.second);
      std::vector<real_t<T>> s;
      for (std::int64_t i = 0; i < k; ++i) s.push_back(static_cast<real_t<T>>(i % 3 == 2 ? 0 : k - i));
      Rng rng(q(), Generator::state, 8);
      Padded<T> A(Dense<T>(shape.first, shape.second), q());
      random_singular_values<T>(rng, s, A.view(), q());
      expect_singular_values(A.read("A"), std::vector<double>(s.begin(), s.end()), std::to_string(shape.first));
    }
  });
}

TEST_P(RngMatrices, GivenCondition) {
  with_type([&]<class T>(T) {
    constexpr std::int64_t m = 12, k = 7;
    Rng rng(q(), Generator::philox, 8);
    Matrix<T> A(m, k, q());
    random_condition<T>(rng, 1000, A, q());
    std::vector<double> s;
    for (std::int64_t i = 0; i < k; ++i) s.push_back(std::pow(1000.0, -static_cast<double>(i) / (k - 1)));
    expect_singular_values(download<T>(A, q()), s, "condition 1000");
    Matrix<T> one(1, 5, q());
    random_condition<T>(rng, 1000, one, q());
    expect_singular_values(download<T>(one, q()), {1}, "one singular value");
  });
}

TEST_P(RngMatrices, WrongArguments) {
  with_type([&]<class T>(T) {
    using R = real_t<T>;
    Rng rng(q());
    const Dense<T> a(3, 2, T(5));
    Matrix<T> A = upload(a, q());
    EXPECT_INVALID(random_singular_values<T>(rng, {1}, A, q()),
                   "rng_singular_values: s has 1 values, must have min(3, 2) = 2");
    EXPECT_INVALID(random_singular_values<T>(rng, {1, R(-1)}, A, q()), "s(2) is -1, must be finite and at least 0");
    EXPECT_INVALID(random_singular_values<T>(rng, {infinity<T>, 1}, A, q()), "s(1) is inf");
    EXPECT_INVALID(random_condition<T>(rng, R(0.5), A, q()),
                   "rng_condition: condition is 0.5, must be finite and at least 1");
    EXPECT_INVALID(random_condition<T>(rng, infinity<T>, A, q()), "condition is inf");
    expect_same(download<T>(A, q()), a, "A");
    EXPECT_EQ(rng.position(), 0u);
  });
}

}  // namespace
