// A thread's share of a panel: its rows, in planes as panel_simd.hpp describes, in a buffer that the thread keeps.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "devobj/types.hpp"
#include "kernels/host/panel_simd.hpp"

namespace devobj::host {

constexpr std::int64_t round_up(std::int64_t i, std::int64_t to) {
  return (i + to - 1) / to * to;
}

/// Memory that grows and is kept for the next call: 64-byte aligned, large ones on huge pages. One per use and thread.
class KeptMemory {
 public:
  KeptMemory() = default;
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;
  ~KeptMemory() { std::free(data_); }
  /// At least `count` elements; what was in it is lost. Throws bad_alloc.
  template <class R>
  R* get(std::int64_t count) {
    std::size_t bytes = static_cast<std::size_t>(count) * sizeof(R);
    if (bytes > size_) {
      constexpr std::size_t huge = std::size_t(1) << 21;
      const std::size_t unit = bytes >= huge ? huge : 4096;
      bytes = (bytes + unit - 1) / unit * unit;
      std::free(data_);
      size_ = 0;
      data_ = std::aligned_alloc(unit, bytes);
      if (data_ == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
      if (unit == huge) madvise(data_, bytes, MADV_HUGEPAGE);  // no harm if refused
#endif
      size_ = bytes;
    }
    return static_cast<R*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// How m rows are divided among `threads`: equal numbers, multiples of 16, so that the rows of an inner block have one
/// owner.
struct RowParts {
  std::int64_t m, each;
  RowParts(std::int64_t m_, int threads)
      : m(m_), each(round_up(std::max<std::int64_t>(1, (m_ + threads - 1) / threads), inner_block)) {}
  std::int64_t begin(int rank) const noexcept { return std::min(m, rank * each); }
  std::int64_t size(int rank) const noexcept { return begin(rank + 1) - begin(rank); }
  int owner(std::int64_t row) const noexcept { return static_cast<int>(row / each); }
};

/// The rows begin ... begin + rows - 1 of an m x n panel of T in planes. Row numbers are the panel's; `local` makes
/// them the buffer's, at least 0 and at most rows.
template <class T>
struct PanelRows {
  using R = real_t<T>;
  static constexpr int P = devobj::is_complex<T> ? 2 : 1;

  R* B;
  std::int64_t ld, rows, begin;

  PanelRows(const RowParts& parts, int rank, std::int64_t n, KeptMemory& memory)
      : rows(parts.size(rank)), begin(parts.begin(rank)) {
    // an odd multiple of the padding keeps equal rows of neighbouring columns in different sets of the cache
    constexpr std::int64_t pad = panel_padding<R>;
    ld = round_up(std::max<std::int64_t>(1, rows), pad);
    if (ld / pad % 2 == 0) ld += pad;
    B = memory.get<R>(ld * n * P);
  }
  bool has(std::int64_t row) const noexcept { return begin <= row && row < begin + rows; }
  std::int64_t local(std::int64_t row) const noexcept { return std::clamp<std::int64_t>(row - begin, 0, rows); }
  R& at(std::int64_t row, std::int64_t column, int plane) const noexcept {
    return B[(column * P + plane) * ld + row - begin];
  }
  /// `row` in columns c0 ... c1 - 1 to or from consecutive numbers, the planes of a column side by side.
  void read_row(std::int64_t row, std::int64_t c0, std::int64_t c1, R* to) const noexcept {
    const R* from = B + c0 * P * ld + row - begin;
    for (std::int64_t i = 0; i < (c1 - c0) * P; ++i) to[i] = from[i * ld];
  }
  void write_row(std::int64_t row, std::int64_t c0, std::int64_t c1, const R* from) const noexcept {
    R* to = B + c0 * P * ld + row - begin;
    for (std::int64_t i = 0; i < (c1 - c0) * P; ++i) to[i * ld] = from[i];
  }
};

}  // namespace devobj::host
