#include "kernels/host/simd.hpp"

#include <algorithm>

namespace devobj::host {

Simd best_simd() noexcept {
#if defined(__x86_64__) && !defined(DEVOBJ_SIMD_BASELINE)
  static const Simd best = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("fma"))
      return Simd::avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Simd::avx2;
    return Simd::baseline;
  }();
  return best;
#else
  return Simd::baseline;
#endif
}

constinit std::atomic<int> level_in_use{unknown_simd};

Simd use_simd(Simd level) noexcept {
  const Simd taken = std::min(level, best_simd());
  level_in_use = static_cast<int>(taken);
  return taken;
}

}  // namespace devobj::host
