// On a GPU: triangles and few right-hand sides while other kernels have most multiprocessors, so that blocks take tiles in several
// rounds, and some begin when others have ended.
#include <cmath>
#include <string>

#include "devobj/blas.hpp"
#include "kernels/native.hpp"
#include "other_kernel.hpp"
#include "testing.hpp"

using namespace devobj;
using namespace devobj::test;

namespace {

class TrsmFew : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, TrsmFew,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::real, Type::double_precision, Type::complex,
                                                          Type::double_complex)),
                         instance_name);

TEST_P(TrsmFew, MoreTilesThanBlocksFindRoomFor) {
  Places avoided;
  for (int i = 0; i < cuda::lu_panel_places; ++i) avoided.number[i] = i;
  OtherKernel other;
  ASSERT_NO_FATAL_FAILURE(other.prepare(q()));

  with_type([&]<class T>(T) {
    // tiles of 64 rows, twice as many as two blocks to a multiprocessor
    const std::int64_t n = 64 * 2 * (2 * cuda::lu_panel_places) + 31;
    const Dense<T> small = random<T>(n, n, 5), b = random<T>(n, cuda::trsm_few_max, 6);
    const Matrix<T> A = upload(Dense<T>::from(n, n, [&](auto i, auto j) { return i == j ? T(2) : small(i, j) / T(n); }),
                               q()),
                    B = upload(b, q()), X(n, cuda::trsm_few_max, q());
    const Matrix<unsigned char> workspace(static_cast<std::int64_t>(cuda::trsm_few_workspace<T>(n)), 1, q());
    for (const std::int64_t columns : {std::int64_t(1), cuda::trsm_few_max})
      for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
        for (const Op op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
          SCOPED_TRACE(std::to_string(columns) + " right-hand sides, " + letters(op));
          const View<T> x = X.view()({0, n}, {0, columns}), given = B.view()({0, n}, {0, columns});
          const auto solve = [&] {
            copy<T>(given, x, q());
            cuda::trsm_few<T>(uplo, op, Diag::NonUnit, A, x, workspace.view().data, q());
          };
          solve();
          const Dense<T> expected = download<T>(x, q());
          // T x is b again
          trmm(Side::Left, uplo, op, Diag::NonUnit, T(1), A.view(), x, q());
          const Dense<T> product = download<T>(x, q());
          for (std::int64_t j = 0; j < columns; ++j)
            for (std::int64_t i = 0; i < n; ++i) ASSERT_LE(std::abs(product(i, j) - b(i, j)), 50 * eps<T>) << i;

          constexpr long long longer_than_solves = 30'000'000;
          ASSERT_NO_FATAL_FAILURE(other.stays(avoided, longer_than_solves));
          solve();
          q().wait();
          EXPECT_TRUE(other.is_there());
          expect_same(download<T>(x, q()), expected, "X");
          ASSERT_NO_FATAL_FAILURE(other.ends());
        }
  });
}

}  // namespace
