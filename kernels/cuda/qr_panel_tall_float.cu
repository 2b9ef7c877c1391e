// qr_panel_tall for float.
#include "kernels/cuda/qr_panel_tall.cuh"

namespace devobj::cuda {

template void qr_panel_tall<float>(View<float>, View<float>, View<float>, View<float>, Queue&, bool);

}  // namespace devobj::cuda
