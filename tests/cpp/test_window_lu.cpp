// LU with pivots from a window of rows, and its steps: panels, columns right of them, exchanges, triangles.
#include <numeric>

#include "devObjCpp/lu_window.hpp"
#include "factor_checks.hpp"
#include "kernels/randomized.hpp"
#include "testing.hpp"

namespace devobj::test {
namespace {

/// The places, for the two single precision types.
class WindowLu : public Everywhere {
 public:
  template <class F>
  void with_single(F&& test) {
    type() == Type::real ? test(float{}) : test(std::complex<float>{});
  }
};
INSTANTIATE_TEST_SUITE_P(On, WindowLu,
                         ::testing::Combine(::testing::ValuesIn(places()),
                                            ::testing::Values(Type::real, Type::complex)),
                         instance_name);

template <class S>
struct Factored {
  Dense<S> LU;
  Dense<std::int32_t> order;
  std::int32_t info;
};
template <class S>
Factored<S> factor(const Dense<S>& A, Queue& q, std::int64_t panels_per_block = window_most_panels) {
  Padded<S> a(A, q);
  Padded<std::int32_t> order(Dense<std::int32_t>(A.rows(), 1, -7), q), info(Dense<std::int32_t>(1, 1, -7), q);
  getrf_window<S>(a, order, info, Math::automatic, q, panels_per_block);
  return {a.read("A"), order.read("order"), info.read("info")[0]};
}

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

template <class S>
using double_of = std::conditional_t<is_complex<S>, std::complex<double>, double>;

/// max|P A - L U| / (max|A| n eps), L and U in the first columns of LU; the order counts from 0.
template <class S>
double residual(const Dense<S>& A, const Dense<S>& LU, const std::vector<std::int32_t>& order) {
  using D = double_of<S>;
  const std::int64_t m = A.rows(), n = A.cols();
  double error = 0, size = 0;
  std::vector<D> column(m);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) column[i] = D(A(order[i], j));
    for (std::int64_t k = 0; k < std::min(n, m); ++k) {
      if (k > j) break;
      const D u(LU(k, j));
      column[k] -= u;
      for (std::int64_t i = k + 1; i < m; ++i) column[i] -= D(LU(i, k)) * u;
    }
    for (std::int64_t i = 0; i < m; ++i) {
      const double e = std::abs(column[i]);
      error = std::isnan(e) || e > error ? e : error;
      size = std::max(size, std::abs(D(A(i, j))));
    }
  }
  return error / (size * static_cast<double>(std::max(m, n)) * eps<S>);
}

template <class Order>
void expect_permutation(const Order& order, std::int64_t n, const std::string& what) {
  std::vector<bool> seen(n, false);
  for (std::int64_t i = 0; i < n; ++i) {
    ASSERT_TRUE(order[i] >= 0 && order[i] < n && !seen[order[i]]) << what << ", row " << i << " is row " << order[i];
    seen[order[i]] = true;
  }
}

std::vector<std::int32_t> list(const Dense<std::int32_t>& order) {
  return {order.data(), order.data() + order.size()};
}

/// P A x = L (U x) for some x: a check for matrices of larger order.
template <class S>
void expect_factors(const Dense<S>& A, const Factored<S>& f, const std::string& what) {
  using D = double_of<S>;
  const std::int64_t n = A.rows();
  EXPECT_EQ(f.info, 0) << what;
  expect_permutation(f.order, n, what);
  std::vector<D> x(n), Ax(n), Ux(n), LUx(n);
  const Dense<S> numbers = random<S>(n, 1, 6);
  for (std::int64_t i = 0; i < n; ++i) x[i] = D(numbers[i]);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      Ax[i] += D(A(i, j)) * x[j];
      if (i <= j) Ux[i] += D(f.LU(i, j)) * x[j];
    }
  for (std::int64_t j = 0; j < n; ++j) {
    LUx[j] += Ux[j];
    for (std::int64_t i = j + 1; i < n; ++i) LUx[i] += D(f.LU(i, j)) * Ux[j];
  }
  double error = 0, sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double e = std::abs(Ax[f.order[i]] - LUx[i]);
    error = std::isnan(e) || e > error ? e : error;
    sum += std::abs(x[i]);
  }
  EXPECT_LE(error, residual_bound * sum * static_cast<double>(n) * eps<S>) << what;
}

TEST_P(WindowLu, FactorsOfEveryOrder) {
  with_single([&]<class S>(S) {
    const std::int64_t width = window_panel_cols<S>;
    for (std::int64_t n : {std::int64_t(1), std::int64_t(2), width - 1, width, width + 1, 2 * width, window_rows - 1,
                           window_rows + 1, 3 * width, 3 * width + 1, std::int64_t(520), std::int64_t(641)}) {
      const std::string what = "n = " + std::to_string(n);
      const Dense<S> A = random<S>(n, n, std::uint32_t(n));
      const Factored<S> f = factor(A, q());
      EXPECT_EQ(f.info, 0) << what;
      expect_permutation(f.order, n, what);
      EXPECT_LE(residual(A, f.LU, list(f.order)), residual_bound) << what;
    }
  });
}

TEST_P(WindowLu, BlocksOfEveryNumberOfPanels) {
  with_single([&]<class S>(S) {
    const std::int64_t width = window_panel_cols<S>;
    for (std::int64_t panels = 1; panels <= window_most_panels; ++panels)
      for (std::int64_t n : {width, panels * width, panels * width + 1, 3 * panels * width,
                             (3 * panels + 1) * width - 1, (4 * panels - 1) * width + 5}) {
        const Dense<S> A = random<S>(n, n, std::uint32_t(n));
        expect_factors(A, factor(A, q(), panels), std::to_string(panels) + " panels, n = " + std::to_string(n));
      }
  });
}

/// Beyond the order where the updates are products by parts on a GPU.
TEST_P(WindowLu, ALargeMatrix) {
  with_single([&]<class S>(S) {
    const Dense<S> A = random<S>(is_complex<S> ? 2501 : 2801, is_complex<S> ? 2501 : 2801, 5);
    for (const std::int64_t panels : {std::int64_t(1), window_most_panels})
      expect_factors(A, factor(A, q(), panels), std::to_string(panels) + " panels");
  });
}

TEST_P(WindowLu, TheSameBitsAgain) {
  with_single([&]<class S>(S) {
    const Dense<S> A = random<S>(700, 700, 9);
    const Factored<S> first = factor(A, q()), second = factor(A, q());
    expect_same(second.LU, first.LU, "LU");
    expect_same(second.order, first.order, "order");
  });
}

TEST_P(WindowLu, TheFirstZeroPivotIsReported) {
  with_single([&]<class S>(S) {
    for (std::int64_t n : {40, 400})
      for (std::int64_t at : {std::int64_t(0), n / 3, n - 1}) {
        Dense<S> A = random<S>(n, n, 3);
        for (std::int64_t i = 0; i < n; ++i) A(i, at) = S(0);
        EXPECT_EQ(factor(A, q()).info, at + 1) << n;
        for (std::int64_t i = 0; i < n; ++i) A(i, n / 2) = S(0);
        EXPECT_EQ(factor(A, q()).info, std::min(at, n / 2) + 1) << n;
      }
  });
}

TEST_P(WindowLu, NaNIsNotSwallowed) {
  with_single([&]<class S>(S) {
    for (std::int64_t at : {std::int64_t(0), std::int64_t(150 * 300 + 299), std::int64_t(300 * 300 - 1)}) {
      Dense<S> A = random<S>(300, 300, 3);
      A[at] = make<S>(nan<S>);
      const Factored<S> f = factor(A, q());
      expect_permutation(f.order, 300, "NaN");
      bool found = false;
      for (std::int64_t e = 0; e < f.LU.size(); ++e) found = found || std::isnan(std::abs(f.LU[e]));
      EXPECT_TRUE(found) << at;
    }
  });
}

TEST_P(WindowLu, OfNothing) {
  with_single([&]<class S>(S) {
    Padded<std::int32_t> info(Dense<std::int32_t>(1, 1, -7), q());
    getrf_window<S>(View<S>(), View<std::int32_t>(), info, Math::automatic, q());
    EXPECT_EQ(info.read("info")[0], 0);
  });
}

// ---- the steps ----

TEST_P(WindowLu, PanelsOfEveryShape) {
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
TEST_P(WindowLu, Exchanges) {
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

TEST_P(WindowLu, ColumnsRightOfAPanel) {
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

TEST_P(WindowLu, RowsOfLBelowAPanel) {
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

TEST_P(WindowLu, ColumnsOfURightOfAPanel) {
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

TEST(WindowLuChecker, SeesMutations) {
  Queue q(Backend::host);
  const Dense<float> A = random<float>(300, 300, 3);
  const Factored<float> f = factor(A, q);
  ASSERT_LE(residual(A, f.LU, list(f.order)), residual_bound);
  std::vector<std::int32_t> order = list(f.order);
  std::swap(order[3], order[200]);
  EXPECT_GT(residual(A, f.LU, order), residual_bound);
  Dense<float> LU = f.LU;
  LU(299, 100) += 0.1f;
  EXPECT_GT(residual(A, LU, list(f.order)), residual_bound);
}

}  // namespace
}  // namespace devobj::test
