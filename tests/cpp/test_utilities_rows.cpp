// Rows that change places: laswp, permute_columns, pivots_to_permutation; and first_zero_diagonal. Bit for bit.
#include <numeric>

#include "primitives.hpp"
#include "testing.hpp"

namespace devobj::test {
namespace {

using Pivots = Dense<std::int32_t>;

class Rows : public Everywhere {};
DEVOBJ_EVERYWHERE(Rows);

/// LAPACK's loop; an entry outside 1 ... rows is left out.
template <class T>
Dense<T> swapped(Dense<T> A, std::int64_t k1, std::int64_t k2, const Pivots& ipiv, bool forward) {
  for (std::int64_t step = 0; step < k2 - k1; ++step) {
    const std::int64_t i = forward ? k1 + step : k2 - 1 - step, pivot = ipiv[i];
    if (pivot < 1 || pivot > A.rows()) continue;
    for (std::int64_t j = 0; j < A.cols(); ++j) std::swap(A(i, j), A(pivot - 1, j));
  }
  return A;
}

enum class Kind { as_from_getrf, anywhere, all_equal, last_row, identity, some_outside };

/// k pivots for a matrix of m rows.
Pivots pivots(Kind kind, std::int64_t m, std::int64_t k, std::uint32_t seed) {
  std::mt19937 generator(seed);
  auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(generator() % static_cast<std::uint32_t>(n)); };
  return Pivots::from(k, 1, [&](std::int64_t i, auto) -> std::int32_t {
    switch (kind) {
      case Kind::as_from_getrf:
        return static_cast<std::int32_t>(i + 1 + below(m - i));
      case Kind::anywhere:
        return static_cast<std::int32_t>(1 + below(m));
      case Kind::all_equal:
        return static_cast<std::int32_t>(m / 2 + 1);
      case Kind::last_row:
        return static_cast<std::int32_t>(m);
      case Kind::identity:
        return static_cast<std::int32_t>(i + 1);
      case Kind::some_outside:
        break;
    }
    const std::int32_t outside[] = {0, -1, static_cast<std::int32_t>(m + 1), INT32_MAX, INT32_MIN};
    return i % 3 == 0 ? outside[i / 3 % 5] : static_cast<std::int32_t>(1 + below(m));
  });
}
const Kind kinds[] = {Kind::as_from_getrf, Kind::anywhere, Kind::all_equal,
                      Kind::last_row,      Kind::identity, Kind::some_outside};

TEST_P(Rows, Laswp) {
  struct Case {
    std::int64_t rows, cols, k1, k2;
  };
  // No pivot, one, around the chunks of 32, 64 and 128 pivots, several chunks; columns around the 8 of a block; many pivots,
  // in columns that the shared memory of one block holds, or of several.
  const Case cases[] = {{0, 0, 0, 0},        {5, 0, 0, 5},         {5, 3, 2, 2},         {1, 1, 0, 1},
                        {2, 9, 0, 2},        {40, 7, 0, 31},       {40, 8, 0, 32},       {40, 9, 3, 36},
                        {64, 1, 0, 64},      {70, 17, 5, 70},      {300, 5, 0, 127},     {300, 5, 0, 128},
                        {300, 5, 7, 136},    {300, 64, 0, 300},    {1031, 3, 500, 1031}, {700, 9, 0, 600},
                        {1300, 2, 40, 1200}, {21000, 2, 30, 20000}};
  with_type([&]<class T>(T) {
    for (const Case& c : cases)
      for (Kind kind : kinds)
        for (bool forward : {true, false}) {
          SCOPED_TRACE(std::to_string(c.rows) + " x " + std::to_string(c.cols) + ", pivots " + std::to_string(c.k1) +
                       " to " + std::to_string(c.k2) + ", kind " + std::to_string(int(kind)) +
                       (forward ? ", forward" : ", backward"));
          const Dense<T> a = random<T>(c.rows, c.cols, 1);
          const Pivots ipiv = pivots(kind, c.rows, c.k2, 2);
          Padded<T> A(a, q());
          Matrix<std::int32_t> p = upload(ipiv, q());
          laswp<T>(A, c.k1, c.k2, p, forward, q());
          expect_same(A.read("A"), swapped(a, c.k1, c.k2, ipiv, forward), "A");
          laswp<T>(A, c.k1, c.k2, p, !forward, q());
          expect_same(A.read("A"), a, "A after the inverse");
          expect_same(download<std::int32_t>(p, q()), ipiv, "ipiv");
        }
  });
}

TEST_P(Rows, LaswpTakesARowOfPivots) {
  with_type([&]<class T>(T) {
    const Dense<T> a = random<T>(50, 4, 3);
    const Pivots ipiv = pivots(Kind::anywhere, 50, 40, 4);
    Padded<T> A(a, q());
    Matrix<std::int32_t> p = upload(Pivots::from(1, 40, [&](auto, auto j) { return ipiv[j]; }), q());
    laswp<T>(A, 0, 40, p, true, q());
    expect_same(A.read("A"), swapped(a, 0, 40, ipiv, true), "A");
  });
}

TEST_P(Rows, LaswpWrongArguments) {
  with_type([&]<class T>(T) {
    const Dense<T> a = random<T>(6, 2, 5);
    Padded<T> A(a, q());
    Matrix<std::int32_t> p = upload(pivots(Kind::identity, 6, 6, 6), q());
    EXPECT_INVALID(laswp<T>(A, -1, 3, p, true, q()), "laswp: rows -1");
    EXPECT_INVALID(laswp<T>(A, 3, 2, p, true, q()), "laswp: rows 3");
    EXPECT_INVALID(laswp<T>(A, 0, 7, p, true, q()), "to 7");
    EXPECT_INVALID(laswp<T>(A, 0, 6, p({0, 5}, {0, 1}), true, q()), "ipiv has 5");
    expect_same(A.read("A"), a, "A after the errors");
  });
}

TEST_P(Rows, PermuteColumns) {
  with_type([&]<class T>(T) {
    for (std::int64_t rows : {0, 1, 15, 16, 17, 31, 33, 127, 130, 1000})
      for (std::int64_t count : {0, 1, 2, 3, 4, 31, 64, 65, 128, 511, 512, 513, 700}) {
        SCOPED_TRACE(std::to_string(count) + " columns of length " + std::to_string(rows));
        const std::int64_t columns = count + 20;
        const Dense<T> a = random<T>(rows, columns, 7);
        // `count` of the columns, in two random orders
        std::mt19937 generator(8);
        std::vector<std::int32_t> all(static_cast<std::size_t>(columns));
        std::iota(all.begin(), all.end(), 0);
        std::shuffle(all.begin(), all.end(), generator);
        Pivots dst(count, 1), src(count, 1);
        std::copy_n(all.begin(), count, dst.data());
        std::shuffle(all.begin(), all.begin() + count, generator);
        std::copy_n(all.begin(), count, src.data());
        Dense<T> expected = a;
        for (std::int64_t p = 0; p < count; ++p)
          for (std::int64_t i = 0; i < rows; ++i) expected(i, dst[p]) = a(i, src[p]);

        Padded<T> At(a, q());
        Matrix<std::int32_t> to = upload(dst, q()), from = upload(src, q());
        primitives::permute_columns<T>(At, count, to.data, from.data, q());
        expect_same(At.read("At"), expected, "At");
      }
  });
}

TEST_P(Rows, FirstZeroDiagonal) {
  with_type([&]<class T>(T) {
    struct Shape {
      std::int64_t rows, cols;
    };
    for (Shape s : {Shape{0, 0}, {0, 4}, {1, 1}, {2, 2}, {33, 33}, {40, 7}, {7, 40}, {1025, 1030}, {2100, 2100}}) {
      const std::int64_t n = std::min(s.rows, s.cols);
      Dense<T> a(s.rows, s.cols);  // zeros beside the diagonal do not count
      for (std::int64_t i = 0; i < n; ++i)
        a(i, i) = make<T>(i % 2 == 0 ? nan<T> : std::numeric_limits<real_t<T>>::denorm_min());
      if (is_complex<T>)
        for (std::int64_t i = 0; i < n; i += 3) a(i, i) = make<T>(0, 1e-3);
      auto info = [&] {
        Padded<T> A(a, q());
        return primitives::first_zero_diagonal<T>(A, q());
      };
      SCOPED_TRACE(std::to_string(s.rows) + " x " + std::to_string(s.cols));
      EXPECT_EQ(info(), 0);
      for (std::int64_t at : {n - 1, n / 2, std::int64_t{0}}) {
        if (n == 0) break;
        a(at, at) = make<T>(-0.0, 0.0);
        EXPECT_EQ(info(), at + 1);  // the later zeros stay: the first one counts
      }
    }
  });
}

class Permutations : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, Permutations,
                         ::testing::Combine(::testing::ValuesIn(places()), ::testing::Values(Type::integer)),
                         instance_name);

TEST_P(Permutations, PivotsToPermutation) {
  for (std::int64_t m : {0, 1, 2, 31, 128, 129, 1000, 2500})
    for (std::int64_t k : {std::int64_t{0}, std::min<std::int64_t>(m, 1), m / 2, m})
      for (Kind kind : kinds) {
        SCOPED_TRACE(std::to_string(k) + " pivots of " + std::to_string(m) + " rows, kind " +
                     std::to_string(int(kind)));
        const Pivots ipiv = pivots(kind, m, k, 9);
        const auto rows = Pivots::from(m, 1, [](auto i, auto) { return static_cast<std::int32_t>(i + 1); });
        Padded<std::int32_t> perm(Pivots(m, 1, -5), q());
        Matrix<std::int32_t> p = upload(ipiv, q());
        primitives::pivots_to_permutation(p, perm, q());
        expect_same(perm.read("perm"), swapped(rows, 0, k, ipiv, true), "perm");
      }
}

TEST_P(Permutations, VectorsInRows) {
  const Pivots ipiv = pivots(Kind::as_from_getrf, 40, 30, 10);
  const auto rows = Pivots::from(40, 1, [](auto i, auto) { return static_cast<std::int32_t>(i + 1); });
  const Pivots expected = swapped(rows, 0, 30, ipiv, true);
  Padded<std::int32_t> p(Pivots::from(1, 30, [&](auto, auto j) { return ipiv[j]; }), q());
  Padded<std::int32_t> perm(Pivots(1, 40), q());
  primitives::pivots_to_permutation(p, perm, q());
  expect_same(perm.read("perm"), Pivots::from(1, 40, [&](auto, auto j) { return expected[j]; }), "perm");
}

}  // namespace
}  // namespace devobj::test
