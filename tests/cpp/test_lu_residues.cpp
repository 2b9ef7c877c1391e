// On a GPU only: the native LU in double precision where its updates are by remainders of integers (gemm_residues), beside itself in
// strict math.
#include "devObjCpp/lu_native_products.hpp"
#include "devObjCpp/memory.hpp"
#include "factor_checks.hpp"
#include "kernels/native.hpp"

namespace devobj::test {
namespace {

class LuByResidues : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, LuByResidues,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::double_precision, Type::double_complex)),
                         instance_name);

/// An element of a matrix whose rows and columns have sizes from 2^-390 to 2^80.
template <class T>
T of_all_sizes(T x, std::int64_t i, std::int64_t j) {
  return x * std::ldexp(1.0, static_cast<int>((i % 7 == 0 ? -300 : i % 5 * 20) - j % 90));
}

/// Updates by remainders of integers, where the blocks are wide: as good as by plain products, for matrices whose elements differ too.
TEST_P(LuByResidues, AsGoodAsByPlainProducts) {
  with_double([&]<class T>(T) {
    bool usable = false;
    if constexpr (cuda_built) usable = cuda::gemm_residues_usable(q().device());
    if (!usable) GTEST_SKIP() << "skipped: this GPU has no such product";
    // The first block updates all but the columns of the next one at once, those of the block after it first: of complex matrices
    // column-major, of real ones row-major. An odd number of rows is aligned where the tests put it.
    const std::int64_t block = is_complex<T> ? 512 : 1024, n = (is_complex<T> ? 2500 : 4096) + 3 * block + 101;
    ASSERT_GT(n - 2 * block, LuNativeProducts<T>::residues_least);
    const Dense<T> uniform = random<T>(n, n, 31);
    const auto element = [&](int kind, std::int64_t i, std::int64_t j) {
      const T x = uniform(i, j);
      switch (kind) {
        case 0:
          return of_all_sizes(x, i, j);
        case 1:
          return i == j || (i * 31 + j * 17) % 10 == 0 ? x : T(0);  // mostly zeros
        default:
          return 1.0 + x * 0x1p-40;  // nearly of rank one
      }
    };
    for (int kind = 0; kind < 3; ++kind) {
      SCOPED_TRACE("kind " + std::to_string(kind));
      const Dense<T> A = Dense<T>::from(n, n, [&](auto i, auto j) { return element(kind, i, j); });
      LuOptions options{Method::native, block, nullptr, 128};
      const LuFactors<T> f = factor_lu(A, q(), options);
      options.math = Math::strict;
      const LuFactors<T> plain = factor_lu(A, q(), options);
      EXPECT_TRUE(pivots_in_range(f));
      EXPECT_FALSE(same_bits(f.LU, plain.LU)) << "was not by residues";
      const double ours = residual_of_rows(A, f), strict = residual_of_rows(A, plain);
      EXPECT_LE(ours, 2 * strict + residual_floor) << "strict " << strict;
      RecordProperty("residuals_" + std::to_string(kind), std::to_string(ours) + " " + std::to_string(strict));
      if (kind == 0) {  // where there is no memory for them the updates are plain, or by three real products
        options.math = Math::automatic;
        bool went_without = false;
        for (int nth = 1; nth <= 4 && !went_without; ++nth) {
          const Matrix<T> whole(n + 1, n, q());
          Matrix<std::int32_t> ipiv(n, 1, q());
          const View<T> LU = whole({0, n}, {0, n});
          to_device<T>({const_cast<T*>(A.data()), n, n, n}, LU, q());
          q().wait();
          Queue fresh(Backend::cuda);
          memory::fail_allocation(nth);
          try {
            EXPECT_EQ(getrf<T>(LU, ipiv.view(), fresh, options), 0);
            memory::fail_allocation(0);
            fresh.wait();
            const Dense<T> factors = download<T>(LU, q());
            went_without = is_complex<T> ? !same_bits(factors, f.LU) : same_bits(factors, plain.LU);
          } catch (const Error& error) {
            memory::fail_allocation(0);
            EXPECT_EQ(error.status(), Status::out_of_memory) << error.what();
          }
        }
        EXPECT_TRUE(went_without);
      }
    }
  });
}

/// Twice as many rows as columns and more: what the exchanges displace is brought by the product, and of complex matrices, with so many rows,
/// updates on the panels' queue are by remainders, too.
TEST_P(LuByResidues, TallMatrices) {
  with_double([&]<class T>(T) {
    bool usable = false;
    if constexpr (cuda_built) usable = cuda::gemm_residues_usable(q().device());
    if (!usable) GTEST_SKIP() << "skipped: this GPU has no such product";
    const std::int64_t block = is_complex<T> ? 384 : 768, n = LuNativeProducts<T>::residues_least + 3 * block + 100,
                       m = is_complex<T> ? LuNativeProducts<T>::residues_least_rows_beside + 3 * block : 2 * n;
    ASSERT_TRUE(lu_is_tall(m, n));
    const Dense<T> A = random<T>(m, n, 33);
    const auto factors = [&](Math math) {
      LuOptions options{Method::native, block, nullptr, is_complex<T> ? 64 : 128};
      options.math = math;
      const Matrix<T> LU = upload(A, q());  // aligned, with an even number of rows
      Matrix<std::int32_t> ipiv(n, 1, q());
      EXPECT_EQ(getrf<T>(LU, ipiv.view(), q(), options), 0);
      return LuFactors<T>{download<T>(LU, q()), download<std::int32_t>(ipiv, q()), 0};
    };
    const LuFactors<T> f = factors(Math::automatic), plain = factors(Math::strict);
    EXPECT_TRUE(pivots_in_range(f));
    EXPECT_FALSE(same_bits(f.LU, plain.LU)) << "was not by residues";
    const double ours = residual_of_rows(A, f), strict = residual_of_rows(A, plain);
    EXPECT_LE(strict, 10);  // it is 2 to 3: a row from another place would be far off
    EXPECT_LE(ours, 2 * strict + residual_floor) << "strict " << strict;
    RecordProperty("residuals", std::to_string(ours) + " " + std::to_string(strict));
  });
}

/// Complex matrices of an order at which products within blocks are by three real ones, too.
TEST_P(LuByResidues, NearlyAsGoodWithThreeRealProductsWithinBlocks) {
  using T = std::complex<double>;
  if (type() != Type::double_complex) GTEST_SKIP() << "there are none of real ones";
  bool usable = false;
  if constexpr (cuda_built) usable = cuda::gemm_3m_overlapped_possible(View<T>(), q());
  if (!usable) GTEST_SKIP() << "skipped: this GPU has no such product";
  const std::int64_t n = 7100;
  const Dense<T> uniform = random<T>(n, n, 32);
  for (const bool sizes_differ : {false, true}) {
    SCOPED_TRACE(sizes_differ ? "of all sizes" : "uniform");
    const Dense<T> A = sizes_differ
                           ? Dense<T>::from(n, n, [&](auto i, auto j) { return of_all_sizes(uniform(i, j), i, j); })
                           : uniform;
    LuOptions options{Method::native};
    const LuFactors<T> f = factor_lu(A, q(), options);
    options.math = Math::strict;
    const LuFactors<T> plain = factor_lu(A, q(), options);
    EXPECT_TRUE(pivots_in_range(f));
    const double ours = residual_of_rows(A, f), strict = residual_of_rows(A, plain);
    EXPECT_LE(ours, 2.5 * strict + residual_floor) << "strict " << strict;  // it is 1.9 to 2.2 times as large
    RecordProperty(sizes_differ ? "residuals_of_all_sizes" : "residuals_uniform",
                   std::to_string(ours) + " " + std::to_string(strict));
  }
}

}  // namespace
}  // namespace devobj::test
