// lu_panel for std::complex<double>: a file of its own, since the kernels take long to compile.
#include "kernels/cuda/lu_panel.cuh"

namespace devobj::cuda {

DEVOBJ_INSTANTIATE_LU_PANEL(std::complex<double>)

}  // namespace devobj::cuda
