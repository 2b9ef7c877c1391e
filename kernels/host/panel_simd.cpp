#include "kernels/host/panel_simd.hpp"

#include <algorithm>
#include <atomic>

namespace devobj::host {

#define DEVOBJ_SIMD_LEVEL(space)                                             \
  namespace space {                                                          \
  template <class R, int P>                                                  \
  const PanelKernels<R>& kernels() noexcept;                                 \
  extern template const PanelKernels<float>& kernels<float, 1>() noexcept;   \
  extern template const PanelKernels<float>& kernels<float, 2>() noexcept;   \
  extern template const PanelKernels<double>& kernels<double, 1>() noexcept; \
  extern template const PanelKernels<double>& kernels<double, 2>() noexcept; \
  }
DEVOBJ_SIMD_LEVEL(simd_baseline)
#if defined(__x86_64__)
DEVOBJ_SIMD_LEVEL(simd_avx2)
DEVOBJ_SIMD_LEVEL(simd_avx512)
#endif
#undef DEVOBJ_SIMD_LEVEL

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

template <class R, int P>
const PanelKernels<R>& panel_kernels() noexcept {
  switch (simd_in_use()) {
#if defined(__x86_64__)
    case Simd::avx512:
      return simd_avx512::kernels<R, P>();
    case Simd::avx2:
      return simd_avx2::kernels<R, P>();
#endif
    default:
      return simd_baseline::kernels<R, P>();
  }
}

template const PanelKernels<float>& panel_kernels<float, 1>() noexcept;
template const PanelKernels<float>& panel_kernels<float, 2>() noexcept;
template const PanelKernels<double>& panel_kernels<double, 1>() noexcept;
template const PanelKernels<double>& panel_kernels<double, 2>() noexcept;

}  // namespace devobj::host
