#include <cufft.h>

#include <memory>

#include "devobj/error.hpp"
#include "raw_fft.hpp"

namespace bench::cuda {
namespace {

void check(int status) {
  if (status != CUFFT_SUCCESS) devobj::fail(devobj::Status::device_error, "raw cuFFT: error ", status);
}

}  // namespace

std::function<void()> raw_fft(const RawFft& w, void* in, void* out, void* stream) {
  cufftHandle plan = 0;
  std::vector<int> n(w.n.rbegin(), w.n.rend());
  const int rank = static_cast<int>(n.size());
  const cufftType type = w.type == 'c'   ? CUFFT_C2C
                         : w.type == 'z' ? CUFFT_Z2Z
                         : w.type == 's' ? (w.forward ? CUFFT_R2C : CUFFT_C2R)
                                         : (w.forward ? CUFFT_D2Z : CUFFT_Z2D);
  check(cufftPlanMany(&plan, rank, n.data(), nullptr, 1, 0, nullptr, 1, 0, type, static_cast<int>(w.batch)));
  const std::shared_ptr<void> owner(nullptr, [plan](void*) { cufftDestroy(plan); });
  check(cufftSetStream(plan, static_cast<cudaStream_t>(stream)));
  const int sign = w.forward ? CUFFT_FORWARD : CUFFT_INVERSE;
  return [=] {
    (void)owner;
    switch (type) {
      case CUFFT_C2C:
        return check(cufftExecC2C(plan, static_cast<cufftComplex*>(in), static_cast<cufftComplex*>(out), sign));
      case CUFFT_Z2Z:
        return check(
            cufftExecZ2Z(plan, static_cast<cufftDoubleComplex*>(in), static_cast<cufftDoubleComplex*>(out), sign));
      case CUFFT_R2C:
        return check(cufftExecR2C(plan, static_cast<float*>(in), static_cast<cufftComplex*>(out)));
      case CUFFT_C2R:
        return check(cufftExecC2R(plan, static_cast<cufftComplex*>(in), static_cast<float*>(out)));
      case CUFFT_D2Z:
        return check(cufftExecD2Z(plan, static_cast<double*>(in), static_cast<cufftDoubleComplex*>(out)));
      default:
        return check(cufftExecZ2D(plan, static_cast<cufftDoubleComplex*>(in), static_cast<double*>(out)));
    }
  };
}

}  // namespace bench::cuda
