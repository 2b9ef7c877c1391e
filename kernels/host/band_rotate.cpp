// The rotations of a band matrix, applied to slabs of B: up to eight of a column's rotations are one step of a
// staircase.
#include <algorithm>
#include <vector>

#include "kernels/givens.hpp"
#include "kernels/host/share.hpp"
#include "kernels/host/slabs.hpp"

namespace devobj::host {
namespace {

/// The rotations r = first ... of every column as one staircase from row `first` on. The staircases of larger r come
/// first: they touch no row that a smaller r of the same or an earlier column has to have touched before.
template <class R>
struct Stair {
  std::int64_t first;
  int width;
  R* numbers;
};

template <class T>
void fill(const Stair<real_t<T>>& stair, View<real_t<T>> C, View<T> S) {
  using R = real_t<T>;
  constexpr int P = Slabs<T>::P;
  for (std::int64_t j = 0; j < C.cols; ++j) {
    for (int q = 0; q < stair.width; ++q) {
      const std::int64_t r = stair.first + q;
      const bool there = r < C.rows;
      R* k = stair.numbers + number_of<P>(j, q, stair.width);
      k[0] = there ? C.data[r + j * C.ld] : R(1);
      const T s = there ? S.data[r + j * S.ld] : T(0);
      k[stair.width] = std::real(s);
      if constexpr (P == 2) k[2 * stair.width] = std::imag(s);
    }
  }
}

}  // namespace

template <class T>
void band_rotate(bool inverse, View<real_t<T>> C, View<T> S, View<T> B, Queue& q) {
  using R = real_t<T>;
  constexpr int P = Slabs<T>::P;
  const std::int64_t n = B.rows, kl = C.rows;
  if (B.empty() || kl == 0) return;
  std::vector<Stair<R>> stairs;
  const std::int64_t count = (kl + widest_staircase - 1) / widest_staircase;
  Matrix<R> numbers(staircase_numbers<P>(n, widest_staircase), count, q);
  for (std::int64_t g = 0; g < count; ++g)
    stairs.push_back(
        {g * widest_staircase,
         staircase_width(static_cast<int>(std::min<std::int64_t>(kl - g * widest_staircase, widest_staircase))),
         numbers.data + g * numbers.ld});
  // a staircase ends `width` rows below the last column's row, and starts up to kl rows below its own
  const Matrix<R> memory = Slabs<T>::memory(n + kl, B.cols, q);
  const Slabs<T> slabs(n + kl, B.cols, memory);
  q.submit("band_rotate", [inverse, C, S, B, n, stairs, slabs] {
    for (const auto& stair : stairs) fill(stair, C, S);
    const auto& kernels = givens_kernels<R, P>();
    share(slabs.count(), static_cast<std::size_t>(n) * B.cols * sizeof(T) * 4,
          [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t t = begin; t < end; ++t) {
              slabs.load(B, t);
              for (std::size_t i = 0; i < stairs.size(); ++i) {
                const auto& s = stairs[inverse ? i : stairs.size() - 1 - i];
                kernels.rotate(slabs.slab(t), s.first, n, s.width, !inverse, inverse, s.numbers, 0);
              }
              slabs.store(
                  t, B, [](std::int64_t) { return std::int64_t{0}; }, [&](std::int64_t) { return n; });
            }
          });
  });
}

#define INSTANTIATE(T) template void band_rotate<T>(bool, View<real_t<T>>, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
