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
    return Matrix<R>(memory_rows(rows), count(cols), q);
  }
  static constexpr std::int64_t memory_rows(std::int64_t rows) { return line<R> * (rows + widest_staircase); }
  static constexpr std::int64_t count(std::int64_t cols) { return (cols + width - 1) / width; }

  std::int64_t count() const noexcept { return count(cols_); }
  R* slab(std::int64_t t) const noexcept { return memory_.data + t * memory_.ld; }

  /// Slab t, here or in other memory, = the columns of A that belong to it; zeros beside and below.
  void load(View<T> A, std::int64_t t) const { load(A, t, slab(t)); }
  void load(View<T> A, std::int64_t t, R* to) const {
    const std::int64_t c0 = t * width, cols = std::min(width, A.cols - c0);
    std::fill(cols < width ? to : to + A.rows * line<R>, to + memory_.ld, R(0));
    if constexpr (P == 1)
      if (cols == width) return kernels_.pack(A.data + c0 * A.ld, A.ld, A.rows, to);
    each_tile(
        [&](std::int64_t i, std::int64_t c) {
          const T a = A.data[i + (c0 + c) * A.ld];
          to[i * line<R> + c] = std::real(a);
          if constexpr (P == 2) to[i * line<R> + width + c] = std::imag(a);
        },
        0, A.rows, cols);
  }
  /// `to` = the first `most` columns of the unit matrix that belong to slab t, zeros beside.
  void load_unit(std::int64_t t, std::int64_t most, R* to) const {
    std::fill(to, to + memory_.ld, R(0));
    for (std::int64_t c = 0; c < most; ++c)
      if (t * width + c < std::min(rows_, cols_)) to[(t * width + c) * line<R> + c] = 1;
  }
  /// The first A.rows rows of A's columns that belong to slab t, of column j the rows first(j) ... end(j) - 1; zeros
  /// above and below.
  template <class First, class End>
  void store(std::int64_t t, View<T> A, First&& first, End&& end) const {
    store(t, slab(t), A, first, end);
  }
  template <class First, class End>
  void store(std::int64_t t, const R* from, View<T> A, First&& first, End&& end) const {
    const std::int64_t c0 = t * width, cols = std::min(width, A.cols - c0);
    // the rows that are there in all columns
    std::int64_t lo = 0, hi = A.rows;
    for (std::int64_t c = 0; c < cols; ++c) {
      lo = std::min(A.rows, std::max(lo, first(c0 + c)));
      hi = std::min(hi, end(c0 + c));
    }
    hi = std::max(lo, hi);
    const auto element = [&](std::int64_t i, std::int64_t c) {
      const R* a = from + i * line<R> + c;
      if constexpr (P == 2)
        return T(a[0], a[width]);
      else
        return a[0];
    };
    for (std::int64_t c = 0; c < cols; ++c) {
      T* to = A.data + (c0 + c) * A.ld;
      const std::int64_t top = std::min(A.rows, first(c0 + c)), bottom = std::max(top, std::min(A.rows, end(c0 + c)));
      std::fill(to, to + top, T(0));
      for (std::int64_t i = top; i < std::min(lo, bottom); ++i) to[i] = element(i, c);
      for (std::int64_t i = std::max(hi, top); i < bottom; ++i) to[i] = element(i, c);
      std::fill(to + bottom, to + A.rows, T(0));
    }
    if constexpr (P == 1)
      if (cols == width) return kernels_.unpack(from + lo * line<R>, hi - lo, A.data + lo + c0 * A.ld, A.ld);
    each_tile([&](std::int64_t i, std::int64_t c) { A.data[i + (c0 + c) * A.ld] = element(i, c); }, lo, hi, cols);
  }

 private:
  // In tiles, so that neither side's cache lines are left before they are used up.
  template <class F>
  static void each_tile(F&& f, std::int64_t begin, std::int64_t end, std::int64_t cols) {
    constexpr std::int64_t tile = 32;
    for (std::int64_t i0 = begin; i0 < end; i0 += tile)
      for (std::int64_t c = 0; c < cols; ++c)
        for (std::int64_t i = i0; i < std::min(i0 + tile, end); ++i) f(i, c);
  }

  std::int64_t rows_ = 0, cols_ = 0;
  View<R> memory_;
  const GivensKernels<R>& kernels_ = givens_kernels<R, P>();
};

}  // namespace devobj::host
