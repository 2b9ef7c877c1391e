// Loads of 8 or 16 bytes, stores and copies of 16, of memory that is to stay in the L2 cache, if `keep`, while other kernels'
// matrices pass through it; else as usual.
#pragma once

#include <cuda_pipeline.h>

#include <cstdint>
#include <cstring>

#include "kernels/cuda/cluster.cuh"

namespace devobj::cuda {

__device__ __forceinline__ std::uint64_t keeping_policy() {
  std::uint64_t policy = 0;
#if __CUDA_ARCH__ >= 800
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}

/// Not moved by the compiler across barriers and other loads of this kind.
template <bool keep, class E>
__device__ __forceinline__ E load_kept(const E* from) {
  if constexpr (!keep) {
    return *from;
  } else {
    static_assert(sizeof(E) == 8 || sizeof(E) == 16);
    std::uint64_t words[sizeof(E) / 8] = {};
#if __CUDA_ARCH__ >= 800
    if constexpr (sizeof(E) == 8)
      asm volatile("ld.global.L2::cache_hint.b64 %0, [%1], %2;" : "=l"(words[0]) : "l"(from), "l"(keeping_policy()));
    else
      asm volatile("ld.global.L2::cache_hint.v2.b64 {%0, %1}, [%2], %3;"
                   : "=l"(words[0]), "=l"(words[sizeof(E) / 8 - 1])
                   : "l"(from), "l"(keeping_policy()));
#endif
    E x;
    memcpy(&x, words, sizeof x);
    return x;
  }
}

template <bool keep, class E>
__device__ __forceinline__ void store_kept(E* to, E x) {
  if constexpr (!keep) {
    *to = x;
  } else {
    static_assert(sizeof(E) == 16);
    std::uint64_t words[2];
    memcpy(words, &x, sizeof x);
#if __CUDA_ARCH__ >= 800
    asm volatile("st.global.L2::cache_hint.v2.b64 [%0], {%1, %2}, %3;" ::"l"(to), "l"(words[0]), "l"(words[1]),
                 "l"(keeping_policy())
                 : "memory");
#endif
  }
}

/// To shared memory, in the pipeline of __pipeline_memcpy_async.
template <bool keep, class E>
__device__ __forceinline__ void copy_kept(E* to, const E* from) {
  if constexpr (!keep) {
    __pipeline_memcpy_async(to, from, sizeof(E));
  } else {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], %2, %3;" ::"r"(shared_address(to)), "l"(from),
                 "n"(sizeof(E)), "l"(keeping_policy())
                 : "memory");
#endif
  }
}

}  // namespace devobj::cuda
