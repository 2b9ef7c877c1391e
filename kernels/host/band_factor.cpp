// Givens QR of a band matrix.
#include <algorithm>

#include "devobj/matrix.hpp"
#include "kernels/givens.hpp"
#include "kernels/rotation.hpp"

namespace devobj::host {
namespace {

/// x = c x + s y, y = c y - conj(s) x for n elements.
template <class T>
void rotate(std::int64_t n, T* x, T* y, real_t<T> c, T s) {
  using R = real_t<T>;
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (is_complex<T>) {
      const R a = x[i].real(), b = x[i].imag(), e = y[i].real(), f = y[i].imag(), u = s.real(), v = s.imag();
      x[i] = {c * a + u * e - v * f, c * b + u * f + v * e};
      y[i] = {c * e - u * a - v * b, c * f - u * b + v * a};
    } else {
      const T a = x[i];
      x[i] = c * a + s * y[i];
      y[i] = c * y[i] - s * a;
    }
  }
}

}  // namespace

// Rows are brought to one length: row i holds its columns i - kl ... i + ku, then kl places for what fills in.
template <class T>
void band_factor(View<T> AB, Bandwidths band, View<real_t<T>> C, View<T> S, View<T> RB, Queue& q) {
  using R = real_t<T>;
  constexpr int P = is_complex<T> ? 2 : 1;
  const std::int64_t n = AB.cols, kl = band.lower, ku = band.upper, reach = RB.rows, length = 2 * kl + ku + 1;
  Matrix<T> rows(length, n, q);
  q.submit("band_factor", [=, W = rows.view()] {
    auto row = [&](std::int64_t i, std::int64_t j) -> T* { return W.data + i * W.ld + (j - i + kl); };
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t p = 0; p < length; ++p) {
        const std::int64_t j = i - kl + p;
        W.data[i * W.ld + p] = p <= kl + ku && 0 <= j && j < n ? AB.data[ku + i - j + j * AB.ld] : T(0);
      }
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t r = kl - 1; r >= 0; --r) {
        const std::int64_t i = j + r;
        R c = 1;
        T s = 0;
        if (i + 1 < n && *row(i + 1, j) != T(0)) {
          T *x = row(i, j), *y = row(i + 1, j), f = *x, g = *y, top;
          make_rotation<R, P>(reinterpret_cast<R*>(&f), reinterpret_cast<R*>(&g), c, reinterpret_cast<R*>(&s),
                              reinterpret_cast<R*>(&top));
          rotate(std::min(reach, n - j), x, y, c, s);
          *x = top;
          *y = T(0);
        }
        C.data[r + j * C.ld] = c;
        S.data[r + j * S.ld] = s;
      }
      for (std::int64_t p = 0; p < reach; ++p) RB.data[p + j * RB.ld] = j + p < n ? *row(j, j + p) : T(0);
    }
  });
}

#define INSTANTIATE(T) template void band_factor<T>(View<T>, Bandwidths, View<real_t<T>>, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
