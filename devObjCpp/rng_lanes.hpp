// The states of the generator 'state', found from seed, stream and place alone.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/random/xoshiro.hpp"

namespace devobj::random {

/// xoshiro128++ seeded by two numbers of SplitMix64, as its authors advise.
Xoshiro seeded(std::uint64_t seed) noexcept;

/// The state `steps` 2^shift steps after this one, shift < 128: the transition is linear over bits, and is raised to
/// the power by squaring. Wraps at 2^128 steps.
Xoshiro after(Xoshiro state, std::uint64_t steps, int shift);

/// The lanes before their quads of `block`: lane l of stream s begins 2^96 s + 2^64 l steps after the seed's state.
std::vector<Xoshiro> lanes_at(std::uint64_t seed, std::uint64_t stream, std::uint64_t block);

/// Lanes one after the other without the others of their row: the next one is one jump away.
class LaneWalk {
 public:
  static constexpr std::int64_t most = 128;
  /// The lane of each quad block ... block + count - 1 before it, count <= most. Costs some jumps for a block that is not
  /// among the last ones or the next.
  void lanes(std::uint64_t seed, std::uint64_t stream, std::uint64_t block, std::int64_t count, Xoshiro* states);

 private:
  Xoshiro known_[most + 1] = {};  ///< of the quads first_ ... first_ + count_
  std::uint64_t seed_ = 0, stream_ = 0, first_ = 0;
  std::int64_t count_ = -1;
};

}  // namespace devobj::random
