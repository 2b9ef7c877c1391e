// lu_panel for double: a file of its own, since the kernels take long to compile.
#include "kernels/cuda/lu_panel.cuh"

namespace devobj::cuda {

DEVOBJ_INSTANTIATE_LU_PANEL(double)

}  // namespace devobj::cuda
