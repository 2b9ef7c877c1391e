// BLAS level 2: values against plain products in long double, every letter, vectors as columns and as rows, empty sums,
// NaN, errors.
#include "testing.hpp"

namespace devobj::test {
namespace {

class Blas2 : public Everywhere {};
DEVOBJ_EVERYWHERE(Blas2);

const Op ops[] = {Op::NoTrans, Op::Trans, Op::ConjTrans};

struct Shape {
  std::int64_t rows, cols;
};
const Shape shapes[] = {{1, 1}, {1, 9}, {9, 1}, {2, 3}, {33, 31}, {131, 17}, {17, 131}, {64, 64}, {257, 301}};

/// A vector of n elements as a column or as a row.
template <class T>
Dense<T> random_vector(std::int64_t n, bool row, std::uint32_t seed) {
  return row ? random<T>(1, n, seed) : random<T>(n, 1, seed);
}
/// Its elements as a column in the wide type.
template <class T>
Dense<wide_t<T>> column(const Dense<T>& x) {
  return Dense<wide_t<T>>::from(x.size(), 1, [&](auto i, auto) { return wide(x[i]); });
}
/// A device vector's elements as a column.
template <class T>
Dense<T> read_column(const Padded<T>& x) {
  const Dense<T> all = x.read("the vector");
  return Dense<T>::from(all.size(), 1, [&](auto i, auto) { return all[i]; });
}

TEST_P(Blas2, Gemv) {
  with_type([&]<class T>(T) {
    for (Shape s : shapes)
      for (Op op : ops)
        for (T alpha : {make<T>(0), make<T>(1), make<T>(-0.7, 0.3)})
          for (T beta : {make<T>(0), make<T>(1), make<T>(0.4, -1.1)}) {
            SCOPED_TRACE(std::to_string(s.rows) + " x " + std::to_string(s.cols) + ", op " + static_cast<char>(op));
            const std::int64_t m = op == Op::NoTrans ? s.rows : s.cols, n = op == Op::NoTrans ? s.cols : s.rows;
            const bool x_row = m % 2 == 0, y_row = n % 2 == 0;
            auto a = random<T>(s.rows, s.cols, 1), x = random_vector<T>(n, x_row, 2), y = random_vector<T>(m, y_row, 3);
            // What has the factor 0 is not read.
            if (alpha == T(0)) poison(a), poison(x);
            if (beta == T(0)) poison(y);
            Padded<T> A(a, q()), X(x, q()), Y(y, q());
            gemv<T>(op, alpha, A, X, beta, Y, q());
            const auto product = multiply(op_of(op, widen(a)), column(x));
            const auto sizes = multiply(absolute(op_of(op, widen(a))), absolute(column(x)));
            expect_close(read_column(Y), combine(wide(alpha), product, wide(beta), column(y)),
                         times((n + 4) * eps<T>,
                               combine(std::abs(wide(alpha)), sizes, std::abs(wide(beta)), absolute(column(y)))),
                         "y");
            expect_same(A.read("A"), a, "A");
            expect_same(X.read("x"), x, "x");
          }
  });
}

TEST_P(Blas2, GemvWithEmptySumScales) {
  with_type([&]<class T>(T) {
    auto y = random<T>(7, 1, 4);
    const T beta = make<T>(-2);
    for (Op op : ops) {
      const View<T> A = op == Op::NoTrans ? View<T>(nullptr, 7, 0) : View<T>(nullptr, 0, 7);
      Padded<T> Y(y, q());
      gemv<T>(op, make<T>(1), A, View<T>(nullptr, 0, 1), beta, Y, q());
      for (std::int64_t i = 0; i < 7; ++i) EXPECT_EQ(Y.read("y")[i], beta * y[i]);
      y[3] = make<T>(nan<T>);
      Padded<T> Z(y, q());
      gemv<T>(op, make<T>(1), A, View<T>(nullptr, 1, 0), make<T>(0), Z, q());
      expect_same(Z.read("y"), Dense<T>(7, 1), "y");
      y[3] = make<T>(0.5);
      gemv<T>(op, make<T>(1), View<T>(A.data, A.cols, A.rows), Y, make<T>(1), View<T>(nullptr, 0, 1), q());
    }
  });
}

TEST_P(Blas2, GemvPropagatesNaN) {
  with_type([&]<class T>(T) {
    for (std::int64_t at : {0, 20, 40}) {
      auto a = random<T>(41, 41, 5), x = random<T>(41, 1, 6);
      x[40 - at] = T(0);  // zero times NaN is NaN
      a(at, 40 - at) = make<T>(nan<T>);
      Padded<T> A(a, q()), X(x, q()), Y(Dense<T>(41, 1), q());
      for (Op op : ops) {
        gemv<T>(op, make<T>(1), A, X, make<T>(0), Y, q());
        const auto y = Y.read("y");
        for (std::int64_t i = 0; i < 41; ++i) EXPECT_EQ(is_nan(y[i]), i == (op == Op::NoTrans ? at : 40 - at));
      }
    }
  });
}

TEST_P(Blas2, GeruAndGerc) {
  with_type([&]<class T>(T) {
    for (Shape s : shapes)
      for (T alpha : {make<T>(0), make<T>(1), make<T>(-0.7, 0.3)})
        for (bool conjugated : {false, true}) {
          SCOPED_TRACE(std::to_string(s.rows) + " x " + std::to_string(s.cols));
          const auto a = random<T>(s.rows, s.cols, 7), y = random_vector<T>(s.cols, s.rows % 2 == 0, 9);
          auto x = random_vector<T>(s.rows, s.cols % 2 == 0, 8);
          if (alpha == T(0)) poison(x);
          Padded<T> A(a, q()), X(x, q()), Y(y, q());
          if (conjugated)
            gerc<T>(alpha, X, Y, A, q());
          else
            geru<T>(alpha, X, Y, A, q());
          const auto row = op_of(conjugated ? Op::ConjTrans : Op::Trans, column(y));
          const auto product = multiply(column(x), row), sum = combine(wide(alpha), product, wide_t<T>(1), widen(a));
          const auto sizes = combine(std::abs(wide(alpha)), absolute(product), Wide(1), absolute(widen(a)));
          expect_close(A.read("A"), sum, times(5 * eps<T>, sizes), "A");
          if (alpha == T(0)) expect_same(A.read("A"), a, "A");
        }
  });
}

struct Triangular {
  Uplo uplo;
  Op op;
  Diag diag;
};
std::vector<Triangular> triangular_cases() {
  std::vector<Triangular> cases;
  for (Uplo uplo : {Uplo::Upper, Uplo::Lower})
    for (Op op : ops)
      for (Diag diag : {Diag::NonUnit, Diag::Unit}) cases.push_back({uplo, op, diag});
  return cases;
}

/// A triangle that is easy to solve with; what must not be read is NaN.
template <class T>
Dense<T> triangular_matrix(std::int64_t n, Triangular c, std::uint32_t seed) {
  auto a = random<T>(n, n, seed);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      if (i == j)
        a(i, j) = c.diag == Diag::Unit ? make<T>(nan<T>) : a(i, j) + make<T>(3);
      else if ((c.uplo == Uplo::Upper) == (i > j))
        a(i, j) = make<T>(nan<T>);
      else
        a(i, j) *= real_t<T>(2.0 / n);
    }
  return a;
}

TEST_P(Blas2, Trmv) {
  with_type([&]<class T>(T) {
    for (std::int64_t n : {1, 2, 31, 67, 130})
      for (Triangular c : triangular_cases()) {
        SCOPED_TRACE(letters(c.uplo, c.op, c.diag));
        const auto a = triangular_matrix<T>(n, c, 10), x = random_vector<T>(n, n % 2 == 0, 11);
        Padded<T> A(a, q()), X(x, q());
        trmv<T>(c.uplo, c.op, c.diag, A, X, q());
        const auto full = op_of(c.op, triangle(c.uplo, c.diag, widen(a)));
        expect_close(read_column(X), multiply(full, column(x)),
                     times((n + 3) * eps<T>, multiply(absolute(full), absolute(column(x)))), "x");
        expect_same(A.read("A"), a, "A");
      }
  });
}

TEST_P(Blas2, Trsv) {
  with_type([&]<class T>(T) {
    for (std::int64_t n : {1, 2, 31, 67, 130, 515, 516})
      for (Triangular c : triangular_cases()) {
        SCOPED_TRACE(letters(c.uplo, c.op, c.diag));
        const auto a = triangular_matrix<T>(n, c, 12), b = random_vector<T>(n, n % 2 == 0, 13);
        Padded<T> A(a, q()), X(b, q());
        trsv<T>(c.uplo, c.op, c.diag, A, X, q());
        // |op(A) x - b| <= (n + 3) eps |op(A)| |x|
        const auto full = op_of(c.op, triangle(c.uplo, c.diag, widen(a)));
        const auto x = column(read_column(X));
        const auto residual = combine(wide_t<T>(1), multiply(full, x), wide_t<T>(-1), column(b));
        const auto bound = times((n + 3) * eps<T>, multiply(absolute(full), absolute(x)));
        for (std::int64_t i = 0; i < n; ++i) EXPECT_LE(std::abs(residual[i]), bound[i]) << "row " << i;
        expect_same(A.read("A"), a, "A");
      }
  });
}

TEST_P(Blas2, EmptyOperands) {
  with_type([&]<class T>(T) {
    const View<T> none(nullptr, 0, 0), column(nullptr, 0, 1);
    trmv<T>(Uplo::Upper, Op::NoTrans, Diag::NonUnit, none, column, q());
    trsv<T>(Uplo::Lower, Op::Trans, Diag::Unit, none, column, q());
    const auto x = random<T>(3, 1, 14);
    Padded<T> X(x, q());
    geru<T>(make<T>(1), X, column, View<T>(nullptr, 3, 0), q());
    gerc<T>(make<T>(1), column, X, View<T>(nullptr, 0, 3), q());
    expect_same(X.read("x"), x, "x");
  });
}

TEST_P(Blas2, Errors) {
  with_type([&]<class T>(T) {
    const auto a = random<T>(5, 4, 15), s = random<T>(6, 6, 16), x = random<T>(4, 1, 17), y = random<T>(5, 1, 18);
    Padded<T> A(a, q()), S(s, q()), X(x, q()), Y(y, q());
    const View<T> V = S, Av = A;
    const T one = make<T>(1);
    EXPECT_INVALID(gemv<T>(Op::NoTrans, one, A, Y, one, Y, q()), "gemv: x is 5 x 1, must be a vector of 4 elements");
    EXPECT_INVALID(gemv<T>(Op::NoTrans, one, A, X, one, X, q()), "gemv: y is 4 x 1, must be a vector of 5 elements");
    EXPECT_INVALID(gemv<T>(Op::Trans, one, A, X, one, Y, q()), "gemv: x is 4 x 1, must be a vector of 5 elements");
    EXPECT_INVALID(gemv<T>(Op::NoTrans, one, A, V({0, 2}, {0, 2}), one, Y, q()), "gemv: x is 2 x 2, must be a vector");
    EXPECT_INVALID(gemv<T>(static_cast<Op>('X'), one, A, X, one, Y, q()), "gemv: op is 'X', must be one of N, T, C");
    EXPECT_INVALID(gemv<T>(Op::NoTrans, one, V, V.col(0), one, Y, q()), "gemv: y is 5 x 1");
    EXPECT_INVALID(gemv<T>(Op::NoTrans, one, A, X, one, Av.col(2), q()), "gemv: y and A overlap");
    EXPECT_INVALID(gemv<T>(Op::NoTrans, one, V({0, 3}, {0, 3}), V({3, 6}, {5, 6}), one, V({4, 5}, {3, 6}), q()),
                   "gemv: y and x overlap");
    EXPECT_INVALID(geru<T>(one, X, Y, A, q()), "geru: x is 4 x 1, must be a vector of 5 elements");
    EXPECT_INVALID(gerc<T>(one, Y, Y, A, q()), "gerc: y is 5 x 1, must be a vector of 4 elements");
    EXPECT_INVALID(geru<T>(one, Av.col(0), X, A, q()), "geru: A and x overlap");
    EXPECT_INVALID(gerc<T>(one, Y, Av({2, 3}, {0, 4}), A, q()), "gerc: A and y overlap");
    EXPECT_INVALID(trmv<T>(Uplo::General, Op::NoTrans, Diag::Unit, V, Y, q()),
                   "trmv: uplo is 'G', must be one of U, L");
    EXPECT_INVALID(trmv<T>(Uplo::Upper, Op::NoTrans, Diag::Unit, A, Y, q()), "trmv: A is 5 x 4, must be square");
    EXPECT_INVALID(trsv<T>(Uplo::Upper, Op::NoTrans, static_cast<Diag>('V'), V, Y, q()),
                   "trsv: diag is 'V', must be one of N, U");
    EXPECT_INVALID(trsv<T>(Uplo::Upper, Op::NoTrans, Diag::Unit, V, Y, q()), "trsv: x is 5 x 1, must be a vector of 6");
    EXPECT_INVALID(trsv<T>(Uplo::Upper, Op::NoTrans, Diag::Unit, V, V.col(3), q()), "trsv: x and A overlap");
    expect_same(A.read("A"), a, "A");
    expect_same(S.read("S"), s, "S");
    expect_same(X.read("x"), x, "x");
    expect_same(Y.read("y"), y, "y");
  });
}

}  // namespace
}  // namespace devobj::test
