// The loops of the random numbers, compiled for several instruction sets (random_fill_*.cpp).
#pragma once

#include "kernels/random/distributions.hpp"
#include "kernels/random/xoshiro.hpp"

namespace devobj::host {

/// Whole quads into contiguous memory, each 4 / D::words elements. past_the_cache: by streaming stores, where `out` is
/// aligned.
template <class D>
struct RandomFill {
  /// The quads `block` ... block + count - 1 of g.
  void (*philox)(random::Philox g, const D& d, std::uint64_t block, std::int64_t count, bool past_the_cache,
                 typename D::value* out);
  /// The next quad of each of `count` lanes, which are those of `block` and the following blocks.
  void (*state)(random::Xoshiro* lanes, random::Philox own, const D& d, std::uint64_t block, std::int64_t count,
                bool past_the_cache, typename D::value* out);
};

/// For the instruction set of this processor (use_simd lowers it).
template <class D>
const RandomFill<D>& random_fill() noexcept;

}  // namespace devobj::host
