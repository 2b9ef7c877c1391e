// BLAS level 2 on the host: the vendor's BLAS.
#include "kernels/host/blas_fortran.hpp"
#include "kernels/kernels.hpp"

namespace devobj::host {

using fortran::BlasInt;

namespace {

/// y *= beta, where beta = 0 clears y without reading it.
template <class T>
void scale(T beta, Vector<T> y) {
  for (std::int64_t i = 0; i < y.n; ++i) {
    T& element = y.data[i * y.inc];
    element = beta == T(0) ? T(0) : beta * element;
  }
}

}  // namespace

/// With an empty sum (A has no element) y = beta y, as the formula says.
template <class T>
void gemv(Op op, T alpha, View<T> A, Vector<T> x, T beta, Vector<T> y, Queue& q) {
  if (A.empty()) {
    q.submit("gemv", [=] { scale(beta, y); });
    return;
  }
  const BlasInt m(A.rows, "gemv", "rows of A"), n(A.cols, "gemv", "columns of A"), lda(A.ld, "gemv", "ld of A");
  const BlasInt incx(x.inc, "gemv", "the stride of x"), incy(y.inc, "gemv", "the stride of y");
  q.submit("gemv", [=] { fortran::gemv(op, m, n, alpha, A.data, lda, x.data, incx, beta, y.data, incy); });
}

template <class T>
void geru(T alpha, Vector<T> x, Vector<T> y, View<T> A, Queue& q) {
  if (A.empty()) return;
  const BlasInt m(A.rows, "geru", "rows of A"), n(A.cols, "geru", "columns of A"), lda(A.ld, "geru", "ld of A");
  const BlasInt incx(x.inc, "geru", "the stride of x"), incy(y.inc, "geru", "the stride of y");
  q.submit("geru", [=] { fortran::geru(m, n, alpha, x.data, incx, y.data, incy, A.data, lda); });
}

template <class T>
void gerc(T alpha, Vector<T> x, Vector<T> y, View<T> A, Queue& q) {
  if (A.empty()) return;
  const BlasInt m(A.rows, "gerc", "rows of A"), n(A.cols, "gerc", "columns of A"), lda(A.ld, "gerc", "ld of A");
  const BlasInt incx(x.inc, "gerc", "the stride of x"), incy(y.inc, "gerc", "the stride of y");
  q.submit("gerc", [=] { fortran::gerc(m, n, alpha, x.data, incx, y.data, incy, A.data, lda); });
}

template <class T>
void trmv(Uplo uplo, Op op, Diag diag, View<T> A, Vector<T> x, Queue& q) {
  if (A.empty()) return;
  const BlasInt n(A.rows, "trmv", "rows of A"), lda(A.ld, "trmv", "ld of A"), incx(x.inc, "trmv", "the stride of x");
  q.submit("trmv", [=] { fortran::trmv(uplo, op, diag, n, A.data, lda, x.data, incx); });
}

template <class T>
void trsv(Uplo uplo, Op op, Diag diag, View<T> A, Vector<T> x, Queue& q) {
  if (A.empty()) return;
  const BlasInt n(A.rows, "trsv", "rows of A"), lda(A.ld, "trsv", "ld of A"), incx(x.inc, "trsv", "the stride of x");
  q.submit("trsv", [=] { fortran::trsv(uplo, op, diag, n, A.data, lda, x.data, incx); });
}

#define INSTANTIATE(T)                                                    \
  template void gemv<T>(Op, T, View<T>, Vector<T>, T, Vector<T>, Queue&); \
  template void geru<T>(T, Vector<T>, Vector<T>, View<T>, Queue&);        \
  template void gerc<T>(T, Vector<T>, Vector<T>, View<T>, Queue&);        \
  template void trmv<T>(Uplo, Op, Diag, View<T>, Vector<T>, Queue&);      \
  template void trsv<T>(Uplo, Op, Diag, View<T>, Vector<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
