// larft: T of a block reflector against its definition in long double, against LAPACK's, and I - V T V^H against the
// product of the reflectors; triangle_of_products and triangle_of_vectors, which join such T, against the definition.
#include "kernels/host/lapack_fortran.hpp"
#include "precise.hpp"
#include "primitives.hpp"
#include "qr_triangle.hpp"
#include "testing.hpp"

namespace devobj::test {
namespace {

class Larft : public Everywhere {};
DEVOBJ_EVERYWHERE(Larft);

/// k reflectors of length m: V unit lower trapezoidal, and a tau for each that makes I - tau v v^H unitary. Every
/// seventh is I, with tau = 0.
template <class T>
struct Reflectors {
  Dense<T> V, tau, G;  // G = V^H V

  Reflectors(std::int64_t m, std::int64_t k) : V(random<T>(m, k, 1)), tau(k, 1), G(k, k) {
    for (std::int64_t j = 0; j < k; ++j)
      for (std::int64_t i = 0; i <= j; ++i) V(i, j) = i == j ? T(1) : T(0);
    const Dense<wide_t<T>> W = widen(V);
    for (std::int64_t j = 0; j < k; ++j) {
      wide_t<T> sum = 0;
      for (std::int64_t l = 0; l <= j; ++l) {
        const wide_t<T>*left = &W(0, l), *right = &W(0, j);
        sum = 0;
        for (std::int64_t i = j; i < m; ++i) sum += conjugate(left[i]) * right[i];  // zero above
        G(l, j) = T(sum);
        G(j, l) = T(conjugate(sum));
      }
      // |1 - tau v^H v| = 1
      const Wide squares = std::real(sum), angle = 0.3L + 0.1L * j;
      if (j % 7 == 3)
        tau[j] = T(0);
      else if constexpr (is_complex<T>)
        tau[j] = T((Wide(1) - std::polar<Wide>(1, angle)) / squares);
      else
        tau[j] = T(2 / squares);
    }
  }
};

/// T(j, j) = tau_j, T(0:j, j) = -tau_j T(0:j, 0:j) G(0:j, j)
template <class T>
Dense<wide_t<T>> reference(const Dense<T>& G, const Dense<T>& tau) {
  const std::int64_t k = tau.rows();
  Dense<wide_t<T>> Tri(k, k);
  for (std::int64_t j = 0; j < k; ++j) {
    wide_t<T>* to = &Tri(0, j);
    for (std::int64_t l = 0; l < j; ++l) {
      const wide_t<T> factor = wide(tau[j]) * wide(G(l, j)), *from = &Tri(0, l);
      for (std::int64_t i = 0; i <= l; ++i) to[i] -= from[i] * factor;
    }
    to[j] = wide(tau[j]);
  }
  return Tri;
}

template <class T>
Dense<T> upper_with_nan_below(const Dense<T>& G) {
  return Dense<T>::from(G.rows(), G.cols(), [&](auto i, auto j) { return i <= j ? G(i, j) : make<T>(nan<T>, nan<T>); });
}

template <class T>
Dense<T> run(const Dense<T>& G, const Dense<T>& tau, Queue& q) {
  const std::int64_t k = tau.rows();
  Padded<T> g(upper_with_nan_below(G), q), t(tau, q), Tri(random<T>(k, k, 2), q);
  primitives::larft<T>(g, t, Tri, q);
  return Tri.read("T");
}

template <class W>
Dense<double> moduli(const Dense<W>& A) {
  return Dense<double>::from(A.rows(), A.cols(),
                             [&](auto i, auto j) { return static_cast<double>(std::abs(A(i, j))); });
}

/// |error| <= c k eps |T| |G| |T|, the error of a triangle's inverse by substitution; the diagonal is exact. `size` for |G|:
/// |V^H| |V| where G was computed.
template <class T>
void expect_definition(const Dense<T>& actual, const Reflectors<T>& H, const Dense<double>& size, double factor = 1) {
  const std::int64_t k = H.tau.rows();
  const Dense<wide_t<T>> expected = reference(H.G, H.tau);
  Dense<double> bound = moduli(expected), strict = size;
  for (std::int64_t j = 0; j < k; ++j)
    for (std::int64_t i = j; i < k; ++i) strict(i, j) = 0;
  bound = product(Op::NoTrans, bound, Op::NoTrans, product(Op::NoTrans, strict, Op::NoTrans, bound));
  for (std::int64_t e = 0; e < bound.size(); ++e) bound[e] *= factor * (2 + std::sqrt(double(k))) * eps<T>;
  expect_close(actual, expected, widen(bound), "T");
}

TEST_P(Larft, Definition) {
  with_type([&]<class T>(T) {
    for (std::int64_t k : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 200, 256}) {
      SCOPED_TRACE("k = " + std::to_string(k));
      const Reflectors<T> H(2 * k + 5, k);
      expect_definition(run(H.G, H.tau, q()), H, moduli(H.G));
    }
  });
}

/// As wide as larft's and wider: joined from two and from three of these, of equal widths and not; tau as a column and as a row.
TEST_P(Larft, JoinedTriangles) {
  with_type([&]<class T>(T) {
    for (std::int64_t k : {256, 257, 300, 513}) {
      if (k > 512 && !std::is_same_v<T, double>) continue;  // the reference takes long
      SCOPED_TRACE("k = " + std::to_string(k));
      const Reflectors<T> H(k + 30, k);
      const Padded<T> G(H.G, q()), Tri(random<T>(k, k, 2), q());
      const bool row = k % 2 == 1;
      const Padded<T> tau(row ? Dense<T>::from(1, k, [&](auto, auto j) { return H.tau[j]; }) : H.tau, q());
      triangle_of_products<T>(G, tau, Tri, q());
      const Dense<T> actual = Tri.read("T");
      expect_definition(actual, H, moduli(H.G), 2);
      for (std::int64_t j = 0; j < k; ++j)
        for (std::int64_t i = 0; i < k; ++i)
          if (i > j || j % 7 == 3) {
            ASSERT_EQ(actual(i, j), T(0)) << i << ", " << j;
          }
    }
  });
}

/// From vectors, short ones and ones long enough that they are taken in narrower parts.
TEST_P(Larft, TrianglesOfVectors) {
  with_type([&]<class T>(T) {
    for (auto [m, k] : {std::pair<std::int64_t, std::int64_t>{60, 20}, {400, 300}, {12000, 130}, {12000, 300}}) {
      if (k == 300 && is_complex<T> && m > 400) continue;  // the reference takes long
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(k));
      const Reflectors<T> H(k + 30, k);
      const Dense<T> V0 = Dense<T>::from(m, k, [&](auto i, auto j) { return i < H.V.rows() ? H.V(i, j) : T(0); });
      const Padded<T> V(V0, q()), tau(H.tau, q()), G(random<T>(k, k, 3), q()), Tri(random<T>(k, k, 2), q());
      triangle_of_vectors<T>(V, tau, G, Tri, q());
      const Dense<double> V_size = moduli(H.V);
      expect_definition(Tri.read("T"), H, product(Op::Trans, V_size, Op::NoTrans, V_size), 2);
      expect_same(V.read("V"), V0, "V");
    }
  });
}

TEST_P(Larft, ProductOfReflectors) {
  with_type([&]<class T>(T) {
    for (std::int64_t k : {1, 2, 9, 33}) {
      SCOPED_TRACE("k = " + std::to_string(k));
      const std::int64_t m = 2 * k + 5;
      const Reflectors<T> H(m, k);
      using W = wide_t<T>;
      const Dense<W> V = widen(H.V);
      // H(1) ... H(k), by applying them to I, the last one first
      Dense<W> product = Dense<W>::from(m, m, [](auto i, auto j) { return W(i == j); });
      for (std::int64_t p = k - 1; p >= 0; --p)
        for (std::int64_t j = 0; j < m; ++j) {
          W dot = 0;
          for (std::int64_t i = 0; i < m; ++i) dot += conjugate(V(i, p)) * product(i, j);
          for (std::int64_t i = 0; i < m; ++i) product(i, j) -= wide(H.tau[p]) * V(i, p) * dot;
        }
      const Dense<W> block = multiply(multiply(V, widen(run(H.G, H.tau, q()))), op_of(Op::ConjTrans, V));
      Wide largest = 0;
      for (std::int64_t j = 0; j < m; ++j)
        for (std::int64_t i = 0; i < m; ++i)
          largest = std::max(largest, std::abs(W(i == j) - block(i, j) - product(i, j)));
      EXPECT_LE(largest, 30 * eps<T>);
    }
  });
}

TEST_P(Larft, AsLapack) {
  with_type([&]<class T>(T) {
    for (std::int64_t k : {1, 5, 32, 64, 100}) {
      SCOPED_TRACE("k = " + std::to_string(k));
      const std::int64_t m = 3 * k;
      const Reflectors<T> H(m, k);
      Dense<T> expected(k, k);
      const fortran::BlasInt rows(m, "larft", "m"), cols(k, "larft", "k");
      fortran::larft<T>(rows, cols, H.V.data(), rows, H.tau.data(), expected.data(), cols);
      const Dense<T> actual = run(H.G, H.tau, q());
      for (std::int64_t j = 0; j < k; ++j)
        for (std::int64_t i = 0; i < k; ++i)
          EXPECT_LE(std::abs(actual(i, j) - (i <= j ? expected(i, j) : T(0))), 30 * eps<T>) << i << ", " << j;
    }
  });
}

TEST_P(Larft, NaN) {
  with_type([&]<class T>(T) {
    Reflectors<T> H(60, 20);  // tau is 0 for 3, 10 and 17
    H.G(2, 5) = make<T>(nan<T>, 0);
    const Dense<T> Tri = run(H.G, H.tau, q());
    for (std::int64_t j = 0; j < 20; ++j)
      for (std::int64_t i = 0; i < 20; ++i) {
        const bool used = i <= 2 && j >= 5 && j % 7 != 3;
        EXPECT_EQ(is_nan(Tri(i, j)), used) << i << ", " << j;
        if (j % 7 == 3 || i > j) {
          EXPECT_EQ(Tri(i, j), T(0)) << i << ", " << j;
        }
      }
    H = Reflectors<T>(60, 20);
    H.tau[4] = make<T>(nan<T>, 0);
    EXPECT_TRUE(is_nan(run(H.G, H.tau, q())(0, 4)));
    EXPECT_TRUE(is_nan(run(H.G, H.tau, q())(4, 4)));
  });
}

TEST_P(Larft, TauInARow) {
  with_type([&]<class T>(T) {
    const Reflectors<T> H(40, 12);
    Padded<T> G(H.G, q()), Tri(Dense<T>(12, 12), q());
    Padded<T> tau(Dense<T>::from(1, 12, [&](auto, auto j) { return H.tau[j]; }), q());
    primitives::larft<T>(G, tau, Tri, q());
    expect_same(Tri.read("T"), run(H.G, H.tau, q()), "T");
  });
}

}  // namespace
}  // namespace devobj::test
