// geqrf: arguments, choice of method, and LAPACK on the host.
#include <algorithm>
#include <vector>

#include "devobj/matrix.hpp"
#include "devobj/qr.hpp"
#include "kernels/host/lapack_fortran.hpp"
#include "kernels/kernels.hpp"
#include "kernels/dispatch_householder.hpp"
#include "blas_checks.hpp"
#include "qr_blocked.hpp"
#include "qr_hybrid.hpp"
#include "qr_native.hpp"
#include "qr_orthogonal.hpp"
#include "tuning.hpp"

namespace devobj {
namespace {

template <class T> void geqrf_lapack(View<T> A, View<T> tau, Queue& q) {
  std::vector<T> taus(diagonal(A));
  const fortran::BlasInt m(A.rows, "geqrf", "the rows of A"), n(A.cols, "geqrf", "the columns of A"),
      ld(A.ld, "geqrf", "the ld of A");
  q.submit("geqrf", [&] { fortran::geqrf(m, n, A.data, ld, taus.data()); });
  q.wait();
  const std::int64_t stride = tau.cols == 1 ? tau.rows : 1;
  to_device<T>({taus.data(), tau.rows, tau.cols, 1, stride}, tau, q);
}

}  // namespace

template <class T> void geqrf(View<T> A, View<T> tau, Queue& q, QrOptions options) {
  require_vector("geqrf", "tau", tau, diagonal(A));
  require_distinct("geqrf", "tau", tau, "A", A);
  require_options("geqrf", options, q);
  if (A.empty()) return;
  const bool automatic = options.method == Method::automatic;
  if (automatic) options.method = tuned_method<T>(Tuned::qr, diagonal(A), q);
  if (options.method == Method::lapack) return geqrf_lapack(A, tau, q);
  if (options.method == Method::householder || options.method == Method::block_householder) {
    if (options.method == Method::householder)
      householder_columns(A, tau, q);
    else
      geqrf_blocked(A, tau, q, options);
    return q.wait();
  }
  if (options.method == Method::native) {
    geqrf_native(A, tau, q, options);
    if (automatic) q.wait();
    return;
  }
  geqrf_hybrid(A, tau, q, options);
}

#define INSTANTIATE(T)                                                      \
  template void geqrf<T>(View<T>, View<T>, Queue&, QrOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
