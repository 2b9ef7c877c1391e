// Candidates for a pivot, as LAPACK's search compares them, and the best one of a warp.
#pragma once

#include <climits>
#include <cstdint>

#include "kernels/cuda/arithmetic.cuh"

namespace devobj::cuda::lu {

/// A pivot candidate: the bits of its magnitude, which order as the magnitudes do; its position; its row in A.
struct Candidate {
  std::uint32_t high = 0, low = 0;
  std::int32_t position = INT_MAX, row = 0;
};

template <class E>
constexpr bool two_words = sizeof(decltype(magnitude(E{}))) == 8;

/// An element's candidate in the search for the pivot of `step`. By integers, since the unit for double precision is busy.
template <class E>
__device__ Candidate candidate_of(E value, std::int32_t position, std::int32_t step) {
  using Real = decltype(magnitude(E{}));
  Real size;  // with any sign
  if constexpr (is_device_complex<E>)
    size = magnitude(value);
  else
    size = value;
  Candidate c;
  bool nan;
  if constexpr (two_words<E>) {
    c.high = static_cast<std::uint32_t>(__double2hiint(size)) & 0x7fffffffu;
    c.low = static_cast<std::uint32_t>(__double2loint(size));
    nan = (std::uint64_t(c.high) << 32 | c.low) > 0x7ff0000000000000u;
  } else {
    c.high = __float_as_uint(size) & 0x7fffffffu;
    nan = c.high > 0x7f800000u;
  }
  // LAPACK's search compares by >: a NaN is taken where it is the first element, and only there.
  if (nan) {
    c.high = position == step ? 0xffffffffu : 0u;
    c.low = 0;
  }
  c.position = position;
  if (position < step) c = Candidate{};
  return c;
}

/// The largest, of equals the one with the lowest position.
template <class E>
__device__ bool better(const Candidate& a, const Candidate& b) {
  if constexpr (two_words<E>) {
    const auto value = [](const Candidate& c) { return std::uint64_t(c.high) << 32 | c.low; };
    return value(a) > value(b) || (value(a) == value(b) && a.position < b.position);
  } else {
    return a.high > b.high || (a.high == b.high && a.position < b.position);
  }
}

/// The lane with the best of the candidates that are `here`. All lanes call. A function of its own, for where leading words
/// are equal, which is rare.
template <class E>
__device__ __noinline__ int leader_of_equals(std::uint32_t high, std::uint32_t low, std::int32_t position, bool here) {
  const std::uint32_t highest = __reduce_max_sync(all_lanes, here ? high : 0u);
  here = here && high == highest;
  if constexpr (two_words<E>) {
    const std::uint32_t largest_low = __reduce_max_sync(all_lanes, here ? low : 0u);
    here = here && low == largest_low;
  }
  const unsigned first = __reduce_min_sync(all_lanes, here ? static_cast<unsigned>(position) : 0xffffffffu);
  return __ffs(__ballot_sync(all_lanes, here && static_cast<unsigned>(position) == first)) - 1;
}
/// The same lane.
template <class E>
__device__ int leader_of_warp(const Candidate& mine, bool here) {
  const std::uint32_t highest = __reduce_max_sync(all_lanes, here ? mine.high : 0u);
  const unsigned lanes = __ballot_sync(all_lanes, here && mine.high == highest);
  return lanes & (lanes - 1) ? leader_of_equals<E>(mine.high, mine.low, mine.position, here) : __ffs(lanes) - 1;
}

/// A guess at that lane by one reduction, of the leading words with the lane's number in place of their last five bits. It
/// is right if no lane is `near`.
struct Guess {
  int lane;
  bool near;  // this lane's candidate may be as good
};
__device__ inline Guess guess_leader(std::uint32_t high, bool here, int lane) {
  const std::uint32_t key = here ? (high & ~31u) | static_cast<unsigned>(lane) : 0u;
  const std::uint32_t most = __reduce_max_sync(all_lanes, key);
  return {static_cast<int>(most & 31u), here && (key ^ most) - 1 < 31u};
}
/// The same lane again; `meanwhile()` is done in the shadow of the reduction.
template <class E, class Meanwhile>
__device__ int quick_leader(const Candidate& mine, bool here, int lane, Meanwhile meanwhile) {
  const Guess guess = guess_leader(mine.high, here, lane);
  meanwhile();
  return __any_sync(all_lanes, guess.near) ? leader_of_equals<E>(mine.high, mine.low, mine.position, here) : guess.lane;
}

}  // namespace devobj::cuda::lu
