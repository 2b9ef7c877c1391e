// Scans, plain and segmented, and reductions: against plain loops, NaN, ties, bits, errors.
#include <limits>

#include "devObjCpp/memory.hpp"
#include "prims_testing.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

class Scans : public Prims {};
DEVOBJ_PRIMS_EVERYWHERE(Scans);

/// The scan in a wider type, and what its error is measured by: the sum of the moduli so far.
template <class T>
struct Expected {
  std::vector<Wide> sum, size;
};
template <class T>
Expected<T> plain_scan(Scan kind, const Dense<T>& x, const Dense<std::int32_t>* heads) {
  const auto n = static_cast<std::size_t>(x.size());
  Expected<T> e{std::vector<Wide>(n), std::vector<Wide>(n)};
  Wide sum = 0, size = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (heads != nullptr && heads->data()[i] != 0) sum = size = 0;
    if (kind == Scan::exclusive) e.sum[i] = sum, e.size[i] = size;
    sum += x.data()[i];
    size += std::abs(Wide(x.data()[i]));
    if (kind == Scan::inclusive) e.sum[i] = sum, e.size[i] = size;
  }
  return e;
}

template <class T>
void expect_scan(const Dense<T>& y, const Expected<T>& e, const std::string& what) {
  for (std::int64_t i = 0; i < y.size(); ++i) {
    bool ok;
    if constexpr (std::is_integral_v<T>) {  // wraps around
      const auto exact = static_cast<std::int64_t>(e.sum[i]);
      ok = y[i] == static_cast<T>(static_cast<std::uint32_t>(exact));
    } else {
      ok = std::abs(Wide(y[i]) - e.sum[i]) <= 16 * eps<T> * e.size[i];
    }
    if (ok) continue;
    ADD_FAILURE() << what << ": element " << i << " of " << y.size() << " is " << y[i] << ", expected " << e.sum[i];
    return;
  }
}

std::string name(Scan kind, std::int64_t n) {
  return (kind == Scan::inclusive ? "inclusive, " : "exclusive, ") + std::to_string(n);
}

TEST_P(Scans, RunningSums) {
  with_prim_type([&]<class T>(T) {
    auto sizes = lengths();
    sizes.push_back(very_long(q()));
    for (const std::int64_t n : sizes) {
      const Dense<T> x = numbers<T>(n, 1);
      for (const Scan kind : {Scan::inclusive, Scan::exclusive}) {
        Padded<T> X(x, q()), Y(Dense<T>(n, 1), q());
        scan(kind, X.view(), Y.view(), q());
        const Dense<T> y = Y.read("y");
        expect_scan(y, plain_scan<T>(kind, x, nullptr), name(kind, n));
        expect_same(X.read("x"), x, name(kind, n) + ", input");
        // in place, and again: the same bits
        scan(kind, X.view(), X.view(), q());
        expect_same(X.read("x"), y, name(kind, n) + ", in place");
      }
    }
  });
}

TEST_P(Scans, Segments) {
  with_prim_type([&]<class T>(T) {
    auto sizes = lengths();
    sizes.push_back(very_long(q()));
    for (const std::int64_t n : sizes) {
      const Dense<T> x = numbers<T>(n, 2);
      // a start at every element, at a third of them, ...
      for (const std::uint32_t density : {1u, 3u, 100u, 100000u}) {
        if (n == very_long(q()) && density < 100000) continue;
        Dense<std::int32_t> heads = small_integers(n, density, 3);
        for (std::int64_t i = 0; i < n; ++i) heads[i] = heads[i] == 0 ? (i % 2 ? 1 : -256) : 0;
        for (const Scan kind : {Scan::inclusive, Scan::exclusive}) {
          const std::string what = name(kind, n) + ", a segment in " + std::to_string(density);
          Padded<T> X(x, q()), Y(Dense<T>(n, 1), q());
          Padded<std::int32_t> H(heads, q());
          segmented_scan(kind, X.view(), H.view(), Y.view(), q());
          const Dense<T> y = Y.read("y");
          expect_scan(y, plain_scan<T>(kind, x, &heads), what);
          expect_same(X.read("x"), x, what + ", input");
          segmented_scan(kind, X.view(), H.view(), X.view(), q());
          expect_same(X.read("x"), y, what + ", in place");
          expect_same(H.read("heads"), heads, what + ", heads");
        }
      }
    }
  });
}

/// Starts in most tiles of the GPU, in a few, in none, and next to where tiles and groups of tiles may begin.
TEST_P(Scans, LongSegments) {
  with_prim_type([&]<class T>(T) {
    const std::int64_t n = very_long(q());
    const Dense<T> x = numbers<T>(n, 14);
    Matrix<T> X = upload(x, q()), Y(n, 1, q());
    const auto check = [&](const Dense<std::int32_t>& heads, const std::string& what) {
      Matrix<std::int32_t> H = upload(heads, q());
      for (const Scan kind : {Scan::inclusive, Scan::exclusive}) {
        segmented_scan(kind, X.view(), H.view(), Y.view(), q());
        const Dense<T> y = download<T>(Y, q());
        expect_scan(y, plain_scan<T>(kind, x, &heads), name(kind, n) + ", " + what);
        segmented_scan(kind, X.view(), H.view(), Y.view(), q());
        expect_same(download<T>(Y, q()), y, what + ", again");
      }
    };
    Dense<std::int32_t> heads = small_integers(n, 5000, 15);
    for (std::int64_t i = 0; i < n; ++i) heads[i] = heads[i] == 0;
    check(heads, "a segment in 5000");
    for (std::int64_t i = 0; i < n; ++i) heads[i] = 0;
    check(heads, "no start");
    for (const std::int64_t at : {std::int64_t(1), n / 2, n - 1}) heads[at] = -1;
    check(heads, "three starts");
    for (std::int64_t i = 0; i < n; i += 1024 * 17) heads[i] = heads[i == 0 ? 0 : i - 1] = 1;
    check(heads, "starts around multiples of 17408");
  });
}

TEST_P(Scans, TheSameBitsAgainAndAgain) {
  with_prim_type([&]<class T>(T) {
    const std::int64_t n = long_for_a_reduction(q());
    const Dense<T> x = numbers<T>(n, 4);
    Dense<std::int32_t> heads = small_integers(n, static_cast<std::uint32_t>(n / 2), 5);
    for (std::int64_t i = 0; i < heads.size(); ++i) heads[i] = heads[i] == 0;
    Matrix<T> X = upload(x, q()), Y(n, 1, q());
    Matrix<std::int32_t> H = upload(heads, q());
    scan(Scan::inclusive, X.view(), Y.view(), q());
    const Dense<T> plain = download<T>(Y, q());
    segmented_scan(Scan::inclusive, X.view(), H.view(), Y.view(), q());
    const Dense<T> segmented = download<T>(Y, q());
    const sum_t<T> sum = reduce_sum(X.view(), q());
    for (int i = 0; i < 5; ++i) {
      scan(Scan::inclusive, X.view(), Y.view(), q());
      expect_same(download<T>(Y, q()), plain, "scan");
      segmented_scan(Scan::inclusive, X.view(), H.view(), Y.view(), q());
      expect_same(download<T>(Y, q()), segmented, "segmented scan");
      EXPECT_EQ(reduce_sum(X.view(), q()), sum);
    }
  });
}

/// Where a vector begins in memory makes no difference in bits.
TEST_P(Scans, TheSameBitsFromAnyStart) {
  with_prim_type([&]<class T>(T) {
    const std::int64_t n = 50001;
    const Dense<T> x = numbers<T>(n, 12);
    const Dense<std::int32_t> starts = small_integers(n, 50, 13);
    Matrix<T> X = upload(x, q()), Y(n, 1, q());
    Matrix<std::int32_t> H = upload(starts, q());
    for (const Scan kind : {Scan::inclusive, Scan::exclusive}) {
      scan(kind, X.view(), Y.view(), q());
      const Dense<T> plain = download<T>(Y, q());
      segmented_scan(kind, X.view(), H.view(), Y.view(), q());
      const Dense<T> segmented = download<T>(Y, q());
      for (const std::int64_t begin : {1, 2, 3}) {
        Matrix<T> room_x(n + begin, 1, q()), room_y(n + begin, 1, q());
        Matrix<std::int32_t> room_h(n + begin, 1, q());
        const Range rows{begin, n + begin}, one{0, 1};
        to_device<T>(HostArray<const T>(x.data(), n, 1, n), room_x.view()(rows, one), q());
        to_device<std::int32_t>(HostArray<const std::int32_t>(starts.data(), n, 1, n), room_h.view()(rows, one), q());
        const auto read = [&] {
          Dense<T> y(n, 1);
          to_host<T>(room_y.view()(rows, one), HostArray<T>(y.data(), n, 1, n), q());
          return y;
        };
        scan(kind, room_x.view()(rows, one), room_y.view()(rows, one), q());
        expect_same(read(), plain, "scan from " + std::to_string(begin));
        segmented_scan(kind, room_x.view()(rows, one), room_h.view()(rows, one), room_y.view()(rows, one), q());
        expect_same(read(), segmented, "segmented scan from " + std::to_string(begin));
      }
    }
  });
}

TEST_P(Scans, NaNStays) {
  with_prim_type([&]<class T>(T) {
    if constexpr (!std::is_integral_v<T>)
      for (const std::int64_t n : {std::int64_t(1), std::int64_t(100), std::int64_t(40000), very_long(q())}) {
        Dense<T> x = numbers<T>(n, 6);
        const std::int64_t at = n / 2;
        x[at] = test::nan<T>;
        Dense<std::int32_t> heads(n, 1);
        if (n > 1) heads[at + 2 < n ? at + 2 : n - 1] = 1;
        Matrix<T> X = upload(x, q()), Y(n, 1, q());
        Matrix<std::int32_t> H = upload(heads, q());
        scan(Scan::inclusive, X.view(), Y.view(), q());
        const Dense<T> y = download<T>(Y, q());
        segmented_scan(Scan::inclusive, X.view(), H.view(), Y.view(), q());
        const Dense<T> z = download<T>(Y, q());
        std::int64_t wrong = 0, wrong_segments = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          wrong += bad(y[i]) != (i >= at);
          wrong_segments += bad(z[i]) != (i >= at && (n == 1 || i < (at + 2 < n ? at + 2 : n - 1)));
        }
        EXPECT_EQ(wrong, 0) << n;
        EXPECT_EQ(wrong_segments, 0) << n << ", segments";
        EXPECT_TRUE(bad(reduce_sum(X.view(), q()))) << n;
      }
  });
}

TEST_P(Scans, Sums) {
  with_prim_type([&]<class T>(T) {
    auto sizes = lengths();
    sizes.push_back(long_for_a_reduction(q()));
    for (const std::int64_t n : sizes) {
      const Dense<T> x = numbers<T>(n, 7);
      Wide sum = 0, size = 0;
      for (std::int64_t i = 0; i < n; ++i) sum += x[i], size += std::abs(Wide(x[i]));
      Padded<T> X(x, q());
      const sum_t<T> found = reduce_sum(X.view(), q());
      EXPECT_LE(std::abs(Wide(found) - sum), std::is_integral_v<T> ? 0 : 8 * 2.3e-16 * size) << n;
    }
  });
}

/// The position is the first one's; found anywhere; around unaligned starts.
TEST_P(Scans, MinimaAndMaxima) {
  with_prim_type([&]<class T>(T) {
    for (const std::int64_t n : {1, 2, 5, 64, 1000, 4099, 70001, q().on_cuda() ? 1200000 : 600001})
      for (const std::int64_t at : {std::int64_t(0), n / 3, n - 1}) {
        Dense<T> x = Dense<T>::from(n, 1, [](auto i, auto) { return T(i % 7); });
        x[at] = T(-5);
        x[n - 1] = x[n - 1] == T(-5) ? T(-5) : T(-4);
        Padded<T> X(x, q());
        const Extremum<T> least = reduce_min(X.view(), q());
        EXPECT_EQ(least.value, T(-5)) << n;
        EXPECT_EQ(least.position, at + 1) << n;
        std::int64_t first = 0;
        for (std::int64_t i = 1; i < n; ++i)
          if (x[i] > x[first]) first = i;
        const Extremum<T> most = reduce_max(X.view(), q());
        EXPECT_EQ(most.value, x[first]) << n;
        EXPECT_EQ(most.position, first + 1) << n;
      }
  });
}

TEST_P(Scans, ExtremaOfNothingNaNAndInfinity) {
  with_prim_type([&]<class T>(T) {
    Matrix<T> none(0, 1, q());
    using limits = std::numeric_limits<T>;
    const T top = limits::has_infinity ? limits::infinity() : limits::max();
    const T bottom = limits::has_infinity ? T(-limits::infinity()) : limits::lowest();
    EXPECT_EQ(reduce_min(none.view(), q()).value, top);
    EXPECT_EQ(reduce_max(none.view(), q()).value, bottom);
    EXPECT_EQ(reduce_max(none.view(), q()).position, 0);
    EXPECT_EQ(reduce_sum(none.view(), q()), 0);
    Matrix<T> X = upload(column<T>({top, bottom, top, bottom}), q());
    EXPECT_EQ(reduce_min(X.view(), q()).position, 2);
    EXPECT_EQ(reduce_max(X.view(), q()).position, 1);
    X = upload(column<T>({top, top, top}), q());
    EXPECT_EQ(reduce_min(X.view(), q()).position, 1);
    X = upload(column<T>({bottom, bottom, bottom}), q());
    EXPECT_EQ(reduce_max(X.view(), q()).position, 1);
    if constexpr (!std::is_integral_v<T>) {
      X = upload(column<T>({T(0), T(-0.0), T(0)}), q());
      EXPECT_EQ(reduce_min(X.view(), q()).position, 1);
      EXPECT_EQ(reduce_max(X.view(), q()).position, 1);
      for (const std::int64_t n : {2, 300, 100000}) {
        Dense<T> x = numbers<T>(n, 8);
        x[n / 2] = test::nan<T>;
        x[n - 1] = -test::nan<T>;
        X = upload(x, q());
        for (const Extremum<T> found : {reduce_min(X.view(), q()), reduce_max(X.view(), q())}) {
          EXPECT_TRUE(bad(found.value)) << n;
          EXPECT_EQ(found.position, n / 2 + 1) << n;
        }
      }
    }
  });
}

/// A matrix without gaps is its columns; a warm call allocates nothing.
TEST_P(Scans, MatricesAndWarmCalls) {
  with_prim_type([&]<class T>(T) {
    const Dense<T> x = numbers<T>(60, 9);
    Dense<T> matrix(12, 5);
    std::copy_n(x.data(), 60, matrix.data());
    Matrix<T> X = upload(matrix, q()), Y(60, 1, q());
    Matrix<std::int32_t> H = upload(small_integers(60, 3, 10), q());
    std::int64_t before = 0;
    for (int i = 0; i < 2; ++i) {
      before = memory::allocation_count();
      segmented_scan(Scan::exclusive, X.view(), H.view(), Y.view(), q());
      scan(Scan::inclusive, X.view(), Y.view(), q());
      reduce_sum(X.view(), q());
      reduce_min(X.view(), q());
    }
    EXPECT_EQ(memory::allocation_count(), before);
    expect_scan(download<T>(Y, q()), plain_scan<T>(Scan::inclusive, x, nullptr), "columns of a matrix");
  });
}

TEST_P(Scans, WrongArguments) {
  with_prim_type([&]<class T>(T) {
    const Dense<T> x = numbers<T>(20, 11);
    Dense<T> block(4, 5);
    Padded<T> X(x, q()), B(block, q());
    Matrix<T> Y(20, 1, q()), Z(19, 1, q());
    Matrix<std::int32_t> H(20, 1, q()), short_heads(3, 1, q());
    EXPECT_INVALID(scan(Scan::inclusive, B.view(), Y.view(), q()),
                   "scan: x is 4 x 5 with leading dimension 9; its elements must lie side by side");
    EXPECT_INVALID(scan(Scan::inclusive, X.view(), B.view(), q()), "scan: y is 4 x 5 with leading dimension 9");
    EXPECT_INVALID(scan(Scan::inclusive, X.view(), Z.view(), q()), "scan: y has 19 elements, but x has 20");
    EXPECT_INVALID(scan(Scan(5), X.view(), Y.view(), q()), "scan: kind is 5, must be 0 (inclusive) or 1 (exclusive)");
    EXPECT_INVALID(scan(Scan::inclusive, X.view()({0, 19}, {0, 1}), X.view()({1, 20}, {0, 1}), q()),
                   "scan: x and y overlap in memory");
    EXPECT_INVALID(segmented_scan(Scan::inclusive, X.view(), short_heads.view(), Y.view(), q()),
                   "segmented_scan: heads has 3 elements, but x has 20");
    EXPECT_INVALID(segmented_scan(Scan(-1), X.view(), H.view(), Y.view(), q()), "segmented_scan: kind is -1");
    EXPECT_INVALID(reduce_sum(B.view(), q()), "reduce_sum: x is 4 x 5 with leading dimension 9");
    EXPECT_INVALID(reduce_min(B.view(), q()), "reduce_min: x is 4 x 5");
    EXPECT_INVALID(reduce_max(B.view(), q()), "reduce_max: x is 4 x 5");
    expect_same(X.read("x"), x, "x");
    expect_same(B.read("b"), block, "b");
  });
}

}  // namespace
