// On a GPU only: trsm_block in all types, by its backward error against a wider precision: every triangle and operation, many columns and
// few, diagonals near underflow and zero, infinities and NaN, what is not referenced; and getrs, which uses it in halves.
#include <cmath>

#include "devobj/lu.hpp"
#include "factor_checks.hpp"
#include "kernels/native.hpp"

namespace devobj::test {
namespace {

class TrsmBlock : public Everywhere {
 public:
  /// Of B's columns, solved as the first of at least so many, the others of which are B's once more.
  template <class T>
  Dense<T> solution(Uplo uplo, Op op, Diag diag, const Dense<T>& A, const Dense<T>& B, std::int64_t least = 0) {
    const std::int64_t columns = std::max(B.cols(), least);
    const Dense<T> all = Dense<T>::from(B.rows(), columns, [&](auto i, auto j) { return B(i, j % B.cols()); });
    Padded<T> a(A, q()), b(all, q());
    if constexpr (cuda_built) {
      const View<T> triangle = a;
      const Storage stream(static_cast<std::size_t>(cuda::solve_stream_bytes<T>(A.rows(), most(), true)), q());
      cuda::solve_stream_of(uplo, op, diag, triangle, most(), true, stream.data(), q());
      cuda::trsm_block<T>(uplo, op, diag, stream.data(), b, q());
    }
    expect_same(a.read("A"), A, "A");
    return block_of(b.read("B"), {0, B.rows()}, {0, B.cols()});
  }
  /// Numbers of columns from which there are other kernels.
  std::vector<std::int64_t> kernels() const {
    if (type() == Type::double_precision) return {0, 2113, 4097};
    return {0};
  }
  std::int64_t most() {
    if constexpr (cuda_built) return cuda::trsm_block_rows;
    return 0;
  }
};
INSTANTIATE_TEST_SUITE_P(On, TrsmBlock,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::real, Type::double_precision, Type::complex,
                                                          Type::double_complex)),
                         instance_name);

/// op(A) as a triangle: what is not referenced is zero or one.
template <class T>
Dense<T> triangle(Uplo uplo, Op op, Diag diag, const Dense<T>& A) {
  Dense<T> R(A.rows(), A.rows());
  for (std::int64_t j = 0; j < A.rows(); ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i)
      if (i == j)
        R(i, j) = diag == Diag::Unit ? T(1) : A(i, j);
      else if ((i > j) == (uplo == Uplo::Lower))
        R(i, j) = A(i, j);
  return op_of(op, R);
}

/// |op(A) X - B| <= c n eps |op(A)| |X|, element by element.
template <class T>
void expect_solved(const Dense<T>& R, const Dense<T>& X, const Dense<T>& B) {
  Dense<Wide> bound = multiply(absolute(widen(R)), absolute(widen(X)));
  for (std::int64_t e = 0; e < bound.size(); ++e) bound[e] *= 2 * Wide(R.rows() + 8) * eps<T>;
  expect_close(B, multiply(widen(R), widen(X)), bound, "op(A) X");
}

/// Random; in single precision with elements beside the diagonal so small that solutions are numbers of it, too.
template <class T>
Dense<T> random_triangle(std::int64_t n, std::uint32_t seed) {
  Dense<T> A = random<T>(n, n, seed);
  if (sizeof(real_t<T>) == 4)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        if (i != j) A(i, j) /= real_t<T>(16);
  return A;
}

TEST_P(TrsmBlock, EveryTriangle) {
  with_type([&]<class T>(T) {
    for (const std::int64_t n : {std::int64_t(1), std::int64_t(2), std::int64_t(31), std::int64_t(32), std::int64_t(33),
                                 std::int64_t(50), most() - 1, most()})
      for (const std::int64_t columns : {1, 7, 8, 70})
        for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
          for (const Op op : {Op::NoTrans, Op::Trans, Op::ConjTrans})
            for (const Diag diag : {Diag::Unit, Diag::NonUnit}) {
              SCOPED_TRACE(letters(uplo, op, diag) + " " + shape_name(n, columns));
              const Dense<T> A = random_triangle<T>(n, 1), B = random<T>(n, columns, 2);
              for (const std::int64_t least : kernels())
                if (least == 0 || columns == 70)
                  expect_solved(triangle(uplo, op, diag, A), solution(uplo, op, diag, A, B, least), B);
            }
  });
}

/// The other shapes of a block.
TEST_P(TrsmBlock, ManyColumns) {
  with_type([&]<class T>(T) {
    for (const std::int64_t columns : {1025, 1057, 2113, 4097}) {
      if (columns > 1057 && type() != Type::double_precision) continue;
      const std::int64_t n = most() - 5;
      const Dense<T> A = random_triangle<T>(n, 3), B = random<T>(n, columns, 4);
      expect_solved(triangle(Uplo::Upper, Op::NoTrans, Diag::NonUnit, A),
                    solution(Uplo::Upper, Op::NoTrans, Diag::NonUnit, A, B), B);
    }
  });
}

/// What is on the other side of the diagonal, and a unit diagonal, are not read.
TEST_P(TrsmBlock, OnlyTheTriangleIsRead) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 40;
    const Dense<T> B = random<T>(n, 9, 6);
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
      for (const Op op : {Op::NoTrans, Op::Trans}) {
        const Dense<T> A = random<T>(n, n, 5);
        Dense<T> bad = A;
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < n; ++i)
            if (i == j || (i > j) != (uplo == Uplo::Lower)) bad(i, j) = make<T>(nan<T>);
        for (const std::int64_t least : kernels())
          expect_same(solution(uplo, op, Diag::Unit, bad, B, least), solution(uplo, op, Diag::Unit, A, B, least),
                      letters(uplo, op));
      }
  });
}

/// Pivots so small or large that their reciprocals are none; a zero; bad numbers stay in their columns and below.
TEST_P(TrsmBlock, ExtremePivotsAndBadNumbers) {
  with_type([&]<class T>(T) {
    using R = real_t<T>;
    const std::int64_t n = 40;
    Dense<T> A = random<T>(n, n, 7), B = random<T>(n, 20, 8);
    const std::vector<int> powers =
        sizeof(R) == 4 ? std::vector<int>{-140, -126, 120} : std::vector<int>{-1060, -1022, 1000};
    for (const int power : powers) {
      const T size(std::ldexp(R(1), power));
      Dense<T> scaled_A = A, scaled_B = B;
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i) scaled_A(i, j) = i == j ? size : T(0);
      for (std::int64_t e = 0; e < B.size(); ++e) scaled_B[e] = size;
      for (const std::int64_t least : kernels()) {
        const Dense<T> X = solution(Uplo::Lower, Op::NoTrans, Diag::NonUnit, scaled_A, scaled_B, least);
        for (std::int64_t e = 0; e < X.size(); ++e) ASSERT_LE(std::abs(X[e] - T(1)), 4 * eps<T>) << power;
      }
    }
    A(20, 20) = 0;
    B(5, 3) = make<T>(nan<T>);
    B(30, 4) = make<T>(infinity<T>);
    for (const std::int64_t least : kernels()) {
      const Dense<T> X = solution(Uplo::Lower, Op::NoTrans, Diag::NonUnit, A, B, least);
      for (std::int64_t j = 0; j < B.cols(); ++j)
        for (std::int64_t i = 0; i < n; ++i)
          ASSERT_EQ(std::isfinite(std::abs(X(i, j))), i < (j == 3 ? 5 : 20)) << i << ", " << j;
    }
  });
}

/// A solution with ones, and zeros but for rounding, whose corrections are as large as they are.
TEST_P(TrsmBlock, TheIdentityAsTheSolution) {
  with_type([&]<class T>(T) {
    for (const std::int64_t n : {std::int64_t(40), most()})
      for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
        SCOPED_TRACE(letters(uplo) + ", " + std::to_string(n));
        Dense<T> A = random<T>(n, n, 11);
        for (std::int64_t i = 0; i < n; ++i) A(i, i) = 3;
        const Dense<T> R = triangle(uplo, Op::NoTrans, Diag::NonUnit, A);
        for (const std::int64_t least : kernels())
          expect_solved(R, solution(uplo, Op::NoTrans, Diag::NonUnit, A, R, least), R);
      }
  });
}

/// Ill-conditioned triangles of columns of very different sizes, as a Vandermonde matrix has them: what is small in the solution
/// meets what is large in the triangle.
TEST_P(TrsmBlock, ColumnsOfDifferentSizes) {
  with_type([&]<class T>(T) {
    for (const std::int64_t n : {std::int64_t(32), std::int64_t(100)})
      for (const double ratio : {0.25, 4.0, 100.0})
        for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
          if (sizeof(real_t<T>) == 4 && std::abs(std::log2(ratio)) * double(n) > 70) continue;  // beyond its range
          SCOPED_TRACE(letters(uplo) + ", " + std::to_string(n) + ", " + std::to_string(ratio));
          Dense<T> A = random<T>(n, n, 13);  // whose condition grows with its order
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < n; ++i) A(i, j) *= static_cast<real_t<T>>(std::pow(ratio, j));
          const Dense<T> B = random<T>(n, 20, 14);
          for (const std::int64_t least : kernels())
            expect_solved(triangle(uplo, Op::NoTrans, Diag::NonUnit, A),
                          solution(uplo, Op::NoTrans, Diag::NonUnit, A, B, least), B);
        }
  });
}

/// All sizes of halves, in place within larger matrices; the kernels for more columns behind products.
TEST_P(TrsmBlock, GetrsByHalves) {
  with_type([&]<class T>(T) {
    for (const std::int64_t n : {129, 200, 257, 385, 700})
      for (const std::int64_t columns : {5, 130, 2100, 2200, 4200})
        for (const Op op : {Op::NoTrans, Op::Trans, Op::ConjTrans}) {
          if (columns > 130 && (n < 700 || type() != Type::double_precision)) continue;
          SCOPED_TRACE(letters(op) + " " + shape_name(n, columns));
          const Dense<T> A = random<T>(n, n, 9), B = random<T>(n, columns, 10);
          Padded<T> lu(A, q()), b(B, q());
          const Matrix<std::int32_t> ipiv(n, 1, q());
          ASSERT_EQ(getrf<T>(lu, ipiv, q()), 0);
          getrs<T>(op, lu, ipiv, b, q());
          lu.read("LU");
          EXPECT_LE(solve_residual(op, A, b.read("B"), B), residual_bound);
        }
  });
}

/// Complex matrices with many right-hand sides are solved by halves without it, too; the first and the last columns are looked at.
TEST_P(TrsmBlock, ComplexGetrsByHalves) {
  if (type() != Type::double_complex) return;
  using T = std::complex<double>;
  const std::int64_t n = 1100, columns = 6100;
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
