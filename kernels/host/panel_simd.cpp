#include "kernels/host/panel_simd.hpp"

#include "kernels/host/simd.hpp"

namespace devobj::host {

DEVOBJ_SIMD_DECLARE(template <class R, int P> const PanelKernels<R>& kernels() noexcept;
                    extern template const PanelKernels<float>& kernels<float, 1>() noexcept;
                    extern template const PanelKernels<float>& kernels<float, 2>() noexcept;
                    extern template const PanelKernels<double>& kernels<double, 1>() noexcept;
                    extern template const PanelKernels<double>& kernels<double, 2>() noexcept;)

template <class R, int P>
const PanelKernels<R>& panel_kernels() noexcept {
  return DEVOBJ_SIMD_CALL(kernels<R, P>());
}

template const PanelKernels<float>& panel_kernels<float, 1>() noexcept;
template const PanelKernels<float>& panel_kernels<float, 2>() noexcept;
template const PanelKernels<double>& panel_kernels<double, 1>() noexcept;
template const PanelKernels<double>& panel_kernels<double, 2>() noexcept;

}  // namespace devobj::host
