// xoshiro128++ 1.0: D. Blackman, S. Vigna, Scrambled linear pseudorandom number generators, ACM Trans. Math. Softw. 47
// (2021). 128 bits of state, period 2^128 - 1. The generator 'state' has 2^17 of them, 2^64 steps apart.
#pragma once

#include "kernels/random/philox.hpp"

namespace devobj::random {

struct Xoshiro {
  std::uint32_t s[4];

  DEVOBJ_RANDOM static std::uint32_t rotate(std::uint32_t x, int k) { return x << k | x >> (32 - k); }

  DEVOBJ_RANDOM std::uint32_t next() {
    const std::uint32_t result = rotate(s[0] + s[3], 7) + s[0];
    const std::uint32_t t = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 11);
    return result;
  }
  /// The next four words.
  DEVOBJ_RANDOM Quad quad() {
    Quad q;
    DEVOBJ_WRITTEN_OUT
    for (std::uint32_t& w : q.w) w = next();
    return q;
  }
};

/// The lanes of the generator 'state'. Words 4 b ... 4 b + 3 of its sequence are the next four of lane b mod lanes:
///
///   lane         0        1        2             2^17 - 1
///   words     0 1 2 3  4 5 6 7  8 9 ...   ... 2^19 - 4 ... 2^19 - 1
///             2^19 ... (each lane's second four)
inline constexpr std::int64_t lanes = std::int64_t{1} << 17;

}  // namespace devobj::random
