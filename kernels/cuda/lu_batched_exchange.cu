// lu_exchange: what a factored panel of a batch does to the other columns: their rows change places, and those right of
// it become U12 = L11^-1 A12.
//
//   rows j0 ...   L11 (w x w)   column c    A warp has a few columns at once. Lane i reads what comes to row i of
//                +---+          +---+       the panel's rows ("top") and what comes to the row below that pivot i
//          top   |   |          | x |       displaced; then both are written. Right of the panel x is solved first:
//                +---+          +---+       x_k goes round by shuffle, lanes below subtract.
//          below |   |          | y |
#include "kernels/cuda/lu_batched.cuh"
#include "kernels/cuda/pivots.cuh"

namespace devobj::cuda::lu {
namespace {

constexpr int exchange_threads = 256;
constexpr int exchange_warps = exchange_threads / warp_size;
constexpr int at_once = 4;
constexpr int columns_of_block = exchange_warps * at_once * 2;

// blockIdx.x is the matrix, blockIdx.y counts blocks of columns.
template <class E>
__global__ void __launch_bounds__(exchange_threads)
    lu_exchange_kernel(Batch<E> batch, const std::int32_t* ipiv, std::int64_t ldp, std::int64_t j0, int w) {
  constexpr int most = static_cast<int>(lu_exchange_max);
  extern __shared__ __align__(16) unsigned char bytes[];
  E* const L11 = reinterpret_cast<E*>(bytes);  // L11[i + k (most + 1)] = L11(i, k)
  std::int32_t* const pivot = reinterpret_cast<std::int32_t*>(L11 + most * (most + 1));
  const std::int64_t matrix = blockIdx.x;
  const Block<E> whole = matrix_of(batch, matrix);
  const Block<E> A{whole.data + j0, whole.rows - j0, whole.cols, whole.ld};
  const int t = threadIdx.x, lane = t % warp_size, warp = t / warp_size;

  for (int e = t; e < most * most; e += exchange_threads) {
    const int i = e % most, k = e / most;
    L11[i + k * (most + 1)] = k < i && i < w ? A(i, j0 + k) : E{};
  }
  if (t < w) pivot[t] = static_cast<std::int32_t>(ipiv[j0 + t + matrix * ldp] - 1 - j0);
  __syncthreads();

  const bool top = lane < w;
  const std::int64_t from = top ? source_of(lane, pivot, 0, w, true) : lane;
  std::int64_t below =
      top && pivot[lane] >= w ? pivot[lane] : -1;  // the row that pivot `lane` displaced the first time
  for (int i = 0; i < lane && i < w; ++i)
    if (pivot[i] == below) below = -1;
  const std::int64_t to_below = below >= 0 ? source_of(below, pivot, 0, w, true) : -1;

  const std::int64_t others = A.cols - w;
  for (std::int64_t block = blockIdx.y; block * columns_of_block < others; block += gridDim.y)
    for (int part = 0; part < columns_of_block / (exchange_warps * at_once); ++part) {
      const std::int64_t first = block * columns_of_block + (part * exchange_warps + warp) * at_once;
      if (first >= others) continue;
      E x[at_once], y[at_once];
      std::int64_t column[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        const std::int64_t other = first + u;
        column[u] = other < j0 ? other : other + w;
        x[u] = other < others && top ? A(from, column[u]) : E{};
        y[u] = other < others && below >= 0 ? A(to_below, column[u]) : E{};
      }
      __syncwarp();  // all have read
      if (first + at_once > j0) {
        for (int k = 0; k < w - 1; ++k) {
          const E l = L11[lane + k * (most + 1)];
#pragma unroll
          for (int u = 0; u < at_once; ++u) {
            const E x_k = shuffle(x[u], k);
            if (lane > k && column[u] >= j0) x[u] = minus_product(x[u], l, x_k);
          }
        }
      }
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        if (first + u >= others) continue;
        if (top) A(lane, column[u]) = x[u];
        if (below >= 0) A(below, column[u]) = y[u];
      }
    }
}

}  // namespace

template <class E>
void lu_exchange(const Batch<E>& A, const std::int32_t* ipiv, std::int64_t ldp, std::int64_t j0, std::int64_t w,
                 Queue& q) {
  const dim3 grid(static_cast<unsigned>(A.count),
                  static_cast<unsigned>(std::min(ceil_div(A.cols - w, columns_of_block), max_grid_y)));
  const std::size_t bytes =
      lu_exchange_max * (lu_exchange_max + 1) * sizeof(E) + lu_exchange_max * sizeof(std::int32_t);
  launch_batched("lu_batched", lu_exchange_kernel<E>, grid, exchange_threads, bytes, q, A, ipiv, ldp, j0,
                 static_cast<int>(w));
}

#define INSTANTIATE(T)                                                                                               \
  template void lu_exchange<device_t<T>>(const Batch<device_t<T>>&, const std::int32_t*, std::int64_t, std::int64_t, \
                                         std::int64_t, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda::lu
