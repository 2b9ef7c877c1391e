// Sums, minima and maxima: of pieces of fixed length, then of the pieces in their order.
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/host/pieces.hpp"
#include "kernels/prims.hpp"

namespace devobj::host {
namespace {

/// x_1 + ... + x_n in eight interleaved sums.
template <class T>
sum_t<T> sum_of(const T* x, std::int64_t n) {
  constexpr int lanes = 8;
  sum_t<T> partial[lanes] = {};
  const std::int64_t whole = n - n % lanes;
  for (std::int64_t i = 0; i < whole; i += lanes)
    for (int lane = 0; lane < lanes; ++lane) partial[lane] += x[i + lane];
  for (std::int64_t i = whole; i < n; ++i) partial[i - whole] += x[i];
  return ((partial[0] + partial[1]) + (partial[2] + partial[3])) +
         ((partial[4] + partial[5]) + (partial[6] + partial[7]));
}

template <class T>
bool is_nan(T x) {
  return x != x;
}

/// Whether b, which comes later, takes the place of a.
template <class T>
bool replaces(bool largest, T a, T b) {
  return !is_nan(a) && ((largest ? b > a : b < a) || is_nan(b));
}

/// Eight candidates side by side find the value; the first place that has it is looked for afterwards.
template <class T>
Extremum<T> extremum_of(bool largest, const T* x, std::int64_t n) {
  constexpr int lanes = 16;
  T best[lanes];
  bool bad[lanes] = {};
  std::fill_n(best, lanes, x[0]);
  const std::int64_t whole = n - n % lanes;
  const auto look = [&](int lane, T value) {
    best[lane] = largest ? (value > best[lane] ? value : best[lane]) : (value < best[lane] ? value : best[lane]);
    bad[lane] |= is_nan(value);
  };
  for (std::int64_t i = 0; i < whole; i += lanes)
    for (int lane = 0; lane < lanes; ++lane) look(lane, x[i + lane]);
  for (std::int64_t i = whole; i < n; ++i) look(static_cast<int>(i - whole), x[i]);
  bool any_bad = false;
  T value = x[0];
  for (int lane = 0; lane < lanes; ++lane) {
    any_bad = any_bad || bad[lane];
    if (replaces(largest, value, best[lane])) value = best[lane];
  }
  const T* found = any_bad ? std::find_if(x, x + n, is_nan<T>) : std::find(x, x + n, value);
  return {*found, found - x + 1};
}

}  // namespace

template <class T>
sum_t<T> reduce_sum(View<T> x, Queue& q) {
  sum_t<T> sum = 0;
  q.submit("reduce_sum", [=, &sum] {
    const Pieces pieces(x.size(), sizeof(T) * static_cast<std::size_t>(x.size()));
    std::vector<sum_t<T>> sums(static_cast<std::size_t>(pieces.count));
    pieces.for_each([&](std::int64_t p) { sums[p] = sum_of(x.data + pieces.begin(p), pieces.size(p)); });
    sum = sum_of(sums.data(), pieces.count);
  });
  q.wait();
  return sum;
}

template <class T>
Extremum<T> reduce_extremum(bool largest, View<T> x, Queue& q) {
  Extremum<T> best{};
  q.submit(largest ? "reduce_max" : "reduce_min", [=, &best] {
    const Pieces pieces(x.size(), sizeof(T) * static_cast<std::size_t>(x.size()));
    std::vector<Extremum<T>> found(static_cast<std::size_t>(pieces.count));
    pieces.for_each([&](std::int64_t p) {
      found[p] = extremum_of(largest, x.data + pieces.begin(p), pieces.size(p));
      found[p].position += pieces.begin(p);
    });
    best = found[0];
    for (const Extremum<T>& f : found)
      if (replaces(largest, best.value, f.value)) best = f;
  });
  q.wait();
  return best;
}

#define INSTANTIATE(T)                           \
  template sum_t<T> reduce_sum(View<T>, Queue&); \
  template Extremum<T> reduce_extremum(bool, View<T>, Queue&);
DEVOBJ_FOR_EACH_PRIM(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
