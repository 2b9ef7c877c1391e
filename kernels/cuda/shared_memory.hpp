// How much shared memory there is, and leave to use it.
#pragma once

#include <map>
#include <mutex>
#include <utility>

#include "kernels/cuda/asked_once.hpp"
#include "kernels/cuda/cuda_common.hpp"

namespace devobj::cuda {

/// Bytes of dynamic shared memory that a block can have on this device, less what the system keeps.
inline std::size_t shared_memory_limit(int device) {
  static AskedOnce<int> known;
  return static_cast<std::size_t>(known.of(device, [&](bool&) {
    int bytes = 0;
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "shared_memory_limit");
    return bytes;
  }));
}

/// Bytes of it that every kernel's blocks can have without allow_shared_memory.
inline constexpr std::size_t shared_memory_unasked = 48 * 1024;

/// Lets the kernel's blocks have all of it that the kernel's own variables leave, so many bytes, on the current device. The
/// permission is the kernel's, not the launch's: where the need depends on the sizes, one given for each launch could be taken
/// away by a smaller launch of another thread.
template <class Kernel>
std::size_t allow_shared_memory(Kernel* kernel, int device, const char* routine) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::pair<Kernel*, int>, std::size_t>;  // for launches while the program ends, too
  const std::scoped_lock lock(mutex);
  std::size_t& bytes = known[{kernel, device}];
  if (bytes == 0) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), routine);
    bytes = shared_memory_limit(device) - attributes.sharedSizeBytes;
  }
  // at every launch, since the caller may have reset the device
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)), routine);
  return bytes;
}

}  // namespace devobj::cuda
