// Which quads a draw needs, and where in them its elements are.
#pragma once

#include "kernels/random/bits.hpp"

namespace devobj::random {

/// Elements 0 ... n - 1 are slots first ... first + n - 1; `per_quad` slots make a block (quad).
template <int per_quad>
struct Slots {
  std::uint64_t first;
  std::int64_t n;
  DEVOBJ_RANDOM_ANYWHERE std::uint64_t first_block() const { return first / per_quad; }
  DEVOBJ_RANDOM_ANYWHERE std::int64_t blocks() const {
    if (n == 0) return 0;
    return static_cast<std::int64_t>((first + static_cast<std::uint64_t>(n - 1)) / per_quad - first_block()) + 1;
  }
  /// The element in place 0 of the draw's quad number b; below 0 for the first one if the draw begins within it.
  DEVOBJ_RANDOM_ANYWHERE std::int64_t element(std::int64_t b) const {
    return b * per_quad - static_cast<std::int64_t>(first % per_quad);
  }
  /// True if words are left in the last quad.
  DEVOBJ_RANDOM_ANYWHERE bool ends_within() const { return (first + static_cast<std::uint64_t>(n)) % per_quad != 0; }
};

}  // namespace devobj::random
