// Explicit factors Q and R of the tests' matrices, and what they must be.
#pragma once

#include <string>

#include "factor_checks.hpp"
#include "factor_matrices.hpp"

namespace devobj::test {

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

}  // namespace devobj::test
