// What the blocks of a scan tell each other. CUB's sums of floating-point numbers differ in the last bits from run to run,
// since its blocks add up whatever their predecessors have ready; here the order is fixed, and x is read once and y written
// once all the same:
//
//   x     ... [tile][tile] ... [tile] [tile][tile] ... [tile] [tile][tile] ...      a block has a tile
//                   group g - 2             group g - 1             group g: 32 tiles
//         <-------- P(g - 1) -------> <----- S(g - 1) ------> <---------->  what lies before a block's tile,
//                    warp 2                   warp 1             warp 0     and which of its warps finds it
//
// A block scans its tile and publishes the tile's sum. S(g), a group's sum, is always added up in the same way from its
// tiles' sums, and P(g + 1) = P(g) + S(g). The last block of a group publishes both, S(g) as soon as it has the tiles'
// letters. What limits a scan is how long a letter is on its way through a memory that is busy; so the three warps look at
// the same time, and warp 1 does not wait for S(g - 1) if the letters of all its tiles are there, nor for them if P(g) is.
// Warp 2 takes the nearest P that is there and adds the S between, from the left to the right:
// (P(h) + S(h)) + S(h + 1) + ... is the same number whatever h it was.
//
// With segments nobody waits for what lies before the last start.
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

/// A tile's run on its way to the other blocks: words of 32 bits of the sum, each with a mark that it is there and whether
/// there is a head. Each word is written and read as a whole, so that nothing has to be fenced.
template <class T>
struct alignas(2 * sizeof(T)) Letter {
  static constexpr int words = sizeof(T) / 4;
  std::uint64_t word[words];
};
constexpr std::uint64_t mark = std::uint64_t(1) << 32, head_mark = std::uint64_t(2) << 32;

__device__ inline void write_words(Letter<double>* to, std::uint64_t low, std::uint64_t high) {
  asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(low), "l"(high) : "memory");
}
__device__ inline void read_words(Letter<double>* from, std::uint64_t& low, std::uint64_t& high) {
  asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(from) : "memory");
}
template <class T>
__device__ void write_words(Letter<T>* to, std::uint64_t word, std::uint64_t) {
  ::cuda::atomic_ref<std::uint64_t, ::cuda::thread_scope_device>(*to->word).store(word, ::cuda::memory_order_relaxed);
}
template <class T>
__device__ void read_words(Letter<T>* from, std::uint64_t& word, std::uint64_t& same) {
  same = word =
      ::cuda::atomic_ref<std::uint64_t, ::cuda::thread_scope_device>(*from->word).load(::cuda::memory_order_relaxed);
}
template <class T, bool segmented>
__device__ void write_letter(Letter<T>* to, Run<T, segmented> run) {
  std::uint64_t marks = mark;
  if constexpr (segmented) marks |= run.head ? head_mark : 0;
  const std::uint64_t bits = bits_of(run.sum);
  write_words(to, marks | (bits & 0xffffffffu), marks | bits >> 32);
}
/// True if the letter is there; then `run` is what it says.
template <class T, bool segmented>
__device__ bool read_letter(Letter<T>* from, Run<T, segmented>& run) {
  std::uint64_t low, high;
  read_words(from, low, high);
  if ((low & high & mark) == 0) return false;
  std::uint64_t bits = low & 0xffffffffu;
  if constexpr (sizeof(T) == 8) bits |= high << 32;
  run = run_of<T, segmented>(number_of<arithmetic_t<T>>(bits), (low & head_mark) != 0);
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

// ---- what lies before a tile ----

/// The runs of a group's tiles on their way to a warp, lane l's that of tile l.
template <class T, bool segmented>
struct TilesRead {
  Run<T, segmented> run = run_of<T, segmented>(0, false);
  bool got;

  __device__ explicit TilesRead(bool nothing_to_read) : got(nothing_to_read) {}
  /// True if all are there, or with segments those from the last start on; what is missing then counts as 0.
  __device__ bool complete(Letter<T>* tiles, int lane) {
    if (!got) got = read_letter<T, segmented>(tiles + lane, run);
    const unsigned missing = __ballot_sync(0xffffffffu, !got);
    if constexpr (segmented) {
      const unsigned heads = __ballot_sync(0xffffffffu, got && run.head);
      return heads >= missing;  // the highest head is above the highest that is missing
    }
    return missing == 0;
  }
};

/// The sum of the first `count` < 32 tiles of a group.
template <class T, bool segmented>
__device__ Run<T, segmented> sum_of_tiles(Letter<T>* tiles, int count, int lane) {
  TilesRead<T, segmented> read(lane >= count);
  while (!read.complete(tiles, lane)) {
  }
  return scan_lanes(read.run, lane).all;
}

/// S(g), or P(g + 1) if that is there first (then `from_start`), or nothing of use once `needless()`.
template <class T, bool segmented, class Needless>
__device__ Run<T, segmented> sum_of_group(Letters<T> letters, std::int64_t g, int lane, bool& from_start,
                                          Needless&& needless) {
  using R = Run<T, segmented>;
  const R none = run_of<T, segmented>(0, false);
  TilesRead<T, segmented> read(false);
  for (;;) {
    // lane 0 also looks for P(g + 1), lane 1 for S(g)
    R letter = none;
    const bool there = lane < 2 && read_letter<T, segmented>((lane == 0 ? letters.before : letters.sums) + g, letter);
    const bool complete = read.complete(letters.tiles + g * group_tiles, lane);
    const unsigned found = __ballot_sync(0xffffffffu, there);
    from_start = (found & 1) != 0;
    if (found != 0) return from_lane(letter, from_start ? 0 : 1);
    if (complete) break;
    if (needless()) return none;
  }
  // as the group's last block adds them: the others' sum, and its own
  const R last = from_lane(read.run, warp_size - 1);
  return joined(scan_lanes(lane == warp_size - 1 ? none : read.run, lane).all, last);
}

/// P(g), or nothing of use once `needless()`.
template <class T, bool segmented, class Needless>
__device__ Run<T, segmented> before_group(Letters<T> letters, std::int64_t g, int lane, Needless&& needless) {
  using R = Run<T, segmented>;
  R run = run_of<T, segmented>(0, false);
  if (g <= 0) return run;
  // lane l looks at group g - 1 - l: for P behind it, or else its S
  const std::int64_t h = g - 1 - lane;
  bool whole = h < 0, part = false;  // before the first group there is nothing
  unsigned nearest;
  for (;;) {
    if (!whole) {  // both on their way at once
      R before, sum;
      const bool has_sum = !part && read_letter<T, segmented>(letters.sums + h, sum);
      whole = read_letter<T, segmented>(letters.before + h, before);
      if (whole)
        run = before;
      else if (has_sum)
        part = true, run = sum;
    }
    const unsigned wholes = __ballot_sync(0xffffffffu, whole), parts = __ballot_sync(0xffffffffu, whole || part);
    nearest = wholes & -wholes;  // a bit; those below it are between
    if (wholes != 0 && ((nearest - 1) & ~parts) == 0) break;
    if (needless()) return run;
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

/// What a block's warps have found before its tile.
template <class T, bool segmented>
struct Findings {
  Run<T, segmented> tiles, group, groups;  // the sums of warps 0, 1 and 2
  bool from_start;                         // `group` is P(g), not S(g - 1)
  int enough;                              // a segment starts in what this warp has found: no need of the next ones'
};
/// By one thread, before a barrier of the block.
template <class T, bool segmented>
__device__ void nothing_found(Findings<T, segmented>& found) {
  found.enough = 3;
}

/// What lies before the tile whose run is `whole`; publishes what the block has to. All threads of a block of at least
/// three warps take part.
template <class T, bool segmented>
__device__ Run<T, segmented> before_tile(Letters<T> letters, std::int64_t tile, Run<T, segmented> whole,
                                         Findings<T, segmented>& found, int warp, int lane) {
  using R = Run<T, segmented>;
  const std::int64_t group = tile / group_tiles;
  const int place = static_cast<int>(tile % group_tiles);
  const bool last = place == group_tiles - 1;
  const auto needless = [&] {
    if constexpr (segmented)
      return __any_sync(0xffffffffu, *static_cast<volatile int*>(&found.enough) < warp) != 0;
    else
      return false;
  };
  const auto enough = [&](R run) {
    if constexpr (segmented)
      if (run.head) atomicMin(&found.enough, warp);
  };
  if (warp == 0) {
    if (lane == 0) write_letter<T, segmented>(letters.tiles + tile, whole);
    const R tiles = sum_of_tiles<T, segmented>(letters.tiles + group * group_tiles, place, lane);
    if (lane == 0) {
      if (last) write_letter<T, segmented>(letters.sums + group, joined(tiles, whole));
      found.tiles = tiles;
      enough(tiles);
    }
  } else if (warp == 1) {
    R sum = run_of<T, segmented>(0, false);
    bool from_start = true;
    if (group > 0) sum = sum_of_group<T, segmented>(letters, group - 1, lane, from_start, needless);
    if (lane == 0) {
      found.group = sum;
      found.from_start = from_start;
      enough(sum);
    }
  } else if (warp == 2) {
    const R sum = before_group<T, segmented>(letters, group - 1, lane, needless);
    if (lane == 0) found.groups = sum;
  }
  __syncthreads();
  const R before = found.from_start ? found.group : joined(found.groups, found.group);
  if (last && threadIdx.x == 0)
    write_letter<T, segmented>(letters.before + group, joined(before, joined(found.tiles, whole)));
  return joined(before, found.tiles);
}

}  // namespace devobj::cuda
