// A product in two parts, of which the first is there first, by a kernel that finds its operands split or reduced.
#pragma once

#include <algorithm>

#include "devobj/matrix.hpp"
#include "kernels/native.hpp"

namespace devobj::cuda {

/// multiply(A, B, rows, columns) for the first `some` rows or columns of a result of so many, as `first` has it, and after first.then() for
/// the others. Operands have from(first, count), their vectors from a whole tile on.
template <class Operand, class Multiply>
void multiply_first_and_rest(const FirstPart& first, std::int64_t some, const Operand& A, const Operand& B,
                             std::int64_t rows, std::int64_t columns, Multiply multiply) {
  const bool of_rows = first.side == Side::Left;
  const std::int64_t all = of_rows ? rows : columns;
  const auto part = [&](Range v) {
    if (of_rows)
      multiply(A.from(v.begin, v.size()), B, v, Range{0, columns});
    else
      multiply(A, B.from(v.begin, v.size()), Range{0, rows}, v);
  };
  some = std::min(some, all);
  part({0, some});
  first.then();
  if (some < all) part({some, all});
}

}  // namespace devobj::cuda
