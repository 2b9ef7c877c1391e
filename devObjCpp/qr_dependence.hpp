// Rank deficiency of a triangular factor, for gels and gels_mixed.
#pragma once

#include <cmath>
#include <vector>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "kernels/dispatch.hpp"
#include "triangles.hpp"

namespace devobj {

// Finds columns that depend on those before them to working precision. R (upper) has its columns scaled to norm 1,
// R = S D; a few steps of inverse iteration on S^H S estimate the smallest singular value of S, from above.
template <class T> class DependenceTest {
  using Real = real_t<T>;

 public:
  /// For R of up to n columns. Columns are dependent if the smallest singular value of S is below `limit`.
  DependenceTest(std::int64_t n, double limit, Queue& q)
      : norms_(n, 1, q),
        x_(n, 1, q),
        triangle_(Math::automatic, n, 1, q),
        start_(n),
        limit_(static_cast<Real>(limit)),
        q_(q) {
    // numbers from 1/2 to 3/2 without any order, so that no vector one meets is orthogonal to them
    for (std::int64_t i = 0; i < n; ++i) {
      const double turns = 0.6180339887498949 * static_cast<double>(i + 1);
      start_[i] = T(static_cast<Real>((0.5 + turns - std::floor(turns)) / std::sqrt(static_cast<double>(n))));
    }
  }

  /// The first i such that R's columns 1 ... i are dependent, or 0. Waits.
  std::int64_t first_dependent(View<T> R) {
    const std::int64_t zero = first_zero_diagonal(R, q_), n = zero > 0 ? zero - 1 : R.cols;
    column_norms(R, norms_.data, q_);
    if (std::isnan(nrm2(norms_.view(), q_))) return 0;  // NaN in A goes on into the solution
    if (!dependent(R, n)) return zero;
    // the smallest singular value of the leading blocks falls with their size: bisection
    std::int64_t independent = 1, found = n;
    while (found - independent > 1) {
      const std::int64_t middle = (independent + found) / 2;
      (dependent(R, middle) ? found : independent) = middle;
    }
    return found;
  }

 private:
  /// Whether columns 1 ... n of R are dependent.
  bool dependent(View<T> R, std::int64_t n) {
    if (n <= 1) return false;
    const Range first{0, n};
    const View<T> block = R(first, first), x = x_(first, {0, 1});
    to_device<T>({start_.data(), n, 1, n}, x, q_);
    Real sigma = 1;
    for (int step = 0; step < 3; ++step) {
      // y = S^-H x = R^-H D x, z = S^-1 y = D R^-1 y;  ||y|| / ||z|| -> sigma_min with the steps
      scale_rows(norms_.data, false, x, q_);
      triangle_.solve(Uplo::Upper, adjoint<T>, Diag::NonUnit, block, x, q_);
      const Real y = nrm2(x, q_);
      triangle_.solve(Uplo::Upper, Op::NoTrans, Diag::NonUnit, block, x, q_);
      scale_rows(norms_.data, false, x, q_);
      const Real z = nrm2(x, q_);
      if (!std::isfinite(y) || !std::isfinite(z) || y == 0) return true;  // more than one small number on R's diagonal
      sigma = y / z;
      scal(T(1 / z), x, q_);
    }
    return sigma < limit_;
  }

  Matrix<Real> norms_;
  Matrix<T> x_;
  TriangleSolver<T> triangle_;
  std::vector<T> start_;
  Real limit_;
  Queue& q_;
};

}  // namespace devobj
