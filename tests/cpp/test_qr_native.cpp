// geqrf's native method on a GPU: shapes around the clusters' capacities, difficult matrices, tall ones. Its panel is in
// test_qr_native_panel.cpp.
#include <cmath>

#include "devobj/rng.hpp"
#include "factor_checks.hpp"
#include "factor_matrices.hpp"
#include "failing_allocations.hpp"

namespace devobj::test {
namespace {

class QrNative : public Everywhere {};

TEST_P(QrNative, IsForAGpu) {
  with_type([&]<class T>(T) {
    if (q().on_cuda()) return;
    const Dense<T> A = random<T>(6, 4, 1), four0(4, 1, T(7));
    Padded<T> a(A, q()), four(four0, q());
    EXPECT_INVALID(geqrf<T>(a, four, q(), {Method::native}),
                   "geqrf: method 'native' is not available on the host backend");
    EXPECT_INVALID(orgqr<T>(a, four, q(), {Method::native}), "orgqr: method 'native'");
    EXPECT_INVALID(ormqr<T>(Side::Left, Op::NoTrans, a, four, Padded<T>(A, q()), q(), {Method::native}),
                   "ormqr: method 'native'");
    EXPECT_INVALID(gels<T>(Op::NoTrans, a, Padded<T>(A, q()), q(), {Method::native}), "gels: method 'native'");
    expect_same(a.read("A"), A, "A");
    expect_same(four.read("tau"), four0, "tau");
  });
}

/// Every width of strip and size of cluster, one more and one less, with tall, wide and square matrices.
TEST_P(QrNative, ShapesAroundTheClustersCapacities) {
  if (!q().on_cuda()) return;
  with_type([&]<class T>(T) {
    for (auto [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{{127, 127},
                                                                          {129, 64},
                                                                          {256, 65},
                                                                          {257, 257},
                                                                          {513, 200},
                                                                          {777, 777},
                                                                          {1000, 1000},
                                                                          {1025, 130},
                                                                          {1700, 300},
                                                                          {150, 1100},
                                                                          {2049, 129},
                                                                          {4097, 70},
                                                                          {8193, 40},
                                                                          {16385, 33},
                                                                          {32769, 17},
                                                                          {70001, 9}}) {
      const Dense<T> A = random<T>(m, n, std::uint32_t(m + n));
      const QrFactors<T> lapack = lapack_qr(A);
      const QrMeasures of_lapack = qr_measures(A, lapack);
      for (std::int64_t block : {0, 100, 256}) {
        if (block > 0 && block > std::min(m, n)) continue;
        expect_lapacks(A, factor_qr(A, q(), {Method::native, block}), lapack, of_lapack, By::matrix,
                       shape_name(m, n) + ", blocks of " + std::to_string(block));
      }
    }
  });
}

/// Panels wider than larft's triangles, so of several groups of strips, the last one narrower, with and without columns to their right.
TEST_P(QrNative, WidePanels) {
  if (!q().on_cuda()) return;
  with_type([&]<class T>(T) {
    std::vector<std::array<std::int64_t, 3>> cases = {{900, 700, 300},  {1100, 1100, 512}, {520, 1300, 512},
                                                      {1000, 900, 768}, {2600, 1500, 600}, {8500, 560, 530}};
    // by the H200's table 256 columns, and the others together
    cases.push_back({600, std::is_same_v<T, double> ? 14500 : 9000, 0});
    for (auto [m, n, block] : cases) {
      const Dense<T> A = random<T>(m, n, 3);
      const QrFactors<T> wide = factor_qr(A, q(), {Method::native, block});
      const QrMeasures measures = qr_measures(A, wide);
      EXPECT_LE(measures.residual, residual_bound) << shape_name(m, n) << " block " << block;
      EXPECT_LE(measures.orthogonality, residual_bound) << shape_name(m, n) << " block " << block;
      // the same reflectors but for rounding
      const QrFactors<T> narrow = factor_qr(A, q(), {Method::native, 64});
      for (std::int64_t j = 0; j < std::min(m, n); ++j)
        EXPECT_LE(std::abs(wide.tau[j] - narrow.tau[j]), 1000 * eps<T> * double(n)) << j;
    }
  });
}

TEST_P(QrNative, BitwiseTheSameFromRunToRun) {
  if (!q().on_cuda()) return;
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{700, 700}, {3000, 300}, {20000, 40}}) {
      const Dense<T> A = random<T>(m, n, 5);
      const QrFactors<T> first = factor_qr(A, q(), {Method::native});
      for (int again = 0; again < 4; ++again) {
        const QrFactors<T> f = factor_qr(A, q(), {Method::native});
        expect_same(f.QR, first.QR, "QR");
        expect_same(f.tau, first.tau, "tau");
      }
    }
  });
}

/// Complex products in double precision leave multiprocessors to the panels beside them.
TEST_P(QrNative, ALargeMatrixAgainAndAgain) {
  if (!q().on_cuda()) return;
  with_type([&]<class T>(T) {
    if constexpr (std::is_same_v<T, std::complex<double>>) {
      const std::int64_t n = 4000;
      const Matrix<T> A(n, n, q()), QR(n, n, q()), tau(n, 1, q()), C(n, n, q());
      Rng rng(q(), Generator::philox, 17);
      rng.uniform<T>(-1, 1, A, q());
      Dense<T> first;
      for (int again = 0; again < 3; ++again) {
        copy<T>(A, QR, q());
        geqrf<T>(QR, tau, q(), {Method::native});
        const Dense<T> now = download<T>(QR, q());
        if (again == 0) first = now;
        expect_same(now, first, "QR");
      }
      copy<T>(A, C, q());
      ormqr<T>(Side::Left, Op::ConjTrans, QR, tau, C, q());
      const Dense<T> of_A = download<T>(C, q());
      double difference = 0;
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i)
          difference = std::max(difference, std::abs(of_A(i, j) - (i <= j ? first(i, j) : T(0))));
      EXPECT_LE(difference, 100 * std::sqrt(double(n)) * eps<double>);  // A's columns have norms near sqrt(n)
    }
  });
}

/// All of the difficult matrices in the sizes at which panels are spread over several blocks.
TEST_P(QrNative, DifficultMatrices) {
  if (!q().on_cuda()) return;
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{400, 150}, {300, 300}})
      for (const Named<T>& matrix : gallery<T>(m, n)) {
        const QrFactors<T> f = factor_qr(matrix.A, q(), {Method::native}), lapack = lapack_qr(matrix.A);
        const QrMeasures ours = qr_measures(matrix.A, f, matrix.by), theirs = qr_measures(matrix.A, lapack, matrix.by);
        const std::string what = shape_name(m, n) + ", " + matrix.name;
        EXPECT_LE(ours.residual, residual_bound) << what;
        EXPECT_LE(ours.orthogonality, residual_bound) << what;
        EXPECT_LE(ours.residual, 2 * theirs.residual + residual_floor) << what;
        EXPECT_LE(ours.orthogonality, 2 * theirs.orthogonality + residual_floor) << what;
      }
  });
}

TEST_P(QrNative, OutOfMemoryLeavesTheMatrix) {
  if (!q().on_cuda()) return;
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(300, 200, 2), tau0(200, 1, T(7));
    const QrFactors<T> right = factor_qr(A, q(), {Method::native});
    Padded<T> a(A, q()), tau(tau0, q());
    EXPECT_GE(fail_each_allocation([&] { geqrf<T>(a, tau, q(), {Method::native}); },
                                   [&] {
                                     expect_same(a.read("A"), A, "A");
                                     expect_same(tau.read("tau"), tau0, "tau");
                                   }),
              6);
    expect_same(a.read("A"), right.QR, "QR");
    expect_same(tau.read("tau"), right.tau, "tau");
  });
}

TEST_P(QrNative, TallMatrices) {
  if (!q().on_cuda()) return;
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{8200, 300}, {9000, 130}, {20000, 70}, {60000, 40}}) {
      const Dense<T> A = random<T>(m, n, 7);
      expect_lapacks(A, factor_qr(A, q(), {Method::native}), lapack_qr(A), By::matrix, shape_name(m, n));
    }
    // columns that depend on each other, in a matrix too tall for clusters
    Dense<T> B = random<T>(40000, 70, 3);
    for (std::int64_t i = 0; i < B.rows(); ++i) B(i, 20) = B(i, 5) + B(i, 6);
    const QrMeasures ours = qr_measures(B, factor_qr(B, q(), {Method::native}));
    EXPECT_LE(ours.residual, residual_bound);
    EXPECT_LE(ours.orthogonality, residual_bound);
  });
}

DEVOBJ_EVERYWHERE(QrNative);

}  // namespace
}  // namespace devobj::test
