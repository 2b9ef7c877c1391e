#include "kernels/host/simd.hpp"

#include <algorithm>
#include <atomic>

namespace devobj::host {

Simd best_simd() noexcept {
#if defined(__x86_64__)
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

namespace {
std::atomic<Simd> highest{Simd::avx512};
}

Simd use_simd(Simd level) noexcept {
  highest = level;
  return std::min(level, best_simd());
}

Simd simd_in_use() noexcept {
  return std::min(highest.load(std::memory_order_relaxed), best_simd());
}

}  // namespace devobj::host
