// How much shared memory there is.
#pragma once

#include "kernels/cuda/cuda_common.hpp"

namespace devobj::cuda {

/// Bytes of dynamic shared memory that a block can have on this device, less what the system keeps.
inline std::size_t shared_memory_limit(int device) {
  static int known[64] = {};
  if (device >= 0 && device < 64 && known[device] > 0) return static_cast<std::size_t>(known[device]);
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "shared_memory_limit");
  if (device >= 0 && device < 64) known[device] = bytes;
  return static_cast<std::size_t>(bytes);
}

}  // namespace devobj::cuda
