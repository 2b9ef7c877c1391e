// qr_block, the QR of a small block with explicit V and T that the QR updates are made of: on a GPU by the registers of one
// block of threads, or by products in a cluster, for blocks of both kinds and what is between them.
#include <array>

#include "factor_checks.hpp"
#include "kernels/qr_update.hpp"

namespace devobj::test {
namespace {

class QrBlock : public Everywhere {};

template <class T>
struct BlockFactors {
  Dense<T> R, V, Tri;
};
template <class T>
BlockFactors<T> factor_block(const Dense<T>& A, Queue& q) {
  const std::int64_t k = std::min(A.rows(), A.cols());
  Dense<T> old_V(A.rows(), k), old_Tri(k, k);
  poison(old_V);
  poison(old_Tri);
  Padded<T> a(A, q), v(old_V, q), tri(old_Tri, q);
  qr_block<T>(a, v, tri, q);
  return {a.read("A"), v.read("V"), tri.read("Tri")};
}

/// The zeros and ones that qr_block promises, exactly; the diagonal of R is real.
template <class T>
void expect_structure(const BlockFactors<T>& f) {
  for (std::int64_t j = 0; j < f.R.cols(); ++j)
    for (std::int64_t i = j; i < f.R.rows(); ++i) {
      const T r = f.R(i, j);
      ASSERT_TRUE(i == j ? r == make<T>(std::real(r)) : r == T(0)) << "R(" << i << ", " << j << ") = " << r;
    }
  for (std::int64_t j = 0; j < f.V.cols(); ++j)
    for (std::int64_t i = 0; i <= j; ++i) ASSERT_EQ(f.V(i, j), T(i == j ? 1 : 0)) << "V(" << i << ", " << j << ")";
  for (std::int64_t j = 0; j < f.Tri.cols(); ++j)
    for (std::int64_t i = j + 1; i < f.Tri.rows(); ++i) ASSERT_EQ(f.Tri(i, j), T(0)) << "Tri(" << i << ", " << j << ")";
}

/// Q = I - V T V^H is orthogonal, and A = Q R in the columns' own sizes.
template <class T>
void expect_factors(const Dense<T>& A, const BlockFactors<T>& f) {
  using D = precise_t<T>;
  const Dense<D> V = precise(f.V), VT = product(Op::NoTrans, V, Op::NoTrans, precise(f.Tri));
  const Dense<D> identity = Dense<D>::from(A.rows(), A.rows(), [](auto i, auto j) { return D(i == j ? 1 : 0); });
  const Dense<D> Q = residual(identity, Op::NoTrans, VT, adjoint<D>, V);
  EXPECT_LE(product_residual(A, Q, f.R, By::column) * double(std::max(A.rows(), A.cols())) / double(A.rows()),
            residual_bound);
  EXPECT_LE(orthogonality(Q) * eps<double> / eps<T>, residual_bound);
}

/// Every kernel, one row or column more and less than what another takes.
template <class T>
std::vector<std::array<std::int64_t, 2>> shapes() {
  std::vector<std::array<std::int64_t, 2>> kept;
  for (const std::array<std::int64_t, 2> shape : std::vector<std::array<std::int64_t, 2>>{
           {1, 1},    {2, 1},    {5, 3},    {3, 5},    {16, 16},  {33, 16},  {34, 17},  {35, 17},  {64, 64},
           {64, 32},  {63, 32},  {65, 33},  {66, 33},  {127, 64}, {128, 64}, {129, 64}, {128, 9},  {159, 16},
           {160, 16}, {161, 9},  {160, 8},  {192, 32}, {193, 31}, {256, 32}, {257, 16}, {320, 50}, {321, 16},
           {384, 64}, {500, 37}, {513, 64}, {576, 64}, {576, 32}, {576, 17}, {576, 16}, {575, 9},  {575, 1}})
    if (shape[1] <= qr_block_cols<T>(shape[0])) kept.push_back(shape);
  return kept;
}

TEST_P(QrBlock, Shapes) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : shapes<T>()) {
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
      const Dense<T> A = random<T>(m, n, 1);
      const BlockFactors<T> f = factor_block(A, q());
      expect_structure(f);
      expect_factors(A, f);
      // the signs of LAPACK, and the same bits again
      const BlockFactors<T> expected = factor_block(A, host_queue());
      const Dense<Wide> bound(m, n, 50 * std::sqrt(double(m)) * double(m) * eps<T>);
      expect_close(f.R, widen(expected.R), bound, "R");
      expect_same(factor_block(A, q()).V, f.V, "V again");
    }
  });
}

/// Blocks that products of the columns tell too little about, columns of any size, columns that have no reflector. All shapes
/// are for the GPU's kernels; the host has one way for all.
TEST_P(QrBlock, ColumnsOfAllKinds) {
  with_type([&]<class T>(T) {
    constexpr double huge = sizeof(real_t<T>) == 4 ? 1e35 : 1e300, tiny = sizeof(real_t<T>) == 4 ? 1e-35 : 1e-300;
    for (auto [m, n] : shapes<T>()) {
      if (!q().on_cuda() && (m > 400 || m % 8 > 2)) continue;
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
      const auto expect_right = [&](const char* what, auto change) {
        SCOPED_TRACE(what);
        Dense<T> A = random<T>(m, n, 2);
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < m; ++i) A(i, j) = change(A, i, j);
        const BlockFactors<T> f = factor_block(A, q());
        expect_structure(f);
        expect_factors(A, f);
      };
      expect_right("two equal columns", [](auto& A, auto i, auto j) { return A(i, j == 5 ? 2 : j); });
      expect_right("nearly equal columns",
                   [](auto& A, auto i, auto j) { return A(i, 0) + real_t<T>(100 * eps<T>) * A(i, j); });
      expect_right("graded columns", [=, n = n](auto& A, auto i, auto j) {
        return A(i, j) * real_t<T>(std::pow(10.0, (sizeof(real_t<T>) == 4 ? -20.0 : -200.0) * double(j) / double(n)));
      });
      expect_right("huge", [](auto& A, auto i, auto j) { return A(i, j) * real_t<T>(huge); });
      expect_right("tiny", [](auto& A, auto i, auto j) { return A(i, j) * real_t<T>(tiny); });
      expect_right("a zero column", [](auto& A, auto i, auto j) { return j == 1 ? T(0) : A(i, j); });
      expect_right("zeros", [](auto&, auto, auto) { return T(0); });
      expect_right("as added rows come", [m = m, n = n](auto& A, auto i, auto j) {
        return i - j > std::max<std::int64_t>(m - n, 0) ? T(0) : A(i, j);
      });
    }
  });
}

/// An upper triangular block with a real diagonal stays as it is and has no reflectors.
TEST_P(QrBlock, Triangular) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : shapes<T>()) {
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
      Dense<T> A = random<T>(m, n, 3);
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = j; i < m; ++i) A(i, j) = i == j ? make<T>(double(j + 1)) : T(0);
      const BlockFactors<T> f = factor_block(A, q());
      expect_structure(f);
      expect_same(f.R, A, "R");
      for (std::int64_t e = 0; e < f.Tri.size(); ++e) ASSERT_EQ(f.Tri[e], T(0)) << e;
    }
  });
}

/// A NaN or an infinity is in its column of R, and columns on its left do not have it.
TEST_P(QrBlock, NaN) {
  with_type([&]<class T>(T) {
    for (auto [m, n] : shapes<T>())
      for (const real_t<T> bad : {nan<T>, infinity<T>}) {
        SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
        const std::int64_t column = n / 2;
        Dense<T> A = random<T>(m, n, 4);
        A(m - 1, column) = make<T>(bad);
        const BlockFactors<T> f = factor_block(A, q());
        for (std::int64_t j = 0; j <= column; ++j) {
          bool finite = true;
          for (std::int64_t i = 0; i < m; ++i) finite = finite && std::isfinite(std::abs(f.R(i, j)));
          EXPECT_EQ(finite, j != column) << "column " << j;
        }
      }
  });
}

DEVOBJ_EVERYWHERE(QrBlock);

}  // namespace
}  // namespace devobj::test
