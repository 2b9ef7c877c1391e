// The batched routines for matrices of up to 16 x 16, of which a GPU's warp has several: more of them than a block has,
// singular ones and NaN among them.
#include "batched_support.hpp"

namespace devobj::test {
namespace {

class BatchedTiny : public Everywhere {};

constexpr std::int64_t batch = 137, singular = 40, poisoned = 70;

/// Random matrices; the last column of number `singular` is zero, number `poisoned` has a NaN.
template <class T>
std::vector<Dense<T>> mixed_batch(std::int64_t m, std::int64_t n) {
  std::vector<Dense<T>> A = random_batch<T>(batch, m, n, std::uint32_t(3 * m + n));
  for (std::int64_t i = 0; i < m; ++i) A[singular](i, n - 1) = T(0);
  A[poisoned](m / 2, 0) = make<T>(nan<T>);
  return A;
}
template <class T>
bool has_nan(const Dense<T>& A) {
  return std::isnan(largest(precise(A)));
}

TEST_P(BatchedTiny, LuAndSolvesOfManyMatrices) {
  with_type([&]<class T>(T) {
    for (std::int64_t n : {1, 2, 3, 4, 5, 8, 11, 16})
      for (std::int64_t nrhs : {1, 6}) {
        const std::vector<Dense<T>> A = mixed_batch<T>(n, n), B = random_batch<T>(batch, n, nrhs, 5);
        Padded<T> a(side_by_side(A), q()), b(side_by_side(B), q());
        Padded<std::int32_t> ipiv(Dense<std::int32_t>(n, batch, -7), q()), info(Dense<std::int32_t>(batch, 1, -7), q());
        gesv_batched<T>(batch, a, ipiv.view(), b, info.view(), q());
        const Dense<T> LU = a.read("A"), X = b.read("B");
        const Dense<std::int32_t> pivots = ipiv.read("ipiv"), infos = info.read("info");
        for (std::int64_t k = 0; k < batch; ++k) {
          const std::string what = std::to_string(n) + ", number " + std::to_string(k);
          const LuFactors<T> f{part(LU, k, n), part(pivots, k, 1), infos[k]};
          EXPECT_TRUE(pivots_in_range(f)) << what;
          EXPECT_EQ(f.info, k == singular ? n : 0) << what;
          if (k == poisoned) {
            EXPECT_TRUE(has_nan(part(X, k, nrhs))) << what;
            continue;
          }
          EXPECT_LE(lu_residual(A[std::size_t(k)], f), residual_bound) << what;
          if (k == singular)
            expect_same(part(X, k, nrhs), B[singular], "the right-hand sides of the singular one");
          else
            EXPECT_LE(solve_residual(Op::NoTrans, A[std::size_t(k)], part(X, k, nrhs), B[std::size_t(k)]),
                      residual_bound)
                << what;
        }
        for (std::size_t k : {0, 31, 32, 136})
          expect_same(factor_lu_batched<T>({A[k]}, q())[0].LU, part(LU, std::int64_t(k), n), "LU alone");
        for (Op op : {Op::Trans, Op::ConjTrans}) {
          Padded<T> c(side_by_side(B), q());
          getrs_batched<T>(op, batch, a, ipiv.view(), c, q());
          const Dense<T> Y = c.read("B");
          for (std::int64_t k = 0; k < batch; ++k)
            if (k != singular && k != poisoned) {
              EXPECT_LE(solve_residual(op, A[std::size_t(k)], part(Y, k, nrhs), B[std::size_t(k)]), residual_bound)
                  << letters(op) << " " << n << ", number " << k;
            }
        }
      }
  });
}

TEST_P(BatchedTiny, QrOfManyMatrices) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                        {4, 4},
                        {8, 3},
                        {3, 8},
                        {16, 2},
                        {8, 8},
                        {5, 16},
                        {16, 7},
                        {16, 16}}) {
      const std::vector<Dense<T>> A = mixed_batch<T>(m, n);
      const std::vector<QrFactors<T>> f = factor_qr_batched(A, q());
      for (std::int64_t k = 0; k < batch; ++k) {
        const QrMeasures measures = qr_measures(A[std::size_t(k)], f[std::size_t(k)]);
        if (k == poisoned) {
          EXPECT_FALSE(measures.residual <= residual_bound) << "NaN has vanished";
          continue;
        }
        EXPECT_LE(measures.residual, residual_bound) << shape_name(m, n) << ", number " << k;
        EXPECT_LE(measures.orthogonality, residual_bound) << shape_name(m, n) << ", number " << k;
      }
      for (std::size_t k : {0, 31, 32, 136}) {
        const QrFactors<T> alone = factor_qr_batched<T>({A[k]}, q())[0];
        expect_same(alone.QR, f[k].QR, "QR alone");
        expect_same(alone.tau, f[k].tau, "tau alone");
      }
    }
  });
}

TEST_P(BatchedTiny, LeastSquaresOfManyMatrices) {
  with_type([&]<class T>(T) {
    using D = precise_t<T>;
    for (auto [m, n] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {4, 4}, {8, 4}, {16, 3}, {8, 7}, {16, 8}, {13, 9}, {16, 16}})
      for (std::int64_t nrhs : {1, 5, 70}) {
        const std::vector<Dense<T>> A = mixed_batch<T>(m, n), B = random_batch<T>(batch, m, nrhs, 6);
        Padded<T> a(side_by_side(A), q()), b(side_by_side(B), q());
        Padded<std::int32_t> info(Dense<std::int32_t>(1, batch, -7), q());
        gels_batched<T>(Op::NoTrans, batch, a, b, info.view(), q());
        a.read("A");
        const Dense<T> all = b.read("B");
        const Dense<std::int32_t> infos = info.read("info");
        for (std::int64_t k = 0; k < batch; ++k) {
          const std::string what =
              shape_name(m, n) + ", nrhs = " + std::to_string(nrhs) + ", number " + std::to_string(k);
          EXPECT_EQ(infos[k], k == singular ? n : 0) << what;
          const Dense<D> pa = precise(A[std::size_t(k)]), pb = precise(B[std::size_t(k)]);
          const Dense<D> result = precise(part(all, k, nrhs)), X = block_of(result, {0, n}, {0, nrhs});
          if (k == poisoned) {
            EXPECT_TRUE(has_nan(part(all, k, nrhs))) << what;
          } else if (k == singular) {
            // Q^H B keeps the norms
            for (std::int64_t c = 0; c < nrhs; ++c) {
              double now = 0, then = 0;
              for (std::int64_t i = 0; i < m; ++i) {
                now += std::norm(result(i, c));
                then += std::norm(pb(i, c));
              }
              EXPECT_NEAR(std::sqrt(now), std::sqrt(then), residual_bound * double(m) * eps<T> * std::sqrt(then))
                  << what;
            }
          } else {
            // ||A^H (B - A X)|| / (||A|| (||B|| + ||A|| ||X||) m eps)
            const Dense<D> error = residual(pb, Op::NoTrans, pa, Op::NoTrans, X);
            const double size = one_norm(pa) * (one_norm(pb) + one_norm(pa) * one_norm(X));
            EXPECT_LE(one_norm(product(adjoint<D>, pa, Op::NoTrans, error)), residual_bound * size * double(m) * eps<T>)
                << what;
          }
        }
      }
  });
}

DEVOBJ_EVERYWHERE(BatchedTiny);

}  // namespace
}  // namespace devobj::test
