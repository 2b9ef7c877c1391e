// The generators: published known answers, jumps, streams, positions, seeds, the kept state, and cuRAND's own. Runs in
// places().
#include <cstdio>
#include <fstream>
#include <limits>
#include <set>

#include "failing_allocations.hpp"
#include "rng_support.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

class RngGenerators : public InEachPlace {};
DEVOBJ_IN_EACH_PLACE(RngGenerators);

std::vector<std::uint32_t> unsigned_words(Rng& rng, std::int64_t count, Queue& q) {
  const auto words = words_of(rng, count, q);
  return {words.begin(), words.end()};
}

// ---- known answers ----

// Random123's kat_vectors: philox4x32 with ten rounds.
TEST(Philox, KnownAnswers) {
  struct Known {
    std::uint32_t counter[4];
    std::uint64_t key;
    std::uint32_t answer[4];
  };
  constexpr Known known[] = {{{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
                             {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                              ~std::uint64_t{0},
                              {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
                             {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                              0x299f31d0a4093822,
                              {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
  for (const Known& k : known) {
    const random::Quad quad =
        random::philox_rounds({{k.counter[0], k.counter[1], k.counter[2], k.counter[3]}}, random::PhiloxKeys(k.key));
    for (int i = 0; i < 4; ++i) EXPECT_EQ(quad.w[i], k.answer[i]) << i;
  }
}

/// A row's quads are the cipher's, at its ends, in its middle, and where block and stream need all their bits.
TEST(Philox, RowsAreTheCipher) {
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{0x0123456789abcdef}, ~std::uint64_t{0}})
    for (const std::uint64_t stream : {std::uint64_t{0}, std::uint64_t{77777}, random::Philox::streams - 1})
      for (const std::uint64_t number :
           {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x123456789ab}, (std::uint64_t{1} << 46) - 1}) {
        const random::Philox g{seed, stream};
        const random::PhiloxKeys keys(seed);
        const std::uint64_t begin = number << 16;
        const random::PhiloxRow row(g, begin + 12345, keys);
        for (const std::uint32_t place : {0u, 1u, 4096u, 40000u, 65535u}) {
          const random::Quad expected = g.quad(begin + place, keys), found = row.quad(place, keys);
          for (int k = 0; k < 4; ++k)
            EXPECT_EQ(found.w[k], expected.w[k]) << seed << ' ' << stream << ' ' << begin + place;
        }
      }
}

TEST_P(RngGenerators, PhiloxIsRandom123s) {
  Rng rng(q(), Generator::philox, 0);
  EXPECT_EQ(unsigned_words(rng, 4, q()), (std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

// The place of a word: cuRAND's legacy order of 65536 subsequences, of which stream s has those from 65536 s on.
TEST_P(RngGenerators, PhiloxHasCurandsOrder) {
  const std::uint64_t seed = 0xfedcba9876543210u, stream = 0x123456789abu;
  for (const std::uint64_t block : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{65535}, std::uint64_t{65536},
                                    std::uint64_t{1} << 40, (std::uint64_t{1} << 62) - 2}) {
    Rng rng(q(), Generator::philox, seed, stream);
    rng.skip(4 * block);
    const std::uint64_t offset = block / 65536, subsequence = stream * 65536 + block % 65536;
    const random::Quad expected = random::philox_rounds(
        {{static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(offset >> 32),
          static_cast<std::uint32_t>(subsequence), static_cast<std::uint32_t>(subsequence >> 32)}},
        random::PhiloxKeys(seed));
    EXPECT_EQ(unsigned_words(rng, 4, q()), std::vector<std::uint32_t>(expected.w, expected.w + 4)) << block;
  }
}

// xoshiro128++ as its authors publish it, with their jump functions.
struct Published {
  std::uint32_t s[4];
  static std::uint32_t rotl(std::uint32_t x, int k) { return (x << k) | (x >> (32 - k)); }
  std::uint32_t next() {
    const std::uint32_t result = rotl(s[0] + s[3], 7) + s[0], t = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 11);
    return result;
  }
  void jump(const std::uint32_t (&polynomial)[4]) {
    std::uint32_t sum[4] = {};
    for (const std::uint32_t word : polynomial)
      for (int bit = 0; bit < 32; ++bit) {
        if (word & (1u << bit))
          for (int k = 0; k < 4; ++k) sum[k] ^= s[k];
        next();
      }
    for (int k = 0; k < 4; ++k) s[k] = sum[k];
  }
};
constexpr std::uint32_t jump_2_64[] = {0x8764000b, 0xf542d2d3, 0x6fa035c3, 0x77f2db5b};
constexpr std::uint32_t jump_2_96[] = {0xb523952e, 0x0b6f099f, 0xccf5a0ef, 0x1c580662};

TEST(Xoshiro, TheStateIsTheAuthorsSeed) {
  // SplitMix64 from seed 0: 0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4
  const random::Xoshiro state = random::seeded(0);
  EXPECT_EQ(state.s[0], 0x7b1dcdafu);
  EXPECT_EQ(state.s[1], 0xe220a839u);
  EXPECT_EQ(state.s[2], 0xa1b965f4u);
  EXPECT_EQ(state.s[3], 0x6e789e6au);
}

TEST(Xoshiro, StepsAndJumpsAreThePublishedOnes) {
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    random::Xoshiro ours = random::seeded(seed);
    Published theirs = {{ours.s[0], ours.s[1], ours.s[2], ours.s[3]}};
    const auto same = [&](const char* what) {
      for (int k = 0; k < 4; ++k) EXPECT_EQ(ours.s[k], theirs.s[k]) << what;
    };
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(ours.next(), theirs.next());
    ours = random::after(ours, 1, 64);
    theirs.jump(jump_2_64);
    same("2^64 steps");
    ours = random::after(ours, 3, 96);
    for (int i = 0; i < 3; ++i) theirs.jump(jump_2_96);
    same("3 2^96 steps");
    ours = random::after(ours, 777, 0);
    for (int i = 0; i < 777; ++i) theirs.next();
    same("777 steps");
  }
}

TEST_P(RngGenerators, LanesAreThePublishedJumpsApart) {
  Rng rng(q(), Generator::state, 5, 1);
  const auto words = unsigned_words(rng, 4 * 40, q());
  const random::Xoshiro start = random::seeded(5);
  Published lane = {{start.s[0], start.s[1], start.s[2], start.s[3]}};
  lane.jump(jump_2_96);
  for (std::size_t l = 0; l < 40; ++l) {
    Published steps = lane;
    for (std::size_t k = 0; k < 4; ++k) ASSERT_EQ(words[4 * l + k], steps.next()) << "lane " << l;
    lane.jump(jump_2_64);
  }
}

// ---- positions, seeds, streams ----

TEST_P(RngGenerators, SkippingIsDrawing) {
  for (const Generator kind : own_generators()) {
    Rng whole(q(), kind, 21);
    const std::int64_t far = 4 * random::lanes + 9;
    const auto words = words_of(whole, far + 50, q());
    for (const std::int64_t begin :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{3}, std::int64_t{4}, std::int64_t{17}, far - 13, far}) {
      Rng rng(q(), kind, 21);
      rng.skip(static_cast<std::uint64_t>(begin));
      const auto part = words_of(rng, 50, q());
      expect_same_bits(part, {words.begin() + begin, words.begin() + begin + 50}, std::to_string(begin));
    }
  }
}

TEST_P(RngGenerators, SeedingAgainRewinds) {
  for (const Generator kind : own_generators()) {
    Rng rng(q(), kind, 1, 2);
    const auto first = words_of(rng, 101, q());
    rng.seed(1, 2);
    EXPECT_EQ(rng.position(), 0u);
    EXPECT_EQ(words_of(rng, 101, q()), first);
    rng.seed(1, 3);
    EXPECT_NE(words_of(rng, 101, q()), first);
  }
}

TEST_P(RngGenerators, AnySeed) {
  for (const Generator kind : own_generators()) {
    std::set<std::vector<std::int32_t>> seen;
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1} << 32,
                                     std::uint64_t{1} << 63, ~std::uint64_t{0}, static_cast<std::uint64_t>(-2)}) {
      Rng rng(q(), kind, seed), twin(q(), kind, seed);
      const auto words = words_of(rng, 64, q());
      EXPECT_EQ(words_of(twin, 64, q()), words) << "two generators with one seed";
      EXPECT_TRUE(seen.insert(words).second) << "seed " << seed;
    }
  }
}

TEST_P(RngGenerators, StreamsHaveNoWordsInCommonPlaces) {
  // 64-bit pieces of 16 streams: a common one would be a chance of 2^-41.
  for (const Generator kind : own_generators()) {
    std::set<std::uint64_t> seen;
    std::size_t count = 0;
    for (const std::uint64_t stream : {0ull, 1ull, 2ull, 3ull, 65535ull, 65536ull, 0xffffffffull, 0x12345678ull}) {
      Rng rng(q(), kind, 3, stream);
      const auto w = unsigned_words(rng, 4096, q());
      for (std::size_t i = 0; i + 1 < w.size(); i += 2, ++count)
        seen.insert(static_cast<std::uint64_t>(w[i]) << 32 | w[i + 1]);
    }
    EXPECT_EQ(seen.size(), count) << name_of(kind);
  }
}

TEST_P(RngGenerators, TwoGeneratorsDoNotDisturbEachOther) {
  for (const Generator kind : own_generators()) {
    Rng a(q(), kind, 1), b(q(), kind, 2), alone(q(), kind, 1);
    std::vector<std::int32_t> together;
    for (int i = 0; i < 5; ++i) {
      const auto part = words_of(a, 30 + i, q());
      together.insert(together.end(), part.begin(), part.end());
      words_of(b, 17, q());
    }
    EXPECT_EQ(words_of(alone, 160, q()), together);
  }
}

TEST_P(RngGenerators, TheEndOfASequenceIsAnError) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  for (const Generator kind : own_generators()) {
    Rng rng(q(), kind, 1);
    rng.skip(most - 8);
    EXPECT_EQ(rng.position(), most - 8);
    EXPECT_INVALID(rng.skip(9), "9 words from position 18446744073709551607 on are beyond the end of the sequence");
    Matrix<std::int32_t> A(9, 1, q());
    laset<float>(Uplo::General, 3, 3, View<float>(reinterpret_cast<float*>(A.data), 9, 1), q());
    const auto before = download<std::int32_t>(A, q());
    EXPECT_INVALID(rng.words(A, q()), "rng_words: 9 numbers from position 18446744073709551607 on are beyond the end");
    Matrix<double> B(4, 1, q());
    EXPECT_INVALID(rng.uniform<double>(B, q()), "beyond the end");  // from the next even word on
    expect_same(download<std::int32_t>(A, q()), before, "A");
    EXPECT_EQ(rng.position(), most - 8);
    const auto last = unsigned_words(rng, 8, q());
    EXPECT_EQ(rng.position(), most);
    if (kind == Generator::philox) {
      const random::Quad quad = random::Philox{1, 0}.quad(most / 4);
      EXPECT_EQ(last[7], quad.w[2]);
      EXPECT_EQ(last[5], quad.w[0]);
    }
  }
}

// ---- the state ----

TEST_P(RngGenerators, GoesOnFromASavedState) {
  Queue other(Backend::host);
  for (const Generator kind : own_generators())
    for (const std::int64_t used : {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, 4 * random::lanes + 2}) {
      Rng rng(q(), kind, 77, 5);
      words_of(rng, used, q());
      const RngState saved = rng.save();
      const std::string file = testing::TempDir() + "devobj_rng_" + name_of(kind) + "_" + GetParam().name;
      rng.save(file);
      const auto rest = words_of(rng, 1000, q());
      Rng from_memory(q()), from_file(q(), Generator::state, 3), elsewhere(other);
      from_memory.restore(saved);
      from_file.restore(file);
      elsewhere.restore(saved);
      EXPECT_EQ(words_of(from_memory, 1000, q()), rest);
      EXPECT_EQ(words_of(from_file, 1000, q()), rest);
      EXPECT_EQ(words_of(elsewhere, 1000, other), rest) << "on the other backend";
      std::remove(file.c_str());
      EXPECT_EQ(from_memory.seed(), 77u);
      EXPECT_EQ(from_memory.stream(), 5u);
      EXPECT_EQ(from_memory.generator(), kind);
    }
}

TEST_P(RngGenerators, ADamagedStateIsAnError) {
  Rng rng(q(), Generator::state, 8);
  words_of(rng, 5, q());
  const RngState saved = rng.save();
  for (std::size_t i = 0; i < saved.size(); ++i) {
    RngState damaged = saved;
    damaged[i] ^= 1;
    EXPECT_INVALID(rng.restore(damaged), std::string(i == 0 ? "this is no saved state" : "the saved state is damaged"));
  }
  const std::string file = testing::TempDir() + "devobj_rng_damaged_" + GetParam().name;
  rng.save(file);
  const auto write = [&](const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  };
  std::string bytes(48, '\0');
  std::ifstream(file, std::ios::binary).read(bytes.data(), 48);
  write(bytes.substr(0, 47));
  EXPECT_INVALID(rng.restore(file), "has only 47 bytes, a saved state has 48");
  write(bytes + "x");
  EXPECT_INVALID(rng.restore(file), "has more than 48 bytes");
  bytes[20] = static_cast<char>(bytes[20] ^ 4);
  write(bytes);
  EXPECT_INVALID(rng.restore(file), "the saved state is damaged");
  std::remove(file.c_str());
  EXPECT_INVALID(rng.restore(file), "cannot be read");
  EXPECT_EQ(rng.position(), 5u);
}

TEST_P(RngGenerators, FailedAllocationsChangeNothing) {
  for (const Generator kind : own_generators()) {
    Rng rng(q(), kind, 4);
    Matrix<std::int32_t> A(100, 1, q());
    const int failures = fail_each_allocation([&] { rng.poisson(3, A, q()); }, [&] { EXPECT_EQ(rng.position(), 0u); });
    EXPECT_GE(failures, 1);
    Rng twin(q(), kind, 4);
    Matrix<std::int32_t> B(100, 1, q());
    twin.poisson(3, B, q());
    expect_same(download<std::int32_t>(A, q()), download<std::int32_t>(B, q()), "A");
  }
}

// ---- errors of the arguments ----

TEST_P(RngGenerators, WrongGenerators) {
  EXPECT_INVALID(generator_of("mt"), "rng: generator is 'mt', must be one of philox, state, curand_philox, xorwow");
  EXPECT_EQ(generator_of("Scrambled_SOBOL64"), Generator::scrambled_sobol64);
  for (int g = 0; g < generators; ++g) EXPECT_EQ(static_cast<int>(generator_of(name_of(static_cast<Generator>(g)))), g);
  EXPECT_INVALID(Rng(q(), static_cast<Generator>(11)), "generator is 11, must be 0 to 10");
  EXPECT_INVALID(Rng(q(), Generator::philox, 0, std::uint64_t{1} << 48), "'philox' has streams 0 to 281474976710655");
  EXPECT_INVALID(Rng(q(), Generator::state, 0, std::uint64_t{1} << 32), "'state' has streams 0 to 4294967295");
  if (!q().on_cuda()) {
    EXPECT_DEVOBJ_ERROR(Rng(q(), Generator::xorwow), Status::not_supported,
                        "'xorwow' is cuRAND's, which the host backend");
  } else {
    EXPECT_INVALID(Rng(q(), Generator::xorwow, 0, 1), "'xorwow' has streams 0 to 0");
    Queue host(Backend::host);
    Rng rng(q());
    Matrix<float> A(1, 1, host);
    EXPECT_INVALID(rng.uniform<float>(A, host),
                   "the queue is of the host backend, but the generator of the cuda backend");
  }
}

TEST_P(RngGenerators, WrongParameters) {
  Rng rng(q());
  Dense<double> a(3, 1, 5.0);
  Matrix<double> A = upload(a, q());
  Matrix<float> F(3, 1, q());
  Matrix<std::int32_t> I(3, 1, q());
  const double inf = infinity<double>, no = std::numeric_limits<double>::quiet_NaN();
  EXPECT_INVALID(rng.uniform<double>(1, 1, A, q()), "rng_uniform: a is 1, must be less than b, which is 1");
  EXPECT_INVALID(rng.uniform<double>(2, 1, A, q()), "a is 2, must be less than b, which is 1");
  EXPECT_INVALID(rng.uniform<double>(no, 1, A, q()), "a and b are nan and 1, must be finite");
  EXPECT_INVALID(rng.uniform<double>(0, inf, A, q()), "must be finite");
  EXPECT_INVALID(rng.uniform<double>(-1.7e308, 1.7e308, A, q()), "is too large");
  EXPECT_INVALID(rng.uniform<float>(1, std::nextafter(1.f, 2.f), F, q()), "there is no number between a = 1 and b = 1");
  EXPECT_INVALID(rng.normal<double>(no, 1, A, q()), "rng_normal: mean is nan, must be finite");
  EXPECT_INVALID(rng.normal<double>(0, -1, A, q()), "sigma is -1, must be finite and at least 0");
  EXPECT_INVALID(rng.normal<double>(0, inf, A, q()), "sigma is inf");
  EXPECT_INVALID(rng.lognormal<double>(0, no, A, q()), "rng_lognormal: sigma is nan");
  for (const double mean : {0.0, -1.0, inf, no})
    EXPECT_INVALID(rng.exponential<double>(mean, A, q()), "must be finite and above 0");
  for (const double mean : {-1.0, 1.1e9, inf, no})
    EXPECT_INVALID(rng.poisson(mean, I, q()), "must be within 0 and 2^30");
  for (const double p : {-0.1, 1.1, no}) EXPECT_INVALID(rng.bernoulli<double>(p, A, q()), "must be within 0 and 1");
  EXPECT_INVALID(rng.integers(3, 2, I, q()), "lowest is 3, must be at most highest, which is 2");
  EXPECT_EQ(rng.position(), 0u);
  expect_same(download<double>(A, q()), a, "A");
}

TEST_P(RngGenerators, NoNumbersAreNoWork) {
  for (const Generator kind : own_generators()) {
    Rng rng(q(), kind);
    rng.skip(3);
    rng.uniform<double>(View<double>(), q());
    rng.normal<float>(View<float>(nullptr, 0, 5, 1), q());
    rng.poisson(3, View<std::int32_t>(nullptr, 5, 0, 5), q());
    EXPECT_EQ(rng.position(), 3u);
  }
}

// ---- cuRAND's own ----

TEST_P(RngGenerators, CurandsPhiloxIsOurs) {
  if (!q().on_cuda()) GTEST_SKIP() << "skipped: cuRAND's generators are the cuda backend's";
  Rng ours(q(), Generator::philox, 0x123456789), theirs(q(), Generator::curand_philox, 0x123456789);
  EXPECT_EQ(words_of(theirs, 1000000, q()), words_of(ours, 1000000, q()));
  Matrix<double> A(501, 3, q()), B(501, 3, q());
  ours.normal<double>(1, 2, A, q());
  theirs.normal<double>(1, 2, B, q());
  expect_same(download<double>(A, q()), download<double>(B, q()), "normal numbers from the same words");
}

TEST_P(RngGenerators, CurandsGeneratorsGoOnAndRewind) {
  if (!q().on_cuda()) GTEST_SKIP() << "skipped: cuRAND's generators are the cuda backend's";
  for (int g = 2; g < generators; ++g) {
    const auto kind = static_cast<Generator>(g);
    SCOPED_TRACE(name_of(kind));
    constexpr std::int64_t n1 = 40000, n2 = 30000;
    Rng whole(q(), kind, 17), parts(q(), kind, 17), restored(q());
    const auto all = words_of(whole, n1 + n2, q());
    auto first = words_of(parts, n1, q());
    const RngState saved = parts.save();
    const auto second = words_of(parts, n2, q());
    const std::vector<std::int32_t> expected(all.begin() + n1, all.end());
    expect_same_bits(second, expected, "the second part");
    restored.restore(saved);
    expect_same_bits(words_of(restored, n2, q()), expected, "restored");
    parts.seed(17);
    expect_same_bits(words_of(parts, n1, q()), first, "rewound");
    parts.seed(17);
    parts.skip(n1);
    expect_same_bits(words_of(parts, n2, q()), expected, "skipped");
    if (is_quasi(kind)) continue;
    parts.seed(18);
    EXPECT_NE(words_of(parts, n1, q()), first) << "another seed";
  }
}

TEST_P(RngGenerators, CurandsGeneratorsHaveTheDistributions) {
  if (!q().on_cuda()) GTEST_SKIP() << "skipped: cuRAND's generators are the cuda backend's";
  constexpr std::int64_t n = 100003;  // odd, which cuRAND refuses for normal numbers
  for (int g = 2; g < generators; ++g) {
    const auto kind = static_cast<Generator>(g);
    SCOPED_TRACE(name_of(kind));
    Rng rng(q(), kind, 17);
    const auto u = drawn<double>(n, q(), [&](auto A) { rng.uniform<double>(A, q()); });
    EXPECT_GT(*std::min_element(u.begin(), u.end()), 0);
    EXPECT_LT(*std::max_element(u.begin(), u.end()), 1);
    EXPECT_LT(kolmogorov_smirnov(u, [](double x) { return x; }), 2.2);
    const auto f = drawn<float>(n, q(), [&](auto A) { rng.uniform<float>(-2, 3, A, q()); });
    EXPECT_LT(kolmogorov_smirnov(f, [](double x) { return (x + 2) / 5; }), 2.2);
    const auto x = drawn<float>(n, q(), [&](auto A) { rng.normal<float>(1, 2, A, q()); });
    EXPECT_LT(kolmogorov_smirnov(x, [](double v) { return normal_cdf((v - 1) / 2); }), 2.2);
    const auto e = drawn<double>(n, q(), [&](auto A) { rng.exponential<double>(3, A, q()); });
    EXPECT_LT(kolmogorov_smirnov(e, [](double v) { return 1 - std::exp(-v / 3); }), 2.2);
    const auto l = drawn<double>(n, q(), [&](auto A) { rng.lognormal<double>(0, 1, A, q()); });
    EXPECT_LT(kolmogorov_smirnov(l, [](double v) { return normal_cdf(std::log(v)); }), 2.2);
    Matrix<std::int32_t> I(10, 1, q());
    if (is_quasi(kind)) {
      EXPECT_DEVOBJ_ERROR(rng.integers(1, 6, I, q()), Status::not_supported, "the quasirandom generator");
      EXPECT_DEVOBJ_ERROR(rng.poisson(1, I, q()), Status::not_supported, "the quasirandom generator");
      EXPECT_LT(kolmogorov_smirnov(u, [](double v) { return v; }), 0.2) << "more even than chance";
      continue;
    }
    const auto dice = drawn<std::int32_t>(60000, q(), [&](auto A) { rng.integers(1, 6, A, q()); });
    std::vector<std::int64_t> counts(6);
    for (const auto d : dice) counts.at(static_cast<std::size_t>(d - 1))++;
    EXPECT_LT(std::abs(chi_square(counts, std::vector<double>(6, 10000.0))), 6);
    Padded<float> block(Dense<float>(17, 5), q());
    rng.normal<float>(block.view(), q());
    block.read("block");
  }
}

}  // namespace
