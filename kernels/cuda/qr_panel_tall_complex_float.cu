// qr_panel_tall for std::complex<float>.
#include "kernels/cuda/qr_panel_tall.cuh"

namespace devobj::cuda {

template void qr_panel_tall<std::complex<float>>(View<std::complex<float>>, View<std::complex<float>>, View<std::complex<float>>, View<std::complex<float>>, Queue&, bool);

}  // namespace devobj::cuda
