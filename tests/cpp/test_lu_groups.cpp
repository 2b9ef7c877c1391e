// On a GPU only: the native LU of matrices so large that blocks update the rest together (LuNativeBlocks::Group). They are made on the
// GPU, and so is what they are compared by.
#include <algorithm>

#include "devObjCpp/lu_native_blocks.hpp"
#include "devobj/lu.hpp"
#include "devobj/rng.hpp"
#include "factor_checks.hpp"
#include "kernels/native.hpp"

namespace devobj::test {
namespace {

class LuGroups : public Everywhere {
 public:
  template <class F>
  void with_type(F&& test) {
    type() == Type::double_precision ? test(double{}) : test(std::complex<double>{});
  }
};
INSTANTIATE_TEST_SUITE_P(On, LuGroups,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::double_precision, Type::double_complex)),
                         instance_name);

/// Blocks of the largest group.
template <class T>
std::size_t largest_group(View<T> A, const Queue& q) {
  const bool by_rows = A.rows == A.cols;
  const LuNativeProducts<T> products(A, by_rows, Math::automatic, q);
  LuNativeBlocks<T> blocks(A.rows, A.cols, by_rows, {}, 128, products, tuning_of(q));
  blocks.set_groups(products);
  std::size_t largest = 0;
  for (const auto& group : blocks.groups()) largest = std::max(largest, group.last - group.first + 1);
  return largest;
}

/// The largest element of (P A - L U) X for a few columns X of ones and minus ones, in units of n eps.
template <class T>
double residual_of(View<T> A, View<T> X, View<T> AX, LuOptions options, Queue& q) {
  const std::int64_t m = A.rows, n = A.cols, few = X.cols;
  Matrix<T> LU(m, n, q), LUX(m, few, q), AX_there(m, few, q);
  Matrix<std::int32_t> ipiv(n, 1, q);
  copy<T>(A, LU, q);
  EXPECT_EQ(getrf<T>(LU, ipiv.view(), q, options), 0);
  const View<T> all = LUX.view(), top = all({0, n}, {0, few}), square = LU.view()({0, n}, {0, n});
  copy<T>(X, top, q);
  trmm<T>(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, 1, square, top, q);
  if (m > n) gemm<T>(Op::NoTrans, Op::NoTrans, 1, LU.view()({n, m}, {0, n}), top, 0, all({n, m}, {0, few}), q);
  trmm<T>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::Unit, 1, square, top, q);
  copy<T>(AX, AX_there, q);
  laswp<T>(AX_there, 0, n, ipiv.view(), true, q);
  const Dense<T> ours = download<T>(LUX, q), wanted = download<T>(AX_there, q);
  double worst = 0;
  for (std::int64_t j = 0; j < few; ++j)
    for (std::int64_t i = 0; i < m; ++i) worst = larger(worst, std::abs(ours(i, j) - wanted(i, j)));
  return worst / (static_cast<double>(n) * eps<double>);
}

/// Square ones, which are row-major meanwhile, and tall ones, which are not, and whose blocks' rows are exchanged at the end in double
/// precision: as good as by plain products, which are not grouped.
TEST_P(LuGroups, AsGoodAsByPlainProducts) {
  with_type([&]<class T>(T) {
    bool usable = false;
    if constexpr (cuda_built) usable = cuda::gemm_residues_usable(q().device());
    if (!usable) GTEST_SKIP() << "skipped: this GPU has no such product";
    try {
      for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{18'302, 18'302}, {25'500, 13'000}}) {
        SCOPED_TRACE(shape_name(m, n));
        Matrix<T> A(m, n, q());
        EXPECT_GE(largest_group<T>(A, q()), 3u);
        constexpr std::int64_t few = 3;
        Rng rng(q(), Generator::philox, 5);
        rng.uniform<T>(-1, 1, A, q());
        const Matrix<T> X =
            upload(Dense<T>::from(n, few, [](auto i, auto j) { return T((i * i + j) % 3 == 0 ? 1 : -1); }), q());
        Matrix<T> AX(m, few, q());
        gemm<T>(Op::NoTrans, Op::NoTrans, 1, A, X, 0, AX, q());
        const double ours = residual_of<T>(A, X, AX, {Method::native}, q()),
                     plain = residual_of<T>(A, X, AX, {Method::native, 0, nullptr, 0, Math::strict}, q());
        EXPECT_LE(ours, 2 * plain);
        EXPECT_GT(ours, 0);
        RecordProperty("residuals_" + std::to_string(n), std::to_string(ours) + " " + std::to_string(plain));
      }
    } catch (const Error& error) {
      if (error.status() != Status::out_of_memory) throw;
      GTEST_SKIP() << "skipped: " << error.what();
    }
  });
}

}  // namespace
}  // namespace devobj::test
