// Tiles to triangles: see givens_tile.cuh.
#pragma once

#include "kernels/cuda/givens_tile.cuh"
#include "kernels/cuda/overlapped_launch.cuh"

namespace devobj::cuda::givens {

/// A ninth warp makes the rotations of the warps' first rows, while these turn their own.
inline constexpr int up_threads = threads + warp_size;

/// What a block has in shared memory on the way up.
template <class E, int slots>
struct UpMemory {
  Rotation<E> rotations[warps][slots];  // of a column
  Rotation<E> of_warps[warps];          // of the warps' first rows
  E elements[warps][slots];             // the next column's
  E first_rows[2][warps][width];  // t of each warp's chain, two places in turn: some are read while others are made
  real_e<E> sums[warps];          // their elements' squares
  real_e<E> sizes[warps][width];  // largest elements
};
/// The barrier at which the ninth warp waits for the others' sums; they do not.
__device__ inline void sums_are_stored() {
  asm volatile("bar.arrive 1, %0;" ::"n"(up_threads) : "memory");
}
__device__ inline void wait_for_sums() {
  asm volatile("bar.sync 1, %0;" ::"n"(up_threads) : "memory");
}
/// By the ninth warp before the barrier of all, which alone would do: without it compute-sanitizer 2025.3 reports as hazards
/// what this warp accesses before that barrier and others after it (so in a program of forty lines).
__device__ inline void meet_alone() {
  asm volatile("bar.sync 2, %0;" ::"n"(warp_size) : "memory");
}
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

/// A warp's rows of the tile that begins at row0, columns beyond A's last as zeros. All threads of the block call.
template <class E, int slots>
__device__ void load_rows_of_matrix(Block<E> A, std::int64_t row0, E (&y)[slots], E* memory) {
  constexpr int tile_rows = warps * slots;
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  auto& staged = *reinterpret_cast<E(*)[tile_rows][width + 1]>(memory);
#pragma unroll 8
  for (int e = threadIdx.x; e < tile_rows * width; e += up_threads) {
    const int i = e % tile_rows, j = e / tile_rows;
    staged[i][j] = row0 + i < A.rows && j < A.cols ? A(row0 + i, j) : E{};
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < slots; ++i) y[i] = warp < warps ? staged[warp * slots + i][lane] : E{};
  __syncthreads();
}
/// The same of triangles by rows.
template <class E, int slots>
__device__ void load_rows_of_triangles(Block<E> A, std::int64_t row0, E (&y)[slots]) {
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
#pragma unroll
  for (int i = 0; i < slots; ++i) {
    const std::int64_t row = row0 + warp * slots + i;
    y[i] = warp < warps && row < A.cols ? A(lane, row) : E{};
  }
}
/// Multiplies each column by a power of two, which it returns.
template <class E, int slots>
__device__ int scale_columns(E (&y)[slots], UpMemory<E, slots>& memory) {
  using Real = real_e<E>;
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  Real size = 0;
#pragma unroll
  for (int i = 0; i < slots; ++i) size = fmax(size, larger_part(y[i]));
  if (warp < warps) memory.sizes[warp][lane] = size;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < warps; ++w) size = fmax(size, memory.sizes[w][lane]);
  const int exponent = scaling_exponent(size);
  const Real up = ColumnRange<Real>::power(exponent);
#pragma unroll
  for (int i = 0; i < slots; ++i) y[i] = scaled(y[i], up);
  return exponent;
}

/// The ninth warp: the rotations of the warps' first rows in all columns.
template <class E, int slots>
__device__ void turn_warps(UpMemory<E, slots>& memory, Rotation<E>* rotations) {
  const int lane = threadIdx.x % warp_size;
#pragma unroll 1
  for (int j = 0; j < width; ++j) {
    wait_for_sums();
    const Rotation<E> r = rotation_of_warps<E>(memory.sums, lane, j / slots);
    if (lane < warps) rotations[j * rotations_of_column<slots> + warps * slots + lane] = memory.of_warps[lane] = r;
    meet_alone();
    __syncthreads();
  }
}

// A block takes a tile to a triangle, which it stores by rows, and keeps the rotations. The tile is 8 * slots rows of A
// (columns beyond the last are zeros) or, if A is of triangles by rows, up to 8 of them.
template <class E, int slots, bool of_triangles>
__global__ void __launch_bounds__(up_threads)
    up_kernel(Block<E> A, Rotation<E>* __restrict__ rotations, E* __restrict__ triangles) {
  using Real = real_e<E>;
  constexpr int stride = rotations_of_column<slots>;
  extern __shared__ double2 dynamic[];
  auto& memory = *reinterpret_cast<UpMemory<E, slots>*>(dynamic);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t row0 = std::int64_t(blockIdx.x) * warps * slots;
  rotations += std::int64_t(blockIdx.x) * rotations_of_tile<slots>;
  triangles += std::int64_t(blockIdx.x) * width * width;

  begin_overlapped();
  E y[slots];
  if constexpr (of_triangles)
    load_rows_of_triangles(A, row0, y);
  else
    load_rows_of_matrix(A, row0, y, reinterpret_cast<E*>(dynamic));
  const Real back = ColumnRange<Real>::power(-scale_columns(y, memory));
  if (warp == warps) return turn_warps(memory, rotations);
  Rotation<E>* const own = memory.rotations[warp];
  E* const elements = memory.elements[warp];
#pragma unroll
  for (int i = 0; i < slots; ++i)
    if (lane == 0) elements[i] = y[i];
#pragma unroll 1
  for (int j = 0; j < width; ++j) {
    const int first = j / slots, finished = min(max(j - warp * slots, 0), slots);
    __syncwarp();
    E x = lane < slots && lane >= finished ? elements[lane] : E{};
    Real sum = square(x);
    if (sum < ColumnRange<Real>::low) {
      sum = 0;
      x = E{};
    }
    sum = sum_up_to<slots>(sum, lane);
    if (lane == slots - 1) memory.sums[warp] = sum;
    __syncwarp();
    sums_are_stored();
    const Rotation<E> made = rotation_of_chain(x, sum, lane, finished);
    if (lane < slots) rotations[j * stride + warp * slots + lane] = own[lane] = made;
    __syncwarp();
    // the warp's chain
    E t{};
    Rotation<E> now[group<E>], next[group<E>];
    read(own, next);
#pragma unroll
    for (int i = 0; i < slots; ++i) {
      const int u = i % group<E>;
      if (u == 0) {
        if (of_triangles && i > j + 1) break;
#pragma unroll
        for (int v = 0; v < group<E>; ++v) now[v] = next[v];
        if (i + group<E> < slots) read(own + i + group<E>, next);
      }
      rotate_pair(t, y[i], now[u].c, now[u].s);
      if (lane == j + 1) elements[i] = y[i];
    }
    auto& first_rows = memory.first_rows[j % 2];
    first_rows[warp][lane] = t;
    __syncthreads();
    // the chain of warps, up to this one
    E T{}, others[warps];
    Rotation<E> turns[warps];
    read(memory.of_warps, turns);
#pragma unroll
    for (int w = 0; w < warps - 1; ++w) others[w] = first_rows[w][lane];
#pragma unroll
    for (int w = 0; w < warps - 1; ++w)
      if (w < warp) rotate_pair(T, others[w], turns[w].c, turns[w].s);
    const Rotation<E> last = memory.of_warps[warp];
    rotate_pair(T, t, last.c, last.s);
    if (warp > first) {
      y[0] = t;
      if (lane == j + 1) elements[0] = t;
    }
    if (warp == warps - 1) triangles[j * width + lane] = lane < j ? E{} : scaled(T, back);
  }
}

}  // namespace devobj::cuda::givens
