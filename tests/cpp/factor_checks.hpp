// What the tests of the factorizations share: LAPACK's residual measures in units of rounding errors, the ways in which
// a place can factor, and calls on blocks surrounded by canaries.
//
// Everything measured is computed in double precision by the products of precise.hpp, the residual of an LU in double
// precision beyond it, from numbers brought near 1 by powers of two, so that no size of the elements disturbs it. A NaN makes a
// measure NaN, and no bound holds for that.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "precise.hpp"

namespace devobj::test {

/// The bound of LAPACK's own test suite for its measures.
inline constexpr double residual_bound = 30;
/// What every factorization may have on top of twice LAPACK's measure: a few roundings of small matrices.
inline constexpr double residual_floor = 1;

// ---- norms and scaling ----

/// |a|, by a square root where the squares neither overflow nor underflow: std::abs takes several times as long.
inline double magnitude(double a) {
  return std::abs(a);
}
inline double magnitude(std::complex<double> a) {
  const double square = a.real() * a.real() + a.imag() * a.imag();
  return square > 1e-280 && square < 1e280 ? std::sqrt(square) : std::abs(a);
}
template <class D>
double column_sum(const Dense<D>& A, std::int64_t j) {
  double sum = 0;
  for (std::int64_t i = 0; i < A.rows(); ++i) sum += magnitude(A(i, j));
  return sum;
}
/// The largest, or NaN if one of them is.
inline double larger(double a, double b) {
  return std::isnan(a) || a > b ? a : b;
}
template <class D>
double one_norm(const Dense<D>& A) {
  double norm = 0;
  for (std::int64_t j = 0; j < A.cols(); ++j) norm = larger(norm, column_sum(A, j));
  return norm;
}
template <class D>
double infinity_norm(const Dense<D>& A) {
  std::vector<double> sums(std::size_t(A.rows()), 0.0);
  for (std::int64_t j = 0; j < A.cols(); ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i) sums[std::size_t(i)] += magnitude(A(i, j));
  double norm = 0;
  for (const double sum : sums) norm = larger(norm, sum);
  return norm;
}
template <class D>
double largest(const Dense<D>& A) {
  double most = 0;
  for (std::int64_t e = 0; e < A.size(); ++e) most = larger(most, magnitude(A[e]));
  return most;
}

/// A backward error is measured against the norm of the matrix, or column by column, each against its own.
enum class By { matrix, column };

/// The exponents of the powers of two that measure the columns of A: one for all, or each its own.
template <class D>
std::vector<int> exponents(const Dense<D>& A, By by) {
  auto exponent = [](double size) { return std::isfinite(size) && size > 0 ? std::ilogb(size) : 0; };
  std::vector<int> e(static_cast<std::size_t>(A.cols()));
  if (by == By::matrix)
    std::fill(e.begin(), e.end(), exponent(largest(A)));
  else
    for (std::int64_t j = 0; j < A.cols(); ++j)
      e[std::size_t(j)] = exponent(largest(block_of(A, {0, A.rows()}, {j, j + 1})));
  return e;
}
inline double scaled(double a, int exponent) {
  return std::ldexp(a, exponent);
}
inline std::complex<double> scaled(std::complex<double> a, int exponent) {
  return {std::ldexp(a.real(), exponent), std::ldexp(a.imag(), exponent)};
}
/// Column j times 2^-e(j)
template <class D>
Dense<D> descale(Dense<D> A, const std::vector<int>& e) {
  for (std::int64_t j = 0; j < A.cols(); ++j) {
    const int exponent = -e[std::size_t(j)];
    const bool is_a_number = std::abs(exponent) < 1000;  // 2^exponent
    const double factor = is_a_number ? std::ldexp(1, exponent) : 0;
    for (std::int64_t i = 0; i < A.rows(); ++i) A(i, j) = is_a_number ? A(i, j) * factor : scaled(A(i, j), exponent);
  }
  return A;
}
/// ||R|| / (||A|| factor), of the whole or of the worst column; 0 / 0 is 0.
template <class D>
double relative(const Dense<D>& R, const Dense<D>& A, By by, double factor) {
  auto ratio = [&](double r, double a) { return r == 0 ? 0 : r / (a * factor); };
  if (by == By::matrix) return ratio(one_norm(R), one_norm(A));
  double worst = 0;
  for (std::int64_t j = 0; j < A.cols(); ++j) worst = larger(worst, ratio(column_sum(R, j), column_sum(A, j)));
  return worst;
}

// ---- LU ----

template <class T>
struct LuFactors {
  Dense<T> LU;
  Dense<std::int32_t> pivots;
  std::int64_t info = 0;
};

/// Row i of A is swapped with row pivots(i), i = 1 ... k, as LAPACK's laswp does.
template <class D>
Dense<D> swap_rows(Dense<D> A, const Dense<std::int32_t>& pivots) {
  for (std::int64_t j = 0; j < A.cols(); ++j)
    for (std::int64_t i = 0; i < pivots.size(); ++i) std::swap(A(i, j), A(pivots[i] - 1, j));
  return A;
}
/// Pivot i is within i ... m.
template <class T>
bool pivots_in_range(const LuFactors<T>& f) {
  for (std::int64_t i = 0; i < f.pivots.size(); ++i)
    if (f.pivots[i] < i + 1 || f.pivots[i] > f.LU.rows()) return false;
  return true;
}
/// ||P A - L U|| / (||A|| max(m, n) eps); infinite if a pivot is out of range.
template <class T>
double lu_residual(const Dense<T>& A, const LuFactors<T>& f, By by = By::matrix) {
  using D = precise_t<T>;
  const std::int64_t m = A.rows(), n = A.cols(), k = std::min(m, n);
  if (!pivots_in_range(f) || f.pivots.size() != k) return std::numeric_limits<double>::infinity();
  if (k == 0) return 0;
  Dense<D> a = precise(A), lu = precise(f.LU);
  const std::vector<int> e = exponents(a, by);
  const Dense<D> L = leading_triangle(Uplo::Lower, Diag::Unit, lu, m, k);
  const Dense<D> U = leading_triangle(Uplo::Upper, Diag::NonUnit, descale(std::move(lu), e), k, n);
  const Dense<D> scaled_A = descale(std::move(a), e);
  Dense<D> R = swap_rows(scaled_A, f.pivots);
  R = std::is_same_v<T, D> ? exact_residual(std::move(R), L, U)
                           : residual(std::move(R), Op::NoTrans, L, Op::NoTrans, U);
  return relative(R, scaled_A, by, std::max(m, n) * eps<T>);
}
/// The largest element of (P A - L U) x, for an x of columns' signs and sizes, in units of m eps times the largest of the row's of A, which has
/// no more columns than rows.
template <class T>
double residual_of_rows(const Dense<T>& A, const LuFactors<T>& f) {
  const std::int64_t m = A.rows(), n = A.cols();
  std::vector<wide_t<T>> x(n), product(m), Ux(m);
  std::vector<double> size(m);
  for (std::int64_t j = 0; j < n; ++j) {
    double largest = 0;
    for (std::int64_t i = 0; i < m; ++i) largest = larger(largest, std::abs(A(i, j)));
    x[j] = (j * j % 3 == 0 ? 1 : -1) / static_cast<long double>(largest > 0 ? largest : 1);
  }
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      const wide_t<T> a = wide(A(i, j)) * x[j];
      product[i] += a;
      size[i] = larger(size[i], static_cast<double>(std::abs(a)));
    }
  for (std::int64_t k = 0; k < n; ++k) {
    std::swap(product[k], product[f.pivots[k] - 1]);
    std::swap(size[k], size[f.pivots[k] - 1]);
  }
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i <= j; ++i) Ux[i] += wide(f.LU(i, j)) * x[j];
  std::vector<wide_t<T>> LUx = Ux;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j + 1; i < m; ++i) LUx[i] += wide(f.LU(i, j)) * Ux[j];
  double worst = 0;
  for (std::int64_t i = 0; i < m; ++i)
    worst =
        larger(worst, static_cast<double>(std::abs(product[i] - LUx[i])) / (static_cast<double>(m) * eps<T> * size[i]));
  return worst;
}

/// max |U| / max |A|
template <class T>
double growth(const Dense<T>& A, const LuFactors<T>& f) {
  const Dense<precise_t<T>> a = precise(A), lu = precise(f.LU);
  const std::int64_t k = std::min(A.rows(), A.cols());
  const double top = largest(leading_triangle(Uplo::Upper, Diag::NonUnit, lu, k, A.cols()));
  return top == 0 ? 1 : top / largest(a);
}
/// The first i with U(i, i) = 0, or 0.
template <class T>
std::int64_t first_zero_pivot(const Dense<T>& LU) {
  for (std::int64_t i = 0; i < std::min(LU.rows(), LU.cols()); ++i)
    if (LU(i, i) == T(0)) return i + 1;
  return 0;
}

/// getrf of a block surrounded by canaries.
template <class T>
LuFactors<T> factor_lu(const Dense<T>& A, Queue& q, LuOptions options = {}) {
  LuFactors<T> f;
  Padded<T> a(A, q);
  Padded<std::int32_t> pivots(Dense<std::int32_t>(std::min(A.rows(), A.cols()), 1), q);
  f.info = getrf<T>(a, pivots.view(), q, options);
  f.LU = a.read("A");
  f.pivots = pivots.read("ipiv");
  return f;
}
/// The host's LAPACK.
template <class T>
LuFactors<T> lapack_lu(const Dense<T>& A) {
  return factor_lu(A, host_queue(), LuOptions{Method::lapack});
}

// ---- QR ----

template <class T>
struct QrFactors {
  Dense<T> QR;
  Dense<T> tau;
};
struct QrMeasures {
  double residual;       // ||A - Q R|| / (||A|| max(m, n) eps)
  double orthogonality;  // ||Q^H Q - I|| / (m eps)
};

template <class T>
double orthogonality(const Dense<T>& Q) {
  using D = precise_t<T>;
  if constexpr (!std::is_same_v<T, D>) {
    return orthogonality(precise(Q)) * (eps<D> / eps<T>);
  } else {
    Dense<D> unit = Dense<D>::from(Q.cols(), Q.cols(), [](auto i, auto j) { return D(i == j ? 1 : 0); });
    return one_norm(residual(std::move(unit), adjoint<D>, Q, Op::NoTrans, Q)) /
           (std::max<std::int64_t>(1, Q.rows()) * eps<T>);
  }
}
/// The first `cols` columns of Q from the reflectors, in double precision: by LAPACK, many by blocks.
template <class T>
Dense<precise_t<T>> q_of(const QrFactors<T>& f, std::int64_t cols) {
  using D = precise_t<T>;
  const std::int64_t m = f.QR.rows(), k = f.tau.size();
  if (!is_large<D>(m, cols, k)) return q_by_lapack(precise(f.QR), precise(f.tau), cols);
  return q_by_blocks(precise(f.QR), precise(f.tau), cols, queue_for<D>(m, cols, k));
}
/// A = Q R for any Q and R.
template <class T>
double product_residual(const Dense<T>& A, const Dense<precise_t<T>>& Q, const Dense<T>& R, By by = By::matrix) {
  if (A.size() == 0) return 0;
  auto a = precise(A);
  const std::vector<int> e = exponents(a, by);
  const auto scaled_A = descale(std::move(a), e);
  return relative(residual(scaled_A, Op::NoTrans, Q, Op::NoTrans, descale(precise(R), e)), scaled_A, by,
                  std::max(A.rows(), A.cols()) * eps<T>);
}
template <class T>
QrMeasures qr_measures(const Dense<T>& A, const QrFactors<T>& f, By by = By::matrix) {
  const std::int64_t n = A.cols(), k = std::min(A.rows(), n);
  const Dense<precise_t<T>> Q = q_of(f, k);
  const Dense<T> R = leading_triangle(Uplo::Upper, Diag::NonUnit, f.QR, k, n);
  QrMeasures measures{product_residual(A, Q, R, by), orthogonality(Q)};
  measures.orthogonality *= eps<double> / eps<T>;  // Q is in double precision, its reflectors in T's
  return measures;
}
/// geqrf of a block surrounded by canaries.
template <class T>
QrFactors<T> factor_qr(const Dense<T>& A, Queue& q, QrOptions options = {}) {
  Padded<T> a(A, q), tau(Dense<T>(std::min(A.rows(), A.cols()), 1), q);
  geqrf<T>(a, tau, q, options);
  return {a.read("A"), tau.read("tau")};
}
template <class T>
QrFactors<T> lapack_qr(const Dense<T>& A) {
  return factor_qr(A, host_queue(), QrOptions{Method::lapack});
}
/// f is as accurate as LAPACK's factorization of A, whose measures are these, and has its signs.
template <class T>
void expect_lapacks(const Dense<T>& A, const QrFactors<T>& f, const QrFactors<T>& lapack, const QrMeasures& theirs,
                    By by, const std::string& what) {
  const QrMeasures ours = qr_measures(A, f, by);
  EXPECT_LE(ours.residual, residual_bound) << what;
  EXPECT_LE(ours.orthogonality, residual_bound) << what;
  // of a few elements both are a rounding or two
  const double floor = A.rows() < 20 ? 3 : residual_floor;
  EXPECT_LE(ours.residual, 2 * theirs.residual + floor) << what;
  EXPECT_LE(ours.orthogonality, 2 * theirs.orthogonality + floor) << what;
  for (std::int64_t i = 0; i < f.tau.size(); ++i) {
    EXPECT_EQ(std::signbit(std::real(f.QR(i, i))), std::signbit(std::real(lapack.QR(i, i)))) << what << ", R" << i;
    EXPECT_EQ(std::imag(f.QR(i, i)), std::imag(lapack.QR(i, i))) << what << ", R" << i;
  }
}
template <class T>
void expect_lapacks(const Dense<T>& A, const QrFactors<T>& f, const QrFactors<T>& lapack, By by,
                    const std::string& what) {
  expect_lapacks(A, f, lapack, qr_measures(A, lapack, by), by, what);
}

// ---- solutions ----

/// ||B - op(A) X|| / (||A|| ||X|| n eps), the worst right-hand side; n is the order or the larger of A's sizes.
template <class T>
double solve_residual(Op op, const Dense<T>& A, const Dense<T>& X, const Dense<T>& B) {
  using D = precise_t<T>;
  if (A.size() == 0 || X.cols() == 0) return 0;
  Dense<D> a = precise(A), x = precise(X);
  const int of_A = exponents(a, By::matrix)[0];
  const std::vector<int> of_X = exponents(x, By::column);
  std::vector<int> of_B(of_X);
  for (int& e : of_B) e += of_A;
  const Dense<D> As = descale(std::move(a), std::vector<int>(std::size_t(A.cols()), of_A)),
                 Xs = descale(std::move(x), of_X);
  const Dense<D> R = residual(descale(precise(B), of_B), op, As, Op::NoTrans, Xs);
  const double norm = op == Op::NoTrans ? one_norm(As) : infinity_norm(As);
  return relative(R, Xs, By::column, norm * std::max(A.rows(), A.cols()) * eps<T>);
}

// ---- the ways to factor ----

/// A method with a block size.
struct Way {
  std::string name;
  Method method;
  std::int64_t block, inner_block = 0;
  LuOptions lu() const { return {method, block, nullptr, inner_block}; }
  QrOptions qr() const { return {method, block, nullptr}; }
};
/// What a queue offers: auto, LAPACK on the host, hybrid with these block sizes.
inline std::vector<Way> ways(const Queue& q, const std::vector<std::int64_t>& blocks = {0, 1, 5, 16, 64}) {
  std::vector<Way> all = {{"auto", Method::automatic, 0}};
  if (!q.on_cuda()) all.push_back({"lapack", Method::lapack, 0});
  for (std::int64_t block : blocks)
    all.push_back({"hybrid with blocks of " + std::to_string(block), Method::hybrid, block});
  return all;
}

/// The ways of LU: on a GPU native with these block sizes too, each panel by one kernel or by several.
inline std::vector<Way> lu_ways(const Queue& q, const std::vector<std::int64_t>& blocks = {0, 1, 5, 16, 64}) {
  std::vector<Way> all = ways(q, blocks);
  if (!q.on_cuda()) return all;
  for (std::int64_t block : blocks) {
    all.push_back({"native with blocks of " + std::to_string(block), Method::native, block});
    if (block > 1) all.push_back({all.back().name + " in two", Method::native, block, (block + 1) / 2});
  }
  return all;
}

/// The same for QR, with native on a GPU.
inline std::vector<Way> qr_ways(const Queue& q, const std::vector<std::int64_t>& blocks = {0, 1, 5, 16, 64}) {
  std::vector<Way> all = ways(q, blocks);
  if (q.on_cuda())
    for (std::int64_t block : blocks)
      all.push_back({"native with blocks of " + std::to_string(block), Method::native, block});
  return all;
}

/// The block sizes for k columns: hundreds of tiny panels of a large matrix would test nothing that a small one's do
/// not.
inline std::vector<std::int64_t> blocks_for(std::int64_t k) {
  if (k <= 40) return {0, 1, 5, 16, 64};
  if (k <= 70) return {0, 5, 16, 64};
  return {0, 16, 64};
}

/// Around the block sizes 1, 5, 16 and 64: empty, one, odd, prime, wide, square, tall, and tall and skinny.
inline std::vector<std::pair<std::int64_t, std::int64_t>> factor_shapes() {
  return {{0, 0},     {0, 5},    {5, 0},    {1, 1},    {1, 7},     {7, 1},    {2, 2},    {3, 3},    {4, 5},
          {5, 5},     {6, 5},    {15, 15},  {16, 16},  {17, 17},   {16, 5},   {5, 16},   {31, 37},  {37, 31},
          {63, 63},   {64, 64},  {65, 65},  {64, 128}, {128, 64},  {63, 130}, {130, 63}, {129, 65}, {97, 101},
          {131, 131}, {1000, 3}, {513, 17}, {3, 300},  {150, 150}, {6000, 20}};  // the last: panels for several threads
}
inline std::string shape_name(std::int64_t m, std::int64_t n) {
  return std::to_string(m) + " x " + std::to_string(n);
}

}  // namespace devobj::test
