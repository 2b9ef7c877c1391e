// qr_batched: a matrix per thread by the panel's code, large ones by LAPACK.
#include <vector>

#include "kernels/host/batched.hpp"
#include "kernels/host/lapack_fortran.hpp"
#include "kernels/host/qr_panel.hpp"

namespace devobj::host {

template <class T>
void qr_batched(Batch<T> A, View<T> tau, Queue& q) {
  if (A.empty()) return;
  const fortran::BlasInt m(A.rows, "geqrf_batched", "the rows of A"), n(A.cols, "geqrf_batched", "the columns of A"),
      ld(A.ld, "geqrf_batched", "the ld of A");
  q.submit("qr_batched", [=] {
    const double k = static_cast<double>(std::min(A.rows, A.cols)),
                 operations = 4 * k * static_cast<double>(A.rows * A.cols);
    const auto taus = [&](std::int64_t i) { return tau.data + i * tau.ld; };
    if (A.rows * A.cols <= elements_of_one_thread)
      for_each_matrix(A.count, operations,
                      [&](std::int64_t i) { qr_panel(A.rows, A.cols, A[i].data, A.ld, taus(i), 1); });
    else
      for (std::int64_t i = 0; i < A.count; ++i) fortran::geqrf(m, n, A[i].data, ld, taus(i));
  });
}

#define INSTANTIATE(T) template void qr_batched(Batch<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
