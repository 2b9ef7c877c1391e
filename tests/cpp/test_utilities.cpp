// Matrix utilities that copy and fill: lacpy, laset, transpose, transpose in place, unit_lower; bit for bit.
#include <algorithm>

#include "kernels/native.hpp"
#include "primitives.hpp"
#include "testing.hpp"

namespace devobj::test {
namespace {

class Utilities : public Everywhere {};
DEVOBJ_EVERYWHERE(Utilities);

struct Shape {
  std::int64_t rows, cols;
};
// Nothing, one element, lines, around the tiles of 16, 32 and 64, primes, tall, wide, more than one piece of a team.
const Shape shapes[] = {{0, 0},   {0, 3},   {3, 0},   {1, 1},    {1, 7},    {7, 1},    {2, 3},    {15, 17},
                        {16, 16}, {31, 33}, {32, 32}, {33, 31},  {63, 65},  {64, 64},  {65, 63},  {97, 101},
                        {64, 96}, {257, 5}, {5, 257}, {1031, 3}, {3, 1031}, {300, 70}, {700, 900}};

std::string text(Shape s) {
  return std::to_string(s.rows) + " x " + std::to_string(s.cols);
}

bool in_part(Uplo part, std::int64_t i, std::int64_t j) {
  return part == Uplo::General || (part == Uplo::Upper ? i <= j : i >= j);
}

/// Random elements with some that a sum or a product would change: NaN, infinities, -0, subnormal, the largest.
template <class T>
Dense<T> with_oddities(Shape s, std::uint32_t seed) {
  Dense<T> A = random<T>(s.rows, s.cols, seed);
  using R = real_t<T>;
  const R odd[] = {
      nan<T>, infinity<T>, -infinity<T>, R(-0.0), std::numeric_limits<R>::denorm_min(), std::numeric_limits<R>::max()};
  for (std::int64_t e = 0; e < A.size(); e += 13) A[e] = make<T>(odd[e / 13 % 6], 1);
  return A;
}

TEST_P(Utilities, Lacpy) {
  with_type([&]<class T>(T) {
    for (Shape s : shapes)
      for (Uplo part : {Uplo::General, Uplo::Upper, Uplo::Lower}) {
        SCOPED_TRACE(text(s) + " " + static_cast<char>(part));
        const Dense<T> a = with_oddities<T>(s, 1), b = random<T>(s.rows, s.cols, 2);
        const auto expected =
            Dense<T>::from(s.rows, s.cols, [&](auto i, auto j) { return in_part(part, i, j) ? a(i, j) : b(i, j); });
        Padded<T> A(a, q()), B(b, q());
        lacpy<T>(part, A, B, q());
        expect_same(B.read("B"), expected, "B");
        expect_same(A.read("A"), a, "A");
        // without gaps, as a block that starts at a 64-byte boundary
        Matrix<T> whole = upload(a, q()), copied = upload(b, q());
        lacpy<T>(part, whole, copied, q());
        expect_same(download<T>(copied, q()), expected, "B without gaps");
      }
  });
}

TEST_P(Utilities, Laset) {
  with_type([&]<class T>(T) {
    const T offdiag = make<T>(2.5, -1), diag = make<T>(-7, 0.5);
    for (Shape s : shapes)
      for (Uplo part : {Uplo::General, Uplo::Upper, Uplo::Lower}) {
        SCOPED_TRACE(text(s) + " " + static_cast<char>(part));
        const Dense<T> a = with_oddities<T>(s, 3);
        Padded<T> A(a, q());
        laset<T>(part, offdiag, diag, A, q());
        expect_same(A.read("A"),
                    Dense<T>::from(s.rows, s.cols,
                                   [&](auto i, auto j) {
                                     return !in_part(part, i, j) ? a(i, j) : i == j ? diag : offdiag;
                                   }),
                    "A");
      }
  });
}

TEST_P(Utilities, Transpose) {
  with_type([&]<class T>(T) {
    for (Shape s : shapes)
      for (Op op : {Op::Trans, Op::ConjTrans}) {
        SCOPED_TRACE(text(s) + " " + static_cast<char>(op));
        const Dense<T> a = op == Op::Trans ? with_oddities<T>(s, 4) : random<T>(s.rows, s.cols, 4);
        const auto expected = Dense<T>::from(s.cols, s.rows, [&](auto i, auto j) {
          if constexpr (is_complex<T>)
            return op == Op::ConjTrans ? std::conj(a(j, i)) : a(j, i);
          else
            return a(j, i);
        });
        Padded<T> A(a, q()), B(random<T>(s.cols, s.rows, 5), q());
        transpose<T>(op, A, B, q());
        expect_same(B.read("B"), expected, "B");
        expect_same(A.read("A"), a, "A");
      }
  });
}

TEST_P(Utilities, TransposeInPlace) {
  with_type([&]<class T>(T) {
    // one to five tiles of 32, and enough of them for several pieces of a team
    for (std::int64_t n : {0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 97, 127, 128, 160, 161, 700})
      for (Op op : {Op::Trans, Op::ConjTrans}) {
        SCOPED_TRACE(std::to_string(n) + " " + static_cast<char>(op));
        const Dense<T> a = op == Op::Trans ? with_oddities<T>({n, n}, 6) : random<T>(n, n, 6);
        Padded<T> A(a, q());
        transpose<T>(op, A, q());
        expect_same(A.read("A"),
                    Dense<T>::from(n, n,
                                   [&](auto i, auto j) {
                                     if constexpr (is_complex<T>)
                                       return op == Op::ConjTrans ? std::conj(a(j, i)) : a(j, i);
                                     else
                                       return a(j, i);
                                   }),
                    "A");
      }
  });
}

/// On a GPU: the leading rows and columns first, as beside other kernels, and the rest after them.
TEST_P(Utilities, TransposeInPlaceInTwoSteps) {
  if (!q().on_cuda()) GTEST_SKIP() << "skipped: the host transposes at once";
  if constexpr (cuda_built) {
    with_type([&]<class T>(T) {
      for (std::int64_t n : {1, 63, 64, 65, 96, 128, 161, 700})
        for (std::int64_t done : {std::int64_t{0}, std::int64_t{64}, n / 64 * 64, n}) {
          if (done > n) continue;
          SCOPED_TRACE(std::to_string(done) + " of " + std::to_string(n));
          const Dense<T> a = with_oddities<T>({n, n}, 9);
          Padded<T> A(a, q());
          cuda::transpose_in_place_passing(A.view()({0, done}, {0, done}), q());
          expect_same(A.read("A"),
                      Dense<T>::from(n, n, [&](auto i, auto j) { return std::max(i, j) < done ? a(j, i) : a(i, j); }),
                      "the first step");
          cuda::transpose_in_place_from(done, A.view(), q());
          expect_same(A.read("A"), Dense<T>::from(n, n, [&](auto i, auto j) { return a(j, i); }), "the second");
        }
      Padded<T> A(random<T>(100, 100, 9), q());
      EXPECT_INVALID(cuda::transpose_in_place_from(32, A.view(), q()), "32 rows and columns of 100 x 100");
    });
  }
}

TEST_P(Utilities, UnitLower) {
  with_type([&]<class T>(T) {
    for (Shape s : shapes) {
      if (s.rows < s.cols) continue;
      SCOPED_TRACE(text(s));
      // What is on and above the diagonal must not be looked at.
      Dense<T> a = random<T>(s.rows, s.cols, 7);
      for (std::int64_t j = 0; j < s.cols; ++j)
        for (std::int64_t i = 0; i <= j; ++i) a(i, j) = make<T>(nan<T>, nan<T>);
      Padded<T> A(a, q()), V(random<T>(s.rows, s.cols, 8), q());
      primitives::unit_lower<T>(A, V, q());
      expect_same(
          V.read("V"),
          Dense<T>::from(s.rows, s.cols, [&](auto i, auto j) { return i > j    ? a(i, j)
                                                                      : i == j ? T(1)
                                                                               : T(0); }), "V");
    }
  });
}

TEST_P(Utilities, WrongArguments) {
  with_type([&]<class T>(T) {
    const Dense<T> a = random<T>(5, 7, 9), b = random<T>(5, 7, 10);
    Padded<T> A(a, q()), B(b, q());
    const View<T> left = A.view()({0, 5}, {0, 5}), shifted = A.view()({0, 5}, {2, 7});
    EXPECT_INVALID(transpose<T>(Op::NoTrans, left, B.view()({0, 5}, {0, 5}), q()), "transpose: op");
    EXPECT_INVALID(transpose<T>(Op::Trans, A, B, q()), "transpose: B");
    EXPECT_INVALID(transpose<T>(Op::Trans, A, q()), "transpose: A");
    EXPECT_INVALID(transpose<T>(Op::Trans, left, shifted, q()), "overlap");
    EXPECT_INVALID(lacpy<T>(Uplo::General, left, B, q()), "lacpy: B");
    EXPECT_INVALID(lacpy<T>(static_cast<Uplo>('X'), A, B, q()), "lacpy: uplo");
    EXPECT_INVALID(laset<T>(static_cast<Uplo>('X'), T(0), T(0), A, q()), "laset: uplo");
    expect_same(A.read("A"), a, "A after the errors");
    expect_same(B.read("B"), b, "B after the errors");
  });
}

// More than 2^31 elements, on the GPU: the far corners arrive at the right places.
class LargeUtilities : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, LargeUtilities,
                         ::testing::Combine(::testing::Values(Place{"cuda", Backend::cuda, HostMode::synchronous}),
                                            ::testing::Values(Type::real)),
                         instance_name);

TEST_P(LargeUtilities, MoreElementsThan32BitsCount) {
  const std::int64_t n = 46400, c = 70;
  try {
    Matrix<float> A(n, n, q()), B(n, n, q());
    laset<float>(Uplo::General, 1, 2, A, q());
    EXPECT_EQ(lange<float>(Norm::One, A, q()), float(n + 1));
    EXPECT_EQ(lange<float>(Norm::Inf, A, q()), float(n + 1));
    EXPECT_NEAR(lange<float>(Norm::Fro, A, q()) / std::sqrt(double(n) * n + 3.0 * n), 1, 4 * eps<float>);
    const Dense<float> low = random<float>(c, c, 11), far = random<float>(c, c, 12);
    to_device<float>({low.data(), c, c, c}, A({n - c, n}, {n - c, n}), q());
    to_device<float>({far.data(), c, c, c}, A({0, c}, {n - c, n}), q());
    auto corner = [&](View<float> M, Range rows, Range cols) { return download<float>(M(rows, cols), q()); };
    auto check = [&](View<float> M, const std::string& what) {
      expect_same(corner(M, {n - c, n}, {n - c, n}), op_of(Op::Trans, low), what + ", the last corner");
      expect_same(corner(M, {n - c, n}, {0, c}), op_of(Op::Trans, far), what + ", the corner below");
      expect_same(corner(M, {0, c}, {n - c, n}), Dense<float>(c, c, 1), what + ", the corner to the right");
    };
    transpose<float>(Op::Trans, A, B, q());
    check(B, "transpose");
    lacpy<float>(Uplo::General, B, A, q());
    check(A, "lacpy");
    transpose<float>(Op::Trans, A, q());
    transpose<float>(Op::Trans, A, q());
    check(A, "transpose in place, twice");
  } catch (const Error& e) {
    if (e.status() != Status::out_of_memory) throw;
    GTEST_SKIP() << e.what();
  }
}

}  // namespace
}  // namespace devobj::test
