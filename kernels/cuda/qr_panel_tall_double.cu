// qr_panel_tall for double.
#include "kernels/cuda/qr_panel_tall.cuh"

namespace devobj::cuda {

template void qr_panel_tall<double>(View<double>, View<double>, View<double>, View<double>, Queue&, bool);

}  // namespace devobj::cuda
