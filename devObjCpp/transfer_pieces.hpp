// The pieces in which pageable host memory travels to and from a GPU, and how they are packed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "devobj/view.hpp"
#include "kernels/host/team.hpp"

namespace devobj {

/// The end of a transfer at which its pieces are short, so that little time passes before the GPU's first copy (packing
/// the first piece) or after its last (unpacking the last piece).
enum class Short { first, last };

/// [0, total) in pieces of at most `most`, in order: the short ones grow by half from `least`, the others are equal.
inline std::vector<Range> ramp(std::int64_t total, std::int64_t least, std::int64_t most, Short end) {
  std::vector<std::int64_t> sizes;
  std::int64_t left = total;
  for (std::int64_t size = std::max<std::int64_t>(1, least); size < most && left > 2 * size; size += (size + 1) / 2) {
    sizes.push_back(size);
    left -= size;
  }
  for (std::int64_t parts = (left + most - 1) / most; parts > 0; --parts) {
    sizes.push_back(left / parts);
    left -= left / parts;
  }
  if (end == Short::last) std::reverse(sizes.begin(), sizes.end());
  std::vector<Range> pieces;
  for (const std::int64_t size : sizes) {
    const std::int64_t begin = pieces.empty() ? 0 : pieces.back().end;
    pieces.push_back({begin, begin + size});
  }
  return pieces;
}

/// A rows x cols array, not empty, in pieces of at most piece_bytes: whole columns if they fit, otherwise parts of columns.
class TransferPieces {
 public:
  TransferPieces(std::int64_t rows, std::int64_t cols, std::int64_t element_bytes, std::int64_t piece_bytes, Short end)
      : all_rows_(rows), element_bytes_(element_bytes) {
    const std::int64_t most = piece_bytes / element_bytes, least = short_bytes / element_bytes;
    rows_ = ramp(rows, cols == 1 ? least : most, most, end);
    cols_ = ramp(cols, least / rows, std::max<std::int64_t>(1, most / rows), end);
  }
  std::int64_t count() const { return std::ssize(rows_) * std::ssize(cols_); }
  Range row_range(std::int64_t p) const { return rows_[static_cast<std::size_t>(p % std::ssize(rows_))]; }
  Range col_range(std::int64_t p) const { return cols_[static_cast<std::size_t>(p / std::ssize(rows_))]; }
  Range bytes(std::int64_t p) const {  ///< of all, in column order
    const Range r = row_range(p), c = col_range(p);
    const std::int64_t begin = (r.begin + c.begin * all_rows_) * element_bytes_;
    return {begin, begin + r.size() * c.size() * element_bytes_};
  }
  std::int64_t most_elements() const { return longest(rows_) * longest(cols_); }  ///< of a piece

  static constexpr std::int64_t short_bytes = 512 << 10;  ///< the shortest piece

 private:
  static std::int64_t longest(const std::vector<Range>& ranges) {
    std::int64_t most = 0;
    for (const Range& r : ranges) most = std::max(most, r.size());
    return most;
  }
  std::int64_t all_rows_, element_bytes_;
  std::vector<Range> rows_, cols_;
};

constexpr std::int64_t mebibyte = 1 << 20;

/// How to pack the bytes `part` of `total`. What was packed lies in the cores' own caches, from which a GPU reads at half
/// the rate, until that much more is packed: the first pieces are copied before, and after the last ones nothing more is
/// packed.
inline host::Leave leave_packed(Range part, std::int64_t total) {
  constexpr std::int64_t caches = 14 * mebibyte, too_short = 2 * mebibyte;
  const bool read_soon = part.begin < caches || part.end + caches > total;
  return read_soon && total >= too_short ? host::Leave::in_shared_cache : host::Leave::in_own_cache;
}

/// How to unpack them. The buffers that were read last lie in the cores' own caches, to which a GPU writes at half the rate:
/// the last plain stores push them out. Before that the memory's rate counts, of which stores past the caches need less.
inline host::Leave leave_unpacked(Range part, std::int64_t total) {
  constexpr std::int64_t last = 128 * mebibyte;
  return part.end + last > total ? host::Leave::in_own_cache : host::Leave::in_memory;
}

}  // namespace devobj
