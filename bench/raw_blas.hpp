// The vendor's BLAS called directly, as the yardstick of devobj's own calls: cuBLAS through a handle of bench's own on
// the queue's stream, or the linked BLAS on the host. alpha = 1, beta = 0. Nothing waits on a GPU except nrm2.
#pragma once

#include <memory>

#include "devobj/queue.hpp"
#include "devobj/view.hpp"

namespace bench {

class RawBlas {
 public:
  explicit RawBlas(devobj::Queue& q);
  /// "cublas" or "blas"
  const char* name() const { return handle_ ? "cublas" : "blas"; }

  /// C = A B
  template <class T>
  void gemm(devobj::View<T> A, devobj::View<T> B, devobj::View<T> C);
  /// C = A A^T, the lower triangle
  template <class T>
  void syrk(devobj::View<T> A, devobj::View<T> C);
  /// B = A^-1 B, A triangular
  template <class T>
  void trsm(devobj::Uplo uplo, devobj::View<T> A, devobj::View<T> B);
  /// y = A x
  template <class T>
  void gemv(devobj::View<T> A, devobj::View<T> x, devobj::View<T> y);
  /// y += x, all elements of contiguous views
  template <class T>
  void axpy(devobj::View<T> x, devobj::View<T> y);
  /// x = x, one element of one call: the cheapest call there is
  template <class T>
  void scal(devobj::View<T> x);
  /// ||x||_2 of all elements of a contiguous view. Waits.
  template <class T>
  devobj::real_t<T> nrm2(devobj::View<T> x);

 private:
  std::shared_ptr<void> handle_;  // null on the host
};

}  // namespace bench
