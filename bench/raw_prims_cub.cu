// CUB and cuSPARSE called directly.
#include <cusparse.h>

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <memory>
#include <string>
#include <type_traits>

#include "devobj/error.hpp"
#include "raw_prims.hpp"

namespace bench::cuda {
namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) devobj::fail(devobj::Status::device_error, "raw CUB: ", cudaGetErrorString(status));
}
void check(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    devobj::fail(devobj::Status::device_error, "raw cuSPARSE: ", cusparseGetErrorString(status));
}

std::shared_ptr<void> memory(std::size_t bytes) {
  void* pointer = nullptr;
  check(cudaMalloc(&pointer, bytes + 256));
  return {pointer, [](void* p) { cudaFree(p); }};
}

/// call(memory, bytes), with the memory it asks for.
template <class Call>
std::function<void()> prepared(Call call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes));
  return [call, bytes, own = memory(bytes)]() mutable { check(call(own.get(), bytes)); };
}

/// The same, with a result of type R on its way to the host: take(result).
template <class R, class Call, class Take>
std::function<void()> with_result(Call call, Take take, cudaStream_t s) {
  const auto result = memory(sizeof(R));
  const auto run = prepared([=](void* m, std::size_t& bytes) { return call(m, bytes, static_cast<R*>(result.get())); });
  return [=] {
    run();
    R value;
    check(cudaMemcpyAsync(&value, result.get(), sizeof value, cudaMemcpyDeviceToHost, s));
    check(cudaStreamSynchronize(s));
    take(value);
  };
}

template <class T>
std::function<void()> sparse(const PrimOperands<T>& o, cudaStream_t s) {
  struct State {
    cusparseHandle_t handle = nullptr;
    cusparseConstSpMatDescr_t A = nullptr;
    cusparseConstDnVecDescr_t x = nullptr;
    cusparseDnVecDescr_t y = nullptr;
    std::shared_ptr<void> buffer;
    T one = 1, zero = 0;
    ~State() {
      cusparseDestroySpMat(A);
      cusparseDestroyDnVec(x);
      cusparseDestroyDnVec(y);
      cusparseDestroy(handle);
    }
  };
  constexpr cudaDataType type = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F;
  const auto st = std::make_shared<State>();
  check(cusparseCreate(&st->handle));
  check(cusparseSetStream(st->handle, s));
  check(cusparseCreateConstCsr(&st->A, o.rows, o.rows, o.n, o.offsets, o.columns, o.matrix_values, CUSPARSE_INDEX_32I,
                               CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ONE, type));
  check(cusparseCreateConstDnVec(&st->x, o.rows, o.vector, type));
  check(cusparseCreateDnVec(&st->y, o.rows, o.y, type));
  std::size_t bytes = 0;
  check(cusparseSpMV_bufferSize(st->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &st->one, st->A, st->x, &st->zero, st->y,
                                type, CUSPARSE_SPMV_CSR_ALG2, &bytes));
  st->buffer = memory(bytes);
  return [=] {
    check(cusparseSpMV(st->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &st->one, st->A, st->x, &st->zero, st->y, type,
                       CUSPARSE_SPMV_CSR_ALG2, st->buffer.get()));
  };
}

}  // namespace

template <class T>
std::function<void()> raw_prim(const char* routine, const PrimOperands<T>& o, void* stream) {
  const auto s = static_cast<cudaStream_t>(stream);
  const std::string name = routine;
  const int n = static_cast<int>(o.n);
  using Sum = std::conditional_t<std::is_integral_v<T>, std::uint32_t, T>;
  const auto* x = reinterpret_cast<const Sum*>(o.x);
  auto* y = reinterpret_cast<Sum*>(o.y);
  if (name == "scan")
    return prepared([=](void* m, std::size_t& b) { return cub::DeviceScan::InclusiveSum(m, b, x, y, n, s); });
  if (name == "segmented_scan")
    return prepared([=](void* m, std::size_t& b) {
      return cub::DeviceScan::InclusiveSumByKey(m, b, o.segments, x, y, n, ::cuda::std::equal_to<>{}, s);
    });
  if (name == "exclusive_scan")
    return prepared([=](void* m, std::size_t& b) { return cub::DeviceScan::ExclusiveSum(m, b, x, y, n, s); });
  if (name == "exclusive_segmented_scan")
    return prepared([=](void* m, std::size_t& b) {
      return cub::DeviceScan::ExclusiveSumByKey(m, b, o.segments, x, y, n, ::cuda::std::equal_to<>{}, s);
    });
  if (name == "reduce_sum")
    return with_result<T>([=](void* m, std::size_t& b, T* r) { return cub::DeviceReduce::Sum(m, b, o.x, r, n, s); },
                          [=](T value) { *o.value = static_cast<double>(value); }, s);
  if (name == "reduce_min") {
    struct Found {
      T value;
      int at;
    };
    return with_result<Found>(
        [=](void* m, std::size_t& b, Found* r) {
          return cub::DeviceReduce::ArgMin(m, b, o.x, &r->value, &r->at, static_cast<std::int64_t>(n), s);
        },
        [=](Found f) {
          *o.value = static_cast<double>(f.value);
          *o.count = f.at + 1;
        },
        s);
  }
  if (name == "sort_keys")
    return prepared([=](void* m, std::size_t& b) {
      return cub::DeviceRadixSort::SortKeys(m, b, o.x, o.y, n, 0, int(8 * sizeof(T)), s);
    });
  if (name == "sort_pairs")
    return prepared([=](void* m, std::size_t& b) {
      return cub::DeviceRadixSort::SortPairs(m, b, o.x, o.y, o.values, o.sorted_values, n, 0, int(8 * sizeof(T)), s);
    });
  if (name == "compact")
    return with_result<int>(
        [=](void* m, std::size_t& b, int* r) { return cub::DeviceSelect::Flagged(m, b, o.x, o.heads, o.y, r, n, s); },
        [=](int count) { *o.count = count; }, s);
  if (name == "histogram")
    return prepared([=](void* m, std::size_t& b) {
      return cub::DeviceHistogram::HistogramEven(m, b, o.x, o.counts, o.bins + 1, o.lower, o.upper, n, s);
    });
  if constexpr (!std::is_integral_v<T>)
    if (name == "spmv") return sparse(o, s);
  devobj::fail(devobj::Status::invalid_argument, "no peer for ", routine);
}

template std::function<void()> raw_prim(const char*, const PrimOperands<std::int32_t>&, void*);
template std::function<void()> raw_prim(const char*, const PrimOperands<float>&, void*);
template std::function<void()> raw_prim(const char*, const PrimOperands<double>&, void*);

}  // namespace bench::cuda
