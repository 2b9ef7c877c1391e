// getrf: arguments, choice of method, and LAPACK on the host.
#include <algorithm>
#include <vector>

#include "devobj/lu.hpp"
#include "devobj/matrix.hpp"
#include "kernels/host/lapack_fortran.hpp"
#include "kernels/kernels.hpp"
#include "lu_hybrid.hpp"
#include "blas_checks.hpp"

namespace devobj {
namespace {

template <class T> std::int64_t getrf_lapack(View<T> A, View<std::int32_t> ipiv, Queue& q) {
  std::vector<std::int32_t> pivots(diagonal(A));
  std::int64_t info = 0;
  const fortran::BlasInt m(A.rows, "getrf", "the rows of A"), n(A.cols, "getrf", "the columns of A"),
      ld(A.ld, "getrf", "the ld of A");
  q.submit("getrf", [&] { info = fortran::getrf(m, n, A.data, ld, pivots.data()); });
  q.wait();
  const std::int64_t stride = ipiv.cols == 1 ? ipiv.rows : 1;
  to_device<std::int32_t>({pivots.data(), ipiv.rows, ipiv.cols, stride}, ipiv, q);
  return info;
}

}  // namespace

template <class T> std::int64_t lu_block_size(std::int64_t m, std::int64_t n, bool on_cuda) {
  return on_cuda && std::min(m, n) > 12000 ? 128 : 64;
}

template <class T>
std::int64_t getrf(View<T> A, View<std::int32_t> ipiv, Queue& q, LuOptions options) {
  require_pivots("getrf", "ipiv", ipiv, diagonal(A));
  require_distinct("getrf", "ipiv", ipiv, "A", A);
  require(options.block >= 0, "getrf: block is ", options.block, ", must be 0 (chosen by the library) or more");
  Method method = options.method;
  if (method == Method::automatic) method = q.on_cuda() ? Method::hybrid : Method::lapack;
  require(method == Method::hybrid || (method == Method::lapack && !q.on_cuda()), "getrf: method '", method_name(method),
          "' is not for the LU factorization on the ", q.on_cuda() ? "cuda" : "host", " backend");
  if (A.empty()) return 0;
  if (method == Method::lapack) return getrf_lapack(A, ipiv, q);
  return getrf_hybrid(A, ipiv, q, options);
}

#define INSTANTIATE(T)                                                                     \
  template std::int64_t getrf<T>(View<T>, View<std::int32_t>, Queue&, LuOptions);          \
  template std::int64_t lu_block_size<T>(std::int64_t, std::int64_t, bool);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
