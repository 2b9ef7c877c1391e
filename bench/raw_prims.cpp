#include "raw_prims.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "cuda_side.hpp"
#include "devobj/error.hpp"

namespace bench {

const char* raw_prim_name(const char* routine, const devobj::Queue& q) {
  const std::string name = routine;
  if (q.on_cuda()) return name == "spmv" ? "cusparse" : "cub";
  return name == "segmented_scan" || name == "exclusive_segmented_scan" || name == "histogram" || name == "spmv" || name == "compact" ? "loop" : "std";
}

namespace {

template <class T>
std::function<void()> on_host(const std::string& routine, const PrimOperands<T>& o) {
  using Sum = std::conditional_t<std::is_integral_v<T>, std::uint32_t, T>;
  if (routine == "scan")
    return [o] {
      std::inclusive_scan(o.x, o.x + o.n, o.y,
                          [](T a, T b) { return static_cast<T>(static_cast<Sum>(a) + static_cast<Sum>(b)); });
    };
  if (routine == "segmented_scan")
    return [o] {
      Sum sum = 0;
      for (std::int64_t i = 0; i < o.n; ++i) {
        sum = o.heads[i] != 0 ? static_cast<Sum>(o.x[i]) : sum + static_cast<Sum>(o.x[i]);
        o.y[i] = static_cast<T>(sum);
      }
    };
  if (routine == "exclusive_scan")
    return [o] {
      std::exclusive_scan(o.x, o.x + o.n, o.y, T(0),
                          [](T a, T b) { return static_cast<T>(static_cast<Sum>(a) + static_cast<Sum>(b)); });
    };
  if (routine == "exclusive_segmented_scan")
    return [o] {
      Sum sum = 0;
      for (std::int64_t i = 0; i < o.n; ++i) {
        if (o.heads[i] != 0) sum = 0;
        const Sum before = sum;
        sum += static_cast<Sum>(o.x[i]);
        o.y[i] = static_cast<T>(before);
      }
    };
  if (routine == "reduce_sum")
    return [o] {
      if constexpr (std::is_integral_v<T>)
        *o.value = static_cast<double>(std::accumulate(o.x, o.x + o.n, std::int64_t{0}));
      else
        *o.value = std::reduce(o.x, o.x + o.n, 0.0);
    };
  if (routine == "reduce_min")
    return [o] {
      const T* least = std::min_element(o.x, o.x + o.n);
      *o.value = static_cast<double>(*least);
      *o.count = least - o.x + 1;
    };
  if (routine == "sort_keys")
    return [o] {
      std::copy_n(o.x, o.n, o.y);
      std::sort(o.y, o.y + o.n);
    };
  if (routine == "sort_pairs")
    return [o, pairs = std::vector<std::pair<T, std::int32_t>>(static_cast<std::size_t>(o.n))]() mutable {
      for (std::int64_t i = 0; i < o.n; ++i) pairs[static_cast<std::size_t>(i)] = {o.x[i], o.values[i]};
      std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (std::int64_t i = 0; i < o.n; ++i) {
        o.y[i] = pairs[static_cast<std::size_t>(i)].first;
        o.sorted_values[i] = pairs[static_cast<std::size_t>(i)].second;
      }
    };
  if (routine == "compact")
    return [o] {
      T* to = o.y;
      for (std::int64_t i = 0; i < o.n; ++i)
        if (o.heads[i] != 0) *to++ = o.x[i];
      *o.count = to - o.y;
    };
  if (routine == "histogram")
    return [o] {
      std::fill_n(o.counts, o.bins, 0);
      const double scale = o.bins / (static_cast<double>(o.upper) - static_cast<double>(o.lower));
      for (std::int64_t i = 0; i < o.n; ++i)
        if (o.x[i] >= o.lower && o.x[i] < o.upper)
          ++o.counts[static_cast<int>((static_cast<double>(o.x[i]) - static_cast<double>(o.lower)) * scale)];
    };
  if (routine == "spmv")
    return [o] {
      for (std::int64_t i = 0; i < o.rows; ++i) {
        T sum = 0;
        for (std::int32_t e = o.offsets[i] - 1; e < o.offsets[i + 1] - 1; ++e)
          sum += o.matrix_values[e] * o.vector[o.columns[e] - 1];
        o.y[i] = sum;
      }
    };
  devobj::fail(devobj::Status::invalid_argument, "no peer for ", routine);
}

}  // namespace

template <class T>
std::function<void()> raw_prim(const char* routine, const PrimOperands<T>& operands, devobj::Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::raw_prim<T>(routine, operands, q.stream());
  return on_host<T>(routine, operands);
}

template std::function<void()> raw_prim(const char*, const PrimOperands<std::int32_t>&, devobj::Queue&);
template std::function<void()> raw_prim(const char*, const PrimOperands<float>&, devobj::Queue&);
template std::function<void()> raw_prim(const char*, const PrimOperands<double>&, devobj::Queue&);

}  // namespace bench
