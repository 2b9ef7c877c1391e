// LU: every error with its text and nothing written, and failing allocations.
#include "factor_checks.hpp"
#include "failing_allocations.hpp"
#include "sanitizers.hpp"

namespace devobj::test {
namespace {

class LuFaults : public Everywhere {};

using Pivots = Padded<std::int32_t>;
Dense<std::int32_t> integers(std::int64_t rows, std::int64_t cols = 1) {
  return {rows, cols, 77};
}

TEST_P(LuFaults, GetrfsErrorsWriteNothing) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(6, 4, 1);
    Padded<T> a(A, q());
    Pivots four(integers(4), q()), five(integers(5), q()), square(integers(2, 2), q());
    EXPECT_INVALID(getrf<T>(a, five.view(), q()), "getrf: ipiv is 5 x 1, must be a vector of 4 elements");
    EXPECT_INVALID(getrf<T>(a, square.view(), q()), "getrf: ipiv is 2 x 2, must be a vector of 4 elements");
    EXPECT_INVALID(getrf<T>(a, View<std::int32_t>(), q()), "getrf: ipiv is 0 x 0, must be a vector of 4 elements");
    EXPECT_INVALID(getrf<T>(a, four.view(), q(), {Method::hybrid, -1}), "getrf: block is -1");
    EXPECT_INVALID(getrf<T>(a, four.view(), q(), {Method::automatic, -7}), "getrf: block is -7");
    for (Method method :
         {Method::givens, Method::householder, Method::block_householder, Method::givens, Method(99), Method(-1)})
      EXPECT_INVALID(getrf<T>(a, four.view(), q(), {method}), "getrf: method '");
    EXPECT_INVALID(getrf<T>(a, four.view(), q(), {Method::givens}), "'givens'");
    if (q().on_cuda()) EXPECT_INVALID(getrf<T>(a, four.view(), q(), {Method::lapack}), "'lapack'");
    // pivots inside the matrix
    const View<std::int32_t> inside(reinterpret_cast<std::int32_t*>(a.view().data), 4, 1);
    EXPECT_INVALID(getrf<T>(a, inside, q()), "getrf: ipiv and A overlap");
    // an empty matrix has its arguments checked too
    EXPECT_INVALID(getrf<T>(View<T>(), four.view(), q()), "getrf: ipiv is 4 x 1, must be a vector of 0 elements");
    expect_same(a.read("A"), A, "A");
    expect_same(four.read("ipiv"), integers(4), "ipiv");
    expect_same(five.read("ipiv"), integers(5), "ipiv");
  });
}

TEST_P(LuFaults, SolversErrorsWriteNothing) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(4, 4, 1), R = random<T>(4, 3, 2), B = random<T>(4, 2, 3), B5 = random<T>(5, 2, 4);
    Padded<T> a(A, q()), r(R, q()), b(B, q()), b5(B5, q());
    Pivots four(integers(4), q()), three(integers(3), q());
    EXPECT_INVALID(getrs<T>(Op::NoTrans, r, four.view(), b, q()), "getrs: LU is 4 x 3, must be square");
    EXPECT_INVALID(getrs<T>(Op::NoTrans, a, three.view(), b, q()),
                   "getrs: ipiv is 3 x 1, must be a vector of 4 elements");
    EXPECT_INVALID(getrs<T>(Op::NoTrans, a, four.view(), b5, q()), "getrs: B has 5 rows, but LU is 4 x 4");
    EXPECT_INVALID(getrs<T>(Op('X'), a, four.view(), b, q()), "getrs: op is 'X'");
    EXPECT_INVALID(getrs<T>(Op::NoTrans, a, four.view(), a.view()({0, 4}, {2, 3}), q()), "getrs: B and LU overlap");
    EXPECT_INVALID(gesv<T>(r, four.view(), b, q()), "gesv: A is 4 x 3, must be square");
    EXPECT_INVALID(gesv<T>(a, three.view(), b, q()), "gesv: ipiv is 3 x 1");
    EXPECT_INVALID(gesv<T>(a, four.view(), b5, q()), "gesv: B has 5 rows, but A is 4 x 4");
    EXPECT_INVALID(gesv<T>(a, four.view(), a, q()), "gesv: B and A overlap");
    EXPECT_INVALID(gesv<T>(a, four.view(), b, q(), {Method::givens}), "'givens'");
    EXPECT_INVALID(gesv<T>(a, four.view(), b, q(), {Method::hybrid, -3}), "block is -3");
    EXPECT_INVALID(getri<T>(r, four.view(), q()), "getri: A is 4 x 3, must be square");
    EXPECT_INVALID(getri<T>(a, three.view(), q()), "getri: ipiv is 3 x 1, must be a vector of 4 elements");
    expect_same(a.read("A"), A, "A");
    expect_same(r.read("A"), R, "A");
    expect_same(b.read("B"), B, "B");
    expect_same(b5.read("B"), B5, "B");
    expect_same(four.read("ipiv"), integers(4), "ipiv");
  });
}

TEST_P(LuFaults, UnpacksErrorsWriteNothing) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(5, 3, 1), L0(5, 3, T(8)), U0(3, 3, T(9));
    Padded<T> a(A, q()), L(L0, q()), U(U0, q());
    Pivots p(integers(3), q()), perm(integers(5), q());
    EXPECT_INVALID(lu_unpack<T>(a, perm.view(), L, U, perm.view(), q()), "lu_unpack: ipiv is 5 x 1");
    EXPECT_INVALID(lu_unpack<T>(a, p.view(), U, U, perm.view(), q()), "lu_unpack: L is 3 x 3, must be 5 x 3");
    EXPECT_INVALID(lu_unpack<T>(a, p.view(), L, L, perm.view(), q()), "lu_unpack: U is 5 x 3, must be 3 x 3");
    EXPECT_INVALID(lu_unpack<T>(a, p.view(), L, U, p.view(), q()), "lu_unpack: perm is 3 x 1, must be a vector of 5");
    EXPECT_INVALID(lu_unpack<T>(a, p.view(), a, U, perm.view(), q()), "lu_unpack: L and LU overlap");
    EXPECT_INVALID(lu_unpack<T>(a, p.view(), L, a.view()({0, 3}, {0, 3}), perm.view(), q()),
                   "lu_unpack: U and LU overlap");
    EXPECT_INVALID(lu_unpack<T>(a, p.view(), L, L.view()({1, 4}, {0, 3}), perm.view(), q()),
                   "lu_unpack: L and U overlap");
    EXPECT_INVALID(lu_unpack<T>(a, perm.view()({1, 4}, {0, 1}), L, U, perm.view(), q()),
                   "lu_unpack: perm and ipiv overlap");
    expect_same(a.read("LU"), A, "LU");
    expect_same(L.read("L"), L0, "L");
    expect_same(U.read("U"), U0, "U");
    expect_same(perm.read("perm"), integers(5), "perm");
  });
}

// ---- memory ----

TEST_P(LuFaults, OutOfMemoryInGetrf) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{90, 90}, {90, 50}, {50, 90}}) {
      const Dense<T> A = random<T>(m, n, 2);
      const std::int64_t k = std::min(m, n);
      const LuFactors<T> right = factor_lu(A, q(), {Method::hybrid, 16});
      Padded<T> a(A, q());
      Pivots p(integers(k), q());
      const int failures = fail_each_allocation(
          [&] {
            EXPECT_EQ(getrf<T>(a, p.view(), q(), {Method::hybrid, 16}), 0);
          },
          [&] {
            expect_same(a.read("A"), A, "A");
            expect_same(p.read("ipiv"), integers(k), "ipiv");
          });
      EXPECT_GE(failures, 4) << "two panels, and workspace on the queue";
      expect_same(a.read("A"), right.LU, "the factors after the failures");
      expect_same(p.read("ipiv"), right.pivots, "ipiv");
    }
  });
}

TEST_P(LuFaults, OutOfMemoryWhereAPanelExchangesManyRows) {
  const std::int64_t n = 610;
  const Dense<double> A = random<double>(n, n, 2);
  Padded<double> a(A, q());
  Pivots p(integers(n), q());
  const int failures = fail_each_allocation(
      [&] {
        EXPECT_EQ(getrf<double>(a, p.view(), q(), {Method::hybrid, 300}), 0);
      },
      [&] {
        expect_same(a.read("A"), A, "A");
        expect_same(p.read("ipiv"), integers(n), "ipiv");
      });
  EXPECT_GE(failures, 4);
  EXPECT_LE(lu_residual(A, LuFactors<double>{a.read("A"), p.read("ipiv")}), residual_bound);
}

TEST_P(LuFaults, OutOfMemoryInGetriAndGesv) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 140;
    const Dense<T> A = random<T>(n, n, 3), B = random<T>(n, 3, 4);
    const LuFactors<T> f = lapack_lu(A);
    Padded<T> inverse(f.LU, q());
    Pivots p(f.pivots, q());
    const int failures = fail_each_allocation([&] { EXPECT_EQ(getri<T>(inverse, p.view(), q()), 0); },
                                              [&] { expect_same(inverse.read("A"), f.LU, "A"); });
    EXPECT_GE(failures, 1);
    EXPECT_TRUE(std::isfinite(largest(precise(inverse.read()))));

    Padded<T> a(A, q()), b(B, q());
    EXPECT_GE(fail_each_allocation(
                  [&] {
                    EXPECT_EQ(gesv<T>(a, p.view(), b, q(), {Method::hybrid, 16}), 0);
                  },
                  [&] {
                    expect_same(a.read("A"), A, "A");
                    expect_same(b.read("B"), B, "B");
                  }),
              4);
    EXPECT_LE(solve_residual(Op::NoTrans, A, b.read("B"), B), residual_bound);
  });
}

/// A queue that has no workspace yet: on a GPU few right-hand sides need some, before B's rows are exchanged.
TEST_P(LuFaults, OutOfMemoryInGetrsWithFewRightHandSides) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 600;
    const Dense<T> A = random<T>(n, n, 3), B = random<T>(n, 3, 4);
    const LuFactors<T> f = lapack_lu(A);
    Queue fresh(q().on_cuda() ? Backend::cuda : Backend::host);
    const Padded<T> LU(f.LU, fresh);
    const Pivots p(f.pivots, fresh);
    Padded<T> b(B, fresh);
    const int failures = fail_each_allocation([&] { getrs<T>(Op::NoTrans, LU.view(), p.view(), b, fresh); },
                                              [&] { expect_same(b.read("B"), B, "B"); });
    EXPECT_EQ(failures > 0, q().on_cuda());
    EXPECT_LE(solve_residual(Op::NoTrans, A, b.read("B"), B), residual_bound);
  });
}

/// Calls that fail leave nothing behind, and the calls after them allocate as those before.
TEST_P(LuFaults, FailedAllocationsLeakNothing) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 300;
    const Dense<T> A = random<T>(n, n, 5);
    auto count = [&] {
      const std::int64_t before = memory::allocation_count();
      factor_lu(A, q(), {Method::hybrid, 64});
      return memory::allocation_count() - before;
    };
    count();
    const std::int64_t warm = count();
    EXPECT_EQ(count(), warm);
    auto fail_all = [&] {
      Padded<T> a(A, q());
      Pivots p(integers(n), q());
      fail_each_allocation([&] { getrf<T>(a, p.view(), q(), {Method::hybrid, 64}); }, [] {});
    };
    fail_all();
    q().wait();
    const std::int64_t before = heap_bytes();
    for (int again = 0; again < size_or(10, 1); ++again) fail_all();  // AddressSanitizer has a report of its own
    q().wait();
    // one panel is 75 KB at least
    EXPECT_LT(heap_bytes() - before, 60000);
    EXPECT_EQ(count(), warm);
  });
}

DEVOBJ_EVERYWHERE(LuFaults);

}  // namespace
}  // namespace devobj::test
