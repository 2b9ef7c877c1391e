// What the blocks of a scan tell each other. CUB's sums of floating-point numbers differ in the last bits from run to run,
// since its blocks add up whatever their predecessors have ready; here the order is fixed, and x is read once and y written
// once all the same:
//
//   x      [tile][tile] ... [tile] [tile][tile] ... [tile] ...     a block has a tile
//           group 0: 32 tiles       group 1
//
// A block scans its tile and publishes the tile's sum. What comes before the tile is P(g), the sum of the groups before
// its own, and the sum of the tiles before it in its group. The last block of a group publishes the group's sum S(g), and
// P(g + 1) = P(g) + S(g) once it knows P(g). A block that needs P(g) takes the nearest P that is there and adds the S between,
// from the left to the right: (P(h) + S(h)) + S(h + 1) + ... is the same number whatever h it was.
#pragma once

#include <cuda/atomic>
#include <type_traits>

#include "kernels/cuda/grid.cuh"

namespace devobj::cuda {

constexpr int group_tiles = warp_size;

/// int32 wraps around.
template <class T>
using arithmetic_t = std::conditional_t<std::is_integral_v<T>, std::uint32_t, T>;

/// Some neighbouring elements as a sum sees them: their sum, from the last start of a segment on, and whether there is one.
template <class T, bool segmented>
struct Run;
template <class T>
struct Run<T, false> {
  arithmetic_t<T> sum;
};
template <class T>
struct Run<T, true> {
  arithmetic_t<T> sum;
  bool head;
};
template <class T, bool segmented>
__device__ Run<T, segmented> run_of(arithmetic_t<T> sum, bool head) {
  if constexpr (segmented)
    return {sum, head};
  else
    return {sum};
}
/// The run a followed by the run b.
template <class T, bool segmented>
__device__ Run<T, segmented> joined(Run<T, segmented> a, Run<T, segmented> b) {
  if constexpr (segmented)
    return {b.head ? b.sum : a.sum + b.sum, a.head || b.head};
  else
    return {a.sum + b.sum};
}

// ---- letters between blocks ----

__device__ inline std::uint64_t bits_of(std::uint32_t x) {
  return x;
}
__device__ inline std::uint64_t bits_of(float x) {
  return __float_as_uint(x);
}
__device__ inline std::uint64_t bits_of(double x) {
  return static_cast<std::uint64_t>(__double_as_longlong(x));
}
template <class A>
__device__ A number_of(std::uint64_t bits) {
  if constexpr (std::is_same_v<A, float>)
    return __uint_as_float(static_cast<std::uint32_t>(bits));
  else if constexpr (std::is_same_v<A, double>)
    return __longlong_as_double(static_cast<long long>(bits));
  else
    return static_cast<A>(bits);
}

/// A tile's run on its way to the other blocks: words of 32 bits of the sum, with a mark that they are there and whether
/// there is a head. Each word is written and read as a whole, so that nothing has to be fenced.
template <class T>
struct Letter {
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
template <class T, bool segmented>
__device__ void write_letter(Letter<T>* to, Run<T, segmented> run) {
  std::uint64_t marks = mark;
  if constexpr (segmented) marks |= run.head ? head_mark : 0;
  const std::uint64_t bits = bits_of(run.sum);
  write_word(to->word, marks | (bits & 0xffffffffu));
  if constexpr (sizeof(T) == 8) write_word(to->word + 1, marks | bits >> 32);
}
/// True if the letter is there; then `run` is what it says.
template <class T, bool segmented>
__device__ bool read_letter(Letter<T>* from, Run<T, segmented>& run) {
  const std::uint64_t first = read_word(from->word),
                      last = sizeof(T) == 8 ? read_word(from->word + Letter<T>::words - 1) : first;
  if ((first & last & mark) == 0) return false;
  std::uint64_t bits = first & 0xffffffffu;
  if constexpr (sizeof(T) == 8) bits |= last << 32;
  run = run_of<T, segmented>(number_of<arithmetic_t<T>>(bits), (first & head_mark) != 0);
  return true;
}

/// Where the blocks leave their letters: of the tiles, of the groups' sums S(g), and of P(g + 1).
template <class T>
struct Letters {
  Letter<T>*tiles, *sums, *before;
};

// ---- within a warp; all lanes take part ----

template <class A>
__device__ A from_lane(A x, int lane) {
  return __shfl_sync(0xffffffffu, x, lane);
}
template <class T, bool segmented>
__device__ Run<T, segmented> from_lane(Run<T, segmented> run, int lane) {
  if constexpr (segmented)
    return {from_lane(run.sum, lane), from_lane(int(run.head), lane) != 0};
  else
    return {from_lane(run.sum, lane)};
}

/// What lies left of a lane, and all lanes.
template <class T, bool segmented>
struct Scanned {
  Run<T, segmented> before, all;
};
/// The scan of the lanes' runs. With segments a lane adds only what lies not left of the nearest start, `reach` lanes away.
template <class T, bool segmented>
__device__ Scanned<T, segmented> scan_lanes(Run<T, segmented> own, int lane) {
  auto sum = own.sum;
  int reach = lane;
  unsigned heads = 0;
  if constexpr (segmented) {
    heads = __ballot_sync(0xffffffffu, own.head);
    const unsigned here = heads & (0xffffffffu >> (warp_size - 1 - lane));
    if (here != 0) reach = lane - (warp_size - 1 - __clz(static_cast<int>(here)));
  }
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2) {
    const auto left = __shfl_up_sync(0xffffffffu, sum, distance);
    if (distance <= reach) sum = left + sum;
  }
  const auto left = __shfl_up_sync(0xffffffffu, sum, 1);
  const auto all = from_lane(sum, warp_size - 1);
  const bool head_before = (heads & ((1u << lane) - 1)) != 0;
  return {run_of<T, segmented>(lane == 0 ? 0 : left, head_before), run_of<T, segmented>(all, heads != 0)};
}

template <int nanoseconds>
__device__ void pause() {
  if constexpr (nanoseconds > 0) __nanosleep(nanoseconds);
}

/// P(g), found by a warp.
template <int wait_ns, class T, bool segmented>
__device__ Run<T, segmented> before_group(Letters<T> letters, std::int64_t g, int lane) {
  using R = Run<T, segmented>;
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
    pause<wait_ns>();
  }
  int from = __ffs(static_cast<int>(nearest)) - 1;
  R sum = from_lane(run, from);
  // eight shuffles under way at a time
  for (constexpr int at_once = 8; from > 0; from -= at_once) {
#pragma unroll
    for (int k = 1; k <= at_once; ++k) {
      const R next = from_lane(run, from >= k ? from - k : 0);
      if (k <= from) sum = joined(sum, next);
    }
  }
  return sum;
}

/// What lies before the tile whose run is `whole`, found by a warp; publishes what the block has to.
template <int wait_ns, class T, bool segmented>
__device__ Run<T, segmented> before_tile(Letters<T> letters, std::int64_t tile, Run<T, segmented> whole, int lane) {
  using R = Run<T, segmented>;
  const R none = run_of<T, segmented>(0, false);
  if (lane == 0) write_letter<T, segmented>(letters.tiles + tile, whole);
  // lane l takes tile l of the group
  const std::int64_t group = tile / group_tiles;
  const int place = static_cast<int>(tile % group_tiles);
  R here = none;
  if (lane < place)
    while (!read_letter<T, segmented>(letters.tiles + group * group_tiles + lane, here)) pause<wait_ns>();
  __syncwarp();
  const R inside = scan_lanes(here, lane).all;
  const bool last = place == group_tiles - 1;
  const R sum = joined(inside, whole);
  if (last && lane == 0) write_letter<T, segmented>(letters.sums + group, sum);
  const R groups = before_group<wait_ns, T, segmented>(letters, group, lane);
  if (last && lane == 0) write_letter<T, segmented>(letters.before + group, joined(groups, sum));
  return joined(groups, inside);
}

}  // namespace devobj::cuda
