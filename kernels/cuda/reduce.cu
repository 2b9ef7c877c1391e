// Sums, minima and maxima: each thread those of its share, whole 16 bytes at a time, then the blocks', then one of all.
// Which thread takes which elements depends on their number alone, so that results are the same bits on every GPU.
#include <math_constants.h>

#include <type_traits>

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/overlapped_launch.cuh"
#include "kernels/prims.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 256, final_threads = 1024;
constexpr std::int64_t most_blocks = 1024;
constexpr int unroll = 4;

template <class T>
struct alignas(16) Pack {
  static constexpr int width = 16 / sizeof(T);
  T element[width];
};

// ---- what is reduced: Value, a thread's share of it, two values ----
// Of 8 blocks an H200 holds the largest grid at once; 32 registers are then left for a thread.

template <class T>
struct Sum {
  using Value = sum_t<T>;
  static constexpr int blocks = 8;
  Value value = 0;
  __device__ explicit Sum(const T*) {}
  static __device__ Value none() { return 0; }
  __device__ void add(T x, std::int64_t) { value += x; }
  __device__ void add(const Pack<T>& x, std::int64_t) {
#pragma unroll
    for (int e = 0; e < Pack<T>::width; ++e) value += x.element[e];
  }
  static __device__ Value join(Value a, Value b) {
    return a + b;
  }
};

/// The smallest or largest element, a NaN before all; of equal ones the first. Every thread begins with the first of all.
template <class T, bool largest>
struct Best {
  using Value = Extremum<T>;
  static constexpr int blocks = sizeof(T) == 4 ? 8 : 6;
  Value value;
  T bar;  // what an element must be beyond: the best so far, or an infinity where that is a NaN and only another NaN is
  __device__ explicit Best(const T* x) { take(*x, 0); }
  static __device__ Value none() { return {T(0), 0}; }
  static __device__ bool is_nan(T x) { return x != x; }
  static __device__ bool beyond(T x, T bar) { return largest ? !(x <= bar) : !(x >= bar); }
  __device__ void take(T x, std::int64_t i) {
    value = {x, i + 1};
    bar = x;
    if constexpr (std::is_floating_point_v<T>)
      if (is_nan(x)) bar = largest ? T(CUDART_INF) : -T(CUDART_INF);
  }
  /// x comes later than what there is, unless it is the first of all.
  __device__ void add(T x, std::int64_t i) {
    if (beyond(x, bar) && !is_nan(value.value)) take(x, i);
  }
  /// Few packs have anything to add: the test comes first.
  __device__ void add(const Pack<T>& x, std::int64_t i) {
    bool better = false;
#pragma unroll
    for (int e = 0; e < Pack<T>::width; ++e) better |= beyond(x.element[e], bar);
    if (!better) return;
#pragma unroll
    for (int e = 0; e < Pack<T>::width; ++e) add(x.element[e], i + e);
  }
  static __device__ Value join(Value a, Value b) {
    if (a.position == 0 || b.position == 0) return a.position == 0 ? b : a;
    const bool a_nan = is_nan(a.value), b_nan = is_nan(b.value);
    if (a_nan != b_nan) return a_nan ? a : b;
    if (a_nan || a.value == b.value) return a.position < b.position ? a : b;
    return (largest ? b.value > a.value : b.value < a.value) ? b : a;
  }
};

template <class T>
__device__ T from_lane(T x, int distance) {
  return __shfl_down_sync(all_lanes, x, distance);
}
template <class T>
__device__ Extremum<T> from_lane(Extremum<T> x, int distance) {
  return {from_lane(x.value, distance), from_lane(x.position, distance)};
}

/// A warp's values put together, in lane 0.
template <class Reduction>
__device__ typename Reduction::Value of_warp(typename Reduction::Value value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value = Reduction::join(value, from_lane(value, distance));
  return value;
}

/// The block's values put together, in thread 0.
template <class Reduction, int block_threads>
__device__ typename Reduction::Value of_block(typename Reduction::Value value) {
  using Value = typename Reduction::Value;
  constexpr int warps = block_threads / warp_size;
  static_assert(warps <= warp_size);
  __shared__ alignas(16) unsigned char memory[warps * sizeof(Value)];
  auto values = reinterpret_cast<Value*>(memory);
  const int warp = static_cast<int>(threadIdx.x) / warp_size, lane = static_cast<int>(threadIdx.x) % warp_size;
  value = of_warp<Reduction>(value);
  if (lane == 0) values[warp] = value;
  __syncthreads();
  if (warp == 0) value = of_warp<Reduction>(lane < warps ? values[lane] : Reduction::none());
  return value;
}

template <class T>
__device__ Pack<T> pack_at(const T* x, std::int64_t at, bool aligned) {
  if (aligned) return reinterpret_cast<const Pack<T>*>(x)[at];
  Pack<T> pack;
#pragma unroll
  for (int e = 0; e < Pack<T>::width; ++e) pack.element[e] = x[at * Pack<T>::width + e];
  return pack;
}

// Thread t of all takes the packs t, t + all threads, ..., four at a time; the elements behind the last whole pack go to the
// first threads.
template <class Reduction, bool aligned, class T>
__global__ void __launch_bounds__(threads, Reduction::blocks)
    share_kernel(const T* x, std::int64_t n, typename Reduction::Value* results) {
  constexpr int width = Pack<T>::width;
  let_next_start();
  const std::int64_t packs = n / width, step = std::int64_t(gridDim.x) * threads;
  const std::int64_t me = std::int64_t(blockIdx.x) * threads + threadIdx.x;
  Reduction share(x);
  std::int64_t p = me;
  for (; p + (unroll - 1) * step < packs; p += unroll * step) {
    Pack<T> pack[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) pack[u] = pack_at(x, p + u * step, aligned);
#pragma unroll
    for (int u = 0; u < unroll; ++u) share.add(pack[u], (p + u * step) * width);
  }
  for (; p < packs; p += step) share.add(pack_at(x, p, aligned), p * width);
  if (const std::int64_t rest = packs * width + me; rest < n) share.add(x[rest], rest);
  const auto value = of_block<Reduction, threads>(share.value);
  if (threadIdx.x == 0) results[blockIdx.x] = value;
}

// One block: all results together, into result. It is placed while the blocks before it work.
template <class Reduction>
__global__ void __launch_bounds__(final_threads)
    final_kernel(const typename Reduction::Value* results, int count, typename Reduction::Value* result) {
  begin_overlapped();
  auto value = static_cast<int>(threadIdx.x) < count ? results[threadIdx.x] : Reduction::none();
  value = of_block<Reduction, final_threads>(value);
  if (threadIdx.x == 0) *result = value;
}

template <class Reduction, class T>
typename Reduction::Value reduce(const char* routine, View<T> x, Queue& q) {
  using Value = typename Reduction::Value;
  static_assert(most_blocks <= final_threads);
  DeviceScope scope(q.device());
  const std::int64_t n = x.size();
  const auto blocks =
      static_cast<unsigned>(std::clamp<std::int64_t>(ceil_div(n, threads * unroll * Pack<T>::width), 1, most_blocks));
  auto* results = static_cast<Value*>(q.scratch((most_blocks + 1) * sizeof(Value)));
  const bool aligned = reinterpret_cast<std::uintptr_t>(x.data) % sizeof(Pack<T>) == 0;
  if (aligned)
    share_kernel<Reduction, true><<<blocks, threads, 0, stream_of(q)>>>(x.data, n, results);
  else
    share_kernel<Reduction, false><<<blocks, threads, 0, stream_of(q)>>>(x.data, n, results);
  const Value* last = results;
  q.launched(routine);
  if (blocks > 1) {
    launch_overlapped(routine, overlap_usable(final_kernel<Reduction>, q.device()), final_kernel<Reduction>, 1, final_threads, 0,
                      q, results, static_cast<int>(blocks), results + most_blocks);
    last = results + most_blocks;
  }
  Value result;
  check(cudaMemcpyAsync(&result, last, sizeof result, cudaMemcpyDeviceToHost, stream_of(q)), routine);
  q.wait();
  return result;
}

}  // namespace

template <class T>
sum_t<T> reduce_sum(View<T> x, Queue& q) {
  return reduce<Sum<T>>("reduce_sum", x, q);
}

template <class T>
Extremum<T> reduce_extremum(bool largest, View<T> x, Queue& q) {
  return largest ? reduce<Best<T, true>>("reduce_max", x, q) : reduce<Best<T, false>>("reduce_min", x, q);
}

#define INSTANTIATE(T)                           \
  template sum_t<T> reduce_sum(View<T>, Queue&); \
  template Extremum<T> reduce_extremum(bool, View<T>, Queue&);
DEVOBJ_FOR_EACH_PRIM(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
