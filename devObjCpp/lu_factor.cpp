// getrf: arguments, choice of method, and LAPACK on the host.
#include <algorithm>
#include <vector>

#include "blas_checks.hpp"
#include "devobj/lu.hpp"
#include "devobj/matrix.hpp"
#include "kernels/device.hpp"
#include "kernels/host/lapack_fortran.hpp"
#include "kernels/kernels.hpp"
#include "lu_hybrid.hpp"
#include "lu_method.hpp"
#include "lu_native.hpp"
#include "memory.hpp"
#include "tuning.hpp"

namespace devobj {
namespace {

template <class T>
std::int64_t getrf_lapack(View<T> A, View<std::int32_t> ipiv, Queue& q) {
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

/// info is in pinned memory, which the GPU writes as it goes: nothing has to be copied at the end.
template <class T>
std::int64_t getrf_native_info(View<T> A, View<std::int32_t> ipiv, Queue& q, const LuOptions& options) {
  const PinnedBuffer info(sizeof(std::int32_t), true);
  try {
    getrf_native(A, ipiv, View<std::int32_t>(info.as<std::int32_t>(), 1, 1, 1), q, options);
  } catch (...) {
    try {
      q.wait();      // what has been launched may yet write it
    } catch (...) {  // the first error counts
    }
    throw;
  }
  q.wait();
  return *info.as<std::int32_t>();
}

/// The method for these arguments, which are checked here.
template <class T>
Method check_getrf(View<T> A, View<std::int32_t> ipiv, const Queue& q, const LuOptions& options) {
  require_pivots("getrf", "ipiv", ipiv, diagonal(A));
  require_distinct("getrf", "ipiv", ipiv, "A", A);
  return lu_method<T>("getrf", A.rows, A.cols, q, options);
}

}  // namespace

template <class T>
Method lu_method(const char* routine, std::int64_t rows, std::int64_t cols, const Queue& q, const LuOptions& options) {
  require(options.block >= 0, routine, ": block is ", options.block, ", must be 0 (chosen by the library) or more");
  require(options.inner_block >= 0, routine, ": inner_block is ", options.inner_block,
          ", must be 0 (chosen by the library) or more");
  const Method method = options.method;
  if (method == Method::automatic) {
    const Method fastest = tuned_method<T>(Tuned::lu, std::min(rows, cols), q);
    return fastest != Method::native || lu_native_possible<T>(rows, q) ? fastest : Method::hybrid;
  }
  require(method == Method::hybrid || (method == Method::lapack && !q.on_cuda()) ||
              (method == Method::native && q.on_cuda()),
          routine, ": method '", method_name(method), "' is not for the LU factorization on the ",
          q.on_cuda() ? "cuda" : "host", " backend");
  require(method == Method::hybrid || method == Method::lapack || lu_native_possible<T>(rows, q), routine, ": A has ",
          rows, " rows, too many for method 'native' on this GPU");
  return method;
}

template <class T>
std::int64_t getrf(View<T> A, View<std::int32_t> ipiv, Queue& q, LuOptions options) {
  const Method method = check_getrf(A, ipiv, q, options);
  if (A.empty()) return 0;
  if (method == Method::lapack) return getrf_lapack(A, ipiv, q);
  if (method == Method::hybrid) return getrf_hybrid(A, ipiv, q, options);
  return getrf_native_info(A, ipiv, q, options);
}

template <class T>
void getrf(View<T> A, View<std::int32_t> ipiv, View<std::int32_t> info, Queue& q, LuOptions options) {
  require_shape("getrf", "info", info, 1, 1);
  const Method method = check_getrf(A, ipiv, q, options);
  require_distinct("getrf", "info", info, "A", A);
  require_distinct("getrf", "info", info, "ipiv", ipiv);
  require(method == Method::native, "getrf: method '", method_name(method),
          "' waits: it cannot leave info on the device, which needs method 'native'");
  if constexpr (cuda_built)
    if (A.empty()) return cuda::fill_bytes(info.data, 0, sizeof(std::int32_t), q.stream());
  getrf_native(A, ipiv, info, q, options);
}

#define INSTANTIATE(T)                                                                                   \
  template Method lu_method<T>(const char*, std::int64_t, std::int64_t, const Queue&, const LuOptions&); \
  template std::int64_t getrf<T>(View<T>, View<std::int32_t>, Queue&, LuOptions);                        \
  template void getrf<T>(View<T>, View<std::int32_t>, View<std::int32_t>, Queue&, LuOptions);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
