// The kernel of plain scans of elements of 4 bytes. A block has a tile; scan_look_back.cuh says what comes before it.
//
// Within a tile elements stay in the registers of the lane that loads and stores them, 16 bytes at a time:
//
//   warp 0   row 0   lane 0: 0 1 2 3   lane 1: 4 5 6 7   ...   lane 31: 124 125 126 127
//            row 1   lane 0: 128 ...
//            ...
//   warp 1   row 0   ...
//
// A lane adds up its elements of a row, a warp scans the lanes' sums by shuffles, then rows and warps follow each other.
#pragma once

#include "kernels/cuda/scan_look_back.cuh"

namespace devobj::cuda {

template <class T, int width>
struct alignas(width * sizeof(T)) ScanPack {
  T element[width];
};
/// Elements i ... i + width - 1 of x; those from n on are 0.
template <bool aligned, int width, class T>
__device__ ScanPack<T, width> load_pack(const T* x, std::int64_t i, std::int64_t n, bool full) {
  if (aligned && full) return *reinterpret_cast<const ScanPack<T, width>*>(x + i);
  ScanPack<T, width> pack;
#pragma unroll
  for (int e = 0; e < width; ++e) pack.element[e] = full || i + e < n ? x[i + e] : T(0);
  return pack;
}
template <bool aligned, int width, class T>
__device__ void store_pack(T* y, std::int64_t i, std::int64_t n, bool full, const ScanPack<T, width>& pack) {
  if (aligned && full) {
    *reinterpret_cast<ScanPack<T, width>*>(y + i) = pack;
    return;
  }
#pragma unroll
  for (int e = 0; e < width; ++e)
    if (full || i + e < n) y[i + e] = pack.element[e];
}

/// Threads of a block, rows of a warp, and blocks that an SM is to hold.
template <int threads_, int rows_, int blocks_>
struct ScanRows {
  static constexpr int threads = threads_, rows = rows_, blocks = blocks_;
  template <class T>
  static constexpr std::int64_t tile = std::int64_t(threads) * rows*(16 / sizeof(T));
};

/// y = the scan of x. aligned: x and y lie at multiples of 16 bytes.
template <class Shape, class T, bool exclusive, bool aligned>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    scan_rows_kernel(const T* x, T* y, std::int64_t n, Letters<T> letters) {
  constexpr int width = 16 / sizeof(T), rows = Shape::rows, warps = Shape::threads / warp_size;
  using R = Run<T, false>;
  using A = arithmetic_t<T>;
  __shared__ A warp_sums[warps];
  __shared__ Findings<T, false> found;
  const R none{0};
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t tile = blockIdx.x;
  const bool full = (tile + 1) * Shape::template tile<T> <= n;
  const std::int64_t first = tile * Shape::template tile<T> + (warp * rows * warp_size + lane) * width;

  ScanPack<T, width> item[rows];
#pragma unroll
  for (int k = 0; k < rows; ++k) item[k] = load_pack<aligned, width>(x, first + k * warp_size * width, n, full);

  // what comes before the lane's part of a row, from the beginning of the warp's part on
  A before[rows];
  R part = none;
#pragma unroll
  for (int k = 0; k < rows; ++k) {
    R own{static_cast<A>(item[k].element[0])};
#pragma unroll
    for (int e = 1; e < width; ++e) own.sum += static_cast<A>(item[k].element[e]);
    const Scanned<T, false> row = scan_lanes(own, lane);
    before[k] = joined(part, row.before).sum;
    part = joined(part, row.all);
  }

  if (threadIdx.x == 0) nothing_found(found);
  if (lane == 0) warp_sums[warp] = part.sum;
  __syncthreads();
  R whole = none, warps_before = none;
#pragma unroll
  for (int w = 0; w < warps; ++w) {
    if (w == warp) warps_before = whole;
    whole.sum += warp_sums[w];
  }
  const R start = joined(before_tile<T, false>(letters, tile, whole, found, warp, lane), warps_before);
#pragma unroll
  for (int k = 0; k < rows; ++k) {
    A sum = start.sum + before[k];
#pragma unroll
    for (int e = 0; e < width; ++e) {
      const A after = sum + static_cast<A>(item[k].element[e]);
      item[k].element[e] = static_cast<T>(exclusive ? sum : after);
      sum = after;
    }
    store_pack<aligned, width>(y, first + k * warp_size * width, n, full, item[k]);
  }
}

}  // namespace devobj::cuda
