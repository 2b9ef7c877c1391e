// Times: the median of repetitions after one warm-up.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace bench {

struct Repeat {
  int reps = 5;         ///< repetitions after the warm-up
  double seconds = 20;  ///< no further repetition is begun after so much time in this measurement
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
/// least one repetition follows the warm-up, except that a warm-up longer than the whole time allowed is itself the
/// measurement.
template <class Prepare, class Run, class Wait>
double median_ms(const Repeat& repeat, Prepare&& prepare, Run&& run, Wait&& wait) {
  prepare();
  wait();
  const double first = once_ms(run, wait);
  double spent = first;
  if (spent > 1000 * repeat.seconds) return first;
  std::vector<double> times;
  do {
    prepare();
    wait();
    times.push_back(once_ms(run, wait));
    spent += times.back();
  } while (static_cast<int>(times.size()) < repeat.reps && spent < 1000 * repeat.seconds);
  return median(times);
}

}  // namespace bench
