// solve_small: solves with the triangles of matrices of up to 16 x 16.
//
// G = 4, 8 or 16 lanes of a warp have a matrix, which the warp brings to shared memory; lane i has x_i of a right-hand
// side after the other. x_k goes round by shuffle, the others subtract, as in solve_batched.
#include "kernels/cuda/batched_columns.cuh"
#include "kernels/cuda/pivots.cuh"
#include "kernels/cuda/reciprocal.cuh"
#include "kernels/cuda/solve_batched.cuh"

namespace devobj::cuda {
namespace {

constexpr std::int64_t sides_of_block = 4;

// blockIdx.x counts blocks of matrices; right-hand sides are blockIdx.y, blockIdx.y + gridDim.y, ...
template <class E, int G>
__global__ void __launch_bounds__(columns_threads) solve_small_kernel(Solve<E> p) {
  constexpr int per_warp = warp_size / G;
  extern __shared__ __align__(16) unsigned char bytes[];
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, i = lane % G, base = lane - i;
  const std::int64_t first = (std::int64_t(blockIdx.x) * columns_warps + warp) * per_warp, matrix = first + lane / G;
  if (first >= p.A.count) return;
  const int n = static_cast<int>(p.A.cols), ld = columns_ld(n);
  const int matrices = static_cast<int>(min(p.A.count - first, std::int64_t(per_warp)));
  const bool here = lane / G < matrices && i < n, factored = p.ipiv != nullptr;
  const int pivot = here && factored ? read_pivot(p.ipiv[i + matrix * p.ldp], n, i) : i;
  E* const all = reinterpret_cast<E*>(bytes) + warp * columns_elements(n, n, per_warp);
  WarpColumns<E>{p.A.data + first * p.A.stride, p.A.ld, all, n, matrices * n}.load();
  __syncwarp();

  // a[k] = op(A)(i, k)
  const E* const S = all + (lane / G) * n * ld;
  const bool transposed = p.op != Op::NoTrans;
  E a[G];
#pragma unroll
  for (int k = 0; k < G; ++k) {
    a[k] = here && k < n ? S[transposed ? k + i * ld : i + k * ld] : E{};
    if (p.op == Op::ConjTrans) a[k] = conjugate(a[k]);
  }
  E diagonal = here ? S[i + i * ld] : from_parts<E>(1);
  if (p.op == Op::ConjTrans) diagonal = conjugate(diagonal);
  const Reciprocal<E> inverse(diagonal);

  int source = i;  // where x_i comes from by the swaps
  for (int step = 0; step < n; ++step) {
    const int k = transposed ? step : n - 1 - step, there = __shfl_sync(all_lanes, pivot, base + k);
    source = source == k ? there : source == there ? k : source;
  }
  // step k with the lower triangle of op(A), or with its upper triangle
  const auto solve_step = [&](E x, int k, bool lower, bool unit) {
    const E quotient = inverse.times(x);
    if (!unit && i == k) x = quotient;
    const E rest = minus_product(x, a[k], shuffle(x, base + k));
    return (lower ? i > k : i < k) ? rest : x;
  };
  const auto forward = [&](E x, bool unit) {
#pragma unroll
    for (int k = 0; k < G; ++k)
      if (k < n) x = solve_step(x, k, true, unit);
    return x;
  };
  const auto backward = [&](E x, bool unit) {
#pragma unroll
    for (int k = G - 1; k >= 0; --k)
      if (k < n) x = solve_step(x, k, false, unit);
    return x;
  };

  const bool solved = here && (p.info.data == nullptr || p.info[matrix] == 0);
  const Block<E> B = matrix_of(p.B, here ? matrix : 0);
  for (std::int64_t c = blockIdx.y; c < p.B.cols; c += gridDim.y) {
    E x = solved ? B(i, c) : E{};
    if (transposed) {
      // X = P^T L^-T U^-T B
      x = shuffle(backward(forward(x, false), true), base + source);
    } else {
      // X = U^-1 L^-1 P B
      if (factored) x = forward(shuffle(x, base + source), true);
      x = backward(x, false);
    }
    if (solved) B(i, c) = x;
  }
}

template <class E, int G>
void launch(const Solve<E>& p, Queue& q) {
  constexpr int per_warp = warp_size / G;
  const int n = static_cast<int>(p.A.cols);
  const dim3 grid(columns_blocks(p.A.count, per_warp),
                  static_cast<unsigned>(std::min(ceil_div(p.B.cols, sides_of_block), max_grid_y)));
  launch_batched("solve_batched", solve_small_kernel<E, G>, grid, columns_threads,
                 static_cast<std::size_t>(columns_warps) * columns_elements(n, n, per_warp) * sizeof(E), q, p);
}

}  // namespace

template <class E>
void solve_small(const Solve<E>& p, Queue& q) {
  if (p.A.cols <= 4) return launch<E, 4>(p, q);
  if (p.A.cols <= 8) return launch<E, 8>(p, q);
  launch<E, 16>(p, q);
}

#define INSTANTIATE(T) template void solve_small<device_t<T>>(const Solve<device_t<T>>&, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
