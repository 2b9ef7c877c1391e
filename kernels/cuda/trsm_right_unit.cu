// trsm_right_unit: Bt = Bt Lt^-1 for a small unit upper triangle, the A12 = L11^-1 A12 of a row-major LU.
//
//   Bt (rows x w)      thread r owns row r of Bt, one right-hand side, in registers; a block of threads loads and stores
//   r -> x0 x1 x2 ...  columns of Bt coalesced. Lt is in shared memory, read by all threads at the same place:
//                      x_i -= x_j Lt(j, i) for i > j, j = 0, 1, ...
#include "kernels/cuda/arithmetic.cuh"
#include "kernels/kernels.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 128;

// Columns that a thread can hold in registers.
template <class E> constexpr int max_width = sizeof(E) == 16 ? 32 : 64;

template <class E, int width> __global__ void __launch_bounds__(threads) trsm_right_unit_kernel(Block<E> Lt, Block<E> Bt) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  E* L = reinterpret_cast<E*>(shared_bytes);  // L[j * width + i] = Lt(j, i), zero beyond Lt
  for (int e = threadIdx.x; e < width * width; e += threads) {
    const int j = e % width, i = e / width;
    L[j * width + i] = j < i && i < Lt.cols ? Lt(j, i) : E{};
  }
  __syncthreads();
  const std::int64_t r = blockIdx.x * std::int64_t(threads) + threadIdx.x;
  const std::int64_t cols = r < Bt.rows ? Bt.cols : 0;
  E* row = Bt.data + r;
  E x[width];
#pragma unroll
  for (int j = 0; j < width; ++j) x[j] = j < cols ? row[j * Bt.ld] : E{};
#pragma unroll
  for (int j = 0; j < width; ++j) {
    __syncwarp();  // keeps the compiler from loading rows of L far ahead, which would fill the registers
#pragma unroll
    for (int i = j + 1; i < width; ++i) x[i] = minus_product(x[i], x[j], L[j * width + i]);
  }
  asm volatile("" : "+l"(row));  // the addresses are computed again: kept, they would fill the registers too
#pragma unroll
  for (int j = 0; j < width; ++j)
    if (j < cols) row[j * Bt.ld] = x[j];
}

// `width` is the smallest of 16, 32, 64 that holds the triangle.
template <class E, int width> void launch(Block<E> Lt, Block<E> Bt, Queue& q) {
  const auto blocks = static_cast<unsigned>(ceil_div(Bt.rows, threads));
  trsm_right_unit_kernel<E, width><<<blocks, threads, width * width * sizeof(E), stream_of(q)>>>(Lt, Bt);
  q.launched("trsm_right_unit");
}

}  // namespace

template <class T> void trsm_right_unit(View<T> Lt, View<T> Bt, Queue& q) {
  using E = device_t<T>;
  const std::int64_t w = Lt.rows;
  if (Bt.empty()) return;
  for (std::int64_t j = 0; j < w; j += max_width<E>) {
    const Range J{j, std::min(j + max_width<E>, w)}, after{J.end, w}, all{0, Bt.rows};
    const Block<E> triangle = block_of(Lt(J, J)), right_sides = block_of(Bt(all, J));
    if (J.size() <= 16)
      launch<E, 16>(triangle, right_sides, q);
    else if (J.size() <= 32)
      launch<E, 32>(triangle, right_sides, q);
    else
      launch<E, max_width<E>>(triangle, right_sides, q);
    // Bt(:, after) -= Bt(:, J) Lt(J, after)
    if (after.size() > 0)
      cuda::gemm(Op::NoTrans, Op::NoTrans, T(-1), Bt(all, J), Lt(J, after), T(1), Bt(all, after), q);
  }
}

#define INSTANTIATE(T) template void trsm_right_unit<T>(View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
