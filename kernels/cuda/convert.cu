// narrow, narrow_rows and widen: between double and single precision.
#include "kernels/cuda/single_precision.cuh"
#include "kernels/precision.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 256;

/// Threads go along the rows, blockIdx.y along the columns. All who write to *misfit write 1.
template <class E, class F>
__global__ void __launch_bounds__(threads) narrow_kernel(Block<E> A, Block<F> S, std::int32_t* misfit) {
  const std::int64_t i = blockIdx.x * std::int64_t(threads) + threadIdx.x;
  if (i >= A.rows) return;
  bool fit = true;
  for (std::int64_t j = blockIdx.y; j < A.cols; j += gridDim.y) {
    const E a = A(i, j);
    S(i, j) = to_single(a);
    fit = fit && fits_single(a);
  }
  if (!fit) *misfit = 1;
}

template <class E, class F>
__global__ void __launch_bounds__(threads) narrow_rows_kernel(Block<E> A, const std::int32_t* rows, Block<F> S) {
  const std::int64_t i = blockIdx.x * std::int64_t(threads) + threadIdx.x;
  if (i >= A.rows) return;
  const std::int64_t row = rows[i] - 1;
  for (std::int64_t j = blockIdx.y; j < A.cols; j += gridDim.y) S(i, j) = to_single(A(row, j));
}

template <class E, class F>
__global__ void __launch_bounds__(threads) widen_kernel(Block<F> S, bool add, Block<E> A) {
  const std::int64_t i = blockIdx.x * std::int64_t(threads) + threadIdx.x;
  if (i >= A.rows) return;
  for (std::int64_t j = blockIdx.y; j < A.cols; j += gridDim.y) {
    const E s = to_double(S(i, j));
    A(i, j) = add ? sum(A(i, j), s) : s;
  }
}

template <class T>
dim3 grid_of(View<T> A) {
  return dim3(static_cast<unsigned>(ceil_div(A.rows, threads)),
              static_cast<unsigned>(std::min<std::int64_t>(A.cols, max_grid_y)));
}

}  // namespace

template <class T>
void narrow(View<T> A, View<single_t<T>> S, std::int32_t* misfit, Queue& q) {
  DeviceScope scope(q.device());
  fill_bytes(misfit, 0, sizeof(std::int32_t), q.stream());
  if (A.empty()) return;
  narrow_kernel<<<grid_of(A), threads, 0, stream_of(q)>>>(block_of(A), block_of(S), misfit);
  q.launched("narrow");
}

template <class T>
void narrow_rows(View<T> A, const std::int32_t* rows, View<single_t<T>> S, Queue& q) {
  if (A.empty()) return;
  DeviceScope scope(q.device());
  narrow_rows_kernel<<<grid_of(A), threads, 0, stream_of(q)>>>(block_of(A), rows, block_of(S));
  q.launched("narrow_rows");
}

template <class T>
void widen(View<single_t<T>> S, bool add, View<T> A, Queue& q) {
  if (A.empty()) return;
  DeviceScope scope(q.device());
  widen_kernel<<<grid_of(A), threads, 0, stream_of(q)>>>(block_of(S), add, block_of(A));
  q.launched("widen");
}

#define INSTANTIATE(T)                                                                   \
  template void narrow<T>(View<T>, View<single_t<T>>, std::int32_t*, Queue&);            \
  template void narrow_rows<T>(View<T>, const std::int32_t*, View<single_t<T>>, Queue&); \
  template void widen<T>(View<single_t<T>>, bool, View<T>, Queue&);
DEVOBJ_FOR_EACH_DOUBLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
