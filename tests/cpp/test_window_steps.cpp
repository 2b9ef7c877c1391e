// The steps of LU with pivots from a window: panels, exchanges, columns right of a panel, rows of L and columns of U.
#include <cmath>
#include <cstring>
#include <utility>

#include "window_checks.hpp"

namespace devobj::test {
namespace {

class WindowSteps : public WindowPlaces {
 protected:
  /// Whom window_upper is for instead, or null.
  const char* no_window_upper() {
    if (!q().on_cuda()) return "for GPUs";
    if (type() == Type::complex) return "for real numbers";
    if constexpr (cuda_built)
      if (!cuda::window_upper_possible(q())) return "for GPUs with more shared memory";
    return nullptr;
  }
  /// What window_upper makes of some columns, behind a block of panels with L and these exchanges in so many rows.
  auto upper_of_block(const Dense<float>& L, const Dense<std::int32_t>& sources, std::int64_t rows) {
    Matrix<unsigned char> stream;
    if constexpr (cuda_built) {
      Padded<float> l(L, q());
      Matrix<std::int32_t> s(window_rows, sources.cols(), q());
      to_device<std::int32_t>({sources.data(), window_rows, sources.cols(), window_rows}, s.view(), q());
      stream = Matrix<unsigned char>(static_cast<std::int64_t>(cuda::window_stream_bytes()), 1, q());
      cuda::window_stream(s.view().data, sources.cols(), window_panel_cols<float>, rows, l.view(), stream.data, q());
      expect_same(l.read("L"), L, "L");
    }
    return [this, stream = std::move(stream), order = L.rows()](const Dense<float>& A) {
      Padded<float> a(A, q());
      if constexpr (cuda_built) cuda::window_upper(stream.data, order, a.view(), q());
      return a.read("A");
    };
  }
};
INSTANTIATE_TEST_SUITE_P(On, WindowSteps,
                         ::testing::Combine(::testing::ValuesIn(places()),
                                            ::testing::Values(Type::real, Type::complex)),
                         instance_name);

Dense<std::int32_t> a_permutation(std::int64_t n) {
  Dense<std::int32_t> order(n, 1);
  for (std::int64_t i = 0; i < n; ++i) order[i] = std::int32_t((i * 37 + 5) % n);  // 37 divides no n used here
  return order;
}

/// A panel's factors with triangles that are easy to solve with.
template <class S>
Dense<S> with_easy_triangles(std::int64_t rows, std::int64_t cols) {
  Dense<S> LU = random<S>(rows, cols, std::uint32_t(rows + cols));
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < rows; ++i) LU(i, j) = i == j ? LU(i, j) + S(2) : LU(i, j) / S(8);
  return LU;
}

TEST_P(WindowSteps, PanelsOfEveryShape) {
  with_single([&]<class S>(S) {
    const std::int64_t most = window_panel_cols<S>;
    const std::int64_t three_strips = most * 5 / 16,
                       five_strips = most * 9 / 16;  // of the GPU's eight for `most` columns
    for (std::int64_t rows : {std::int64_t(1), std::int64_t(5), std::int64_t(31), three_strips, std::int64_t(100), most,
                              most + 3, window_rows - 1, window_rows})
      for (std::int64_t cols : {std::int64_t(1), std::int64_t(3), std::int64_t(4), std::int64_t(30), three_strips,
                                five_strips, most - 1, most}) {
        if (cols > rows) continue;
        const std::string what = std::to_string(rows) + " x " + std::to_string(cols);
        const Dense<S> A = random<S>(rows, cols, std::uint32_t(rows * 999 + cols));
        Padded<S> a(A, q());
        Padded<std::int32_t> source(Dense<std::int32_t>(rows, 1, -7), q()), info(Dense<std::int32_t>(1, 1, 0), q());
        const View<std::int32_t> s = source.view(), i = info.view();
        if constexpr (cuda_built)
          if (q().on_cuda()) cuda::window_panel<S>(a.view(), 1000, s.data, i.data, q());
        if (!q().on_cuda()) host::window_panel<S>(a.view(), 1000, s.data, i.data, q());
        const Dense<std::int32_t> order = source.read("source");
        const Dense<S> LU = a.read("A");
        EXPECT_EQ(info.read("info")[0], 0) << what;
        expect_permutation(order, rows, what);
        EXPECT_LE(residual(A, LU, list(order)), residual_bound) << what;
        // the largest element was the pivot
        double largest = 0;
        for (std::int64_t j = 0; j < cols; ++j)
          for (std::int64_t i = j + 1; i < rows; ++i)
            largest = std::max(largest, double(std::abs(std::real(LU(i, j))) + std::abs(std::imag(LU(i, j)))));
        EXPECT_LE(largest, is_complex<S> ? 2.0001 : 1.0001) << what;
      }
  });
}

/// Of one panel, and of several whose windows overlap.
TEST_P(WindowSteps, Exchanges) {
  with_single([&]<class S>(S) {
    struct Shape {
      std::int64_t panels, step, rows;
    };
    for (const auto [panels, step, rows] :
         {Shape{1, 128, 1}, Shape{1, 128, 40}, Shape{1, 64, window_rows}, Shape{2, 128, 300}, Shape{3, 64, 384},
          Shape{4, 64, 448}, Shape{4, 128, 640}, Shape{4, 128, 400}})
      for (std::int64_t cols : {1, 8, 77}) {
        const Dense<S> A = random<S>(rows, cols, 4);
        Dense<S> expected = A;
        Dense<std::int32_t> sources(window_rows, panels, -1);
        for (std::int64_t p = 0; p < panels; ++p) {
          const std::int64_t top = p * step, window = std::min(rows - top, window_rows);
          const Dense<std::int32_t> source = a_permutation(window);
          const Dense<S> before = expected;
          for (std::int64_t i = 0; i < window; ++i) {
            sources(i, p) = source[i];
            for (std::int64_t j = 0; j < cols; ++j) expected(top + i, j) = before(top + source[i], j);
          }
        }
        Padded<S> a(A, q());
        Matrix<std::int32_t> s(window_rows, panels, q());
        to_device<std::int32_t>({sources.data(), window_rows, panels, window_rows}, s.view(), q());
        if constexpr (cuda_built)
          if (q().on_cuda()) cuda::window_exchange<S>(s.view().data, panels, step, a.view(), q());
        if (!q().on_cuda()) host::window_exchange<S>(s.view().data, panels, step, a.view(), q());
        expect_same(a.read("A"), expected, "A");
      }
  });
}

TEST_P(WindowSteps, ColumnsRightOfAPanel) {
  with_single([&]<class S>(S) {
    using D = double_of<S>;
    const std::int64_t most = window_panel_cols<S>;
    struct Shape {
      std::int64_t rows, k, below, cols;
    };
    for (const Shape& shape :
         {Shape{window_rows, most, most, 2 * most + 3}, Shape{window_rows, most, 7, 9},
          Shape{window_rows - 50, most - 1, 0, 1}, Shape{window_rows - 1, most / 2 + 1, most - 1, 17},
          Shape{window_rows, 1, most, 3}, Shape{most + 1, most, 1, 2}, Shape{most, most, 33, 6},
          Shape{most - 1, 32, 0, 7}, Shape{40, 33, 5, 8}, Shape{33, 33, 0, 5}, Shape{1, 1, 1, 1}}) {
      const auto [rows, k, below, cols] = shape;
      const std::string what = std::to_string(rows) + " x " + std::to_string(k);
      const Dense<S> LU = with_easy_triangles<S>(rows, k);
      const Dense<S> B = random<S>(below, k, 2), A = random<S>(rows, cols, 3), below_A = random<S>(below, cols, 4);
      const Dense<std::int32_t> source = a_permutation(rows);
      Padded<S> lu(LU, q()), b(B, q()), a(A, q()), low(below_A, q());
      Padded<std::int32_t> s(source, q());
      const std::int32_t* const order = s.view().data;
      if constexpr (cuda_built)
        if (q().on_cuda()) cuda::window_next<S>(order, lu.view(), b.view(), a.view(), low.view(), q());
      if (!q().on_cuda()) host::window_next<S>(order, lu.view(), b.view(), a.view(), low.view(), q());
      expect_same(lu.read("LU"), LU, "LU");
      expect_same(b.read("B"), B, "B");
      const Dense<S> in_window = a.read("A"), beneath = low.read("low");
      // the same in double precision
      for (std::int64_t j = 0; j < cols; ++j) {
        std::vector<D> x(rows + below);
        for (std::int64_t i = 0; i < rows + below; ++i) x[i] = D(i < rows ? A(source[i], j) : below_A(i - rows, j));
        for (std::int64_t c = 0; c < k; ++c)
          for (std::int64_t i = c + 1; i < rows; ++i) x[i] -= D(LU(i, c)) * x[c];
        std::vector<D> z(x.begin(), x.begin() + k);
        for (std::int64_t c = k - 1; c >= 0; --c) {
          z[c] /= D(LU(c, c));
          for (std::int64_t i = 0; i < c; ++i) z[i] -= D(LU(i, c)) * z[c];
          for (std::int64_t i = 0; i < below; ++i) x[rows + i] -= D(B(i, c)) * z[c];
        }
        // sums of up to 128 products of numbers near 1
        const double bound = 100 * eps<S>;
        for (std::int64_t i = 0; i < rows + below; ++i) {
          const D is(i < rows ? in_window(i, j) : beneath(i - rows, j));
          EXPECT_LE(std::abs(is - x[i]), bound * (1 + std::abs(x[i]))) << what << ": " << i << ", " << j;
        }
      }
    }
  });
}

/// Solutions of T X = B for a lower triangle T. element(i, k) is T's, i >= k.
template <class S, class Element>
void expect_solves(const Dense<S>& B, const Dense<S>& X, Element&& element, const std::string& what) {
  using D = double_of<S>;
  for (std::int64_t j = 0; j < B.cols(); ++j)
    for (std::int64_t i = 0; i < B.rows(); ++i) {
      D sum = -D(B(i, j));
      double size = std::abs(D(B(i, j)));
      for (std::int64_t k = 0; k <= i; ++k) {
        const D term = D(element(i, k)) * D(X(k, j));
        sum += term;
        size += std::abs(term);
      }
      EXPECT_LE(std::abs(sum), residual_bound * eps<S> * size) << what << ": " << i << ", " << j;
    }
}
std::vector<std::int64_t> orders_of_triangles(std::int64_t most) {
  return {1, 31, 32, 33, 64, most - 1, most};
}

TEST_P(WindowSteps, RowsOfLBelowAPanel) {
  with_single([&]<class S>(S) {
    for (const std::int64_t n : orders_of_triangles(window_panel_cols<S>))
      for (std::int64_t rows : {1, 4, 64, 333}) {
        const Dense<S> U = with_easy_triangles<S>(n, n), B = random<S>(rows, n, 8);
        Padded<S> u(U, q()), b(B, q());
        if constexpr (cuda_built)
          if (q().on_cuda()) cuda::window_left<S>(u.view(), b.view(), q());
        if (!q().on_cuda()) host::window_left<S>(u.view(), b.view(), q());
        expect_same(u.read("U"), U, "U");
        expect_solves<S>(
            op_of(Op::Trans, B), op_of(Op::Trans, b.read("B")), [&](auto i, auto k) { return U(k, i); },
            std::to_string(rows) + " x " + std::to_string(n));
      }
  });
}

TEST_P(WindowSteps, ColumnsOfURightOfAPanel) {
  with_single([&]<class S>(S) {
    for (const std::int64_t n : orders_of_triangles(window_panel_cols<S>))
      for (std::int64_t cols : {1, 4, 64, 333}) {
        const Dense<S> L = with_easy_triangles<S>(n, n), A = random<S>(n, cols, 8);
        Padded<S> l(L, q()), a(A, q());
        if constexpr (cuda_built)
          if (q().on_cuda()) cuda::window_right<S>(l.view(), a.view(), q());
        if (!q().on_cuda()) host::window_right<S>(l.view(), a.view(), q());
        expect_same(l.read("L"), L, "L");
        expect_solves<S>(
            A, a.read("A"), [&](auto i, auto k) { return i == k ? S(1) : L(i, k); },
            std::to_string(n) + " x " + std::to_string(cols));
      }
  });
}

/// Of several panels at once, on a GPU: the exchanges and U's columns, for few columns and for more than fit on it at once.
TEST_P(WindowSteps, ColumnsOfURightOfABlock) {
  if (const char* const why = no_window_upper()) GTEST_SKIP() << "skipped: window_upper is " << why;
  constexpr std::int64_t step = window_panel_cols<float>;
  struct Shape {
    std::int64_t panels, rows, cols;
  };
  for (const auto [panels, rows, cols] : {Shape{1, 128, 1}, Shape{1, 256, 33}, Shape{2, 300, 64}, Shape{3, 512, 31},
                                          Shape{4, 512, 5}, Shape{4, 640, 512}, Shape{4, 640, 12'345}}) {
    const std::string what = std::to_string(panels) + " panels, " + std::to_string(rows) + " x " + std::to_string(cols);
    const std::int64_t order = panels * step;
    const Dense<float> L = with_easy_triangles<float>(order, order), A = random<float>(rows, cols, 8);
    Dense<float> exchanged = A;
    Dense<std::int32_t> sources(window_rows, panels, -1);
    for (std::int64_t p = 0; p < panels; ++p) {
      const Dense<std::int32_t> source = a_permutation(std::min(rows - p * step, window_rows));
      const Dense<float> before = exchanged;
      for (std::int64_t i = 0; i < source.rows(); ++i) {
        sources(i, p) = source[i];
        for (std::int64_t j = 0; j < cols; ++j) exchanged(p * step + i, j) = before(p * step + source[i], j);
      }
    }
    const auto solve = upper_of_block(L, sources, rows);
    const Dense<float> X = solve(A);
    // with many columns the tiles' ring is used while the GPU is busy with stores
    for (int again = 0; again < (cols > 10'000 ? 4 : 0); ++again) expect_same(solve(A), X, "A");
    for (std::int64_t j = 0; j < cols; ++j)
      for (std::int64_t i = order; i < rows; ++i) EXPECT_EQ(X(i, j), exchanged(i, j)) << what << ": " << i << ", " << j;
    std::vector<std::int64_t> some;  // columns, of all the kernel's blocks
    for (std::int64_t j = 0; j < cols; j += cols < 1000 ? 1 : 37) some.push_back(j);
    const auto count = static_cast<std::int64_t>(some.size());
    expect_solves<float>(
        Dense<float>::from(order, count, [&](auto i, auto j) { return exchanged(i, some[j]); }),
        Dense<float>::from(order, count, [&](auto i, auto j) { return X(i, some[j]); }),
        [&](auto i, auto k) { return i == k ? 1.0F : L(i, k); }, what);
  }
}

/// A number that is not finite stays in its column, and is seen there.
TEST_P(WindowSteps, ColumnsOfUThatAreNotFinite) {
  if (const char* const why = no_window_upper()) GTEST_SKIP() << "skipped: window_upper is " << why;
  constexpr std::int64_t step = window_panel_cols<float>, panels = 2, order = panels * step, cols = 70;
  const Dense<float> L = with_easy_triangles<float>(order, order), A = random<float>(order, cols, 8);
  const auto sources = Dense<std::int32_t>::from(window_rows, panels, [](auto i, auto) { return std::int32_t(i); });
  const auto solve = upper_of_block(L, sources, order);
  const Dense<float> X = solve(A);
  std::uint32_t low = 0x7f800001;  // a NaN whose first bits are an infinity's
  float low_nan = 0;
  std::memcpy(&low_nan, &low, sizeof low);
  for (const float bad : {nan<float>, low_nan, INFINITY, -INFINITY})
    for (const std::int64_t row : {std::int64_t(0), std::int64_t(37), order - 1}) {
      const std::int64_t col = row % cols;
      Dense<float> B = A;
      B(row, col) = bad;
      Dense<float> Y = solve(B);
      EXPECT_FALSE(std::isfinite(Y(row, col))) << bad << " in row " << row;
      for (std::int64_t i = 0; i < order; ++i) Y(i, col) = X(i, col);
      expect_same(Y, X, "the other columns");
    }
}

}  // namespace
}  // namespace devobj::test
