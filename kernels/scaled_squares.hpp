// ScaledSquares: a sum of squares that neither overflows nor underflows, for host and device code.
#pragma once

#include <cmath>

#ifdef __CUDACC__
#define DEVOBJ_ANYWHERE __host__ __device__
#else
#define DEVOBJ_ANYWHERE
#endif

namespace devobj {

/// Three sums of squares: of small numbers scaled up, of large ones scaled down, of all others as they are. Two of
/// them add by parts, so any reduction tree will do. A NaN goes to `medium`, an infinity to `big`, and neither is lost.
/// Source: J. L. Blue, A portable Fortran program to find the Euclidean norm of a vector, ACM TOMS 4 (1978).
struct ScaledSquares {
  double small = 0, medium = 0, big = 0;

  DEVOBJ_ANYWHERE void add(double x) {
    x = std::fabs(x);
    if (x < 0x1p-511) {
      x *= scale_up;
      small += x * x;
    } else if (x > 0x1p486) {
      x *= scale_down;
      big += x * x;
    } else {
      medium += x * x;
    }
  }
  DEVOBJ_ANYWHERE void add(const ScaledSquares& other) {
    small += other.small;
    medium += other.medium;
    big += other.big;
  }
  /// The root of the whole sum.
  DEVOBJ_ANYWHERE double root() const {
    if (std::isnan(medium) || std::isnan(big)) return medium + big;
    if (big > 0) return std::sqrt(big + medium * scale_down * scale_down) / scale_down;
    const double tiny = std::sqrt(small) / scale_up, rest = std::sqrt(medium);
    if (tiny == 0 || rest == 0) return tiny + rest;
    const double larger = tiny > rest ? tiny : rest, ratio = (tiny > rest ? rest : tiny) / larger;
    return larger * std::sqrt(1 + ratio * ratio);
  }

 private:
  static constexpr double scale_up = 0x1p537, scale_down = 0x1p-538;
};

}  // namespace devobj

#undef DEVOBJ_ANYWHERE
