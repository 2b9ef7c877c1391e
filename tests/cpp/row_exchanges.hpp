// Row exchanges as panels of an LU factorization leave them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace devobj::test {

/// Row exchanges as a panel's: rows at random from below change places with the first ones, part after part.
struct Exchanges {
  std::vector<std::int32_t> source, displaced_to;  // of all parts, from each part's first row on
  std::vector<std::int64_t> order;                 // the old row of each new one
  std::vector<std::vector<std::int64_t>> parts;    // the same of each part by itself, from its first row on

  Exchanges(std::int64_t m, std::int64_t rows, std::int64_t part_rows) : order(m) {
    std::iota(order.begin(), order.end(), 0);
    std::uint32_t state = 1;
    for (std::int64_t top = 0; top < rows; top += part_rows) {
      const std::int64_t count = std::min(part_rows, rows - top);
      std::vector<std::int64_t> at(m - top);  // the part's own order
      std::iota(at.begin(), at.end(), 0);
      for (std::int64_t t = 0; t < count; ++t) {
        state = state * 1664525u + 1013904223u;
        if (t % 5 != 3) std::swap(at[t], at[t + state % std::uint32_t(m - top - t)]);  // some stay
      }
      for (std::int64_t t = 0; t < count; ++t) {
        source.push_back(static_cast<std::int32_t>(at[t]));
        const auto place = std::find(at.begin(), at.end(), t) - at.begin();
        displaced_to.push_back(place >= count ? static_cast<std::int32_t>(place) : -1);
      }
      std::vector<std::int64_t> next = order;
      for (std::int64_t t = 0; t < m - top; ++t) next[top + t] = order[top + at[t]];
      order = next;
      parts.push_back(at);
    }
  }
};

}  // namespace devobj::test
