// Scans, plain and segmented. Integers without segments go to CUB; the others to the kernel of scan_tiles.cuh.
#include "kernels/cuda/scan_tiles.cuh"
// CUB in its own namespace comes before any other CUB
#include "kernels/cuda/cub.cuh"
#include "kernels/prims.hpp"
// and then its parts
#include <cub/device/device_scan.cuh>

namespace devobj::cuda {
namespace {

/// Threads, rows, blocks an SM, and the nanoseconds of a waiting warp's sleep: the fastest on an H200 (docs/prims.md).
template <class T, bool segmented>
struct Shapes;
template <class T>
struct Shapes<T, false> {
  using Type = std::conditional_t<sizeof(T) == 4, ScanShape<256, 12, 3, 0>, ScanShape<384, 8, 2, 0>>;
};
template <class T>
struct Shapes<T, true> {
  using Type = std::conditional_t<sizeof(T) == 4, ScanShape<256, 5, 3, 0>, ScanShape<256, 6, 3, 0>>;
};
template <class T, bool segmented>
using ShapeOf = typename Shapes<T, segmented>::Type;

template <class P>
bool starts_at(const P* pointer, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

template <class T, bool segmented, bool exclusive>
void launch(const char* routine, View<T> x, const std::int32_t* heads, View<T> y, Queue& q) {
  using Shape = ShapeOf<T, segmented>;
  DeviceScope scope(q.device());
  const std::int64_t n = x.size(), tiles = ceil_div(n, Shape::template tile<T>), groups = ceil_div(tiles, group_tiles);
  const std::size_t bytes = static_cast<std::size_t>(tiles + 2 * groups) * sizeof(Letter<T>);
  Letters<T> letters;
  letters.tiles = static_cast<Letter<T>*>(q.scratch(bytes));
  letters.sums = letters.tiles + tiles;
  letters.before = letters.sums + groups;
  check(cudaMemsetAsync(letters.tiles, 0, bytes, stream_of(q)), routine);
  const bool aligned = starts_at(x.data, 16) && starts_at(y.data, 16) && starts_at(heads, 64 / sizeof(T));
  const auto kernel =
      aligned ? scan_kernel<Shape, T, segmented, exclusive, true> : scan_kernel<Shape, T, segmented, exclusive, false>;
  // Blocks start in the order of their numbers, so that what a block waits for has started.
  kernel<<<static_cast<unsigned>(tiles), Shape::threads, 0, stream_of(q)>>>(x.data, heads, y.data, n, letters);
  q.launched(routine);
}

/// y = the scan of x by CUB; sums wrap around.
template <bool exclusive>
void scan_integers(View<std::int32_t> x, View<std::int32_t> y, Queue& q) {
  DeviceScope scope(q.device());
  const auto* from = reinterpret_cast<const std::uint32_t*>(x.data);
  auto* to = reinterpret_cast<std::uint32_t*>(y.data);
  void* front = nullptr;
  call_cub("scan", x.size(), 0, q, front, [&](void* memory, std::size_t& bytes) {
    if constexpr (exclusive)
      return cub::DeviceScan::ExclusiveSum(memory, bytes, from, to, x.size(), stream_of(q));
    else
      return cub::DeviceScan::InclusiveSum(memory, bytes, from, to, x.size(), stream_of(q));
  });
}

}  // namespace

template <class T>
void scan(Scan kind, View<T> x, View<T> y, Queue& q) {
  const bool exclusive = kind == Scan::exclusive;
  if constexpr (std::is_integral_v<T>)
    return exclusive ? scan_integers<true>(x, y, q) : scan_integers<false>(x, y, q);
  else if (exclusive)
    launch<T, false, true>("scan", x, nullptr, y, q);
  else
    launch<T, false, false>("scan", x, nullptr, y, q);
}

template <class T>
void segmented_scan(Scan kind, View<T> x, View<std::int32_t> heads, View<T> y, Queue& q) {
  if (kind == Scan::exclusive)
    launch<T, true, true>("segmented_scan", x, heads.data, y, q);
  else
    launch<T, true, false>("segmented_scan", x, heads.data, y, q);
}

#define INSTANTIATE(T)                                \
  template void scan(Scan, View<T>, View<T>, Queue&); \
  template void segmented_scan(Scan, View<T>, View<std::int32_t>, View<T>, Queue&);
DEVOBJ_FOR_EACH_PRIM(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
