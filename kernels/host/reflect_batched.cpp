// reflect_batched: a matrix per thread, one reflector after the other; large ones by LAPACK.
#include "kernels/host/batched.hpp"
#include "kernels/host/lapack_fortran.hpp"

namespace devobj::host {
namespace {

/// conj(a)^T b; eight sums, since one alone would be a chain of dependent additions.
template <class T>
T adjoint_product(const T* a, const T* b, std::int64_t n) {
  constexpr int lanes = 8;
  T sum[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) sum[l] = minus_product(sum[l], -conjugate(a[i + l]), b[i + l]);
  for (int l = 0; i < n; ++i, ++l) sum[l] = minus_product(sum[l], -conjugate(a[i]), b[i]);
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) sum[l] += sum[l + half];
  return sum[0];
}

/// B = H(k)^H ... H(1)^H B
template <class T>
void reflect(View<T> V, const T* tau, std::int64_t k, View<T> B) {
  for (std::int64_t j = 0; j < k; ++j) {
    if (tau[j] == T(0)) continue;
    const T* const v = V.data + j + 1 + j * V.ld;
    const std::int64_t below = V.rows - j - 1;
    for (std::int64_t c = 0; c < B.cols; ++c) {
      T* const b = B.data + j + c * B.ld;
      // w = conj(tau) v^H b,  b -= v w
      const T dot = b[0] + adjoint_product(v, b + 1, below), w = product(conjugate(tau[j]), dot);
      b[0] -= w;
      for (std::int64_t i = 0; i < below; ++i) b[i + 1] = minus_product(b[i + 1], v[i], w);
    }
  }
}

}  // namespace

template <class T>
void reflect_batched(Batch<T> V, View<T> tau, Batch<T> B, Queue& q) {
  if (B.empty() || tau.empty()) return;
  const fortran::BlasInt m(B.rows, "reflect_batched", "the rows of B"),
      n(B.cols, "reflect_batched", "the columns of B"), k(tau.rows, "reflect_batched", "the reflectors"),
      ldv(V.ld, "reflect_batched", "the ld of V"), ldb(B.ld, "reflect_batched", "the ld of B");
  q.submit("reflect_batched", [=] {
    const auto taus = [&](std::int64_t i) { return tau.data + i * tau.ld; };
    if (V.rows * V.cols <= elements_of_one_thread) {
      for_each_matrix(B.count, 4 * static_cast<double>(B.rows * B.cols) * static_cast<double>(tau.rows),
                      [&](std::int64_t i) { reflect(V[i], taus(i), tau.rows, B[i]); });
    } else {
      for (std::int64_t i = 0; i < B.count; ++i)
        fortran::ormqr<T>(Side::Left, adjoint<T>, m, n, k, V[i].data, ldv, taus(i), B[i].data, ldb);
    }
  });
}

#define INSTANTIATE(T) template void reflect_batched(Batch<T>, View<T>, Batch<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
