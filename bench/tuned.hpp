// From times to a table's lines: which candidate is the fastest from which size on.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// A candidate must be faster than the one of the size before by more than this part to take its place: noise makes no
/// line.
inline constexpr double tuned_margin = 0.02;

/// The fastest candidate of each size; times[i][c] are milliseconds of size i and candidate c, not finite where it
/// failed.
inline std::vector<std::size_t> fastest(const std::vector<std::vector<double>>& times) {
  std::vector<std::size_t> chosen;
  for (const auto& of_size : times) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < of_size.size(); ++c)
      if (!(of_size[best] <= of_size[c]) && std::isfinite(of_size[c])) best = c;
    if (!chosen.empty() && of_size[chosen.back()] <= of_size[best] * (1 + tuned_margin)) best = chosen.back();
    chosen.push_back(best);
  }
  return chosen;
}

/// What each size takes beyond the one before; times as for fastest(). The native factorizations choose a block by the order
/// of what is left of the matrix, so that it is these that count.
inline std::vector<std::vector<double>> increments(std::vector<std::vector<double>> times) {
  for (std::size_t i = times.size(); i-- > 1;)
    for (std::size_t c = 0; c < times[i].size(); ++c)
      if (std::isfinite(times[i - 1][c])) times[i][c] -= times[i - 1][c];
  return times;
}

/// A line: the candidate from this size on.
struct Step {
  std::int64_t from;
  std::size_t candidate;
  bool operator==(const Step&) const = default;
};

/// The first step is from 0; another begins in the middle between two sizes (ascending) whose candidates differ.
inline std::vector<Step> steps(const std::vector<std::int64_t>& sizes, const std::vector<std::size_t>& chosen) {
  std::vector<Step> all;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (all.empty())
      all.push_back({0, chosen[i]});
    else if (chosen[i] != all.back().candidate)
      all.push_back({(sizes[i - 1] + sizes[i]) / 2 + 1, chosen[i]});
  return all;
}

}  // namespace bench
