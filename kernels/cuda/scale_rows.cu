// scale_rows: row i of A times or divided by factors[i].
#include "kernels/cuda/grid.cuh"
#include "kernels/kernels.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 256;

template <class R> __device__ void scale(R& a, R factor, bool divide) { a = divide ? a / factor : a * factor; }
template <class E, class R> __device__ void scale(E& a, R factor, bool divide) {
  scale(a.x, factor, divide);
  scale(a.y, factor, divide);
}

// A thread per row, along the columns; rows are neighbours in memory.
template <class E, class R> __global__ void scale_rows_kernel(const R* factors, bool divide, Block<E> A) {
  for (std::int64_t i = blockIdx.x * std::int64_t(threads) + threadIdx.x; i < A.rows; i += std::int64_t(gridDim.x) * threads) {
    const R factor = factors[i];
    if (factor == R(0)) continue;
    for (std::int64_t j = 0; j < A.cols; ++j) scale(A(i, j), factor, divide);
  }
}

}  // namespace

template <class T> void scale_rows(const real_t<T>* factors, bool divide, View<T> A, Queue& q) {
  if (A.empty()) return;
  const int blocks = static_cast<int>(std::min<std::int64_t>(ceil_div(A.rows, threads), 4096));
  scale_rows_kernel<<<blocks, threads, 0, stream_of(q)>>>(factors, divide, block_of(A));
  q.launched("scale_rows");
}

#define INSTANTIATE(T) template void scale_rows<T>(const real_t<T>*, bool, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
