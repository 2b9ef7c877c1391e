// Short draws on the host: what a call costs is what counts, not what a number does.
#pragma once

#include "kernels/host/random_fill.hpp"
#include "kernels/random/slots.hpp"

namespace devobj::host {

/// Draws of up to as many quads are short.
constexpr std::int64_t few_quads = 8;

/// Quads that a thread of `philox` has made together, since draws of a few numbers follow each other.
struct QuadsAhead {
  static constexpr std::int64_t most = 32;
  random::Philox g;
  std::uint64_t first = 0;
  std::int64_t count = 0;
  random::Quad quads[most] = {};

  /// Quads `block` ... block + n - 1 of `wanted`, n <= few_quads.
  const random::Quad* take(const random::Philox& wanted, std::uint64_t block, std::int64_t n) {
    const bool same = g.seed == wanted.seed && g.stream == wanted.stream;
    const std::int64_t at = static_cast<std::int64_t>(block - first);
    if (!same || at < 0 || at + n > count) [[unlikely]] {
      // A draw that goes on where the last one ended will be followed by others; one somewhere else may be alone.
      make(wanted, block, same && at >= 0 && at <= count ? most : n);
      return quads;
    }
    return quads + at;
  }
  void make(const random::Philox& wanted, std::uint64_t block, std::int64_t n) noexcept;

  /// The calling thread's, for a generator; a few generators in turn have one each.
  static QuadsAhead& of(const random::Philox& g) {
    constexpr int bits = 2;
    static thread_local QuadsAhead all[1 << bits];
    return all[(g.seed * 0x9e3779b97f4a7c15u + g.stream * 0xbf58476d1ce4e5b9u) >> (64 - bits)];
  }
};

/// True for draws that few_of_philox and few_of_state may make.
template <class T, int per_quad>
bool is_short(const random::Slots<per_quad>& slots, View<T> A) {
  return slots.n <= (few_quads - 1) * per_quad && A.contiguous();
}

/// What Slots says, for a draw that is not empty.
template <int per_quad>
struct FewSlots {
  std::uint64_t block;
  std::int64_t begin, blocks;
  bool ends_within;
  explicit FewSlots(const random::Slots<per_quad>& slots) {
    const std::int64_t begin_and_n = static_cast<std::int64_t>(slots.first % per_quad) + slots.n;
    block = slots.first / per_quad;
    begin = static_cast<std::int64_t>(slots.first % per_quad);
    blocks = (begin_and_n + per_quad - 1) / per_quad;
    ends_within = begin_and_n % per_quad != 0;
  }
};

template <class D>
void few_of_philox(const random::Philox& g, const random::Slots<4 / D::words>& slots, const D& d,
                   View<typename D::value> A) {
  const FewSlots few(slots);
  random_fill<D>().few(QuadsAhead::of(g).take(g, few.block, few.blocks), g, d, few.block, few.begin, slots.n, A.data);
}

/// All elements of the quads block ... block + quads - 1.
template <class D>
void quads_of_philox(const random::Philox& g, const D& d, std::uint64_t block, std::int64_t quads,
                     typename D::value* out) {
  const auto& fill = random_fill<D>();
  if (quads > few_quads) return fill.philox(g, d, block, quads, false, out);
  fill.few(QuadsAhead::of(g).take(g, block, quads), g, d, block, 0, quads * (4 / D::words), out);
}

/// The last quad's lane is stepped on only if its words are used up.
template <class D>
void few_of_state(random::Xoshiro* lanes, const random::Philox& own, const random::Slots<4 / D::words>& slots,
                  const D& d, View<typename D::value> A) {
  const FewSlots few(slots);
  random::Quad quads[few_quads];
  for (std::int64_t b = 0; b < few.blocks; ++b) {
    random::Xoshiro& lane = lanes[(few.block + static_cast<std::uint64_t>(b)) % random::lanes];
    random::Xoshiro next = lane;
    quads[b] = next.quad();
    if (b + 1 < few.blocks || !few.ends_within) lane = next;
  }
  random_fill<D>().few(quads, own, d, few.block, few.begin, slots.n, A.data);
}

}  // namespace devobj::host
