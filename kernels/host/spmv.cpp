// y = alpha A x + beta y for A in compressed rows: threads take rows.
#include "kernels/host/share.hpp"
#include "kernels/prims.hpp"

namespace devobj::host {

template <class T>
void spmv(T alpha, const Csr<T>& A, View<T> x, T beta, View<T> y, Queue& q) {
  q.submit("spmv", [=] {
    const std::int32_t* columns = A.columns.data;
    const T *values = A.values.data, *from = x.data;
    const std::int64_t base = A.base;
    share(A.rows, static_cast<std::size_t>(A.values.size()) * (sizeof(T) + 4),
          [=](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
              T sum = 0;
              for (std::int64_t e = A.offsets.data[i] - base; e < A.offsets.data[i + 1] - base; ++e)
                sum += values[e] * from[columns[e] - base];
              y.data[i] = beta == 0 ? alpha * sum : alpha * sum + beta * y.data[i];
            }
          });
  });
}

template void spmv(float, const Csr<float>&, View<float>, float, View<float>, Queue&);
template void spmv(double, const Csr<double>&, View<double>, double, View<double>, Queue&);

}  // namespace devobj::host
