// Scans, plain and segmented. Integers without segments go to CUB. CUB's sums of floating-point numbers differ in the last
// bits from run to run, since its blocks add up whatever their predecessors have ready; here the order is fixed, and x
// is read once and y written once all the same:
//
//   x      [tile][tile] ... [tile] [tile][tile] ... [tile] ...     a block has a tile
//           group 0: 32 tiles       group 1
//
// A block scans its tile and publishes the tile's sum. What comes before the tile is P(g), the sum of the groups before
// its own, and the sum of the tiles before it in its group. The last block of a group publishes the group's sum S(g), and
// P(g + 1) = P(g) + S(g) once it knows P(g). A block that needs P(g) takes the nearest P that is there and adds the S between,
// from the left to the right: (P(h) + S(h)) + S(h + 1) + ... is the same number whatever h it was.
#include <cuda/atomic>
#include <type_traits>

#include "kernels/cuda/grid.cuh"
// CUB in its own namespace comes before any other CUB
#include "kernels/cuda/cub.cuh"
#include "kernels/prims.hpp"
// and then its parts
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/warp/warp_exchange.cuh>

namespace devobj::cuda {
namespace {

constexpr int threads = 256, warps = threads / warp_size;
constexpr int group_tiles = warp_size;

/// Elements of a thread in a tile; with segments a divisor of 32.
template <class T, bool segmented> constexpr int items = sizeof(T) == 4 ? (segmented ? 16 : 24) : segmented ? 8 : 12;

/// int32 wraps around.
template <class T> using arithmetic_t = std::conditional_t<std::is_integral_v<T>, std::uint32_t, T>;

/// Some neighbouring elements as a sum sees them: their sum, from the last start of a segment on, and whether there is one.
template <class T, bool segmented> struct Run;
template <class T> struct Run<T, false> {
  arithmetic_t<T> sum;
};
template <class T> struct Run<T, true> {
  arithmetic_t<T> sum;
  int head;
};
template <class T, bool segmented> __device__ Run<T, segmented> run_of(arithmetic_t<T> sum, bool head) {
  if constexpr (segmented) return {sum, head};
  else return {sum};
}

__device__ inline std::uint64_t bits_of(std::uint32_t x) { return x; }
__device__ inline std::uint64_t bits_of(float x) { return __float_as_uint(x); }
__device__ inline std::uint64_t bits_of(double x) { return static_cast<std::uint64_t>(__double_as_longlong(x)); }
template <class A> __device__ A number_of(std::uint64_t bits) {
  if constexpr (std::is_same_v<A, float>) return __uint_as_float(static_cast<std::uint32_t>(bits));
  else if constexpr (std::is_same_v<A, double>) return __longlong_as_double(static_cast<long long>(bits));
  else return static_cast<A>(bits);
}

/// A tile's run on its way to the other blocks: words of 32 bits of the sum, with a mark that they are there and whether
/// there is a head. Each word is written and read as a whole, so that nothing has to be fenced.
template <class T> struct Letter {
  static constexpr int words = sizeof(T) / 4;
  std::uint64_t word[words];
};
constexpr std::uint64_t mark = std::uint64_t(1) << 32, head_mark = std::uint64_t(2) << 32;

__device__ inline void write_word(std::uint64_t* to, std::uint64_t word) {
  ::cuda::atomic_ref<std::uint64_t, ::cuda::thread_scope_device>(*to).store(word, ::cuda::memory_order_relaxed);
}
__device__ inline std::uint64_t read_word(std::uint64_t* from) {
  return ::cuda::atomic_ref<std::uint64_t, ::cuda::thread_scope_device>(*from).load(::cuda::memory_order_relaxed);
}
template <class T, bool segmented> __device__ void write_letter(Letter<T>* to, Run<T, segmented> run) {
  std::uint64_t marks = mark;
  if constexpr (segmented) marks |= run.head ? head_mark : 0;
  const std::uint64_t bits = bits_of(run.sum);
  write_word(to->word, marks | (bits & 0xffffffffu));
  if constexpr (sizeof(T) == 8) write_word(to->word + 1, marks | bits >> 32);
}
/// True if the letter is there; then `run` is what it says.
template <class T, bool segmented> __device__ bool read_letter(Letter<T>* from, Run<T, segmented>& run) {
  const std::uint64_t first = read_word(from->word), last = sizeof(T) == 8 ? read_word(from->word + Letter<T>::words - 1) : first;
  if ((first & last & mark) == 0) return false;
  std::uint64_t bits = first & 0xffffffffu;
  if constexpr (sizeof(T) == 8) bits |= last << 32;
  run = run_of<T, segmented>(number_of<arithmetic_t<T>>(bits), (first & head_mark) != 0);
  return true;
}

__device__ inline std::uint32_t shuffle(std::uint32_t x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }
__device__ inline float shuffle(float x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }
__device__ inline double shuffle(double x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }
/// The lane's run; all lanes of a warp take part.
template <class T, bool segmented> __device__ Run<T, segmented> shuffle(Run<T, segmented> run, int lane) {
  if constexpr (segmented) return {shuffle(run.sum, lane), __shfl_sync(0xffffffffu, run.head, lane)};
  else return {shuffle(run.sum, lane)};
}

template <class T, bool segmented> struct Joined {
  using R = Run<T, segmented>;
  /// The run a followed by the run b.
  __device__ R operator()(R a, R b) const {
    if constexpr (segmented) return {b.head ? b.sum : a.sum + b.sum, a.head | b.head};
    else return {a.sum + b.sum};
  }
};

/// Where the blocks leave their letters: of the tiles, of the groups' sums S(g), and of P(g + 1).
template <class T> struct Letters {
  Letter<T> *tiles, *sums, *before;
};

/// P(g), found by a warp.
template <class T, bool segmented>
__device__ Run<T, segmented> before_group(Letters<T> letters, std::int64_t g, int lane) {
  using R = Run<T, segmented>;
  const Joined<T, segmented> joined;
  R run = run_of<T, segmented>(0, false);
  if (g == 0) return run;
  // lane l looks at group g - 1 - l: for P behind it, or else its S
  const std::int64_t h = g - 1 - lane;
  bool whole = h < 0, part = false;  // before the first group there is nothing
  unsigned nearest;
  for (;;) {
    if (!whole) whole = read_letter<T, segmented>(letters.before + h, run);
    if (!whole && !part) part = read_letter<T, segmented>(letters.sums + h, run);
    const unsigned wholes = __ballot_sync(0xffffffffu, whole), parts = __ballot_sync(0xffffffffu, whole || part);
    nearest = wholes & -wholes;  // a bit; those below it are between
    if (wholes != 0 && ((nearest - 1) & ~parts) == 0) break;
  }
  int from = __ffs(nearest) - 1;
  R sum = shuffle(run, from);
  while (--from >= 0) sum = joined(sum, shuffle(run, from));
  return sum;
}

template <class T, bool segmented, bool exclusive>
__global__ void __launch_bounds__(threads)
    scan_kernel(const T* x, const std::int32_t* heads, T* y, std::int64_t n, Letters<T> letters) {
  constexpr int count = items<T, segmented>;
  constexpr std::int64_t warp_items = std::int64_t(warp_size) * count, tile_items = warps * warp_items;
  using R = Run<T, segmented>;
  using Exchange = cub::WarpExchange<T, count, warp_size>;
  using TileScan = cub::BlockScan<R, threads>;
  __shared__ typename Exchange::TempStorage exchange[warps];
  __shared__ typename TileScan::TempStorage tile_scan;
  __shared__ alignas(16) unsigned char prefix_memory[sizeof(R)];
  R& prefix = *reinterpret_cast<R*>(prefix_memory);
  const Joined<T, segmented> joined;
  const R none = run_of<T, segmented>(0, false);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t tile = blockIdx.x, first = tile * tile_items + warp * warp_items + lane;
  const bool full = (tile + 1) * tile_items <= n;

  // The warp's part of the tile: element k of a lane is number k * 32 + lane, ...
  T item[count];
  std::int32_t item_heads[segmented ? count : 1];
#pragma unroll
  for (int k = 0; k < count; ++k) {
    const std::int64_t i = first + k * warp_size;
    item[k] = full || i < n ? x[i] : T(0);
    if constexpr (segmented) item_heads[k] = full || i < n ? heads[i] : 0;
  }
  // ... and then number lane * count + k: neighbours.
  Exchange(exchange[warp]).StripedToBlocked(item, item);
  unsigned starts = 0;  // bit k: a segment starts at item k
  if constexpr (segmented) {
    unsigned word = 0;  // lane k has the bits of elements 32 k ... 32 k + 31
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const unsigned bits = __ballot_sync(0xffffffffu, item_heads[k] != 0);
      if (lane == k) word = bits;
    }
    starts = __shfl_sync(0xffffffffu, word, lane * count / warp_size) >> (lane * count % warp_size);
  }

  R own = none;
#pragma unroll
  for (int k = 0; k < count; ++k)
    own = joined(own, run_of<T, segmented>(static_cast<arithmetic_t<T>>(item[k]), starts >> k & 1));
  R before, whole;
  TileScan(tile_scan).ExclusiveScan(own, before, none, joined, whole);

  if (warp == 0) {
    if (lane == 0) write_letter<T, segmented>(letters.tiles + tile, whole);
    // lane l takes tile l of the group; `here` becomes their sum up to lane l
    const std::int64_t group = tile / group_tiles;
    const int place = static_cast<int>(tile % group_tiles);
    R here = lane == place ? whole : none;
    if (lane < place)
      while (!read_letter<T, segmented>(letters.tiles + group * group_tiles + lane, here)) {
      }
    for (int distance = 1; distance < warp_size; distance *= 2) {
      const R left = shuffle(here, lane - distance < 0 ? 0 : lane - distance);
      if (lane >= distance) here = joined(left, here);
    }
    const R sum = shuffle(here, place);
    const R inside = place == 0 ? none : shuffle(here, place - 1);
    const bool last = place == group_tiles - 1;
    if (last && lane == 0) write_letter<T, segmented>(letters.sums + group, sum);
    const R groups = before_group<T, segmented>(letters, group, lane);
    if (last && lane == 0) write_letter<T, segmented>(letters.before + group, joined(groups, sum));
    if (lane == 0) prefix = joined(groups, inside);
  }
  __syncthreads();

  arithmetic_t<T> sum = joined(prefix, before).sum;
#pragma unroll
  for (int k = 0; k < count; ++k) {
    if (segmented && (starts >> k & 1)) sum = 0;
    const arithmetic_t<T> after = sum + static_cast<arithmetic_t<T>>(item[k]);
    item[k] = static_cast<T>(exclusive ? sum : after);
    sum = after;
  }
  __syncwarp();
  Exchange(exchange[warp]).BlockedToStriped(item, item);
#pragma unroll
  for (int k = 0; k < count; ++k)
    if (const std::int64_t i = first + k * warp_size; full || i < n) y[i] = item[k];
}

template <class T, bool segmented, bool exclusive>
void launch(const char* routine, View<T> x, const std::int32_t* heads, View<T> y, Queue& q) {
  DeviceScope scope(q.device());
  const std::int64_t n = x.size(), tiles = ceil_div(n, std::int64_t(threads) * items<T, segmented>);
  const std::int64_t groups = ceil_div(tiles, group_tiles);
  const std::size_t bytes = static_cast<std::size_t>(tiles + 2 * groups) * sizeof(Letter<T>);
  Letters<T> letters;
  letters.tiles = static_cast<Letter<T>*>(q.scratch(bytes));
  letters.sums = letters.tiles + tiles;
  letters.before = letters.sums + groups;
  check(cudaMemsetAsync(letters.tiles, 0, bytes, stream_of(q)), routine);
  // Blocks start in the order of their numbers, so that what a block waits for has started.
  scan_kernel<T, segmented, exclusive>
      <<<static_cast<unsigned>(tiles), threads, 0, stream_of(q)>>>(x.data, heads, y.data, n, letters);
  q.launched(routine);
}

/// y = the scan of x by CUB; sums wrap around.
template <bool exclusive> void scan_integers(View<std::int32_t> x, View<std::int32_t> y, Queue& q) {
  DeviceScope scope(q.device());
  const auto* from = reinterpret_cast<const std::uint32_t*>(x.data);
  auto* to = reinterpret_cast<std::uint32_t*>(y.data);
  void* front = nullptr;
  call_cub("scan", x.size(), 0, q, front, [&](void* memory, std::size_t& bytes) {
    if constexpr (exclusive) return cub::DeviceScan::ExclusiveSum(memory, bytes, from, to, x.size(), stream_of(q));
    else return cub::DeviceScan::InclusiveSum(memory, bytes, from, to, x.size(), stream_of(q));
  });
}

}  // namespace

template <class T> void scan(Scan kind, View<T> x, View<T> y, Queue& q) {
  const bool exclusive = kind == Scan::exclusive;
  if constexpr (std::is_integral_v<T>) return exclusive ? scan_integers<true>(x, y, q) : scan_integers<false>(x, y, q);
  else if (exclusive) launch<T, false, true>("scan", x, nullptr, y, q);
  else launch<T, false, false>("scan", x, nullptr, y, q);
}

template <class T> void segmented_scan(Scan kind, View<T> x, View<std::int32_t> heads, View<T> y, Queue& q) {
  if (kind == Scan::exclusive) launch<T, true, true>("segmented_scan", x, heads.data, y, q);
  else launch<T, true, false>("segmented_scan", x, heads.data, y, q);
}

#define INSTANTIATE(T)                                \
  template void scan(Scan, View<T>, View<T>, Queue&); \
  template void segmented_scan(Scan, View<T>, View<std::int32_t>, View<T>, Queue&);
DEVOBJ_FOR_EACH_PRIM(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
