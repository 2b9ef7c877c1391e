// What a GPU is, without a CUDA header. Implemented in kernels/cuda/device.cu.
#pragma once

#include <string>

namespace devobj::cuda {

/// A device's name, and 10 * major + minor of its compute capability.
struct Properties {
  std::string name;
  int capability = 0;
};
Properties properties(int device);

}  // namespace devobj::cuda
