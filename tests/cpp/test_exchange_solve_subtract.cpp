// On a GPU only: exchange_solve_subtract: the exchange of rows, the solution and the product after it by their backward error against a wider
// precision; behind another queue's work; with infinities and NaN.
#include <algorithm>
#include <cmath>
#include <vector>

#include "devobj/blas.hpp"
#include "factor_checks.hpp"
#include "kernels/native.hpp"
#include "row_exchanges.hpp"

namespace devobj::test {
namespace {

/// exchange_solve_subtract, where the GPU has it: all rows, and what is beside A.
class ExchangeSolveSubtract : public Everywhere {
 public:
  struct Size {
    std::int64_t m, w, columns;
  };
  /// In place of A; false if it is not possible. `aligned`: columns begin at multiples of 16 bytes.
  template <class T>
  bool apply(const Dense<T>& L, const Dense<T>& A, const Exchanges& exchanges, bool aligned, Dense<T>& X) {
    bool done = false;
    if constexpr (cuda_built) {
      const std::int64_t m = L.rows(), w = L.cols();
      Dense<std::int32_t> lists(2 * w, 1);
      for (std::int64_t t = 0; t < w; ++t) lists[t] = exchanges.source[t], lists[w + t] = exchanges.displaced_to[t];
      const Matrix<std::int32_t> on_device = upload(lists, q());
      std::int32_t* const first = on_device.view().data;
      Padded<T> l(L, q()), a(A, q());
      Matrix<T> at_16_bytes((m + 3) / 4 * 4, w, q());
      to_device<T>({L.data(), m, w, m}, at_16_bytes({0, m}, {0, w}), q());
      done = cuda::exchange_solve_subtract<T>(aligned ? at_16_bytes({0, m}, {0, w}) : View<T>(l), a,
                                              {first, first + w, w}, {}, q());
      X = a.read("A");
    }
    return done;
  }
  template <class T>
  void check(const Size& size) {
    const auto [m, w, columns] = size;
    SCOPED_TRACE(shape_name(m, columns) + ", w = " + std::to_string(w));
    Dense<T> L = random<T>(m, w, 1);
    for (std::int64_t j = 0; j < w; ++j)
      for (std::int64_t i = 0; i < w; ++i) L(i, j) *= real_t<T>(0.25);  // so that inverses of its tiles are not large
    const Dense<T> A = random<T>(m, columns, 2);
    const Exchanges exchanges(m, w, w);
    Dense<T> R = L, B = A;  // as L and P A are
    for (std::int64_t j = 0; j < w; ++j)
      for (std::int64_t i = 0; i <= j; ++i) R(i, j) = T(i == j);
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < m; ++i) B(i, j) = A(exchanges.order[i], j);
    Dense<T> first;
    for (const bool aligned : {true, false}) {
      SCOPED_TRACE(aligned ? "aligned" : "not aligned");
      Dense<T> X;
      if (!apply(L, A, exchanges, aligned, X)) {
        expect_same(X, A, "A where it is not possible");
        continue;
      }
      ++done;
      if (first.size() == 0) first = X;
      expect_same(X, first, "X");
      const Dense<T> U = block_of(X, {0, w}, {0, columns});
      auto sum = multiply(widen(R), widen(U));
      Dense<Wide> bound = multiply(absolute(widen(R)), absolute(widen(U)));
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = w; i < m; ++i) {
          sum(i, j) += std::remove_reference_t<decltype(sum(i, j))>(X(i, j));
          bound(i, j) += std::abs(X(i, j));
        }
      for (std::int64_t e = 0; e < bound.size(); ++e) bound[e] *= 4 * Wide(w + 8) * Wide(eps<real_t<T>>);
      expect_close(B, sum, bound, "L X");
    }
  }
  int done = 0;
};
INSTANTIATE_TEST_SUITE_P(On, ExchangeSolveSubtract,
                         testing::Combine(testing::Values(places()[2]), testing::ValuesIn(scalar_types)),
                         instance_name);

TEST_P(ExchangeSolveSubtract, SizesAndWidths) {
  with_type([&]<class T>(T) {
    bool hopper = false;
    if constexpr (cuda_built) hopper = cuda::gemm_overlapped_usable(q().device());
    // by the kernel: on Hopper for 64 columns, in single precision for 128 too, and more rows
    const std::vector<Size> of_64{{64, 64, 1},   {65, 64, 64},   {70, 64, 3},    {129, 64, 8},
                                  {200, 64, 17}, {300, 64, 63},  {577, 64, 9},   {700, 64, 33},
                                  {1200, 64, 9}, {2500, 64, 40}, {3901, 64, 20}, {4000, 64, 64}};
    for (const Size& size : of_64) check<T>(size);
    EXPECT_EQ(done, hopper ? 2 * of_64.size() : 0);
    done = 0;
    const std::vector<Size> of_single{
        {129, 128, 100}, {500, 128, 128}, {3000, 128, 17}, {5190, 64, 20}, {6000, 128, 33}};
    for (const Size& size : of_single) check<T>(size);
    EXPECT_EQ(done, (hopper && std::is_same_v<T, float> ? 2 * of_single.size() : 0));
    // not by it
    done = 0;
    for (const Size& size : std::vector<Size>{{257, 1, 1}, {700, 33, 7}, {300, 64, 65}, {6010, 64, 3}, {70, 64, 130}})
      check<T>(size);
    EXPECT_EQ(done, 0);
  });
}

/// It waits for another queue's work, which begins late.
TEST_P(ExchangeSolveSubtract, WaitsForProgress) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 1000, w = 64, columns = 64;
    if constexpr (cuda_built) {
      if (!cuda::gemm_overlapped_usable(q().device()) || !cuda::exchange_solve_subtract_may_wait<T>(q()))
        GTEST_SKIP() << "skipped: not on Hopper";
      const Dense<T> L = random<T>(m, w, 1), A = random<T>(m, columns, 2);
      Dense<std::int32_t> lists(2 * w, 1);
      for (std::int64_t t = 0; t < w; ++t) lists[t] = std::int32_t(t), lists[w + t] = -1;
      const Matrix<std::int32_t> on_device = upload(lists, q());
      const cuda::RowExchange none{on_device.view().data, on_device.view().data + w, w};
      const Matrix<T> l = upload(L, q()), there = upload(A, q()), expected = upload(A, q());
      ASSERT_TRUE(cuda::exchange_solve_subtract<T>(l, expected, none, {}, q()));
      // so much work that the kernel has begun long before it is done
      const std::int64_t n = 4000;
      const Matrix<T> large = upload(random<T>(n, n, 3), q()), square(n, n, q());
      const Matrix<std::int32_t> steps = upload(Dense<std::int32_t>(1, 1), q());
      const Matrix<T> a = upload(Dense<T>(m, columns, nan<T>), q());
      for (std::int32_t step = 1; step <= 3; ++step) {
        {
          SideQueue waiting(q(), true);
          gemm<T>(Op::NoTrans, Op::NoTrans, T(1), large, large, T(0), square, q());
          copy<T>(there, a, q());
          cuda::reach({steps.view().data, step}, q());
          ASSERT_TRUE(cuda::exchange_solve_subtract<T>(l, a, none, {steps.view().data, step}, waiting));
        }
        expect_same(download<T>(a, q()), download<T>(expected, q()), "A");
      }
    }
  });
}

/// What is not finite stays in its column, and where elimination takes it.
TEST_P(ExchangeSolveSubtract, InfinitiesAndNaN) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 400, w = 64, columns = 40;
    Dense<T> L = random<T>(m, w, 1);
    for (std::int64_t e = 0; e < L.size(); ++e) L[e] *= real_t<T>(0.25);
    Dense<T> A = random<T>(m, columns, 4);
    A(5, 3) = infinity<T>;
    A(40, 7) = nan<T>;
    A(300, 20) = infinity<T>;
    A(301, 21) = nan<T>;
    Exchanges none(m, 0, w);
    for (std::int64_t t = 0; t < w; ++t) none.source.push_back(std::int32_t(t)), none.displaced_to.push_back(-1);
    Dense<T> X;
    if (!apply(L, A, none, true, X)) {
      if constexpr (cuda_built) {
        EXPECT_FALSE(cuda::gemm_overlapped_usable(q().device())) << "on Hopper it is possible";
      }
      return;
    }
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        const bool bad = (j == 3 && i >= 5) || (j == 7 && i >= 40) || (j == 20 && i == 300) || (j == 21 && i == 301);
        ASSERT_EQ(std::isfinite(std::abs(X(i, j))), !bad) << i << ", " << j;
      }
    EXPECT_TRUE(std::isinf(std::abs(X(5, 3))));
    EXPECT_TRUE(std::isinf(std::abs(X(300, 20))));
  });
}

}  // namespace
}  // namespace devobj::test
