// Draws of one number and of a few, for their tests: every distribution as single numbers and as draws, and a generator that
// makes numbers ahead beside one that does not.
#pragma once

#include <limits>

#include "rng_support.hpp"

namespace devobj::test {

inline constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();

/// Calls f(name, words a number takes, one, many) with one(rng) a single number and many(rng, A, queue) a draw.
template <class F>
void for_each_single(F&& f) {
  using I = std::int32_t;
  const auto real = [&]<class T>(T, const std::string& type) {
    constexpr std::uint64_t words = sizeof(T) / 4;
    f(
        "uniform" + type, words, [](Rng& r) { return r.uniform<T>(); },
        [](Rng& r, View<T> A, Queue& q) { r.uniform<T>(A, q); });
    f(
        "uniform (-3, 5)" + type, words, [](Rng& r) { return r.uniform<T>(-3, 5); },
        [](Rng& r, View<T> A, Queue& q) { r.uniform<T>(-3, 5, A, q); });
    f(
        "normal" + type, words, [](Rng& r) { return r.normal<T>(); },
        [](Rng& r, View<T> A, Queue& q) { r.normal<T>(A, q); });
    f(
        "normal 2, 3" + type, words, [](Rng& r) { return r.normal<T>(2, 3); },
        [](Rng& r, View<T> A, Queue& q) { r.normal<T>(2, 3, A, q); });
    f(
        "lognormal" + type, words, [](Rng& r) { return r.lognormal<T>(T(0.5), T(1.5)); },
        [](Rng& r, View<T> A, Queue& q) { r.lognormal<T>(T(0.5), T(1.5), A, q); });
    f(
        "exponential" + type, words, [](Rng& r) { return r.exponential<T>(2); },
        [](Rng& r, View<T> A, Queue& q) { r.exponential<T>(2, A, q); });
  };
  real(float{}, ", float");
  real(double{}, ", double");
  f(
      "dice", std::uint64_t{1}, [](Rng& r) { return r.integer(1, 6); },
      [](Rng& r, View<I> A, Queue& q) { r.integers(1, 6, A, q); });
  // 37 % of the words are rejected
  f(
      "many integers", std::uint64_t{1}, [](Rng& r) { return r.integer(lowest, 0x20000000); },
      [](Rng& r, View<I> A, Queue& q) { r.integers(lowest, 0x20000000, A, q); });
  f(
      "poisson", std::uint64_t{1}, [](Rng& r) { return r.poisson(20); },
      [](Rng& r, View<I> A, Queue& q) { r.poisson(20, A, q); });
  f(
      "poisson, large mean", std::uint64_t{4}, [](Rng& r) { return r.poisson(2000); },
      [](Rng& r, View<I> A, Queue& q) { r.poisson(2000, A, q); });
  f(
      "bernoulli", std::uint64_t{1}, [](Rng& r) { return static_cast<I>(r.bernoulli(0.3)); },
      [](Rng& r, View<I> A, Queue& q) { r.bernoulli<I>(0.3, A, q); });
  f(
      "words", std::uint64_t{1}, [](Rng& r) { return static_cast<I>(r.word()); },
      [](Rng& r, View<I> A, Queue& q) { r.words(A, q); });
}

/// The value that one() returns.
template <class One>
using ValueOf = std::decay_t<std::invoke_result_t<One, Rng&>>;

/// `count` numbers of a long draw after `skipped` words.
template <class T, class Many>
std::vector<T> long_draw(Many&& many, Generator kind, std::uint64_t skipped, std::int64_t count, Queue& q) {
  Rng rng(q, kind, 31, 2);
  rng.skip(skipped);
  return drawn<T>(count, q, [&](View<T> A) { many(rng, A, q); });
}

/// A generator that makes numbers ahead beside one that is made anew, at the same place, for every number.
class Checked {
 public:
  Checked(Queue& q, Generator kind) : q_(q), kind_(kind), rng_(q, kind, 5, 1) {}
  Rng& rng() { return rng_; }
  template <class One>
  void expect_the_same(const char* what, One&& one) {
    Rng anew(q_, kind_, rng_.seed(), rng_.stream());
    anew.skip(rng_.position());
    const auto expected = one(anew), actual = one(rng_);
    EXPECT_EQ(std::memcmp(&actual, &expected, sizeof actual), 0)
        << what << ", " << name_of(kind_) << ": " << actual << ", expected " << expected;
    EXPECT_EQ(rng_.position(), anew.position()) << what;
  }

 private:
  Queue& q_;
  Generator kind_;
  Rng rng_;
};

/// One number of an object of one element, as a value.
template <class T, class Many>
T drawn_one(Many&& many, Rng& rng, Queue& q) {
  return drawn<T>(1, q, [&](View<T> A) { many(rng, A, q); })[0];
}

}  // namespace devobj::test
