// The batched routines: every shape, singular and NaN neighbours, ties, sizes, right-hand sides, the same bits.
#include "batched_support.hpp"
#include "factor_matrices.hpp"

namespace devobj::test {
namespace {

class Batched : public Everywhere {};

// ---- LU ----

TEST_P(Batched, GetrfOfEveryShape) {
  with_type([&]<class T>(T) {
    for (const BatchShape& s : batch_shapes()) {
      const std::vector<Dense<T>> A = random_batch<T>(s.batch, s.m, s.n, std::uint32_t(s.m + 7 * s.n));
      const std::vector<LuFactors<T>> f = factor_lu_batched(A, q());
      for (std::size_t k = 0; k < A.size(); ++k) {
        const std::string what = shape_name(s) + ", number " + std::to_string(k);
        EXPECT_EQ(f[k].info, 0) << what;
        EXPECT_LE(lu_residual(A[k], f[k]), residual_bound) << what;
        EXPECT_LE(largest_multiplier(f[k].LU), (is_complex<T> ? 2 : 1) + 4 * eps<T>) << what;
      }
    }
  });
}

/// A gallery as one batch: each as it is by LAPACK, whatever its neighbours are.
TEST_P(Batched, GetrfOfTheGallery) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{20, 20}, {40, 40}, {37, 29}, {29, 37}, {70, 66}}) {
      const std::vector<Named<T>> all = gallery<T>(m, n);
      std::vector<Dense<T>> A;
      for (const auto& named : all) A.push_back(named.A);
      const std::vector<LuFactors<T>> f = factor_lu_batched(A, q());
      for (std::size_t k = 0; k < A.size(); ++k) {
        const std::string what = all[k].name + ", " + shape_name(m, n);
        const LuFactors<T> lapack = lapack_lu(A[k]);
        const double of_lapack = lu_residual(A[k], lapack, all[k].by), r = lu_residual(A[k], f[k], all[k].by);
        const double grown = all[k].grows ? std::max(1.0, growth(A[k], f[k])) : 1;
        EXPECT_LE(r, residual_bound * grown) << what;
        if (std::isfinite(of_lapack)) {
          EXPECT_LE(r, 2 * of_lapack + residual_floor * grown) << what << ": LAPACK has " << of_lapack;
        }
        EXPECT_EQ(f[k].info, first_zero_pivot(f[k].LU)) << what;
      }
    }
  });
}

/// Matrices without rounding in their elimination have LAPACK's pivots, the lowest row of equals.
TEST_P(Batched, TiesGoToTheLowestRow) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{3, 3}, {8, 8}, {16, 15}, {32, 32}, {33, 33}, {60, 44}}) {
      std::vector<Dense<T>> A;
      for (const auto& named : gallery<T>(m, n))
        if (named.name == "ones" || named.name == "identity" || named.name == "permutation" ||
            named.name == "diagonal" || named.name == "reversed identity" || named.name == "zero" ||
            named.name == "upper triangular" || (named.name == "Wilkinson's growth" && n < 20))
          A.push_back(named.A);
      ASSERT_GE(A.size(), 7u);
      const std::vector<LuFactors<T>> f = factor_lu_batched(A, q());
      for (std::size_t k = 0; k < A.size(); ++k) {
        const LuFactors<T> lapack = lapack_lu(A[k]);
        const std::string what = "number " + std::to_string(k) + " of " + shape_name(m, n);
        expect_same(f[k].pivots, lapack.pivots, what);
        EXPECT_EQ(f[k].info, lapack.info) << what;
        EXPECT_EQ(lu_residual(A[k], f[k]), 0) << what;
      }
    }
  });
}

TEST_P(Batched, SubnormalPivotsDivide) {
  with_type([&]<class T>(T) {
    const real_t<T> unit = std::numeric_limits<real_t<T>>::denorm_min();
    for (std::int64_t n : {3, 30, 40}) {
      Dense<T> A = Dense<T>::from(n, n, [&](auto i, auto j) { return make<T>(i == j ? double(unit) : 0); });
      for (std::int64_t i = 0; i < 3; ++i) {
        A(i, 0) = make<T>(double(unit) * double(4 - i));
        A(i, 1) = make<T>(double(unit) * (i == 1 ? 3 : 1));
      }
      const std::vector<LuFactors<T>> f = factor_lu_batched<T>({A, random<T>(n, n, 1)}, q());
      EXPECT_EQ(f[0].info, 0);
      EXPECT_LE(std::abs(wide(f[0].LU(1, 0)) - Wide(0.75)), 2 * eps<T>) << n;
      EXPECT_LE(std::abs(wide(f[0].LU(2, 0)) - Wide(0.5)), 2 * eps<T>) << n;
    }
  });
}

/// A singular matrix, or one with NaN or Inf, among others: info is its own, and the others have the bits they have
/// alone.
TEST_P(Batched, AMatrixDoesNotSeeItsNeighbours) {
  with_type([&]<class T>(T) {
    for (std::int64_t n : {5, 16, 30, 45, 90}) {
      const std::vector<Dense<T>> good = random_batch<T>(6, n, n, 3);
      std::vector<Dense<T>> A = good;
      const std::int64_t zero = n / 2;
      for (std::int64_t i = 0; i < n; ++i) A[1](i, zero) = A[1](i, n - 1) = T(0);
      poison(A[3]);
      A[4](n - 1, 0) = make<T>(infinity<T>);
      const std::vector<LuFactors<T>> f = factor_lu_batched(A, q()), alone = factor_lu_batched(good, q());
      const std::vector<QrFactors<T>> g = factor_qr_batched(A, q()), g_alone = factor_qr_batched(good, q());
      EXPECT_EQ(f[1].info, zero + 1);
      EXPECT_LE(lu_residual(A[1], f[1]), residual_bound);
      EXPECT_FALSE(lu_residual(A[3], f[3]) <= residual_bound) << "NaN has vanished";
      EXPECT_FALSE(lu_residual(A[4], f[4]) <= residual_bound) << "Inf has vanished";
      EXPECT_TRUE(pivots_in_range(f[3]) && pivots_in_range(f[4]));
      EXPECT_FALSE(qr_measures(A[3], g[3]).residual <= residual_bound) << "NaN has vanished";
      EXPECT_FALSE(qr_measures(A[4], g[4]).residual <= residual_bound) << "Inf has vanished";
      for (std::size_t k : {0, 2, 5}) {
        EXPECT_EQ(f[k].info, 0);
        expect_same(f[k].LU, alone[k].LU, "LU beside others");
        expect_same(f[k].pivots, alone[k].pivots, "pivots beside others");
        expect_same(g[k].QR, g_alone[k].QR, "QR beside others");
        expect_same(g[k].tau, g_alone[k].tau, "tau beside others");
      }
    }
  });
}

/// A NaN is taken as a pivot where LAPACK takes it: as the first element of its column.
TEST_P(Batched, NaNIsAPivotOnlyIfItIsFirst) {
  with_type([&]<class T>(T) {
    for (std::int64_t n : {6, 20, 40}) {
      Dense<T> first = random<T>(n, n, 5), below = first;
      first(0, 0) = make<T>(nan<T>);
      below(n - 1, 0) = make<T>(nan<T>);
      const std::vector<LuFactors<T>> f = factor_lu_batched<T>({first, below}, q());
      EXPECT_EQ(f[0].pivots[0], 1);
      std::int64_t largest_row = 0;
      const auto size = [&](std::int64_t i) {
        return std::abs(std::real(below(i, 0))) + std::abs(std::imag(below(i, 0)));
      };
      for (std::int64_t i = 1; i < n - 1; ++i)
        if (size(i) > size(largest_row)) largest_row = i;
      EXPECT_EQ(f[1].pivots[0], largest_row + 1);
      EXPECT_EQ(f[0].info, 0);
    }
  });
}

// ---- solves ----

TEST_P(Batched, GetrsForEveryOpAndNumberOfRightHandSides) {
  with_type([&]<class T>(T) {
    const std::int64_t largest = q().on_cuda() ? 300 : 140;  // the host knows orders up to 24 and above
    for (const std::int64_t n : std::vector<std::int64_t>{1, 2, 5, 16, 24, 31, 32, 33, 64, 70, 129, largest}) {
      const std::int64_t batch = 3;
      const std::vector<Dense<T>> A = random_batch<T>(batch, n, n, std::uint32_t(n));
      Padded<T> a(side_by_side(A), q());
      Padded<std::int32_t> ipiv(Dense<std::int32_t>(n, batch), q()), info(Dense<std::int32_t>(batch, 1), q());
      getrf_batched<T>(batch, a, ipiv.view(), info.view(), q());
      const Dense<T> factors = a.read("LU");
      for (std::int64_t nrhs : {0, 1, 3, 4, 9}) {
        const std::vector<Dense<T>> B = random_batch<T>(batch, n, nrhs, std::uint32_t(n + 50));
        for (Op op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
          Padded<T> b(side_by_side(B), q());
          getrs_batched<T>(op, batch, a, ipiv.view(), b, q());
          const Dense<T> X = b.read("B");
          for (std::int64_t k = 0; k < batch; ++k)
            EXPECT_LE(solve_residual(op, A[std::size_t(k)], part(X, k, nrhs), B[std::size_t(k)]), residual_bound)
                << letters(op) << " " << n << " x " << n << ", nrhs = " << nrhs;
        }
        expect_same(a.read("LU"), factors, "the factors");
      }
    }
  });
}

TEST_P(Batched, GesvLeavesOutWhatIsSingular) {
  with_type([&]<class T>(T) {
    for (std::int64_t n : {1, 4, 20, 40, 100}) {
      const std::int64_t batch = 5, nrhs = 3;
      std::vector<Dense<T>> A = random_batch<T>(batch, n, n, 11);
      const std::vector<Dense<T>> B = random_batch<T>(batch, n, nrhs, 12);
      for (std::int64_t i = 0; i < n; ++i) A[2](i, n - 1) = T(0);
      Padded<T> a(side_by_side(A), q()), b(side_by_side(B), q());
      Padded<std::int32_t> ipiv(Dense<std::int32_t>(n, batch), q()), info(Dense<std::int32_t>(batch, 1, -7), q());
      gesv_batched<T>(batch, a, ipiv.view(), b, info.view(), q());
      const Dense<T> X = b.read("B");
      const Dense<std::int32_t> infos = info.read("info");
      for (std::int64_t k = 0; k < batch; ++k) {
        const std::string what = std::to_string(n) + ", number " + std::to_string(k);
        EXPECT_EQ(infos[k], k == 2 ? n : 0) << what;
        if (k == 2)
          expect_same(part(X, k, nrhs), B[2], "the right-hand sides of the singular one");
        else
          EXPECT_LE(solve_residual(Op::NoTrans, A[std::size_t(k)], part(X, k, nrhs), B[std::size_t(k)]), residual_bound)
              << what;
      }
    }
  });
}

TEST_P(Batched, NaNReachesItsOwnSolution) {
  with_type([&]<class T>(T) {
    for (std::int64_t n : {4, 40}) {
      const std::vector<Dense<T>> A = random_batch<T>(3, n, n, 21);
      std::vector<Dense<T>> B = random_batch<T>(3, n, 2, 22);
      B[1](0, 1) = make<T>(nan<T>);
      Padded<T> a(side_by_side(A), q()), b(side_by_side(B), q());
      Padded<std::int32_t> ipiv(Dense<std::int32_t>(n, 3), q()), info(Dense<std::int32_t>(3, 1), q());
      gesv_batched<T>(3, a, ipiv.view(), b, info.view(), q());
      const Dense<T> X = b.read("B");
      for (std::int64_t c = 0; c < 6; ++c) {
        const bool has_nan = std::isnan(largest(precise(block_of(X, {0, n}, {c, c + 1}))));
        EXPECT_EQ(has_nan, c == 3) << n << ", right-hand side " << c;
      }
    }
  });
}

// ---- QR ----

TEST_P(Batched, GeqrfOfEveryShape) {
  with_type([&]<class T>(T) {
    for (const BatchShape& s : batch_shapes()) {
      const std::vector<Dense<T>> A = random_batch<T>(s.batch, s.m, s.n, std::uint32_t(s.m + 5 * s.n));
      const std::vector<QrFactors<T>> f = factor_qr_batched(A, q());
      for (std::size_t k = 0; k < A.size(); ++k) {
        const std::string what = shape_name(s) + ", number " + std::to_string(k);
        const QrMeasures measures = qr_measures(A[k], f[k]);
        EXPECT_LE(measures.residual, residual_bound) << what;
        EXPECT_LE(measures.orthogonality, residual_bound) << what;
        if (k > 0) continue;
        // R's signs are LAPACK's, its diagonal is real
        const QrFactors<T> lapack = lapack_qr(A[k]);
        for (std::int64_t i = 0; i < std::min(s.m, s.n); ++i) {
          EXPECT_EQ(std::real(f[k].QR(i, i)) < 0, std::real(lapack.QR(i, i)) < 0) << what << ", row " << i;
          EXPECT_EQ(std::imag(f[k].QR(i, i)), 0) << what << ", row " << i;
        }
      }
    }
  });
}

TEST_P(Batched, GeqrfOfTheGallery) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{20, 20}, {40, 40}, {37, 29}, {29, 37}, {70, 66}}) {
      const std::vector<Named<T>> all = gallery<T>(m, n);
      std::vector<Dense<T>> A;
      for (const auto& named : all) A.push_back(named.A);
      const std::vector<QrFactors<T>> f = factor_qr_batched(A, q());
      for (std::size_t k = 0; k < A.size(); ++k) {
        const std::string what = all[k].name + ", " + shape_name(m, n);
        const QrMeasures lapack = qr_measures(A[k], lapack_qr(A[k]), By::column),
                         ours = qr_measures(A[k], f[k], By::column);
        EXPECT_LE(ours.residual, residual_bound) << what;
        EXPECT_LE(ours.orthogonality, residual_bound) << what;
        EXPECT_LE(ours.residual, 2 * lapack.residual + residual_floor) << what << ": LAPACK has " << lapack.residual;
        EXPECT_LE(ours.orthogonality, 2 * lapack.orthogonality + residual_floor) << what;
      }
    }
  });
}

TEST_P(Batched, TauOf0And2) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 36, n = 30;
    const double dust = sizeof(real_t<T>) == 8 ? 1e-200 : 1e-30;
    const Dense<T> axis = real_matrix<T>(m, n, [&](double i, double j) {
      return i == j ? 3.0 : i == j + 1 && std::fmod(j, 3) == 0 ? dust : 0.0;
    });
    Dense<T> zero = random<T>(m, n, 31);
    for (std::int64_t i = 0; i < m; ++i) zero(i, 5) = T(0);
    const std::vector<QrFactors<T>> f = factor_qr_batched<T>({axis, zero}, q());
    for (std::int64_t j = 0; j < n; ++j) {
      EXPECT_EQ(f[0].tau[j], make<T>(j % 3 == 0 ? 2 : 0)) << j;
      EXPECT_EQ(std::abs(f[0].QR(j, j)), 3) << j;
    }
    EXPECT_EQ(f[1].tau[5], T(0));
    EXPECT_EQ(f[1].QR(5, 5), T(0));
  });
}

/// Numbers whose squares underflow or overflow, column by column at different sizes, and mixed within a column.
TEST_P(Batched, SizesWithinAColumn) {
  with_type([&]<class T>(T) {
    const double step = sizeof(real_t<T>) == 8 ? 9 : 1;
    std::vector<Dense<T>> A;
    for (double direction : {1.0, -1.0})
      A.push_back(multiplied(random<T>(34, 20, 35), [&](double i, double j) {
        return std::pow(10.0, step * (direction * (i - 17) - (j < 10 ? 8 : 0)));
      }));
    const std::vector<QrFactors<T>> f = factor_qr_batched(A, q());
    for (std::size_t k = 0; k < A.size(); ++k) {
      const QrMeasures measures = qr_measures(A[k], f[k], By::column);
      EXPECT_LE(measures.residual, residual_bound);
      EXPECT_LE(measures.orthogonality, residual_bound);
    }
  });
}

// ---- least squares ----

TEST_P(Batched, GelsForEveryShapeAndNumberOfRightHandSides) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                        {7, 1},
                        {5, 5},
                        {16, 4},
                        {33, 20},
                        {64, 64},
                        {130, 65},
                        {300, 7},
                        {700, 12},
                        {1030, 5},
                        {9, 0}})
      for (std::int64_t nrhs : {0, 1, 5}) {
        const std::int64_t batch = 3;
        const std::vector<Dense<T>> A = random_batch<T>(batch, m, n, std::uint32_t(m + n)),
                                    B = random_batch<T>(batch, m, nrhs, std::uint32_t(m));
        Padded<T> a(side_by_side(A), q()), b(side_by_side(B), q());
        Padded<std::int32_t> info(Dense<std::int32_t>(batch, 1, -7), q());
        gels_batched<T>(Op::NoTrans, batch, a, b, info.view(), q());
        const Dense<T> all = b.read("B");
        const Dense<std::int32_t> infos = info.read("info");
        a.read("A");
        for (std::int64_t k = 0; k < batch; ++k) {
          using D = precise_t<T>;
          const std::string what = shape_name(m, n) + ", nrhs = " + std::to_string(nrhs);
          EXPECT_EQ(infos[k], 0) << what;
          if (n == 0) {
            expect_same(part(all, k, nrhs), B[std::size_t(k)], what);
            continue;
          }
          // ||A^H (B - A X)|| / (||A|| (||B|| + ||A|| ||X||) m eps), and the residual's norm in the rows below X
          const Dense<D> pa = precise(A[std::size_t(k)]), pb = precise(B[std::size_t(k)]);
          const Dense<D> result = precise(part(all, k, nrhs)), X = block_of(result, {0, n}, {0, nrhs});
          const Dense<D> error = residual(pb, Op::NoTrans, pa, Op::NoTrans, X);
          const double size = one_norm(pa) * (one_norm(pb) + one_norm(pa) * one_norm(X));
          EXPECT_LE(one_norm(product(adjoint<D>, pa, Op::NoTrans, error)), residual_bound * size * double(m) * eps<T>)
              << what;
          for (std::int64_t c = 0; c < nrhs; ++c) {
            double below = 0, whole = 0, right = 0;
            for (std::int64_t i = 0; i < m; ++i) {
              if (i >= n) below += std::norm(result(i, c));
              whole += std::norm(error(i, c));
              right += std::norm(pb(i, c));
            }
            EXPECT_NEAR(std::sqrt(below), std::sqrt(whole), residual_bound * double(m) * eps<T> * std::sqrt(right))
                << what;
          }
        }
      }
  });
}

TEST_P(Batched, GelsOfAMatrixWithoutFullRank) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{9, 4}, {60, 40}}) {
      std::vector<Dense<T>> A = random_batch<T>(3, m, n, 41);
      const std::vector<Dense<T>> B = random_batch<T>(3, m, 2, 42);
      for (std::int64_t i = 0; i < m; ++i) A[1](i, 2) = T(0);
      Padded<T> a(side_by_side(A), q()), b(side_by_side(B), q());
      Padded<std::int32_t> info(Dense<std::int32_t>(1, 3, -7), q());
      gels_batched<T>(Op::NoTrans, 3, a, b, info.view(), q());
      const Dense<std::int32_t> infos = info.read("info");
      EXPECT_EQ(infos[0], 0);
      EXPECT_EQ(infos[1], 3);
      EXPECT_EQ(infos[2], 0);
      // Q^H B keeps the norms
      const Dense<precise_t<T>> left = precise(part(b.read("B"), 1, 2)), before = precise(B[1]);
      for (std::int64_t c = 0; c < 2; ++c) {
        double now = 0, then = 0;
        for (std::int64_t i = 0; i < m; ++i) {
          now += std::norm(left(i, c));
          then += std::norm(before(i, c));
        }
        EXPECT_NEAR(std::sqrt(now), std::sqrt(then), residual_bound * double(m) * eps<T> * std::sqrt(then));
      }
    }
  });
}

// ---- the same bits, empty batches, the checks themselves ----

TEST_P(Batched, TheSameBitsAloneAndAgain) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{7, 7}, {30, 20}, {50, 60}, {120, 110}}) {
      const std::vector<Dense<T>> A = random_batch<T>(7, m, n, 51);
      const std::vector<LuFactors<T>> f = factor_lu_batched(A, q()), again = factor_lu_batched(A, q());
      const std::vector<QrFactors<T>> g = factor_qr_batched(A, q()), g_again = factor_qr_batched(A, q());
      for (std::size_t k = 0; k < A.size(); ++k) {
        expect_same(again[k].LU, f[k].LU, "LU again");
        expect_same(factor_lu_batched<T>({A[k]}, q())[0].LU, f[k].LU, "LU alone");
        expect_same(g_again[k].QR, g[k].QR, "QR again");
        expect_same(factor_qr_batched<T>({A[k]}, q())[0].QR, g[k].QR, "QR alone");
      }
    }
  });
}

TEST_P(Batched, EmptyOnesAreFine) {
  with_type([&]<class T>(T) {
    const View<T> none;
    const View<std::int32_t> no_integers;
    getrf_batched<T>(0, none, no_integers, no_integers, q());
    getrs_batched<T>(Op::Trans, 0, none, no_integers, none, q());
    gesv_batched<T>(0, none, no_integers, none, no_integers, q());
    geqrf_batched<T>(0, none, none, q());
    gels_batched<T>(Op::NoTrans, 0, none, none, no_integers, q());
    // n = 0: info is 0 all the same, in every stride
    for (bool row : {false, true}) {
      Padded<std::int32_t> info(row ? Dense<std::int32_t>(1, 4, -7) : Dense<std::int32_t>(4, 1, -7), q());
      Padded<std::int32_t> ipiv(Dense<std::int32_t>(0, 4), q());
      Padded<T> A(Dense<T>(3, 0), q()), E(Dense<T>(0, 0), q()), tau(Dense<T>(0, 4), q());
      getrf_batched<T>(4, A, ipiv.view(), info.view(), q());
      geqrf_batched<T>(4, A, tau, q());
      for (std::int64_t k = 0; k < 4; ++k) EXPECT_EQ(info.read("info")[k], 0);
      gesv_batched<T>(4, E, ipiv.view(), E, info.view(), q());
      for (std::int64_t k = 0; k < 4; ++k) EXPECT_EQ(info.read("info")[k], 0);
    }
  });
}

/// Wrong results are seen: factors exchanged, pivots exchanged, no pivoting, a changed element.
TEST_P(Batched, CheckerOfBatchesSeesMutations) {
  with_type([&]<class T>(T) {
    const std::vector<Dense<T>> A = random_batch<T>(2, 40, 40, 61);
    const std::vector<LuFactors<T>> f = factor_lu_batched(A, q());
    const std::vector<QrFactors<T>> g = factor_qr_batched(A, q());
    EXPECT_GT(lu_residual(A[0], f[1]), residual_bound);
    EXPECT_GT(lu_residual(A[0], LuFactors<T>{f[0].LU, f[1].pivots, 0}), residual_bound);
    EXPECT_GT(qr_measures(A[0], g[1]).residual, residual_bound);
    LuFactors<T> changed = f[0];
    changed.LU(20, 11) *= real_t<T>(1 + 3000 * eps<T>);
    changed.LU(11, 11) *= real_t<T>(1 + 3000 * eps<T>);
    EXPECT_GT(lu_residual(A[0], changed, By::column), 0.1);
    // elimination without pivoting has larger multipliers
    Dense<T> plain = A[0];
    for (std::int64_t j = 0; j < 40; ++j)
      for (std::int64_t i = j + 1; i < 40; ++i) {
        plain(i, j) /= plain(j, j);
        for (std::int64_t c = j + 1; c < 40; ++c) plain(i, c) -= plain(i, j) * plain(j, c);
      }
    EXPECT_GT(largest_multiplier(plain), 2.1);
  });
}

DEVOBJ_EVERYWHERE(Batched);

}  // namespace
}  // namespace devobj::test
