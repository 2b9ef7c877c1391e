// The bin of a histogram that an element belongs to: the same arithmetic on both backends.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define DEVOBJ_BOTH __host__ __device__
#else
#define DEVOBJ_BOTH
#endif

namespace devobj {

template <class T> struct Bins {
  T lower, upper;
  std::int64_t count;
  double width, scale;  // bins per unit; 0 where that is beyond the largest number

  Bins(T lower_, T upper_, std::int64_t count_)
      : lower(lower_), upper(upper_), count(count_), width(double(upper_) - double(lower_)), scale(double(count_) / width) {
    if (!(scale <= 1.7976931348623157e308)) scale = 0;
  }

  /// From 0; -1 for an element that is outside.
  DEVOBJ_BOTH std::int64_t of(T x) const {
    if (!(x >= lower && x < upper)) return -1;
    const double from = double(x) - double(lower);
    const auto bin = static_cast<std::int64_t>(scale != 0 ? from * scale : from / width * double(count));
    return bin < count ? bin : count - 1;
  }
};

/// floor(d count / width) for d = x - lower < width < 2^32, exactly: the high half of d times 2^64 count / width, rounded
/// up to `multiplier`, is too large by less than width / 2^64 < 1 / width, which no fraction of that denominator notices.
template <> struct Bins<std::int32_t> {
  std::int32_t lower, upper;
  std::int64_t count;
  std::uint64_t width, multiplier;  // multiplier 0: more bins than numbers, and a division

  Bins(std::int32_t lower_, std::int32_t upper_, std::int64_t count_)
      : lower(lower_), upper(upper_), count(count_), width(std::uint64_t(std::int64_t(upper_) - lower_)) {
    __extension__ using Wide = unsigned __int128;
    multiplier = std::uint64_t(count) < width
                     ? static_cast<std::uint64_t>(((static_cast<Wide>(count) << 64) + width - 1) / width) : 0;
  }

  DEVOBJ_BOTH std::int64_t of(std::int32_t x) const {
    if (x < lower || x >= upper) return -1;
    const std::uint32_t d = static_cast<std::uint32_t>(x) - static_cast<std::uint32_t>(lower);
    if (multiplier == 0) return static_cast<std::int64_t>(d * std::uint64_t(count) / width);
    // d (high 2^32 + low) / 2^64
    const std::uint64_t low = (multiplier & 0xffffffffu) * d, high = (multiplier >> 32) * d;
    return static_cast<std::int64_t>((high + (low >> 32)) >> 32);
  }
};

}  // namespace devobj
#undef DEVOBJ_BOTH
