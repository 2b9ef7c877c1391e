// The corrections that refinement has made so far, of which it takes the best combination: the method of generalized conjugate
// residuals (GCR). Eisenstat, Elman & Schultz, "Variational iterative methods for nonsymmetric systems of linear equations",
// SIAM J. Numer. Anal. 20 (1983).
#pragma once

#include "devobj/blas.hpp"
#include "kernels/native.hpp"
#include "mixed_iterate.hpp"

namespace devobj::mixed {

/// Right-hand sides that are solved together, at most.
inline constexpr std::int64_t few = cuda::trsm_few_max;

/// Corrections for each right-hand side, each below what it does to the residual:
///
///         | R |                    | w1 w2 ... |
///     P = |   |,  R + A X = B  D = |           |,  W + A Z = 0,  W^H W = 1   (of one right-hand side)
///         | X |                    | z1 z2 ... |
///
/// Whatever combination of D's columns is subtracted from P, R remains the residual of X.
template <class T>
class Corrections {
 public:
  /// Of A X = B for B with `columns` columns; up to `most` corrections.
  Corrections(View<T> A, std::int64_t columns, std::int64_t most, Queue& q)
      : A_(A),
        columns_(columns),
        most_(most),
        D_(2 * A.rows, columns * most, q),
        coefficients_(most, 1, q),
        norms_(columns, 1, q),
        q_(q) {}

  /// Where the next corrections are to be written, n x columns. At most `most` times.
  View<T> next() const { return next_rows({A_.rows, 2 * A_.rows}); }

  /// Takes them, orthogonal to those before. Waits.
  void add() {
    const View<T> W = next_rows({0, A_.rows});
    // W = -A Z
    product(T(-1), A_, next(), T(0), W, q_);
    for (std::int64_t j = 0; j < columns_ && count_ > 0; ++j)
      for (int twice = 0; twice < 2; ++twice) remove_components(j, all_rows(j, {count_, count_ + 1}));
    norms_.measure(Norm::Fro, 0, W);
    norms_.fetch();
    for (std::int64_t j = 0; j < columns_; ++j)
      if (const double norm = norms_(0, j); norm != 0) scal(T(1 / norm), all_rows(j, {count_, count_ + 1}), q_);
    ++count_;
  }

  /// P -= D (W^H R): the combination that makes each column of R as short as it can be.
  void minimize(View<T> P) {
    for (std::int64_t j = 0; j < columns_; ++j) remove_components(j, P.col(j));
  }

 private:
  /// p -= D (W^H p's upper half), with the corrections of column j.
  void remove_components(std::int64_t j, View<T> p) {
    const View<T> D = all_rows(j, {0, count_}), c = coefficients_({0, count_}, {0, 1});
    const Range upper{0, A_.rows};
    gemv(adjoint<T>, T(1), D(upper, {0, count_}), p(upper, {0, 1}), T(0), c, q_);
    gemv(Op::NoTrans, T(-1), D, c, T(1), p, q_);
  }
  /// Those of column j, one after the other.
  View<T> all_rows(std::int64_t j, Range which) const {
    return D_({0, D_.rows}, {j * most_ + which.begin, j * most_ + which.end});
  }
  /// Rows of the next one of each column.
  View<T> next_rows(Range rows) const {
    return {D_.data + rows.begin + count_ * D_.ld, rows.size(), columns_, most_ * D_.ld};
  }

  View<T> A_;
  std::int64_t columns_, most_, count_ = 0;
  Matrix<T> D_, coefficients_;
  Sizes norms_;
  Queue& q_;
};

}  // namespace devobj::mixed
