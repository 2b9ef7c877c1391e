// B = op(A), and A = op(A) in place, by tiles that fit into the first-level cache.
#include <utility>

#include "kernels/host/share.hpp"
#include "kernels/kernels.hpp"

namespace devobj::host {
namespace {

// Rows and columns of a tile: two of them are 8 KiB at most, and a row of one is a whole number of cache lines.
template <class T>
constexpr std::int64_t tile = sizeof(T) == 16 ? 16 : 32;

template <bool conj, class T>
T maybe_conjugate(T x) {
  if constexpr (conj)
    return std::conj(x);
  else
    return x;
}

/// B = op(A)
template <bool conj, class T>
void transpose_tiles(View<T> A, View<T> B) {
  share((A.cols + tile<T> - 1) / tile<T>, 2 * A.size() * sizeof(T), [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j0 = begin * tile<T>; j0 < std::min(A.cols, end * tile<T>); j0 += tile<T>)
      for (std::int64_t i0 = 0; i0 < A.rows; i0 += tile<T>) {
        const std::int64_t j_end = std::min(A.cols, j0 + tile<T>), i_end = std::min(A.rows, i0 + tile<T>);
        for (std::int64_t i = i0; i < i_end; ++i)
          for (std::int64_t j = j0; j < j_end; ++j) B.data[j + i * B.ld] = maybe_conjugate<conj>(A.data[i + j * A.ld]);
      }
  });
}

/// A = op(A): the tiles (i, j) and (j, i), i >= j, change places.
template <bool conj, class T>
void transpose_tiles_in_place(View<T> A) {
  const std::int64_t n = A.rows;
  share((n + tile<T> - 1) / tile<T>, 2 * A.size() * sizeof(T), [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j0 = begin * tile<T>; j0 < std::min(n, end * tile<T>); j0 += tile<T>)
      for (std::int64_t i0 = j0; i0 < n; i0 += tile<T>)
        for (std::int64_t j = j0; j < std::min(n, j0 + tile<T>); ++j)
          for (std::int64_t i = std::max(i0, j); i < std::min(n, i0 + tile<T>); ++i) {
            T &below = A.data[i + j * A.ld], &above = A.data[j + i * A.ld];
            const T x = below;
            below = maybe_conjugate<conj>(above);
            if (i != j) above = maybe_conjugate<conj>(x);
          }
  });
}

}  // namespace

template <class T>
void transpose(Op op, View<T> A, View<T> B, Queue& q) {
  q.submit("transpose", [=] {
    if (is_complex<T> && op == Op::ConjTrans)
      transpose_tiles<is_complex<T>>(A, B);
    else
      transpose_tiles<false>(A, B);
  });
}

template <class T>
void transpose_in_place(Op op, View<T> A, Queue& q) {
  q.submit("transpose_in_place", [=] {
    if (is_complex<T> && op == Op::ConjTrans)
      transpose_tiles_in_place<is_complex<T>>(A);
    else
      transpose_tiles_in_place<false>(A);
  });
}

#define INSTANTIATE(T)                                   \
  template void transpose(Op, View<T>, View<T>, Queue&); \
  template void transpose_in_place(Op, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
