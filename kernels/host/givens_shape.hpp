// Where a matrix has elements to annihilate: the staircases of its slabs, and the envelope of its nonzeros.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "devobj/matrix.hpp"
#include "kernels/host/givens_simd.hpp"

namespace devobj::host {

/// The slabs of a matrix, the rows of each in parts that are annihilated apart, a triangle each. Sizes follow from the
/// matrix alone.
template <class R, int P>
struct PanelShapes {
  static constexpr std::int64_t K = slab_columns<R, P>, groups = K / widest_staircase;  // of a slab
  static constexpr std::int64_t most_parts = 8;
  /// At least: enough for eight lanes. Handing a part over costs some microseconds; two are not faster than one thread
  /// that goes by groups.
  static constexpr std::int64_t part_rows = std::max<std::int64_t>(128, 8 * K), least_parts = groups > 1 ? 3 : 2;

  /// The staircase of eight columns: its first row, steps, the row that it ends above, and where its numbers begin.
  struct Group {
    std::int64_t row0, steps, bottom, offset;
  };
  /// `rows` rows, the first being `first` of the slab; rows of groups count from there. With lanes the numbers begin with
  /// the first group's.
  struct Part {
    std::int64_t first, rows;
    int lanes;  // or 0: in staircases
    std::vector<Group> group;
  };
  /// From row row0 on there are `rows` rows in V; `columns` columns have something to annihilate, `width` are in V. With
  /// `lanes` the block can be made by groups (givens_simd_groups.inl).
  struct Slab {
    std::int64_t row0, rows, columns, width;
    int lanes;
    std::vector<Part> part;
  };
  std::vector<Slab> slab;
  std::int64_t numbers = 0, most_rows = 0;  // of a slab, of a part

  /// For m x n, where column j has no nonzero from row reach[j] on; reach does not fall.
  PanelShapes(std::int64_t m, std::int64_t n, const std::vector<std::int64_t>& reach) {
    const std::int64_t k = std::min(m - 1, n);
    for (std::int64_t row0 = 0; row0 < k; row0 += K) {
      const std::int64_t columns = std::min(K, k - row0);
      std::vector<std::int64_t> bottoms;
      for (std::int64_t j = row0; j < row0 + columns; j += widest_staircase)
        bottoms.push_back(reach[static_cast<std::size_t>(std::min(j + widest_staircase, n) - 1)] - row0);
      const std::int64_t width = std::min(K, std::min(m, n) - row0), rows = std::max(bottoms.back(), width);
      const std::int64_t parts =
          rows < least_parts * part_rows ? 1 : std::clamp<std::int64_t>(rows / part_rows, 1, most_parts);
      Slab s{row0, rows, columns, width, 0, {}};
      std::int64_t offset = 0;
      for (std::int64_t i = 0; i < parts; ++i)
        s.part.push_back(part_of(rows * i / parts, rows * (i + 1) / parts, bottoms,
                                 {reach.begin() + row0, reach.begin() + row0 + columns}, row0, offset));
      if (parts == 1 && groups > 1 && columns == width) {
        s.lanes = lanes_of_groups(rows, columns, reach, row0);
        if (s.lanes > 0) offset = std::max(offset, lane_numbers<R, P>(rows, s.lanes));
      }
      most_rows = std::max(most_rows, s.part.back().rows);
      numbers = std::max(numbers, offset);
      slab.push_back(std::move(s));
    }
  }

 private:
  static Part part_of(std::int64_t first, std::int64_t end, const std::vector<std::int64_t>& bottoms,
                      const std::vector<std::int64_t>& reach, std::int64_t row0, std::int64_t& offset) {
    Part part{first, end - first, 0, {}};
    part.lanes = lanes(part.rows, K, reach.data(), std::ssize(reach), row0 + first);
    for (std::int64_t j = 0; const std::int64_t below : bottoms) {
      const std::int64_t bottom = std::clamp<std::int64_t>(below - first, 0, part.rows);
      part.group.push_back({j, std::max<std::int64_t>(0, bottom - 1 - j), bottom, offset});
      if (part.lanes == 0) offset += staircase_numbers<P>(part.group.back().steps, widest_staircase);
      j += widest_staircase;
    }
    if (part.lanes > 0) offset += lane_numbers<R, P>(part.rows, part.lanes);
    offset = (offset + 15) / 16 * 16;
    return part;
  }
  /// As many as have row j of their triangles of `width` columns among the nonzeros of column j, or none.
  static int lanes(std::int64_t rows, std::int64_t width, const std::int64_t* reach, std::int64_t columns,
                   std::int64_t row0) {
    const GivensKernels<R>& kernels = givens_kernels<R, P>();
    for (std::int64_t lanes = kernels.most_lanes; lanes >= kernels.least_lanes; lanes /= 2) {
      bool fit = rows >= lanes * width;
      for (std::int64_t j = 0; fit && j < columns; ++j) fit = reach[j] <= row0 || reach[j] - row0 >= lanes * (j + 1);
      if (fit) return static_cast<int>(lanes);
    }
    return 0;
  }
  /// As many as all groups of a slab can have, or none.
  static int lanes_of_groups(std::int64_t rows, std::int64_t columns, const std::vector<std::int64_t>& reach,
                             std::int64_t row0) {
    int least = 0;
    for (std::int64_t c = 0; c < columns; c += widest_staircase) {
      const int here = lanes(rows - c, widest_staircase, reach.data() + row0 + c,
                             std::min<std::int64_t>(widest_staircase, columns - c), row0 + c);
      least = c == 0 ? here : std::min(least, here);
    }
    return least;
  }
};

/// Where A's nonzeros end: row reach[j] for the columns up to j, column right[i] for the rows up to i. first[j] is the
/// first row of R's column j that may hold anything but a zero.
struct Envelope {
  std::vector<std::int64_t> reach, right, first;
};
template <class T>
Envelope envelope(View<T> A) {
  Envelope e{std::vector<std::int64_t>(A.cols), std::vector<std::int64_t>(A.rows, 0),
             std::vector<std::int64_t>(A.cols)};
  std::int64_t below = 0;
  for (std::int64_t j = 0; j < A.cols; ++j) {
    const T* a = A.data + j * A.ld;
    std::int64_t last = A.rows;
    while (last > below && a[last - 1] == T(0)) --last;
    e.reach[j] = below = std::max({below, last, std::min(j + 1, A.rows)});
    // the first row that reaches column j counts for all below it
    std::int64_t first = 0;
    while (first < last && a[first] == T(0)) ++first;
    if (first < last) e.right[first] = std::max(e.right[first], j + 1);
  }
  for (std::int64_t i = 1; i < A.rows; ++i) e.right[i] = std::max(e.right[i], e.right[i - 1]);
  // row i of R comes from A's rows i ... reach[i] - 1
  for (std::int64_t i = 0, j = 0; j < A.cols; ++j) {
    while (i < std::min(A.rows, A.cols) && e.right[e.reach[i] - 1] <= j) ++i;
    e.first[j] = i;
  }
  return e;
}

}  // namespace devobj::host
