// What tests of products that leave multiprocessors to others share (cuda::Spared).
#pragma once

#include <string>

#include "kernels/native.hpp"
#include "testing.hpp"

namespace devobj::test {

/// check(spared, what) beside the multiprocessors whose numbers are given, of which there are more than are spared, fewer, or none;
/// and, if the product has tiles for all others, as if as many of its blocks had left as may: the rest multiply where they are.
template <class Check>
void beside_given_multiprocessors(Queue& q, bool many_tiles, Check&& check) {
  const Dense<std::int32_t> zeros(cuda::spared_counts, 1);
  for (const int first : {0, 60, 100000})
    for (const int step : {1, 2, 0}) {
      Dense<std::int32_t> numbers(cuda::lu_panel_places, 1);
      for (int i = 0; i < cuda::lu_panel_places; ++i) numbers(i, 0) = first + i * step;
      const Matrix<std::int32_t> places = upload(numbers, q), counts = upload(zeros, q);
      const auto check_with = [&](int spared, const std::string& what) {
        check(cuda::Spared{spared, places.view().data, counts.view().data}, what);
        expect_same(download<std::int32_t>(counts, q), zeros, "counts, " + what);
      };
      const std::string where = "beside multiprocessors " + std::to_string(first) + " + " + std::to_string(step) + " i";
      for (const int spared : {2, 16, 32, 33}) check_with(spared, where);
      if (!many_tiles) continue;
      Dense<std::int32_t> left = zeros;
      left(0, 0) = 1000000;
      to_device<std::int32_t>({left.data(), cuda::spared_counts, 1, cuda::spared_counts}, counts, q);
      check_with(16, where + ", none may leave");
    }
}

}  // namespace devobj::test
