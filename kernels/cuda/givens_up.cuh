// Tiles to triangles: see givens_tile.cuh.
#pragma once

#include "kernels/cuda/givens_tile.cuh"
#include "kernels/cuda/overlapped_launch.cuh"

namespace devobj::cuda::givens {

/// What a block has in shared memory on the way up.
template <class E, int slots>
struct UpMemory {
  Rotation<E> rotations[warps][slots + warps];  // of a column: a warp's, then those of the chain of warps
  E elements[warps][slots];                     // the next column's
  E first_rows[warps][width];                   // t of each warp's chain
  real_e<E> sums[warps];                        // their elements' squares
  real_e<E> sizes[warps][width];                // largest elements
};
/// A tile of A on its way to registers and back.
template <class E>
constexpr std::int64_t staged_bytes(int slots) {
  return std::int64_t(warps) * slots * (width + 1) * std::int64_t{sizeof(E)};
}

/// The rotations of a warp's chain, a lane each. x: this lane's row's element, sum: of the squares up to this row;
/// `finished` rows have no part in it.
template <class E>
__device__ Rotation<E> rotation_of_chain(E x, real_e<E> sum, int lane, int finished) {
  using Real = real_e<E>;
  Real root, inverse;
  root_of_sum(sum, root, inverse);
  Real before = __shfl_up_sync(all_lanes, root, 1);
  if (lane <= finished) before = 0;
  Rotation<E> r = {scaled(conjugate(x), inverse), before == root ? 1 : before * inverse};
  if (before == 0) r.s = opposite_turn(x, inverse);
  if (is_zero(x)) r = lane == finished ? Rotation<E>{from_parts<E>(1), 0} : Rotation<E>{E{}, 1};
  return r;
}
/// Those of the chain of warps, lane w that of warp w: their first rows' elements are real, not negative, their squares
/// are `sums`; the chain begins with warp `first`.
template <class E>
__device__ Rotation<E> rotation_of_warps(const real_e<E>* sums, int lane, int first) {
  using Real = real_e<E>;
  Real before = 0, own = 0;
#pragma unroll
  for (int w = 0; w < warps; ++w) {
    const Real square = sums[w];
    if (w < lane) before += square;
    if (w == lane) own = square;
  }
  Real root_before, root_own, root, inverse, unused;
  root_of_sum(before, root_before, unused);
  root_of_sum(own, root_own, unused);
  root_of_sum(before + own, root, inverse);
  if (lane == first) return {from_parts<E>(1), 0};
  if (own == 0) return {E{}, 1};
  return {from_parts<E>(root_own * inverse), root_before == root ? 1 : root_before * inverse};
}

// A block takes a tile to a triangle, which it stores by rows, and keeps the rotations. The tile is 8 * slots rows of A
// (columns beyond the last are zeros) or, if A is of triangles by rows, up to 8 of them.
template <class E, int slots, bool of_triangles>
__global__ void __launch_bounds__(threads)
    up_kernel(Block<E> A, Rotation<E>* __restrict__ rotations, E* __restrict__ triangles) {
  using Real = real_e<E>;
  constexpr int tile_rows = warps * slots, stride = rotations_of_column<slots>;
  extern __shared__ double2 dynamic[];
  auto& memory = *reinterpret_cast<UpMemory<E, slots>*>(dynamic);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t row0 = std::int64_t(blockIdx.x) * tile_rows;
  rotations += std::int64_t(blockIdx.x) * rotations_of_tile<slots>;
  triangles += std::int64_t(blockIdx.x) * width * width;

  begin_overlapped();
  E y[slots];
  if constexpr (of_triangles) {
#pragma unroll
    for (int i = 0; i < slots; ++i) {
      const std::int64_t row = row0 + warp * slots + i;
      y[i] = row < A.cols ? A(lane, row) : E{};
    }
  } else {
    auto& staged = *reinterpret_cast<E(*)[tile_rows][width + 1]>(dynamic);
#pragma unroll 8
    for (int e = threadIdx.x; e < tile_rows * width; e += threads) {
      const int i = e % tile_rows, j = e / tile_rows;
      staged[i][j] = row0 + i < A.rows && j < A.cols ? A(row0 + i, j) : E{};
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < slots; ++i) y[i] = staged[warp * slots + i][lane];
    __syncthreads();
  }

  Real size = 0;
#pragma unroll
  for (int i = 0; i < slots; ++i) size = fmax(size, larger_part(y[i]));
  memory.sizes[warp][lane] = size;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < warps; ++w) size = fmax(size, memory.sizes[w][lane]);
  const int exponent = scaling_exponent(size);
  const Real up = Range3<Real>::power(exponent), back = Range3<Real>::power(-exponent);
#pragma unroll
  for (int i = 0; i < slots; ++i) {
    y[i] = scaled(y[i], up);
    if (lane == 0) memory.elements[warp][i] = y[i];
  }

  Rotation<E>* const own = memory.rotations[warp];
#pragma unroll 1
  for (int j = 0; j < width; ++j) {
    const int first = j / slots, finished = min(max(j - warp * slots, 0), slots);
    __syncwarp();
    E x = lane < slots && lane >= finished ? memory.elements[warp][lane] : E{};
    Real sum = square(x);
    if (sum < Range3<Real>::low) {
      sum = 0;
      x = E{};
    }
    sum = sum_up_to(sum, lane);
    if (lane == warp_size - 1) memory.sums[warp] = sum;
    __syncthreads();
    const Rotation<E> of_chain = rotation_of_chain(x, sum, lane, finished),
                      of_warps = rotation_of_warps<E>(memory.sums, lane, first);
    if (lane < slots) rotations[j * stride + warp * slots + lane] = own[lane] = of_chain;
    if (lane < warps) {
      own[slots + lane] = of_warps;
      if (warp == 0) rotations[j * stride + warps * slots + lane] = of_warps;
    }
    __syncwarp();
    E t{};
#pragma unroll
    for (int i = 0; i < slots; ++i) {
      if (of_triangles && i % group == 0 && i > j + 1) break;
      rotate_pair(t, y[i], own[i].c, own[i].s);
      if (lane == j + 1) memory.elements[warp][i] = y[i];
    }
    memory.first_rows[warp][lane] = t;
    __syncthreads();
    E T{};
#pragma unroll
    for (int w = 0; w < warps - 1; ++w)
      if (w < warp) {
        E other = memory.first_rows[w][lane];
        rotate_pair(T, other, own[slots + w].c, own[slots + w].s);
      }
    rotate_pair(T, t, own[slots + warp].c, own[slots + warp].s);
    if (warp > first) {
      y[0] = t;
      if (lane == j + 1) memory.elements[warp][0] = t;
    }
    if (warp == warps - 1) triangles[j * width + lane] = lane < j ? E{} : scaled(T, back);
  }
}

}  // namespace devobj::cuda::givens
