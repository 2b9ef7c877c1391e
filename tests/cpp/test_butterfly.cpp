// Random butterflies between double and single precision: mix_matrix, mix_rows and mix_solution against products with
// their matrices, and equilibration, which finds the sizes of rows and columns.
#include "kernels/butterfly.hpp"
#include "kernels/dispatch_randomized.hpp"
#include "testing.hpp"

namespace devobj::test {
namespace {

class Butterflies : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, Butterflies,
                         ::testing::Combine(::testing::ValuesIn(places()),
                                            ::testing::Values(Type::double_precision, Type::double_complex)),
                         instance_name);

template <class T>
double magnitude(T a) {
  return std::abs(std::real(a)) + std::abs(std::imag(a));
}

/// A on the queue, its sizes, and its mixture.
template <class T>
struct Mixed {
  Padded<T> A;
  Padded<double> rows, columns, sums;
  Padded<single_t<T>> M;
  Padded<std::int32_t> misfit;

  Mixed(const Dense<T>& a, Queue& q)
      : A(a, q),
        rows(Dense<double>(a.rows(), 1, -7), q),
        columns(Dense<double>(a.rows(), 1, -7), q),
        sums(Dense<double>(a.rows(), 1, -7), q),
        M(Dense<single_t<T>>(mixed_order(a.rows()), mixed_order(a.rows()), 77), q),
        misfit(Dense<std::int32_t>(1, 1, -7), q) {
    double *r = rows.view().data, *c = columns.view().data, *s = sums.view().data;
    if constexpr (cuda_built)
      if (q.on_cuda()) {
        cuda::equilibration<T>(A.view(), r, c, s, q);
        cuda::mix_matrix<T>(A.view(), r, c, M.view(), misfit.view().data, q);
      }
    if (!q.on_cuda()) {
      host::equilibration<T>(A.view(), r, c, s, q);
      host::mix_matrix<T>(A.view(), r, c, M.view(), misfit.view().data, q);
    }
  }
};

TEST_P(Butterflies, SizesOfRowsAndColumns) {
  with_double([&]<class T>(T) {
    for (std::int64_t n : {1, 3, 70, 300}) {
      Dense<T> A = random<T>(n, n, std::uint32_t(n));
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i) A(i, j) *= std::pow(10.0, double((i * 7 + j * 3) % 40) - 20);
      if (n > 3)
        for (std::int64_t k = 0; k < n; ++k) A(k, 2) = A(1, k) = T(0);
      Mixed<T> mixed(A, q());
      const Dense<double> rows = mixed.rows.read("rows"), columns = mixed.columns.read("columns"),
                          sums = mixed.sums.read("sums");
      for (std::int64_t i = 0; i < n; ++i) {
        double largest = 0, sum = 0;
        for (std::int64_t j = 0; j < n; ++j) {
          largest = std::max(largest, magnitude(A(i, j)));
          sum += std::abs(A(i, j));
        }
        EXPECT_NEAR(sums[i], sum, 1e-14 * sum) << n << ", row " << i;
        EXPECT_EQ(rows[i], largest) << n << ", row " << i;
        const double scaled = largest * power_to_one(largest);
        EXPECT_TRUE(largest == 0 || (scaled >= 1 && scaled < 2)) << largest;
      }
      for (std::int64_t j = 0; j < n; ++j) {
        double largest = 0;
        for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, power_to_one(rows[i]) * magnitude(A(i, j)));
        EXPECT_EQ(columns[j], largest) << n << ", column " << j;
      }
    }
  });
}

/// Rows of more than one part each; a NaN is seen by its row's sum alone.
TEST_P(Butterflies, SumsOfLongRows) {
  with_double([&]<class T>(T) {
    for (std::int64_t n : {64, 65, 4097, 5000}) {
      Dense<T> A = random<T>(3, n, std::uint32_t(n));
      A(1, n - 1) = T(nan<T>);
      Padded<T> a(A, q());
      Padded<double> rows(Dense<double>(3, 1, -7), q()), columns(Dense<double>(n, 1, -7), q()),
          sums(Dense<double>(3, 1, -7), q());
      equilibration<T>(a.view(), rows.view().data, columns.view().data, sums.view().data, q());
      const Dense<double> largest = rows.read("rows"), sum = sums.read("sums");
      EXPECT_TRUE(std::isnan(sum[1])) << n;
      for (const std::int64_t i : {0, 1, 2}) {
        double expected_largest = 0, expected = 0;
        for (std::int64_t j = 0; j < n; ++j) {
          expected += std::abs(A(i, j));
          if (i != 1 || j < n - 1) expected_largest = std::max(expected_largest, magnitude(A(i, j)));
        }
        EXPECT_EQ(largest[i], expected_largest) << n << ", row " << i;
        if (i != 1) {
          EXPECT_NEAR(sum[i], expected, 1e-13 * expected) << n << ", row " << i;
        }
      }
    }
  });
}

/// U or V of this order, from its action on unit vectors.
Dense<double> butterflies(std::int64_t order, bool of_columns) {
  Dense<double> U(order, order);
  for (std::int64_t i = 0; i < order; ++i) {
    const std::int64_t quarter = order / 4, g = i % quarter;
    double x[4] = {};
    x[i / quarter] = 1;
    mix(butterfly(g, quarter, of_columns), x);  // U^T e_i
    for (std::int64_t a = 0; a < 4; ++a) U(i, g + a * quarter) = x[a];
  }
  return U;
}

template <class T>
void expect_near(const Dense<single_t<T>>& actual, const Dense<T>& expected, double size, const std::string& what) {
  for (std::int64_t j = 0; j < actual.cols(); ++j)
    for (std::int64_t i = 0; i < actual.rows(); ++i)
      EXPECT_LE(magnitude(T(actual(i, j)) - expected(i, j)), eps<single_t<T>> * size) << what << ", " << i << ", " << j;
}

TEST_P(Butterflies, MixAsTheirMatrices) {
  with_double([&]<class T>(T) {
    using S = single_t<T>;
    for (std::int64_t n : {1, 2, 3, 4, 5, 8, 17, 64, 101}) {
      const std::string what = "n = " + std::to_string(n);
      const std::int64_t order = mixed_order(n);
      const Dense<double> U = butterflies(order, false), V = butterflies(order, true);
      Dense<T> A = random<T>(n, n, std::uint32_t(n));
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i) A(i, j) *= std::pow(4.0, double(i % 5) - double(j % 7));
      Mixed<T> mixed(A, q());
      EXPECT_EQ(mixed.misfit.read("misfit")[0], 0) << what;
      expect_same(mixed.A.read("A"), A, "A");
      const Dense<double> rows = mixed.rows.read("rows"), columns = mixed.columns.read("columns");

      // U^T (R A C beside a unit matrix) V
      const auto element = [&](std::int64_t i, std::int64_t j) {
        if (i >= n || j >= n) return T(i == j ? 1 : 0);
        return A(i, j) * power_to_one(rows[i]) * power_to_one(columns[j]);
      };
      Dense<T> right(order, order), M(order, order);
      for (std::int64_t j = 0; j < order; ++j)
        for (std::int64_t k = 0; k < order; ++k)
          for (std::int64_t i = 0; i < order; ++i) right(i, j) += element(i, k) * V(k, j);
      for (std::int64_t j = 0; j < order; ++j)
        for (std::int64_t i = 0; i < order; ++i)
          for (std::int64_t k = 0; k < order; ++k) M(i, j) += U(k, i) * right(k, j);
      expect_near<T>(mixed.M.read("M"), M, 16, what + ", matrix");  // sums of 16 numbers below 2

      // rows of U^T R B in another order
      const Dense<T> B = random<T>(n, 2, 8);
      const auto place = [&](std::int64_t i) { return order - 1 - i; };
      const Dense<std::int32_t> places =
          Dense<std::int32_t>::from(order, 1, [&](auto i, auto) { return std::int32_t(place(i)); });
      Padded<T> b(B, q());
      Padded<S> d(Dense<S>(order, 2, 77), q());
      Padded<std::int32_t> p(places, q());
      const double *of_rows = mixed.rows.view().data, *of_columns = mixed.columns.view().data;
      if constexpr (cuda_built)
        if (q().on_cuda()) cuda::mix_rows<T>(b.view(), of_rows, p.view().data, d.view(), q());
      if (!q().on_cuda()) host::mix_rows<T>(b.view(), of_rows, p.view().data, d.view(), q());
      Dense<T> D(order, 2);
      double largest_row = 0;
      for (std::int64_t i = 0; i < n; ++i) largest_row = std::max(largest_row, power_to_one(rows[i]));
      for (std::int64_t j = 0; j < 2; ++j)
        for (std::int64_t i = 0; i < order; ++i)
          for (std::int64_t k = 0; k < n; ++k) D(i, j) += U(k, place(i)) * power_to_one(rows[k]) * B(k, j);
      expect_near<T>(d.read("D"), D, 4 * largest_row, what + ", rows");

      // C V Y
      const Dense<S> Y = random<S>(order, 2, 4);
      Padded<S> y(Y, q());
      Padded<T> x(B, q()), added(B, q());
      for (const bool add : {false, true}) {
        const View<T> to = add ? added.view() : x.view();
        if constexpr (cuda_built)
          if (q().on_cuda()) cuda::mix_solution<T>(y.view(), of_columns, add, to, q());
        if (!q().on_cuda()) host::mix_solution<T>(y.view(), of_columns, add, to, q());
      }
      const Dense<T> X = x.read("X"), sum = added.read("X");
      for (std::int64_t j = 0; j < 2; ++j)
        for (std::int64_t i = 0; i < n; ++i) {
          T expected(0);
          for (std::int64_t k = 0; k < order; ++k) expected += V(i, k) * T(Y(k, j));
          expected *= power_to_one(columns[i]);
          const double bound = 16 * eps<T> * power_to_one(columns[i]);
          EXPECT_LE(magnitude(X(i, j) - expected), bound) << what << ", solution " << i;
          EXPECT_LE(magnitude(sum(i, j) - B(i, j) - expected), 2 * bound + eps<T>) << what << ", sum " << i;
        }
    }
  });
}

TEST_P(Butterflies, WhatDoesNotFitIsReported) {
  with_double([&]<class T>(T) {
    for (double value : {1e39, -1e300, double(infinity<T>), double(nan<T>)})
      for (std::int64_t at : {std::int64_t(0), std::int64_t(57), std::int64_t(99)}) {
        Dense<T> A = random<T>(10, 10, 3);
        A[at] = make<T>(value);
        EXPECT_EQ(Mixed<T>(A, q()).misfit.read("misfit")[0], 1) << value << " at " << at;
      }
  });
}

TEST(ButterfliesOnTheHost, AreNearlyOrthogonal) {
  for (std::int64_t order : {4, 64, 100}) {
    const Dense<double> U = butterflies(order, false);
    for (std::int64_t i = 0; i < order; ++i) {
      double squares = 0;
      for (std::int64_t k = 0; k < order; ++k) squares += U(i, k) * U(i, k);
      EXPECT_GT(squares, std::pow(15. / 16, 4)) << order << ", row " << i;
      EXPECT_LT(squares, std::pow(17. / 16, 4)) << order << ", row " << i;
    }
  }
}

}  // namespace
}  // namespace devobj::test
