// The orthogonal factor: orgqr, ormqr, and qr with Q and R as matrices of their own.
#include "factor_checks.hpp"
#include "factor_matrices.hpp"

namespace devobj::test {
namespace {

class QrOrthogonal : public Everywhere {};

/// The first k reflectors of a factorization of a random m x columns matrix.
template <class T>
QrFactors<T> reflectors(std::int64_t m, std::int64_t columns, std::int64_t k, std::uint32_t seed) {
  QrFactors<T> f = lapack_qr(random<T>(m, columns, seed));
  f.tau = block_of(f.tau, {0, k}, {0, 1});
  return f;
}
/// ||X - Y|| / (max(1, ||Y||) m eps)
template <class T>
double distance(const Dense<T>& X, const Dense<precise_t<T>>& Y, std::int64_t m) {
  const auto x = precise(X);
  const auto difference =
      Dense<precise_t<T>>::from(X.rows(), X.cols(), [&](auto i, auto j) { return x(i, j) - Y(i, j); });
  return one_norm(difference) / (std::max(1.0, one_norm(Y)) * std::max<std::int64_t>(1, m) * eps<T>);
}

TEST_P(QrOrthogonal, OrgqrForAllNumbersOfColumnsAndReflectors) {
  with_type([&]<class T>(T) {
    for (auto [m, n, k] : {std::array<std::int64_t, 3>{0, 0, 0},
                           {5, 0, 0},
                           {1, 1, 1},
                           {7, 1, 1},
                           {7, 3, 0},
                           {5, 5, 5},
                           {20, 20, 7},
                           {33, 20, 20},
                           {33, 33, 33},
                           {65, 33, 17},
                           {130, 129, 128},
                           {140, 131, 130},
                           {400, 3, 3}}) {
      const QrFactors<T> f = reflectors<T>(m, n, k, std::uint32_t(m + n));
      const Dense<precise_t<T>> expected = q_of(f, n);
      for (const Way& way : qr_ways(q(), blocks_for(k))) {
        const std::string what = shape_name(m, n) + ", k = " + std::to_string(k) + ", " + way.name;
        Padded<T> a(f.QR, q()), tau(f.tau, q());
        orgqr<T>(a, tau, q(), way.qr());
        const Dense<T> Q = a.read("A");
        EXPECT_LE(distance(Q, expected, m), residual_bound) << what;
        EXPECT_LE(orthogonality(Q), residual_bound) << what;
        expect_same(tau.read("tau"), f.tau, "tau");
      }
    }
  });
}

TEST_P(QrOrthogonal, OrmqrFromBothSides) {
  with_type([&]<class T>(T) {
    for (auto [order, columns, k, other] : {std::array<std::int64_t, 4>{1, 1, 1, 1},
                                            {9, 4, 4, 1},
                                            {20, 12, 5, 6},
                                            {33, 33, 33, 17},
                                            {65, 50, 40, 3},
                                            {140, 135, 130, 5},
                                            {30, 40, 30, 7},
                                            {45, 40, 37, 2060},  // so many that V T is made
                                            {12, 5, 0, 4},
                                            {12, 5, 5, 0}}) {
      const QrFactors<T> f = reflectors<T>(order, columns, k, std::uint32_t(order));
      QrFactors<T> of_k = f;
      of_k.QR = block_of(f.QR, {0, order}, {0, k});
      const Dense<precise_t<T>> Q = q_of(of_k, order);
      for (Side side : {Side::Left, Side::Right})
        for (Op op : {Op::NoTrans, adjoint<T>})
          for (const Way& way : qr_ways(q(), blocks_for(k))) {
            const bool left = side == Side::Left;
            const std::string what =
                letters(side, op) + ", order " + std::to_string(order) + ", k = " + std::to_string(k) + ", " + way.name;
            const Dense<T> C0 = left ? random<T>(order, other, 9) : random<T>(other, order, 9);
            Padded<T> V(f.QR, q()), tau(f.tau, q()), C(C0, q());
            ormqr<T>(side, op, V, tau, C, q(), way.qr());
            const auto expected = C0.size() == 0 ? precise(C0)
                                  : left         ? product(op, Q, Op::NoTrans, precise(C0))
                                                 : product(Op::NoTrans, precise(C0), op, Q);
            EXPECT_LE(distance(C.read("C"), expected, order), residual_bound) << what;
            expect_same(V.read("V"), f.QR, "V");
            expect_same(tau.read("tau"), f.tau, "tau");
          }
    }
  });
}

TEST_P(QrOrthogonal, TauMayBeARowWithGaps) {
  with_type([&]<class T>(T) {
    const QrFactors<T> f = reflectors<T>(30, 20, 20, 3);
    const Dense<T> row = Dense<T>::from(1, 20, [&](auto, auto j) { return f.tau[j]; }), C0 = random<T>(30, 4, 2);
    for (const Way& way : qr_ways(q(), {0, 8})) {
      Padded<T> a(f.QR, q()), V(f.QR, q()), tau(row, q()), C(C0, q());
      orgqr<T>(a, tau, q(), way.qr());
      EXPECT_LE(distance(a.read("A"), q_of(f, 20), 30), residual_bound) << way.name;
      ormqr<T>(Side::Left, Op::NoTrans, V, tau, C, q(), way.qr());
      EXPECT_LE(distance(C.read("C"), product(Op::NoTrans, q_of(f, 30), Op::NoTrans, precise(C0)), 30), residual_bound)
          << way.name;
    }
  });
}

/// Householder vectors of a triangle of ones are nearly parallel, and the sums of V^H V and V^H C long, of one sign, and all alike: wide
/// blocks must not lose more than narrow ones do. On a GPU only, where blocks of so large matrices are wide.
TEST_P(QrOrthogonal, ParallelVectorsInWideBlocks) {
  if (!q().on_cuda()) return;
  with_type([&]<class T>(T) {
    constexpr std::int64_t n = 4096;
    const Dense<T> A = Dense<T>::from(n, n, [](auto i, auto j) { return T(i >= j ? 1 : 0); });
    for (const Math math : {Math::automatic, Math::strict}) {
      if (std::is_same_v<T, double> && math == Math::strict) continue;  // the same
      Matrix<T> a = upload(A, q()), tau(n, 1, q());
      geqrf<T>(a, tau.view(), q(), {Method::native});
      orgqr<T>(a, tau.view(), q(), {Method::native, 0, nullptr, math});
      // twice what cuSOLVER's narrower blocks leave
      constexpr double most = sizeof(real_t<T>) == 8 ? 27 : is_complex<T> ? 9 : 6;
      EXPECT_LE(orthogonality(download<T>(a.view(), q())), most) << (math == Math::strict ? "strict" : "automatic");
    }
  });
}

/// Many reflectors, of which several are made at the same time, and some are so large that there are only two places for them; from the first
/// to the last and the other way round. On a GPU only.
TEST_P(QrOrthogonal, SeveralReflectorsMadeAtTheSameTime) {
  if (!q().on_cuda()) return;
  with_type([&]<class T>(T) {
    constexpr std::int64_t m = 17'000, k = 1300, block = 256, columns = 30;
    static_assert(m * block * sizeof(T) > (32 << 20) || sizeof(T) < 8);
    const Dense<T> A = random<T>(m, k, 8), first = block_of(A, {0, m}, {0, columns});
    Matrix<T> a = upload(A, q()), tau(k, 1, q()), C = upload(first, q());
    geqrf<T>(a, tau.view(), q(), {Method::native});
    const Dense<T> QR = download<T>(a({0, columns}, {0, columns}), q());
    const Dense<T> R = Dense<T>::from(m, columns, [&](auto i, auto j) { return i <= j ? QR(i, j) : T(0); });
    ormqr<T>(Side::Left, adjoint<T>, a, tau.view(), C, q(), {Method::native, block});
    EXPECT_LE(distance(download<T>(C.view(), q()), precise(R), m), residual_bound);
    ormqr<T>(Side::Left, Op::NoTrans, a, tau.view(), C, q(), {Method::native, block});
    EXPECT_LE(distance(download<T>(C.view(), q()), precise(first), m), residual_bound);
  });
}

/// NaN in C stays in its column; NaN in a reflector reaches Q.
TEST_P(QrOrthogonal, NaNPropagates) {
  with_type([&]<class T>(T) {
    const QrFactors<T> f = reflectors<T>(30, 20, 20, 4);
    for (const Way& way : qr_ways(q(), {0, 8})) {
      Dense<T> C0 = random<T>(30, 5, 2);
      C0(17, 2) = make<T>(nan<T>);
      Padded<T> V(f.QR, q()), tau(f.tau, q()), C(C0, q());
      ormqr<T>(Side::Left, adjoint<T>, V, tau, C, q(), way.qr());
      const Dense<T> c = C.read("C");
      for (std::int64_t j = 0; j < 5; ++j)
        EXPECT_EQ(std::isnan(column_sum(precise(c), j)), j == 2) << way.name << ", column " << j;
      QrFactors<T> bad = f;
      bad.QR(29, 19) = make<T>(nan<T>);
      Padded<T> a(bad.QR, q());
      orgqr<T>(a, tau, q(), way.qr());
      EXPECT_TRUE(std::isnan(largest(precise(a.read("A"))))) << way.name;
    }
  });
}

// ---- qr ----

TEST_P(QrOrthogonal, QrEconomicAndFull) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : factor_shapes()) {
      if (m > 600) continue;  // the full Q is m x m
      const Dense<T> A = random<T>(m, n, std::uint32_t(1000 * m + n));
      const std::int64_t k = std::min(m, n);
      const QrFactors<T> lapack = lapack_qr(A);
      for (std::int64_t columns : {k, m})
        for (const Way& way : qr_ways(q(), {0, 16})) {
          const std::string what = shape_name(m, n) + ", " + std::to_string(columns) + " columns of Q, " + way.name;
          Padded<T> a(A, q()), Q(Dense<T>(m, columns, T(7)), q()), R(Dense<T>(columns, n, T(7)), q());
          qr<T>(a, Q, R, q(), way.qr());
          expect_same(a.read("A"), A, what + ": A");
          const Dense<T> Qh = Q.read("Q"), Rh = R.read("R");
          EXPECT_LE(product_residual(A, precise(Qh), Rh), residual_bound) << what;
          EXPECT_LE(orthogonality(Qh), residual_bound) << what;
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = j + 1; i < columns; ++i)
              EXPECT_EQ(Rh(i, j), T(0)) << what << ": R(" << i << ", " << j << ")";
          for (std::int64_t i = 0; i < k; ++i)
            EXPECT_EQ(std::signbit(std::real(Rh(i, i))), std::signbit(std::real(lapack.QR(i, i))))
                << what << ": R" << i;
          if (columns == m && k == m) break;
        }
    }
  });
}

/// Q is orthogonal also for a matrix without any rank.
TEST_P(QrOrthogonal, QrOfTheGallery) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{23, 20}, {20, 23}})
      for (const auto& [name, A, by, grows] : gallery<T>(m, n)) {
        const std::int64_t k = std::min(m, n);
        Padded<T> a(A, q()), Q(Dense<T>(m, k), q()), R(Dense<T>(k, n), q());
        qr<T>(a, Q, R, q());
        const Dense<T> Qh = Q.read("Q");
        EXPECT_LE(product_residual(A, precise(Qh), R.read("R"), By::column), residual_bound) << name;
        EXPECT_LE(orthogonality(Qh), residual_bound) << name;
      }
  });
}

DEVOBJ_EVERYWHERE(QrOrthogonal);

}  // namespace
}  // namespace devobj::test
