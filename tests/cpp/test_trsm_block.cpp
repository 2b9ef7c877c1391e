// On a GPU only: trsm_block, by its backward error against a wider precision: every triangle and operation, many columns and
// few, diagonals near underflow and zero, infinities and NaN, what is not referenced; and getrs, which uses it in halves.
#include <cmath>

#include "devobj/lu.hpp"
#include "factor_checks.hpp"
#include "kernels/native.hpp"

namespace devobj::test {
namespace {

class TrsmBlock : public Everywhere {
 public:
  Dense<double> solution(Uplo uplo, Op op, Diag diag, const Dense<double>& A, const Dense<double>& B) {
    Padded<double> a(A, q()), b(B, q());
    if constexpr (cuda_built) {
      const View<double> triangle = a;
      const Storage stream(static_cast<std::size_t>(cuda::solve_stream_bytes<double>(A.rows(), most(), true)), q());
      cuda::solve_stream_of(uplo, op, diag, triangle, most(), true, stream.data(), q());
      cuda::trsm_block(uplo, op, diag, stream.data(), b, q());
    }
    expect_same(a.read("A"), A, "A");
    return b.read("B");
  }
  std::int64_t most() {
    if constexpr (cuda_built) return cuda::trsm_block_rows;
    return 0;
  }
};
INSTANTIATE_TEST_SUITE_P(On, TrsmBlock,
                         testing::Combine(testing::Values(places()[2]), testing::Values(Type::double_precision)),
                         instance_name);

/// op(A) as a triangle: what is not referenced is zero or one.
Dense<double> triangle(Uplo uplo, Op op, Diag diag, const Dense<double>& A) {
  Dense<double> R(A.rows(), A.rows());
  for (std::int64_t j = 0; j < A.rows(); ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i)
      if (i == j)
        R(i, j) = diag == Diag::Unit ? 1 : A(i, j);
      else if ((i > j) == (uplo == Uplo::Lower))
        R(i, j) = A(i, j);
  return op_of(op, R);
}

/// |op(A) X - B| <= c n eps |op(A)| |X|, element by element.
void expect_solved(const Dense<double>& R, const Dense<double>& X, const Dense<double>& B) {
  Dense<Wide> bound = multiply(absolute(widen(R)), absolute(widen(X)));
  for (std::int64_t e = 0; e < bound.size(); ++e) bound[e] *= 2 * Wide(R.rows() + 8) * eps<double>;
  expect_close(B, multiply(widen(R), widen(X)), bound, "op(A) X");
}

TEST_P(TrsmBlock, EveryTriangle) {
  for (const std::int64_t n : {std::int64_t(1), std::int64_t(2), std::int64_t(31), std::int64_t(32), std::int64_t(33),
                               std::int64_t(50), most() - 1, most()})
    for (const std::int64_t columns : {1, 7, 8, 70})
      for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
        for (const Op op : {Op::NoTrans, Op::Trans, Op::ConjTrans})
          for (const Diag diag : {Diag::Unit, Diag::NonUnit}) {
            SCOPED_TRACE(letters(uplo, op, diag) + " " + shape_name(n, columns));
            const Dense<double> A = random<double>(n, n, 1), B = random<double>(n, columns, 2);
            expect_solved(triangle(uplo, op, diag, A), solution(uplo, op, diag, A, B), B);
          }
}

/// The other shapes of a block.
TEST_P(TrsmBlock, ManyColumns) {
  for (const std::int64_t columns : {1025, 2049, 4097}) {
    const std::int64_t n = most() - 5;
    const Dense<double> A = random<double>(n, n, 3), B = random<double>(n, columns, 4);
    expect_solved(triangle(Uplo::Upper, Op::NoTrans, Diag::NonUnit, A),
                  solution(Uplo::Upper, Op::NoTrans, Diag::NonUnit, A, B), B);
  }
}

/// What is on the other side of the diagonal, and a unit diagonal, are not read.
TEST_P(TrsmBlock, OnlyTheTriangleIsRead) {
  const std::int64_t n = 40;
  const Dense<double> B = random<double>(n, 9, 6);
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
    for (const Op op : {Op::NoTrans, Op::Trans}) {
      Dense<double> A = random<double>(n, n, 5);
      const Dense<double> X = solution(uplo, op, Diag::Unit, A, B);
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i)
          if (i == j || (i > j) != (uplo == Uplo::Lower)) A(i, j) = nan<double>;
      expect_same(solution(uplo, op, Diag::Unit, A, B), X, letters(uplo, op));
    }
}

/// Pivots so small or large that their reciprocals are none; a zero; bad numbers stay in their columns and below.
TEST_P(TrsmBlock, ExtremePivotsAndBadNumbers) {
  const std::int64_t n = 40;
  Dense<double> A = random<double>(n, n, 7), B = random<double>(n, 10, 8);
  for (const double size : {0x1p-1060, 0x1p-1022, 0x1p1000}) {
    Dense<double> scaled_A = A, scaled_B = B;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) scaled_A(i, j) = i == j ? size : 0.0;
    for (std::int64_t e = 0; e < B.size(); ++e) scaled_B[e] = size;
    const Dense<double> X = solution(Uplo::Lower, Op::NoTrans, Diag::NonUnit, scaled_A, scaled_B);
    for (std::int64_t e = 0; e < X.size(); ++e) ASSERT_LE(std::abs(X[e] - 1), 4 * eps<double>) << size;
  }
  A(20, 20) = 0;
  B(5, 3) = nan<double>;
  B(30, 4) = infinity<double>;
  const Dense<double> X = solution(Uplo::Lower, Op::NoTrans, Diag::NonUnit, A, B);
  for (std::int64_t j = 0; j < B.cols(); ++j)
    for (std::int64_t i = 0; i < n; ++i)
      ASSERT_EQ(std::isfinite(std::abs(X(i, j))), i < (j == 3 ? 5 : 20)) << i << ", " << j;
}

/// A solution with ones, and zeros but for rounding, whose corrections are as large as they are.
TEST_P(TrsmBlock, TheIdentityAsTheSolution) {
  for (const std::int64_t n : {std::int64_t(40), most()})
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
      SCOPED_TRACE(letters(uplo) + ", " + std::to_string(n));
      Dense<double> A = random<double>(n, n, 11);
      for (std::int64_t i = 0; i < n; ++i) A(i, i) = 3;
      const Dense<double> R = triangle(uplo, Op::NoTrans, Diag::NonUnit, A);
      expect_solved(R, solution(uplo, Op::NoTrans, Diag::NonUnit, A, R), R);
    }
}

/// Ill-conditioned triangles of columns of very different sizes, as a Vandermonde matrix has them: what is small in the solution
/// meets what is large in the triangle.
TEST_P(TrsmBlock, ColumnsOfDifferentSizes) {
  for (const std::int64_t n : {std::int64_t(32), std::int64_t(100)})
    for (const double ratio : {0.25, 4.0, 100.0})
      for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
        SCOPED_TRACE(letters(uplo) + ", " + std::to_string(n) + ", " + std::to_string(ratio));
        Dense<double> A = random<double>(n, n, 13);  // whose condition grows with its order
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < n; ++i) A(i, j) *= std::pow(ratio, j);
        const Dense<double> B = random<double>(n, 20, 14);
        expect_solved(triangle(uplo, Op::NoTrans, Diag::NonUnit, A), solution(uplo, Op::NoTrans, Diag::NonUnit, A, B),
                      B);
      }
}

/// All sizes of halves, in place within larger matrices; the kernels for more columns behind products.
TEST_P(TrsmBlock, GetrsByHalves) {
  for (const std::int64_t n : {129, 200, 257, 385, 700})
    for (const std::int64_t columns : {5, 130, 2100, 4200})
      for (const Op op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
        if (columns > 130 && n < 700) continue;
        SCOPED_TRACE(letters(op) + " " + shape_name(n, columns));
        const Dense<double> A = random<double>(n, n, 9), B = random<double>(n, columns, 10);
        Padded<double> lu(A, q()), b(B, q());
        const Matrix<std::int32_t> ipiv(n, 1, q());
        ASSERT_EQ(getrf<double>(lu, ipiv, q()), 0);
        getrs<double>(op, lu, ipiv, b, q());
        lu.read("LU");
        EXPECT_LE(solve_residual(op, A, b.read("B"), B), residual_bound);
      }
}

/// Complex matrices with many right-hand sides are solved by halves too; the first and the last columns are looked at.
TEST_P(TrsmBlock, ComplexGetrsByHalves) {
  using T = std::complex<double>;
  const std::int64_t n = 1100, columns = 4100;
  const Dense<T> A = random<T>(n, n, 11), B = random<T>(n, columns, 12);
  const Matrix<T> lu = upload(A, q());
  const Matrix<std::int32_t> ipiv(n, 1, q());
  ASSERT_EQ(getrf<T>(lu, ipiv, q()), 0);
  for (const Op op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
    const Matrix<T> b = upload(B, q());
    getrs<T>(op, lu, ipiv, b, q());
    const Dense<T> X = download<T>(b, q());
    for (const Range some : {Range{0, 3}, Range{columns - 3, columns}})
      EXPECT_LE(solve_residual(op, A, block_of(X, {0, n}, some), block_of(B, {0, n}, some)), residual_bound)
          << letters(op);
  }
}

}  // namespace
}  // namespace devobj::test
