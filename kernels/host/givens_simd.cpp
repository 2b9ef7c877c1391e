#include "kernels/host/givens_simd.hpp"

#include "kernels/host/simd.hpp"

namespace devobj::host {

DEVOBJ_SIMD_DECLARE(template <class R, int P> const GivensKernels<R>& givens() noexcept;
                    extern template const GivensKernels<float>& givens<float, 1>() noexcept;
                    extern template const GivensKernels<float>& givens<float, 2>() noexcept;
                    extern template const GivensKernels<double>& givens<double, 1>() noexcept;
                    extern template const GivensKernels<double>& givens<double, 2>() noexcept;)

template <class R, int P>
const GivensKernels<R>& givens_kernels() noexcept {
  return DEVOBJ_SIMD_CALL(givens<R, P>());
}

template const GivensKernels<float>& givens_kernels<float, 1>() noexcept;
template const GivensKernels<float>& givens_kernels<float, 2>() noexcept;
template const GivensKernels<double>& givens_kernels<double, 1>() noexcept;
template const GivensKernels<double>& givens_kernels<double, 2>() noexcept;

}  // namespace devobj::host
