// lange: values against sums in long double, NaN and infinities wherever they are, very large and small numbers.
#include "testing.hpp"

namespace devobj::test {
namespace {

class Lange : public Everywhere {};
DEVOBJ_EVERYWHERE(Lange);

const Norm norms[] = {Norm::One, Norm::Inf, Norm::Fro, Norm::Max};

struct Shape {
  std::int64_t rows, cols;
};
// One element, lines, around warps and strips, several parts of columns and of rows, many columns.
const std::vector<Shape> all_shapes = {{1, 1},    {1, 9},     {9, 1},    {2, 3},     {31, 33},
                                       {33, 31},  {64, 65},   {97, 101}, {513, 4},   {1023, 2},
                                       {1024, 3}, {1025, 70}, {5, 9000}, {2, 20011}, {20011, 2}};
/// On a GPU a large one too. The host goes by one thread in strips of 512 rows.
std::vector<Shape> shapes_for(const Queue& q) {
  std::vector<Shape> shapes = all_shapes;
  if (q.on_cuda()) shapes.push_back({3100, 300});
  return shapes;
}

std::string text(Shape s, Norm norm) {
  return std::to_string(s.rows) + " x " + std::to_string(s.cols) + ", norm " + static_cast<char>(norm);
}

template <class T>
Wide reference(Norm norm, const Dense<T>& A) {
  Wide largest = 0, squares = 0;
  std::vector<Wide> row(static_cast<std::size_t>(A.rows())), column(static_cast<std::size_t>(A.cols()));
  for (std::int64_t j = 0; j < A.cols(); ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i) {
      const Wide a = std::abs(wide(A(i, j)));
      largest = std::max(largest, a);
      squares += a * a;
      row[static_cast<std::size_t>(i)] += a;
      column[static_cast<std::size_t>(j)] += a;
    }
  switch (norm) {
    case Norm::One:
      return *std::max_element(column.begin(), column.end());
    case Norm::Inf:
      return *std::max_element(row.begin(), row.end());
    case Norm::Fro:
      return std::sqrt(squares);
    default:
      return largest;
  }
}

/// The error allowed: one rounding of the result, and those of a sum of `terms` in double; subnormal numbers are
/// rounded to a fixed distance.
template <class T>
Wide allowed(Norm norm, Shape s, Wide expected) {
  const Wide terms = norm == Norm::One ? s.rows : norm == Norm::Inf ? s.cols : norm == Norm::Max ? 1 : s.rows * s.cols;
  return expected * (eps<T> + eps<double> * (4 + std::sqrt(terms))) +
         (norm == Norm::Fro ? 1 : terms) * std::numeric_limits<real_t<T>>::denorm_min();
}

template <class T>
void expect_norm(Norm norm, const Dense<T>& a, Queue& q) {
  Padded<T> A(a, q);
  const Wide expected = reference(norm, a), actual = lange<T>(norm, A, q);
  EXPECT_LE(std::abs(actual - expected), allowed<T>(norm, {a.rows(), a.cols()}, expected))
      << "lange gives " << actual << ", expected " << expected;
  expect_same(A.read("A"), a, "A");
}

TEST_P(Lange, Values) {
  with_type([&]<class T>(T) {
    for (Shape s : shapes_for(q()))
      for (Norm norm : norms) {
        SCOPED_TRACE(text(s, norm));
        expect_norm(norm, random<T>(s.rows, s.cols, 1), q());
      }
  });
}

TEST_P(Lange, EmptyAndZero) {
  with_type([&]<class T>(T) {
    for (Norm norm : norms) {
      EXPECT_EQ(lange<T>(norm, View<T>(), q()), 0);
      EXPECT_EQ(lange<T>(norm, View<T>(nullptr, 0, 5), q()), 0);
      EXPECT_EQ(lange<T>(norm, View<T>(nullptr, 5, 0), q()), 0);
      Padded<T> zero(Dense<T>(40, 3), q());
      EXPECT_EQ(lange<T>(norm, zero, q()), 0);
    }
  });
}

// The largest column, row or element is found wherever it is.
TEST_P(Lange, OneLargeElement) {
  with_type([&]<class T>(T) {
    for (Shape s : shapes_for(q()))
      for (std::int64_t at : {std::int64_t{0}, s.rows * s.cols / 2, s.rows * s.cols - 1}) {
        Dense<T> a(s.rows, s.cols, make<T>(0));
        a[at] = make<T>(-3, 4);
        Padded<T> A(a, q());
        for (Norm norm : norms) EXPECT_EQ(lange<T>(norm, A, q()), is_complex<T> ? 5 : 3) << text(s, norm) << " " << at;
      }
  });
}

TEST_P(Lange, NaN) {
  with_type([&]<class T>(T) {
    for (Shape s : shapes_for(q()))
      for (std::int64_t at : {std::int64_t{0}, s.rows * s.cols / 2, s.rows * s.cols - 1})
        for (int variant = 0; variant < (is_complex<T> ? 4 : 2); ++variant) {
          Dense<T> a = random<T>(s.rows, s.cols, 2);
          if (variant % 2 == 1) {  // beside infinities
            a[0] = make<T>(infinity<T>);
            a[a.size() - 1] = make<T>(-infinity<T>);
          }
          a[at] = variant == 0   ? make<T>(nan<T>, 1)
                  : variant == 1 ? make<T>(nan<T>, 0)
                  : variant == 2 ? make<T>(1, nan<T>)
                                 : make<T>(infinity<T>, nan<T>);
          Padded<T> A(a, q());
          for (Norm norm : norms)
            EXPECT_TRUE(std::isnan(lange<T>(norm, A, q()))) << text(s, norm) << " at " << at << ", " << variant;
        }
  });
}

TEST_P(Lange, Infinity) {
  with_type([&]<class T>(T) {
    for (Shape s : shapes_for(q()))
      for (std::int64_t at : {std::int64_t{0}, s.rows * s.cols / 2, s.rows * s.cols - 1}) {
        Dense<T> a = random<T>(s.rows, s.cols, 3);
        a[at] = at % 2 == 0 ? make<T>(-infinity<T>, 1) : make<T>(infinity<T>, infinity<T>);
        Padded<T> A(a, q());
        for (Norm norm : norms) EXPECT_EQ(lange<T>(norm, A, q()), infinity<T>) << text(s, norm) << " at " << at;
      }
  });
}

// Squares overflow and underflow here; the norms do not.
TEST_P(Lange, LargeAndSmall) {
  with_type([&]<class T>(T) {
    using R = real_t<T>;
    const R large = std::is_same_v<R, float> ? R(1e36) : R(1e305),
            small = std::is_same_v<R, float> ? R(1e-37) : R(1e-307);
    for (Shape s : {Shape{1, 1}, {7, 5}, {40, 33}, {1100, 3}})
      for (R scale : {large, small, small / 1000}) {
        Dense<T> a = random<T>(s.rows, s.cols, 4);
        for (std::int64_t e = 0; e < a.size(); ++e) a[e] *= scale / R(s.rows);
        for (Norm norm : norms) {
          SCOPED_TRACE(text(s, norm) + ", scale " + std::to_string(std::log10(scale)));
          expect_norm(norm, a, q());
        }
        // all three sizes in one matrix
        for (std::int64_t e = 0; e < a.size(); ++e) a[e] = e % 3 == 0 ? a[e] : make<T>(e % 3 == 1 ? 1 : double(small));
        for (Norm norm : norms) {
          SCOPED_TRACE(text(s, norm) + ", mixed with 1 and the smallest, scale " + std::to_string(std::log10(scale)));
          expect_norm(norm, a, q());
        }
      }
  });
}

// A norm beyond the largest number is infinite; one at its edge is not.
TEST_P(Lange, BeyondTheLargestNumber) {
  with_type([&]<class T>(T) {
    const real_t<T> most = std::numeric_limits<real_t<T>>::max();
    Padded<T> A(Dense<T>(3, 3, make<T>(most)), q()), alone(Dense<T>(1, 1, make<T>(-most)), q());
    for (Norm norm : norms) {
      EXPECT_EQ(lange<T>(norm, A, q()), norm == Norm::Max ? most : infinity<T>) << static_cast<char>(norm);
      EXPECT_GE(lange<T>(norm, alone, q()), most * (1 - real_t<T>(4 * eps<T>))) << static_cast<char>(norm);
    }
    EXPECT_EQ(lange<T>(Norm::Max, alone, q()), most);
  });
}

TEST_P(Lange, SameBitsEveryTime) {
  with_type([&]<class T>(T) {
    Padded<T> A(random<T>(3100, 300, 5), q());
    for (Norm norm : norms) {
      const real_t<T> first = lange<T>(norm, A, q());
      for (int run = 0; run < 5; ++run) EXPECT_EQ(lange<T>(norm, A, q()), first) << static_cast<char>(norm);
    }
  });
}

TEST_P(Lange, WrongLetter) {
  with_type([&]<class T>(T) {
    Padded<T> A(random<T>(3, 3, 6), q());
    EXPECT_INVALID(lange<T>(static_cast<Norm>('X'), A, q()), "lange: norm");
  });
}

}  // namespace
}  // namespace devobj::test
