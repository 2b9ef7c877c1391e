// The matrices on which the factorizations are tested: by name, for any shape and type.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "factor_checks.hpp"

namespace devobj::test {

template <class T>
struct Named {
  std::string name;
  Dense<T> A;
  By by = By::matrix;  // how its backward error is measured
  bool grows = false;  // LU with partial pivoting has elements that grow
};

/// Orthonormal columns (rows >= cols), from the QR factorization of a uniform matrix, in double precision.
template <class T>
Dense<precise_t<T>> orthonormal(std::int64_t rows, std::int64_t cols, std::uint32_t seed) {
  return q_of(lapack_qr(random<precise_t<T>>(rows, cols, seed)), cols);
}
template <class T>
Dense<T> rounded(const Dense<precise_t<T>>& A) {
  return Dense<T>::from(A.rows(), A.cols(), [&](auto i, auto j) {
    return make<T>(std::real(A(i, j)), is_complex<T> ? std::imag(A(i, j)) : 0.0);
  });
}
/// The j-th singular value is value(j).
template <class T, class F>
Dense<T> with_singular_values(std::int64_t m, std::int64_t n, std::uint32_t seed, F&& value) {
  using D = precise_t<T>;
  const std::int64_t k = std::min(m, n);
  Dense<D> U = orthonormal<T>(m, k, seed);
  const Dense<D> V = orthonormal<T>(n, k, seed + 1);
  for (std::int64_t j = 0; j < k; ++j)
    for (std::int64_t i = 0; i < m; ++i) U(i, j) *= value(j);
  return rounded<T>(product(Op::NoTrans, U, adjoint<D>, V));
}
/// Singular values from 1 down to 1 / condition, geometrically.
template <class T>
Dense<T> with_condition(std::int64_t m, std::int64_t n, double condition, std::uint32_t seed) {
  const double last = std::max<double>(1, double(std::min(m, n) - 1));
  return with_singular_values<T>(m, n, seed, [&](auto j) { return std::pow(condition, -double(j) / last); });
}
/// A matrix of rank r, exact in every type: products of small integers.
template <class T>
Dense<T> of_rank(std::int64_t m, std::int64_t n, std::int64_t r) {
  return Dense<T>::from(m, n, [&](auto i, auto j) {
    double sum = 0;
    for (std::int64_t p = 0; p < r; ++p) sum += ((i * (p + 3) + p) % 7 - 3.0) * ((j * (p + 2) + 1) % 5 - 2.0);
    return make<T>(sum);
  });
}
template <class T, class F>
Dense<T> real_matrix(std::int64_t m, std::int64_t n, F&& element) {
  return Dense<T>::from(m, n, [&](auto i, auto j) { return make<T>(element(double(i), double(j))); });
}
/// A(i, j) times factor(i, j), a real number
template <class T, class F>
Dense<T> multiplied(Dense<T> A, F&& factor) {
  for (std::int64_t j = 0; j < A.cols(); ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i)
      A(i, j) =
          make<T>(std::real(A(i, j)) * factor(double(i), double(j)), std::imag(A(i, j)) * factor(double(i), double(j)));
  return A;
}

/// Foster's matrix of a Volterra integral equation by the trapezoidal rule, step h = 40 / n: partial pivoting lets it
/// grow.
template <class T>
Dense<T> foster(std::int64_t n) {
  const double kh = 40.0 / n, c = 6;
  return real_matrix<T>(n, n, [&](double i, double j) {
    if (j == n - 1.0) return i == n - 1.0 ? 1 - 1 / c - kh / 2 : -1 / c;
    if (i == j) return i == 0 ? 1.0 : 1 - kh / 2;
    if (i < j) return 0.0;
    return j == 0 ? -kh / 2 : -kh;
  });
}

/// All of them as m x n. Those that are square by nature have the shape of a leading block.
template <class T>
std::vector<Named<T>> gallery(std::int64_t m, std::int64_t n) {
  constexpr bool is_double = sizeof(real_t<T>) == 8;
  const double huge = is_double ? 1e300 : 1e37, tiny = 1 / huge, span = is_double ? 200 : 30;
  const double smallest_normal = std::numeric_limits<real_t<T>>::min();
  const Dense<T> u = random<T>(m, n, 17);
  const double last = std::max<double>(1, n - 1);
  auto every = [](double, double) { return 1.0; };
  auto lower_ones = [](double diagonal, double below) {  // Wilkinson's matrix: also with other numbers in it
    return [=](double i, double j) { return i == j ? diagonal : i > j ? below : 0.0; };
  };

  std::vector<Named<T>> all = {
      {"uniform", u},
      {"graded rows", multiplied(u, [&](double i, double) { return std::pow(10.0, -12 * i / m); })},
      {"graded columns", multiplied(u, [&](double, double j) { return std::pow(10.0, -12 * j / n); }), By::column},
      {"condition 1e7", with_condition<T>(m, n, 1e7, 5)},
      {"condition 1e15", with_condition<T>(m, n, 1e15, 7)},
      {"condition 1e18", with_condition<T>(m, n, 1e18, 9)},
      {"rank 3", of_rank<T>(m, n, 3)},
      {"rank one", real_matrix<T>(m, n, [](double i, double j) { return (i + 1) * (std::fmod(j, 4) - 1.5); })},
      {"zero", Dense<T>(m, n)},
      {"negative zeros", real_matrix<T>(m, n, [](double, double) { return -0.0; })},
      {"ones", real_matrix<T>(m, n, every)},
      {"near overflow", multiplied(u, [&](double, double) { return huge; })},
      {"near underflow", multiplied(u, [&](double, double) { return tiny; })},
      {"columns of all sizes",
       multiplied(u, [&](double, double j) { return std::pow(10.0, span * (2 * j / last - 1)); }), By::column},
      {"all subnormal", multiplied(u, [&](double, double) { return smallest_normal / 2; })},
      {"Hilbert", real_matrix<T>(m, n, [](double i, double j) { return 1 / (i + j + 1); })},
      {"Vandermonde", real_matrix<T>(m, n, [&](double i, double j) { return std::pow((i + 1) / m, j); })},
      {"Kahan", real_matrix<T>(m, n,
                               [](double i, double j) {
                                 const double c = std::cos(1.2), s = std::sin(1.2);
                                 return i > j ? 0.0 : std::pow(s, i) * (i == j ? 1 : -c);
                               })},
      {"tridiagonal", multiplied(u, [](double i, double j) { return std::abs(i - j) <= 1 ? 1.0 : 0.0; })},
      {"heptadiagonal", multiplied(u, [](double i, double j) { return std::abs(i - j) <= 3 ? 1.0 : 0.0; })},
      {"upper triangular", multiplied(u, [](double i, double j) { return i <= j ? 1.0 : 0.0; })},
      {"lower triangular", multiplied(u, [](double i, double j) { return i >= j ? 1.0 : 0.0; })},
      {"diagonal", real_matrix<T>(m, n, [](double i, double j) { return i == j ? i - 2.5 : 0.0; })},
      {"identity", real_matrix<T>(m, n, [](double i, double j) { return i == j ? 1.0 : 0.0; })},
      {"permutation",
       real_matrix<T>(m, n, [&](double i, double j) { return std::fmod(7 * j + 3, m) == i ? 1.0 : 0.0; })},
      {"reversed identity", real_matrix<T>(m, n, [&](double i, double j) { return i + j == m - 1.0 ? 1.0 : 0.0; })},
      {"Wilkinson's growth",
       real_matrix<T>(m, n, [&](double i, double j) { return j == n - 1.0 ? 1.0 : lower_ones(1, -1)(i, j); }),
       By::matrix, true},
      {"gfpp",
       real_matrix<T>(
           m, n, [&](double i, double j) { return j == n - 1.0 ? 1 + 0.1 * std::cos(i) : lower_ones(1, -0.9)(i, j); }),
       By::matrix, true},
      {"Foster", block_of(foster<T>(std::max(m, n)), {0, m}, {0, n}), By::matrix, true},
  };
  if (m >= n) all.push_back({"orthogonal", rounded<T>(orthonormal<T>(m, n, 3))});

  Named<T> singular{"singular", u}, repeated{"repeated columns", u}, zero_column{"zero column", u},
      subnormal_pivot{"subnormal pivots", u};
  for (std::int64_t i = 0; i < m; ++i) {
    T sum{};
    for (std::int64_t j = 0; j + 1 < n; ++j) sum += u(i, j);
    singular.A(i, n - 1) = sum;
    for (std::int64_t j = 0; j < n; ++j) repeated.A(i, j) = u(i, j / 2);
    zero_column.A(i, n / 2) = T(0);
    for (std::int64_t j = 0; j < n; j += 4)
      subnormal_pivot.A(i, j) = make<T>(std::real(u(i, j)) * smallest_normal / 64);
  }
  for (auto* more : {&singular, &repeated, &zero_column, &subnormal_pivot}) all.push_back(*more);
  return all;
}

}  // namespace devobj::test
