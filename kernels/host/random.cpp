// Random numbers on the host, shared among the team's threads. The result does not depend on their number.
#include "kernels/random.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/host/random_few.hpp"
#include "kernels/host/share.hpp"
#include "kernels/host/simd.hpp"

namespace devobj::host {

void QuadsAhead::make(const random::Philox& wanted, std::uint64_t block, std::int64_t n) noexcept {
  g = wanted;
  first = block;
  count = n;
  random_fill<random::Words>().philox(g, {}, block, n, false, reinterpret_cast<std::int32_t*>(quads));
}

namespace {

constexpr std::int64_t tile = 64;  // quads that go through a buffer where they cannot be written in place
// From this size on numbers are written past the cache: they would push out all else, and every line would be read
// first.
constexpr std::size_t streamed_bytes = 16 << 20;

template <class T>
bool streams(View<T> A) {
  return static_cast<std::size_t>(A.size()) * sizeof(T) >= streamed_bytes;
}

/// Elements e ... e + count - 1 of A, in column order, from `values`.
template <class T>
void store(View<T> A, std::int64_t e, std::int64_t count, const T* values) {
  if (A.contiguous()) {
    std::memcpy(A.data + e, values, static_cast<std::size_t>(count) * sizeof(T));
    return;
  }
  std::int64_t i = e % A.rows, j = e / A.rows;
  while (count > 0) {
    const std::int64_t here = std::min(count, A.rows - i);
    std::memcpy(A.data + i + j * A.ld, values, static_cast<std::size_t>(here) * sizeof(T));
    values += here;
    count -= here;
    i = 0;
    ++j;
  }
}

/// The draw's quads [begin, end) by make(quad, count, out, past the cache), in place where A's elements lie side by
/// side and the quads are wholly in the draw.
template <int per_quad, class T, class Make>
void fill_quads(random::Slots<per_quad> slots, View<T> A, std::int64_t begin, std::int64_t end, Make&& make) {
  alignas(64) T buffer[tile * per_quad];
  const bool past_the_cache = streams(A);
  while (begin < end) {
    const std::int64_t e = slots.element(begin);
    std::int64_t room = e < 0 ? 0 : (slots.n - e) / per_quad;  // quads that may be written in place
    if (room > 0 && !A.contiguous()) room = (A.rows - e % A.rows) / per_quad;
    room = std::min(room, end - begin);
    if (room >= (A.contiguous() ? 1 : tile)) {
      make(begin, room, A.data + (A.contiguous() ? e : e % A.rows + e / A.rows * A.ld), past_the_cache);
      begin += room;
      continue;
    }
    const std::int64_t count = std::min(tile, end - begin);
    make(begin, count, buffer, false);
    const std::int64_t from = std::max<std::int64_t>(e, 0), to = std::min(slots.n, e + count * per_quad);
    store(A, from, to - from, buffer + (from - e));
    begin += count;
  }
}

}  // namespace

template <class D>
void random_philox(random::Philox g, std::uint64_t slot, D d, View<typename D::value> A, Queue& q) {
  q.submit("random_philox", [=] {
    constexpr int per_quad = 4 / D::words;
    const random::Slots<per_quad> slots{slot, A.size()};
    if (is_short(slots, A)) return few_of_philox(g, slots, d, A);
    const std::uint64_t first = slots.first_block();
    const std::int64_t blocks = slots.blocks(), pieces = (blocks + tile - 1) / tile;
    const auto& fill = random_fill<D>();
    share(pieces, static_cast<std::size_t>(A.size()) * sizeof(typename D::value),
          [&](std::int64_t p0, std::int64_t p1) {
            fill_quads<per_quad>(slots, A, p0 * tile, std::min(blocks, p1 * tile),
                                 [&](std::int64_t b, std::int64_t count, typename D::value* out, bool past_the_cache) {
                                   fill.philox(g, d, first + static_cast<std::uint64_t>(b), count, past_the_cache, out);
                                 });
          });
  });
}

// Each thread has a range of the lanes, and goes through the rows of 2^17 quads:
//
//            lanes of thread 0   of thread 1   ...
//    row 0  [      . . x x x x | x x x x x x | x x ]     first_block is the first x
//    row 1  [ x x x x x x x x  | x x x x x x | x x ]
//    row 2  [ x x x x          |             |     ]
template <class D>
void random_state(random::Xoshiro* lanes, random::Philox own, std::uint64_t slot, D d, View<typename D::value> A,
                  Queue& q) {
  q.submit("random_state", [=] {
    constexpr int per_quad = 4 / D::words;
    const random::Slots<per_quad> slots{slot, A.size()};
    const std::int64_t blocks = slots.blocks();
    if (is_short(slots, A)) return few_of_state(lanes, own, slots, d, A);
    const std::int64_t whole = blocks - (slots.ends_within() ? 1 : 0);
    const std::uint64_t first = slots.first_block();
    const std::int64_t first_lane = static_cast<std::int64_t>(first % random::lanes);
    const auto& fill = random_fill<D>();
    const auto make = [&](std::int64_t b, std::int64_t count, typename D::value* out, bool past_the_cache) {
      fill.state(lanes + (first_lane + b) % random::lanes, own, d, first + static_cast<std::uint64_t>(b), count,
                 past_the_cache, out);
    };
    constexpr std::int64_t groups = random::lanes / tile;
    share(groups, static_cast<std::size_t>(A.size()) * sizeof(typename D::value),
          [&](std::int64_t g0, std::int64_t g1) {
            for (std::int64_t row = -first_lane; row < whole; row += random::lanes) {
              const std::int64_t begin = std::max<std::int64_t>(0, row + g0 * tile),
                                 end = std::min(whole, row + g1 * tile);
              if (begin < end) fill_quads<per_quad>(slots, A, begin, end, make);
            }
          });
    if (whole == blocks) return;
    // The quad that is not used up: the next draw begins with it, so that its lane stays where it is.
    random::Xoshiro last = lanes[(first_lane + whole) % random::lanes];
    fill_quads<per_quad>(slots, A, whole, blocks,
                         [&](std::int64_t b, std::int64_t count, typename D::value* out, bool) {
                           fill.state(&last, own, d, first + static_cast<std::uint64_t>(b), count, false, out);
                         });
  });
}

#define INSTANTIATE(D)                                                                   \
  template void random_philox(random::Philox, std::uint64_t, D, View<D::value>, Queue&); \
  template void random_state(random::Xoshiro*, random::Philox, std::uint64_t, D, View<D::value>, Queue&);
DEVOBJ_FOR_EACH_DISTRIBUTION(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
