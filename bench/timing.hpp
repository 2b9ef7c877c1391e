// Times: the median of repetitions after a warm-up.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace bench {

struct Repeat {
  int reps = 5;            ///< repetitions after the warm-up
  double seconds = 20;     ///< no further repetition is begun after so much time in this measurement
  double warm_up_ms = 10;  ///< the warm-up's runs take at least so long together: threads wake up, clocks rise
};

/// The middle value, or the mean of the two middle ones; values is not empty.
inline double median(std::vector<double> values) {
  const std::size_t half = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Milliseconds on the host's clock that `run` and `wait` take.
template <class Run, class Wait>
double once_ms(Run&& run, Wait&& wait) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  wait();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// The median time of `run` in milliseconds. `prepare` comes before each run and is not timed; `wait` ends both. At
/// least one repetition follows the warm-up, except that a first run longer than the whole time allowed is itself the
/// measurement.
template <class Prepare, class Run, class Wait>
double median_ms(const Repeat& repeat, Prepare&& prepare, Run&& run, Wait&& wait) {
  double spent = 0;
  const auto one = [&] {
    prepare();
    wait();
    const double ms = once_ms(run, wait);
    spent += ms;
    return ms;
  };
  if (const double first = one(); first > 1000 * repeat.seconds) return first;
  while (spent < std::min(repeat.warm_up_ms, 1000 * repeat.seconds)) one();
  std::vector<double> times;
  do {
    times.push_back(one());
  } while (static_cast<int>(times.size()) < repeat.reps && spent < 1000 * repeat.seconds);
  return median(times);
}

}  // namespace bench
