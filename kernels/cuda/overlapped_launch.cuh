// Kernels of a queue whose start overlaps the end of the one before (Hopper's programmatic dependent launch).
#pragma once

#include "kernels/cuda/asked_once.hpp"
#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/shared_memory.hpp"

namespace devobj::cuda {

/// First in a kernel that is launched so: what the kernels before wrote is there now, and the next one may be placed as
/// soon as there is room.
__device__ inline void begin_overlapped() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  let_next_start();
}

/// Whether the device's kernels can overlap so: clusters_usable, asked once for each device.
template <class Kernel>
bool overlap_usable(Kernel* kernel, int device) {
  static AskedOnce<bool> known;  // of all kernels of this type
  return known.of(device, [&](bool&) { return clusters_usable(kernel); });
}

/// kernel<<<blocks, threads, bytes>>>(arguments...) on the queue, overlapped with the kernel before it if `overlaps`,
/// which only some GPUs do (overlap_usable); the kernel calls begin_overlapped or wait_for_previous.
template <class... Parameters, class... Arguments>
void launch_overlapped(const char* name, bool overlaps, void (*kernel)(Parameters...), std::int64_t blocks, int threads,
                       std::int64_t bytes, Queue& q, Arguments... arguments) {
  if (bytes > std::int64_t(shared_memory_unasked)) allow_shared_memory(kernel, q.device(), name);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(bytes);
  config.stream = stream_of(q);
  config.attrs = &attribute;
  config.numAttrs = overlaps ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), name);
  q.launched(name);
}

}  // namespace devobj::cuda
