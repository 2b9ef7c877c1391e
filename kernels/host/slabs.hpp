// A matrix in slabs of columns, as the rotation kernels (givens_simd.hpp) want it.
#pragma once

#include <algorithm>
#include <complex>

#include "devobj/matrix.hpp"
#include "kernels/host/givens_simd.hpp"

namespace devobj::host {

/// rows x cols elements in `memory`, from Slabs::memory; below the last row there is room for a staircase to run
/// out.
template <class T>
class Slabs {
  using R = real_t<T>;

 public:
  static constexpr int P = is_complex<T> ? 2 : 1;
  static constexpr std::int64_t width = slab_columns<R, P>;

  Slabs(std::int64_t rows, std::int64_t cols, View<R> memory) : rows_(rows), cols_(cols), memory_(memory) {}
  /// In the queue's memory, not initialised.
  static Matrix<R> memory(std::int64_t rows, std::int64_t cols, Queue& q) {
    return Matrix<R>(line<R> * (rows + widest_staircase), (cols + width - 1) / width, q);
  }

  std::int64_t count() const noexcept { return (cols_ + width - 1) / width; }
  R* slab(std::int64_t t) const noexcept { return memory_.data + t * memory_.ld; }

  /// Slab t = the columns of A that belong to it; zeros beside and below.
  void load(View<T> A, std::int64_t t) const {
    R* to = slab(t);
    const std::int64_t c0 = t * width, cols = std::min(width, A.cols - c0);
    std::fill(cols < width ? to : to + A.rows * line<R>, to + memory_.ld, R(0));
    each_tile(
        [&](std::int64_t i, std::int64_t c) {
          const T a = A.data[i + (c0 + c) * A.ld];
          to[i * line<R> + c] = std::real(a);
          if constexpr (P == 2) to[i * line<R> + width + c] = std::imag(a);
        },
        A.rows, cols);
  }
  /// Slab t = the first `most` columns of the unit matrix that belong to it, zeros beside.
  void load_unit(std::int64_t t, std::int64_t most = width) const {
    R* to = slab(t);
    std::fill(to, to + memory_.ld, R(0));
    for (std::int64_t c = 0; c < most; ++c)
      if (t * width + c < std::min(rows_, cols_)) to[(t * width + c) * line<R> + c] = 1;
  }
  /// The first `rows` rows of A's columns that belong to slab t, of column j the rows first(j) ... end(j) - 1; zeros above
  /// and below.
  template <class First, class End>
  void store(std::int64_t t, View<T> A, First&& first, End&& end) const {
    const R* from = slab(t);
    const std::int64_t c0 = t * width, cols = std::min(width, A.cols - c0);
    each_tile(
        [&](std::int64_t i, std::int64_t c) {
          const R* a = from + i * line<R> + c;
          T& to = A.data[i + (c0 + c) * A.ld];
          if (i < first(c0 + c) || i >= end(c0 + c))
            to = T(0);
          else if constexpr (P == 2)
            to = T(a[0], a[width]);
          else
            to = a[0];
        },
        A.rows, cols);
  }

 private:
  // In tiles, so that neither side's cache lines are left before they are used up.
  template <class F>
  static void each_tile(F&& f, std::int64_t rows, std::int64_t cols) {
    constexpr std::int64_t tile = 32;
    for (std::int64_t i0 = 0; i0 < rows; i0 += tile)
      for (std::int64_t c = 0; c < cols; ++c)
        for (std::int64_t i = i0; i < std::min(i0 + tile, rows); ++i) f(i, c);
  }

  std::int64_t rows_ = 0, cols_ = 0;
  View<R> memory_;
};

}  // namespace devobj::host
