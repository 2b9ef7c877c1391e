// Draws of one number and of a few: numbers made ahead are those that a long draw has, bit for bit, whatever comes in
// between. EVERYWHERE: single numbers are made by the calling thread, for generators of every place.
#include <functional>
#include <thread>

#include "failing_allocations.hpp"
#include "kernels/host/simd.hpp"
#include "rng_few.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

class RngFew : public InEachPlace {};
DEVOBJ_IN_EACH_PLACE(RngFew);

TEST_P(RngFew, SingleNumbersAreThoseOfALongDraw) {
  constexpr std::int64_t count = 1000;
  for_each_single([&](const std::string& name, std::uint64_t words, auto one, auto many) {
    using T = ValueOf<decltype(one)>;
    for (const Generator kind : own_generators())
      for (const std::uint64_t skipped : {0u, 3u, 4u * 65536 - 30}) {
        Rng rng(q(), kind, 31, 2);
        rng.skip(skipped);
        std::vector<T> singles;
        for (std::int64_t i = 0; i < count; ++i) {
          singles.push_back(one(rng));
          const std::uint64_t start = (skipped + words - 1) / words * words;
          ASSERT_EQ(rng.position(), start + words * singles.size()) << name;
        }
        expect_same_bits(singles, long_draw<T>(many, kind, skipped, count, q()), name + ", " + name_of(kind));
      }
  });
}

TEST_P(RngFew, DrawsOfAnyLengthsInTurnAreOneLongDraw) {
  constexpr std::int64_t count = 3000;
  for_each_single([&](const std::string& name, std::uint64_t, auto one, auto many) {
    using T = ValueOf<decltype(one)>;
    for (const Generator kind : own_generators()) {
      Rng rng(q(), kind, 31, 2);
      std::vector<T> parts;
      std::uint32_t choice = 7;
      while (parts.size() < count) {
        choice = choice * 1664525u + 1013904223u;
        const std::int64_t left = count - static_cast<std::int64_t>(parts.size());
        const std::int64_t n =
            std::min<std::int64_t>(left, (choice >> 24) % 8 == 0 ? (choice >> 16) % 150 : (choice >> 16) % 5);
        if ((choice >> 30) == 0) {
          parts.push_back(one(rng));
        } else {
          const auto part = drawn<T>(n, q(), [&](View<T> A) { many(rng, A, q()); });
          parts.insert(parts.end(), part.begin(), part.end());
        }
      }
      expect_same_bits(parts, long_draw<T>(many, kind, 0, count, q()), name + ", " + name_of(kind));
    }
  });
}

TEST_P(RngFew, DistributionsAndParametersInTurn) {
  for (const Generator kind : own_generators()) {
    Checked checked(q(), kind);
    std::vector<std::function<void()>> draws;
    for_each_single([&](const std::string& name, std::uint64_t, auto one, auto) {
      draws.push_back([&checked, one, name] { checked.expect_the_same(name.c_str(), one); });
    });
    for (int i = 0; i < 3; ++i) {
      const double mean = i;
      draws.push_back([&checked, mean] {
        checked.expect_the_same("normal", [mean](Rng& r) { return r.normal(mean, 0.0); });
        checked.expect_the_same("normal", [mean](Rng& r) { return r.normal(mean == 0 ? -0.0 : mean, 0.0); });
        checked.expect_the_same("integers", [mean](Rng& r) { return r.integer(0, static_cast<int>(mean)); });
      });
    }
    std::uint32_t choice = 3;
    const int steps = kind == Generator::philox ? 3000 : 300;  // `state` made anew has 2^17 lanes to find
    for (int step = 0; step < steps && !HasFailure(); ++step) {
      choice = choice * 1664525u + 1013904223u;
      // now and then the same again and again, so that numbers are made ahead
      draws[(step % 100 < 50 ? step / 25 : choice >> 24) % draws.size()]();
    }
  }
}

TEST_P(RngFew, SkippingSavingAndSeedingInTheMiddle) {
  for (const Generator kind : own_generators()) {
    Checked checked(q(), kind);
    Rng& rng = checked.rng();
    const auto normal = [](Rng& r) { return r.normal(); };
    const auto uniform = [](Rng& r) { return r.uniform<float>(); };
    for (int i = 0; i < 40; ++i) rng.normal(), rng.uniform<float>();
    for (const std::uint64_t words : {1, 2, 3, 7, 16, 90, 1000, 0}) {
      rng.skip(words);
      checked.expect_the_same("after skipping", normal);
      checked.expect_the_same("after skipping", uniform);
      for (int i = 0; i < 20; ++i) rng.normal();
    }
    const RngState saved = rng.save();
    const double next = rng.normal();
    Rng other(q()), copy = rng.clone(q());
    for (int i = 0; i < 50; ++i) other.normal();
    other.restore(saved);
    EXPECT_EQ(other.normal(), next);
    EXPECT_EQ(other.position(), rng.position());
    EXPECT_EQ(copy.normal(), rng.normal());
    rng.restore(saved);
    EXPECT_EQ(rng.normal(), next);
    const Rng moved = std::move(copy);
    EXPECT_EQ(moved.seed(), 5u);
    for (const std::uint64_t seed : {5u, 6u, 6u}) {
      rng.seed(seed, 1);
      EXPECT_EQ(rng.position(), 0u);
      for (int i = 0; i < 3; ++i) checked.expect_the_same("after seeding", normal);
      rng.seed(seed, 3);
      for (int i = 0; i < 3; ++i) checked.expect_the_same("of another stream", normal);
      for (int i = 0; i < 100; ++i) rng.normal();
    }
  }
}

/// Draws by the calling thread and on the queue in turn: the lanes of `state` have to follow.
TEST_P(RngFew, BetweenLongDraws) {
  for (const Generator kind : own_generators()) {
    Rng whole(q(), kind, 12), rng(q(), kind, 12);
    constexpr std::int64_t count = 30000;
    const auto all = words_of(whole, count, q());
    std::vector<std::int32_t> parts;
    for (int round = 0; round < 12; ++round) {
      const auto part = words_of(rng, 700 + 13 * round, q());
      parts.insert(parts.end(), part.begin(), part.end());
      for (int i = 0; i < 37 * round; ++i) parts.push_back(static_cast<std::int32_t>(rng.word()));
    }
    while (parts.size() < count) parts.push_back(static_cast<std::int32_t>(rng.word()));
    parts.resize(count);
    expect_same_bits(parts, all, name_of(kind));
  }
}

/// Numbers made ahead, long draws, skips and seeds in turn leave every lane of `state` where it has to be: a lane that is
/// not shows when its turn comes again, 2^17 quads later.
TEST_P(RngFew, NoLaneIsLeftBehind) {
  constexpr std::int64_t row = 4 * random::lanes;
  const auto numbers = [](Rng& rng, int count) {
    for (int i = 0; i < count; ++i) rng.word();
  };
  using Steps = std::function<void(Rng&)>;
  const auto draw = [this](Rng& rng, std::int64_t count) { words_of(rng, count, q()); };
  const std::vector<std::pair<const char*, Steps>> cases = {
      {"numbers used up", [&](Rng& rng) { numbers(rng, 1 + 4 + 16 + 64 + 512 * 3); }},
      {"numbers left over", [&](Rng& rng) { numbers(rng, 1000); }},
      {"a long draw among the numbers made ahead", [&](Rng& rng) { numbers(rng, 600), draw(rng, 101); }},
      {"a long draw beyond them, and a skip",
       [&](Rng& rng) { numbers(rng, 600), draw(rng, 3000), rng.skip(4000), draw(rng, 200); }},
      {"a skip beyond them", [&](Rng& rng) { numbers(rng, 600), rng.skip(3001), numbers(rng, 100); }},
      {"two kinds in turn",
       [&](Rng& rng) {
         for (int i = 0; i < 700; ++i) rng.word(), rng.normal();
       }},
      {"another seed at the same place",
       [&](Rng& rng) {
         numbers(rng, 1);
         rng.seed(rng.seed() + 1);
         draw(rng, 1), rng.skip(100), draw(rng, 100);
       }},
      {"over the end of a row", [&](Rng& rng) { rng.skip(row - 300), numbers(rng, 900), draw(rng, 500); }},
  };
  for (const Generator kind : own_generators())
    for (const auto& [name, steps] : cases) {
      Rng rng(q(), kind, 14);
      steps(rng);
      Rng anew(q(), kind, rng.seed(), rng.stream());
      anew.skip(rng.position());
      const std::int64_t count = kind == Generator::state ? row + 900 : 5000;  // only `state` has lanes
      const auto expected = words_of(anew, count, q());
      expect_same_bits(words_of(rng, count, q()), expected, std::string(name) + ", " + name_of(kind));
    }
}

/// The lanes' rows: words around the last lane, and beyond 2^32.
TEST_P(RngFew, AcrossRowsAndBeyond32Bits) {
  for (const Generator kind : own_generators())
    for (const std::uint64_t edge :
         {std::uint64_t{4} * random::lanes, std::uint64_t{1} << 32, (std::uint64_t{1} << 62) + 4 * random::lanes}) {
      Rng rng(q(), kind, 9), singles(q(), kind, 9);
      for (Rng* r : {&rng, &singles}) r->skip(edge - 500);
      const auto expected = words_of(rng, 1000, q());
      std::vector<std::int32_t> actual;
      for (int i = 0; i < 1000; ++i) actual.push_back(static_cast<std::int32_t>(singles.word()));
      expect_same_bits(actual, expected, name_of(kind));
    }
}

TEST_P(RngFew, TheEndOfASequenceIsAnError) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  for (const Generator kind : own_generators()) {
    Rng rng(q(), kind, 1), whole(q(), kind, 1);
    for (Rng* r : {&rng, &whole}) r->skip(most - 301);
    const auto expected = words_of(whole, 301, q());
    std::vector<std::int32_t> actual;
    for (int i = 0; i < 301; ++i) actual.push_back(static_cast<std::int32_t>(rng.word()));
    expect_same_bits(actual, expected, name_of(kind));
    EXPECT_EQ(rng.position(), most);
    EXPECT_INVALID(rng.word(), "rng_words: 1 numbers from position 18446744073709551615 on are beyond the end");
    EXPECT_INVALID(rng.normal(), "beyond the end of the sequence");
    EXPECT_EQ(rng.position(), most);

    Rng doubles(q(), kind, 1);
    doubles.skip(most - 301);  // an even word
    for (int i = 0; i < 150; ++i) doubles.uniform();
    EXPECT_EQ(doubles.position(), most - 1);
    EXPECT_INVALID(doubles.uniform(), "beyond the end");
    EXPECT_EQ(doubles.position(), most - 1);
    EXPECT_EQ(static_cast<std::int32_t>(doubles.word()), expected.back());
  }
}

TEST_P(RngFew, WrongParametersAndGenerators) {
  const double inf = infinity<double>, no = std::numeric_limits<double>::quiet_NaN();
  for (const Generator kind : own_generators()) {
    Rng rng(q(), kind);
    for (int round = 0; round < 50; ++round) {  // also while there are numbers made ahead
      EXPECT_INVALID(rng.uniform(1, 1), "rng_uniform: a is 1, must be less than b, which is 1");
      EXPECT_INVALID(rng.uniform(no, 1), "a and b are nan and 1, must be finite");
      EXPECT_INVALID(rng.normal(no, 1), "rng_normal: mean is nan, must be finite");
      EXPECT_INVALID(rng.normal(0, -1), "sigma is -1, must be finite and at least 0");
      EXPECT_INVALID(rng.lognormal<float>(0, static_cast<float>(no)), "rng_lognormal: sigma is nan");
      EXPECT_INVALID(rng.exponential(inf), "must be finite and above 0");
      EXPECT_INVALID(rng.poisson(no), "must be within 0 and 2^30");
      EXPECT_INVALID(rng.bernoulli(1.1), "must be within 0 and 1");
      EXPECT_INVALID(rng.integer(3, 2), "lowest is 3, must be at most highest, which is 2");
      EXPECT_EQ(rng.position(), 6u * static_cast<std::uint64_t>(round));
      rng.uniform();
      rng.normal();
      rng.integer(1, 6);
      rng.bernoulli(0.5);
    }
  }
  if (!q().on_cuda()) return;
  Rng curands(q(), Generator::xorwow);
  EXPECT_DEVOBJ_ERROR(curands.uniform(), Status::not_supported, "'xorwow' is cuRAND's and makes no single numbers");
  EXPECT_EQ(curands.position(), 0u);
}

/// A queue of another kind than the generator's is an error also while there are numbers made ahead.
TEST_P(RngFew, ForeignQueues) {
  if (!q().on_cuda()) GTEST_SKIP() << "skipped: needs two backends";
  Queue host(Backend::host);
  Rng rng(q());
  for (int i = 0; i < 20; ++i) rng.normal();
  Matrix<double> A(1, 1, host);
  EXPECT_INVALID(rng.normal<double>(A, host),
                 "the queue is of the host backend, but the generator of the cuda backend");
}

TEST_P(RngFew, FailedAllocationsChangeNothing) {
  for (const Generator kind : own_generators()) {
    Rng rng(q(), kind, 4), twin(q(), kind, 4);
    double x = 0;
    const int failures = fail_each_allocation([&] { x = rng.normal(); }, [&] { EXPECT_EQ(rng.position(), 0u); });
    EXPECT_GE(failures, 1);
    EXPECT_EQ(x, twin.normal());
  }
}

TEST_P(RngFew, EveryInstructionSetHasTheSameBits) {
  for_each_single([&](const std::string& name, std::uint64_t, auto one, auto many) {
    using T = ValueOf<decltype(one)>;
    for (const Generator kind : own_generators()) {
      const auto expected = long_draw<T>(many, kind, 6, 300, q());
      for (const host::Simd level : {host::Simd::baseline, host::Simd::avx2, host::Simd::avx512})
        if (host::use_simd(level) == level) {
          Rng rng(q(), kind, 31, 2);
          rng.skip(6);
          std::vector<T> singles;
          for (int i = 0; i < 300; ++i) singles.push_back(one(rng));
          expect_same_bits(singles, expected, name);
        }
      host::use_simd(host::Simd::avx512);
    }
  });
}

TEST_P(RngFew, ThreadsWithTheirOwnGenerators) {
  std::vector<std::thread> threads;
  std::vector<double> sums(4), expected(4);
  const auto sum = [&](std::uint64_t stream) {
    Rng rng(q(), stream % 2 ? Generator::philox : Generator::state, 1, stream);
    double s = 0;
    for (int i = 0; i < 10000; ++i) s += rng.normal();
    return s;
  };
  for (std::uint64_t t = 0; t < 4; ++t) expected[t] = sum(t);
  for (std::size_t t = 0; t < 4; ++t) threads.emplace_back([&, t] { sums[t] = sum(t); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sums, expected);
}

}  // namespace
