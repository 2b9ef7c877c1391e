// The primitives between double and single precision: narrow, widen, column_sizes.
#include "kernels/dispatch_precision.hpp"
#include "testing.hpp"

namespace devobj::test {
namespace {

class Precision : public Everywhere {
 public:
  /// For the two types that have a narrower one.
  template <class F>
  void with_double(F&& test) {
    if (type() == Type::double_precision) return test(double{});
    if (type() == Type::double_complex) return test(std::complex<double>{});
  }
};

template <class T>
struct Narrowed {
  Dense<single_t<T>> S;
  std::int32_t misfit;
};
template <class T>
Narrowed<T> narrowed(const Dense<T>& A, Queue& q) {
  Padded<T> a(A, q);
  Padded<single_t<T>> s(Dense<single_t<T>>(A.rows(), A.cols()), q);
  Padded<std::int32_t> misfit(Dense<std::int32_t>(1, 1, 7), q);
  narrow<T>(a, s, misfit.view().data, q);
  return {s.read("S"), misfit.read("misfit")[0]};
}

const std::vector<std::pair<std::int64_t, std::int64_t>> shapes = {
    {0, 0}, {0, 3}, {3, 0}, {1, 1}, {1, 300}, {300, 1}, {257, 129}, {255, 64}, {1000, 9}, {3, 70000}, {2000, 1100}};

TEST_P(Precision, NarrowRounds) {
  with_double([&]<class T>(T) {
    for (auto [m, n] : shapes) {
      const Dense<T> A = random<T>(m, n, 3);
      const Narrowed<T> s = narrowed(A, q());
      EXPECT_EQ(s.misfit, 0) << m << " x " << n;
      expect_same(s.S, Dense<single_t<T>>::from(m, n, [&](auto i, auto j) { return single_t<T>(A(i, j)); }), "S");
    }
  });
}

TEST_P(Precision, NarrowRowsTakesThemInAnyOrder) {
  with_double([&]<class T>(T) {
    for (auto [m, n] : shapes) {
      const Dense<T> A = random<T>(m, n, 3);
      Dense<std::int32_t> rows(m, 1);
      for (std::int64_t i = 0; i < m; ++i) rows[i] = std::int32_t(i % 3 == 0 ? m - i : (i * 7 + 2) % m + 1);
      Padded<T> a(A, q());
      Padded<std::int32_t> order(rows, q());
      Padded<single_t<T>> s(Dense<single_t<T>>(m, n, single_t<T>(-7)), q());
      narrow_rows(a.view(), order.view().data, s.view(), q());
      expect_same(s.read(),
                  Dense<single_t<T>>::from(m, n, [&](auto i, auto j) { return single_t<T>(A(rows[i] - 1, j)); }), "S");
    }
  });
}
TEST_P(Precision, NarrowSeesWhatDoesNotFit) {
  with_double([&]<class T>(T) {
    const double most = std::numeric_limits<float>::max();
    const std::int64_t m = 300, n = 20;
    for (std::int64_t at : {std::int64_t{0}, std::int64_t{255}, std::int64_t{256}, m * n - 1})
      for (bool imaginary : {false, true}) {
        if (imaginary && !is_complex<T>) continue;
        for (double sign : {1.0, -1.0}) {
          auto with = [&](double x) {
            Dense<T> A = random<T>(m, n, 4);
            A[at] = imaginary ? make<T>(0.5, sign * x) : make<T>(sign * x, 0.5);
            return narrowed(A, q());
          };
          auto element = [&](const Narrowed<T>& s) { return imaginary ? std::imag(s.S[at]) : std::real(s.S[at]); };
          for (double x : {most, 1e-300, 0.0, 1e-40}) {
            const Narrowed<T> s = with(x);
            EXPECT_EQ(s.misfit, 0) << x;
            if (x == most) {
              EXPECT_EQ(element(s), float(sign * most));
            }
          }
          for (double x : {most * (1 + 1e-6), 1e39, 1e308, infinity<double>}) {
            const Narrowed<T> s = with(x);
            EXPECT_EQ(s.misfit, 1) << x;
            EXPECT_EQ(element(s), float(sign) * infinity<float>) << x;
          }
          const Narrowed<T> s = with(nan<double>);
          EXPECT_EQ(s.misfit, 1);
          EXPECT_TRUE(std::isnan(element(s)));
        }
      }
  });
}

TEST_P(Precision, WidenIsExactAndAdds) {
  with_double([&]<class T>(T) {
    for (auto [m, n] : shapes) {
      const Dense<single_t<T>> S = random<single_t<T>>(m, n, 5);
      const Dense<T> A = random<T>(m, n, 6);
      Padded<single_t<T>> s(S, q());
      Padded<T> a(A, q());
      widen<T>(s, true, a, q());
      expect_same(a.read("A"), Dense<T>::from(m, n, [&](auto i, auto j) { return A(i, j) + T(S(i, j)); }), "A + S");
      widen<T>(s, false, a, q());
      expect_same(a.read("A"), Dense<T>::from(m, n, [&](auto i, auto j) { return T(S(i, j)); }), "S");
    }
  });
}

/// The norms of A's columns, with a canary behind them.
template <class T>
std::vector<real_t<T>> sizes_of(Norm norm, const Dense<T>& A, Queue& q) {
  Padded<T> a(A, q);
  Padded<real_t<T>> norms(Dense<real_t<T>>(A.cols(), 1, 7), q);
  column_sizes<T>(norm, a, norms.view().data, q);
  const Dense<real_t<T>> here = norms.read("norms");
  return {here.data(), here.data() + here.size()};
}

TEST_P(Precision, ColumnSizes) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : shapes) {
      const Dense<T> A = random<T>(m, n, 7);
      const auto largest = sizes_of(Norm::Max, A, q()), lengths = sizes_of(Norm::Fro, A, q());
      for (std::int64_t j = 0; j < n; ++j) {
        real_t<T> most = 0;
        Wide squares = 0;
        for (std::int64_t i = 0; i < m; ++i) {
          most = std::max(most, std::abs(std::real(A(i, j))) + std::abs(std::imag(A(i, j))));
          squares += std::norm(wide(A(i, j)));
        }
        ASSERT_NEAR(largest[j], most, 2 * eps<T> * most) << m << " x " << n << ", " << j;
        ASSERT_NEAR(lengths[j], double(std::sqrt(squares)),
                    (8 + std::sqrt(double(m))) * eps<T> * double(std::sqrt(squares)))
            << m << " x " << n << ", " << j;
      }
    }
  });
}

TEST_P(Precision, ColumnSizesOfExtremes) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 600;
    const double huge = sizeof(real_t<T>) == 8 ? 1e300 : 1e37, tiny = sizeof(real_t<T>) == 8 ? 1e-300 : 1e-37;
    for (std::int64_t at : {std::int64_t{0}, std::int64_t{255}, std::int64_t{256}, m - 1}) {
      Dense<T> A(m, 5);
      A(at, 0) = make<T>(huge);
      A(at, 1) = make<T>(tiny);
      A(at, 2) = make<T>(nan<T>);
      A((at + 1) % m, 2) = make<T>(infinity<T>);
      A(at, 3) = make<T>(-infinity<T>);
      for (Norm norm : {Norm::Max, Norm::Fro}) {
        const auto sizes = sizes_of(norm, A, q());
        EXPECT_NEAR(sizes[0], huge, 1e-6 * huge);
        EXPECT_NEAR(sizes[1], tiny, 1e-6 * tiny);
        EXPECT_TRUE(std::isnan(sizes[2])) << at;
        EXPECT_EQ(sizes[3], infinity<T>) << at;
        EXPECT_EQ(sizes[4], 0);
      }
    }
  });
}

DEVOBJ_EVERYWHERE(Precision);

}  // namespace
}  // namespace devobj::test
