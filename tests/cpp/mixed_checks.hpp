// What the tests of mixed-precision solves share: solutions by gesv_mixed and gels_mixed and by gesv and gels, with what has
// become of the operands.
#pragma once

#include "devobj/mixed.hpp"
#include "factor_checks.hpp"
#include "factor_matrices.hpp"
#include "failing_allocations.hpp"

namespace devobj::test {

/// In the places, for the two double precision types.
#define DEVOBJ_EVERYWHERE_DOUBLE(fixture)                                                                       \
  INSTANTIATE_TEST_SUITE_P(On, fixture,                                                                         \
                           ::testing::Combine(::testing::ValuesIn(places()),                                    \
                                              ::testing::Values(Type::double_precision, Type::double_complex)), \
                           instance_name)

using Pivots = Padded<std::int32_t>;
inline Pivots pivots_of(std::int64_t n, Queue& q) {
  return {Dense<std::int32_t>(n, 1, 77), q};
}

template <class T>
struct Solved {
  MixedResult result;
  Dense<T> A, X;
  Dense<std::int32_t> pivots;
};
template <class T>
Solved<T> solve(const Dense<T>& A, const Dense<T>& B, Queue& q, LuOptions options = {}) {
  Padded<T> a(A, q), b(B, q);
  Pivots p = pivots_of(A.rows(), q);
  const MixedResult result = gesv_mixed<T>(a, p.view(), b, q, options);
  return {result, a.read("A"), b.read("B"), p.read("ipiv")};
}
/// gesv by the same options.
template <class T>
Solved<T> solve_double(const Dense<T>& A, const Dense<T>& B, Queue& q, LuOptions options = {}) {
  Padded<T> a(A, q), b(B, q);
  Pivots p = pivots_of(A.rows(), q);
  MixedResult result;
  result.info = gesv<T>(a, p.view(), b, q, options);
  return {result, a.read("A"), b.read("B"), p.read("ipiv")};
}
template <class T>
Solved<T> solve(Op op, const Dense<T>& A, const Dense<T>& B, Queue& q, QrOptions options = {}) {
  Padded<T> a(A, q), b(B, q);
  const MixedResult result = gels_mixed<T>(op, a, b, q, options);
  return {result, a.read("A"), b.read("B"), {}};
}
template <class T>
Solved<T> solve_double(Op op, const Dense<T>& A, const Dense<T>& B, Queue& q, QrOptions options = {}) {
  Padded<T> a(A, q), b(B, q);
  MixedResult result;
  result.info = gels<T>(op, a, b, q, options);
  return {result, a.read("A"), b.read("B"), {}};
}
template <class T>
void expect_as_double(const Solved<T>& s, const Solved<T>& d, std::int64_t iterations, const std::string& what) {
  EXPECT_EQ(s.result.iterations, iterations) << what;
  EXPECT_EQ(s.result.info, d.result.info) << what;
  expect_same(s.A, d.A, what + ": A");
  expect_same(s.X, d.X, what + ": X");
  expect_same(s.pivots, d.pivots, what + ": ipiv");
}

/// Matrices of all kinds are solved as well as by gesv, or by gesv.
template <class T>
void expect_gallery(Queue& q, LuOptions options) {
  const std::int64_t n = 60;
  for (auto& [name, A, by, grows] : gallery<T>(n, n)) {
    if (grows || name == "subnormal pivots" || name == "all subnormal" || name == "columns of all sizes") continue;
    const auto B = rounded<T>(product(Op::NoTrans, precise(A), Op::NoTrans, precise(random<T>(n, 2, 6))));
    const Solved<T> s = solve(A, B, q, options);
    if (s.result.iterations < 0) {
      expect_as_double(s, solve_double(A, B, q), s.result.iterations, name);
    } else {
      EXPECT_EQ(s.result.info, 0) << name;
      expect_same(s.A, A, name + ": A");
      EXPECT_LE(solve_residual(Op::NoTrans, A, s.X, B), residual_bound) << name;
    }
  }
}

}  // namespace devobj::test
