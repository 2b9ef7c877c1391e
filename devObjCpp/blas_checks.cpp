#include "blas_checks.hpp"

#include <cstdint>
#include <utility>

namespace devobj {
namespace {

// The columns of a view, as intervals of addresses in units of bytes.
struct Columns {
  std::int64_t begin, length, pitch, count;
  std::int64_t end() const { return begin + (count - 1) * pitch + length; }
};

Columns columns_of(const void* data, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                   std::int64_t element_bytes) {
  const auto begin = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data));
  if (cols == 1 || ld == rows) return {begin, rows * cols * element_bytes, rows * cols * element_bytes, 1};
  return {begin, rows * element_bytes, ld * element_bytes, cols};
}

bool meet(std::int64_t begin1, std::int64_t end1, std::int64_t begin2, std::int64_t end2) {
  return begin1 < end2 && begin2 < end1;
}

// Both views lie on the grid of columns of length `pitch` that starts where A does. There B starts in column `column`
// at offset `offset`; what reaches beyond the end of its grid column is the start of the next one.
bool overlap_on_grid(Columns A, Columns B) {
  const std::int64_t pitch = A.pitch, distance = B.begin - A.begin;
  std::int64_t column = distance / pitch, offset = distance % pitch;
  if (offset < 0) {
    offset += pitch;
    --column;
  }
  const bool first =
      meet(0, A.length, offset, std::min(offset + B.length, pitch)) && meet(0, A.count, column, column + B.count);
  const bool rest = offset + B.length > pitch && meet(0, A.length, 0, offset + B.length - pitch) &&
                    meet(0, A.count, column + 1, column + 1 + B.count);
  return first || rest;
}

}  // namespace

bool overlap(const void* a, std::int64_t a_rows, std::int64_t a_cols, std::int64_t a_ld, std::int64_t a_element_bytes,
             const void* b, std::int64_t b_rows, std::int64_t b_cols, std::int64_t b_ld, std::int64_t b_element_bytes) {
  if (a_rows == 0 || a_cols == 0 || b_rows == 0 || b_cols == 0) return false;
  Columns A = columns_of(a, a_rows, a_cols, a_ld, a_element_bytes);
  Columns B = columns_of(b, b_rows, b_cols, b_ld, b_element_bytes);
  if (!meet(A.begin, A.end(), B.begin, B.end())) return false;
  if (A.count == 1) std::swap(A, B);
  if (A.count == 1) return true;  // two intervals that meet
  // A gap of A is shorter than its pitch, so a single longer interval that meets A's range meets a column.
  if (B.count == 1 && B.length >= A.pitch) return true;
  if (B.count == 1) B.pitch = A.pitch;
  if (A.pitch == B.pitch) return overlap_on_grid(A, B);
  // Different pitches: both lists of columns in the order of addresses.
  for (std::int64_t i = 0, j = 0; i < A.count && j < B.count;) {
    const std::int64_t a_begin = A.begin + i * A.pitch, b_begin = B.begin + j * B.pitch;
    if (meet(a_begin, a_begin + A.length, b_begin, b_begin + B.length)) return true;
    if (a_begin + A.length <= b_begin)
      ++i;
    else
      ++j;
  }
  return false;
}

}  // namespace devobj
