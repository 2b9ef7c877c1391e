// Copies between strided host arrays and column-major blocks by all cores: the CPU's part of a transfer.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "kernels/host/team.hpp"

namespace devobj::host {
namespace {

using Index = std::int64_t;

/// One side of a copy: element (i, j) at base + i row + j col, in bytes.
template <class Byte>
struct Side {
  Byte* base;
  Index row, col;
  Byte* at(Index i, Index j) const noexcept { return base + i * row + j * col; }
};
using Source = Side<const unsigned char>;
using Target = Side<unsigned char>;

constexpr std::size_t parallel_bytes = 256 << 10;  // below, one thread is as fast
constexpr Index tile = 32;                         // rows and columns of a tile of a transposed array
constexpr Index near = 256;                        // bytes between neighbours that are still read along the column

constexpr Index streamed_bytes = 4 << 10;  // shorter runs are written by plain stores in any case

#if defined(__SSE2__)
void copy_streaming(unsigned char* dst, const unsigned char* src, Index bytes) noexcept {
  const Index head = std::min(bytes, static_cast<Index>(-reinterpret_cast<std::uintptr_t>(dst) & 63));
  std::memcpy(dst, src, static_cast<std::size_t>(head));
  Index at = head;
  for (; at + 64 <= bytes; at += 64)
    for (Index k = 0; k < 64; k += 16)
      _mm_stream_si128(reinterpret_cast<__m128i*>(dst + at + k),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + at + k)));
  std::memcpy(dst + at, src + at, static_cast<std::size_t>(bytes - at));
  _mm_sfence();
}

/// Hands the lines of p ... p + bytes - 1 on to the shared cache. A hint, which processors without it take for no operation.
__attribute__((target("cldemote"))) void demote(const unsigned char* p, Index bytes) noexcept {
  for (Index at = 0; at < bytes; at += 64) _cldemote(const_cast<unsigned char*>(p) + at);
}
#else
void copy_streaming(unsigned char* dst, const unsigned char* src, Index bytes) noexcept {
  std::memcpy(dst, src, static_cast<std::size_t>(bytes));
}
void demote(const unsigned char*, Index) noexcept {}
#endif

void copy_run(unsigned char* dst, const unsigned char* src, Index bytes, Leave leave) noexcept {
  if (leave == Leave::in_memory && bytes >= streamed_bytes) return copy_streaming(dst, src, bytes);
  std::memcpy(dst, src, static_cast<std::size_t>(bytes));
}

/// Rows i0 ... i1 - 1 of columns j0 ... j1 - 1, element by element; the compiler knows the size.
template <std::size_t bytes>
void copy_elements(Source src, Target dst, Index i0, Index i1, Index j0, Index j1) noexcept {
  for (Index j = j0; j < j1; ++j) {
    const unsigned char* from = src.at(i0, j);
    unsigned char* to = dst.at(i0, j);
    for (Index i = i0; i < i1; ++i, from += src.row, to += dst.row) std::memcpy(to, from, bytes);
  }
}

#if defined(__SSE2__)
/// Every second element of 4 or 8 bytes to neighbours; returns how many (all but a few). The loads reach no further than
/// the last element that is taken.
template <std::size_t bytes>
Index gather_every_second(const unsigned char* from, unsigned char* to, Index count) noexcept {
  constexpr Index few = 32 / bytes, width = bytes;  // elements of two vectors
  Index i = 0;
  auto load = [&](Index at) { return _mm_loadu_ps(reinterpret_cast<const float*>(from + 2 * i * width + at)); };
  for (; i + few < count; i += few) {
    const __m128 a = load(0), b = load(16), c = load(32), d = load(48);
    __m128 low, high;
    if constexpr (bytes == 4) {
      low = _mm_shuffle_ps(a, b, 0x88);
      high = _mm_shuffle_ps(c, d, 0x88);
    } else {
      low = _mm_movelh_ps(a, b);
      high = _mm_movelh_ps(c, d);
    }
    _mm_storeu_ps(reinterpret_cast<float*>(to + i * width), low);
    _mm_storeu_ps(reinterpret_cast<float*>(to + i * width + 16), high);
  }
  return i;
}
#endif

void copy_block(std::size_t bytes, Source src, Target dst, Index i0, Index i1, Index j0, Index j1) noexcept {
  switch (bytes) {
    case 1: return copy_elements<1>(src, dst, i0, i1, j0, j1);
    case 2: return copy_elements<2>(src, dst, i0, i1, j0, j1);
    case 4: return copy_elements<4>(src, dst, i0, i1, j0, j1);
    case 8: return copy_elements<8>(src, dst, i0, i1, j0, j1);
    case 16: return copy_elements<16>(src, dst, i0, i1, j0, j1);
    default:
      for (Index j = j0; j < j1; ++j)
        for (Index i = i0; i < i1; ++i) std::memcpy(dst.at(i, j), src.at(i, j), bytes);
  }
}

/// Rows i ... i + count - 1 of column j, whose neighbours are near in memory.
void copy_column(std::size_t bytes, Source src, Target dst, Index i, Index count, Index j) noexcept {
  const Index width = static_cast<Index>(bytes);
  Index done = 0;
#if defined(__SSE2__)
  if (dst.row == width && src.row == 2 * width) {
    if (bytes == 4) done = gather_every_second<4>(src.at(i, j), dst.at(i, j), count);
    if (bytes == 8) done = gather_every_second<8>(src.at(i, j), dst.at(i, j), count);
  }
#endif
  copy_block(bytes, src, dst, i + done, i + count, j, j + 1);
}

/// A part of the whole: an equal number of elements in column order where neighbours in a column are near in memory, tiles
/// otherwise (transposed arrays).
void copy_part(std::size_t bytes, Index rows, Index cols, Source src, Target dst, Leave leave, Part part) noexcept {
  const Index width = static_cast<Index>(bytes);
  const bool runs = src.row == width && dst.row == width;
  if (runs && src.col == rows * width && dst.col == rows * width) {  // one run
    rows *= cols;
    cols = 1;
  }
  if (runs || cols == 1 || (std::abs(src.row) <= near && std::abs(dst.row) <= near)) {
    const Index total = rows * cols, each = total / part.count, longer = total % part.count;
    const Index begin = each * part.number + std::min(part.number, longer);
    const Index end = begin + each + (part.number < longer ? 1 : 0);
    for (Index at = begin; at < end;) {
      const Index j = at / rows, i = at % rows, run = std::min(rows - i, end - at);
      if (runs)
        copy_run(dst.at(i, j), src.at(i, j), run * width, leave);
      else
        copy_column(bytes, src, dst, i, run, j);
      if (leave == Leave::in_shared_cache && dst.row == width) demote(dst.at(i, j), run * width);
      at += run;
    }
    return;
  }
  const Index down = (rows + tile - 1) / tile, across = (cols + tile - 1) / tile, tiles = down * across;
  for (Index t = tiles * part.number / part.count; t < tiles * (part.number + 1) / part.count; ++t) {
    const Index i = t % down * tile, j = t / down * tile;
    copy_block(bytes, src, dst, i, std::min(i + tile, rows), j, std::min(j + tile, cols));
  }
}

void copy(std::size_t bytes, Index rows, Index cols, Source src, Target dst, Leave leave) {
  if (rows <= 0 || cols <= 0 || bytes == 0) return;
  const std::size_t total = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * bytes;
  if (total < parallel_bytes) return copy_part(bytes, rows, cols, src, dst, leave, {0, 1});
  Team& team = Team::shared();
  const std::size_t grain = leave == Leave::in_shared_cache ? parallel_bytes / 8 : parallel_bytes / 2;  // by its time
  team.run(threads_for(total, grain, team.size_in_step()), [&](Team::Member& me) {
    copy_part(bytes, rows, cols, src, dst, leave, {me.rank(), me.size()});
  });
}

Source strided_source(const void* src, std::size_t bytes, Index row_stride, Index col_stride) {
  const Index width = static_cast<Index>(bytes);
  return {static_cast<const unsigned char*>(src), row_stride * width, col_stride * width};
}
Target strided_target(void* dst, std::size_t bytes, Index row_stride, Index col_stride) {
  const Index width = static_cast<Index>(bytes);
  return {static_cast<unsigned char*>(dst), row_stride * width, col_stride * width};
}

}  // namespace

void pack(const void* src, std::size_t element_bytes, std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
          std::int64_t col_stride, void* dst, std::int64_t ldd, Leave leave) {
  copy(element_bytes, rows, cols, strided_source(src, element_bytes, row_stride, col_stride),
       strided_target(dst, element_bytes, 1, ldd), leave);
}

void unpack(const void* src, std::int64_t lds, std::size_t element_bytes, std::int64_t rows, std::int64_t cols,
            void* dst, std::int64_t row_stride, std::int64_t col_stride, Leave leave) {
  copy(element_bytes, rows, cols, strided_source(src, element_bytes, 1, lds),
       strided_target(dst, element_bytes, row_stride, col_stride), leave);
}

void pack_part(Part part, const void* src, std::size_t element_bytes, std::int64_t rows, std::int64_t cols,
               std::int64_t row_stride, std::int64_t col_stride, void* dst, std::int64_t ldd, Leave leave) {
  if (rows <= 0 || cols <= 0 || element_bytes == 0) return;
  copy_part(element_bytes, rows, cols, strided_source(src, element_bytes, row_stride, col_stride),
            strided_target(dst, element_bytes, 1, ldd), leave, part);
}

void unpack_part(Part part, const void* src, std::int64_t lds, std::size_t element_bytes, std::int64_t rows,
                 std::int64_t cols, void* dst, std::int64_t row_stride, std::int64_t col_stride, Leave leave) {
  if (rows <= 0 || cols <= 0 || element_bytes == 0) return;
  copy_part(element_bytes, rows, cols, strided_source(src, element_bytes, 1, lds),
            strided_target(dst, element_bytes, row_stride, col_stride), leave, part);
}

}  // namespace devobj::host
