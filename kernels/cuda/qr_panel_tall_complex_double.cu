// qr_panel_tall for std::complex<double>.
#include "kernels/cuda/qr_panel_tall.cuh"

namespace devobj::cuda {

template void qr_panel_tall<std::complex<double>>(View<std::complex<double>>, View<std::complex<double>>, View<std::complex<double>>, View<std::complex<double>>, Queue&, bool);

}  // namespace devobj::cuda
