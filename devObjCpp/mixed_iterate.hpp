// Iterate: a solution in the making and its residual, with dsgesv's criterion.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "devobj/blas.hpp"
#include "mixed_support.hpp"
#include "power_scaling.hpp"

namespace devobj::mixed {

/// C = alpha A B + beta C, by gemv if that does.
template <class T>
void product(scalar<T> alpha, View<T> A, View<T> B, scalar<T> beta, View<T> C, Queue& q) {
  if (B.cols == 1)
    gemv(Op::NoTrans, alpha, A, B, beta, C, q);
  else
    gemm(Op::NoTrans, Op::NoTrans, alpha, A, B, beta, C, q);
}

/// X for A X = B (A is n x n), and R, one above the other: P = [R; X].
template <class T>
class Iterate {
 public:
  /// limit: of max|r_j| / max|x_j|.
  Iterate(View<T> A, View<T> B, double limit, Queue& q)
      : A_(A), B_(B), P_(2 * A.rows, B.cols, q), sizes_(B.cols, 2, q), limit_(limit), q_(q) {}

  View<T> P() const { return P_; }
  View<T> R() const { return P_({0, A_.rows}, {0, B_.cols}); }
  View<T> X() const { return P_({A_.rows, 2 * A_.rows}, {0, B_.cols}); }

  /// R = B - A X
  void update_residual() {
    lacpy(Uplo::General, B_, R(), q_);
    product(T(-1), A_, X(), T(1), R(), q_);
  }

  /// How far the worst column is from the criterion: the largest max|r_j| / (max|x_j| limit), 0 if all are within it. NaN if a
  /// residual is beyond single precision's range, infinite or NaN. Waits.
  double excess() {
    sizes_.measure(Norm::Max, 0, R());
    sizes_.measure(Norm::Max, 1, X());
    sizes_.fetch();
    double worst = 0;
    for (std::int64_t j = 0; j < B_.cols; ++j) {
      const double r = sizes_(0, j), allowed = sizes_(1, j) * limit_;
      if (!fits_single(r)) return std::numeric_limits<double>::quiet_NaN();
      if (!(r <= allowed)) worst = std::max(worst, allowed > 0 ? r / allowed : std::numeric_limits<double>::infinity());
    }
    return worst;
  }

  /// Whether the criterion asks for something: the residuals that it allows are at most `part` of B. After excess(). Waits.
  bool demanding(double part) {
    sizes_.measure(Norm::Max, 0, B_);
    sizes_.fetch();
    for (std::int64_t j = 0; j < B_.cols; ++j)
      if (sizes_(1, j) * limit_ > sizes_(0, j) * part) return false;
    return true;
  }

  /// D = R, each column times the power of two that brings its largest element near 1; after excess().
  void scaled_residual(View<T> D) const {
    copy(R(), D, q_);
    for (std::int64_t j = 0; j < D.cols; ++j)
      if (const double r = sizes_(0, j); r > 0) scale_by_power(-std::ilogb(r), D.col(j), q_);
  }

 private:
  View<T> A_, B_;
  Matrix<T> P_;
  Sizes sizes_;
  double limit_;
  Queue& q_;
};

}  // namespace devobj::mixed
