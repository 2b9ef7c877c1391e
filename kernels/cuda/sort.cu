// Stable sorting of keys and pairs by CUB's radix sort. Its memory, as large as the keys, is not the queue's scratch, which
// would be kept.
#include "kernels/cuda/grid.cuh"
// CUB in its own namespace comes before any other CUB
#include "kernels/cuda/cub.cuh"
#include "kernels/prims.hpp"
// and then its parts
#include <cub/device/device_radix_sort.cuh>

#include "devobj/matrix.hpp"

namespace devobj::cuda {
namespace {

using cub::DeviceRadixSort;
using cub::DoubleBuffer;

template <class Call> void with_memory(const char* routine, Queue& q, Call&& call) {
  std::size_t bytes = 0;
  check(call(static_cast<void*>(nullptr), bytes), routine);
  const Storage memory(bytes, q);
  check(call(memory.data(), bytes), routine);
  q.launched(routine);
}

template <class E> void copy_elements(const char* routine, const E* from, E* to, std::int64_t n, Queue& q) {
  if (from == to) return;
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(E), cudaMemcpyDeviceToDevice, stream_of(q)), routine);
}

template <class E> E* elements(const Storage& storage) { return static_cast<E*>(storage.data()); }

}  // namespace

template <class K> void sort_keys(Order order, View<K> keys, View<K> sorted, Queue& q) {
  DeviceScope scope(q.device());
  const auto n = static_cast<std::uint32_t>(keys.size());
  const bool down = order == Order::descending;
  constexpr int end = 8 * sizeof(K);
  const cudaStream_t stream = stream_of(q);
  if (keys.data != sorted.data)
    return with_memory("sort_keys", q, [&](void* memory, std::size_t& bytes) {
      return down ? DeviceRadixSort::SortKeysDescending(memory, bytes, keys.data, sorted.data, n, 0, end, stream)
                  : DeviceRadixSort::SortKeys(memory, bytes, keys.data, sorted.data, n, 0, end, stream);
    });
  const Storage spare(n * sizeof(K), q);
  DoubleBuffer<K> both(sorted.data, elements<K>(spare));
  with_memory("sort_keys", q, [&](void* memory, std::size_t& bytes) {
    return down ? DeviceRadixSort::SortKeysDescending(memory, bytes, both, n, 0, end, stream)
                : DeviceRadixSort::SortKeys(memory, bytes, both, n, 0, end, stream);
  });
  copy_elements("sort_keys", both.Current(), sorted.data, n, q);
}

template <class K, class V>
void sort_pairs(Order order, View<K> keys, View<V> values, View<K> sorted_keys, View<V> sorted_values, Queue& q) {
  DeviceScope scope(q.device());
  const auto n = static_cast<std::uint32_t>(keys.size());
  const bool down = order == Order::descending;
  constexpr int end = 8 * sizeof(K);
  const cudaStream_t stream = stream_of(q);
  if (keys.data != sorted_keys.data && values.data != sorted_values.data)
    return with_memory("sort_pairs", q, [&](void* memory, std::size_t& bytes) {
      return down ? DeviceRadixSort::SortPairsDescending(memory, bytes, keys.data, sorted_keys.data, values.data,
                                                         sorted_values.data, n, 0, end, stream)
                  : DeviceRadixSort::SortPairs(memory, bytes, keys.data, sorted_keys.data, values.data,
                                               sorted_values.data, n, 0, end, stream);
    });
  // in place, at least one of them: in the outputs, and as much memory again
  const Storage spare(n * sizeof(K), q), spare_values(n * sizeof(V), q);
  copy_elements("sort_pairs", keys.data, sorted_keys.data, n, q);
  copy_elements("sort_pairs", values.data, sorted_values.data, n, q);
  DoubleBuffer<K> both(sorted_keys.data, elements<K>(spare));
  DoubleBuffer<V> both_values(sorted_values.data, elements<V>(spare_values));
  with_memory("sort_pairs", q, [&](void* memory, std::size_t& bytes) {
    return down ? DeviceRadixSort::SortPairsDescending(memory, bytes, both, both_values, n, 0, end, stream)
                : DeviceRadixSort::SortPairs(memory, bytes, both, both_values, n, 0, end, stream);
  });
  copy_elements("sort_pairs", static_cast<const K*>(both.Current()), sorted_keys.data, n, q);
  copy_elements("sort_pairs", static_cast<const V*>(both_values.Current()), sorted_values.data, n, q);
}

#define INSTANTIATE(K)                                                                                \
  template void sort_keys(Order, View<K>, View<K>, Queue&);                                           \
  template void sort_pairs(Order, View<K>, View<std::int32_t>, View<K>, View<std::int32_t>, Queue&);  \
  template void sort_pairs(Order, View<K>, View<std::int64_t>, View<K>, View<std::int64_t>, Queue&);
DEVOBJ_FOR_EACH_PRIM(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
