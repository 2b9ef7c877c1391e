// How well the factors give the matrix back, computed where the matrix is, in double precision: in single precision the product's own
// rounding would be as large as what is sought. And how well solutions solve.
#pragma once

#include "devobj/matrix.hpp"
#include "devobj/queue.hpp"
#include "devobj/view.hpp"

namespace bench {

/// D is P A - L U or A - Q R, eps, of A's precision, is 2^-23 or 2^-52.
struct Residual {
  double scaled = 0;   ///< ||D||_1 / (||A||_1 max(m, n) eps)
  double largest = 0;  ///< max|D| / max|A| / eps: paper 002's measure
};

/// A residual above this is a wrong result.
inline constexpr double residual_bound = 30;

/// From getrf's factors. Memory: two and a half to three times A's, in single precision nine to ten times. Waits.
template <class T>
Residual lu_residual(devobj::View<T> A, devobj::View<T> LU, devobj::View<std::int32_t> ipiv, devobj::Queue& q);

/// From geqrf's factors. Memory: as much as A's, in single precision six times, and ormqr's workspace. Waits.
template <class T>
Residual qr_residual(devobj::View<T> A, devobj::View<T> QR, devobj::View<T> tau, devobj::Queue& q);

/// Of solutions, or least squares solutions, X of A X = B: ||B - A X||_1 / (||A||_1 ||X||_1 n eps), or for a tall A
/// ||A^H (B - A X)||_1 / (||A||_1 (||B||_1 + ||A||_1 ||X||_1) m eps). In A's own precision. Memory: that of B and X. Waits.
template <class T>
double solution_residual(devobj::View<T> A, devobj::View<T> X, devobj::View<T> B, devobj::Queue& q);

}  // namespace bench
