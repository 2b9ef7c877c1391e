// The distributions: their ends for all words, the functions behind them, moments, Kolmogorov-Smirnov, chi-square, and
// the Wald-Wolfowitz runs test of paper 002. Seeds are fixed; the bounds are those that a right generator passes with
// all but a few in 10^5 seeds. Runs in places().
#include <array>
#include <limits>

#include "rng_support.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

class RngDistributions : public InEachPlace {
 public:
  /// How many numbers: test_rng_draws shows that they have the same bits in all places, so on a worker's queue a smaller
  /// sample does, with the same bounds in units of its standard deviations.
  std::int64_t many() const { return GetParam().host_mode == HostMode::worker ? 1 << 17 : 1 << 20; }
};
DEVOBJ_IN_EACH_PLACE(RngDistributions);

// ---- ends, for all words ----

TEST(RngFunctions, UniformNumbersNeverReachTheEnds) {
  for (const std::uint32_t w : {0u, 1u, 511u, 512u, 0x7fffffffu, 0x80000000u, 0xfffffe00u, 0xffffffffu}) {
    const float u = random::open_unit(w);
    EXPECT_EQ(u, (static_cast<float>(w >> 9) + 0.5f) * 0x1p-23f) << w;
    EXPECT_GT(u, 0);
    EXPECT_LT(u, 1);
    for (const std::uint32_t low : {0u, 0xffffffffu}) {
      const double d = random::open_unit(low, w);
      const auto k = static_cast<double>(std::uint64_t{w >> 12} << 32 | low);
      EXPECT_EQ(d, (k + 0.5) * 0x1p-52) << w;
      EXPECT_GT(d, 0);
      EXPECT_LT(d, 1);
    }
  }
}

// Uniform numbers on (a, b) where a + (b - a) u rounds to an end.
TEST(RngFunctions, RangesNeverReachTheirEnds) {
  const auto ends = [](float a, float b) {
    const random::Uniform<float> d{a, b - a, std::nextafter(a, b), std::nextafter(b, a)};
    for (const std::uint32_t w : {0u, 0xffffffffu}) {
      float v[4];
      d({{w, w, w, w}}, {}, 0, v);
      EXPECT_GT(v[0], a) << a << ", " << b;
      EXPECT_LT(v[0], b) << a << ", " << b;
    }
  };
  ends(1, std::nextafter(std::nextafter(1.f, 2.f), 2.f));
  ends(-1e30f, 1e30f);
  ends(16777216, 16777220);
  ends(-std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::denorm_min());
  ends(0, 1);
  ends(-1, 1);
}

// Normal numbers depend on a word through float(word): all its values, 1 to 2^31 and their negatives, and 0, which counts
// as 2.
TEST(RngFunctions, RadiiOfAllWordsAreFiniteAndRight) {
  double worst = 0;
  const auto check = [&worst](std::uint32_t w) {
    const double s = w == 0 ? 2 : static_cast<double>(static_cast<float>(static_cast<std::int32_t>(w)));
    const double exact = s > 0 ? std::sqrt(-2 * std::log(s * 0x1p-32)) : std::sqrt(-2 * std::log1p(s * 0x1p-32));
    const float r = random::radius(w);
    worst = std::max(worst, std::abs(r - exact) / exact);
    return r > 0 && r < 6.67f && std::abs(r - exact) <= 0x1p-22 * exact;
  };
  std::int64_t wrong = 0;
  // every float below 2^24, then a step of one float's distance; with AddressSanitizer this is the same code
  for (std::uint64_t w = 0; w < (1u << 24); w += size_or(1u, 61u)) {
    wrong += !check(static_cast<std::uint32_t>(w));
    wrong += !check(static_cast<std::uint32_t>(-static_cast<std::int64_t>(w)));
  }
  for (std::uint64_t w = 1u << 24; w <= (std::uint64_t{1} << 31);
       w += size_or(1u, 61u) * std::max<std::uint64_t>(1, (w >> 24) * 3)) {
    wrong += !check(static_cast<std::uint32_t>(std::min<std::uint64_t>(w, 0x7fffffff)));
    wrong += !check(static_cast<std::uint32_t>(-static_cast<std::int64_t>(w)));
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LT(worst, 0x1.b8p-23);
}

TEST(RngFunctions, ErrorsInUnitsOfRounding) {
  std::mt19937_64 g(1);
  double log_double = 0, log_table = 0, log_float = 0, sine = 0, cosine = 0, sine_f = 0, cosine_f = 0, e_double = 0,
         e_float = 0;
  const auto error = [](double x, long double exact) { return static_cast<double>(std::abs((x - exact) / exact)); };
  for (int i = 0; i < 400000; ++i) {
    const std::uint64_t bits = g();
    // towards 0 and 1 too
    const double v = random::open_unit(static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32));
    const double u = i % 3 == 0 ? v : i % 3 == 1 ? std::ldexp(v, -(i % 50)) : 1 - std::ldexp(1.0, -(i % 52) - 1);
    const long double exact = -2 * std::log(static_cast<long double>(u));
    log_double = std::max(log_double, error(random::minus_two_log(u), exact));
    log_table = std::max(log_table, error(random::minus_two_log_by_table(u), exact));
    const auto w = static_cast<std::uint32_t>(bits);
    const float k = static_cast<float>(static_cast<std::int32_t>((w | 2u) >> 1));
    if (k < 0x1p31f) log_float = std::max(log_float, error(random::minus_two_log(w), -2 * std::log(k * 0x1p-31L)));
    const double t = v - 0.5;
    double s, c;
    random::quarter_turn(t, s, c);
    const long double angle = 1.57079632679489661923L * t;
    sine = std::max(sine, error(s, std::sin(angle)));
    cosine = std::max(cosine, error(c, std::cos(angle)));
    float sf, cf;
    random::quarter_turn(static_cast<float>(t), sf, cf);
    const long double angle_f = 1.57079632679489661923L * static_cast<float>(t);
    sine_f = std::max(sine_f, error(sf, std::sin(angle_f)));
    cosine_f = std::max(cosine_f, error(cf, std::cos(angle_f)));
    const double x = 1400 * t;
    e_double = std::max(e_double, error(random::exp_of(x), std::exp(static_cast<long double>(x))));
    const float xf = static_cast<float>(160 * t);
    e_float = std::max(e_float, error(random::exp_of(xf), std::exp(static_cast<long double>(xf))));
  }
  EXPECT_LE(log_double, 4 * 0x1p-53);
  EXPECT_LE(log_table, 4 * 0x1p-53);
  EXPECT_LE(log_float, 6 * 0x1p-24);
  EXPECT_LE(sine, 3 * 0x1p-53);
  EXPECT_LE(cosine, 3 * 0x1p-53);
  EXPECT_LE(sine_f, 3 * 0x1p-24);
  EXPECT_LE(cosine_f, 3 * 0x1p-24);
  EXPECT_LE(e_double, 3 * 0x1p-53);
  EXPECT_LE(e_float, 3 * 0x1p-24);
  EXPECT_EQ(random::exp_of(800.0), infinity<double>);
  EXPECT_EQ(random::exp_of(-800.0), 0.0);
  EXPECT_EQ(random::exp_of(100.0f), infinity<float>);
  EXPECT_EQ(random::exp_of(-120.0f), 0.0f);
  EXPECT_EQ(random::exp_of(0.0), 1.0);
}

TEST(RngFunctions, LogFactorials) {
  for (double k : {0.0, 1.0, 2.0, 6.0, 7.0, 8.0, 20.0, 170.0, 1e6, 1e9})
    EXPECT_NEAR(random::Poisson::log_factorial(k), std::lgamma(k + 1), 1e-11 + 2e-15 * std::lgamma(k + 1)) << k;
}

// ---- many numbers ----

template <class T, class F>
void check_continuous(const std::string& what, const std::vector<T>& x, double mean, double variance, double fourth,
                      F&& cdf, T median) {
  SCOPED_TRACE(what);
  double sum = 0, squares = 0;
  for (const T v : x) {
    const double d = static_cast<double>(v) - mean;
    sum += d;
    squares += d * d;
  }
  const double count = static_cast<double>(x.size());
  EXPECT_LT(std::abs(sum / count), 4.5 * std::sqrt(variance / count)) << "mean";
  EXPECT_LT(std::abs(squares / count - variance), 4.5 * std::sqrt((fourth - variance * variance) / count))
      << "variance";
  EXPECT_LT(kolmogorov_smirnov(x, cdf), 2.3);
  EXPECT_LT(std::abs(runs_test(x, median)), 4.5);
  // Neighbours are not correlated, in the sequence and between the places of a quad and of a pair.
  for (const std::size_t lag : {std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{65536}}) {
    double product = 0;
    for (std::size_t i = 0; i + lag < x.size(); ++i)
      product += (static_cast<double>(x[i]) - mean) * (static_cast<double>(x[i + lag]) - mean);
    EXPECT_LT(std::abs(product), 4.5 * variance * std::sqrt(count)) << "correlation at distance " << lag;
  }
}

template <class T>
void check_real_distributions(std::int64_t n, Queue& q) {
  const std::string type = name_of(type_traits<T>::type);
  for (const Generator kind : own_generators()) {
    const std::string who = type + ", " + name_of(kind) + ": ";
    Rng rng(q, kind, 2026);
    check_continuous(
        who + "uniform", drawn<T>(n, q, [&](auto A) { rng.uniform<T>(A, q); }), 0.5, 1 / 12., 1 / 80.,
        [](double x) { return x; }, T(0.5));
    check_continuous(
        who + "uniform (-3, 5)", drawn<T>(n, q, [&](auto A) { rng.uniform<T>(-3, 5, A, q); }), 1, 64 / 12., 4096 / 80.,
        [](double x) { return (x + 3) / 8; }, T(1));
    check_continuous(who + "normal", drawn<T>(n, q, [&](auto A) { rng.normal<T>(A, q); }), 0, 1, 3, normal_cdf, T(0));
    check_continuous(
        who + "normal 2, 3", drawn<T>(n, q, [&](auto A) { rng.normal<T>(2, 3, A, q); }), 2, 9, 243,
        [](double x) { return normal_cdf((x - 2) / 3); }, T(2));
    check_continuous(
        who + "exponential", drawn<T>(n, q, [&](auto A) { rng.exponential<T>(2, A, q); }), 2, 4, 9 * 16,
        [](double x) { return 1 - std::exp(-x / 2); }, T(2 * std::log(2.)));
    const double s2 = 0.25, e = std::exp(s2);  // sigma = 1/2
    const double variance = (e - 1) * e, kurtosis = std::pow(e, 4) + 2 * std::pow(e, 3) + 3 * e * e - 3;
    check_continuous(
        who + "lognormal", drawn<T>(n, q, [&](auto A) { rng.lognormal<T>(0, T(0.5), A, q); }), std::exp(s2 / 2),
        variance, kurtosis * variance * variance, [](double x) { return normal_cdf(2 * std::log(x)); }, T(1));
  }
}
TEST_P(RngDistributions, RealNumbers) {
  check_real_distributions<float>(many(), q());
}
TEST_P(RngDistributions, DoubleNumbers) {
  check_real_distributions<double>(many(), q());
}

TEST_P(RngDistributions, SigmaZeroIsTheMean) {
  Rng rng(q());
  for (const float x : drawn<float>(100, q(), [&](auto A) { rng.normal<float>(3, 0, A, q()); })) ASSERT_EQ(x, 3);
}

TEST_P(RngDistributions, PairsFillTheSquareEvenly) {
  // 64 x 64 cells, also for the two numbers of a Box-Muller pair through their distribution function.
  const std::int64_t n = many();
  for (const Generator kind : own_generators()) {
    Rng rng(q(), kind, 5);
    const auto u = drawn<float>(n, q(), [&](auto A) { rng.uniform<float>(A, q()); });
    const auto x = drawn<float>(n, q(), [&](auto A) { rng.normal<float>(A, q()); });
    std::vector<std::int64_t> uniform(4096), normal(4096);
    for (std::size_t i = 0; i + 1 < u.size(); i += 2) {
      uniform[static_cast<std::size_t>(u[i] * 64) * 64 + static_cast<std::size_t>(u[i + 1] * 64)]++;
      normal[static_cast<std::size_t>(normal_cdf(x[i]) * 64) * 64 +
             static_cast<std::size_t>(normal_cdf(x[i + 1]) * 64)]++;
    }
    const std::vector<double> expected(4096, static_cast<double>(n) / 2 / 4096);
    EXPECT_LT(std::abs(chi_square(uniform, expected)), 4.5) << name_of(kind);
    EXPECT_LT(std::abs(chi_square(normal, expected)), 4.5) << name_of(kind);
  }
}

TEST_P(RngDistributions, StreamsAreNotCorrelated) {
  for (const Generator kind : own_generators()) {
    std::vector<std::vector<double>> x;
    for (std::uint64_t stream = 0; stream < 6; ++stream) {
      Rng rng(q(), kind, 9, stream);
      x.push_back(drawn<double>(1 << 17, q(), [&](auto A) { rng.normal<double>(A, q()); }));
    }
    for (std::size_t a = 0; a < x.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        double product = 0;
        for (std::size_t i = 0; i < x[a].size(); ++i) product += x[a][i] * x[b][i];
        EXPECT_LT(std::abs(product), 4.5 * std::sqrt(static_cast<double>(x[a].size())))
            << name_of(kind) << " " << a << " " << b;
      }
  }
}

// ---- whole numbers ----

TEST_P(RngDistributions, IntegersAreEvenlyLikely) {
  const std::int64_t n = many();
  for (const Generator kind : own_generators())
    for (const auto& ends : {std::pair<std::int32_t, std::int32_t>{1, 6},
                             {-3, 996},
                             {0, 0},
                             {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()},
                             // 3 2^30 numbers: with a bias, the thirds of the range would be as 2 : 1 : 1
                             {std::numeric_limits<std::int32_t>::min(), 0x3fffffff}}) {
      Rng rng(q(), kind, 31);
      const auto x = drawn<std::int32_t>(n, q(), [&](auto A) { rng.integers(ends.first, ends.second, A, q()); });
      const std::int64_t range = static_cast<std::int64_t>(ends.second) - ends.first + 1;
      const std::int64_t classes = std::min<std::int64_t>(range, 1000);
      if (classes == 1) {
        for (const auto v : x) ASSERT_EQ(v, ends.first);
        continue;
      }
      std::vector<std::int64_t> counts(static_cast<std::size_t>(classes));
      std::vector<double> expected;
      for (std::int64_t c = 0; c < classes; ++c) {  // class c: the offsets with floor(offset classes / range) == c
        const std::int64_t begin = (c * range + classes - 1) / classes, end = ((c + 1) * range + classes - 1) / classes;
        expected.push_back(static_cast<double>(n) * static_cast<double>(end - begin) / static_cast<double>(range));
      }
      for (const auto v : x) {
        ASSERT_GE(v, ends.first);
        ASSERT_LE(v, ends.second);
        counts[static_cast<std::size_t>((static_cast<std::int64_t>(v) - ends.first) * classes / range)]++;
      }
      EXPECT_LT(std::abs(chi_square(counts, expected)), 4.5)
          << name_of(kind) << " " << ends.first << " to " << ends.second;
    }
}

TEST_P(RngDistributions, PoissonNumbers) {
  for (const Generator kind : own_generators())
    for (const double mean : {1e-3, 0.5, 3.0, 12.0, 100.0, 999.0, 1001.0, 5000.0, 1e8}) {
      SCOPED_TRACE(std::string(name_of(kind)) + ", mean " + std::to_string(mean));
      Rng rng(q(), kind, 13);
      const std::int64_t n = many() / 4;
      const auto x = drawn<std::int32_t>(n, q(), [&](auto A) { rng.poisson(mean, A, q()); });
      double sum = 0, squares = 0;
      std::vector<std::int64_t> counts(1);
      std::vector<double> expected(1);
      // one class for each number that is expected ten times, and one for the rest
      const auto probability = [&](double k) { return std::exp(k * std::log(mean) - mean - std::lgamma(k + 1)); };
      const double spread = 6 * std::sqrt(mean) + 10;
      const auto lowest = static_cast<std::int64_t>(std::max(0.0, std::floor(mean - spread)));
      const auto highest = static_cast<std::int64_t>(mean + spread);
      const bool fine = highest - lowest < 2000;
      std::vector<std::size_t> class_of(fine ? static_cast<std::size_t>(highest - lowest + 1) : 0, 0);
      double rest = 1;
      for (std::size_t i = 0; i < class_of.size(); ++i) {
        const double p = probability(static_cast<double>(lowest) + static_cast<double>(i));
        if (p * n < 10) continue;
        class_of[i] = counts.size();
        counts.push_back(0);
        expected.push_back(p * n);
        rest -= p;
      }
      expected[0] = std::max(rest, 0.0) * n + 1e-300;
      for (const auto k : x) {
        ASSERT_GE(k, 0);
        const double d = k - mean;
        sum += d;
        squares += d * d;
        if (fine) counts[k >= lowest && k <= highest ? class_of[static_cast<std::size_t>(k - lowest)] : 0]++;
      }
      EXPECT_LT(std::abs(sum / n), 4.5 * std::sqrt(mean / n));
      EXPECT_LT(std::abs(squares / n - mean), 4.5 * std::sqrt((mean + 2 * mean * mean) / n));
      if (!fine) continue;
      if (expected[0] < 5) {
        EXPECT_LT(counts[0], 25);
      } else if (counts.size() > 2) {
        EXPECT_LT(std::abs(chi_square(counts, expected)), 6);
      }
    }
}

TEST_P(RngDistributions, PoissonTablesReachFarIntoTheTails) {
  // Numbers below the first and above the last entry of which 2^32 draws would see one.
  Rng rng(q());
  EXPECT_EQ(drawn<std::int32_t>(100, q(), [&](auto A) { rng.poisson(0, A, q()); }), std::vector<std::int32_t>(100, 0));
  const auto x = drawn<std::int32_t>(1 << 20, q(), [&](auto A) { rng.poisson(1e-6, A, q()); });
  const auto ones = std::count_if(x.begin(), x.end(), [](auto k) { return k > 0; });
  EXPECT_LE(ones, 9);  // expected 1.05
}

TEST_P(RngDistributions, BernoulliNumbers) {
  const std::int64_t n = many();
  for (const Generator kind : own_generators())
    for (const double p : {0.0, 1e-30, 0.001, 0.3, 0.5, 1 - 0x1p-53, 1.0}) {
      Rng rng(q(), kind, 17);
      const auto x = drawn<float>(n, q(), [&](auto A) { rng.bernoulli<float>(p, A, q()); });
      double sum = 0;
      for (const float v : x) {
        ASSERT_TRUE(v == 0 || v == 1);
        sum += v;
      }
      EXPECT_LE(std::abs(sum / n - p), 4.5 * std::sqrt(p * (1 - p) / n)) << name_of(kind) << ", p = " << p;
    }
}

// Ties in the upper half of the 64 bits: p = 2^-32 k + 2^-33, by a generator whose words are all k.
TEST(RngFunctions, BernoulliAndDiscreteDecideTiesByTheLowerHalf) {
  const random::Bernoulli<float> half{std::uint64_t{7} << 32 | 0x80000000u, false};
  int ones = 0;
  for (std::uint64_t block = 0; block < 4096; ++block) {
    float v[4];
    half({{7, 7, 6, 8}}, random::Philox{1, 0}, block, v);
    ones += static_cast<int>(v[0] + v[1]);
    ASSERT_EQ(v[2], 1);
    ASSERT_EQ(v[3], 0);
  }
  EXPECT_NEAR(ones, 4096, 5 * std::sqrt(2048.0));
  std::vector<std::uint32_t> entries(random::Discrete::guides, 0);
  entries.insert(entries.end(), {7u, 0xffffffffu, 0x80000000u, 0xffffffffu});
  const random::Discrete two{entries.data(), 10, 2};
  int lower = 0;
  for (std::uint64_t block = 0; block < 4096; ++block) {
    std::int32_t v[4];
    two({{7, 7, 6, 8}}, random::Philox{1, 0}, block, v);
    lower += (v[0] == 10) + (v[1] == 10);
    ASSERT_EQ(v[2], 10);
    ASSERT_EQ(v[3], 11);
  }
  EXPECT_NEAR(lower, 4096, 5 * std::sqrt(2048.0));
}

// ---- paper 002: the runs test for 6 * 1024 times 1 to 10,000 numbers; on the host, whose bits are the same, to 2000 ----

TEST_P(RngDistributions, RunsTestOfThePaper) {
  for (const Generator kind : own_generators()) {
    Rng rng(q(), kind, 2);
    int beyond = 0, tests = 0;
    for (const std::int64_t times : {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000}) {
      if (times > (q().on_cuda() ? 10000 : many() / 500)) break;
      const auto x = drawn<float>(times * 6 * 1024, q(), [&](auto A) { rng.uniform<float>(A, q()); });
      const double z = runs_test(x, 0.5f);
      EXPECT_LT(std::abs(z), 4.5) << name_of(kind) << ", " << times << " x 6 x 1024";
      ++tests;
      beyond += std::abs(z) > 1.96;  // the paper's level, 5 %
    }
    EXPECT_LE(beyond, 4) << "of " << tests << ", " << name_of(kind);
  }
}

}  // namespace
