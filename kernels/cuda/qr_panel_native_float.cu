// qr_panel_native for float: a file of its own, since the kernels take long to compile.
#include "kernels/cuda/qr_panel_launch.cuh"

namespace devobj::cuda {

DEVOBJ_INSTANTIATE_QR_PANEL(float)

}  // namespace devobj::cuda
