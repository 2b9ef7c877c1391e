// y = alpha A x + beta y for A in compressed rows, by cuSPARSE, with the algorithm whose results are the same bits from
// run to run.
#include <cusparse.h>

#include "kernels/cuda/cuda_common.hpp"
#include "kernels/prims.hpp"

namespace devobj::cuda {
namespace {

void check_sparse(cusparseStatus_t status) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  fail(status == CUSPARSE_STATUS_ALLOC_FAILED ? Status::out_of_memory : Status::device_error, "spmv: cuSPARSE error ",
       static_cast<int>(status), ", ", cusparseGetErrorString(status));
}

/// cuSPARSE's descriptions of the operands: a few words on the host each.
struct Descriptions {
  cusparseConstSpMatDescr_t A = nullptr;
  cusparseConstDnVecDescr_t x = nullptr;
  cusparseDnVecDescr_t y = nullptr;
  Descriptions() = default;
  Descriptions(const Descriptions&) = delete;
  Descriptions& operator=(const Descriptions&) = delete;
  ~Descriptions() {
    if (A != nullptr) cusparseDestroySpMat(A);
    if (x != nullptr) cusparseDestroyDnVec(x);
    if (y != nullptr) cusparseDestroyDnVec(y);
  }
};

}  // namespace

template <class T> void spmv(T alpha, const Csr<T>& A, View<T> x, T beta, View<T> y, Queue& q) {
  constexpr cudaDataType type = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F;
  constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  DeviceScope scope(q.device());
  if (A.values.empty() || x.empty()) {  // y = beta y
    static_assert(std::is_floating_point_v<T>);
    if (beta == 0) return check(cudaMemsetAsync(y.data, 0, y.size() * sizeof(T), stream_of(q)), "spmv");
    return scal(beta, Vector<T>{y.data, y.size(), 1}, q);
  }
  auto* handle = static_cast<cusparseHandle_t>(q.sparse());
  Descriptions d;
  check_sparse(cusparseCreateConstCsr(&d.A, A.rows, A.cols, A.values.size(), A.offsets.data, A.columns.data,
                                      A.values.data, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                      A.base == 1 ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO, type));
  check_sparse(cusparseCreateConstDnVec(&d.x, A.cols, x.data, type));
  check_sparse(cusparseCreateDnVec(&d.y, A.rows, y.data, type));
  std::size_t bytes = 0;
  check_sparse(cusparseSpMV_bufferSize(handle, plain, &alpha, d.A, d.x, &beta, d.y, type, CUSPARSE_SPMV_CSR_ALG2, &bytes));
  check_sparse(cusparseSpMV(handle, plain, &alpha, d.A, d.x, &beta, d.y, type, CUSPARSE_SPMV_CSR_ALG2, q.scratch(bytes)));
  q.launched("spmv");
}

template void spmv(float, const Csr<float>&, View<float>, float, View<float>, Queue&);
template void spmv(double, const Csr<double>&, View<double>, double, View<double>, Queue&);

}  // namespace devobj::cuda
