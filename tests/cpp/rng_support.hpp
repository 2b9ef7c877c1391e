// What the tests of the random numbers share: draws as vectors, references from the generators' definitions,
// statistics.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "devObjCpp/rng_lanes.hpp"
#include "kernels/random/distributions.hpp"
#include "sanitizers.hpp"
#include "testing.hpp"

namespace devobj::test {

/// `count` elements that draw(view) makes, as a column.
template <class T, class Draw>
std::vector<T> drawn(std::int64_t count, Queue& q, Draw&& draw) {
  Matrix<T> A(count, 1, q);
  draw(A.view());
  std::vector<T> values(static_cast<std::size_t>(count));
  to_host<T>(A, {values.data(), count, 1, std::max<std::int64_t>(1, count)}, q);
  return values;
}
inline std::vector<std::int32_t> words_of(Rng& rng, std::int64_t count, Queue& q) {
  return drawn<std::int32_t>(count, q, [&](View<std::int32_t> A) { rng.words(A, q); });
}

template <class T>
void expect_same_bits(const std::vector<T>& actual, const std::vector<T>& expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  // at once: AddressSanitizer looks into every call of memcmp
  if (actual.empty() || std::memcmp(actual.data(), expected.data(), actual.size() * sizeof(T)) == 0) return;
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (std::memcmp(&actual[i], &expected[i], sizeof(T)) != 0) {
      ADD_FAILURE() << what << ": number " << i << " of " << actual.size() << " is " << actual[i] << ", expected "
                    << expected[i] << " exactly";
      return;
    }
}

/// Quad `block` of a generator by its definition: for `state` lane block mod 2^17 from the seed on, step by step of its
/// own.
inline random::Quad reference_quad(Generator kind, std::uint64_t seed, std::uint64_t stream, std::uint64_t block) {
  if (kind == Generator::philox) return random::Philox{seed, stream}.quad(block);
  const std::uint64_t lane = block % random::lanes, row = block / random::lanes;
  random::Xoshiro state = random::after(random::after(random::seeded(seed), stream, 96), lane, 64);
  random::Quad quad = {};
  for (std::uint64_t step = 0; step <= row; ++step)
    for (std::uint32_t& w : quad.w) w = state.next();
  return quad;
}
/// Elements of the distribution d from word `position` (a multiple of D::words) on.
template <class D>
std::vector<typename D::value> reference(Generator kind, std::uint64_t seed, std::uint64_t stream,
                                         std::uint64_t position, std::int64_t count, D d) {
  constexpr std::uint64_t per_quad = 4 / D::words;
  std::vector<typename D::value> values;
  for (std::uint64_t slot = position / D::words; values.size() < static_cast<std::size_t>(count);) {
    const std::uint64_t block = slot / per_quad;
    typename D::value v[per_quad];
    d(reference_quad(kind, seed, stream, block), random::Philox{seed, stream}, block, v);
    for (; slot / per_quad == block && values.size() < static_cast<std::size_t>(count); ++slot)
      values.push_back(v[slot % per_quad]);
  }
  return values;
}

/// The largest distance between the numbers' distribution function and F (Kolmogorov, Smirnov), times sqrt(n);
/// above 2.2 with a probability of 1.3e-4.
template <class T, class F>
double kolmogorov_smirnov(std::vector<T> x, F&& cdf) {
  std::sort(x.begin(), x.end());
  const double n = static_cast<double>(x.size());
  double d = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double f = cdf(static_cast<double>(x[i])), at = static_cast<double>(i);
    d = std::max({d, f - at / n, (at + 1) / n - f});
  }
  return d * std::sqrt(n);
}

/// (chi^2 - k) / sqrt(2 k), k = classes - 1, which is nearly standard normal for many classes.
inline double chi_square(const std::vector<std::int64_t>& counts, const std::vector<double>& expected) {
  double chi2 = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double d = static_cast<double>(counts[i]) - expected[i];
    chi2 += d * d / expected[i];
  }
  const double k = static_cast<double>(counts.size() - 1);
  return (chi2 - k) / std::sqrt(2 * k);
}

/// The Wald-Wolfowitz runs test about the median of a symmetric distribution: the number of runs above and below it, in
/// standard deviations from what is expected of numbers in random order. (Paper 002's check; Matlab's runstest.)
template <class T>
double runs_test(const std::vector<T>& x, T median) {
  double above = 0, below = 0, runs = 0;
  int last = 0;
  for (const T v : x) {
    if (v == median) continue;
    const int side = v > median ? 1 : -1;
    (side > 0 ? above : below) += 1;
    if (side != last) runs += 1;
    last = side;
  }
  const double n = above + below, expected = 2 * above * below / n + 1;
  return (runs - expected) / std::sqrt((expected - 1) * (expected - 2) / (n - 1));
}

inline double normal_cdf(double x) {
  return 0.5 * std::erfc(-x * std::sqrt(0.5));
}

inline const std::vector<Generator>& own_generators() {
  static const std::vector<Generator> both = {Generator::philox, Generator::state};
  return both;
}

/// A fixture with a queue for each place; no types.
class InEachPlace : public ::testing::TestWithParam<Place> {
 public:
  Queue& q() { return *queue_; }

 protected:
  void SetUp() override {
    try {
      queue_ = std::make_unique<Queue>(GetParam().backend, QueueOptions{GetParam().host_mode});
    } catch (const Error& e) {
      if (e.status() != Status::no_device || GetParam().backend != Backend::cuda) throw;
      const char* needed = std::getenv("DEVOBJ_TEST_NEED_GPU");
      if (needed != nullptr && std::string(needed) == "1") FAIL() << "a GPU is needed: " << e.what();
      GTEST_SKIP() << "skipped: no GPU (" << e.what() << ")";
    }
  }
  void TearDown() override {
    if (queue_) queue_->wait();
  }

 private:
  std::unique_ptr<Queue> queue_;
};
#define DEVOBJ_IN_EACH_PLACE(fixture)                                                                         \
  INSTANTIATE_TEST_SUITE_P(On, fixture, ::testing::ValuesIn(::devobj::test::places()), [](const auto& info) { \
    std::string name = info.param.name;                                                                       \
    std::replace(name.begin(), name.end(), '-', '_');                                                         \
    return name;                                                                                              \
  })

}  // namespace devobj::test
