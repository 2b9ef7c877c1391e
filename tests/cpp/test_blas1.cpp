// BLAS level 1: values against plain sums in long double, NaN and infinities, extreme magnitudes, views of any shape,
// errors.
#include "testing.hpp"

namespace devobj::test {
namespace {

class Blas1 : public Everywhere {};
DEVOBJ_EVERYWHERE(Blas1);

struct Shape {
  std::int64_t rows, cols;
};
// Nothing, one element, columns, rows (stride ld), blocks with gaps between the columns; more than one thread block.
const Shape shapes[] = {{0, 0}, {0, 1}, {1, 0},    {0, 5},   {1, 1},  {2, 1},  {1, 2},
                        {7, 1}, {1, 8}, {1031, 1}, {1, 257}, {13, 7}, {5, 31}, {300, 11}};

std::string text(Shape s) {
  return std::to_string(s.rows) + " x " + std::to_string(s.cols);
}

template <class W>
Wide magnitude(W a) {
  if constexpr (std::is_same_v<W, Wide>)
    return std::abs(a);
  else
    return std::abs(a.real()) + std::abs(a.imag());
}

/// x^T y or x^H y, and the same of the absolute values.
template <class T>
std::pair<wide_t<T>, Wide> dot(const Dense<T>& x, const Dense<T>& y, bool conjugated) {
  wide_t<T> sum = 0;
  Wide size = 0;
  for (std::int64_t e = 0; e < x.size(); ++e) {
    const wide_t<T> a = wide(x[e]);
    sum += (conjugated ? wide_t<T>(conjugate(a)) : a) * wide(y[e]);
    size += std::abs(a) * std::abs(wide(y[e]));
  }
  return {sum, size};
}

TEST_P(Blas1, Swap) {
  with_type([&]<class T>(T) {
    for (Shape s : shapes) {
      SCOPED_TRACE(text(s));
      const auto x = random<T>(s.rows, s.cols, 1), y = random<T>(s.rows, s.cols, 2);
      Padded<T> X(x, q()), Y(y, q());
      swap<T>(X, Y, q());
      expect_same(X.read("x"), y, "x");
      expect_same(Y.read("y"), x, "y");
    }
  });
}

TEST_P(Blas1, Scal) {
  with_type([&]<class T>(T) {
    for (Shape s : shapes)
      for (T alpha : {make<T>(0), make<T>(1), make<T>(-0.7, 0.4)}) {
        SCOPED_TRACE(text(s));
        const auto x = random<T>(s.rows, s.cols, 3);
        Padded<T> X(x, q());
        scal<T>(alpha, X, q());
        const auto expected = combine(wide(alpha), widen(x), wide_t<T>(0), widen(x));
        auto bound = absolute(expected);
        for (std::int64_t e = 0; e < bound.size(); ++e)
          bound[e] = 2 * eps<T> * (std::abs(wide(alpha)) * std::abs(wide(x[e])));
        expect_close(X.read("x"), expected, bound, "alpha x");
      }
  });
}

TEST_P(Blas1, ScalByZeroKeepsNaN) {
  with_type([&]<class T>(T) {
    auto x = random<T>(300, 1, 4);
    x[0] = make<T>(nan<T>);
    x[150] = make<T>(infinity<T>);
    x[299] = make<T>(1, nan<T>);
    if constexpr (!is_complex<T>) x[299] = nan<T>;
    Padded<T> X(x, q());
    scal<T>(make<T>(0), X, q());
    const auto scaled = X.read("x");
    for (std::int64_t e = 0; e < x.size(); ++e)
      EXPECT_EQ(is_nan(scaled[e]), e == 0 || e == 150 || e == 299) << "element " << e << " is " << scaled[e];
  });
}

TEST_P(Blas1, Axpy) {
  with_type([&]<class T>(T) {
    for (Shape s : shapes)
      for (T alpha : {make<T>(1), make<T>(-1.3, 0.6)}) {
        SCOPED_TRACE(text(s));
        const auto x = random<T>(s.rows, s.cols, 5), y = random<T>(s.rows, s.cols, 6);
        Padded<T> X(x, q()), Y(y, q());
        axpy<T>(alpha, X, Y, q());
        Dense<Wide> bound(s.rows, s.cols);
        for (std::int64_t e = 0; e < bound.size(); ++e)
          bound[e] = 3 * eps<T> * (std::abs(wide(alpha)) * std::abs(wide(x[e])) + std::abs(wide(y[e])));
        expect_close(Y.read("y"), combine(wide(alpha), widen(x), wide_t<T>(1), widen(y)), bound, "y + alpha x");
        expect_same(X.read("x"), x, "x");
      }
  });
}

TEST_P(Blas1, AxpyWithZeroIsNothing) {
  with_type([&]<class T>(T) {
    auto x = random<T>(40, 1, 7);
    const auto y = random<T>(40, 1, 8);
    x[3] = make<T>(nan<T>);
    Padded<T> X(x, q()), Y(y, q());
    axpy<T>(make<T>(0), X, Y, q());
    expect_same(Y.read("y"), y, "y");
  });
}

TEST_P(Blas1, Dot) {
  with_type([&]<class T>(T) {
    for (Shape s : shapes) {
      SCOPED_TRACE(text(s));
      const auto x = random<T>(s.rows, s.cols, 9), y = random<T>(s.rows, s.cols, 10);
      Padded<T> X(x, q()), Y(y, q());
      for (bool conjugated : {false, true}) {
        const T result = conjugated ? dotc<T>(X, Y, q()) : dotu<T>(X, Y, q());
        const auto [expected, size] = dot(x, y, conjugated);
        EXPECT_LE(std::abs(wide(result) - expected), (x.size() + 2) * eps<T> * size) << result << ' ' << expected;
        EXPECT_EQ(result, (conjugated ? dotc<T>(X, Y, q()) : dotu<T>(X, Y, q()))) << "not repeatable";
      }
    }
  });
}

TEST_P(Blas1, RowWithColumn) {
  with_type([&]<class T>(T) {
    const auto x = random<T>(1, 37, 11), y = random<T>(37, 1, 12);
    Padded<T> X(x, q()), Y(y, q());
    const auto [expected, size] = dot(x, y, false);
    EXPECT_LE(std::abs(wide(dotu<T>(X, Y, q())) - expected), 39 * eps<T> * size);
    swap<T>(X, Y, q());
    const auto row = X.read("x"), column = Y.read("y");
    for (std::int64_t e = 0; e < 37; ++e) {
      EXPECT_EQ(row[e], y[e]);
      EXPECT_EQ(column[e], x[e]);
    }
  });
}

TEST_P(Blas1, Nrm2AndAsum) {
  with_type([&]<class T>(T) {
    for (Shape s : shapes) {
      SCOPED_TRACE(text(s));
      const auto x = random<T>(s.rows, s.cols, 13);
      Padded<T> X(x, q());
      Wide squares = 0, sum = 0;
      for (std::int64_t e = 0; e < x.size(); ++e) {
        squares += std::norm(wide(x[e]));
        sum += magnitude(wide(x[e]));
      }
      EXPECT_LE(std::abs(nrm2<T>(X, q()) - std::sqrt(squares)), (x.size() + 2) * eps<T> * std::sqrt(squares));
      EXPECT_LE(std::abs(asum<T>(X, q()) - sum), (x.size() + 2) * eps<T> * sum);
      expect_same(X.read("x"), x, "x");
    }
  });
}

TEST_P(Blas1, Nrm2AtTheEndsOfTheRange) {
  with_type([&]<class T>(T) {
    using R = real_t<T>;
    using limits = std::numeric_limits<R>;
    const double large = limits::max() / 64, small = limits::min(), subnormal = limits::denorm_min() * 1024;
    const double middle = 1e10;
    const std::vector<std::vector<double>> scales = {{large},
                                                     {small},
                                                     {subnormal},
                                                     {large, 1},
                                                     {small, 1},
                                                     {small, large},
                                                     {subnormal, middle, large},
                                                     {small, std::sqrt(small)}};
    for (const auto& scale : scales) {
      auto x = random<T>(997, 1, 14);
      Wide squares = 0;
      for (std::int64_t e = 0; e < x.size(); ++e) {
        x[e] *= R(scale[static_cast<std::size_t>(e) % scale.size()]);
        squares += std::norm(wide(x[e]));
      }
      Padded<T> X(x, q());
      const R norm = nrm2<T>(X, q());
      EXPECT_LE(std::abs(norm - std::sqrt(squares)), 999 * eps<T> * std::sqrt(squares) + limits::denorm_min())
          << "scale " << scale[0] << ", got " << norm << ", expected " << std::sqrt(squares);
    }
  });
}

TEST_P(Blas1, NaNAndInfinityComeThroughSums) {
  with_type([&]<class T>(T) {
    for (std::int64_t position : {0, 511, 1030}) {
      auto x = random<T>(1031, 1, 15);
      const auto y = random<T>(1031, 1, 16);
      x[position] = make<T>(nan<T>);
      Padded<T> X(x, q()), Y(y, q());
      EXPECT_TRUE(is_nan(dotu<T>(X, Y, q())));
      EXPECT_TRUE(is_nan(dotc<T>(Y, X, q())));
      EXPECT_TRUE(std::isnan(nrm2<T>(X, q())));
      EXPECT_TRUE(std::isnan(asum<T>(X, q())));
      x[position] = make<T>(0, infinity<T>);
      if constexpr (!is_complex<T>) x[position] = -infinity<T>;
      Padded<T> Z(x, q());
      EXPECT_EQ(nrm2<T>(Z, q()), infinity<T>);
      EXPECT_EQ(asum<T>(Z, q()), infinity<T>);
      x[(position + 77) % 1031] = make<T>(nan<T>);
      Padded<T> W(x, q());
      EXPECT_TRUE(std::isnan(nrm2<T>(W, q())));
      EXPECT_TRUE(std::isnan(asum<T>(W, q())));
    }
  });
}

TEST_P(Blas1, Iamax) {
  with_type([&]<class T>(T) {
    for (Shape s : shapes) {
      SCOPED_TRACE(text(s));
      const auto x = random<T>(s.rows, s.cols, 17);
      Padded<T> X(x, q());
      std::int64_t expected = 0;
      for (std::int64_t e = 0; e < x.size(); ++e)
        if (expected == 0 || magnitude(wide(x[e])) > magnitude(wide(x[expected - 1]))) expected = e + 1;
      EXPECT_EQ(iamax<T>(X, q()), expected);
    }
  });
}

TEST_P(Blas1, IamaxTakesTheFirstOfEquals) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 300007;  // more than one element per thread
    Dense<T> x(n, 1, make<T>(0.25));
    const auto position = [&] { return iamax<T>(upload(x, q()), q()); };
    EXPECT_EQ(position(), 1);
    x[n - 1] = make<T>(-2);
    EXPECT_EQ(position(), n);
    x[262144] = is_complex<T> ? make<T>(1, -1) : make<T>(2);  // the same |re| + |im|
    EXPECT_EQ(position(), 262145);
    x[256] = make<T>(2);
    EXPECT_EQ(position(), 257);
    EXPECT_EQ(iamax<T>(upload(Dense<T>(500, 1), q()), q()), 1) << "all zero";
  });
}

TEST_P(Blas1, IamaxTakesTheFirstNaN) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 5003;
    for (std::int64_t first : {std::int64_t{0}, std::int64_t{2500}, n - 1}) {
      auto x = random<T>(n, 1, 18);
      x[(first + 1) % n] = make<T>(infinity<T>);
      x[first] = is_complex<T> ? make<T>(0, nan<T>) : make<T>(-nan<T>);
      x[n - 1] = make<T>(nan<T>);
      EXPECT_EQ(iamax<T>(upload(x, q()), q()), first + 1);
    }
  });
}

TEST_P(Blas1, Errors) {
  with_type([&]<class T>(T) {
    const auto x = random<T>(5, 3, 19), y = random<T>(5, 4, 20);
    Padded<T> X(x, q()), Y(y, q());
    EXPECT_INVALID(swap<T>(X, Y, q()), "swap: x is 5 x 3, but y is 5 x 4");
    EXPECT_INVALID(axpy<T>(make<T>(2), X, Y, q()), "axpy: x is 5 x 3, but y is 5 x 4");
    EXPECT_INVALID(dotu<T>(X, Y, q()), "dotu: x is 5 x 3, but y is 5 x 4");
    EXPECT_INVALID(dotc<T>(X, Y, q()), "dotc: x is 5 x 3, but y is 5 x 4");
    const View<T> V = Y;
    EXPECT_INVALID(swap<T>(V.col(0), V({0, 4}, {1, 2}), q()), "swap: x is 5 x 1, but y is 4 x 1");
    EXPECT_INVALID(swap<T>(V.col(1), V.col(1), q()), "swap: x and y overlap");
    EXPECT_INVALID(axpy<T>(make<T>(1), V({0, 3}, {0, 2}), V({2, 5}, {1, 3}), q()), "axpy: x and y overlap");
    EXPECT_INVALID(axpy<T>(make<T>(1), V({2, 3}, {0, 4}), V({0, 4}, {3, 4}), q()), "axpy: x and y overlap");
    expect_same(X.read("x"), x, "x");
    expect_same(Y.read("y"), y, "y");
  });
}

TEST_P(Blas1, BlocksOfOneMatrix) {
  with_type([&]<class T>(T) {
    const auto p = random<T>(10, 6, 21);
    Padded<T> P(p, q());
    const View<T> V = P;
    swap<T>(V({0, 5}, {0, 6}), V({5, 10}, {0, 6}), q());   // the upper and the lower half
    swap<T>(V({0, 10}, {0, 1}), V({0, 10}, {5, 6}), q());  // the first and the last column
    swap<T>(V({2, 3}, {0, 6}), V({7, 8}, {0, 6}), q());    // two rows
    const auto expected = Dense<T>::from(10, 6, [&](auto i, auto j) {
      const std::int64_t row = i == 2 ? 7 : i == 7 ? 2 : i, col = j == 0 ? 5 : j == 5 ? 0 : j;
      return p((row + 5) % 10, col);
    });
    expect_same(P.read("the parent"), expected, "the parent");
  });
}

}  // namespace
}  // namespace devobj::test
