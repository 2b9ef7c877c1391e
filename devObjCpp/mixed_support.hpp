// What gesv_mixed and gels_mixed share: dsgesv's numbers, and the sizes of columns on their way to the host.
#pragma once

#include <limits>
#include <vector>

#include "devobj/matrix.hpp"
#include "kernels/dispatch_precision.hpp"

namespace devobj::mixed {

inline constexpr std::int64_t most_iterations = 30;
/// dsgesv's iter where the double precision factorization takes over.
inline constexpr std::int64_t beyond_single = -2, singular = -3, not_converged = -31;
/// dlamch('Epsilon')
inline constexpr double unit_roundoff = std::numeric_limits<double>::epsilon() / 2;

/// Whether numbers of this size can be narrowed. False for NaN.
inline bool fits_single(double size) {
  return size <= std::numeric_limits<float>::max();
}

/// Whether narrow found something that does not fit. Waits.
inline bool any(View<std::int32_t> misfits, Queue& q) {
  std::vector<std::int32_t> found(misfits.size());
  to_host<std::int32_t>(misfits, {found.data(), misfits.rows, misfits.cols, misfits.rows}, q);
  for (const std::int32_t misfit : found)
    if (misfit != 0) return true;
  return false;
}

/// Norms of the columns of some matrices, all of which come to the host in one copy.
class Sizes {
 public:
  Sizes(std::int64_t columns, std::int64_t matrices, Queue& q)
      : on_device_(columns, matrices, q), here_(columns * matrices), q_(q) {}
  /// Of the i-th matrix.
  template <class T>
  void measure(Norm norm, std::int64_t i, View<T> A) {
    column_sizes(norm, A, on_device_.data + on_device_.rows * i, q_);
  }
  /// Waits.
  void fetch() {
    if (here_.empty()) return;
    to_host<double>(on_device_, {here_.data(), on_device_.rows, on_device_.cols, on_device_.rows}, q_);
  }
  /// Of column j of the i-th matrix.
  double operator()(std::int64_t i, std::int64_t j) const { return here_[i * on_device_.rows + j]; }

 private:
  Matrix<double> on_device_;
  std::vector<double> here_;
  Queue& q_;
};

}  // namespace devobj::mixed
