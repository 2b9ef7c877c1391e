// Random matrices with given properties, from reflectors of normal matrices.
#include <algorithm>
#include <cmath>

#include "devobj/blas.hpp"
#include "devobj/matrix.hpp"
#include "devobj/qr.hpp"
#include "devobj/rng.hpp"

namespace devobj {
namespace {

/// The diagonal as a vector: one row whose leading dimension steps down and right.
template <class T>
View<T> diagonal_row(View<T> A) {
  View<T> d;
  d.data = A.data;
  d.rows = A.empty() ? 0 : 1;
  d.cols = A.empty() ? 0 : diagonal(A);
  d.ld = A.ld + 1;
  return d;
}

/// The reflectors of a normal n x k matrix.
template <class T>
struct NormalReflectors {
  NormalReflectors(Rng& rng, std::int64_t n, std::int64_t k, Queue& q) : V(n, k, q), tau(std::min(n, k), 1, q) {
    rng.normal<T>(V, q);
    geqrf<T>(V, tau, q);
  }
  Matrix<T> V, tau;
};

void require_pseudorandom(const char* routine, const Rng& rng) {
  if (is_quasi(rng.generator()))
    fail(Status::not_supported, routine, ": the quasirandom generator '", name_of(rng.generator()),
         "' makes no such matrices");
}

/// k numbers 1 or -1. A reflector's sign depends on the matrix it comes from: Q from LAPACK's geqrf is Haar's only
/// after its columns have been given random signs.
template <class T>
std::vector<T> random_signs(Rng& rng, std::int64_t k, Queue& q) {
  Matrix<std::int32_t> heads(k, 1, q);
  rng.bernoulli<std::int32_t>(0.5, heads, q);
  std::vector<std::int32_t> coins(static_cast<std::size_t>(k));
  to_host<std::int32_t>(heads, {coins.data(), k, 1, k}, q);
  std::vector<T> signs(coins.size());
  std::transform(coins.begin(), coins.end(), signs.begin(), [](std::int32_t coin) { return coin ? T(1) : T(-1); });
  return signs;
}

/// A = 0 beside the diagonal `values`.
template <class T>
void set_diagonal(const std::vector<T>& values, View<T> A, Queue& q) {
  laset<T>(Uplo::General, T(0), T(0), A, q);
  to_device<T>({values.data(), 1, static_cast<std::int64_t>(values.size()), 1, 1}, diagonal_row(A), q);
}

}  // namespace

template <class T>
void random_orthogonal(Rng& rng, View<T> A, Queue& q) {
  require_pseudorandom("rng_orthogonal", rng);
  if (A.empty()) return;
  const std::int64_t k = diagonal(A);
  const bool tall = A.rows >= A.cols;
  const NormalReflectors<T> Q(rng, std::max(A.rows, A.cols), k, q);
  const std::vector<T> signs = random_signs<T>(rng, k, q);
  // A = Q(:, 1:k) diag(signs), or diag(signs) Q(:, 1:k)^H
  set_diagonal(signs, A, q);
  if (tall)
    ormqr<T>(Side::Left, Op::NoTrans, Q.V, Q.tau, A, q);
  else
    ormqr<T>(Side::Right, adjoint<T>, Q.V, Q.tau, A, q);
  q.wait();
}

template <class T>
void random_singular_values(Rng& rng, const std::vector<real_t<T>>& s, View<T> A, Queue& q) {
  require_pseudorandom("rng_singular_values", rng);
  require(static_cast<std::int64_t>(s.size()) == diagonal(A), "rng_singular_values: s has ", s.size(),
          " values, must have min(", A.rows, ", ", A.cols, ") = ", diagonal(A));
  for (std::size_t i = 0; i < s.size(); ++i)
    require(std::isfinite(s[i]) && s[i] >= 0, "rng_singular_values: s(", i + 1, ") is ", s[i],
            ", must be finite and at least 0");
  if (A.empty()) return;
  const std::int64_t k = diagonal(A);
  const NormalReflectors<T> U(rng, A.rows, k, q), V(rng, A.cols, k, q);
  std::vector<T> values = random_signs<T>(rng, k, q);
  for (std::size_t i = 0; i < s.size(); ++i) values[i] *= s[i];
  // A = U diag(values) V^H
  set_diagonal(values, A, q);
  ormqr<T>(Side::Left, Op::NoTrans, U.V, U.tau, A, q);
  ormqr<T>(Side::Right, adjoint<T>, V.V, V.tau, A, q);
  q.wait();
}

template <class T>
void random_condition(Rng& rng, real_t<T> condition, View<T> A, Queue& q) {
  require(std::isfinite(condition) && condition >= 1, "rng_condition: condition is ", condition,
          ", must be finite and at least 1");
  const std::int64_t k = diagonal(A);
  std::vector<real_t<T>> s(static_cast<std::size_t>(k), 1);
  for (std::int64_t i = 1; i < k; ++i)
    s[static_cast<std::size_t>(i)] = std::pow(condition, -static_cast<real_t<T>>(i) / static_cast<real_t<T>>(k - 1));
  random_singular_values<T>(rng, s, A, q);
}

#define INSTANTIATE(T)                                                                           \
  template void random_orthogonal<T>(Rng&, View<T>, Queue&);                                     \
  template void random_singular_values<T>(Rng&, const std::vector<real_t<T>>&, View<T>, Queue&); \
  template void random_condition<T>(Rng&, real_t<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj
