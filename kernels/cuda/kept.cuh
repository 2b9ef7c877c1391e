// What a kernel looks up over and over, so that the compiler keeps it in registers: what begins with a special register it
// would fetch again each time, 20 to 50 cycles.
#pragma once

#include <cstdint>

#include "kernels/cuda/cluster.cuh"

namespace devobj::cuda {

/// The same number, which the compiler keeps.
__device__ inline int kept(int number) {
  asm volatile("" : "+r"(number));
  return number;
}
/// The same place in global memory, which the compiler keeps instead of the product that leads there.
template <class T>
__device__ inline T* kept(T* place) {
  asm volatile("" : "+l"(place));
  __builtin_assume(__isGlobal(place));
  return place;
}
/// The same shared memory, whose address begins with what a special register holds.
template <class S>
__device__ S& kept_address(S& memory) {
  std::uint32_t address = shared_address(&memory);
  asm volatile("" : "+r"(address));
  return *static_cast<S*>(__cvta_shared_to_generic(address));
}

}  // namespace devobj::cuda
