// How well explicit factors Q and R give the matrix back, where the matrix is.
#pragma once

#include <algorithm>
#include <limits>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"

namespace bench {

/// ||A - Q R||_1 / (||A||_1 max(m, n) eps) and ||Q^H Q - I||_1 / (m eps). R transposed if `r_transposed` (real types).
struct ExplicitResidual {
  double residual = 0, orthogonality = 0;
};
template <class T>
ExplicitResidual explicit_residual(devobj::View<T> A, devobj::View<T> Q, devobj::View<T> R, devobj::Queue& q,
                                   bool r_transposed = false) {
  using namespace devobj;
  const double eps = std::numeric_limits<real_t<T>>::epsilon(), m = static_cast<double>(A.rows);
  ExplicitResidual r;
  {
    Matrix<T> D(A.rows, A.cols, q);
    devobj::copy<T>(A, D, q);
    gemm<T>(Op::NoTrans, r_transposed ? Op::Trans : Op::NoTrans, T(-1), Q, R, T(1), D, q);
    r.residual =
        lange<T>(Norm::One, D, q) / (lange<T>(Norm::One, A, q) * static_cast<double>(std::max(A.rows, A.cols)) * eps);
  }
  Matrix<T> G(Q.cols, Q.cols, q);
  laset<T>(Uplo::General, T(0), T(1), G, q);
  gemm<T>(adjoint<T>, Op::NoTrans, T(1), Q, Q, T(-1), G, q);
  r.orthogonality = lange<T>(Norm::One, G, q) / (m * eps);
  return r;
}

}  // namespace bench
