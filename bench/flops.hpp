// How much arithmetic a routine is counted with. Source: LAPACK's operation counts (dopla), leading terms.
#pragma once

#include <algorithm>
#include <cstdint>

namespace bench {

/// Operations of one complex multiplication and addition (6 + 2) over those of a real pair (1 + 1).
inline double complex_factor(char type) {
  return type == 'c' || type == 'z' ? 4 : 1;
}

/// m x n LU: with k = min, l = max: k^2 l - k^3 / 3. Square: 2/3 n^3.
inline double lu_flops(std::int64_t m, std::int64_t n, char type) {
  const double k = std::min(m, n), l = std::max(m, n);
  return complex_factor(type) * (k * k * l - k * k * k / 3);
}

/// m x n QR, Householder, R and the vectors: 2 k^2 l - 2/3 k^3. Square: 4/3 n^3.
inline double qr_flops(std::int64_t m, std::int64_t n, char type) {
  return 2 * lu_flops(m, n, type);
}

}  // namespace bench
