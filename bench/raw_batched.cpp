#include "raw_batched.hpp"

#include <algorithm>
#include <memory>

#include "cuda_side.hpp"
#include "kernels/host/lapack_fortran.hpp"

namespace bench {

using namespace devobj;

namespace {

/// One matrix after the other by LAPACK, with the threads it takes.
template <class T>
std::function<void()> lapack_loop(const BatchedProblem<T>& p) {
  using fortran::BlasInt;
  const std::int64_t columns = p.A.cols / p.batch;
  const BlasInt m(p.A.rows, "lapack", "m"), n(columns, "lapack", "n"), one(1, "lapack", "nrhs");
  BlasInt lwork(1, "lapack", "lwork");
  if (p.routine == "geqrf") lwork = fortran::geqrf_work_size<T>(m, n, m);
  if (p.routine == "gels")
    lwork = fortran::query<T>(
        "gels", [&](T* w, BlasInt l) { fortran::gels<T>(Op::NoTrans, m, n, one, nullptr, m, nullptr, m, w, l); });
  const std::shared_ptr<T[]> work(new T[static_cast<std::size_t>(lwork.value())]);
  return [=] {
    for (std::int64_t k = 0; k < p.batch; ++k) {
      T* const A = p.A.data + k * columns * p.A.ld;
      T* const b = p.B.data + k * p.B.ld;
      std::int32_t* const pivots = p.ipiv.data + k * p.ipiv.ld;
      if (p.routine == "getrf" || p.routine == "gesv")
        p.info.data[k] = static_cast<std::int32_t>(fortran::getrf(m, n, A, m, pivots));
      if (p.routine == "getrs" || p.routine == "gesv") fortran::getrs<T>(Op::NoTrans, n, one, A, m, pivots, b, m);
      if (p.routine == "geqrf") fortran::geqrf(m, n, A, m, p.tau.data + k * p.tau.ld, work.get(), lwork);
      if (p.routine == "gels") fortran::gels<T>(Op::NoTrans, m, n, one, A, m, b, m, work.get(), lwork);
    }
  };
}

}  // namespace

template <class T>
std::function<void()> raw_batched(const BatchedProblem<T>& p, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::raw_batched(p, q.stream());
  return lapack_loop(p);
}

#define INSTANTIATE(T) template std::function<void()> raw_batched(const BatchedProblem<T>&, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace bench
