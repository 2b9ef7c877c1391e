// y = the x_i with flags_i != 0, by CUB.
#include "kernels/cuda/grid.cuh"
// CUB in its own namespace comes before any other CUB
#include "kernels/cuda/cub.cuh"
#include "kernels/prims.hpp"
// and then its parts
#include <cub/device/device_select.cuh>

namespace devobj::cuda {

template <class T> std::int64_t compact(View<T> x, View<std::int32_t> flags, View<T> y, Queue& q) {
  DeviceScope scope(q.device());
  const std::int64_t n = x.size();
  void* front = nullptr;
  const auto* count = static_cast<const std::int64_t*>(
      call_cub("compact", n, sizeof(std::int64_t), q, front, [&](void* memory, std::size_t& bytes) {
        return cub::DeviceSelect::Flagged(memory, bytes, x.data, flags.data, y.data, static_cast<std::int64_t*>(front), n,
                                          stream_of(q));
      }));
  std::int64_t result;
  check(cudaMemcpyAsync(&result, count, sizeof result, cudaMemcpyDeviceToHost, stream_of(q)), "compact");
  q.wait();
  return result;
}

#define INSTANTIATE(T) template std::int64_t compact(View<T>, View<std::int32_t>, View<T>, Queue&);
DEVOBJ_FOR_EACH_PRIM(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
