// What the tests of LU with pivots from a window have in common.
#pragma once

#include "factor_checks.hpp"
#include "kernels/randomized.hpp"
#include "testing.hpp"

namespace devobj::test {

/// The places, for the two single precision types.
class WindowPlaces : public Everywhere {
 public:
  template <class F>
  void with_single(F&& test) {
    type() == Type::real ? test(float{}) : test(std::complex<float>{});
  }
};

template <class S>
using double_of = std::conditional_t<is_complex<S>, std::complex<double>, double>;

/// max|P A - L U| / (max|A| n eps), L and U in the first columns of LU; the order counts from 0.
template <class S>
double residual(const Dense<S>& A, const Dense<S>& LU, const std::vector<std::int32_t>& order) {
  using D = double_of<S>;
  const std::int64_t m = A.rows(), n = A.cols();
  double error = 0, size = 0;
  std::vector<D> column(m);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) column[i] = D(A(order[i], j));
    for (std::int64_t k = 0; k < std::min(n, m); ++k) {
      if (k > j) break;
      const D u(LU(k, j));
      column[k] -= u;
      for (std::int64_t i = k + 1; i < m; ++i) column[i] -= D(LU(i, k)) * u;
    }
    for (std::int64_t i = 0; i < m; ++i) {
      const double e = std::abs(column[i]);
      error = std::isnan(e) || e > error ? e : error;
      size = std::max(size, std::abs(D(A(i, j))));
    }
  }
  return error / (size * static_cast<double>(std::max(m, n)) * eps<S>);
}

template <class Order>
void expect_permutation(const Order& order, std::int64_t n, const std::string& what) {
  std::vector<bool> seen(n, false);
  for (std::int64_t i = 0; i < n; ++i) {
    ASSERT_TRUE(order[i] >= 0 && order[i] < n && !seen[order[i]]) << what << ", row " << i << " is row " << order[i];
    seen[order[i]] = true;
  }
}

inline std::vector<std::int32_t> list(const Dense<std::int32_t>& order) {
  return {order.data(), order.data() + order.size()};
}

}  // namespace devobj::test
