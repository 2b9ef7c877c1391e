// Stores to shared memory without a branch, for a few of a warp's lanes.
#pragma once

#include <cstring>

#include "kernels/cuda/cluster.cuh"

namespace devobj::cuda {

/// to = value, in shared memory, by the lanes with `here`: an instruction under a predicate, where the compiler likes to make
/// a branch that all wait for.
__device__ inline void store_if(bool here, unsigned& to, unsigned value) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %0, 0;\n\t@p st.shared.b32 [%1], %2;\n\t}" ::"r"(unsigned(here)),
               "r"(shared_address(&to)), "r"(value)
               : "memory");
}
/// The same with 16 bytes.
template <class Piece>
__device__ void store_if(bool here, Piece& to, const Piece& value) {
  static_assert(sizeof(Piece) == 16 && alignof(Piece) == 16);
  int4 words;
  memcpy(&words, &value, sizeof words);
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %0, 0;\n\t@p st.shared.v4.b32 [%1], {%2, %3, %4, %5};\n\t}" ::"r"(
                   unsigned(here)),
               "r"(shared_address(&to)), "r"(words.x), "r"(words.y), "r"(words.z), "r"(words.w)
               : "memory");
}

}  // namespace devobj::cuda
