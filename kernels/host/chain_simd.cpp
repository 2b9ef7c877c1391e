#include "kernels/host/chain_simd.hpp"

#include <algorithm>

#include "kernels/host/panel_simd.hpp"

namespace devobj::host {

#define DEVOBJ_SIMD_LEVEL(space)                                         \
  namespace space {                                                      \
  template <class R>                                                     \
  const ChainKernels<R>& chains() noexcept;                              \
  extern template const ChainKernels<float>& chains<float>() noexcept;   \
  extern template const ChainKernels<double>& chains<double>() noexcept; \
  }
DEVOBJ_SIMD_LEVEL(simd_baseline)
#if defined(__x86_64__)
DEVOBJ_SIMD_LEVEL(simd_avx2)
DEVOBJ_SIMD_LEVEL(simd_avx512)
#endif
#undef DEVOBJ_SIMD_LEVEL

template <class R>
const ChainKernels<R>& chain_kernels() noexcept {
  switch (simd_in_use()) {
#if defined(__x86_64__)
    case Simd::avx512:
      return simd_avx512::chains<R>();
    case Simd::avx2:
      return simd_avx2::chains<R>();
#endif
    default:
      return simd_baseline::chains<R>();
  }
}
template const ChainKernels<float>& chain_kernels<float>() noexcept;
template const ChainKernels<double>& chain_kernels<double>() noexcept;

}  // namespace devobj::host
