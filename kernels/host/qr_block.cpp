// QR of a small block with explicit V and T. LAPACK's geqr2 and larft.
#include <algorithm>
#include <vector>

#include "kernels/host/lapack_fortran.hpp"
#include "kernels/host/qr_panel.hpp"
#include "kernels/qr_update.hpp"

namespace devobj::host {

template <class T>
void qr_block(View<T> A, View<T> V, View<T> Tri, Queue& q) {
  if (A.empty()) return;
  using fortran::BlasInt;
  const std::int64_t k = diagonal(A);
  const BlasInt m(A.rows, "qr_block", "the rows of A"), cols(k, "qr_block", "the columns of V"),
      ldv(V.ld, "qr_block", "the ld of V"), ldt(Tri.ld, "qr_block", "the ld of T");
  q.submit("qr_block", [=] {
    std::vector<T> tau(static_cast<std::size_t>(k));
    qr_panel(A.rows, A.cols, A.data, A.ld, tau.data(), 1);
    for (std::int64_t j = 0; j < A.cols; ++j) {
      T* a = A.data + j * A.ld;
      if (j < k) {
        T* v = V.data + j * V.ld;
        std::fill(v, v + j, T(0));
        v[j] = T(1);
        std::copy(a + j + 1, a + A.rows, v + j + 1);
        std::fill(Tri.data + j * Tri.ld, Tri.data + j * Tri.ld + k, T(0));
      }
      std::fill(a + std::min(j + 1, A.rows), a + A.rows, T(0));
    }
    fortran::larft(m, cols, V.data, ldv, tau.data(), Tri.data, ldt);
  });
}

#define INSTANTIATE(T) template void qr_block(View<T>, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
