// geqrf: arguments, choice of method, and LAPACK on the host.
#include <algorithm>
#include <vector>

#include "devobj/matrix.hpp"
#include "devobj/qr.hpp"
#include "kernels/host/lapack_fortran.hpp"
#include "kernels/kernels.hpp"
#include "qr_hybrid.hpp"
#include "blas_checks.hpp"

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

template <class T> std::int64_t qr_block_size(std::int64_t m, std::int64_t n, bool on_cuda) {
  const std::int64_t k = std::min(m, n);
  if (!on_cuda) return 64;
  return k <= 12000 ? 64 : 128;
}

template <class T> void geqrf(View<T> A, View<T> tau, Queue& q, QrOptions options) {
  require_vector("geqrf", "tau", tau, diagonal(A));
  require(options.block >= 0 && options.block <= 256, "geqrf: block is ", options.block,
          ", must be 0 (chosen by the library) to 256");
  require_distinct("geqrf", "tau", tau, "A", A);
  Method method = options.method;
  if (method == Method::automatic) method = q.on_cuda() ? Method::hybrid : Method::lapack;
  require(method == Method::hybrid || (method == Method::lapack && !q.on_cuda()), "geqrf: method '", method_name(method),
          "' is not available on the ", q.on_cuda() ? "cuda" : "host", " backend");
  if (A.empty()) return;
  if (method == Method::lapack) return geqrf_lapack(A, tau, q);
  geqrf_hybrid(A, tau, q, options);
}

#define INSTANTIATE(T)                                                      \
  template void geqrf<T>(View<T>, View<T>, Queue&, QrOptions);              \
  template std::int64_t qr_block_size<T>(std::int64_t, std::int64_t, bool);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
