// qr_reflect_strip, a strip's reflector on some columns in one kernel of a GPU, against its definition.
#include "primitives.hpp"
#include "testing.hpp"

#ifdef DEVOBJ_HAVE_CUDA
#include "kernels/qr_panel_native.hpp"
#endif

namespace devobj::test {
namespace {

class QrReflect : public Everywhere {};

/// V unit lower trapezoidal of norm about 1, T upper triangular with NaN below the diagonal, C.
template <class T>
struct Problem {
  Dense<T> V, Tri, C;
  Problem(std::int64_t m, std::int64_t w, std::int64_t n)
      : V(random<T>(m, w, 1)), Tri(random<T>(w, w, 2)), C(random<T>(m, n, 3)) {
    for (std::int64_t j = 0; j < w; ++j)
      for (std::int64_t i = 0; i < std::max(m, w); ++i) {
        if (i < m) V(i, j) = i < j ? T(0) : i == j ? T(1) : V(i, j) / real_t<T>(std::sqrt(double(m)));
        if (i < w && i > j) Tri(i, j) = make<T>(nan<T>, nan<T>);
      }
  }
  /// C - V T^H V^H C, and the same of absolute values
  Dense<wide_t<T>> expected(Dense<Wide>& sizes) const {
    Dense<wide_t<T>> triangle = widen(Tri);
    for (std::int64_t j = 0; j < Tri.cols(); ++j)
      for (std::int64_t i = j + 1; i < Tri.rows(); ++i) triangle(i, j) = 0;
    const Dense<wide_t<T>> v = widen(V), c = widen(C);
    const Dense<wide_t<T>> change =
        multiply(v, multiply(op_of(adjoint<T>, triangle), multiply(op_of(adjoint<T>, v), c)));
    const Dense<Wide> a = absolute(v);
    sizes = multiply(a, multiply(op_of(Op::Trans, absolute(triangle)), multiply(op_of(Op::Trans, a), absolute(c))));
    Dense<wide_t<T>> result = c;
    for (std::int64_t e = 0; e < result.size(); ++e) {
      result[e] -= change[e];
      sizes[e] += std::abs(c[e]);
    }
    return result;
  }
};

/// Every shape of a cluster, one row more and one less, columns that are missing; aligned and not.
TEST_P(QrReflect, Definition) {
  if (!q().on_cuda()) return;
#ifdef DEVOBJ_HAVE_CUDA
  with_type([&]<class T>(T) {
    for (auto [m, w, n] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1},
                                                                   {5, 3, 2},
                                                                   {32, 32, 16},
                                                                   {64, 64, 33},
                                                                   {127, 8, 7},
                                                                   {128, 16, 8},
                                                                   {129, 17, 17},
                                                                   {500, 64, 64},
                                                                   {1000, 40, 15},
                                                                   {2048, 64, 9},
                                                                   {2049, 33, 16},
                                                                   {2049, 32, 5},
                                                                   {4096, 64, 20},
                                                                   {4097, 32, 3},
                                                                   {7001, 32, 5},
                                                                   {8192, 32, 17},
                                                                   {8192, 64, 2},
                                                                   {16384, 32, 2},
                                                                   {16385, 32, 2}}) {
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(w) + ", " + std::to_string(n) + " columns");
      const bool fits = cuda::qr_reflect_strip_fits<T>(m, w, q());
      // what 8 blocks hold, if there are clusters at all
      if (m * (w <= 32 ? 32 : 64) * std::int64_t(sizeof(T)) <= 64 * 2048 * 8) {
        EXPECT_EQ(fits, cuda::qr_reflect_strip_fits<T>(1, 1, q()));
      }
      if (!fits) continue;
      const Problem<T> p(m, w, n);
      Dense<Wide> bound;
      const Dense<wide_t<T>> expected = p.expected(bound);
      for (std::int64_t e = 0; e < bound.size(); ++e) bound[e] *= 4 * eps<T>;
      Padded<T> V(p.V, q()), Tri(p.Tri, q()), C(p.C, q());
      cuda::qr_reflect_strip<T>(V, Tri, C, q());
      const Dense<T> result = C.read("C");
      expect_close(result, expected, bound, "C");
      Matrix<T> V0 = upload(p.V, q()), Tri0 = upload(p.Tri, q()), C0 = upload(p.C, q());
      cuda::qr_reflect_strip<T>(V0, Tri0, C0, q());
      expect_same(download<T>(C0, q()), result, "C, aligned");
    }
  });
#endif
}

TEST_P(QrReflect, WhatDoesNotFitIsAnError) {
  if (!q().on_cuda()) return;
#ifdef DEVOBJ_HAVE_CUDA
  with_type([&]<class T>(T) {
    EXPECT_FALSE(cuda::qr_reflect_strip_fits<T>(100, 65, q()));
    EXPECT_FALSE(cuda::qr_reflect_strip_fits<T>(40000, 1, q()));
    Matrix<T> V(100, 65, q()), Tri(65, 65, q()), C(100, 3, q());
    EXPECT_THROW(cuda::qr_reflect_strip<T>(V, Tri, C, q()), Error);
  });
#endif
}

/// A NaN in a column of C is all over that column and nowhere else; one in V is everywhere.
TEST_P(QrReflect, NaN) {
  if (!q().on_cuda()) return;
#ifdef DEVOBJ_HAVE_CUDA
  with_type([&]<class T>(T) {
    const std::int64_t m = 300, w = 20, n = 20;
    for (const real_t<T> bad : {nan<T>, infinity<T>}) {
      Problem<T> p(m, w, n);
      p.C(200, 6) = make<T>(bad);
      Matrix<T> V = upload(p.V, q()), Tri = upload(p.Tri, q()), C = upload(p.C, q());
      cuda::qr_reflect_strip<T>(V, Tri, C, q());
      Dense<T> result = download<T>(C, q());
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = w; i < m; ++i) ASSERT_EQ(std::isfinite(std::abs(result(i, j))), j != 6) << i << ", " << j;
    }
    Problem<T> p(m, w, n);
    p.V(250, 3) = make<T>(nan<T>);
    Matrix<T> V = upload(p.V, q()), Tri = upload(p.Tri, q()), C = upload(p.C, q());
    cuda::qr_reflect_strip<T>(V, Tri, C, q());
    const Dense<T> result = download<T>(C, q());
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = w; i < m; ++i) ASSERT_TRUE(is_nan(result(i, j))) << i << ", " << j;
  });
#endif
}

DEVOBJ_EVERYWHERE(QrReflect);

}  // namespace
}  // namespace devobj::test
