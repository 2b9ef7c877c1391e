// The loops of the random numbers, compiled for several instruction sets (random_fill_*.cpp).
#pragma once

#include "kernels/host/simd.hpp"
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
  /// `count` elements of the quads at `quads`, which are `block` and the following ones, from element `begin` of the
  /// first on.
  void (*few)(const random::Quad* quads, random::Philox own, const D& d, std::uint64_t block, std::int64_t begin,
              std::int64_t count, typename D::value* out);
};

DEVOBJ_SIMD_DECLARE(template <class D> const RandomFill<D>& fill() noexcept;)

/// For the instruction set of this processor (use_simd lowers it).
template <class D>
const RandomFill<D>& random_fill() noexcept {
  return DEVOBJ_SIMD_CALL(fill<D>());
}

}  // namespace devobj::host
