// On a GPU only: block reflectors of complex<double> whose updates are by remainders of integers (gemm_residues), beside the same in
// strict math.
#include <vector>

#include "devObjCpp/memory.hpp"
#include "devObjCpp/products_by_parts.hpp"
#include "factor_checks.hpp"

namespace devobj::test {
namespace {

using Z = std::complex<double>;

class QrByResidues : public Everywhere {
 public:
  bool usable() { return cuda_built && residues_usable(Math::automatic, q()); }
};
INSTANTIATE_TEST_SUITE_P(On, QrByResidues,
                         testing::Combine(testing::Values(places()[2]), testing::Values(Type::double_complex)),
                         instance_name);

constexpr std::int64_t block = 512;
static_assert(block >= residues_least_width);

/// What `result` gives on a queue without the memory for gemm_residues: allocations fail one after the other, until there is another
/// result than `usual`, since the products are made in another way; empty if there is none. An error leaves `unchanged()`.
template <class Result, class Unchanged>
Dense<Z> without_residues(const Dense<Z>& usual, Result result, Unchanged unchanged) {
  for (int nth = 1; nth <= 20; ++nth) {
    Queue fresh(Backend::cuda);
    try {
      const Dense<Z> X = result(fresh, nth);
      if (!same_bits(X, usual)) return X;
    } catch (const Error& error) {
      memory::fail_allocation(0);
      EXPECT_EQ(error.status(), Status::out_of_memory) << error.what();
      unchanged();
    }
  }
  return {};
}
/// work(), of which the nth allocation fails.
template <class Work>
void failing(int nth, Work work) {
  memory::fail_allocation(nth);
  work();
  memory::fail_allocation(0);
}

/// The largest element of (A - Q R) x, for an x of columns' signs and sizes, in units of n eps; Q R x by ormqr, in strict math.
double residual(const Dense<Z>& A, const QrFactors<Z>& f, Queue& q) {
  const std::int64_t m = A.rows(), n = A.cols();
  std::vector<std::complex<long double>> product(m), Rx(m);
  std::vector<double> norm(n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) norm[j] = std::hypot(norm[j], std::abs(A(i, j)));
  for (std::int64_t j = 0; j < n; ++j) {
    const long double x = (j * j % 3 == 0 ? 1 : -1) / static_cast<long double>(norm[j] > 0 ? norm[j] : 1);
    for (std::int64_t i = 0; i < m; ++i) product[i] += wide(A(i, j)) * x;
    for (std::int64_t i = 0; i <= j; ++i) Rx[i] += wide(f.QR(i, j)) * x;
  }
  Padded<Z> V(f.QR, q), tau(f.tau, q), C(Dense<Z>::from(m, 1, [&](auto i, auto) { return Z(Rx[i]); }), q);
  ormqr<Z>(Side::Left, Op::NoTrans, V, tau, C, q, {.math = Math::strict});
  const Dense<Z> QRx = C.read("C");
  double worst = 0;
  for (std::int64_t i = 0; i < m; ++i)
    worst = larger(worst, static_cast<double>(std::abs(product[i] - wide(QRx(i, 0)))) / (double(n) * eps<double>));
  return worst;
}

/// geqrf's updates: as good as plain products, for matrices whose elements differ too; the same bits again; and without where there is
/// no memory for them.
TEST_P(QrByResidues, FactorsAsGoodAsByPlainProducts) {
  if (!usable()) GTEST_SKIP() << "skipped: this GPU has no such product";
  // the first update leaves out the next block
  const std::int64_t n = residues_least_reflected + 2 * block + 77, m = n + 40;
  const Dense<Z> uniform = random<Z>(m, n, 41);
  const auto element = [&](int kind, std::int64_t i, std::int64_t j) {
    const Z x = uniform(i, j);
    switch (kind) {
      case 0:
        return x * std::ldexp(1.0, static_cast<int>(i % 5 * 20 - j % 90));  // of all sizes
      case 1:
        return i == j || (i * 31 + j * 17) % 10 == 0 ? x : Z(0);  // mostly zeros
      case 2:
        return i - j > 300 || j - i > 300 ? Z(0) : x;  // a band
      default:
        return 1.0 + x * 0x1p-40;  // nearly of rank one
    }
  };
  for (int kind = 0; kind < 4; ++kind) {
    SCOPED_TRACE("kind " + std::to_string(kind));
    const Dense<Z> A = Dense<Z>::from(m, n, [&](auto i, auto j) { return element(kind, i, j); });
    QrOptions options{Method::native, block};
    const QrFactors<Z> f = factor_qr(A, q(), options), again = factor_qr(A, q(), options);
    EXPECT_TRUE(same_bits(f.QR, again.QR));
    options.math = Math::strict;
    const double ours = residual(A, f, q()), strict = residual(A, factor_qr(A, q(), options), q());
    EXPECT_LE(ours, 2 * strict + 0.01) << "strict " << strict;
    RecordProperty("residuals_" + std::to_string(kind), std::to_string(ours) + " " + std::to_string(strict));
    if (kind > 0) continue;
    options.math = Math::automatic;
    const Matrix<Z> original = upload(A, q());
    Matrix<Z> QR(m, n, q()), tau(n, 1, q());
    const auto factored = [&](Queue& fresh, int nth) {
      copy<Z>(original.view(), QR.view(), q());
      q().wait();
      failing(nth, [&] { geqrf<Z>(QR.view(), tau.view(), fresh, options); });
      fresh.wait();
      return download<Z>(QR, q());
    };
    const Dense<Z> by_three =
        without_residues(f.QR, factored, [&] { EXPECT_TRUE(same_bits(download<Z>(QR, q()), A)); });
    ASSERT_FALSE(by_three.size() == 0) << "was not by residues";
    EXPECT_LE(residual(A, {by_three, download<Z>(tau, q())}, q()), 2 * strict + 0.01);
  }
}

/// A NaN or an infinity makes NaN of its column and of those to its right, and of nothing else.
TEST_P(QrByResidues, WhatIsNotFinite) {
  if (!usable()) GTEST_SKIP() << "skipped: this GPU has no such product";
  const std::int64_t n = residues_least_reflected + 2 * block + 77, column = n - 50;
  for (const double bad : {nan<double>, infinity<double>}) {
    Dense<Z> A = random<Z>(n, n, 43);
    A(n - 1, column) = bad;
    const QrFactors<Z> f = factor_qr(A, q(), {Method::native, block});
    for (std::int64_t j = 0; j < n; ++j) {
      bool finite = true;
      for (std::int64_t i = 0; i < n; ++i) finite = finite && std::isfinite(std::abs(f.QR(i, j)));
      EXPECT_EQ(finite, j < column) << bad << ", column " << j;
    }
  }
}

/// ormqr's, from the left, and those of orgqr.
TEST_P(QrByResidues, OrthogonalFactorsAreThoseOfPlainProducts) {
  if (!usable()) GTEST_SKIP() << "skipped: this GPU has no such product";
  const std::int64_t k = block + 100;
  const auto expect_near = [&](const Dense<Z>& X, const Dense<Z>& plain, const std::string& what) {
    double worst = 0;  // the columns have norms of about one
    for (std::int64_t e = 0; e < X.size(); ++e) worst = larger(worst, std::abs(X[e] - plain[e]));
    EXPECT_LE(worst, 30 * eps<double>) << what;
  };
  const auto expect_by_residues = [&](auto result, const std::string& what) {
    const Dense<Z> ours = result(q(), 0, Math::automatic);
    expect_near(ours, result(q(), 0, Math::strict), what);
    const auto automatic = [&](Queue& fresh, int nth) { return result(fresh, nth, Math::automatic); };
    const Dense<Z> by_three = without_residues(ours, automatic, [] {});
    ASSERT_FALSE(by_three.size() == 0) << what << " was not by residues";
    expect_near(by_three, ours, what + " without memory");
  };
  {
    const std::int64_t m = residues_least_reflected + 2 * block, width = residues_least_reflected + 3;
    const QrFactors<Z> f = factor_qr(random<Z>(m, k, 44), q());
    Dense<Z> C0 = random<Z>(m, width, 45);
    for (std::int64_t e = 0; e < C0.size(); ++e) C0[e] /= std::sqrt(double(m));
    for (const Op op : {Op::NoTrans, Op::ConjTrans})
      expect_by_residues(
          [&](Queue& queue, int nth, Math math) {
            Padded<Z> V(f.QR, q()), tau(f.tau, q()), C(C0, q());
            q().wait();
            failing(nth, [&] { ormqr<Z>(Side::Left, op, V, tau, C, queue, {Method::native, block, nullptr, math}); });
            queue.wait();
            return C.read("C");
          },
          std::string("ormqr ") + static_cast<char>(op));
  }
  const std::int64_t n = residues_least_reflected + k;
  const QrFactors<Z> f = factor_qr(random<Z>(n, k, 46), q());
  const Matrix<Z> V = upload(f.QR, q()), tau = upload(f.tau, q());
  Matrix<Z> A(n, n, q());
  expect_by_residues(
      [&](Queue& queue, int nth, Math math) {
        copy<Z>(V.view(), A({0, n}, {0, k}), q());
        q().wait();
        failing(nth, [&] { orgqr<Z>(A.view(), tau.view(), queue, {Method::native, block, nullptr, math}); });
        queue.wait();
        return download<Z>(A, q());
      },
      "orgqr");
}

}  // namespace
}  // namespace devobj::test
