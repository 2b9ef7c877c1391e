#include "peers_solve.hpp"

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "kernels/host/lapack_fortran.hpp"

namespace bench {

using namespace devobj;

template <class T>
double lapack_solve_ms(View<T> A, View<T> B, View<T> X, const Repeat& repeat, Queue& q) {
  using fortran::BlasInt;
  const BlasInt n(A.rows, "lapack", "n"), nrhs(B.cols, "lapack", "nrhs"), ld(X.ld, "lapack", "ld");
  Matrix<T> LU(A.rows, A.rows, q);
  Matrix<std::int32_t> ipiv(A.rows, 1, q);
  devobj::copy<T>(A, LU, q);
  q.wait();
  const std::int64_t info = fortran::getrf(n, n, LU.data, n, ipiv.data);
  require(info == 0, "lapack: info is ", info);
  return median_ms(
      repeat, [&] { devobj::copy<T>(B, X, q); },
      [&] { fortran::getrs<T>(Op::NoTrans, n, nrhs, LU.data, n, ipiv.data, X.data, ld); }, [&] { q.wait(); });
}

#define INSTANTIATE(T) template double lapack_solve_ms<T>(View<T>, View<T>, View<T>, const Repeat&, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace bench
