// Rows of A gathered by a permutation, A given by its transpose At: column dst[i] of At = the old column src[i].
#include "kernels/cuda/generate.cuh"
#include "kernels/kernels.hpp"

namespace devobj::cuda {
namespace {

constexpr int most_pairs = permute_at_once;  // of the one-pass kernel
constexpr int most_threads = 1024;

// Lanes beside each other have contiguous elements of a column, at least 128 bytes; a thread holds elements of
// `held` pairs in registers.
template <class E>
constexpr int lanes = sizeof(E) == 16 ? 16 : 32;
template <class E>
constexpr int held = most_pairs* lanes<E> / most_threads;

// A block owns `lanes` positions of all columns and moves them in one go: everything is read, then written.
//
//      positions      column src[0]   src[1]   ...               thread (x, y): position x,
//      x = 0 ...         |  y = 0       1     ...                 pairs y, y + blockDim.y, ...
template <class E>
__global__ void __launch_bounds__(most_threads)
    permute_columns_kernel(Block<E> At, int count, const std::int32_t* dst, const std::int32_t* src) {
  const std::int64_t position = std::int64_t(blockIdx.x) * lanes<E> + threadIdx.x;
  const bool inside = position < At.rows;
  E value[held<E>];
#pragma unroll
  for (int u = 0; u < held<E>; ++u) {
    const int pair = threadIdx.y + u * blockDim.y;
    if (inside && pair < count) value[u] = At(position, src[pair]);
  }
  __syncthreads();
#pragma unroll
  for (int u = 0; u < held<E>; ++u) {
    const int pair = threadIdx.y + u * blockDim.y;
    if (inside && pair < count) At(position, dst[pair]) = value[u];
  }
}

/// The columns list[0], list[1], ... of At as a matrix.
template <class E>
struct ChosenColumns {
  Block<E> At;
  const std::int32_t* list;
  std::int64_t rows, cols;
  __device__ E& operator()(std::int64_t i, std::int64_t j) const { return At(i, list[j]); }
};

}  // namespace

template <class T>
void permute_columns(View<T> At, std::int64_t count, const std::int32_t* dst, const std::int32_t* src, Queue& q) {
  if (At.empty() || count == 0) return;
  using E = device_t<T>;
  if (count > most_pairs) {  // by way of a copy
    const View<T> W(static_cast<T*>(q.workspace(At.rows * count * sizeof(T))), At.rows, count);
    const Block<E> columns = block_of(At), copy = block_of(W);
    generate<E>("permute_columns", Uplo::General, copy, ChosenColumns<E>{columns, src, At.rows, count}, q);
    generate<E>("permute_columns", Uplo::General, ChosenColumns<E>{columns, dst, At.rows, count}, copy, q);
    return;
  }
  DeviceScope scope(q.device());
  const dim3 block(lanes<E>, static_cast<unsigned>(std::max<std::int64_t>(ceil_div(count, held<E>), 4)));
  permute_columns_kernel<<<static_cast<unsigned>(ceil_div(At.rows, lanes<E>)), block, 0, stream_of(q)>>>(
      block_of(At), static_cast<int>(count), dst, src);
  q.launched("permute_columns");
}

#define INSTANTIATE(T) \
  template void permute_columns(View<T>, std::int64_t, const std::int32_t*, const std::int32_t*, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
