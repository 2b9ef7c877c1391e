// View: a column-major block in a backend's memory, passed by value.
#pragma once

#include <algorithm>

#include "devobj/error.hpp"
#include "devobj/types.hpp"

namespace devobj {

/// Half-open range of rows or columns, counted from 0.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const noexcept { return end - begin; }
};

/// `rows` x `cols` elements at data[i + j * ld]. Owns nothing; the memory belongs to a Matrix (or to the caller)
/// and lives where the queue it is used with works: on the GPU or on the host.
template <class T> struct View {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 1;

  View() = default;
  View(T* data_, std::int64_t rows_, std::int64_t cols_, std::int64_t ld_)
      : data(data_), rows(rows_), cols(cols_), ld(ld_) {
    require(rows >= 0 && cols >= 0, "View: rows and cols must not be negative, but are ", rows, " and ", cols);
    require(ld >= std::max<std::int64_t>(1, rows), "View: ld must be at least max(1, rows) = ",
            std::max<std::int64_t>(1, rows), ", but is ", ld);
    require(data != nullptr || rows == 0 || cols == 0, "View: data is null, but the view has ", rows, " x ", cols,
            " elements");
  }
  View(T* data_, std::int64_t rows_, std::int64_t cols_) : View(data_, rows_, cols_, std::max<std::int64_t>(1, rows_)) {}

  bool empty() const noexcept { return rows == 0 || cols == 0; }
  std::int64_t size() const noexcept { return rows * cols; }
  bool contiguous() const noexcept { return ld == rows || cols <= 1; }
  bool is_vector() const noexcept { return rows == 1 || cols == 1; }

  /// The block of rows r and columns c, e.g. A(below, K).
  View operator()(Range r, Range c) const {
    require(0 <= r.begin && r.begin <= r.end && r.end <= rows, "View: rows [", r.begin, ", ", r.end,
            ") are not within [0, ", rows, ")");
    require(0 <= c.begin && c.begin <= c.end && c.end <= cols, "View: columns [", c.begin, ", ", c.end,
            ") are not within [0, ", cols, ")");
    View block;  // an empty block keeps no pointer past the end
    block.rows = r.size();
    block.cols = c.size();
    block.ld = ld;
    block.data = block.empty() ? nullptr : data + r.begin + c.begin * ld;
    return block;
  }
  /// Column j as a vector.
  View col(std::int64_t j) const { return (*this)({0, rows}, {j, j + 1}); }
};

/// The diagonal length min(rows, cols).
template <class T> std::int64_t diagonal(View<T> A) noexcept { return std::min(A.rows, A.cols); }

}  // namespace devobj
