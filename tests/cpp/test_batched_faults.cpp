// The batched routines: every error with its text and nothing written, and failing allocations.
#include "batched_support.hpp"
#include "failing_allocations.hpp"

namespace devobj::test {
namespace {

class BatchedFaults : public Everywhere {};

using Ints = Padded<std::int32_t>;
Dense<std::int32_t> integers(std::int64_t rows, std::int64_t cols = 1) {
  return {rows, cols, 77};
}

TEST_P(BatchedFaults, GetrfsErrorsWriteNothing) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(6, 12, 1);  // three matrices of 6 x 4, two of 6 x 6
    Padded<T> a(A, q());
    Ints ipiv(integers(4, 3), q()), info(integers(3), q()), square(integers(2, 2), q());
    EXPECT_INVALID(getrf_batched<T>(-1, a, ipiv.view(), info.view(), q()),
                   "getrf_batched: batch is -1, must not be negative");
    EXPECT_INVALID(getrf_batched<T>(5, a, ipiv.view(), info.view(), q()),
                   "getrf_batched: A has 12 columns, which are not those of 5 matrices of one shape");
    EXPECT_INVALID(getrf_batched<T>(0, a, ipiv.view(), info.view(), q()), "A has 12 columns, which are not those of 0");
    EXPECT_INVALID(getrf_batched<T>(2, a, ipiv.view(), info.view(), q()),
                   "getrf_batched: ipiv is 4 x 3, must be 6 x 2");
    EXPECT_INVALID(getrf_batched<T>(3, a, square.view(), info.view(), q()), "ipiv is 2 x 2, must be 4 x 3");
    EXPECT_INVALID(getrf_batched<T>(3, a, ipiv.view(), square.view(), q()),
                   "getrf_batched: info is 2 x 2, must be a vector of 3 elements");
    EXPECT_INVALID(getrf_batched<T>(3, a, ipiv.view(), ipiv.view()({0, 1}, {0, 3}), q()),
                   "getrf_batched: info and ipiv overlap");
    const View<std::int32_t> inside(reinterpret_cast<std::int32_t*>(a.view().data), 4, 3);
    EXPECT_INVALID(getrf_batched<T>(3, a, inside, info.view(), q()), "getrf_batched: ipiv and A overlap");
    EXPECT_INVALID(getrf_batched<T>(3, a, ipiv.view(), inside({0, 3}, {0, 1}), q()),
                   "getrf_batched: info and A overlap");
    expect_same(a.read("A"), A, "A");
    expect_same(ipiv.read("ipiv"), integers(4, 3), "ipiv");
    expect_same(info.read("info"), integers(3), "info");
  });
}

TEST_P(BatchedFaults, SolversErrorsWriteNothing) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(4, 12, 1), B = random<T>(4, 6, 2), B5 = random<T>(5, 6, 3);
    Padded<T> a(A, q()), b(B, q()), b5(B5, q());
    Ints ipiv(integers(4, 3), q()), info(integers(3), q());
    const auto p = ipiv.view(), i = info.view();
    EXPECT_INVALID(getrs_batched<T>(Op('X'), 3, a, p, b, q()), "getrs_batched: op is 'X'");
    EXPECT_INVALID(getrs_batched<T>(Op::NoTrans, 6, a, p, b, q()),
                   "getrs_batched: the matrices in LU are 4 x 2, must be square");
    EXPECT_INVALID(getrs_batched<T>(Op::NoTrans, 3, a, p({0, 3}, {0, 3}), b, q()),
                   "getrs_batched: ipiv is 3 x 3, must be 4 x 3");
    EXPECT_INVALID(getrs_batched<T>(Op::NoTrans, 3, a, p, b5, q()),
                   "getrs_batched: B has 5 rows, but the matrices in LU are 4 x 4");
    EXPECT_INVALID(getrs_batched<T>(Op::NoTrans, 3, a, p, b.view()({0, 4}, {0, 5}), q()),
                   "getrs_batched: B has 5 columns, which are not those of 3 matrices");
    EXPECT_INVALID(getrs_batched<T>(Op::NoTrans, 3, a, p, a.view()({0, 4}, {0, 3}), q()),
                   "getrs_batched: B and LU overlap");
    EXPECT_INVALID(gesv_batched<T>(6, a, p, b, i, q()), "gesv_batched: the matrices in A are 4 x 2, must be square");
    EXPECT_INVALID(gesv_batched<T>(3, a, i, b, i, q()), "gesv_batched: ipiv is 3 x 1, must be 4 x 3");
    EXPECT_INVALID(gesv_batched<T>(3, a, p, b5, i, q()), "gesv_batched: B has 5 rows, but the matrices in A are 4 x 4");
    EXPECT_INVALID(gesv_batched<T>(3, a, p, b, i({0, 2}, {0, 1}), q()),
                   "gesv_batched: info is 2 x 1, must be a vector of 3 elements");
    EXPECT_INVALID(gesv_batched<T>(3, a, p, a, i, q()), "gesv_batched: B and A overlap");
    EXPECT_INVALID(gesv_batched<T>(3, a, p, b, p({0, 1}, {0, 3}), q()), "gesv_batched: info and ipiv overlap");
    EXPECT_INVALID(gesv_batched<T>(-2, a, p, b, i, q()), "gesv_batched: batch is -2");
    expect_same(a.read("A"), A, "A");
    expect_same(b.read("B"), B, "B");
    expect_same(b5.read("B"), B5, "B");
    expect_same(ipiv.read("ipiv"), integers(4, 3), "ipiv");
    expect_same(info.read("info"), integers(3), "info");
  });
}

TEST_P(BatchedFaults, QrsErrorsWriteNothing) {
  with_type([&]<class T>(T) {
    const Dense<T> A = random<T>(6, 12, 1), B = random<T>(6, 6, 2), tau(4, 3, T(9));
    Padded<T> a(A, q()), b(B, q()), t(tau, q());
    Ints info(integers(3), q());
    const auto i = info.view();
    EXPECT_INVALID(geqrf_batched<T>(-3, a, t, q()), "geqrf_batched: batch is -3");
    EXPECT_INVALID(geqrf_batched<T>(7, a, t, q()), "geqrf_batched: A has 12 columns, which are not those of 7");
    EXPECT_INVALID(geqrf_batched<T>(4, a, t, q()), "geqrf_batched: tau is 4 x 3, must be 3 x 4");
    EXPECT_INVALID(geqrf_batched<T>(3, a, a.view()({0, 4}, {0, 3}), q()), "geqrf_batched: tau and A overlap");
    EXPECT_INVALID(gels_batched<T>(Op('Q'), 3, a, b, i, q()), "gels_batched: op is 'Q', must be 'N' or '");
    EXPECT_INVALID(gels_batched<T>(is_complex<T> ? Op::Trans : Op::ConjTrans, 3, a, b, i, q()), "for this type");
    EXPECT_INVALID(gels_batched<T>(Op::NoTrans, 5, a, b, i, q()), "gels_batched: A has 12 columns");
    EXPECT_INVALID(gels_batched<T>(Op::NoTrans, 3, a, b.view()({0, 6}, {0, 4}), i, q()),
                   "gels_batched: B has 4 columns");
    EXPECT_INVALID(gels_batched<T>(Op::NoTrans, 3, a, b.view()({0, 5}, {0, 6}), i, q()),
                   "gels_batched: B has 5 rows, but the matrices in A are 6 x 4 and B must have the larger of both");
    EXPECT_INVALID(gels_batched<T>(Op::NoTrans, 2, a, b, i, q()), "gels_batched: info is 3 x 1, must be a vector of 2");
    EXPECT_INVALID(gels_batched<T>(Op::NoTrans, 3, a, a.view()({0, 6}, {0, 6}), i, q()),
                   "gels_batched: B and A overlap");
    EXPECT_DEVOBJ_ERROR(gels_batched<T>(adjoint<T>, 3, a, b, i, q()), Status::not_supported,
                        "solutions of minimum norm are not there for batches");
    Padded<T> wide(Dense<T>(4, 12, T(1)), q());
    Ints two(integers(2), q());
    EXPECT_DEVOBJ_ERROR(gels_batched<T>(Op::NoTrans, 2, wide, b, two.view(), q()), Status::not_supported,
                        "gels_batched: the matrices in A are 4 x 6, but solutions of minimum norm (m < n)");
    expect_same(a.read("A"), A, "A");
    expect_same(b.read("B"), B, "B");
    expect_same(t.read("tau"), tau, "tau");
    expect_same(info.read("info"), integers(3), "info");
  });
}

TEST_P(BatchedFaults, OutOfMemoryInGelsChangesNothing) {
  with_type([&]<class T>(T) {
    Queue fresh(place().backend, QueueOptions{place().host_mode});  // without a workspace yet
    const Dense<T> A = random<T>(20, 24, 1), B = random<T>(20, 3, 2);
    Padded<T> a(A, fresh), b(B, fresh);
    Ints info(integers(3), fresh);
    const int failures = fail_each_allocation([&] { gels_batched<T>(Op::NoTrans, 3, a, b, info.view(), fresh); },
                                              [&] {
                                                expect_same(a.read("A"), A, "A");
                                                expect_same(b.read("B"), B, "B");
                                                expect_same(info.read("info"), integers(3), "info");
                                              });
    EXPECT_GE(failures, 1);
    EXPECT_EQ(info.read("info")[0], 0);
  });
}

/// A pivot that is no row of the matrix is left out by getrs: nothing outside B is read or written.
TEST_P(BatchedFaults, PivotsThatAreNoRowsAreLeftOut) {
  with_type([&]<class T>(T) {
    for (std::int64_t n : {3, 40}) {
      Dense<T> A(n, 2 * n);
      for (std::int64_t i = 0; i < n; ++i) A(i, i) = A(i, n + i) = T(1);
      const Dense<T> B = random<T>(n, 4, 5);
      Dense<std::int32_t> pivots(n, 2, -2000000000);
      pivots(1, 1) = 2000000000;
      Padded<T> a(A, q()), b(B, q());
      Ints p(pivots, q());
      for (Op op : {Op::NoTrans, Op::Trans}) getrs_batched<T>(op, 2, a, p.view(), b, q());
      expect_same(b.read("B"), B, "B");
    }
  });
}

DEVOBJ_EVERYWHERE(BatchedFaults);

}  // namespace
}  // namespace devobj::test
