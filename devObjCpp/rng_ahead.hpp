// Draws of a few numbers by the calling thread: from numbers that were made ahead, by kinds of distributions.
//
//   words      . . . . . . | . . . . . . . . . . . . . . . . | . . .
//   numbers                begin   ^ position                begin + count D::words
//
// A number depends on generator, seed, stream and position alone, so those made ahead of one distribution stay right
// whatever is drawn, skipped or saved in between; seeding forgets them. Draws of one number are taken from them by what is
// inlined from rng.hpp: since the position is never before `begin`, one comparison with their end tells whether the next
// number is among them.
#pragma once

#include <algorithm>

#include "kernels/host/random_few.hpp"
#include "memory.hpp"
#include "rng_impl.hpp"

namespace devobj {

/// Where numbers with these parameters are, or can be: those with other ones that were made last stay beside them.
inline Rng::Ahead& Rng::Impl::ahead_of(Kind kind, const Parameters& of) noexcept {
  const auto k = static_cast<std::size_t>(kind);
  made_ahead |= 1u << k;
  if (!(ahead[k].of == of)) {
    std::swap(ahead[k], ahead_before[k]);
    if (!(ahead[k].of == of)) {
      ahead[k].of = of;
      forget(ahead[k]);
    }
  }
  return ahead[k];
}

/// True if a draw at `at` follows the numbers, or nearly: other draws may take some words in between.
inline bool goes_on_from(std::uint64_t end, std::uint64_t at) {
  constexpr std::uint64_t nearly = 16;
  return at - end <= nearly;
}

/// n numbers from the word `at` on, a multiple of D::words; the word after them.
template <class D>
std::uint64_t Rng::Impl::take_few(Ahead& numbers, const D& d, std::uint64_t at, std::int64_t n, typename D::value* out,
                                  Queue* q) {
  for (;;) {
    const std::uint64_t i = (at - numbers.begin) / D::words;
    if (i < numbers.count) {
      const std::int64_t here = std::min(n, static_cast<std::int64_t>(numbers.count - i));
      std::copy_n(static_cast<const typename D::value*>(numbers.values) + i, here, out);
      at += static_cast<std::uint64_t>(here) * D::words;
      if (here == n) return at;
      n -= here;
      out += here;
    }
    numbers.stop = 0;  // if this fails, the position may be before the numbers that there are
    if (q != nullptr)
      q->submit("random_few", [&] { make_ahead(numbers, d, at, n, q); });
    else
      make_ahead(numbers, d, at, n, q);
  }
}

/// Makes the numbers of the quads from that of the word `at` on: those that n numbers need, and four times as many as
/// the last time, or four, if that is where they end.
template <class D>
void Rng::Impl::make_ahead(Ahead& numbers, const D& d, std::uint64_t at, std::int64_t n, Queue* q) {
  constexpr std::int64_t per_quad = 4 / D::words;
  constexpr std::uint64_t last_block = ~std::uint64_t{0} / 4;
  using T = typename D::value;
  if (numbers.values == nullptr) {
    constexpr std::size_t bytes = most_ahead * per_quad * sizeof(T);
    numbers.values = memory::allocate_host(bytes);
    if (numbers.values == nullptr) fail(Status::out_of_memory, "allocate: no memory for ", bytes, " bytes on the host");
  }
  const std::uint64_t block = at / 4;
  const std::int64_t before = std::max<std::int64_t>(1, static_cast<std::int64_t>(numbers.count) / per_quad),
                     wanted = goes_on_from(numbers.end, at) ? 4 * before : 1,
                     needed = (static_cast<std::int64_t>(at % 4) / D::words + n + per_quad - 1) / per_quad;
  std::int64_t quads =
      std::min({std::max(wanted, needed), most_ahead, static_cast<std::int64_t>(last_block - block) + 1});
  numbers.count = 0;
  const random::Philox own{seed, stream};
  auto* values = static_cast<T*>(numbers.values);
  if (generator == Generator::philox) {
    host::quads_of_philox(own, d, block, quads, values);
  } else {
    random::Xoshiro* copies = lanes_for(block, quads, q);
    host::random_fill<D>().state(copies, own, d, block, quads, false, values);
  }
  numbers.begin = 4 * block;
  // the last word of all is not for use
  numbers.count =
      static_cast<std::uint64_t>(quads * per_quad - (last_block - block < static_cast<std::uint64_t>(quads) ? 1 : 0));
  numbers.end = numbers.begin + numbers.count * D::words;
  const std::uint64_t slot = numbers.begin / D::words;
  numbers.slot_0 = reinterpret_cast<std::uintptr_t>(values) - slot * sizeof(T);
  numbers.stop = slot + numbers.count;
}

}  // namespace devobj
