#include "kernels/host/givens_simd.hpp"

#include <algorithm>

namespace devobj::host {

#define DEVOBJ_SIMD_LEVEL(space)                                             \
  namespace space {                                                          \
  template <class R, int P>                                                  \
  const GivensKernels<R>& givens() noexcept;                                 \
  extern template const GivensKernels<float>& givens<float, 1>() noexcept;   \
  extern template const GivensKernels<float>& givens<float, 2>() noexcept;   \
  extern template const GivensKernels<double>& givens<double, 1>() noexcept; \
  extern template const GivensKernels<double>& givens<double, 2>() noexcept; \
  }
DEVOBJ_SIMD_LEVEL(simd_baseline)
#if defined(__x86_64__)
DEVOBJ_SIMD_LEVEL(simd_avx2)
DEVOBJ_SIMD_LEVEL(simd_avx512)
#endif
#undef DEVOBJ_SIMD_LEVEL

template <class R, int P>
const GivensKernels<R>& givens_kernels() noexcept {
  switch (simd_in_use()) {
#if defined(__x86_64__)
    case Simd::avx512:
      return simd_avx512::givens<R, P>();
    case Simd::avx2:
      return simd_avx2::givens<R, P>();
#endif
    default:
      return simd_baseline::givens<R, P>();
  }
}

template const GivensKernels<float>& givens_kernels<float, 1>() noexcept;
template const GivensKernels<float>& givens_kernels<float, 2>() noexcept;
template const GivensKernels<double>& givens_kernels<double, 1>() noexcept;
template const GivensKernels<double>& givens_kernels<double, 2>() noexcept;

}  // namespace devobj::host
