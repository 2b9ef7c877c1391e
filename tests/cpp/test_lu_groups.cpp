// On a GPU only: the native LU of matrices so large that blocks update the rest together (LuNativeBlocks::Group). They are made on the
// GPU, and so is what they are compared by.
#include <algorithm>

#include "devObjCpp/lu_native_blocks.hpp"
#include "devObjCpp/memory.hpp"
#include "devobj/blas.hpp"
#include "devobj/lu.hpp"
#include "devobj/rng.hpp"
#include "factor_checks.hpp"
#include "kernels/native.hpp"

namespace devobj::test {
namespace {

class LuGroups : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, LuGroups,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::double_precision, Type::double_complex)),
                         instance_name);

/// Blocks of the largest group.
template <class T>
std::size_t largest_group(View<T> A, LuOptions options, const Queue& q) {
  std::size_t largest = 0;
  if constexpr (cuda_built) {
    const bool by_rows = A.rows == A.cols;
    const LuNativeProducts<T> products(A, by_rows, options.math, q);
    LuNativeBlocks<T> blocks(A.rows, A.cols, by_rows, options, 128, products, tuning_of(q));
    blocks.set_groups(products);
    for (const auto& group : blocks.groups()) largest = std::max(largest, group.last - group.first + 1);
  }
  return largest;
}

/// A, a few columns X, and A X.
template <class T>
struct Problem {
  Matrix<T> A, X, AX;

  Problem(std::int64_t m, std::int64_t n, Queue& q) : A(m, n, q), X(n, 3, q), AX(m, 3, q) {
    Rng rng(q, Generator::philox, 5);
    rng.uniform<T>(-1, 1, A, q);
    rng.uniform<T>(-1, 1, X, q);
    gemm<T>(Op::NoTrans, Op::NoTrans, 1, A, X, 0, AX, q);
  }
};

/// L U X and P A X.
template <class T>
struct Products {
  Dense<T> of_factors, of_A;

  /// In units of n eps.
  double residual() const {
    double worst = 0;
    for (std::int64_t j = 0; j < of_A.cols(); ++j)
      for (std::int64_t i = 0; i < of_A.rows(); ++i) worst = larger(worst, std::abs(of_factors(i, j) - of_A(i, j)));
    return worst / (static_cast<double>(of_A.rows()) * eps<double>);
  }
};

/// With the factors that getrf makes in the queue `factoring`.
template <class T>
Products<T> products_of(const Problem<T>& problem, LuOptions options, Queue& factoring, Queue& q) {
  const std::int64_t m = problem.A.rows, n = problem.A.cols, k = std::min(m, n), few = problem.X.cols;
  Matrix<T> LU(m, n, q), LUX(m, few, q), PAX(m, few, q);
  Matrix<std::int32_t> ipiv(k, 1, q);
  copy<T>(problem.A, LU, q);
  copy<T>(problem.AX, PAX, q);
  q.wait();
  EXPECT_EQ(getrf<T>(LU, ipiv.view(), factoring, options), 0);
  const View<T> factors = LU.view(), all = LUX.view(), X = problem.X.view(), top = all({0, k}, {0, few}),
                square = factors({0, k}, {0, k});
  copy<T>(X({0, k}, {0, few}), top, q);
  trmm<T>(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, 1, square, top, q);
  if (n > k) gemm<T>(Op::NoTrans, Op::NoTrans, 1, factors({0, k}, {k, n}), X({k, n}, {0, few}), 1, top, q);
  if (m > k) gemm<T>(Op::NoTrans, Op::NoTrans, 1, factors({k, m}, {0, k}), top, 0, all({k, m}, {0, few}), q);
  trmm<T>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, 1, square, top, q);
  laswp<T>(PAX, 0, k, ipiv.view(), true, q);
  return {download<T>(LUX, q), download<T>(PAX, q)};
}

/// Square matrices, which are row-major meanwhile, and others, which are not, whose columns' rows left of a block are exchanged at the end
/// or, where there are very many rows, at once: as good as by plain products, which are not grouped; twice the same bits; and as good
/// without the memory for products of integers, where blocks are not grouped.
TEST_P(LuGroups, AsGoodAsByPlainProducts) {
  with_double([&]<class T>(T) {
    bool usable = false;
    if constexpr (cuda_built) usable = cuda::gemm_residues_usable(q().device());
    if (!usable) GTEST_SKIP() << "skipped: this GPU has no such product";
    struct Shape {
      std::int64_t m, n;
      bool tested, grouped;
    };
    constexpr bool real = std::is_same_v<T, double>;
    try {
      // (blocks of tall complex matrices are as wide as groups may be)
      for (const auto& [m, n, tested, grouped] : {Shape{12'302, 12'302, true, true},
                                                  {18'302, 18'302, true, true},
                                                  {25'500, 13'000, true, real},
                                                  {14'000, 12'302, !real, true},
                                                  {13'000, 25'500, real, true},
                                                  {62'000, 7'700, real, true}}) {
        if (!tested) continue;
        SCOPED_TRACE(shape_name(m, n));
        const Problem<T> problem(m, n, q());
        const LuOptions native{Method::native}, strict{Method::native, 0, nullptr, 0, Math::strict};
        EXPECT_EQ(largest_group<T>(problem.A, native, q()) >= 2, grouped);
        EXPECT_EQ(largest_group<T>(problem.A, strict, q()), 1u);
        EXPECT_EQ(largest_group<T>(problem.A, {Method::native, 256, nullptr, 128}, q()), 1u) << "of given columns";
        const Products<T> ours = products_of(problem, native, q(), q());
        const double plain = products_of(problem, strict, q(), q()).residual();
        EXPECT_LE(ours.residual(), 2 * plain);
        expect_same(products_of(problem, native, q(), q()).of_factors, ours.of_factors, "the second time");
        RecordProperty("residuals_" + std::to_string(n), std::to_string(ours.residual()) + " " + std::to_string(plain));
        if (m != n) continue;
        bool went_without = false;
        for (int nth = 1; nth <= 4 && !went_without; ++nth) {
          Queue fresh(Backend::cuda);
          try {
            memory::fail_allocation(nth + 4);  // the first are those of products_of
            const Products<T> without = products_of(problem, native, fresh, q());
            memory::fail_allocation(0);
            EXPECT_LE(without.residual(), 2 * plain);
            went_without = !same_bits(without.of_factors, ours.of_factors);
          } catch (const Error& error) {
            memory::fail_allocation(0);
            EXPECT_EQ(error.status(), Status::out_of_memory) << error.what();
          }
        }
        EXPECT_TRUE(went_without);
      }
    } catch (const Error& error) {
      if (error.status() != Status::out_of_memory) throw;
      GTEST_SKIP() << "skipped: " << error.what();
    }
  });
}

}  // namespace
}  // namespace devobj::test
