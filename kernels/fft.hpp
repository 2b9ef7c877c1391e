// The primitives behind FftPlan: one planned transform of one layout, and a scaled copy.
#pragma once

#include <array>
#include <memory>

#include "kernels/kernels.hpp"

namespace devobj {

/// One transform as cuFFT and FFTW plan it.
struct FftLayout {
  Type type = Type::complex;  ///< before the forward transform: real and double_precision are between real and complex
  bool forward = true;
  std::array<std::int64_t, 3> n{1, 1, 1};  ///< n[0] along the columns
  std::int64_t batch = 1;
  std::int64_t ld_in = 1, ld_out = 1;  ///< in elements of the array's type
  bool in_place = false;
  bool aligned = true;   ///< host: both arrays are, for vector instructions
  bool measure = false;  ///< host: FFTW_MEASURE

  bool real() const noexcept { return type == Type::real || type == Type::double_precision; }
  bool single() const noexcept { return type == Type::real || type == Type::complex; }
  auto operator<=>(const FftLayout&) const = default;
};

#define DEVOBJ_FFT_PRIMITIVES                                                                                       \
  /* The layout with what makes no difference here taken out, so that equal plans compare equal. */                 \
  FftLayout fft_layout(FftLayout layout, const void* in, const void* out);                                          \
  /* Plans. May take long; allocates. */                                                                            \
  std::shared_ptr<void> fft_plan(const FftLayout& layout, Queue& q);                                                \
  /* out = the transform of in, not scaled. An inverse transform to real destroys `in`. `direction` is the layout's \
     before fft_layout. */                                                                                          \
  void fft_execute(const std::shared_ptr<void>& plan, const FftLayout& direction, void* in, void* out, Queue& q);   \
  /* B = factor A, of equal shape; B may be A. (fft_copy) */                                                        \
  template <class R> void fft_copy(R factor, View<R> A, View<R> B, Queue& q);

namespace host {
DEVOBJ_FFT_PRIMITIVES
}
namespace cuda {
DEVOBJ_FFT_PRIMITIVES
}
#undef DEVOBJ_FFT_PRIMITIVES

}  // namespace devobj
