#include "kernels/host/chain_simd.hpp"

#include "kernels/host/simd.hpp"

namespace devobj::host {

DEVOBJ_SIMD_DECLARE(template <class R> const ChainKernels<R>& chains() noexcept;
                    extern template const ChainKernels<float>& chains<float>() noexcept;
                    extern template const ChainKernels<double>& chains<double>() noexcept;)

template <class R>
const ChainKernels<R>& chain_kernels() noexcept {
  return DEVOBJ_SIMD_CALL(chains<R>());
}

template const ChainKernels<float>& chain_kernels<float>() noexcept;
template const ChainKernels<double>& chain_kernels<double>() noexcept;

}  // namespace devobj::host
