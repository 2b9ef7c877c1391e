// LU with pivots from a window of rows.
#include "devObjCpp/lu_window.hpp"
#include "window_checks.hpp"

namespace devobj::test {
namespace {

class WindowLu : public WindowPlaces {};
INSTANTIATE_TEST_SUITE_P(On, WindowLu,
                         ::testing::Combine(::testing::ValuesIn(places()),
#if defined(DEVOBJ_TEST_TSAN)
                                            ::testing::Values(Type::real)),
#else
                                            ::testing::Values(Type::real, Type::complex)),
#endif
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
    const std::int64_t width = window_panel_cols<S>, blocks = q().on_cuda() ? 3 : 2;  // whole ones before the last
#if defined(DEVOBJ_TEST_TSAN)
    constexpr std::int64_t step = window_most_panels - 1;  // one panel and the most
#else
    constexpr std::int64_t step = 1;
#endif
    for (std::int64_t panels = 1; panels <= window_most_panels; panels += step)
      for (std::int64_t n : {width, panels * width, panels * width + 1, blocks * panels * width,
                             (blocks * panels + 1) * width - 1, ((blocks + 1) * panels - 1) * width + 5}) {
        const Dense<S> A = random<S>(n, n, std::uint32_t(n));
        expect_factors(A, factor(A, q(), panels), std::to_string(panels) + " panels, n = " + std::to_string(n));
      }
  });
}

/// Beyond the order where the updates are products by parts on a GPU; the host has no such order.
TEST_P(WindowLu, ALargeMatrix) {
  with_single([&]<class S>(S) {
    const std::int64_t n = !q().on_cuda() ? 1201 : is_complex<S> ? 2501 : 2801;
    const Dense<S> A = random<S>(n, n, 5);
    expect_factors(A, factor(A, q()), "a large matrix");
  });
}

/// So large that the products leave the multiprocessors free on which a panel's cluster has room.
TEST_P(WindowLu, PanelsBesideLargeProducts) {
  if (!q().on_cuda()) GTEST_SKIP() << "skipped: on the host nothing is beside products";
  if (type() == Type::complex) GTEST_SKIP() << "skipped: only real products leave multiprocessors free";
  const Dense<float> A = random<float>(13'001, 13'001, 5);
  const Factored<float> f = factor(A, q());
  expect_factors(A, f, "beside products");
  expect_same(factor(A, q()).LU, f.LU, "LU, again");
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
