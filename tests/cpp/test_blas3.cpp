// BLAS level 3: values against plain products in long double, every letter, empty sums, zero factors, NaN, parts that
// must not be read or written, errors.
#include "failing_allocations.hpp"
#include "testing.hpp"

namespace devobj::test {
namespace {

class Blas3 : public Everywhere {};
DEVOBJ_EVERYWHERE(Blas3);

const Op ops[] = {Op::NoTrans, Op::Trans, Op::ConjTrans};
const Uplo triangles[] = {Uplo::Upper, Uplo::Lower};
const Side sides[] = {Side::Left, Side::Right};

/// rows x cols before op is applied
template <class T>
Dense<T> random_for(Op op, std::int64_t rows, std::int64_t cols, std::uint32_t seed) {
  return op == Op::NoTrans ? random<T>(rows, cols, seed) : random<T>(cols, rows, seed);
}
/// The factor of the bound |alpha| |A| |B| + |beta| |C| of a product with sums of k terms.
template <class T>
Wide rounding(std::int64_t k) {
  return (k + 4) * Wide(eps<T>);
}

/// |computed - (alpha A B + beta C)| within the rounding errors of the product, for wide A and B
template <class T>
void expect_product(const Dense<T>& computed, T alpha, const Dense<wide_t<T>>& A, const Dense<wide_t<T>>& B, T beta,
                    const Dense<T>& C) {
  const auto sizes =
      combine(std::abs(wide(alpha)), multiply(absolute(A), absolute(B)), std::abs(wide(beta)), absolute(widen(C)));
  expect_close(computed, combine(wide(alpha), multiply(A, B), wide(beta), widen(C)),
               times(rounding<T>(A.cols()), sizes), "the product");
}

TEST_P(Blas3, Gemm) {
  struct Shape {
    std::int64_t m, n, k;
  };
  with_type([&]<class T>(T) {
    for (Shape s : {Shape{0, 3, 4},
                    {3, 0, 4},
                    {3, 4, 0},
                    {1, 1, 1},
                    {2, 3, 5},
                    {1, 37, 64},
                    {37, 1, 5},
                    {17, 13, 31},
                    {32, 32, 32},
                    {65, 63, 97},
                    {130, 110, 120}})
      for (Op opA : ops)
        for (Op opB : ops)
          for (T alpha : {make<T>(0), make<T>(1), make<T>(-0.7, 0.3)})
            for (T beta : {make<T>(0), make<T>(1), make<T>(0.4, -1.1)}) {
              if (s.m > 40 && (alpha == T(0) || alpha == T(1) || beta == T(1))) continue;
              SCOPED_TRACE(letters(opA, opB) + " " + std::to_string(s.m) + " " + std::to_string(s.n) + " " +
                           std::to_string(s.k));
              auto a = random_for<T>(opA, s.m, s.k, 1), b = random_for<T>(opB, s.k, s.n, 2), c = random<T>(s.m, s.n, 3);
              // What has the factor 0 is not read.
              if (alpha == T(0)) poison(a), poison(b);
              if (beta == T(0)) poison(c);
              Padded<T> A(a, q()), B(b, q()), C(c, q());
              gemm<T>(opA, opB, alpha, A, B, beta, C, q());
              expect_product(C.read("C"), alpha, op_of(opA, widen(a)), op_of(opB, widen(b)), beta, c);
              expect_same(A.read("A"), a, "A");
              expect_same(B.read("B"), b, "B");
            }
  });
}

TEST_P(Blas3, GemmPropagatesNaN) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 19, n = 23, k = 29;
    for (std::int64_t at : {0, 9, 18}) {
      auto a = random<T>(m, k, 4), b = random<T>(k, n, 5);
      const auto c = random<T>(m, n, 6);
      a(at, k - 1 - at) = make<T>(nan<T>);
      b(at, n - 1 - at) = make<T>(1, nan<T>);
      if constexpr (!is_complex<T>) b(at, n - 1 - at) = nan<T>;
      for (std::int64_t p = 0; p < k; ++p) a(3, p) = T(0);  // zero times NaN is NaN
      Padded<T> A(a, q()), B(b, q());
      for (T beta : {make<T>(0), make<T>(1)}) {
        Padded<T> C(c, q());
        gemm<T>(Op::NoTrans, Op::NoTrans, make<T>(1), A, B, beta, C, q());
        const auto product = C.read("C");
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < m; ++i)
            EXPECT_EQ(is_nan(product(i, j)), i == at || j == n - 1 - at) << i << ' ' << j;
      }
      // With alpha = 0 neither A nor B is read.
      Padded<T> C(c, q());
      gemm<T>(Op::NoTrans, Op::NoTrans, make<T>(0), A, B, make<T>(1), C, q());
      expect_same(C.read("C"), c, "C");
    }
  });
}

TEST_P(Blas3, NaNInTheOutputStaysUnlessBetaIsZero) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 12;
    auto c = random<T>(n, n, 27);
    c(7, 7) = make<T>(nan<T>);
    Padded<T> A(random<T>(n, n, 28), q()), B(random<T>(n, n, 29), q());
    for (double alpha : {0.0, 1.0})
      for (double beta : {0.0, 0.5, 1.0}) {
        SCOPED_TRACE("alpha " + std::to_string(alpha) + ", beta " + std::to_string(beta));
        const T a = make<T>(alpha), b = make<T>(beta);
        const auto check = [&](auto call, const char* what) {
          Padded<T> C(c, q());
          call(C.view());
          const auto result = C.read("C");
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < n; ++i)
              EXPECT_EQ(is_nan(result(i, j)), beta != 0 && i == 7 && j == 7) << what << ' ' << i << ' ' << j;
        };
        const Op N = Op::NoTrans;
        check([&](View<T> C) { gemm<T>(N, N, a, A, B, b, C, q()); }, "gemm");
        check([&](View<T> C) { symm<T>(Side::Left, Uplo::Upper, a, A, B, b, C, q()); }, "symm");
        check([&](View<T> C) { hemm<T>(Side::Right, Uplo::Lower, a, A, B, b, C, q()); }, "hemm");
        check([&](View<T> C) { syrk<T>(Uplo::Upper, N, a, A, b, C, q()); }, "syrk");
        check([&](View<T> C) { herk<T>(Uplo::Lower, N, real_t<T>(alpha), A, real_t<T>(beta), C, q()); }, "herk");
      }
  });
}

TEST_P(Blas3, GemmOnBlocksOfOneMatrix) {
  with_type([&]<class T>(T) {
    const auto p = random<T>(30, 12, 7);
    Padded<T> P(p, q());
    const View<T> V = P;
    gemm<T>(Op::NoTrans, Op::NoTrans, make<T>(-1), V({10, 30}, {0, 5}), V({0, 5}, {5, 12}), make<T>(1),
            V({10, 30}, {5, 12}), q());
    const auto block = [&](Range r, Range c) {
      return Dense<T>::from(r.size(), c.size(), [&](auto i, auto j) { return p(r.begin + i, c.begin + j); });
    };
    const auto after = P.read("the parent");
    const auto C = Dense<T>::from(20, 7, [&](auto i, auto j) { return after(10 + i, 5 + j); });
    expect_product(C, make<T>(-1), widen(block({10, 30}, {0, 5})), widen(block({0, 5}, {5, 12})), make<T>(1),
                   block({10, 30}, {5, 12}));
    for (std::int64_t j = 0; j < 12; ++j)
      for (std::int64_t i = 0; i < 30; ++i)
        if (i < 10 || j < 5) {
          EXPECT_EQ(after(i, j), p(i, j));
        }
  });
}

/// The triangle of a, mirrored to a full symmetric or Hermitian matrix; a Hermitian diagonal is real.
template <class W>
Dense<W> mirrored(Uplo uplo, bool hermitian, const Dense<W>& a) {
  return Dense<W>::from(a.rows(), a.cols(), [&](auto i, auto j) {
    if (i == j) return hermitian ? W(std::real(a(i, i))) : a(i, i);
    if ((uplo == Uplo::Upper) == (i < j)) return a(i, j);
    return hermitian ? W(conjugate(a(j, i))) : a(j, i);
  });
}

TEST_P(Blas3, SymmAndHemm) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{0, 3}, {3, 0}, {1, 1}, {5, 2}, {33, 17}, {40, 71}})
      for (Side side : sides)
        for (Uplo uplo : triangles)
          for (bool hermitian : {false, true})
            for (T alpha : {make<T>(0), make<T>(-0.7, 0.3)})
              for (T beta : {make<T>(0), make<T>(0.4, -1.1)}) {
                SCOPED_TRACE(letters(side, uplo) + (hermitian ? " hemm " : " symm ") + std::to_string(m));
                const std::int64_t k = side == Side::Left ? m : n;
                auto a = random<T>(k, k, 8);
                for (std::int64_t j = 0; j < k; ++j) {
                  if (hermitian) a(j, j) = make<T>(std::real(a(j, j)));
                  for (std::int64_t i = 0; i < k; ++i)
                    if (i != j && (uplo == Uplo::Upper) == (i > j)) a(i, j) = make<T>(nan<T>);
                }
                auto b = random<T>(m, n, 9), c = random<T>(m, n, 10);
                if (alpha == T(0)) poison(a), poison(b);
                if (beta == T(0)) poison(c);
                Padded<T> A(a, q()), B(b, q()), C(c, q());
                if (hermitian)
                  hemm<T>(side, uplo, alpha, A, B, beta, C, q());
                else
                  symm<T>(side, uplo, alpha, A, B, beta, C, q());
                const auto full = mirrored(uplo, hermitian, widen(a));
                if (side == Side::Left)
                  expect_product(C.read("C"), alpha, full, widen(b), beta, c);
                else
                  expect_product(C.read("C"), alpha, widen(b), full, beta, c);
              }
  });
}

TEST_P(Blas3, SyrkAndHerk) {
  with_type([&]<class T>(T) {
    for (auto [n, k] : {std::pair<std::int64_t, std::int64_t>{0, 3}, {1, 1}, {4, 0}, {5, 2}, {33, 17}, {70, 41}})
      for (Uplo uplo : triangles)
        for (Op op : ops)
          for (bool hermitian : {false, true})
            for (double alpha : {0.0, -0.7})
              for (double beta : {0.0, 1.0, 1.3}) {
                if (is_complex<T> && op == (hermitian ? Op::Trans : Op::ConjTrans)) continue;
                SCOPED_TRACE(letters(uplo, op) + (hermitian ? " herk " : " syrk ") + std::to_string(n) + " " +
                             std::to_string(k));
                auto a = random_for<T>(op, n, k, 11), c = random<T>(n, n, 12);
                if (alpha == 0) poison(a);
                for (std::int64_t i = 0; hermitian && i < n; ++i) c(i, i) = make<T>(std::real(c(i, i)));
                if (beta == 0) poison(c);
                Padded<T> A(a, q()), C(c, q());
                if (hermitian)
                  herk<T>(uplo, op, real_t<T>(alpha), A, real_t<T>(beta), C, q());
                else
                  syrk<T>(uplo, op, make<T>(alpha), A, make<T>(beta), C, q());
                const auto left = op_of(op, widen(a));
                const auto right = op_of(hermitian ? Op::ConjTrans : Op::Trans, left);
                auto expected = c, computed = C.read("C");
                for (std::int64_t j = 0; j < n; ++j)
                  for (std::int64_t i = 0; i < n; ++i) {
                    if ((uplo == Uplo::Upper) == (i > j) && i != j) {
                      EXPECT_EQ(std::memcmp(&computed(i, j), &c(i, j), sizeof(T)), 0) << "the other triangle";
                      computed(i, j) = T(0);  // not compared below
                    }
                    if (hermitian && i == j) {
                      EXPECT_EQ(std::imag(computed(i, i)), 0);
                    }
                  }
                const auto inside =
                    triangle(uplo, Diag::NonUnit,
                             combine(wide(make<T>(alpha)), multiply(left, right), wide(make<T>(beta)), widen(c)));
                const auto sizes = combine(Wide(std::abs(alpha)), multiply(absolute(left), absolute(right)),
                                           Wide(std::abs(beta)), absolute(widen(c)));
                expect_close(computed, inside, times(rounding<T>(k), sizes), "C");
              }
  });
}

/// Where nothing must be read there is NaN; the rest is easy to solve with.
template <class T>
Dense<T> triangular_matrix(std::int64_t n, Uplo uplo, Diag diag, std::uint32_t seed) {
  auto a = random<T>(n, n, seed);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      if (i == j)
        a(i, j) = diag == Diag::Unit ? make<T>(nan<T>) : a(i, j) + make<T>(3);
      else if ((uplo == Uplo::Upper) == (i > j))
        a(i, j) = make<T>(nan<T>);
      else
        a(i, j) *= real_t<T>(2.0 / n);
    }
  return a;
}

template <class Full, class M>
auto product_with(Side side, const Full& full, const M& B) {
  return side == Side::Left ? multiply(full, B) : multiply(B, full);
}
/// |op(A) X - alpha B| <= (k + 4) eps (|op(A)| |X| + |alpha| |B|), op(A) = `full` of order k; from the right likewise.
template <class T, class Full>
void expect_trsm_solves(Side side, const Full& full, const Dense<T>& X, T alpha, const Dense<T>& B) {
  const auto x = widen(X), b = widen(B);
  const auto residual = combine(wide_t<T>(1), product_with(side, full, x), wide_t<T>(-wide(alpha)), b);
  const auto bound = times(rounding<T>(full.rows()), combine(Wide(1), product_with(side, absolute(full), absolute(x)),
                                                             std::abs(wide(alpha)), absolute(b)));
  for (std::int64_t e = 0; e < residual.size(); ++e)
    EXPECT_LE(std::abs(residual[e]), bound[e]) << "trsm, element " << e;
}

TEST_P(Blas3, TrmmAndTrsm) {
  with_type([&]<class T>(T) {
    for (auto [m, n] :
         {std::pair<std::int64_t, std::int64_t>{0, 3}, {3, 0}, {1, 1}, {1, 5}, {6, 1}, {33, 18}, {30, 67}})
      for (Side side : sides)
        for (Uplo uplo : triangles)
          for (Op op : ops)
            for (Diag diag : {Diag::NonUnit, Diag::Unit})
              for (T alpha : {make<T>(1), make<T>(-0.7, 0.3)}) {
                SCOPED_TRACE(letters(side, uplo, op, diag) + " " + std::to_string(m) + " x " + std::to_string(n));
                const std::int64_t k = side == Side::Left ? m : n;
                const auto a = triangular_matrix<T>(k, uplo, diag, 13), b = random<T>(m, n, 14);
                const auto full = op_of(op, triangle(uplo, diag, widen(a)));
                Padded<T> A(a, q()), B(b, q()), X(b, q());
                trmm<T>(side, uplo, op, diag, alpha, A, B, q());
                expect_close(B.read("B"),
                             combine(wide(alpha), product_with(side, full, widen(b)), wide_t<T>(0), widen(b)),
                             times(rounding<T>(k) * std::abs(wide(alpha)),
                                   product_with(side, absolute(full), absolute(widen(b)))),
                             "trmm");
                trsm<T>(side, uplo, op, diag, alpha, A, X, q());
                expect_trsm_solves<T>(side, full, X.read("X"), alpha, b);
                expect_same(A.read("A"), a, "A");
              }
  });
}

/// On a GPU few columns have a kernel of their own, and more are solved by halves.
TEST_P(Blas3, TrsmOfLargeTriangles) {
  with_type([&]<class T>(T) {
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{520, 1}, {577, 3}, {577, 30}, {300, 30}})
      for (const Uplo uplo : triangles)
        for (const Op op : ops)
          for (const Diag diag : {Diag::NonUnit, Diag::Unit}) {
            SCOPED_TRACE(letters(Side::Left, uplo, op, diag) + " " + std::to_string(m) + " x " + std::to_string(n));
            const T alpha = make<T>(-0.7, 0.3);
            const auto a = triangular_matrix<T>(m, uplo, diag, 23), b = random<T>(m, n, 24);
            Padded<T> A(a, q()), X(b, q());
            trsm<T>(Side::Left, uplo, op, diag, alpha, A, X, q());
            expect_trsm_solves<T>(Side::Left, op_of(op, triangle(uplo, diag, widen(a))), X.read("X"), alpha, b);
            expect_same(A.read("A"), a, "A");
          }
  });
}

/// On a GPU trsm has workspace: without it B is not even multiplied by alpha.
TEST_P(Blas3, TrsmOutOfMemoryLeavesB) {
  with_type([&]<class T>(T) {
    const std::int64_t m = 700;
    for (const std::int64_t n : {1, 3, 30}) {
      const auto a = triangular_matrix<T>(m, Uplo::Upper, Diag::NonUnit, 25), b = random<T>(m, n, 26);
      Queue fresh(q().on_cuda() ? Backend::cuda : Backend::host);
      Padded<T> A(a, fresh), B(b, fresh);
      const int failures = fail_each_allocation(
          [&] { trsm<T>(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, make<T>(2), A, B, fresh); },
          [&] { expect_same(B.read("B"), b, "B"); });
      EXPECT_EQ(failures > 0, q().on_cuda()) << n;
    }
  });
}

TEST_P(Blas3, TrmmAndTrsmByZeroClear) {
  with_type([&]<class T>(T) {
    auto a = random<T>(11, 11, 16), b = random<T>(11, 7, 15);
    poison(a);
    poison(b);
    Padded<T> A(a, q()), B(b, q()), X(b, q());
    trmm<T>(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, make<T>(0), A, B, q());
    trsm<T>(Side::Left, Uplo::Lower, Op::Trans, Diag::NonUnit, make<T>(0), A, X, q());
    expect_same(B.read("B"), Dense<T>(11, 7), "trmm");
    expect_same(X.read("X"), Dense<T>(11, 7), "trsm");
  });
}

TEST_P(Blas3, TrmmPropagatesNaN) {
  with_type([&]<class T>(T) {
    auto a = triangular_matrix<T>(21, Uplo::Upper, Diag::NonUnit, 30);
    a(4, 9) = make<T>(nan<T>);
    Padded<T> A(a, q()), B(random<T>(21, 5, 31), q());
    trmm<T>(Side::Left, Uplo::Upper, Op::NoTrans, Diag::NonUnit, make<T>(1), A, B, q());
    const auto b = B.read("B");
    for (std::int64_t j = 0; j < 5; ++j)
      for (std::int64_t i = 0; i < 21; ++i) EXPECT_EQ(is_nan(b(i, j)), i == 4) << i << ' ' << j;
  });
}

TEST_P(Blas3, TrsmPropagatesNaN) {
  with_type([&]<class T>(T) {
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{21, 5}, {515, 4}, {515, 30}}) {
      auto a = triangular_matrix<T>(m, Uplo::Lower, Diag::NonUnit, 17), b = random<T>(m, n, 18);
      b(4, 2) = make<T>(nan<T>);
      Padded<T> A(a, q()), B(b, q());
      trsm<T>(Side::Left, Uplo::Lower, Op::NoTrans, Diag::NonUnit, make<T>(1), A, B, q());
      const auto x = B.read("B");
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i)
          if (j != 2 || i == 4) {
            EXPECT_EQ(is_nan(x(i, j)), j == 2) << i << ' ' << j;
          }
    }
  });
}

TEST_P(Blas3, ErrorsOfShape) {
  with_type([&]<class T>(T) {
    const auto a = random<T>(5, 4, 19), b = random<T>(4, 6, 20), c = random<T>(5, 6, 21), s = random<T>(6, 6, 22);
    Padded<T> A(a, q()), B(b, q()), C(c, q()), S(s, q());
    const T one = make<T>(1);
    const Op N = Op::NoTrans, t = Op::Trans;
    EXPECT_INVALID(gemm<T>(t, N, one, A, B, one, C, q()), "gemm: op(A) has 4 rows, but C has 5");
    EXPECT_INVALID(gemm<T>(N, t, one, A, B, one, C, q()), "gemm: op(B) has 4 columns, but C has 6");
    EXPECT_INVALID(gemm<T>(N, N, one, A, S, one, C, q()), "gemm: op(A) has 4 columns, but op(B) has 6 rows");
    EXPECT_INVALID(symm<T>(Side::Left, Uplo::Upper, one, A, B, one, C, q()), "symm: A is 5 x 4, must be square");
    EXPECT_INVALID(symm<T>(Side::Left, Uplo::Upper, one, S, B, one, C, q()), "symm: B is 4 x 6, must be 5 x 6");
    EXPECT_INVALID(hemm<T>(Side::Left, Uplo::Upper, one, S, View<T>(C)({0, 4}, {0, 6}), one, B, q()),
                   "hemm: A is 6 x 6, but C has 4 rows");
    EXPECT_INVALID(syrk<T>(Uplo::Upper, N, one, A, one, C, q()), "syrk: C is 5 x 6, must be square");
    EXPECT_INVALID(syrk<T>(Uplo::Upper, N, one, A, one, S, q()), "syrk: op(A) has 5 rows, but C has 6");
    EXPECT_INVALID(herk<T>(Uplo::Upper, adjoint<T>, 1, A, 1, S, q()), "herk: op(A) has 4 rows, but C has 6");
    EXPECT_INVALID(trmm<T>(Side::Left, Uplo::Upper, N, Diag::Unit, one, A, C, q()), "trmm: A is 5 x 4, must be square");
    EXPECT_INVALID(trmm<T>(Side::Left, Uplo::Upper, N, Diag::Unit, one, S, C, q()),
                   "trmm: A is 6 x 6, but B has 5 rows");
    EXPECT_INVALID(trsm<T>(Side::Right, Uplo::Upper, N, Diag::Unit, one, S, A, q()),
                   "trsm: A is 6 x 6, but B has 4 columns");
    expect_same(C.read("C"), c, "C");
    expect_same(S.read("S"), s, "S");
    expect_same(B.read("B"), b, "B");
  });
}

TEST_P(Blas3, ErrorsOfLetters) {
  with_type([&]<class T>(T) {
    const auto s = random<T>(6, 6, 23), c = random<T>(6, 6, 24);
    Padded<T> S(s, q()), C(c, q());
    const T one = make<T>(1);
    const Op N = Op::NoTrans;
    EXPECT_INVALID(gemm<T>(static_cast<Op>('X'), N, one, S, S, one, C, q()),
                   "gemm: opA is 'X', must be one of N, T, C");
    EXPECT_INVALID(gemm<T>(N, static_cast<Op>('G'), one, S, S, one, C, q()),
                   "gemm: opB is 'G', must be one of N, T, C");
    EXPECT_INVALID(symm<T>(static_cast<Side>('M'), Uplo::Upper, one, S, S, one, C, q()),
                   "symm: side is 'M', must be one of L, R");
    EXPECT_INVALID(hemm<T>(Side::Left, Uplo::General, one, S, S, one, C, q()),
                   "hemm: uplo is 'G', must be one of U, L");
    if (is_complex<T>) {
      EXPECT_INVALID(syrk<T>(Uplo::Upper, Op::ConjTrans, one, S, one, C, q()), "syrk: op is 'C', must be one of N, T");
      EXPECT_INVALID(herk<T>(Uplo::Upper, Op::Trans, 1, S, 1, C, q()), "herk: op is 'T', must be one of N, C");
    }
    EXPECT_INVALID(syrk<T>(Uplo::General, N, one, S, one, C, q()), "syrk: uplo is 'G', must be one of U, L");
    EXPECT_INVALID(trmm<T>(Side::Left, Uplo::General, N, Diag::Unit, one, S, C, q()), "trmm: uplo is 'G'");
    EXPECT_INVALID(trsm<T>(Side::Left, Uplo::Upper, N, static_cast<Diag>('X'), one, S, C, q()),
                   "trsm: diag is 'X', must be one of N, U");
    expect_same(C.read("C"), c, "C");
  });
}

TEST_P(Blas3, ErrorsOfOverlap) {
  with_type([&]<class T>(T) {
    const auto s = random<T>(6, 6, 25), p = random<T>(8, 8, 26);
    Padded<T> S(s, q()), P(p, q());
    const View<T> V = P;
    const T one = make<T>(1);
    const Op N = Op::NoTrans;
    EXPECT_INVALID(gemm<T>(N, N, one, S, V({0, 6}, {0, 6}), one, V({2, 8}, {2, 8}), q()), "gemm: C and B overlap");
    EXPECT_INVALID(gemm<T>(N, N, one, S, V({0, 6}, {0, 6}), one, S, q()), "gemm: C and A overlap");
    EXPECT_INVALID(symm<T>(Side::Left, Uplo::Upper, one, S, V({0, 6}, {0, 6}), one, V({1, 7}, {0, 6}), q()),
                   "symm: C and B overlap");
    EXPECT_INVALID(hemm<T>(Side::Left, Uplo::Upper, one, S, V({0, 6}, {0, 6}), one, S, q()), "hemm: C and A overlap");
    EXPECT_INVALID(syrk<T>(Uplo::Upper, N, one, V({0, 4}, {0, 6}), one, V({0, 4}, {4, 8}), q()),
                   "syrk: C and A overlap");
    EXPECT_INVALID(herk<T>(Uplo::Upper, N, 1, V({0, 4}, {0, 6}), 1, V({3, 7}, {4, 8}), q()), "herk: C and A overlap");
    EXPECT_INVALID(trmm<T>(Side::Left, Uplo::Upper, N, Diag::Unit, one, S, S, q()), "trmm: B and A overlap");
    EXPECT_INVALID(trsm<T>(Side::Right, Uplo::Upper, N, Diag::Unit, one, V({0, 4}, {0, 4}), V({3, 8}, {1, 5}), q()),
                   "trsm: B and A overlap");
    expect_same(S.read("S"), s, "S");
    expect_same(P.read("P"), p, "P");
  });
}

// The host's BLAS has 32-bit sizes: what does not fit is an error, not a wrapped number. (One column: ld is not used.)
TEST_P(Blas3, ErrorsOfSizesBeyond32Bits) {
  with_type([&]<class T>(T) {
    if (q().on_cuda()) return;
    const std::int64_t huge = (std::int64_t{1} << 31) + 5;
    const auto c = random<T>(3, 1, 32);
    Padded<T> A(random<T>(3, 1, 33), q()), B(random<T>(1, 1, 34), q()), C(c, q());
    const View<T> wide_A(A.view().data, 3, 1, huge), wide_C(C.view().data, 3, 1, huge);
    EXPECT_INVALID(gemm<T>(Op::NoTrans, Op::NoTrans, make<T>(1), wide_A, B, make<T>(1), C, q()),
                   "gemm: ld of A is 2147483653, but the host's BLAS and LAPACK take at most 2147483647");
    EXPECT_INVALID(trsm<T>(Side::Right, Uplo::Upper, Op::NoTrans, Diag::Unit, make<T>(1), B, wide_C, q()),
                   "trsm: ld of B is 2147483653");
    expect_same(C.read("C"), c, "C");
  });
}

}  // namespace
}  // namespace devobj::test
