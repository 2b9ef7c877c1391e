// Draws of one number and of a few: numbers made ahead are those that a long draw has, bit for bit, whatever comes in
// between. EVERYWHERE: single numbers are made by the calling thread, for generators of every place.
#include <atomic>
#include <functional>
#include <limits>
#include <thread>

#include "devObjCpp/injected.hpp"
#include "failing_allocations.hpp"
#include "kernels/host/simd.hpp"
#include "rng_support.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

class RngFew : public InEachPlace {};
DEVOBJ_IN_EACH_PLACE(RngFew);

constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();

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

/// One number of an object of one element, as a value.
template <class T, class Many>
T drawn_one(Many&& many, Rng& rng, Queue& q) {
  return drawn<T>(1, q, [&](View<T> A) { many(rng, A, q); })[0];
}

/// Draws into objects of one element, of all kinds, with single numbers and other lengths in between.
TEST_P(RngFew, ObjectsOfOneElementInTurn) {
  for (const Generator kind : own_generators()) {
    Checked checked(q(), kind);
    std::vector<std::function<void()>> draws;
    for_each_single([&](const std::string& name, std::uint64_t, auto one, auto many) {
      using T = ValueOf<decltype(one)>;
      draws.push_back([&checked, many, name, this] {
        checked.expect_the_same((name + ", an object").c_str(), [&](Rng& r) { return drawn_one<T>(many, r, q()); });
      });
      draws.push_back([&checked, one, name] { checked.expect_the_same(name.c_str(), one); });
      draws.push_back([&checked, many, name, this] {
        checked.expect_the_same((name + ", the second of two").c_str(),
                                [&](Rng& r) { return drawn<T>(2, q(), [&](View<T> A) { many(r, A, q()); })[1]; });
      });
    });
    std::uint32_t choice = 11;
    const int steps = kind == Generator::philox ? 4000 : 300;
    for (int step = 0; step < steps && !HasFailure(); ++step) {
      choice = choice * 1664525u + 1013904223u;
      draws[(step % 200 < 150 ? step / 70 : choice >> 24) % draws.size()]();
      if (step % 97 == 96) checked.rng().skip(choice >> 28);
    }
  }
}

/// A draw is of one number if its view has one element, whatever matrix that lies in; one of no elements uses up nothing.
TEST_P(RngFew, ViewsOfOneElementAndOfNone) {
  constexpr std::int32_t canary = 77;
  for (const Generator kind : own_generators()) {
    Rng rng(q(), kind, 3);
    const auto expected = long_draw<std::int32_t>([](Rng& r, View<std::int32_t> A, Queue& queue) { r.words(A, queue); },
                                                  kind, 0, 400, q());
    rng.seed(31, 2);
    std::vector<std::int32_t> host(5 * 4, canary), wanted(5 * 4, canary);
    Matrix<std::int32_t> M(5, 4, q());
    to_device<std::int32_t>({host.data(), 5, 4, 5}, M, q());
    std::size_t next = 0;
    const View<std::int32_t> all = M.view();
    for (int round = 0; round < 20; ++round) {
      for (const std::int64_t i : {2, 0, 4})
        for (const std::int64_t j : {1, 3}) {
          rng.words(all({i, i + 1}, {j, j + 1}), q());
          wanted[static_cast<std::size_t>(i + 5 * j)] = expected[next++];
        }
      rng.words(all({0, 0}, {0, 1}), q());
      rng.words(all({0, 1}, {2, 2}), q());
      rng.words({}, q());
      rng.words(all({1, 2}, {1, 4}), q());  // a row: elements five apart
      for (std::size_t j = 1; j < 4; ++j) wanted[1 + 5 * j] = expected[next++];
      EXPECT_EQ(rng.position(), next);
    }
    to_host<std::int32_t>(M, {host.data(), 5, 4, 5}, q());
    EXPECT_EQ(host, wanted) << name_of(kind);
  }
}

/// Numbers made ahead are taken only where the queue's turn is the caller's: work that is waiting stays first.
TEST_P(RngFew, ADrawOnAQueueWithAThreadWaitsItsTurn) {
  if (q().on_cuda()) GTEST_SKIP() << "skipped: a matter of the host";
  Queue worker(Backend::host, {HostMode::worker}), other(Backend::host, {HostMode::synchronous});
  for (const Generator kind : own_generators()) {
    Rng rng(q(), kind, 8), twin(q(), kind, 8);
    const auto expected = words_of(twin, 70, q());
    Matrix<std::int32_t> A(1, 1, worker);
    std::vector<std::int32_t> words;
    const auto on = [&](Queue& queue) {
      rng.words(A, queue);
      queue.wait();
      words.push_back(*A.data);
    };
    for (int i = 0; i < 20; ++i) words.push_back(static_cast<std::int32_t>(rng.word()));
    for (int i = 0; i < 10; ++i) on(i % 2 == 0 ? q() : other);
    on(worker);  // has the lanes of `state` there
    *A.data = 0;
    std::atomic<bool> go = false;
    worker.submit("hold", [&] {
      while (!go) std::this_thread::yield();
    });
    rng.words(A, worker);
    EXPECT_EQ(rng.position(), 32u);
    EXPECT_EQ(*A.data, 0) << "drawn before the queue's earlier work, " << name_of(kind);
    go = true;
    worker.wait();
    words.push_back(*A.data);
    for (int i = 0; i < 30; ++i) on(i % 3 == 0 ? worker : i % 3 == 1 ? q() : other);
    for (int i = 0; i < 8; ++i) words.push_back(static_cast<std::int32_t>(rng.word()));
    expect_same_bits(words, expected, name_of(kind));
  }
}

/// Numbers made ahead go with a generator that is moved, to another thread too.
TEST_P(RngFew, MovedGeneratorsGoOn) {
  for (const Generator kind : own_generators()) {
    Rng twin(q(), kind, 8), first(q(), kind, 8), second(q());
    const auto expected = words_of(twin, 300, q());
    std::vector<std::int32_t> words;
    const auto draw = [&](Rng& rng, int count) {
      for (int i = 0; i < count; ++i) words.push_back(static_cast<std::int32_t>(rng.word()));
    };
    draw(first, 50);
    for (int i = 0; i < 50; ++i) second.word();
    second = std::move(first);
    draw(second, 50);
    Rng third = std::move(second);
    draw(third, 1);
    std::thread([&] { draw(third, 150); }).join();
    draw(third, 49);
    expect_same_bits(words, expected, name_of(kind));
  }
}

/// A draw that fails when it has made some of its numbers leaves the position before those: the next draw is not one of
/// them. (Lanes of `state` are made row by row, so that a draw over the end of one makes its numbers in two steps.)
TEST_P(RngFew, AfterADrawThatFailsHalfway) {
  if (q().on_cuda() || GetParam().host_mode != HostMode::synchronous)
    GTEST_SKIP() << "skipped: a matter of draws in the calling thread";
  for (const Generator kind : own_generators()) {
    Rng whole(q(), kind, 6);
    const std::uint64_t start = std::uint64_t{4} * random::lanes - 32;
    whole.skip(start);
    const auto expected = words_of(whole, 100, q());
    Matrix<std::int32_t> A(60, 1, q());
    int failures = 0;
    for (bool failed = true; failed; failures += failed) {
      Rng rng(q(), kind, 6);
      rng.skip(start);
      std::vector<std::int32_t> words;
      for (int i = 0; i < 2; ++i) words.push_back(words_of(rng, 1, q())[0]);
      injected::fail_work(failures + 1);
      try {
        rng.words(A, q());
        failed = false;
      } catch (const Error& e) {
        EXPECT_EQ(e.status(), Status::device_error);
        EXPECT_EQ(rng.position(), start + 2);
      }
      injected::fail_work(0);
      if (!failed) words.insert(words.end(), A.data, A.data + 60);
      while (words.size() < 100)
        words.push_back(words.size() % 2 == 0 ? words_of(rng, 1, q())[0] : static_cast<std::int32_t>(rng.word()));
      expect_same_bits(words, expected, std::string(name_of(kind)) + ", failures: " + std::to_string(failures));
    }
    EXPECT_GE(failures, kind == Generator::state ? 2 : 1);
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
      const auto expected = words_of(anew, row + 900, q());
      expect_same_bits(words_of(rng, row + 900, q()), expected, std::string(name) + ", " + name_of(kind));
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
