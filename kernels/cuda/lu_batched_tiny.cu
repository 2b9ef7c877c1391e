// lu_tiny: LU of matrices of up to 4 x 4, a thread each, in registers. A warp brings its 32 matrices through shared
// memory, so that neighbouring lanes read and write neighbouring elements.
#include "kernels/cuda/batched_columns.cuh"
#include "kernels/cuda/lu_batched.cuh"

namespace devobj::cuda::lu {
namespace {

constexpr int tiny = static_cast<int>(lu_tiny_max);

template <class E>
__global__ void __launch_bounds__(columns_threads) lu_tiny_kernel(BatchedLu<E> p) {
  extern __shared__ __align__(16) unsigned char bytes[];
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t first = (std::int64_t(blockIdx.x) * columns_warps + warp) * warp_size, k = first + lane;
  if (first >= p.A.count) return;
  const int m = static_cast<int>(p.A.rows), n = static_cast<int>(p.A.cols), steps = min(m, n), ld = columns_ld(m);
  const int matrices = static_cast<int>(min(p.A.count - first, std::int64_t(warp_size)));
  E* const all = reinterpret_cast<E*>(bytes) + warp * columns_elements(m, n, warp_size);
  const WarpColumns<E> columns{p.A.data + first * p.A.stride, p.A.ld, all, m, matrices * n};
  columns.load();
  __syncwarp();

  if (lane < matrices) {
    E* const S = all + lane * n * ld;
    E a[tiny][tiny];
#pragma unroll
    for (int c = 0; c < tiny; ++c)
#pragma unroll
      for (int i = 0; i < tiny; ++i) a[i][c] = i < m && c < n ? S[i + c * ld] : E{};
    int zero_column = 0;
#pragma unroll
    for (int j = 0; j < tiny; ++j) {
      if (j < steps) {
        Candidate best = candidate_of(a[j][j], j, j);
#pragma unroll
        for (int i = j + 1; i < tiny; ++i) {
          const Candidate other = candidate_of(a[i][j], i, j);
          if (i < m && better<E>(other, best)) best = other;
        }
        p.ipiv[j + k * p.ldp] = p.offset + best.position + 1;
        const bool zero = (best.high | best.low) == 0;
        if (zero && zero_column == 0) zero_column = j + 1;
          // row j <-> the pivot's
#pragma unroll
        for (int i = j + 1; i < tiny; ++i)
#pragma unroll
          for (int c = 0; c < tiny; ++c) {
            const E upper = a[j][c], lower = a[i][c];
            a[j][c] = best.position == i ? lower : upper;
            a[i][c] = best.position == i ? upper : lower;
          }
        // l = a / pivot;  a -= l u
        const Reciprocal<E> inverse(a[j][j]);
#pragma unroll
        for (int i = j + 1; i < tiny; ++i) {
          if (!zero) a[i][j] = inverse.times(a[i][j]);
#pragma unroll
          for (int c = j + 1; c < tiny; ++c) a[i][c] = minus_product(a[i][c], a[i][j], a[j][c]);
        }
      }
    }
#pragma unroll
    for (int c = 0; c < tiny; ++c)
#pragma unroll
      for (int i = 0; i < tiny; ++i)
        if (i < m && c < n) S[i + c * ld] = a[i][c];
    p.set_info(k, zero_column);
  }
  __syncwarp();
  columns.store();
}

}  // namespace

template <class E>
void lu_tiny(const BatchedLu<E>& p, Queue& q) {
  const std::size_t elements = static_cast<std::size_t>(columns_warps) *
                               columns_elements(static_cast<int>(p.A.rows), static_cast<int>(p.A.cols), warp_size);
  launch_batched("lu_batched", lu_tiny_kernel<E>, dim3(columns_blocks(p.A.count, warp_size)), columns_threads,
                 elements * sizeof(E), q, p);
}

#define INSTANTIATE(T) template void lu_tiny<device_t<T>>(const BatchedLu<device_t<T>>&, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda::lu
