// The distributions: what a quad of words becomes. Element k of a draw whose elements need `words` words each has the
// words from `words` k on, so that four, two or one elements come from a quad; both generators share these functions.
//
// Where an element is a function of its own word (or of its two, the first one below) the distribution says so by
// number(word, out), which is true if private words have to decide; then only the quad's operator has the element.
#pragma once

#include <type_traits>

#include "kernels/random/functions.hpp"
#include "kernels/random/philox.hpp"

namespace devobj::random {

/// (k + 1/2) 2^-23 with the upper 23 bits k, and (k + 1/2) 2^-52 with 52: equidistant, never 0 and never 1.
DEVOBJ_RANDOM float open_unit(std::uint32_t word) {
  return as_float(word >> 9 | 0x3f800000u) - (1.0f - 0x1p-24f);
}
DEVOBJ_RANDOM double open_unit(std::uint32_t low, std::uint32_t high) {
  return as_double(joined(high >> 12 | 0x3ff00000u, low)) - unit_shift[0];
}
/// The same of both words side by side.
DEVOBJ_RANDOM double open_unit(std::uint64_t both) {
  constexpr std::uint64_t low = 0xffffffffu, mantissa = 0xfffff00000000u, one = std::uint64_t{0x3ff00000u} << 32;
  return as_double((both >> 12 & mantissa) | (both & low) | one) - unit_shift[0];
}

/// Two independent standard normal numbers times sigma, plus mean (Box and Muller 1958). The angle is one of the four
/// quarter turns around the axes (the two upper bits) and a place in it (the lower bits).
DEVOBJ_RANDOM void normal_pair(std::uint32_t w0, std::uint32_t w1, float mean, float sigma, float& x, float& y) {
  const float r = as_float(bits_of(radius(w0)) | (w1 << 1 & 0x80000000u)) * sigma;
  float sine, cosine;
  quarter_turn(from_one(w1, 0x7fffffu) - 1.5f, sine, cosine);
  const bool swapped = static_cast<std::int32_t>(w1) < 0;
  x = fused(r, swapped ? sine : cosine, mean);
  y = fused(r, swapped ? cosine : sine, mean);
}
DEVOBJ_RANDOM void normal_pair(const Quad& q, double mean, double sigma, double& x, double& y) {
  const double r = square_root(minus_two_log_by_table(open_unit(q.w[0], q.w[1])));
  const double signed_r = as_double(bits_of(r) | joined(q.w[3] << 1 & 0x80000000u, 0)) * sigma;
  double sine, cosine;
  quarter_turn(as_double(joined((q.w[3] & 0xfffffu) | 0x3ff00000u, q.w[2])) - 1.5, sine, cosine);
  const bool swapped = static_cast<std::int32_t>(q.w[3]) < 0;
  x = fused(signed_r, swapped ? sine : cosine, mean);
  y = fused(signed_r, swapped ? cosine : sine, mean);
}

/// The words a value of T takes.
template <class T>
inline constexpr int words_of = sizeof(T) / 4;
/// Its words as one number.
template <class T>
using WordOf = std::conditional_t<words_of<T> == 1, std::uint32_t, std::uint64_t>;

/// The words themselves.
struct Words {
  using value = std::int32_t;
  static constexpr int words = 1;
  static constexpr Table table = Table::none;
  DEVOBJ_RANDOM void operator()(const Quad& q, Philox, std::uint64_t, value (&out)[4]) const {
    for (int k = 0; k < 4; ++k) out[k] = static_cast<value>(q.w[k]);
  }
  DEVOBJ_RANDOM bool number(std::uint32_t w, value& out) const {
    out = static_cast<value>(w);
    return false;
  }
};

/// Uniform on (0, 1).
template <class T>
struct UnitUniform {
  using value = T;
  static constexpr int words = words_of<T>;
  static constexpr Table table = Table::none;
  DEVOBJ_RANDOM void operator()(const Quad& q, Philox, std::uint64_t, T (&out)[4 / words]) const {
    if constexpr (words == 1)
      for (int k = 0; k < 4; ++k) out[k] = open_unit(q.w[k]);
    else
      for (int k = 0; k < 2; ++k) out[k] = open_unit(q.w[2 * k], q.w[2 * k + 1]);
  }
  DEVOBJ_RANDOM bool number(WordOf<T> w, T& out) const {
    out = open_unit(w);
    return false;
  }
};

/// Uniform on (a, b): a + width u, kept between the neighbours `least` of a and `most` of b.
template <class T>
struct Uniform {
  using value = T;
  static constexpr int words = words_of<T>;
  static constexpr Table table = Table::none;
  T a, width, least, most;
  DEVOBJ_RANDOM void operator()(const Quad& q, Philox own, std::uint64_t block, T (&out)[4 / words]) const {
    UnitUniform<T>{}(q, own, block, out);
    for (int k = 0; k < 4 / words; ++k) out[k] = within(fused(out[k], width, a), least, most);
  }
  DEVOBJ_RANDOM bool number(WordOf<T> w, T& out) const {
    out = within(fused(open_unit(w), width, a), least, most);
    return false;
  }
};

template <class T>
struct Normal {
  using value = T;
  static constexpr int words = words_of<T>;
  static constexpr Table table = words == 1 ? Table::radius : Table::logs;
  T mean, sigma;
  DEVOBJ_RANDOM void operator()(const Quad& q, Philox, std::uint64_t, T (&out)[4 / words]) const {
    if constexpr (words == 1) {
      normal_pair(q.w[0], q.w[1], mean, sigma, out[0], out[1]);
      normal_pair(q.w[2], q.w[3], mean, sigma, out[2], out[3]);
    } else {
      normal_pair(q, mean, sigma, out[0], out[1]);
    }
  }
  /// Two of the four, of two words.
  DEVOBJ_RANDOM void pair(const std::uint32_t* w, T (&out)[2]) const
    requires(words == 1)
  {
    normal_pair(w[0], w[1], mean, sigma, out[0], out[1]);
  }
};

/// e^x with x normal.
template <class T>
struct LogNormal {
  using value = T;
  static constexpr int words = words_of<T>;
  static constexpr Table table = words == 1 ? Table::radius : Table::logs;
  T mean, sigma;
  DEVOBJ_RANDOM void operator()(const Quad& q, Philox own, std::uint64_t block, T (&out)[4 / words]) const {
    Normal<T>{mean, sigma}(q, own, block, out);
    DEVOBJ_WRITTEN_OUT
    for (int k = 0; k < 4 / words; ++k) out[k] = exp_of(out[k]);
  }
};

/// -mean ln u.
template <class T>
struct Exponential {
  using value = T;
  static constexpr int words = words_of<T>;
  static constexpr Table table = words == 1 ? Table::none : Table::logs;
  T half_mean;
  DEVOBJ_RANDOM void operator()(const Quad& q, Philox, std::uint64_t, T (&out)[4 / words]) const {
    if constexpr (words == 1)
      for (int k = 0; k < 4; ++k) out[k] = half_mean * minus_two_log(q.w[k]);
    else
      for (int k = 0; k < 2; ++k) out[k] = half_mean * minus_two_log_by_table(open_unit(q.w[2 * k], q.w[2 * k + 1]));
  }
  DEVOBJ_RANDOM bool number(WordOf<T> w, T& out) const {
    if constexpr (words == 1)
      out = half_mean * minus_two_log(w);
    else
      out = half_mean * minus_two_log_by_table(open_unit(w));
    return false;
  }
};

/// lowest + {0, ..., range - 1}, each exactly as likely as the others; range 0 stands for 2^32. `excess` is 2^32 mod
/// range. D. Lemire, Fast random integer generation in an interval, ACM Trans. Model. Comput. Simul. 29 (2019).
struct Integers {
  using value = std::int32_t;
  static constexpr int words = 1;
  static constexpr Table table = Table::none;
  std::int32_t lowest;
  std::uint32_t range, excess;
  DEVOBJ_RANDOM void operator()(const Quad& q, Philox own, std::uint64_t block, value (&out)[4]) const {
    if (range == 0) {
      for (int k = 0; k < 4; ++k) out[k] = static_cast<value>(static_cast<std::uint32_t>(lowest) + q.w[k]);
      return;
    }
    bool rejected = false;
    DEVOBJ_WRITTEN_OUT
    for (int k = 0; k < 4; ++k) rejected |= number(q.w[k], out[k]);
    if (!rejected) return;
    for (int k = 0; k < 4; ++k) {
      std::uint32_t chosen, rest;
      multiply_wide(range, q.w[k], chosen, rest);
      if (rest >= excess) continue;
      PrivateWords more(own, 4 * block + static_cast<std::uint64_t>(k));
      do multiply_wide(range, more.next(), chosen, rest);
      while (rest < excess);
      out[k] = static_cast<value>(static_cast<std::uint32_t>(lowest) + chosen);
    }
  }
  DEVOBJ_RANDOM bool number(std::uint32_t w, value& out) const {
    std::uint32_t chosen, rest;
    multiply_wide(range, w, chosen, rest);
    out = static_cast<value>(static_cast<std::uint32_t>(lowest) + (range == 0 ? w : chosen));
    return rest < excess;
  }
};

/// 1 with probability threshold 2^-64 (always if `certain`), otherwise 0. The lower half of the 64 bits is drawn only
/// where the upper half does not decide.
template <class T>
struct Bernoulli {
  using value = T;
  static constexpr int words = 1;
  static constexpr Table table = Table::none;
  std::uint64_t threshold;
  bool certain;
  DEVOBJ_RANDOM void operator()(const Quad& q, Philox own, std::uint64_t block, T (&out)[4]) const {
    bool open = false;
    DEVOBJ_WRITTEN_OUT
    for (int k = 0; k < 4; ++k) open |= number(q.w[k], out[k]);
    if (!open || certain) return;
    const std::uint32_t upper = static_cast<std::uint32_t>(threshold >> 32);
    for (int k = 0; k < 4; ++k)
      if (q.w[k] == upper &&
          PrivateWords(own, 4 * block + static_cast<std::uint64_t>(k)).next() < static_cast<std::uint32_t>(threshold))
        out[k] = T(1);
  }
  DEVOBJ_RANDOM bool number(std::uint32_t w, T& out) const {
    const std::uint32_t upper = static_cast<std::uint32_t>(threshold >> 32);
    out = w < upper || certain ? T(1) : T(0);
    return w == upper;
  }
};

/// A discrete distribution by its table, which lies in the queue's memory: number lowest + k with k the first entry
/// whose threshold, 64 bits in two halves, is above the number drawn. The lower 32 bits of that are drawn only where
/// the upper ones do not decide. guide[i] is the first entry that may be right for upper bits i.
struct Discrete {
  using value = std::int32_t;
  static constexpr int words = 1;
  static constexpr Table table = Table::discrete;
  static constexpr int guide_bits = 10, guides = 1 << guide_bits;
  const std::uint32_t* entries;  // guide, upper halves, lower halves
  std::int32_t lowest, count;

  DEVOBJ_RANDOM void operator()(const Quad& q, Philox own, std::uint64_t block, value (&out)[4]) const {
    const std::uint32_t* guide = fast_entries(entries);
    const std::uint32_t *upper = guide + guides, *lower = entries + guides + count;
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t w = q.w[i];
      std::uint32_t k = guide[w >> (32 - guide_bits)];
      while (upper[k] < w) ++k;
      if (upper[k] == w) {
        const std::uint32_t low = PrivateWords(own, 4 * block + static_cast<std::uint64_t>(i)).next();
        while (upper[k] == w && lower[k] <= low && static_cast<std::int32_t>(k) < count - 1) ++k;
      }
      out[i] = lowest + static_cast<std::int32_t>(k);
    }
  }
  /// Of the part that is copied into shared memory.
  DEVOBJ_RANDOM_ANYWHERE int fast_count() const { return guides + count; }
};

/// Poisson numbers with a mean of at least 10 (smaller ones, and up to 1000, are Discrete): W. Hoermann, The
/// transformed rejection method for generating Poisson random variables, Insurance Math. Econom. 12 (1993), algorithm
/// PTRS. A quad for each element is the first two numbers in (0, 1); rejected ones are followed by the element's
/// private words.
struct Poisson {
  using value = std::int32_t;
  static constexpr int words = 4;
  static constexpr Table table = Table::none;
  double mean, log_mean, a, b, inverse, reach;

  /// ln k!
  DEVOBJ_RANDOM static double log_factorial(double k) {
    double factor = 0, x = k + 1;
    if (x < 8) {  // (k + 1) ... 8, taken off at the end
      double product = 1;
      for (; x < 8; x += 1) product *= x;
      factor = log_of(product);
    }
    // Stirling: ln Gamma(x)
    const double r = 1 / x, z = r * r;
    const double series = r * (1.0 / 12 + z * (-1.0 / 360 + z * (1.0 / 1260 + z * (-1.0 / 1680))));
    return (x - 0.5) * log_of(x) - x + 0.91893853320467274178 + series - factor;
  }

  DEVOBJ_RANDOM void operator()(const Quad& q, Philox own, std::uint64_t block, value (&out)[1]) const {
    double u = open_unit(q.w[0], q.w[1]), v = open_unit(q.w[2], q.w[3]);
    double k = 0;
    PrivateWords more(own, 4 * block);
    for (;;) {
      u -= 0.5;
      const double us = 0.5 - (u < 0 ? -u : u);
      k = floor((2 * a / us + b) * u + mean + 0.43);
      if (us >= 0.07 && v <= reach) break;
      if (k >= 0 && !(us < 0.013 && v > us) &&
          log_of(v * inverse / (a / (us * us) + b)) <= k * log_mean - mean - log_factorial(k))
        break;
      std::uint32_t w[4];
      for (int i = 0; i < 4; ++i) w[i] = more.next();
      u = open_unit(w[0], w[1]);
      v = open_unit(w[2], w[3]);
    }
    out[0] = static_cast<value>(k);
  }
};

}  // namespace devobj::random

/// M(D) for every distribution.
#define DEVOBJ_FOR_EACH_DISTRIBUTION(M)                                                                             \
  M(random::Words)                                                                                                  \
  M(random::UnitUniform<float>) M(random::UnitUniform<double>) M(random::Uniform<float>) M(random::Uniform<double>) \
      M(random::Normal<float>) M(random::Normal<double>) M(random::LogNormal<float>) M(random::LogNormal<double>)   \
          M(random::Exponential<float>) M(random::Exponential<double>) M(random::Integers)                          \
              M(random::Bernoulli<std::int32_t>) M(random::Bernoulli<float>) M(random::Bernoulli<double>)           \
                  M(random::Discrete) M(random::Poisson)

/// M(D) for the distributions that have an inverse, and for the words.
#define DEVOBJ_FOR_EACH_QUASI_DISTRIBUTION(M)                                                                       \
  M(random::Words)                                                                                                  \
  M(random::UnitUniform<float>) M(random::UnitUniform<double>) M(random::Uniform<float>) M(random::Uniform<double>) \
      M(random::Normal<float>) M(random::Normal<double>) M(random::LogNormal<float>) M(random::LogNormal<double>)   \
          M(random::Exponential<float>) M(random::Exponential<double>)
