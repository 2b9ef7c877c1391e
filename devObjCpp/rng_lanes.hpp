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

}  // namespace devobj::random
