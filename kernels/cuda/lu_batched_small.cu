// lu_small: LU of matrices of up to 32 x 32, in registers.
//
// L = 8, 16 or 32 lanes of a warp have a matrix, a lane a row. Rows do not move: each has a position, where LAPACK's
// swaps would have brought it. A step: the lanes agree on the pivot by shuffles, its lane writes its row to shared
// memory, all others read it and subtract.
#include "kernels/cuda/lu_batched.cuh"

namespace devobj::cuda::lu {
namespace {

constexpr int small_threads = 128;

/// The best of the candidates of L neighbouring lanes, to all of them.
template <class E, int L>
__device__ Candidate best_of_lanes(Candidate mine) {
  if constexpr (L == warp_size) {
    const std::uint32_t high = __reduce_max_sync(all_lanes, mine.high);
    bool in = mine.high == high;
    std::uint32_t low = 0;
    if constexpr (two_words<E>) {
      low = __reduce_max_sync(all_lanes, in ? mine.low : 0u);
      in = in && mine.low == low;
    }
    const unsigned position = __reduce_min_sync(all_lanes, static_cast<unsigned>(in ? mine.position : INT_MAX));
    mine.high = high;
    mine.low = low;
    mine.position = static_cast<std::int32_t>(position);
  } else {
#pragma unroll
    for (int distance = L / 2; distance > 0; distance /= 2) {
      Candidate other;
      other.high = __shfl_xor_sync(all_lanes, mine.high, distance);
      other.low = two_words<E> ? __shfl_xor_sync(all_lanes, mine.low, distance) : 0u;
      other.position = __shfl_xor_sync(all_lanes, mine.position, distance);
      if (better<E>(other, mine)) mine = other;
    }
  }
  return mine;
}

/// What the pivot's lane tells the others: 1 / pivot and its row.
template <class E, int L>
struct PivotRow {
  alignas(16) Reciprocal<E> inverse;
  alignas(16) E row[L];
};

// A block has small_threads / L matrices.
template <class E, int L>
__global__ void __launch_bounds__(small_threads) lu_small_kernel(BatchedLu<E> p) {
  constexpr int groups = small_threads / L;
  extern __shared__ __align__(16) unsigned char bytes[];
  const int group = threadIdx.x / L, i = threadIdx.x % L;
  PivotRow<E, L>* const told = reinterpret_cast<PivotRow<E, L>*>(bytes) + 2 * group;  // of even and of odd steps
  const std::int64_t k = std::int64_t(blockIdx.x) * groups + group;
  const bool here = k < p.A.count && i < p.A.rows;
  const int n = static_cast<int>(p.A.cols), steps = static_cast<int>(min(p.A.rows, p.A.cols));
  const Block<E> A = matrix_of(p.A, k < p.A.count ? k : 0);

  E a[L];
#pragma unroll
  for (int c = 0; c < L; ++c) a[c] = here && c < n ? A(i, c) : E{};
  std::int32_t position = here ? i : -1, pivot = 0;
  int zero_column = 0;

#pragma unroll
  for (int j = 0; j < L; ++j) {
    if (j < steps) {
      const Candidate best = best_of_lanes<E, L>(candidate_of(a[j], position, j));
      PivotRow<E, L>& row = told[j % 2];
      if (position == best.position) {
        row.inverse = Reciprocal<E>(a[j]);
#pragma unroll
        for (int c = j + 1; c < L; ++c) row.row[c] = a[c];
        position = j;
      } else if (position == j) {
        position = best.position;
      }
      __syncwarp();
      const bool zero = (best.high | best.low) == 0;
      if (zero && zero_column == 0) zero_column = j + 1;
      if (i == j) pivot = best.position;
      // l = a / pivot;  a -= l u
      if (position > j) {
        if (!zero) a[j] = row.inverse.times(a[j]);
#pragma unroll
        for (int c = j + 1; c < L; ++c) a[c] = minus_product(a[c], a[j], row.row[c]);
      }
    }
  }

  if (here) {
#pragma unroll
    for (int c = 0; c < L; ++c)
      if (c < n) A(position, c) = a[c];
  }
  if (k < p.A.count) {
    if (i < steps) p.ipiv[i + k * p.ldp] = p.offset + pivot + 1;
    if (i == 0) p.set_info(k, zero_column);
  }
}

template <class E, int L>
void launch(const BatchedLu<E>& p, Queue& q) {
  constexpr int groups = small_threads / L;
  launch_batched("lu_batched", lu_small_kernel<E, L>, dim3(static_cast<unsigned>(ceil_div(p.A.count, groups))),
                 small_threads, 2 * groups * sizeof(PivotRow<E, L>), q, p);
}

}  // namespace

template <class E>
void lu_small(const BatchedLu<E>& p, Queue& q) {
  const std::int64_t most = std::max(p.A.rows, p.A.cols);
  if (most <= 8) return launch<E, 8>(p, q);
  if (most <= 16) return launch<E, 16>(p, q);
  launch<E, 32>(p, q);
}

#define INSTANTIATE(T) template void lu_small<device_t<T>>(const BatchedLu<device_t<T>>&, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda::lu
