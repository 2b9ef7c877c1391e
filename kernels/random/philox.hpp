// Philox4x32-10: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, Parallel random numbers: as easy as 1, 2, 3, SC
// 2011.
#pragma once

#include "kernels/random/bits.hpp"

namespace devobj::random {

/// Four words that belong together: what a generator gives at once.
struct Quad {
  std::uint32_t w[4];
};

/// a b in two halves.
DEVOBJ_RANDOM void multiply_wide(std::uint32_t a, std::uint32_t b, std::uint32_t& high, std::uint32_t& low) {
#ifdef __CUDA_ARCH__
  // One instruction; from 64-bit arithmetic the compiler makes an addition of 0 besides.
  asm("{ .reg .u64 p; mul.wide.u32 p, %2, %3; mov.b64 {%0, %1}, p; }" : "=r"(low), "=r"(high) : "r"(a), "r"(b));
#else
  const std::uint64_t p = std::uint64_t{a} * b;
  high = static_cast<std::uint32_t>(p >> 32);
  low = static_cast<std::uint32_t>(p);
#endif
}

/// The keys of the ten rounds.
struct PhiloxKeys {
  std::uint32_t k0[10], k1[10];
  DEVOBJ_RANDOM_ANYWHERE explicit PhiloxKeys(std::uint64_t seed) {
    for (std::uint32_t r = 0; r < 10; ++r) {
      k0[r] = static_cast<std::uint32_t>(seed) + r * 0x9E3779B9u;
      k1[r] = static_cast<std::uint32_t>(seed >> 32) + r * 0xBB67AE85u;
    }
  }
};

/// Round number `round` of the block cipher, and those after it up to the tenth.
template <int round = 0>
DEVOBJ_RANDOM Quad philox_rounds(const Quad& c, const PhiloxKeys& keys) {
  if constexpr (round == 10) {
    return c;
  } else {
    std::uint32_t high0, low0, high1, low1;
    multiply_wide(0xD2511F53u, c.w[0], high0, low0);
    multiply_wide(0xCD9E8D57u, c.w[2], high1, low1);
    return philox_rounds<round + 1>({{high1 ^ c.w[1] ^ keys.k0[round], low1, high0 ^ c.w[3] ^ keys.k1[round], low0}},
                                    keys);
  }
}

/// The numbers of one seed and stream: words 4 b ... 4 b + 3 are the cipher of a counter made of b and the stream.
///
///   counter word    0                 1                        2                                3
///                  [ b / 2^16, 46 bits                       ][ b mod 2^16 | stream mod 2^16 ][ stream / 2^16 ]
///
/// For stream 0 this is the order of cuRAND's CURAND_RNG_PSEUDO_PHILOX4_32_10: 65536 subsequences, four words from
/// each in turn. The upper 16 bits of word 1, which b never reaches, tell the private words of an element (below).
struct Philox {
  std::uint64_t seed = 0, stream = 0;
  static constexpr std::uint64_t streams = std::uint64_t{1} << 48;

  DEVOBJ_RANDOM Quad counter(std::uint64_t upper, std::uint32_t lower) const {
    return {{static_cast<std::uint32_t>(upper), static_cast<std::uint32_t>(upper >> 32),
             (lower & 0xffffu) | static_cast<std::uint32_t>(stream) << 16, static_cast<std::uint32_t>(stream >> 16)}};
  }
  /// Quad number `block`; `keys` are those of the seed.
  DEVOBJ_RANDOM Quad quad(std::uint64_t block, const PhiloxKeys& keys) const {
    return philox_rounds(counter(block >> 16, static_cast<std::uint32_t>(block)), keys);
  }
  DEVOBJ_RANDOM Quad quad(std::uint64_t block) const { return quad(block, PhiloxKeys(seed)); }
};

/// 65536 quads in a row, from a block that is a multiple of it: their counters differ in word 2 alone, so that the first
/// round's product of word 0 and the second round's of what comes from it are made once.
class PhiloxRow {
 public:
  static constexpr std::uint32_t quads = 65536;
  /// The row of quad number `block`.
  DEVOBJ_RANDOM PhiloxRow(const Philox& g, std::uint64_t block, const PhiloxKeys& keys) {
    const Quad c = g.counter(block >> 16, 0);
    std::uint32_t high0, low0, high1, low1;
    multiply_wide(0xD2511F53u, c.w[0], high0, low0);
    multiply_wide(0xCD9E8D57u, high0 ^ c.w[3] ^ keys.k1[0], high1, low1);
    stream_ = c.w[2];
    first_ = c.w[1] ^ keys.k0[0];
    second_ = {{high1 ^ keys.k0[1], low1, low0 ^ keys.k1[1], 0}};
  }
  /// Quad number `place` of the row, below 65536.
  DEVOBJ_RANDOM Quad quad(std::uint32_t place, const PhiloxKeys& keys) const {
    std::uint32_t high0, low0, high1, low1;
    multiply_wide(0xCD9E8D57u, stream_ + place, high1, low1);
    multiply_wide(0xD2511F53u, high1 ^ first_, high0, low0);
    return philox_rounds<2>({{low1 ^ second_.w[0], second_.w[1], high0 ^ second_.w[2], low0}}, keys);
  }

 private:
  std::uint32_t stream_, first_;
  Quad second_;
};

/// More words for one element, where an algorithm rejects what it has: they depend on seed, stream and the element's
/// position alone. 4 * 65535 words; the chance that an algorithm here asks for more is below 2^-100000.
class PrivateWords {
 public:
  DEVOBJ_RANDOM PrivateWords(Philox own, std::uint64_t position) : own_(own), position_(position) {}
  DEVOBJ_RANDOM std::uint32_t next() {
    if (used_ == 4) {
      quad_ = philox_rounds(own_.counter(position_ >> 16 | attempt_ << 48, static_cast<std::uint32_t>(position_)),
                            PhiloxKeys(own_.seed));
      attempt_ = attempt_ == 65535 ? 1 : attempt_ + 1;
      used_ = 0;
    }
    return quad_.w[used_++];
  }

 private:
  Philox own_;
  std::uint64_t position_, attempt_ = 1;
  Quad quad_ = {};
  int used_ = 4;
};

}  // namespace devobj::random
