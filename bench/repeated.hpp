// Times of calls of microseconds, ours and a peer's turn by turn: so many calls to a wait that the wait hardly counts.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "timing.hpp"

namespace bench {

/// Milliseconds of one call of each; `wait` ends a series of calls. The medians of repeat.reps series.
template <class Ours, class Raw, class Wait>
std::pair<double, double> turns_ms(const Repeat& repeat, Ours&& ours, Raw&& raw, Wait&& wait) {
  constexpr double series_ms = 4;
  ours();
  raw();
  wait();
  const double once = std::max(once_ms(ours, wait), 1e-3);
  const int calls = static_cast<int>(std::clamp(series_ms / once, 1.0, 2000.0));
  const auto series = [calls](auto& call) {
    for (int i = 0; i < calls; ++i) call();
  };
  std::vector<double> our_times, raw_times;
  double spent = 0;
  do {
    our_times.push_back(once_ms([&] { series(ours); }, wait) / calls);
    raw_times.push_back(once_ms([&] { series(raw); }, wait) / calls);
    spent += calls * (our_times.back() + raw_times.back());
  } while (static_cast<int>(our_times.size()) < repeat.reps && spent < 1000 * repeat.seconds);
  return {median(our_times), median(raw_times)};
}

}  // namespace bench
