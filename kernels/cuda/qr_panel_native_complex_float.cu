// qr_panel_native for std::complex<float>: a file of its own, since the kernels take long to compile.
#include "kernels/cuda/qr_panel_launch.cuh"

namespace devobj::cuda {

DEVOBJ_INSTANTIATE_QR_PANEL(std::complex<float>)

}  // namespace devobj::cuda
