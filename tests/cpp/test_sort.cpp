// Sorting, compaction, histograms, sparse matrices: against the standard library and plain loops, NaN, errors.
#include <limits>

#include "prims_testing.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

class Sorts : public Prims {};
DEVOBJ_PRIMS_EVERYWHERE(Sorts);

/// The positions (from 0) of the keys in order.
template <class K>
std::vector<std::int64_t> sorted_positions(const Dense<K>& keys, Order order) {
  const std::uint64_t flip = order == Order::ascending ? 0 : ~std::uint64_t{0};
  std::vector<std::uint64_t> ranks(static_cast<std::size_t>(keys.size()));
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = rank_of(keys.data()[i]) ^ flip;
  return positions_in_order(ranks);
}
template <class T>
Dense<T> picked(const Dense<T>& x, const std::vector<std::int64_t>& at) {
  return Dense<T>::from(static_cast<std::int64_t>(at.size()), 1, [&](auto i, auto) { return x[at[i]]; });
}

/// Numbers with repetitions, all special values, and NaN of both signs.
template <class T>
Dense<T> difficult(std::int64_t n, std::uint32_t seed) {
  using limits = std::numeric_limits<T>;
  const Dense<std::int32_t> choice = small_integers(n, 40, seed);
  const Dense<T> any = numbers<T>(n, seed + 1);
  return Dense<T>::from(n, 1, [&](auto i, auto) {
    switch (choice[i]) {
      case 0:
        return limits::max();
      case 1:
        return limits::lowest();
      case 2:
        return T(0);
      case 3:
        return std::is_integral_v<T> ? T(-1) : T(-0.0);
      case 4:
        return limits::has_infinity ? limits::infinity() : T(1);
      case 5:
        return limits::has_infinity ? T(-limits::infinity()) : T(2);
      case 6:
        return limits::has_quiet_NaN ? limits::quiet_NaN() : T(3);
      case 7:
        return limits::has_quiet_NaN ? T(-limits::quiet_NaN()) : T(4);
      case 8:
        return limits::has_denorm == std::denorm_present ? limits::denorm_min() : T(5);
      default:
        return choice[i] < 25 ? T(choice[i] - 15) : any[i];
    }
  });
}

TEST_P(Sorts, Keys) {
  with_prim_type([&]<class K>(K) {
    auto sizes = lengths();
    sizes.push_back(q().on_cuda() ? 1500000 : 450001);  // more than 2 MiB, for several threads of the host
    for (const std::int64_t n : sizes) {
      const Dense<K> keys = difficult<K>(n, 1);
      for (const Order order : {Order::ascending, Order::descending}) {
        const std::string what = std::to_string(n) + (order == Order::ascending ? " up" : " down");
        const Dense<K> expected = picked(keys, sorted_positions(keys, order));
        Padded<K> X(keys, q()), Y(Dense<K>(n, 1), q());
        sort_keys(order, X.view(), Y.view(), q());
        expect_same(Y.read("sorted"), expected, what);
        expect_same(X.read("keys"), keys, what + ", input");
        sort_keys(order, X.view(), X.view(), q());
        expect_same(X.read("keys"), expected, what + ", in place");
      }
    }
  });
}

/// Values of each type, outputs of their own and in place, in all combinations; equal keys keep their order. On the host there
/// is nothing between a few elements and the 2 MiB from which several threads sort: those of float only.
template <class K, class V>
void pairs(Queue& q) {
  const std::int64_t longest = q.on_cuda() ? 70001 : std::is_same_v<V, float> ? 270001 : 9001;
  for (const std::int64_t n : std::vector<std::int64_t>{0, 1, 2, 33, 5000, longest}) {
    const Dense<K> keys = difficult<K>(n, 3);
    const Dense<V> values = Dense<V>::from(n, 1, [](auto i, auto) { return V(i); });
    for (const Order order : {Order::ascending, Order::descending}) {
      const auto at = sorted_positions(keys, order);
      for (const bool keys_in_place : {false, true})
        for (const bool values_in_place : {false, true}) {
          if (n > 100000 && (keys_in_place != values_in_place || (order == Order::descending) != keys_in_place))
            continue;
          const std::string what = std::to_string(n) + (order == Order::ascending ? " up" : " down") +
                                   (keys_in_place ? ", keys" : "") + (values_in_place ? ", values" : "") + " in place";
          Padded<K> X(keys, q), Y(Dense<K>(n, 1), q);
          Padded<V> U(values, q), W(Dense<V>(n, 1), q);
          sort_pairs(order, X.view(), U.view(), (keys_in_place ? X : Y).view(), (values_in_place ? U : W).view(), q);
          expect_same((keys_in_place ? X : Y).read("sorted_keys"), picked(keys, at), what);
          expect_same((values_in_place ? U : W).read("sorted_values"), picked(values, at), what + ", values");
          if (!keys_in_place) expect_same(X.read("keys"), keys, what + ", input");
          if (!values_in_place) expect_same(U.read("values"), values, what + ", input values");
        }
    }
  }
}

TEST_P(Sorts, Pairs) {
  with_prim_type([&]<class K>(K) {
    pairs<K, std::int32_t>(q());
    pairs<K, float>(q());
    pairs<K, double>(q());
  });
}

TEST_P(Sorts, EqualAndSortedKeys) {
  with_prim_type([&]<class K>(K) {
    const std::int64_t n = 20000;
    const Dense<K> same(n, 1, K(3)), up = Dense<K>::from(n, 1, [](auto i, auto) { return K(i); });
    const Dense<std::int32_t> values = Dense<std::int32_t>::from(n, 1, [](auto i, auto) { return std::int32_t(i); });
    for (const Dense<K>& keys : {same, up}) {
      Matrix<K> X = upload(keys, q());
      Matrix<std::int32_t> V = upload(values, q());
      sort_pairs(Order::ascending, X.view(), V.view(), X.view(), V.view(), q());
      expect_same(download<K>(X, q()), keys, "keys");
      expect_same(download<std::int32_t>(V, q()), values, "values");
    }
  });
}

TEST_P(Sorts, Compaction) {
  with_prim_type([&]<class T>(T) {
    auto sizes = lengths();
    sizes.push_back(very_long(q()));
    for (const std::int64_t n : sizes) {
      const Dense<T> x = numbers<T>(n, 5), before = numbers<T>(n + 3, 7);
      for (const std::uint32_t density : {1u, 2u, 50u, 4000000000u}) {
        const std::string what = std::to_string(n) + ", one in " + std::to_string(density);
        Dense<std::int32_t> flags = small_integers(n, density, 6);
        std::vector<std::int64_t> at;
        for (std::int64_t i = 0; i < n; ++i) {
          flags[i] = flags[i] == 0 ? (i % 3 ? 1 : 1 << 20) : 0;
          if (flags[i] != 0) at.push_back(i);
        }
        Padded<T> X(x, q()), Y(before, q());
        Padded<std::int32_t> F(flags, q());
        const std::int64_t count = compact(X.view(), F.view(), Y.view(), q());
        ASSERT_EQ(count, static_cast<std::int64_t>(at.size())) << what;
        Dense<T> expected = before;
        for (std::int64_t i = 0; i < count; ++i) expected[i] = x[at[i]];
        expect_same(Y.read("y"), expected, what);
        expect_same(X.read("x"), x, what + ", input");
      }
    }
  });
}

/// The bin by the definition: the largest k with lower + k width / bins <= x, in wide arithmetic.
template <class T>
void expect_histogram(const Dense<T>& x, T lower, T upper, std::int64_t bins, Queue& q) {
  const std::string what = std::to_string(x.size()) + " elements, " + std::to_string(bins) + " bins";
  Padded<T> X(x, q);
  Padded<std::int32_t> C(Dense<std::int32_t>(bins, 1, -7), q);
  histogram<T>(X.view(), lower, upper, C.view(), q);
  const Dense<std::int32_t> counts = C.read("counts");
  Dense<std::int32_t> expected(bins, 1);
  std::int64_t on_edges = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (!(x[i] >= lower && x[i] < upper)) continue;
    if constexpr (std::is_integral_v<T>) {
      const __int128 scaled = __int128(std::int64_t(x[i]) - lower) * bins;
      ++expected[static_cast<std::int64_t>(scaled / (std::int64_t(upper) - lower))];
    } else {
      const Wide place = (Wide(x[i]) - Wide(lower)) * bins / (Wide(upper) - Wide(lower));
      on_edges += std::abs(place - std::round(place)) < 1e-9;
      ++expected[std::min<std::int64_t>(static_cast<std::int64_t>(place), bins - 1)];
    }
  }
  std::int64_t wrong = 0;
  for (std::int64_t k = 0; k < bins; ++k) wrong += std::abs(counts[k] - expected[k]);
  EXPECT_LE(wrong, 2 * on_edges) << what;
  expect_same(X.read("x"), x, what + ", input");
}

TEST_P(Sorts, Histograms) {
  with_prim_type([&]<class T>(T) {
    for (const std::int64_t n : {0, 1, 100, 4097, 300001})
      for (const std::int64_t bins : {1, 2, 10, 256, 12288, 12289, 100000}) {
        if constexpr (std::is_integral_v<T>) {
          expect_histogram<T>(numbers<T>(n, 8), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), bins,
                              q());
          expect_histogram<T>(small_integers(n, 1000, 9), 100, 777, bins, q());
        } else {
          expect_histogram<T>(numbers<T>(n, 8), T(-0.5), T(0.75), bins, q());
        }
      }
  });
}

/// Edges belong to the bin above; what is outside, NaN and Inf are not counted; skewed data; the sum is what is inside.
TEST_P(Sorts, HistogramEdges) {
  with_prim_type([&]<class T>(T) {
    std::vector<T> values = {T(0), T(1), T(2), T(3), T(4), T(-1), T(2), T(7), T(8)};
    if constexpr (!std::is_integral_v<T>) {
      values.push_back(test::nan<T>);
      values.push_back(test::infinity<T>);
      values.push_back(-test::infinity<T>);
      values.push_back(std::nextafter(T(8), T(0)));
      values.push_back(std::nextafter(T(0), T(-1)));
    }
    Matrix<T> X = upload(column(values), q());
    Matrix<std::int32_t> C(4, 1, q());
    histogram<T>(X.view(), T(0), T(8), C.view(), q());
    const Dense<std::int32_t> c = download<std::int32_t>(C, q());
    EXPECT_EQ(c[0], 2);
    EXPECT_EQ(c[1], 3);
    EXPECT_EQ(c[2], 1);
    EXPECT_EQ(c[3], std::is_integral_v<T> ? 1 : 2);
    const Dense<T> same(1000000, 1, T(5));
    X = upload(same, q());
    histogram<T>(X.view(), T(0), T(8), C.view(), q());
    EXPECT_EQ(download<std::int32_t>(C, q())[2], 1000000);
  });
}

/// Edges and what lies beside them, NaN, infinities and numbers far outside, many times, so that all parts of a kernel meet
/// them. The scale is a power of two.
TEST_P(Sorts, HistogramOfSpecialValues) {
  with_prim_type([&]<class T>(T) {
    constexpr std::int64_t bins = 64;
    const T lower(-4), upper(12);
    std::vector<T> kinds;
    for (int k = -8; k <= 72; ++k) {
      const T edge = T(-4 + k / 4.0);
      kinds.push_back(edge);
      if constexpr (!std::is_integral_v<T>) {
        kinds.push_back(std::nextafter(edge, T(-100)));
        kinds.push_back(std::nextafter(edge, T(100)));
      }
    }
    using limits = std::numeric_limits<T>;
    for (const T x : {limits::max(), limits::lowest(), T(1000000), T(-1000000), T(20)}) kinds.push_back(x);
    if constexpr (!std::is_integral_v<T>)
      for (const T x : {test::nan<T>, -test::nan<T>, test::infinity<T>, -test::infinity<T>, T(1e20), T(-1e20)})
        kinds.push_back(x);
    for (const std::int64_t n : {std::int64_t(100), std::int64_t(4097), std::int64_t(300001)}) {
      const auto x =
          Dense<T>::from(n, 1, [&](auto i, auto) { return kinds[static_cast<std::size_t>(i * 7919) % kinds.size()]; });
      std::vector<std::int32_t> expected(bins, 0);
      for (std::int64_t i = 0; i < n; ++i)
        if (x[i] >= lower && x[i] < upper)
          ++expected[static_cast<std::size_t>(std::floor((double(x[i]) - double(lower)) * 4))];
      Matrix<T> X = upload(x, q());
      Padded<T> beside(x, q());
      for (const View<T> from : {X.view(), beside.view()}) {
        Matrix<std::int32_t> C(bins, 1, q());
        histogram<T>(from, lower, upper, C.view(), q());
        const Dense<std::int32_t> c = download<std::int32_t>(C, q());
        for (std::int64_t k = 0; k < bins; ++k)
          EXPECT_EQ(c[k], expected[static_cast<std::size_t>(k)]) << "bin " << k << " of " << n;
      }
    }
  });
}

/// Bins so narrow that there are more of them in a unit than the largest number.
TEST_P(Sorts, HistogramOfSubnormals) {
  with_prim_type([&]<class T>(T) {
    if constexpr (!std::is_integral_v<T>) {
      const T unit = 4 * std::numeric_limits<T>::denorm_min();
      const auto x =
          Dense<T>::from(50000, 1, [&](auto i, auto) { return unit * T(i % 10) / 4 + unit * T(i % 10 / 4); });
      std::vector<std::int32_t> expected(4, 0);
      for (std::int64_t i = 0; i < x.size(); ++i)
        if (x[i] < 4 * unit) ++expected[static_cast<std::size_t>(x[i] / unit)];
      Matrix<T> X = upload(x, q());
      Matrix<std::int32_t> C(4, 1, q());
      histogram<T>(X.view(), T(0), 4 * unit, C.view(), q());
      const Dense<std::int32_t> c = download<std::int32_t>(C, q());
      for (std::int64_t k = 0; k < 4; ++k) EXPECT_EQ(c[k], expected[static_cast<std::size_t>(k)]) << "bin " << k;
    }
  });
}

TEST_P(Sorts, WrongArguments) {
  with_prim_type([&]<class T>(T) {
    Matrix<T> X = upload(numbers<T>(20, 10), q()), Y(20, 1, q()), Z(19, 1, q());
    Matrix<std::int32_t> F(20, 1, q()), G(19, 1, q()), none(0, 1, q());
    const View<T> x = X.view(), y = Y.view(), z = Z.view();
    const View<std::int32_t> f = F.view(), g = G.view();
    const View<T> first = x({0, 15}, {0, 1}), last = x({5, 20}, {0, 1});
    EXPECT_INVALID(sort_keys(Order(2), x, y, q()), "sort_keys: order is 2, must be 0 (ascending) or 1 (descending)");
    EXPECT_INVALID(sort_keys(Order::ascending, x, z, q()), "sort_keys: sorted has 19 elements, but keys has 20");
    EXPECT_INVALID(sort_keys(Order::ascending, first, last, q()), "sort_keys: keys and sorted overlap");
    EXPECT_INVALID(sort_keys(Order::ascending, View<T>(x.data, 2, 3, 4), y, q()),
                   "sort_keys: keys is 2 x 3 with leading dimension 4");
    EXPECT_INVALID(sort_pairs(Order(7), x, f, y, f, q()), "sort_pairs: order is 7");
    EXPECT_INVALID(sort_pairs(Order::ascending, x, g, y, g, q()),
                   "sort_pairs: values has 19 elements, but keys has 20");
    EXPECT_INVALID(sort_pairs(Order::ascending, x, f, z, f, q()),
                   "sort_pairs: sorted_keys has 19 elements, but keys has 20");
    EXPECT_INVALID(sort_pairs(Order::ascending, x, f, y, g, q()),
                   "sort_pairs: sorted_values has 19 elements, but keys has 20");
    EXPECT_INVALID(sort_pairs(Order::ascending, x, y, y, y, q()), "sort_pairs: values and sorted_keys overlap");
    EXPECT_INVALID(sort_pairs(Order::ascending, x, y, x, x, q()), "sort_pairs: keys and sorted_values overlap");
    EXPECT_INVALID(sort_pairs(Order::ascending, y, first, y, last, q()), "has 15 elements, but keys has 20");
    EXPECT_INVALID(compact(x, g, y, q()), "compact: flags has 19 elements, but x has 20");
    EXPECT_INVALID(compact(x, f, z, q()), "compact: y has 19 elements, must have at least the 20 of x");
    EXPECT_INVALID(compact(x, f, x, q()), "compact: x and y overlap in memory");
    EXPECT_INVALID(histogram<T>(x, T(1), T(1), f, q()), "lower must be below upper");
    EXPECT_INVALID(histogram<T>(x, T(0), T(1), none.view(), q()), "histogram: counts has no elements");
    if constexpr (!std::is_integral_v<T>) {
      EXPECT_INVALID(histogram<T>(x, T(0), test::nan<T>, f, q()), "lower must be below upper, and both finite");
      EXPECT_INVALID(histogram<T>(x, T(0), test::infinity<T>, f, q()), "both finite");
    }
  });
}

// ---- sparse matrices ----

template <class T>
struct Sparse {
  std::int64_t rows, cols;
  std::vector<std::int32_t> offsets, columns;
  std::vector<T> values;
};
/// About `density` of the elements; some rows empty, columns of a row in falling order.
template <class T>
Sparse<T> sparse(std::int64_t rows, std::int64_t cols, double density, int base, std::uint32_t seed) {
  std::mt19937 generator(seed);
  Sparse<T> A{rows, cols, {base}, {}, {}};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = cols - 1; j >= 0 && i % 5 != 3; --j)
      if (generator() < density * 4294967296.0) {
        A.columns.push_back(static_cast<std::int32_t>(j + base));
        A.values.push_back(static_cast<T>(2 * (generator() + 0.5) / 4294967296.0 - 1));
      }
    A.offsets.push_back(static_cast<std::int32_t>(A.values.size()) + base);
  }
  return A;
}

template <class T>
void products(std::int64_t rows, std::int64_t cols, double density, int base, Queue& q) {
  const Sparse<T> A = sparse<T>(rows, cols, density, base, 11);
  const Dense<T> x = numbers<T>(cols, 12), y = numbers<T>(rows, 13);
  for (const auto& [alpha, beta] : {std::pair{1.0, 0.0}, {-0.5, 2.0}, {0.0, 1.0}, {2.0, 1.0}}) {
    const std::string what = std::to_string(rows) + " x " + std::to_string(cols) + ", base " + std::to_string(base) +
                             ", beta " + std::to_string(beta);
    Padded<std::int32_t> O(column(A.offsets), q), C(column(A.columns), q);
    Padded<T> V(column(A.values), q), X(x, q), Y(beta == 0 ? Dense<T>(rows, 1, test::nan<T>) : y, q);
    spmv<T>(T(alpha), Csr<T>{rows, cols, O.view(), C.view(), V.view(), base}, X.view(), T(beta), Y.view(), q);
    Dense<Wide> expected(rows, 1), bound(rows, 1);
    for (std::int64_t i = 0; i < rows; ++i) {
      Wide sum = 0, size = 0;
      for (std::int64_t e = A.offsets[i] - base; e < A.offsets[i + 1] - base; ++e) {
        sum += Wide(A.values[e]) * x[A.columns[e] - base];
        size += std::abs(Wide(A.values[e]) * x[A.columns[e] - base]);
      }
      expected(i, 0) = alpha * sum + (beta == 0 ? 0 : beta * y[i]);
      bound(i, 0) =
          (A.offsets[i + 1] - A.offsets[i] + 4) * eps<T> * (std::abs(alpha) * size + std::abs(beta * Wide(y[i])));
    }
    const Dense<T> result = Y.read("y");
    expect_close(result, expected, bound, what);
    expect_same(X.read("x"), x, what + ", x");
    if (beta == 0) {
      spmv<T>(T(alpha), Csr<T>{rows, cols, O.view(), C.view(), V.view(), base}, X.view(), T(beta), Y.view(), q);
      expect_same(Y.read("y"), result, what + ", the second time");
    }
  }
}

TEST_P(Sorts, SparseMatrices) {
  with_prim_type([&]<class T>(T) {
    if constexpr (!std::is_integral_v<T>)
      for (const int base : {0, 1}) {
        products<T>(1, 1, 1, base, q());
        products<T>(7, 5, 0.5, base, q());
        products<T>(40, 40, 0, base, q());
        if (!q().on_cuda()) products<T>(7, 0, 0, base, q());
        products<T>(300, 1000, 0.05, base, q());
        products<T>(2000, 300, 0.3, base, q());
      }
  });
}

TEST_P(Sorts, SparseNaNAndErrors) {
  with_prim_type([&]<class T>(T) {
    if constexpr (!std::is_integral_v<T>) {
      Matrix<std::int32_t> O = upload(column<std::int32_t>({1, 3, 4}), q()),
                           C = upload(column<std::int32_t>({1, 3, 2}), q());
      Matrix<T> V = upload(column<T>({1, 2, 3}), q()), X = upload(column<T>({5, 6, test::nan<T>}), q()), Y(2, 1, q());
      Csr<T> A{2, 3, O.view(), C.view(), V.view(), 1};
      spmv<T>(1, A, X.view(), 0, Y.view(), q());
      const Dense<T> y = download<T>(Y, q());
      EXPECT_TRUE(bad(y[0]));
      EXPECT_EQ(y[1], 18);
      Matrix<T> none(2, 0, q());
      const auto with = [&](auto change) {
        Csr<T> B = A;
        change(B);
        spmv<T>(1, B, X.view(), 0, Y.view(), q());
      };
      EXPECT_INVALID(with([](auto& B) { B.base = 2; }), "spmv: base is 2, must be 0 or 1");
      EXPECT_INVALID(with([](auto& B) { B.rows = 3; }),
                     "spmv: offsets has 3 elements, must have one more than the 3 rows");
      EXPECT_INVALID(with([](auto& B) { B.rows = -1; }), "spmv: the matrix is -1 x 3; sizes must not be negative");
      EXPECT_INVALID(with([](auto& B) { B.cols = 4; }), "spmv: x has 3 elements, but A has 4 columns");
      EXPECT_INVALID(with([](auto& B) {
                       B.columns = B.columns({0, 2}, {0, 1});
                     }),
                     "spmv: values has 3 elements, but columns has 2");
      EXPECT_INVALID(spmv<T>(1, A, X.view(), 0, X.view(), q()), "spmv: y has 3 elements, but A has 2 rows");
      EXPECT_INVALID(spmv<T>(1, A, X.view(), 0, X.view()({0, 2}, {0, 1}), q()), "spmv: x and y overlap in memory");
    }
  });
}

}  // namespace
