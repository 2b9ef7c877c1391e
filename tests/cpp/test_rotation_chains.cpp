// On a GPU only: chains of rotations, made of a band and of a few columns, and what they do to matrices.
#include "factor_checks.hpp"
#include "kernels/rotation_chains.hpp"

namespace devobj::test {
namespace {

class RotationChainsTest : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(On, RotationChainsTest,
                         testing::Combine(testing::Values(places()[2]),
                                          testing::Values(Type::real, Type::double_precision, Type::complex,
                                                          Type::double_complex)),
                         instance_name);

#ifdef DEVOBJ_HAVE_CUDA

template <class T>
Dense<T> identity(std::int64_t n) {
  return Dense<T>::from(n, n, [](auto i, auto j) { return T(i == j ? 1 : 0); });
}
/// Zero below the p-th subdiagonal.
template <class T>
Dense<T> band(std::int64_t rows, std::int64_t cols, std::int64_t p, std::uint32_t seed) {
  const Dense<T> A = random<T>(rows, cols, seed);
  return Dense<T>::from(rows, cols, [&](auto i, auto j) { return i <= j + p ? A(i, j) : T(0); });
}
template <class T>
bool zero_below(const Dense<T>& A, std::int64_t p) {
  for (std::int64_t j = 0; j < A.cols(); ++j)
    for (std::int64_t i = j + p + 1; i < A.rows(); ++i)
      if (!(A(i, j) == T(0))) return false;
  return true;
}

/// G and the memory that it is in.
template <class T>
struct Made {
  Made(std::int64_t steps, std::int64_t p, Queue& q)
      : memory(rotation_chains_size(std::max<std::int64_t>(steps, 0), rotation_chains_for(p)), 1, q) {
    chains.rotations = memory.data;
  }
  Matrix<T> memory;
  RotationChains<T> chains;
};

/// Those with a kernel of their own, and one between.
template <class T>
std::vector<std::int64_t> counts() {
  std::vector<std::int64_t> p = {1, 2, 3, 4, 8, 11, 16};
  if (rotation_chains_max<T> == 32) p.insert(p.end(), {25, 32});
  return p;
}

/// A0 = G A1 with a unitary G, which is given as I G; and G^H A0 by apply_chains is A1.
template <class T>
void expect_factors(const Dense<T>& A0, const Dense<T>& A1, const RotationChains<T>& G, const std::string& what,
                    Queue& q) {
  const std::int64_t n = A0.rows();
  Padded<T> g(identity<T>(n), q), a(A0, q);
  cuda::apply_chains<T>(Side::Right, G, g.view(), false, q);
  cuda::apply_chains<T>(Side::Left, G, a.view(), false, q);
  const auto unitary = precise(g.read("G")), before = precise(A0), after = precise(A1);
  const double unit = eps<T> * double(std::max<std::int64_t>(n, 1));
  auto in_units = [&](double error, double size) { return size == 0 ? error : error / (size * unit); };
  EXPECT_LE(in_units(one_norm(residual(before, Op::NoTrans, unitary, Op::NoTrans, after)), one_norm(before)),
            residual_bound)
      << what;
  EXPECT_LE(in_units(one_norm(residual(precise(identity<T>(n)), adjoint<T>, unitary, Op::NoTrans, unitary)), 1),
            residual_bound)
      << what;
  const auto again = precise(a.read("G^H A"));
  EXPECT_LE(
      in_units(one_norm(residual(again, Op::NoTrans, precise(identity<T>(n)), Op::NoTrans, after)), one_norm(before)),
      residual_bound)
      << what;
}

template <class T>
Dense<T> chased_down(const Dense<T>& H0, std::int64_t p, Made<T>& G, Queue& q) {
  Padded<T> h(H0, q);
  cuda::make_chains_down<T>(h.view(), p, G.chains, q);
  return h.read("H");
}

struct Shape {
  std::int64_t rows, cols;
};

TEST_P(RotationChainsTest, DownOnEveryShape) {
  with_type([&]<class T>(T) {
    for (const std::int64_t p : counts<T>())
      for (const auto [rows, cols] :
           {Shape{2, 1}, Shape{5, 5}, Shape{33, 32}, Shape{34, 66}, Shape{97, 64}, Shape{70, 131}, Shape{130, 97}}) {
        const std::string what = std::to_string(rows) + " x " + std::to_string(cols) + ", p = " + std::to_string(p);
        const Dense<T> H0 = band<T>(rows, cols, p, std::uint32_t(rows + p));
        Made<T> G(std::min(cols, rows - 1), p, q());
        const Dense<T> H = chased_down(H0, p, G, q());
        EXPECT_TRUE(zero_below(H, 0)) << what;
        expect_factors(H0, H, G.chains, what, q());
      }
  });
}

/// W's rows from `steps` on are upper trapezoidal; R gets p subdiagonals.
TEST_P(RotationChainsTest, UpOnEveryShape) {
  with_type([&]<class T>(T) {
    for (const std::int64_t p : counts<T>())
      for (const auto [rows, steps] :
           {Shape{1, 1}, Shape{5, 5}, Shape{6, 2}, Shape{33, 33}, Shape{66, 34}, Shape{97, 96}, Shape{131, 100}}) {
        const std::string what =
            std::to_string(rows) + " rows, " + std::to_string(steps) + " steps, p = " + std::to_string(p);
        const Dense<T> full = random<T>(rows, p, std::uint32_t(rows + p));
        const Dense<T> W0 =
            Dense<T>::from(rows, p, [&](auto i, auto j) { return i < steps || i - steps <= j ? full(i, j) : T(0); });
        Made<T> G(steps, p, q());
        Padded<T> w(W0, q());
        cuda::make_chains_up<T>(w.view(), steps, G.chains, q());
        const Dense<T> W = w.read("W");
        EXPECT_TRUE(zero_below(W, 0)) << what;
        expect_factors(W0, W, G.chains, what, q());

        for (const std::int64_t cols : {rows, rows / 2, rows + 40}) {
          const Dense<T> R0 = band<T>(rows, cols, 0, 9);
          Padded<T> r(R0, q()), again(R0, q());
          cuda::apply_chains<T>(Side::Left, G.chains, r.view(), true, q());
          cuda::apply_chains<T>(Side::Left, G.chains, again.view(), false, q());
          const Dense<T> R = r.read("R");
          EXPECT_TRUE(zero_below(R, p)) << what;
          expect_same(R, again.read("R"), what);
        }
      }
  });
}

/// Longer than there are blocks at a time, and what many strips tell each other.
TEST_P(RotationChainsTest, ManyStrips) {
  with_type([&]<class T>(T) {
    for (const std::int64_t p : {std::int64_t(1), std::int64_t(rotation_chains_max<T>)}) {
      const std::int64_t n = 1500;
      const Dense<T> H0 = band<T>(n + 1, n, p, 3);
      Made<T> G(n, p, q());
      const Dense<T> H = chased_down(H0, p, G, q());
      EXPECT_TRUE(zero_below(H, 0));
      Padded<T> h(H0, q());
      cuda::apply_chains<T>(Side::Left, G.chains, h.view(), false, q());
      const auto difference =
          residual(precise(h.read("G^H H")), Op::NoTrans, precise(identity<T>(n + 1)), Op::NoTrans, precise(H));
      EXPECT_LE(one_norm(difference), residual_bound * double(n) * eps<T> * one_norm(precise(H0)));
      Made<T> again(n, p, q());
      expect_same(chased_down(H0, p, again, q()), H, "H made twice");
    }
  });
}

/// Squares that overflow or vanish, zeros, and numbers of very different sizes.
TEST_P(RotationChainsTest, LargeAndSmallNumbers) {
  with_type([&]<class T>(T) {
    using R = real_t<T>;
    const R large = std::sqrt(std::numeric_limits<R>::max()) * 1024, small = 1 / large;
    for (const std::int64_t p : {std::int64_t(1), std::int64_t(5)})
      for (const R size : {large, small, R(0)}) {
        const std::int64_t n = 70;
        Dense<T> H0 = band<T>(n, n, p, 17);
        for (std::int64_t e = 0; e < H0.size(); ++e) H0[e] *= size;
        Made<T> G(n - 1, p, q());
        const Dense<T> H = chased_down(H0, p, G, q());
        EXPECT_TRUE(zero_below(H, 0));
        expect_factors(H0, H, G.chains, "size " + std::to_string(size), q());

        Dense<T> W0 = random<T>(n, p, 5);
        for (std::int64_t j = 0; j < p; ++j)
          for (std::int64_t i = 0; i < n; ++i) W0(i, j) *= i % 3 == 0 ? size : i % 3 == 1 ? R(1) : small * small;
        Made<T> up(n, p, q());
        Padded<T> w(W0, q());
        cuda::make_chains_up<T>(w.view(), n, up.chains, q());
        expect_factors(W0, w.read("W"), up.chains, "of different sizes", q());
      }
  });
}

/// Sizes across the whole range, and columns alike, of which each chain but the first gathers what the one before left: rounding
/// errors of rounding errors.
TEST_P(RotationChainsTest, NumbersOfEverySize) {
  with_type([&]<class T>(T) {
    const std::int64_t n = 150, p = 14;
    const int range = 2 - std::numeric_limits<real_t<T>>::min_exponent;
    for (int seed = 0; seed < 20; ++seed) {
      std::mt19937 generator(static_cast<unsigned>(seed));
      Dense<T> W0 = random<T>(n, p, std::uint32_t(seed)), H0 = band<T>(n + 3, n, 14, std::uint32_t(seed));
      for (std::int64_t j = 0; j < p; ++j)
        for (std::int64_t i = 0; i < n; ++i)
          W0(i, j) =
              seed % 2 == 0 ? W0(i, 0) : W0(i, j) * std::ldexp(real_t<T>(1), -int(generator() % unsigned(range)));
      for (std::int64_t e = 0; e < H0.size(); ++e)
        H0[e] *= std::ldexp(real_t<T>(1), -int(generator() % unsigned(seed < 10 ? range : 20)));
      Made<T> up(n, p, q()), down(n, p, q());
      Padded<T> w(W0, q());
      cuda::make_chains_up<T>(w.view(), n, up.chains, q());
      expect_factors(W0, w.read("W"), up.chains, "upwards, " + std::to_string(seed), q());
      const Dense<T> H = chased_down(H0, p, down, q());
      expect_factors(H0, H, down.chains, "downwards, " + std::to_string(seed), q());
    }
  });
}

TEST_P(RotationChainsTest, NaNAndInfinityStay) {
  with_type([&]<class T>(T) {
    for (const T bad : {T(nan<T>), T(infinity<T>)}) {
      Dense<T> H0 = band<T>(50, 50, 3, 1);
      H0(40, 38) = bad;
      Made<T> G(49, 3, q());
      const Dense<T> H = chased_down(H0, 3, G, q());
      for (std::int64_t j = 39; j < 50; ++j) EXPECT_TRUE(is_nan(H(38, j))) << j;
      for (std::int64_t j = 0; j < 30; ++j)
        for (std::int64_t i = 0; i <= j; ++i) ASSERT_FALSE(is_nan(H(i, j)));
      Dense<T> W0 = random<T>(80, 2, 1);
      W0(60, 1) = bad;
      Made<T> up(80, 2, q());
      Padded<T> w(W0, q());
      cuda::make_chains_up<T>(w.view(), 80, up.chains, q());
      EXPECT_TRUE(is_nan(w.read("W")(1, 1)));
    }
  });
}

#endif

}  // namespace
}  // namespace devobj::test
