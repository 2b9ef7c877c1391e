// Scans, plain and segmented. A block has a tile of the elements: of plain scans of 4-byte elements by scan_tiles.cuh, of the
// others by scan_shared.cuh.
#include "kernels/cuda/scan_shared.cuh"
#include "kernels/cuda/scan_tiles.cuh"
#include "kernels/prims.hpp"

namespace devobj::cuda {
namespace {

template <class T, bool segmented>
inline constexpr bool by_shared_memory = segmented || sizeof(T) == 8;
/// The fastest on an H200 (docs/prims.md), or nearly.
template <class T, bool segmented>
using Shape = std::conditional_t<sizeof(T) == 8, ScanItems<256, 21, 5>,
                                 std::conditional_t<segmented, ScanItems<256, 31, 6>, ScanRows<256, 12, 3>>>;

template <class P>
bool starts_at(const P* pointer, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

template <class T, bool segmented, bool exclusive>
void launch(const char* routine, View<T> x, const std::int32_t* heads, View<T> y, Queue& q) {
  using S = Shape<T, segmented>;
  DeviceScope scope(q.device());
  const std::int64_t n = x.size(), tiles = ceil_div(n, S::template tile<T>), groups = ceil_div(tiles, group_tiles);
  const std::size_t bytes = static_cast<std::size_t>(tiles + 2 * groups) * sizeof(Letter<T>);
  Letters<T> letters;
  letters.tiles = static_cast<Letter<T>*>(q.scratch(bytes));
  letters.sums = letters.tiles + tiles;
  letters.before = letters.sums + groups;
  check(cudaMemsetAsync(letters.tiles, 0, bytes, stream_of(q)), routine);
  // Blocks start in the order of their numbers, so that what a block waits for has started.
  const auto grid = static_cast<unsigned>(tiles);
  const bool aligned = starts_at(x.data, 16) && starts_at(y.data, 16);
  if constexpr (by_shared_memory<T, segmented>) {
    const auto kernel = scan_shared_kernel<S, T, segmented, exclusive>;
    constexpr int shared = static_cast<int>(S::template shared_bytes<T>);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), routine);
    kernel<<<grid, S::threads, shared, stream_of(q)>>>(x.data, heads, y.data, n, aligned, letters);
  } else {
    const auto kernel = aligned ? scan_rows_kernel<S, T, exclusive, true> : scan_rows_kernel<S, T, exclusive, false>;
    kernel<<<grid, S::threads, 0, stream_of(q)>>>(x.data, y.data, n, letters);
  }
  q.launched(routine);
}

}  // namespace

template <class T>
void scan(Scan kind, View<T> x, View<T> y, Queue& q) {
  if (kind == Scan::exclusive)
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
