// Draws in every place against the definition, bit for bit: EVERYWHERE the same numbers, whatever backend, instruction
// set, split, leading dimension and alignment.
#include <functional>

#include "kernels/host/simd.hpp"
#include "rng_support.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

class RngDraws : public InEachPlace {};

/// Calls f(name, d, draw) for distributions d and the draw(rng, A, queue) of their numbers.
template <class F>
void for_each_distribution(F&& f) {
  using namespace random;
  f("words", Words{}, [](Rng& r, View<std::int32_t> A, Queue& q) { r.words(A, q); });
  f("uniform, float", UnitUniform<float>{}, [](Rng& r, View<float> A, Queue& q) { r.uniform<float>(A, q); });
  f("uniform, double", UnitUniform<double>{}, [](Rng& r, View<double> A, Queue& q) { r.uniform<double>(A, q); });
  f("uniform (-3, 5), float", random::Uniform<float>{-3, 8, std::nextafter(-3.f, 5.f), std::nextafter(5.f, -3.f)},
    [](Rng& r, View<float> A, Queue& q) { r.uniform<float>(-3, 5, A, q); });
  f("uniform (-3, 5), double", random::Uniform<double>{-3, 8, std::nextafter(-3., 5.), std::nextafter(5., -3.)},
    [](Rng& r, View<double> A, Queue& q) { r.uniform<double>(-3, 5, A, q); });
  f("normal, float", random::Normal<float>{0, 1}, [](Rng& r, View<float> A, Queue& q) { r.normal<float>(A, q); });
  f("normal, double", random::Normal<double>{0, 1}, [](Rng& r, View<double> A, Queue& q) { r.normal<double>(A, q); });
  f("normal 2, 3, float", random::Normal<float>{2, 3},
    [](Rng& r, View<float> A, Queue& q) { r.normal<float>(2, 3, A, q); });
  f("lognormal, float", LogNormal<float>{0.5f, 1.5f},
    [](Rng& r, View<float> A, Queue& q) { r.lognormal<float>(0.5f, 1.5f, A, q); });
  f("lognormal, double", LogNormal<double>{0.5, 1.5},
    [](Rng& r, View<double> A, Queue& q) { r.lognormal<double>(0.5, 1.5, A, q); });
  f("exponential, float", Exponential<float>{1},
    [](Rng& r, View<float> A, Queue& q) { r.exponential<float>(2, A, q); });
  f("exponential, double", Exponential<double>{1},
    [](Rng& r, View<double> A, Queue& q) { r.exponential<double>(2, A, q); });
  f("dice", Integers{1, 6, (0u - 6u) % 6u}, [](Rng& r, View<std::int32_t> A, Queue& q) { r.integers(1, 6, A, q); });
  // 37 % of the words are rejected
  constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
  constexpr std::uint32_t many = 0xa0000001u;
  f("many integers", Integers{lowest, many, (0u - many) % many},
    [](Rng& r, View<std::int32_t> A, Queue& q) { r.integers(lowest, 0x20000000, A, q); });
  f("all integers", Integers{lowest, 0, 0},
    [](Rng& r, View<std::int32_t> A, Queue& q) { r.integers(lowest, std::numeric_limits<std::int32_t>::max(), A, q); });
  f("bernoulli, double", random::Bernoulli<double>{std::uint64_t{1} << 62, false},
    [](Rng& r, View<double> A, Queue& q) { r.bernoulli<double>(0.25, A, q); });
  f("bernoulli, integer", random::Bernoulli<std::int32_t>{std::uint64_t{1} << 62, false},
    [](Rng& r, View<std::int32_t> A, Queue& q) { r.bernoulli<std::int32_t>(0.25, A, q); });
}

/// One draw of `count` elements after `skipped` more words, on the device, against the definition.
template <class D, class Draw>
void check_draw(const std::string& name, D d, Draw&& draw, Rng& rng, std::uint64_t skipped, std::int64_t count,
                Queue& q) {
  rng.skip(skipped);
  const std::uint64_t before = rng.position(), start = (before + D::words - 1) / D::words * D::words;
  const auto actual = drawn<typename D::value>(count, q, [&](auto A) { draw(rng, A, q); });
  expect_same_bits(
      actual, reference(rng.generator(), rng.seed(), rng.stream(), start, count, d),
      name + ", " + name_of(rng.generator()) + ", " + std::to_string(count) + " after " + std::to_string(before));
  EXPECT_EQ(rng.position(), count == 0 ? before : start + static_cast<std::uint64_t>(count) * D::words) << name;
}
Rng generator(Generator kind, Queue& q) {
  return Rng(q, kind, 0x123456789abcdef0u, 3);
}
/// The same by a generator of its own.
template <class D, class Draw>
void check_draw(const std::string& name, D d, Draw&& draw, Generator kind, std::uint64_t skipped, std::int64_t count,
                Queue& q) {
  Rng rng = generator(kind, q);
  check_draw(name, d, draw, rng, skipped, count, q);
}

TEST_P(RngDraws, AreTheDefinitionsBits) {
  for_each_distribution([&](const std::string& name, auto d, auto draw) {
    Rng state = generator(Generator::state, q());  // goes on: its 2^17 lanes take long to make
    for (const std::int64_t count : {0, 1, 3, 4, 5, 257})
      for (const std::uint64_t skipped : {0u, 1u, 2u, 3u, 1021u}) {
        check_draw(name, d, draw, Generator::philox, skipped, count, q());
        check_draw(name, d, draw, state, skipped, count, q());
      }
  });
}

TEST_P(RngDraws, PoissonNumbersAreTheHostsBits) {
  Queue host(Backend::host);
  for (const Generator kind : own_generators())
    for (const double mean : {0.0, 1e-300, 0.1, 3.0, 9.99, 10.0, 33.3, 1e4, 1e9}) {
      Rng here(q(), kind, 7), there(host, kind, 7);
      const auto a = drawn<std::int32_t>(20000, q(), [&](auto A) { here.poisson(mean, A, q()); });
      const auto b = drawn<std::int32_t>(20000, host, [&](auto A) { there.poisson(mean, A, host); });
      expect_same_bits(a, b, "poisson " + std::to_string(mean));
    }
}

TEST_P(RngDraws, ManyNumbersAreTheHostsInOtherPieces) {
  Queue host(Backend::host);
  for (const Generator kind : own_generators())
    for_each_distribution([&](const std::string& name, auto d, auto draw) {
      using T = typename decltype(d)::value;
      constexpr std::uint64_t words = decltype(d)::words;
      // more than a row of the lanes, or of philox's quads with something in common
      const std::int64_t row = kind == Generator::state ? random::lanes : 65536;
      const std::int64_t count = 4 * row / static_cast<std::int64_t>(words) + 12345;
      Rng here(q(), kind, 99);
      here.skip(3);
      const auto a = drawn<T>(count, q(), [&](auto A) { draw(here, A, q()); });
      std::vector<T> b;
      Rng there(host, kind, 99);
      there.skip((3 + words - 1) / words * words);
      for (const std::int64_t to : {std::int64_t{777}, count / 4 * 3 + 1, count}) {
        const auto piece =
            drawn<T>(to - static_cast<std::int64_t>(b.size()), host, [&](auto A) { draw(there, A, host); });
        b.insert(b.end(), piece.begin(), piece.end());
      }
      expect_same_bits(a, b, name + ", " + name_of(kind));
    });
}

/// Words and quads whose numbers need more than 32 bits.
TEST_P(RngDraws, PositionsBeyond32Bits) {
  for (const Generator kind : own_generators())
    for (const int bits : {32, 33, 34}) {
      const std::uint64_t edge = std::uint64_t{1} << bits;
      for_each_distribution([&](const std::string& name, auto d, auto draw) {
        // where `state` is does not depend on what is drawn, and takes long to reach
        if (kind == Generator::philox || bits == 34 || name == "words" || name == "normal, double")
          check_draw(name, d, draw, kind, edge - 75, 129, q());
      });
      // one draw across the edge is two that meet there
      Rng once(q(), kind, 8), twice(q(), kind, 8);
      for (Rng* rng : {&once, &twice}) rng->skip(edge - 5000);
      const auto whole = words_of(once, 12001, q());
      auto pieces = words_of(twice, 5000, q());
      EXPECT_EQ(twice.position(), edge);
      const auto rest = words_of(twice, 7001, q());
      pieces.insert(pieces.end(), rest.begin(), rest.end());
      expect_same_bits(whole, pieces, std::string(name_of(kind)) + " across 2^" + std::to_string(bits));
    }
}

/// Philox makes what 65536 quads have in common once: draws, and batches of a draw, that begin in one such row and end
/// in another.
TEST_P(RngDraws, QuadsOfTwoRows) {
  constexpr std::uint64_t row = 4 * 65536;
  for_each_distribution([&](const std::string& name, auto d, auto draw) {
    for (const std::uint64_t before : {1, 6, 44, 60, 64, 68, 4001})
      for (const std::int64_t count : {3, 40, 111, 5000})
        check_draw(name, d, draw, Generator::philox, 7 * row - before, count, q());
  });
}

/// Words that do not decide a Bernoulli number, in places that vectors reach and in others.
TEST_P(RngDraws, OpenNumbersAreDecidedByPrivateWords) {
  constexpr std::int64_t count = 1003;
  for (const Generator kind : own_generators()) {
    Rng words(q(), kind, 23);
    const auto w = words_of(words, count, q());
    for (const std::size_t open : {0, 9, 130, 700, 1002}) {
      const std::uint64_t upper = static_cast<std::uint32_t>(w[open]);
      for (const std::uint64_t lower : {0u, 1u << 31, 0xfffff800u}) {  // p is exact
        const std::uint64_t threshold = (upper << 32 | lower) & ~std::uint64_t{2047};
        Rng rng(q(), kind, 23);
        const auto actual = drawn<std::int32_t>(count, q(), [&](View<std::int32_t> A) {
          rng.bernoulli<std::int32_t>(static_cast<double>(threshold) * 0x1p-64, A, q());
        });
        expect_same_bits(
            actual, reference(kind, 23, 0, 0, count, random::Bernoulli<std::int32_t>{threshold, false}),
            std::string(name_of(kind)) + ", number " + std::to_string(open) + ", lower half " + std::to_string(lower));
      }
    }
  }
}

/// Short draws of several generators in turn, each going on, sometimes jumping forwards or beginning anew.
TEST_P(RngDraws, ShortDrawsOfSeveralGeneratorsInTurn) {
  struct Drawn {
    Rng rng;
    Generator kind;
    std::uint64_t seed, stream, position;
  };
  std::vector<Drawn> all;
  for (std::uint64_t i = 0; i < 12; ++i) {
    const Generator kind = i % 4 == 3 ? Generator::state : Generator::philox;
    const std::uint64_t seed = i < 6 ? i : 0, stream = i < 6 ? 0 : i;  // (0, 0): what no draw has been made from
    all.push_back({Rng(q(), kind, seed, stream), kind, seed, stream, 0});
  }
  std::uint32_t choice = 1;
  for (int step = 0; step < 900; ++step) {
    choice = choice * 1664525u + 1013904223u;
    Drawn& one = all[step % 5 == 0 ? 0 : (choice >> 24) % all.size()];
    const std::int64_t count = (choice >> 16) % (step % 7 == 0 ? 70 : 9);
    if (step % 31 == 0) {
      one.rng.seed(one.seed, one.stream);
      one.position = 0;
    } else if (step % 11 == 0) {
      one.rng.skip(choice >> 30 << 4);
      one.position += choice >> 30 << 4;
    }
    const std::string what = std::string(name_of(one.kind)) + ", step " + std::to_string(step);
    if (step % 3 == 0) {
      const auto x = drawn<double>(count, q(), [&](View<double> A) { one.rng.normal<double>(A, q()); });
      if (count > 0) one.position += one.position % 2;
      expect_same_bits(x, reference(one.kind, one.seed, one.stream, one.position, count, random::Normal<double>{0, 1}),
                       what);
      one.position += 2 * static_cast<std::uint64_t>(count);
    } else {
      const auto x = drawn<float>(count, q(), [&](View<float> A) { one.rng.uniform<float>(A, q()); });
      expect_same_bits(x, reference(one.kind, one.seed, one.stream, one.position, count, random::UnitUniform<float>{}),
                       what);
      one.position += static_cast<std::uint64_t>(count);
    }
    ASSERT_EQ(one.rng.position(), one.position) << what;
  }
}

/// Large enough for streaming stores, at aligned and other addresses.
TEST_P(RngDraws, LargeDrawsAreManySmallOnes) {
  const auto check = [&]<class T>(T, std::int64_t count, const std::vector<std::int64_t>& begins,
                                  const std::string& name, auto&& draw) {
    for (const Generator kind : own_generators()) {
      constexpr std::uint64_t start = 20;  // batches on the edge of two rows
      Rng often(q(), kind, 21);
      often.skip(start);
      std::vector<T> pieces;
      for (std::int64_t done = 0; done < count; done += count / 5 + 1) {
        const auto piece = drawn<T>(std::min(count / 5 + 1, count - done), q(), [&](View<T> A) { draw(often, A); });
        pieces.insert(pieces.end(), piece.begin(), piece.end());
      }
      for (const std::int64_t begin : begins) {
        if (begin == 4 && (kind == Generator::state || address_sanitizer)) continue;
        Rng once(q(), kind, 21);
        once.skip(start);
        auto whole = drawn<T>(count + begin, q(), [&](View<T> A) {
          laset(Uplo::General, T(0), T(0), A, q());
          draw(once, A({begin, count + begin}, {0, 1}));
        });
        for (std::int64_t i = 0; i < begin; ++i) EXPECT_EQ(whole[static_cast<std::size_t>(i)], T(0)) << name;
        whole.erase(whole.begin(), whole.begin() + begin);
        expect_same_bits(whole, pieces, name + ", " + name_of(kind) + ", from " + std::to_string(begin));
      }
    }
  };
  check(float{}, 4500001, {0, 1, 4}, "uniform, float", [&](Rng& rng, View<float> A) { rng.uniform<float>(A, q()); });
  check(double{}, 2300001, {0, 1, 4}, "normal, double", [&](Rng& rng, View<double> A) { rng.normal<double>(A, q()); });
  check(double{}, 2300001, {0}, "bernoulli", [&](Rng& rng, View<double> A) { rng.bernoulli<double>(0.3, A, q()); });
}

TEST_P(RngDraws, EveryInstructionSetHasTheSameBits) {
  if (q().on_cuda()) GTEST_SKIP() << "skipped: a matter of the host";
  for_each_distribution([&](const std::string& name, auto d, auto draw) {
    for (const Generator kind : own_generators()) {
      Rng rng = generator(kind, q());
      for (const host::Simd level : {host::Simd::baseline, host::Simd::avx2, host::Simd::avx512})
        if (host::use_simd(level) == level)
          for (const std::int64_t count : {37, 131, 1031}) check_draw(name, d, draw, rng, 6, count, q());
    }
  });
  host::use_simd(host::Simd::avx512);
}

TEST_P(RngDraws, TwoDrawsAreOneOfBothLengths) {
  for (const Generator kind : own_generators()) {
    const auto split = [&]<class T>(T, auto&& draw, const char* name) {
      Rng once(q(), kind, 5), twice(q(), kind, 5);
      for (const std::int64_t n1 : {1, 2, 3, 5, 1000})
        for (const std::int64_t n2 : {1, 3, 1001}) {
          const auto whole = drawn<T>(n1 + n2, q(), [&](auto A) { draw(once, A); });
          auto parts = drawn<T>(n1, q(), [&](auto A) { draw(twice, A); });
          const auto rest = drawn<T>(n2, q(), [&](auto A) { draw(twice, A); });
          parts.insert(parts.end(), rest.begin(), rest.end());
          expect_same_bits(parts, whole, std::string(name) + ", " + name_of(kind));
        }
    };
    split(
        float{}, [&](Rng& r, View<float> A) { r.normal<float>(A, q()); }, "normal, float");
    split(
        double{}, [&](Rng& r, View<double> A) { r.normal<double>(A, q()); }, "normal, double");
    split(
        float{}, [&](Rng& r, View<float> A) { r.uniform<float>(A, q()); }, "uniform, float");
    split(
        std::int32_t{}, [&](Rng& r, View<std::int32_t> A) { r.integers(1, 6, A, q()); }, "integers");
    split(
        std::int32_t{}, [&](Rng& r, View<std::int32_t> A) { r.poisson(20, A, q()); }, "poisson");
  }
}

TEST_P(RngDraws, DoNotDependOnTheLeadingDimension) {
  const auto check = [&]<class T>(T, auto&& draw, const std::string& name) {
    for (const Generator kind : own_generators()) {
      Rng plain(q(), kind, 11), padded(q(), kind, 11);
      for (const auto& [rows, cols] :
           {std::pair<std::int64_t, std::int64_t>{1, 7}, {2, 5}, {5, 3}, {67, 9}, {1000, 3}, {3, 700}}) {
        plain.skip(1);
        padded.skip(1);
        Matrix<T> A(rows, cols, q());
        draw(plain, A.view());
        Padded<T> B(Dense<T>(rows, cols), q());
        draw(padded, B.view());
        expect_same(B.read(name.c_str()), download<T>(A, q()), name + ", " + name_of(kind));
      }
    }
  };
  check(
      float{}, [&](Rng& r, View<float> A) { r.uniform<float>(A, q()); }, "uniform, float");
  check(
      double{}, [&](Rng& r, View<double> A) { r.normal<double>(A, q()); }, "normal, double");
  check(
      std::complex<float>{}, [&](Rng& r, View<std::complex<float>> A) { r.normal<std::complex<float>>(A, q()); },
      "normal, complex");
  check(
      std::complex<double>{}, [&](Rng& r, View<std::complex<double>> A) { r.uniform<std::complex<double>>(A, q()); },
      "uniform, double complex");
}

TEST_P(RngDraws, AnyAlignmentOfTheOutput) {
  for (const Generator kind : own_generators())
    for (std::int64_t offset = 0; offset < 5; ++offset) {
      constexpr std::int64_t n = 777, room = 800;
      Rng rng(q(), kind, 13);
      Matrix<float> A(room, 1, q());
      laset<float>(Uplo::General, -1, -1, A, q());
      rng.uniform<float>(A({offset, offset + n}, {0, 1}), q());
      const Dense<float> a = download<float>(A, q());
      const auto expected = reference(kind, 13, 0, 0, n, random::UnitUniform<float>{});
      for (std::int64_t i = 0; i < room; ++i) {
        const bool inside = i >= offset && i < offset + n;
        ASSERT_EQ(a[i], inside ? expected[static_cast<std::size_t>(i - offset)] : -1.0f) << i << ", offset " << offset;
      }
    }
}

TEST_P(RngDraws, ComplexNumbersAreTwoRealOnes) {
  for (const Generator kind : own_generators()) {
    Rng real(q(), kind, 17), complex(q(), kind, 17);
    const auto x = drawn<double>(202, q(), [&](auto A) { real.normal<double>(A, q()); });
    const auto z = drawn<std::complex<double>>(101, q(), [&](auto A) { complex.normal<std::complex<double>>(A, q()); });
    for (std::size_t i = 0; i < 101; ++i) ASSERT_EQ(z[i], (std::complex<double>{x[2 * i], x[2 * i + 1]}));
    EXPECT_EQ(real.position(), complex.position());
  }
}

TEST_P(RngDraws, DifferentKindsFollowEachOther) {
  // An odd number of words, then doubles from the next even word, then Poisson numbers from the next multiple of four.
  for (const Generator kind : own_generators()) {
    Rng rng(q(), kind, 19);
    words_of(rng, 3, q());
    const auto x = drawn<double>(1, q(), [&](auto A) { rng.uniform<double>(A, q()); });
    EXPECT_EQ(x, reference(kind, 19, 0, 4, 1, random::UnitUniform<double>{}));
    words_of(rng, 2 * 4 * random::lanes - 1, q());
    EXPECT_EQ(rng.position(), static_cast<std::uint64_t>(5 + 8 * random::lanes));
    const auto y = drawn<double>(3, q(), [&](auto A) { rng.uniform<double>(A, q()); });
    EXPECT_EQ(y, reference(kind, 19, 0, 6 + 8 * random::lanes, 3, random::UnitUniform<double>{}));
    EXPECT_EQ(rng.position(), static_cast<std::uint64_t>(12 + 8 * random::lanes));
  }
}

DEVOBJ_IN_EACH_PLACE(RngDraws);

}  // namespace
