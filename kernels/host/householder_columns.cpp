// QR by reflectors, column by column: LAPACK's geqr2; panels by the team.
#include <algorithm>
#include <vector>

#include "kernels/host/lapack_fortran.hpp"
#include "kernels/host/qr_panel.hpp"
#include "kernels/householder.hpp"

namespace devobj::host {
namespace {

/// factor(taus) with tau, a row or a column, getting what it returns.
template <class T, class Factor>
void with_tau(View<T> A, View<T> tau, Factor&& factor) {
  std::vector<T> taus(static_cast<std::size_t>(diagonal(A)));
  factor(taus.data());
  const std::int64_t inc = tau.cols > 1 ? tau.ld : 1;
  for (std::size_t i = 0; i < taus.size(); ++i) tau.data[static_cast<std::int64_t>(i) * inc] = taus[i];
}

}  // namespace

template <class T>
void householder_columns(View<T> A, View<T> tau, Queue& q) {
  if (A.empty()) return;
  const fortran::BlasInt m(A.rows, "geqr2", "the rows of A"), n(A.cols, "geqr2", "the columns of A"),
      ld(A.ld, "geqr2", "the ld of A");
  q.submit("householder_columns", [=] {
    with_tau(A, tau, [&](T* taus) {
      std::vector<T> work(static_cast<std::size_t>(A.cols));
      fortran::geqr2(m, n, A.data, ld, taus, work.data());
    });
  });
}

template <class T>
void householder_panel(View<T> A, View<T> tau, Queue& q) {
  if (A.empty()) return;
  q.submit("householder_panel",
           [=] { with_tau(A, tau, [&](T* taus) { qr_panel(A.rows, A.cols, A.data, A.ld, taus); }); });
}

#define INSTANTIATE(T)                                            \
  template void householder_columns<T>(View<T>, View<T>, Queue&); \
  template void householder_panel<T>(View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
