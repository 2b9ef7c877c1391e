// The kernel of segmented scans, and of plain ones of double. A block has a tile; scan_look_back.cuh says what comes before
// it. While the block waits for that, its elements lie in shared memory; in registers, 16 bytes a lane of several rows as
// scan_tiles.cuh has them, too few of double and too few heads would be under way on an SM:
//
//   warp 0   lane 0: 0 1 ... items - 1   lane 1: items ... 2 items - 1   ...   lane 31          (in shared memory)
//   warp 1   ...
//
// A warp copies its own part in and out in pieces of 16 bytes; no other warp touches it. A lane's elements are neighbours,
// and an odd number of them, so that 32 lanes meet no bank of shared memory twice. Heads are read 32 at a time, a bit each
// by ballots.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "kernels/cuda/scan_look_back.cuh"

namespace devobj::cuda {

/// Threads of a block, elements of a thread, and blocks that an SM is to hold.
template <int threads_, int items_, int blocks_>
struct ScanItems {
  static constexpr int threads = threads_, items = items_, blocks = blocks_;
  template <class T>
  static constexpr std::int64_t tile = std::int64_t(threads) * items;
  template <class T>
  static constexpr std::size_t shared_bytes = tile<T> * sizeof(T);
  static_assert(items % 2 == 1 && items < warp_size);
};

/// A warp's part of x on its way into shared memory; elements from n on are 0. aligned: it lies at a multiple of 16 bytes.
template <int count, class T>
__device__ void copy_in(T* part, const T* x, std::int64_t n, bool aligned, int lane) {
  constexpr int pieces = count * sizeof(T) / 16;
  if (aligned && n >= count) {
#pragma unroll
    for (int j = 0; j < pieces; j += warp_size)
      if (j + warp_size <= pieces || j + lane < pieces)
        __pipeline_memcpy_async(reinterpret_cast<uint4*>(part) + j + lane, reinterpret_cast<const uint4*>(x) + j + lane,
                                16);
  } else {
    for (int j = lane; j < count; j += warp_size)
      if (j < n)
        __pipeline_memcpy_async(part + j, x + j, sizeof(T));
      else
        part[j] = 0;
  }
  __pipeline_commit();
}
template <int count, class T>
__device__ void copy_out(T* y, const T* part, std::int64_t n, bool aligned, int lane) {
  constexpr int pieces = count * sizeof(T) / 16;
  if (aligned && n >= count) {
#pragma unroll
    for (int j = 0; j < pieces; j += warp_size)
      if (j + warp_size <= pieces || j + lane < pieces)
        reinterpret_cast<uint4*>(y)[j + lane] = reinterpret_cast<const uint4*>(part)[j + lane];
  } else {
    for (int j = lane; j < count; j += warp_size)
      if (j < n) y[j] = part[j];
  }
}

/// Bit e: a segment starts at element e of the lane's `items`. heads: the warp's, n of them.
template <int items>
__device__ unsigned starts_of_lane(const std::int32_t* heads, std::int64_t n, int lane) {
  const bool full = n >= items * warp_size;
  std::int32_t head[items];
#pragma unroll
  for (int j = 0; j < items; ++j) head[j] = full || j * warp_size + lane < n ? heads[j * warp_size + lane] : 0;
  unsigned word = 0;  // lane j's has the bits of elements 32 j ... 32 j + 31
#pragma unroll
  for (int j = 0; j < items; ++j) {
    const unsigned bits = __ballot_sync(0xffffffffu, head[j] != 0);
    if (lane == j) word = bits;
  }
  const int first = lane * items;
  const unsigned low = from_lane(word, first / warp_size), high = from_lane(word, first / warp_size + 1);
  return __funnelshift_r(low, high, first % warp_size) & ((1u << items) - 1);
}

/// y = the scan of x; with segments, these start where heads is not 0. aligned: x and y lie at multiples of 16 bytes.
template <class Shape, class T, bool segmented, bool exclusive>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    scan_shared_kernel(const T* x, const std::int32_t* heads, T* y, std::int64_t n, bool aligned, Letters<T> letters) {
  constexpr int items = Shape::items, count = items * warp_size, warps = Shape::threads / warp_size;
  using R = Run<T, segmented>;
  using A = arithmetic_t<T>;
  extern __shared__ uint4 memory[];
  __shared__ A warp_sums[warps];
  __shared__ bool warp_heads[warps];
  __shared__ Findings<T, segmented> found;
  const R none = run_of<T, segmented>(0, false);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t first = blockIdx.x * Shape::template tile<T> + warp * count;
  T* const part = reinterpret_cast<T*>(memory) + warp * count;
  T* const own = part + lane * items;

  copy_in<count>(part, x + first, n - first, aligned, lane);
  unsigned starts = 0;
  if constexpr (segmented) starts = starts_of_lane<items>(heads + first, n - first, lane);
  __pipeline_wait_prior(0);
  __syncwarp();

  R sum_of_lane = none;
#pragma unroll
  for (int e = 0; e < items; ++e)
    sum_of_lane = joined(sum_of_lane, run_of<T, segmented>(static_cast<A>(own[e]), starts >> e & 1));
  const Scanned<T, segmented> lanes = scan_lanes(sum_of_lane, lane);
  if (threadIdx.x == 0) nothing_found(found);
  if (lane == 0) {
    warp_sums[warp] = lanes.all.sum;
    if constexpr (segmented) warp_heads[warp] = lanes.all.head;
  }
  __syncthreads();
  R whole = none, warps_before = none;
#pragma unroll
  for (int w = 0; w < warps; ++w) {
    if (w == warp) warps_before = whole;
    whole = joined(whole, run_of<T, segmented>(warp_sums[w], segmented && warp_heads[w]));
  }
  const R start = joined(before_tile<T, segmented>(letters, blockIdx.x, whole, found, warp, lane), warps_before);

  A sum = joined(start, lanes.before).sum;
#pragma unroll
  for (int e = 0; e < items; ++e) {
    if (segmented && (starts >> e & 1)) sum = 0;
    const A after = sum + static_cast<A>(own[e]);
    own[e] = static_cast<T>(exclusive ? sum : after);
    sum = after;
  }
  __syncwarp();
  copy_out<count>(y + first, part, n - first, aligned, lane);
}

}  // namespace devobj::cuda
