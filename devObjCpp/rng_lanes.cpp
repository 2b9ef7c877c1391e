#include "rng_lanes.hpp"

#include <array>
#include <memory>

namespace devobj::random {
namespace {

// A linear map of 128 bits: column[i] is the image of bit i (bit i mod 32 of s[i / 32]).
struct Map {
  std::array<Xoshiro, 128> column;
};

Xoshiro image(const Map& map, const Xoshiro& x) noexcept {
  Xoshiro y = {};
  for (int word = 0; word < 4; ++word)
    for (int bit = 0; bit < 32; ++bit) {
      const std::uint32_t mask = 0u - (x.s[word] >> bit & 1u);
      for (int k = 0; k < 4; ++k) y.s[k] ^= mask & map.column[static_cast<std::size_t>(32 * word + bit)].s[k];
    }
  return y;
}

// The same map by bytes: entry[i][b] is the image of byte i with value b, so that an image is 16 sums.
struct ByteMap {
  Xoshiro entry[16][256];
  explicit ByteMap(const Map& map) {
    for (std::size_t i = 0; i < 16; ++i)
      for (std::size_t b = 0; b < 256; ++b) {
        Xoshiro x = {};
        x.s[i / 4] = static_cast<std::uint32_t>(b) << 8 * (i % 4);
        entry[i][b] = b & (b - 1) ? sum(entry[i][b & (b - 1)], entry[i][b & ~(b - 1)]) : image(map, x);
      }
  }
  static Xoshiro sum(const Xoshiro& a, const Xoshiro& b) noexcept {
    return {{a.s[0] ^ b.s[0], a.s[1] ^ b.s[1], a.s[2] ^ b.s[2], a.s[3] ^ b.s[3]}};
  }
  Xoshiro operator()(const Xoshiro& x) const noexcept {
    std::uint32_t y0 = 0, y1 = 0, y2 = 0, y3 = 0;
    for (std::size_t i = 0; i < 16; ++i) {
      const Xoshiro e = entry[i][x.s[i / 4] >> 8 * (i % 4) & 0xff];  // as a whole: one check of AddressSanitizer's
      y0 ^= e.s[0];
      y1 ^= e.s[1];
      y2 ^= e.s[2];
      y3 ^= e.s[3];
    }
    return {{y0, y1, y2, y3}};
  }
};

// By bits of the lane's number: 2^64, 2^65, ... steps.
using LaneMaps = std::array<std::unique_ptr<const ByteMap>, 17>;
static_assert(lanes == std::int64_t{1} << 17);

using Powers = std::array<Map, 128>;

// powers[k]: 2^k steps.
const Powers& powers() {
  static const std::unique_ptr<const Powers> all = [] {
    auto p = std::make_unique<Powers>();
    for (std::size_t i = 0; i < 128; ++i) {
      Xoshiro unit = {};
      unit.s[i / 32] = 1u << i % 32;
      unit.next();
      (*p)[0].column[i] = unit;
    }
    for (std::size_t k = 1; k < 128; ++k)
      for (std::size_t i = 0; i < 128; ++i) (*p)[k].column[i] = image((*p)[k - 1], (*p)[k - 1].column[i]);
    return p;
  }();
  return *all;
}

const LaneMaps& lane_maps() {
  static const LaneMaps all = [] {
    LaneMaps maps;
    for (std::size_t bit = 0; bit < maps.size(); ++bit) maps[bit] = std::make_unique<const ByteMap>(powers()[64 + bit]);
    return maps;
  }();
  return all;
}

}  // namespace

Xoshiro seeded(std::uint64_t seed) noexcept {
  Xoshiro state;
  for (int i = 0; i < 4; i += 2) {
    std::uint64_t z = (seed += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    state.s[i] = static_cast<std::uint32_t>(z);
    state.s[i + 1] = static_cast<std::uint32_t>(z >> 32);
  }
  return state;
}

Xoshiro after(Xoshiro state, std::uint64_t steps, int shift) {
  for (int bit = 0; bit < 64 && bit + shift < 128; ++bit)
    if (steps >> bit & 1) state = image(powers()[static_cast<std::size_t>(bit + shift)], state);
  return state;
}

std::vector<Xoshiro> lanes_at(std::uint64_t seed, std::uint64_t stream, std::uint64_t block) {
  // Lanes from first on are at quad `row` of their own, those before it already at the next.
  const std::uint64_t row = block / lanes, first = block % lanes;
  std::vector<Xoshiro> states(lanes);
  states[0] = after(after(seeded(seed), stream, 96), row, 2);
  for (std::size_t known = 1, bit = 0; known < static_cast<std::size_t>(lanes); known *= 2, ++bit) {
    const ByteMap& jump = *lane_maps()[bit];
    for (std::size_t l = 0; l < known; ++l) states[known + l] = jump(states[l]);
  }
  for (std::size_t l = 0; l < first; ++l)
    for (int k = 0; k < 4; ++k) states[l].next();
  return states;
}

namespace {

Xoshiro lane_before(std::uint64_t seed, std::uint64_t stream, std::uint64_t block) {
  return after(after(after(seeded(seed), stream, 96), block % lanes, 64), block / lanes, 2);
}

}  // namespace

void LaneWalk::lanes(std::uint64_t seed, std::uint64_t stream, std::uint64_t block, std::int64_t count,
                     Xoshiro* states) {
  const bool is_known =
      seed == seed_ && stream == stream_ && count_ >= 0 && block - first_ <= static_cast<std::uint64_t>(count_);
  Xoshiro lane = is_known ? known_[block - first_] : lane_before(seed, stream, block);
  const ByteMap& next = *lane_maps()[0];
  for (std::int64_t b = 0; b < count; ++b) {
    known_[b] = states[b] = lane;
    const std::uint64_t following = block + static_cast<std::uint64_t>(b) + 1;
    lane = following % random::lanes == 0 ? lane_before(seed, stream, following) : next(lane);
  }
  known_[count] = lane;
  seed_ = seed;
  stream_ = stream;
  first_ = block;
  count_ = count;
}

}  // namespace devobj::random
