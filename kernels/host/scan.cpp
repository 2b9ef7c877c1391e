// Scans, plain and segmented, in pieces of fixed length, so that the sums do not depend on the number of threads:
// y_i = (sum of the pieces before) + (sum within the piece).
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/host/pieces.hpp"
#include "kernels/prims.hpp"

namespace devobj::host {
namespace {

// int32 wraps around.
template <class T>
using arithmetic_t = std::conditional_t<std::is_integral_v<T>, std::uint32_t, T>;

/// A run of elements as a sum sees it: its sum from the last segment's start on, and whether a segment starts in it.
template <class T>
struct Run {
  arithmetic_t<T> sum = 0;
  bool head = false;
};
/// The run a followed by the run b.
template <class T>
Run<T> joined(Run<T> a, Run<T> b) {
  return {b.head ? b.sum : arithmetic_t<T>(a.sum + b.sum), a.head || b.head};
}

/// The piece's run; with y, its scan as well, `before` being what comes before it. heads may be null.
template <bool segmented, bool exclusive, class T>
Run<T> scan_piece(const T* x, const std::int32_t* heads, T* y, std::int64_t n, Run<T> before) {
  Run<T> inside;
  arithmetic_t<T> base = before.sum;  // of the segment that the piece begins in
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (segmented) {
      const bool head = heads[i] != 0;
      inside.sum = head ? 0 : inside.sum;
      base = head ? 0 : base;
      inside.head |= head;
    }
    const auto sum = static_cast<arithmetic_t<T>>(inside.sum + static_cast<arithmetic_t<T>>(x[i]));
    if (y != nullptr) y[i] = static_cast<T>(static_cast<arithmetic_t<T>>(base + (exclusive ? inside.sum : sum)));
    inside.sum = sum;
  }
  return inside;
}

template <bool segmented, bool exclusive, class T>
void run(const T* x, const std::int32_t* heads, T* y, std::int64_t n) {
  const Pieces pieces(n, 3 * sizeof(T) * static_cast<std::size_t>(n));
  const auto piece = [=](std::int64_t p, T* to, Run<T> before) {
    const std::int64_t at = pieces.begin(p);
    return scan_piece<segmented, exclusive>(x + at, segmented ? heads + at : nullptr, to ? to + at : nullptr,
                                            pieces.size(p), before);
  };
  if (pieces.threads <= 2) {  // reading twice by two threads is no gain over reading once
    Run<T> before;
    for (std::int64_t p = 0; p < pieces.count; ++p) before = joined(before, piece(p, y, before));
    return;
  }
  std::vector<Run<T>> runs(static_cast<std::size_t>(pieces.count));
  pieces.for_each([&](std::int64_t p) { runs[p] = piece(p, nullptr, {}); });
  Run<T> before;
  for (Run<T>& r : runs) {  // from the piece itself to what comes before it
    const Run<T> own = std::exchange(r, before);
    before = joined(before, own);
  }
  pieces.for_each([&](std::int64_t p) { piece(p, y, runs[p]); });
}

template <bool segmented, class T>
void run(Scan kind, const T* x, const std::int32_t* heads, T* y, std::int64_t n) {
  if (kind == Scan::exclusive)
    run<segmented, true>(x, heads, y, n);
  else
    run<segmented, false>(x, heads, y, n);
}

}  // namespace

template <class T>
void scan(Scan kind, View<T> x, View<T> y, Queue& q) {
  q.submit("scan", [=] { run<false, T>(kind, x.data, nullptr, y.data, x.size()); });
}

template <class T>
void segmented_scan(Scan kind, View<T> x, View<std::int32_t> heads, View<T> y, Queue& q) {
  q.submit("segmented_scan", [=] { run<true, T>(kind, x.data, heads.data, y.data, x.size()); });
}

#define INSTANTIATE(T)                                \
  template void scan(Scan, View<T>, View<T>, Queue&); \
  template void segmented_scan(Scan, View<T>, View<std::int32_t>, View<T>, Queue&);
DEVOBJ_FOR_EACH_PRIM(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
