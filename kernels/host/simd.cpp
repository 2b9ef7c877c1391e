#include "kernels/host/simd.hpp"

#include <algorithm>

namespace devobj::host {

namespace {

Simd best_of_processor() noexcept {
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
Simd best_up_to(Simd level) noexcept {
  const Simd best = std::min(level, best_of_processor());
  return built(best) ? best : static_cast<Simd>(static_cast<int>(best) - 1);
}

}  // namespace

Simd best_simd() noexcept {
  return best_up_to(Simd::avx512);
}

constinit std::atomic<int> level_in_use{unknown_simd};

Simd use_simd(Simd level) noexcept {
  const Simd taken = best_up_to(level);
  level_in_use = static_cast<int>(taken);
  return taken;
}

}  // namespace devobj::host
