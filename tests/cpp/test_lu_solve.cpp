// What is done with the factors of getrf: getrs, gesv, getri and lu_unpack.
#include <map>

#include "factor_checks.hpp"
#include "factor_matrices.hpp"

namespace devobj::test {
namespace {

class LuSolve : public Everywhere {};

fortran::BlasInt blas_int(std::int64_t i) {
  return {i, "test", "a size"};
}

/// A B, rounded
template <class T>
Dense<T> product_of(const Dense<T>& A, const Dense<T>& B) {
  const std::vector<int> one(1, exponents(precise(A), By::matrix)[0]);
  const std::vector<int> every(std::size_t(A.cols()), one[0]), back(std::size_t(B.cols()), -one[0]);
  return rounded<T>(descale(product(Op::NoTrans, descale(precise(A), every), Op::NoTrans, precise(B)), back));
}
/// ||I - X A|| / (||X|| ||A|| n eps)
template <class T>
double inverse_residual(const Dense<T>& A, const Dense<T>& X) {
  using D = precise_t<T>;
  const std::int64_t n = A.rows();
  if (n == 0) return 0;
  const Dense<D> unit = Dense<D>::from(n, n, [](auto i, auto j) { return D(i == j ? 1 : 0); });
  return one_norm(residual(unit, Op::NoTrans, precise(X), Op::NoTrans, precise(A))) /
         (one_norm(precise(X)) * one_norm(precise(A)) * n * eps<T>);
}

/// getrs for every op and these numbers of right-hand sides is as accurate as LAPACK's; f are A's factors.
template <class T>
void expect_getrs_solves(const Dense<T>& A, LuFactors<T> f, const std::vector<std::int64_t>& right_hand_sides,
                         Queue& q) {
  const std::int64_t n = A.rows();
  const Padded<T> LU(f.LU, q);
  const Padded<std::int32_t> pivots(f.pivots, q);
  for (std::int64_t nrhs : right_hand_sides)
    for (Op op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
      const std::string what = letters(op) + ", n = " + std::to_string(n) + ", nrhs = " + std::to_string(nrhs);
      const Dense<T> B = random<T>(n, nrhs, 3);
      Padded<T> X(B, q);
      getrs<T>(op, LU.view(), pivots.view(), X, q);
      Dense<T> by_lapack = B;
      if (n > 0 && nrhs > 0)
        fortran::getrs<T>(op, blas_int(n), blas_int(nrhs), f.LU.data(), blas_int(n), f.pivots.data(), by_lapack.data(),
                          blas_int(n));
      const double r = solve_residual(op, A, X.read("X"), B);
      EXPECT_LE(r, residual_bound) << what;
      EXPECT_LE(r, 2 * solve_residual(op, A, by_lapack, B) + residual_floor) << what;
    }
  expect_same(LU.read("LU"), f.LU, "LU");
  expect_same(pivots.read("ipiv"), f.pivots, "ipiv");
}

TEST_P(LuSolve, GetrsForEveryOpAndNumberOfRightHandSides) {
  with_type([&]<class T>(T) {
    for (std::int64_t n : {0, 1, 2, 5, 17, 64, 65, 130}) {
      const Dense<T> A = random<T>(n, n, std::uint32_t(40 + n));
      expect_getrs_solves(A, lapack_lu(A), {0, 1, 3, 70}, q());
    }
  });
}

/// Few right-hand sides of a large matrix have a kernel of their own on a GPU, four at a time: its blocks of 64 rows, whole and not.
TEST_P(LuSolve, FewRightHandSides) {
  with_type([&]<class T>(T) {
    std::map<std::int64_t, std::vector<std::int64_t>> right_hand_sides = {
        {128, {1}}, {129, {1}}, {385, {3}}, {512, {1}}, {513, {1, 2, 4, 5, 8, 9}}, {640, {1}}, {1111, {1, 3, 9}}};
    if (type() == Type::complex) right_hand_sides[1400] = {7};
    for (const auto& [n, numbers] : right_hand_sides) {
      const Dense<T> A = random<T>(n, n, std::uint32_t(n));
      expect_getrs_solves(A, lapack_lu(A), numbers, q());
    }
  });
}

/// Pivots whose inverses overflow (on a GPU: OpenBLAS multiplies by inverses), a zero among them, and a NaN that is not lost.
TEST_P(LuSolve, FewRightHandSidesWithExtremePivots) {
  with_type([&]<class T>(T) {
    using R = real_t<T>;
    const std::int64_t n = 700;
    const R smallest = std::numeric_limits<R>::denorm_min();
    Dense<T> LU(n, n), B(n, 1);
    Dense<std::int32_t> pivots(n, 1);
    for (std::int64_t i = 0; i < n; ++i) {
      B[i] = LU(i, i) = i % 5 == 0 && q().on_cuda() ? T(1000 * smallest) : T(R(1 + i % 7));
      pivots[i] = std::int32_t(i + 1);
    }
    for (Op op : {Op::NoTrans, Op::Trans}) {
      auto solved = [&](const Dense<T>& LU, const Dense<T>& B) {
        Padded<T> factors(LU, q()), X(B, q());
        Padded<std::int32_t> order(pivots, q());
        getrs<T>(op, factors, order.view(), X, q());
        return X.read("X");
      };
      const Dense<T> ones = solved(LU, B);
      for (std::int64_t i = 0; i < n; ++i) EXPECT_LE(std::abs(ones[i] - T(1)), 4 * eps<T>) << i;
      Dense<T> zero = LU, bad = B;
      zero(333, 333) = 0;
      EXPECT_FALSE(std::isfinite(std::abs(solved(zero, B)[333])));
      bad[444] = nan<T>;
      EXPECT_TRUE(std::isnan(std::abs(solved(LU, bad)[444])));
    }
  });
}

TEST_P(LuSolve, GesvSolves) {
  with_type([&]<class T>(T) {
    for (std::int64_t n : {0, 1, 2, 33, 100})
      for (const Way& way : lu_ways(q(), {0, 16})) {
        const Dense<T> A = random<T>(n, n, std::uint32_t(50 + n)), B = random<T>(n, 4, 5);
        Padded<T> a(A, q()), X(B, q());
        Padded<std::int32_t> pivots(Dense<std::int32_t>(n, 1), q());
        EXPECT_EQ(gesv<T>(a, pivots.view(), X, q(), way.lu()), 0) << way.name;
        EXPECT_LE(solve_residual(Op::NoTrans, A, X.read("X"), B), residual_bound) << way.name << ", n = " << n;
        expect_same(a.read("A"), factor_lu(A, q(), way.lu()).LU, "A holds the factors, " + way.name);
      }
  });
}

/// Solutions with the ill-conditioned and the extreme have small residuals as well.
TEST_P(LuSolve, GesvOfTheGallery) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 33;
    for (const auto& [name, A, by, grows] : gallery<T>(n, n)) {
      if (grows || name == "subnormal pivots" || name == "all subnormal" || name == "columns of all sizes") continue;
      const Dense<T> B = product_of(A, random<T>(n, 2, 6));
      Padded<T> a(A, q()), X(B, q());
      Padded<std::int32_t> pivots(Dense<std::int32_t>(n, 1), q());
      const std::int64_t info = gesv<T>(a, pivots.view(), X, q(), LuOptions{});
      if (info > 0) {
        EXPECT_EQ(a.read()(info - 1, info - 1), T(0)) << name;
        expect_same(X.read(), B, name + ": B of a singular system");
      } else {
        EXPECT_LE(solve_residual(Op::NoTrans, A, X.read("X"), B), residual_bound) << name;
      }
    }
  });
}

/// Triangular solves of some BLAS multiply by the reciprocal of a diagonal element, which is infinite for the smallest
/// numbers. A solution is right or visibly not: never finite and wrong.
TEST_P(LuSolve, SubnormalSystemsAreRightOrNotFinite) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 33;
    const real_t<T> smallest_normal = std::numeric_limits<real_t<T>>::min();
    const Dense<T> u = random<T>(n, n, 5), B0 = random<T>(n, 2, 6);
    for (double size : {0.5, 1 / 64.0})
      for (bool column_only : {false, true}) {
        auto factor = [&](double, double j) { return column_only && j != 4 ? 1.0 : smallest_normal * size; };
        const Dense<T> A = multiplied(u, factor), B = column_only ? B0 : multiplied(B0, factor);
        for (const Way& way : lu_ways(q(), {0, 5})) {
          std::ostringstream what;
          what << way.name << (column_only ? ", a column, " : ", all, ") << size;
          Padded<T> a(A, q()), X(B, q());
          Padded<std::int32_t> pivots(Dense<std::int32_t>(n, 1), q());
          EXPECT_EQ(gesv<T>(a, pivots.view(), X, q(), way.lu()), 0) << what.str();
          const LuFactors<T> f{a.read("A"), pivots.read("ipiv"), 0};
          const double of_factors = lu_residual(A, f);
          if (way.method == Method::hybrid || q().on_cuda()) {
            EXPECT_LE(of_factors, residual_bound) << what.str();
          } else if (!(of_factors <= residual_bound)) {
            continue;  // LAPACK's own factors, of some versions
          }
          const Dense<T> solution = X.read("X");
          if (!std::isfinite(largest(precise(solution)))) continue;
          EXPECT_LE(solve_residual(Op::NoTrans, A, solution, B), residual_bound) << what.str();
        }
      }
  });
}

TEST_P(LuSolve, GesvLeavesBOfASingularMatrix) {
  with_type([&]<class T>(T) {
    Dense<T> A = random<T>(30, 30, 7);
    const Dense<T> B = random<T>(30, 2, 8);
    for (std::int64_t i = 0; i < 30; ++i) A(i, 11) = T(0);
    for (const Way& way : lu_ways(q())) {
      Padded<T> a(A, q()), b(B, q());
      Padded<std::int32_t> pivots(Dense<std::int32_t>(30, 1), q());
      EXPECT_EQ(gesv<T>(a, pivots.view(), b, q(), way.lu()), 12) << way.name;
      expect_same(b.read("B"), B, "B");
      EXPECT_LE(lu_residual(A, {a.read("A"), pivots.read("ipiv"), 12}), residual_bound) << way.name;
    }
  });
}

TEST_P(LuSolve, GetriInverts) {
  with_type([&]<class T>(T) {
    for (std::int64_t n : {0, 1, 2, 3, 17, 64, 127, 128, 129, 257}) {
      const std::string what = "n = " + std::to_string(n);
      const Dense<T> A = random<T>(n, n, std::uint32_t(60 + n));
      const LuFactors<T> f = lapack_lu(A);
      Padded<T> X(f.LU, q());
      Padded<std::int32_t> pivots(f.pivots, q());
      EXPECT_EQ(getri<T>(X, pivots.view(), q()), 0) << what;
      Dense<T> by_lapack = f.LU;
      if (n > 0) fortran::getri<T>(blas_int(n), by_lapack.data(), blas_int(n), f.pivots.data());
      const Dense<T> inverse = X.read("X");
      // LAPACK's measure of an inverse: ||I - X A|| / (||X|| ||A|| n eps)
      const double r = inverse_residual(A, inverse);
      EXPECT_LE(r, residual_bound) << what;
      EXPECT_LE(r, 2 * inverse_residual(A, by_lapack) + residual_floor) << what;
      expect_same(pivots.read("ipiv"), f.pivots, "ipiv");
    }
  });
}

TEST_P(LuSolve, GetriLeavesASingularMatrix) {
  with_type([&]<class T>(T) {
    for (std::int64_t zero : {0, 5, 139}) {
      LuFactors<T> f = lapack_lu(random<T>(140, 140, 9));
      f.LU(zero, zero) = T(0);
      Padded<T> a(f.LU, q());
      Padded<std::int32_t> pivots(f.pivots, q());
      EXPECT_EQ(getri<T>(a, pivots.view(), q()), zero + 1);
      expect_same(a.read("A"), f.LU, "A");
    }
  });
}

TEST_P(LuSolve, UnpackIsExact) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : factor_shapes()) {
      const std::int64_t k = std::min(m, n);
      const std::string what = shape_name(m, n);
      const Dense<T> A = random<T>(m, n, std::uint32_t(70 + m));
      const LuFactors<T> f = factor_lu(A, q(), LuOptions{Method::hybrid, 16});
      Padded<T> LU(f.LU, q()), L(Dense<T>(m, k, T(7)), q()), U(Dense<T>(k, n, T(7)), q());
      Padded<std::int32_t> pivots(f.pivots, q()), perm(Dense<std::int32_t>(m, 1, -1), q());
      lu_unpack<T>(LU, pivots.view(), L, U, perm.view(), q());
      const Dense<T> l = L.read("L"), u = U.read("U");
      expect_same(l, triangle(Uplo::Lower, Diag::Unit, block_of(f.LU, {0, m}, {0, k})), what + ": L");
      expect_same(u, triangle(Uplo::Upper, Diag::NonUnit, block_of(f.LU, {0, k}, {0, n})), what + ": U");
      expect_same(LU.read("LU"), f.LU, "LU");
      if (m == 0) continue;

      // perm, composed from the swaps one by one, and A(perm, :) = L U
      Dense<std::int32_t> rows = Dense<std::int32_t>::from(m, 1, [](auto i, auto) { return std::int32_t(i + 1); });
      rows = swap_rows(rows, f.pivots);
      const Dense<std::int32_t> p = perm.read("perm");
      expect_same(p, rows, what + ": perm");
      if (k == 0) continue;
      const Dense<T> permuted = Dense<T>::from(m, n, [&](auto i, auto j) { return A(p[i] - 1, j); });
      EXPECT_LE(product_residual(permuted, precise(l), u), residual_bound) << what;
    }
  });
}

TEST_P(LuSolve, UnpackWithVectorsThatAreRows) {
  with_type([&]<class T>(T) {
    const LuFactors<T> f = lapack_lu(random<T>(20, 12, 3));
    Padded<T> LU(f.LU, q()), L(Dense<T>(20, 12), q()), U(Dense<T>(12, 12), q());
    const Dense<std::int32_t> row = Dense<std::int32_t>::from(1, 12, [&](auto, auto j) { return f.pivots[j]; });
    Padded<std::int32_t> pivots(row, q()), perm(Dense<std::int32_t>(1, 20), q());
    lu_unpack<T>(LU, pivots.view(), L, U, perm.view(), q());
    Dense<std::int32_t> rows = Dense<std::int32_t>::from(20, 1, [](auto i, auto) { return std::int32_t(i + 1); });
    rows = swap_rows(rows, f.pivots);
    const Dense<std::int32_t> p = perm.read("perm");
    for (std::int64_t i = 0; i < 20; ++i) EXPECT_EQ(p[i], rows[i]) << i;
  });
}

/// The pivots are a row of a larger matrix.
TEST_P(LuSolve, PivotsThatAreARow) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 20;
    const Dense<T> A = random<T>(n, n, 3), B = random<T>(n, 3, 4);
    const LuFactors<T> f = lapack_lu(A);
    const Dense<std::int32_t> row = Dense<std::int32_t>::from(1, n, [&](auto, auto j) { return f.pivots[j]; });
    const Padded<std::int32_t> pivots(row, q());
    for (Op op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
      Padded<T> LU(f.LU, q()), X(B, q());
      getrs<T>(op, LU, pivots.view(), X, q());
      EXPECT_LE(solve_residual(op, A, X.read("X"), B), residual_bound) << letters(op);
    }
    Padded<T> inverse(f.LU, q());
    EXPECT_EQ(getri<T>(inverse, pivots.view(), q()), 0);
    EXPECT_LE(inverse_residual(A, inverse.read("the inverse")), residual_bound);
    expect_same(pivots.read("ipiv"), row, "ipiv");

    Padded<T> LU(A, q()), X(B, q());
    Padded<std::int32_t> own(Dense<std::int32_t>(1, n), q());
    EXPECT_EQ(gesv<T>(LU, own.view(), X, q()), 0);
    EXPECT_LE(solve_residual(Op::NoTrans, A, X.read("X"), B), residual_bound);
    const LuFactors<T> found = {
        LU.read("LU"), Dense<std::int32_t>::from(n, 1, [&, p = own.read("ipiv")](auto i, auto) { return p[i]; })};
    EXPECT_LE(lu_residual(A, found), residual_bound);
  });
}

DEVOBJ_EVERYWHERE(LuSolve);

TEST(SolveChecker, SeesMutations) {
  const std::int64_t n = 40;
  const Dense<double> A = random<double>(n, n, 1), B = random<double>(n, 2, 2);
  Dense<double> X = B;
  const LuFactors<double> f = lapack_lu(A);
  fortran::getrs<double>(Op::NoTrans, blas_int(n), blas_int(2), f.LU.data(), blas_int(n), f.pivots.data(), X.data(),
                         blas_int(n));
  ASSERT_LE(solve_residual(Op::NoTrans, A, X, B), residual_bound);
  EXPECT_GT(solve_residual(Op::Trans, A, X, B), residual_bound) << "the transpose";
  Dense<double> wrong = X;
  wrong(17, 1) *= 1 + 1e-10;
  EXPECT_GT(solve_residual(Op::NoTrans, A, wrong, B), residual_bound) << "one element";
  wrong = X;
  std::swap(wrong(3, 0), wrong(4, 0));
  EXPECT_GT(solve_residual(Op::NoTrans, A, wrong, B), residual_bound) << "two rows swapped";
  wrong = X;
  wrong(0, 0) = nan<double>;
  EXPECT_FALSE(solve_residual(Op::NoTrans, A, wrong, B) <= residual_bound) << "NaN";
}

}  // namespace
}  // namespace devobj::test
