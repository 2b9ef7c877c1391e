// A product in two parts, of which the first is there first, by a kernel that finds its operands split or reduced.
#pragma once

#include <algorithm>

#include "devobj/matrix.hpp"
#include "kernels/native.hpp"

namespace devobj::cuda {

/// multiply(A, B, C) for the first `some` rows or columns of C, as `first` has it, and after first.then() for the others. Operands have
/// from(first, count), their vectors from a whole tile on.
template <class T, class Operand, class Multiply>
void multiply_first_and_rest(const FirstPart& first, std::int64_t some, const Operand& A, const Operand& B, View<T> C,
                             Multiply multiply) {
  const bool rows = first.side == Side::Left;
  const std::int64_t all = rows ? C.rows : C.cols;
  const auto part = [&](Range v) {
    if (rows)
      multiply(A.from(v.begin, v.size()), B, C(v, {0, C.cols}));
    else
      multiply(A, B.from(v.begin, v.size()), C({0, C.rows}, v));
  };
  some = std::min(some, all);
  part({0, some});
  first.then();
  if (some < all) part({some, all});
}

}  // namespace devobj::cuda
