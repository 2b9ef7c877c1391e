// The error of a product in single precision.
#pragma once

#include <cmath>

#include "factor_checks.hpp"

namespace devobj::test {

/// The largest error of C + alpha A B relative to |C| + |A| |B|.
inline double error(const Dense<float>& A, const Dense<float>& B, const Dense<float>& C, const Dense<float>& result,
                    float alpha = -1) {
  double worst = 0;
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) {
      double sum = C(i, j), size = std::abs(sum);
      for (std::int64_t k = 0; k < A.cols(); ++k) {
        sum += alpha * double(A(i, k)) * B(k, j);
        size += std::abs(double(A(i, k)) * B(k, j));
      }
      worst = larger(worst, size == 0 ? std::abs(result(i, j)) : std::abs(result(i, j) - sum) / size);
    }
  return worst;
}

}  // namespace devobj::test
