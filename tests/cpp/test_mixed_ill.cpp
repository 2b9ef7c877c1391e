// gesv_mixed of ill-conditioned matrices, by minimal residuals: few small singular values cost few steps, and what cannot be
// done is done by gesv.
#include "mixed_checks.hpp"

namespace devobj::test {
namespace {

class MixedIll : public Everywhere {};
DEVOBJ_EVERYWHERE_DOUBLE(MixedIll);

/// Singular values 1 but for `small` ones of 1 / condition.
template <class T>
Dense<T> with_small_values(std::int64_t n, std::int64_t small, double condition) {
  return with_singular_values<T>(n, n, 4, [&](auto j) { return j < n - small ? 1 : 1 / condition; });
}
const LuOptions both_ways[] = {{Method::automatic}, {Method::randomized}};

/// `most` refinements, which leave as small a residual as gesv does.
template <class T>
void expect_refined(const Dense<T>& A, const Dense<T>& B, std::int64_t most, Queue& q, const std::string& what) {
  const double of_gesv = solve_residual(Op::NoTrans, A, solve_double(A, B, q).X, B);
  for (const LuOptions& options : both_ways) {
    const Solved<T> s = solve(A, B, q, options);
    EXPECT_EQ(s.result.info, 0) << what;
    EXPECT_GE(s.result.iterations, 1) << what;
    EXPECT_LE(s.result.iterations, most) << what;
    expect_same(s.A, A, what + ": A");
    const double r = solve_residual(Op::NoTrans, A, s.X, B);
    EXPECT_LE(r, residual_bound) << what;
    EXPECT_LE(r, 2 * of_gesv + residual_floor) << what;
    expect_same(solve(A, B, q, options).X, s.X, what + ", again");
  }
}

TEST_P(MixedIll, FewSmallSingularValues) {
  with_double([&]<class T>(T) {
    const std::int64_t n = 300;
    for (const double condition : {1e8, 1e9, 1e10})
      for (const std::int64_t small : {1, 3}) {
        const Dense<T> A = with_small_values<T>(n, small, condition);
        const std::string what = std::to_string(small) + " of 1 / " + std::to_string(condition);
        for (const std::int64_t nrhs : {1, 4}) expect_refined(A, random<T>(n, nrhs, 8), small == 1 ? 5 : 10, q(), what);
        // more right-hand sides are refined without minimization, which takes longer, or for ever
        const std::int64_t of_many = solve(A, random<T>(n, 5, 8), q()).result.iterations;
        EXPECT_TRUE(of_many < 0 || of_many > 10) << what << ": " << of_many;
      }
  });
}

/// Of the larger condition, an eighth of the singular values is below single precision's rounding errors.
TEST_P(MixedIll, GeometricSingularValues) {
  with_double([&]<class T>(T) {
    for (const double condition : {1e7, 1e8})
      expect_refined(with_condition<T>(100, 100, condition, 4), random<T>(100, 2, 8), 20, q(),
                     std::to_string(condition));
  });
}

TEST_P(MixedIll, ColumnsConvergeAtDifferentSteps) {
  with_double([&]<class T>(T) {
    const std::int64_t n = 300;
    const Dense<T> A = with_small_values<T>(n, 1, 1e9), hard = random<T>(n, 1, 8);
    const auto easy = rounded<T>(product(Op::NoTrans, precise(A), Op::NoTrans, precise(Dense<T>(n, 1, T(1)))));
    for (const std::int64_t zero : {0, 1, 2}) {
      const Dense<T> B = Dense<T>::from(n, 3, [&](auto i, auto j) {
        return j == zero ? T(0) : j == (zero + 1) % 3 ? easy(i, 0) : hard(i, 0);
      });
      expect_refined(A, B, 6, q(), "zero column " + std::to_string(zero));
      for (const LuOptions& options : both_ways) {
        const Dense<T> X = solve(A, B, q(), options).X;
        for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(X(i, zero), T(0)) << i;
      }
    }
    const Dense<T> zeros(n, 3);
    const Solved<T> s = solve(A, zeros, q());
    EXPECT_EQ(s.result.iterations, 0);
    EXPECT_EQ(largest(s.X), 0);
  });
}

TEST_P(MixedIll, RightHandSidesBelowSinglePrecision) {
  with_double([&]<class T>(T) {
    for (const double condition : {1e2, 1e9})
      for (const double size : {1e-42, 1e-60, 1e-250}) {
        const Dense<T> A = with_small_values<T>(40, 1, condition);
        const Dense<T> B = multiplied(random<T>(40, 2, 4), [&](double, double j) { return j == 0 ? size : 1; });
        expect_refined(A, B, 8, q(), std::to_string(condition) + ", " + std::to_string(size));
      }
  });
}

/// All methods of gesv_mixed leave to gesv what is singular to double precision, and say what it says.
TEST_P(MixedIll, SingularMatrices) {
  with_double([&]<class T>(T) {
    const std::int64_t n = 90;
    const Dense<T> B = random<T>(n, 2, 8);
    for (const std::int64_t small : {1, 3}) {
      const Dense<T> A = with_small_values<T>(n, small, 1e16);
      for (const LuOptions& options : both_ways) {
        const Solved<T> s = solve(A, B, q(), options);
        EXPECT_LT(s.result.iterations, 0);
        expect_as_double(s, solve_double(A, B, q()), s.result.iterations, std::to_string(small));
      }
    }
  });
}

/// Orders with fewer dimensions than steps.
TEST_P(MixedIll, SmallOrders) {
  with_double([&]<class T>(T) {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 12}) {
      const Dense<T> A = with_small_values<T>(n, 1, 1e9), B = random<T>(n, 1, 8);
      for (const LuOptions& options : both_ways) {
        const Solved<T> s = solve(A, B, q(), options);
        EXPECT_EQ(s.result.info, 0) << n;
        if (s.result.iterations < 0)
          expect_as_double(s, solve_double(A, B, q()), s.result.iterations, std::to_string(n));
        EXPECT_LE(solve_residual(Op::NoTrans, A, s.X, B), residual_bound) << n;
      }
    }
  });
}

/// Where there is no memory for the minimization, gesv needs less; elsewhere nothing has changed.
TEST_P(MixedIll, EachAllocationMayFail) {
  with_double([&]<class T>(T) {
    const std::int64_t n = 80;
    const Dense<T> A = with_small_values<T>(n, 1, 1e9), B = random<T>(n, 2, 8);
    for (const LuOptions& options : both_ways) {
      solve(A, B, q(), options);  // fills caches
      int thrown = 0, by_gesv = 0;
      bool refined = false;
      for (int nth = 1; nth < 100 && !refined; ++nth) {
        Padded<T> a(A, q()), b(B, q());
        Pivots p = pivots_of(n, q());
        MixedResult result;
        memory::fail_allocation(nth);
        try {
          result = gesv_mixed<T>(a, p.view(), b, q(), options);
        } catch (const Error& e) {
          EXPECT_EQ(e.status(), Status::out_of_memory) << e.what();
          result.info = -1;
        }
        memory::fail_allocation(0);
        refined = result.info == 0 && result.iterations >= 0;
        if (result.info == -1) {
          ++thrown;
          expect_same(a.read("A"), A, "A");
          expect_same(b.read("B"), B, "B");
          expect_same(p.read("ipiv"), Dense<std::int32_t>(n, 1, 77), "ipiv");
        } else {
          by_gesv += refined ? 0 : 1;
          EXPECT_TRUE(refined || result.iterations == -31) << result.iterations;
          EXPECT_LE(solve_residual(Op::NoTrans, A, b.read("B"), B), residual_bound);
        }
      }
      EXPECT_TRUE(refined) << "no end of allocations";
      EXPECT_GE(thrown, 6);
      EXPECT_GE(by_gesv, 4);  // the factors, the corrections, their coefficients and norms
    }
  });
}

}  // namespace
}  // namespace devobj::test
