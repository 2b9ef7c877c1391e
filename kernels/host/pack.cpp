// pack and unpack: strided host arrays to and from column-major memory, by the team where they are large.
#include <algorithm>
#include <cstring>

#include "kernels/host/team.hpp"

namespace devobj::host {
namespace {

// A thread's share is at least this much.
constexpr std::size_t grain = 256 * 1024;
// Rows and columns of a tile in which lines of both sides stay in the first-level cache.
constexpr std::int64_t tile = 32;

// rows x cols elements of `bytes` bytes; element (i, j) is at data + (i row_stride + j col_stride) bytes.
template <class Byte> struct Strided {
  Byte* data;
  std::int64_t row_stride, col_stride;
  Byte* at(std::int64_t i, std::int64_t j, std::int64_t bytes) const {
    return data + (i * row_stride + j * col_stride) * bytes;
  }
};
using Source = Strided<const char>;
using Target = Strided<char>;

template <std::int64_t bytes>
void copy_elements(Source src, Target dst, std::int64_t i1, std::int64_t i2, std::int64_t j1, std::int64_t j2) {
  for (std::int64_t j0 = j1; j0 < j2; j0 += tile)
    for (std::int64_t i0 = i1; i0 < i2; i0 += tile)
      for (std::int64_t j = j0; j < std::min(j0 + tile, j2); ++j)
        for (std::int64_t i = i0; i < std::min(i0 + tile, i2); ++i)
          std::memcpy(dst.at(i, j, bytes), src.at(i, j, bytes), bytes);
}

void copy_block(Source src, Target dst, std::int64_t bytes, std::int64_t i1, std::int64_t i2, std::int64_t j1,
                std::int64_t j2) {
  if (i1 >= i2 || j1 >= j2) return;
  if (src.row_stride == 1 && dst.row_stride == 1) {
    const std::int64_t rows = i2 - i1;
    if (src.col_stride == rows && dst.col_stride == rows) {
      std::memcpy(dst.at(i1, j1, bytes), src.at(i1, j1, bytes), rows * (j2 - j1) * bytes);
      return;
    }
    for (std::int64_t j = j1; j < j2; ++j) std::memcpy(dst.at(i1, j, bytes), src.at(i1, j, bytes), rows * bytes);
    return;
  }
  switch (bytes) {
    case 4: return copy_elements<4>(src, dst, i1, i2, j1, j2);
    case 8: return copy_elements<8>(src, dst, i1, i2, j1, j2);
    case 16: return copy_elements<16>(src, dst, i1, i2, j1, j2);
  }
  for (std::int64_t j = j1; j < j2; ++j)
    for (std::int64_t i = i1; i < i2; ++i) std::memcpy(dst.at(i, j, bytes), src.at(i, j, bytes), bytes);
}

// Elements [first, last) in column order: the end of a column, whole columns, the start of a column.
void copy_share(Source src, Target dst, std::int64_t bytes, std::int64_t rows, std::int64_t first, std::int64_t last) {
  if (first >= last) return;
  const std::int64_t j1 = first / rows, j2 = last / rows, head = first % rows, tail = last % rows;
  if (j1 == j2) return copy_block(src, dst, bytes, head, tail, j1, j1 + 1);
  if (head > 0) copy_block(src, dst, bytes, head, rows, j1, j1 + 1);
  copy_block(src, dst, bytes, 0, rows, head > 0 ? j1 + 1 : j1, j2);
  copy_block(src, dst, bytes, 0, tail, j2, j2 + 1);
}

void copy_strided(Source src, Target dst, std::int64_t bytes, std::int64_t rows, std::int64_t cols) {
  const std::int64_t elements = rows * cols;
  if (elements == 0) return;
  Team& team = Team::shared();
  const int threads = threads_for(static_cast<std::size_t>(elements * bytes), grain, team.size());
  if (threads <= 1) return copy_share(src, dst, bytes, rows, 0, elements);
  team.run(threads, [&](Team::Member& me) {
    // cut at multiples of 16 elements, so that threads rarely write to one cache line
    auto cut = [&](int rank) { return rank == me.size() ? elements : elements / me.size() * rank / 16 * 16; };
    copy_share(src, dst, bytes, rows, cut(me.rank()), cut(me.rank() + 1));
  });
}

}  // namespace

void pack(const void* src, std::size_t element_bytes, std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
          std::int64_t col_stride, void* dst, std::int64_t ldd) {
  copy_strided({static_cast<const char*>(src), row_stride, col_stride}, {static_cast<char*>(dst), 1, ldd},
               static_cast<std::int64_t>(element_bytes), rows, cols);
}

void unpack(const void* src, std::int64_t lds, std::size_t element_bytes, std::int64_t rows, std::int64_t cols, void* dst,
            std::int64_t row_stride, std::int64_t col_stride) {
  copy_strided({static_cast<const char*>(src), 1, lds}, {static_cast<char*>(dst), row_stride, col_stride},
               static_cast<std::int64_t>(element_bytes), rows, cols);
}

}  // namespace devobj::host
