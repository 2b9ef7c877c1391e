// QR: every error with its text and nothing written, and failing allocations.
#include "factor_checks.hpp"
#include "failing_allocations.hpp"

namespace devobj::test {
namespace {

class QrFaults : public Everywhere {};

// Native is a method of the GPU alone; it is tested apart.
const auto foreign_methods = {Method(99), Method(-1)};

TEST_P(QrFaults, GeqrfsErrorsWriteNothing) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(6, 4, 1), four0(4, 1, T(7)), five0(5, 1, T(7)), square0(2, 2, T(7));
    Padded<T> a(A, q()), four(four0, q()), five(five0, q()), square(square0, q());
    EXPECT_INVALID(geqrf<T>(a, five, q()), "geqrf: tau is 5 x 1, must be a vector of 4 elements");
    EXPECT_INVALID(geqrf<T>(a, square, q()), "geqrf: tau is 2 x 2, must be a vector of 4 elements");
    EXPECT_INVALID(geqrf<T>(a, four, q(), {Method::hybrid, -1}), "geqrf: block is -1");
    EXPECT_INVALID(geqrf<T>(a, four, q(), {Method::automatic, 257}), "geqrf: block is 257");
    for (Method method : foreign_methods) EXPECT_INVALID(geqrf<T>(a, four, q(), {method}), "geqrf: method '");
    if (!q().on_cuda()) EXPECT_INVALID(geqrf<T>(a, four, q(), {Method::native}), "'native'");
    if (q().on_cuda()) EXPECT_INVALID(geqrf<T>(a, four, q(), {Method::native, 769}), "geqrf: block is 769");
    if (q().on_cuda()) EXPECT_INVALID(geqrf<T>(a, four, q(), {Method::lapack}), "'lapack'");
    EXPECT_INVALID(geqrf<T>(a, a.view()({0, 4}, {1, 2}), q()), "geqrf: tau and A overlap");
    EXPECT_INVALID(geqrf<T>(View<T>(), four, q()), "geqrf: tau is 4 x 1, must be a vector of 0 elements");
    expect_same(a.read("A"), A, "A");
    expect_same(four.read("tau"), four0, "tau");
    expect_same(five.read("tau"), five0, "tau");
  });
}

TEST_P(QrFaults, OrgqrsErrorsWriteNothing) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(6, 4, 1), W = random<T>(4, 6, 1), four0(4, 1, T(7)), five0(5, 1, T(7)),
                   square0(2, 2, T(7));
    Padded<T> a(A, q()), w(W, q()), four(four0, q()), five(five0, q()), square(square0, q());
    EXPECT_INVALID(orgqr<T>(w, four, q()), "orgqr: A is 4 x 6, must not have more columns than rows");
    EXPECT_INVALID(orgqr<T>(a, five, q()), "orgqr: tau has 5 elements, but A has 4 columns");
    EXPECT_INVALID(orgqr<T>(a, square, q()), "orgqr: tau is 2 x 2, must be a vector of 4 elements");
    EXPECT_INVALID(orgqr<T>(a, a.view()({0, 4}, {1, 2}), q()), "orgqr: tau and A overlap");
    for (Method method : foreign_methods) EXPECT_INVALID(orgqr<T>(a, four, q(), {method}), "orgqr: method '");
    EXPECT_INVALID(orgqr<T>(a, four, q(), {Method::hybrid, -1}), "orgqr: block is -1");
    if (q().on_cuda()) EXPECT_INVALID(orgqr<T>(a, four, q(), {Method::lapack}), "'lapack'");
    expect_same(a.read("A"), A, "A");
    expect_same(w.read("A"), W, "A");
    expect_same(four.read("tau"), four0, "tau");
  });
}

TEST_P(QrFaults, OrmqrsErrorsWriteNothing) {
  with_type([&]<class T>(T) {
    const Dense<T> V0 = random<T>(6, 4, 1), C0 = random<T>(6, 6, 2), D0 = random<T>(5, 5, 2), four0(4, 1, T(7)),
                   five0(5, 1, T(7)), square0(2, 2, T(7)), wide0 = random<T>(3, 5, 1), E0 = random<T>(3, 3, 1);
    Padded<T> V(V0, q()), C(C0, q()), D(D0, q()), four(four0, q()), five(five0, q()), square(square0, q()),
        wide(wide0, q()), E(E0, q());
    const Op wrong = is_complex<T> ? Op::Trans : Op::ConjTrans;
    EXPECT_INVALID(ormqr<T>(Side::Left, wrong, V, four, C, q()), "ormqr: op is '");
    EXPECT_INVALID(ormqr<T>(Side::Left, Op('X'), V, four, C, q()), "ormqr: op is 'X'");
    EXPECT_INVALID(ormqr<T>(Side('X'), Op::NoTrans, V, four, C, q()), "ormqr: side is 'X'");
    EXPECT_INVALID(ormqr<T>(Side::Left, Op::NoTrans, V, four, D, q()), "ormqr: V has 6 rows, but C is 5 x 5");
    EXPECT_INVALID(ormqr<T>(Side::Right, Op::NoTrans, V, four, D, q()), "ormqr: V has 6 rows, but C is 5 x 5");
    EXPECT_INVALID(ormqr<T>(Side::Left, Op::NoTrans, V, five, C, q()),
                   "ormqr: tau has 5 elements, but V has 4 columns");
    EXPECT_INVALID(ormqr<T>(Side::Left, Op::NoTrans, wide, four, E, q()),
                   "ormqr: tau has 4 elements, but Q is of order 3");
    EXPECT_INVALID(ormqr<T>(Side::Left, Op::NoTrans, V, square, C, q()), "ormqr: tau is 2 x 2, must be a vector of 4");
    EXPECT_INVALID(ormqr<T>(Side::Left, Op::NoTrans, V, four, V, q()), "ormqr: C and V overlap");
    EXPECT_INVALID(ormqr<T>(Side::Left, Op::NoTrans, V, C.view()({0, 4}, {0, 1}), C, q()), "ormqr: C and tau overlap");
    for (Method method : foreign_methods)
      EXPECT_INVALID(ormqr<T>(Side::Left, Op::NoTrans, V, four, C, q(), {method}), "ormqr: method '");
    EXPECT_INVALID(ormqr<T>(Side::Left, Op::NoTrans, V, four, C, q(), {Method::hybrid, -1}), "ormqr: block is -1");
    expect_same(V.read("V"), V0, "V");
    expect_same(C.read("C"), C0, "C");
    expect_same(D.read("C"), D0, "C");
    expect_same(E.read("C"), E0, "C");
  });
}

TEST_P(QrFaults, QrsErrorsWriteNothing) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(6, 4, 1), Q0(6, 4, T(7)), R0(4, 4, T(8)), F0(6, 6, T(9)), G0(6, 4, T(10));
    Padded<T> a(A, q()), Q(Q0, q()), R(R0, q()), F(F0, q()), G(G0, q());
    EXPECT_INVALID(qr<T>(a, Q, G, q()),
                   "qr: Q is 6 x 4 and R is 6 x 4, must be 6 x 4 and 4 x 4 (economic) or 6 x 6 and 6 x 4 (full)");
    EXPECT_INVALID(qr<T>(a, F, R, q()), "qr: Q is 6 x 6 and R is 4 x 4");
    EXPECT_INVALID(qr<T>(a, R, R, q()), "qr: Q is 4 x 4 and R is 4 x 4");
    EXPECT_INVALID(qr<T>(a, a, R, q()), "qr: Q and A overlap");
    EXPECT_INVALID(qr<T>(a, F, a, q()), "qr: R and A overlap");
    EXPECT_INVALID(qr<T>(a, F, F.view()({0, 6}, {0, 4}), q()), "qr: Q and R overlap");
    for (Method method : foreign_methods) EXPECT_INVALID(qr<T>(a, Q, R, q(), {method}), "method '");
    EXPECT_INVALID(qr<T>(a, Q, R, q(), {Method::automatic, -1}), "block is -1");
    EXPECT_INVALID(qr<T>(a, F, G, q(), {Method::automatic, 257}), "block is 257");
    expect_same(a.read("A"), A, "A");
    expect_same(Q.read("Q"), Q0, "Q");
    expect_same(R.read("R"), R0, "R");
    expect_same(F.read("Q"), F0, "Q");
    expect_same(G.read("R"), G0, "R");
  });
}

// ---- memory ----

TEST_P(QrFaults, OutOfMemoryInGeqrf) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{90, 90}, {90, 50}, {50, 90}}) {
      const Dense<T> A = random<T>(m, n, 2), tau0(std::min(m, n), 1, T(7));
      const QrFactors<T> right = factor_qr(A, q(), {Method::hybrid, 16});
      Padded<T> a(A, q()), tau(tau0, q());
      const int failures = fail_each_allocation(
          [&] {
            geqrf<T>(a, tau, q(), {Method::hybrid, 16});
          },
          [&] {
            expect_same(a.read("A"), A, "A");
            expect_same(tau.read("tau"), tau0, "tau");
          });
      EXPECT_GE(failures, 4) << "two panels, and workspace on the queue";
      expect_same(a.read("A"), right.QR, "the factors after the failures");
      expect_same(tau.read("tau"), right.tau, "tau");
    }
  });
}

TEST_P(QrFaults, OutOfMemoryInOrgqrAndOrmqr) {
  with_type([&]<class T>(T) {
    const QrFactors<T> f = lapack_qr(random<T>(70, 50, 3));
    const Dense<T> C0 = random<T>(70, 6, 4);
    Padded<T> a(f.QR, q()), V(f.QR, q()), tau(f.tau, q()), C(C0, q());
    const QrOptions options{Method::hybrid, 16};
    EXPECT_GE(fail_each_allocation([&] { ormqr<T>(Side::Left, adjoint<T>, V, tau, C, q(), options); },
                                   [&] { expect_same(C.read("C"), C0, "C"); }),
              2);
    EXPECT_GE(
        fail_each_allocation([&] { orgqr<T>(a, tau, q(), options); }, [&] { expect_same(a.read("A"), f.QR, "A"); }), 2);
    EXPECT_LE(orthogonality(a.read("A")), residual_bound);
    expect_same(V.read("V"), f.QR, "V");
  });
}

TEST_P(QrFaults, OutOfMemoryInQrAndGels) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{70, 50}, {50, 70}}) {
      const std::int64_t k = std::min(m, n), most = std::max(m, n);
      const Dense<T> A = random<T>(m, n, 2), B = random<T>(most, 2, 3);
      Padded<T> a(A, q()), Q(Dense<T>(m, k), q()), R(Dense<T>(k, n), q());
      EXPECT_GE(fail_each_allocation(
                    [&] {
                      qr<T>(a, Q, R, q(), {Method::hybrid, 16});
                    },
                    [&] { expect_same(a.read("A"), A, "A"); }),
                5);
      EXPECT_LE(product_residual(A, precise(Q.read("Q")), R.read("R")), residual_bound);

      for (Op op : {Op::NoTrans, adjoint<T>}) {
        Padded<T> fresh(A, q()), b(B, q());
        const Dense<T> expected = [&] {
          Padded<T> a1(A, q()), b1(B, q());
          gels<T>(op, a1, b1, q(), {Method::hybrid, 16});
          return b1.read("B");
        }();
        auto work = [&] { EXPECT_EQ(gels<T>(op, fresh, b, q(), {Method::hybrid, 16}), 0); };
        EXPECT_GE(fail_each_allocation(work,
                                       [&] {
                                         expect_same(fresh.read("A"), A, "A");
                                         expect_same(b.read("B"), B, "B");
                                       }),
                  5);
        expect_same(b.read("B"), expected, "the solution after the failures");
      }
    }
  });
}

TEST_P(QrFaults, FailedAllocationsLeakNothing) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 300;
    const Dense<T> A = random<T>(n, n, 5);
    auto count = [&] {
      const std::int64_t before = memory::allocation_count();
      factor_qr(A, q(), {Method::hybrid, 64});
      return memory::allocation_count() - before;
    };
    count();
    const std::int64_t warm = count();
    EXPECT_EQ(count(), warm);
    auto fail_all = [&] {
      Padded<T> a(A, q()), tau(Dense<T>(n, 1), q());
      fail_each_allocation([&] { geqrf<T>(a, tau, q(), {Method::hybrid, 64}); }, [] {});
    };
    fail_all();
    q().wait();
    const std::int64_t before = heap_bytes();
    for (int again = 0; again < 10; ++again) fail_all();
    q().wait();
    // one panel is 75 KB at least
    EXPECT_LT(heap_bytes() - before, 60000);
    EXPECT_EQ(count(), warm);
  });
}

DEVOBJ_EVERYWHERE(QrFaults);

}  // namespace
}  // namespace devobj::test
