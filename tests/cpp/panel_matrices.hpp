// Matrices and measures for the tests of the CPU panels: everything in the next wider type, by plain loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "devobj/types.hpp"

namespace devobj::test {

template <class T>
struct Widened {
  using type = std::conditional_t<std::is_same_v<T, float>, double, long double>;
};
template <class R>
struct Widened<std::complex<R>> {
  using type = std::complex<typename Widened<R>::type>;
};
template <class T>
using Wide = typename Widened<T>::type;

inline double conjugate(double x) {
  return x;
}
inline long double conjugate(long double x) {
  return x;
}
template <class R>
std::complex<R> conjugate(std::complex<R> x) {
  return {x.real(), -x.imag()};
}

template <class T>
T make(double re, double im) {
  if constexpr (is_complex<T>)
    return T(static_cast<real_t<T>>(re), static_cast<real_t<T>>(im));
  else
    return static_cast<T>(re);
}
/// Any number as the wide type.
template <class T>
Wide<T> widen(T x) {
  if constexpr (is_complex<T>)
    return Wide<T>(x.real(), x.imag());
  else
    return x;
}
template <class T>
real_t<T> size1(T x) {
  return std::abs(std::real(x)) + std::abs(std::imag(x));
}

template <class T>
inline constexpr real_t<T> eps = std::numeric_limits<real_t<T>>::epsilon() / 2;

/// m x n in an array with leading dimension ld > m, whose padding holds `canary`.
template <class T>
struct Panel {
  std::int64_t m, n, ld;
  std::vector<T> data;
  static T canary() { return make<T>(-77.25, 33.5); }

  Panel(std::int64_t m_, std::int64_t n_, std::int64_t extra = 3)
      : m(m_), n(n_), ld(std::max<std::int64_t>(1, m_ + extra)), data(static_cast<std::size_t>(ld * n_), canary()) {}
  T& operator()(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i + j * ld)]; }
  const T& operator()(std::int64_t i, std::int64_t j) const { return data[static_cast<std::size_t>(i + j * ld)]; }
  T* get() { return data.data(); }
  bool padding_intact() const {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = m; i < ld; ++i)
        if ((*this)(i, j) != canary()) return false;
    return true;
  }
};

template <class T>
Panel<T> uniform(std::int64_t m, std::int64_t n, unsigned seed, std::int64_t extra = 3) {
  std::mt19937 gen(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  Panel<T> A(m, n, extra);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      const double re = u(gen), im = u(gen);
      A(i, j) = make<T>(re, im);
    }
  return A;
}

/// P A with the swaps of ipiv (from 1).
template <class T>
Panel<T> permuted(Panel<T> A, const std::vector<std::int32_t>& ipiv) {
  for (std::size_t i = 0; i < ipiv.size(); ++i)
    for (std::int64_t j = 0; j < A.n; ++j) std::swap(A(static_cast<std::int64_t>(i), j), A(ipiv[i] - 1, j));
  return A;
}

/// The largest over the columns of ||P A - L U|| / ||A||, one norms of the column, in units of max(m, n) eps.
template <class T>
long double lu_residual(const Panel<T>& A, const Panel<T>& LU, const std::vector<std::int32_t>& ipiv) {
  const Panel<T> PA = permuted(A, ipiv);
  long double worst = 0, norm = 0;
  for (std::int64_t j = 0; j < A.n; ++j) {
    long double difference = 0, column = 0;
    for (std::int64_t i = 0; i < A.m; ++i) {
      Wide<T> sum = i <= j ? widen(LU(i, j)) : Wide<T>(0);
      for (std::int64_t k = 0; k < std::min({i, j + 1, A.m, A.n}); ++k) sum += widen(LU(i, k)) * widen(LU(k, j));
      difference += std::abs(sum - widen(PA(i, j)));
      column += std::abs(widen(PA(i, j)));
    }
    if (!(difference <= worst)) worst = difference;
    norm = std::max(norm, column);
  }
  return norm == 0 ? worst : worst / (norm * std::max(A.m, A.n) * eps<T>);
}

/// C = H_1 ... H_k C, the reflectors being in the first k columns of V.
template <class T>
void apply_q(const Panel<T>& V, const std::vector<T>& tau, std::vector<std::vector<Wide<T>>>& C) {
  for (std::int64_t k = static_cast<std::int64_t>(tau.size()); k-- > 0;) {
    std::vector<Wide<T>> v(V.m);
    for (std::int64_t i = k; i < V.m; ++i) v[i] = i == k ? Wide<T>(1) : widen(V(i, k));
    const Wide<T> factor = widen(tau[k]);
    for (auto& column : C) {
      Wide<T>* c = column.data();
      const Wide<T>* u = v.data();
      Wide<T> sum = 0;
      for (std::int64_t i = k; i < V.m; ++i) sum += conjugate(u[i]) * c[i];
      sum *= factor;
      if (sum == Wide<T>(0)) continue;
      for (std::int64_t i = k; i < V.m; ++i) c[i] -= u[i] * sum;
    }
  }
}

/// The largest over the columns of ||a - Q r|| / ||a||, two-norms, in units of max(m, n) eps: a column-wise measure.
template <class T>
long double qr_residual(const Panel<T>& A, const Panel<T>& F, const std::vector<T>& tau) {
  std::vector<std::vector<Wide<T>>> C(A.n, std::vector<Wide<T>>(A.m));
  for (std::int64_t j = 0; j < A.n; ++j)
    for (std::int64_t i = 0; i <= std::min(j, A.m - 1); ++i) C[j][i] = widen(F(i, j));
  apply_q(F, tau, C);
  long double worst = 0;
  for (std::int64_t j = 0; j < A.n; ++j) {
    long double difference = 0, norm = 0;
    for (std::int64_t i = 0; i < A.m; ++i) {
      difference += std::norm(C[j][i] - widen(A(i, j)));
      norm += std::norm(widen(A(i, j)));
    }
    const long double ratio = norm == 0 ? (difference == 0 ? 0 : 1e30L) : std::sqrt(difference / norm);
    if (!(ratio <= worst)) worst = ratio;
  }
  return worst / (std::max<std::int64_t>(1, std::max(A.m, A.n)) * eps<T>);
}

/// max |Q^H Q - I| of the first k columns of Q, in units of m eps.
template <class T>
long double orthogonality(const Panel<T>& F, const std::vector<T>& tau) {
  const std::int64_t k = static_cast<std::int64_t>(tau.size());
  std::vector<std::vector<Wide<T>>> Q(k, std::vector<Wide<T>>(F.m));
  for (std::int64_t j = 0; j < k; ++j) Q[j][j] = 1;
  apply_q(F, tau, Q);
  long double worst = 0;
  for (std::int64_t a = 0; a < k; ++a)
    for (std::int64_t b = 0; b <= a; ++b) {
      Wide<T> sum = a == b ? -1 : 0;
      const Wide<T>*left = Q[a].data(), *right = Q[b].data();
      for (std::int64_t i = 0; i < F.m; ++i) sum += conjugate(left[i]) * right[i];
      if (!(std::abs(sum) <= worst)) worst = std::abs(sum);
    }
  return worst / (std::max<std::int64_t>(1, F.m) * eps<T>);
}

}  // namespace devobj::test
