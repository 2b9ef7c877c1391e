// Scaling by powers of two of matrices whose elements are near the ends of the range, as LAPACK's gels does.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "devobj/blas.hpp"

namespace devobj {

/// The e for which 2^e A has elements of ordinary size, 0 if A has: its largest is neither below the smallest normal number
/// over eps nor above the inverse of that; or is 0, Inf or NaN. Waits.
template <class T>
int exponent_to_ordinary(View<T> A, Queue& q) {
  using Limits = std::numeric_limits<real_t<T>>;
  const real_t<T> largest = lange<T>(Norm::Max, A, q), small = Limits::min() / Limits::epsilon();
  if (!(largest > 0) || std::isinf(largest)) return 0;
  if (largest < small) return std::min(-std::ilogb(largest), Limits::max_exponent - 2);
  return std::min(0, std::ilogb(1 / small) - std::ilogb(largest));  // no more than needed: other elements may be small
}

/// A = 2^e A; nothing is done for e = 0.
template <class T>
void scale_by_power(int e, View<T> A, Queue& q) {
  constexpr int most = std::numeric_limits<real_t<T>>::max_exponent - 2;
  while (e != 0) {
    const int step = std::clamp(e, -most, most);
    scal(T(std::ldexp(real_t<T>(1), step)), A, q);
    e -= step;
  }
}

}  // namespace devobj
