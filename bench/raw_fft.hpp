// Transforms by cuFFT or FFTW called directly, as the yardstick of FftPlan: one plan, made before, executed on the queue's
// stream or in the caller's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "devobj/queue.hpp"

namespace bench {

struct RawFft {
  char type;  ///< s, d: between real and complex; c, z
  bool forward;
  std::vector<std::int64_t> n;  ///< n[0] along the columns
  std::int64_t batch;
};

/// A call that transforms `in` to `out`, contiguous arrays; an inverse to real may overwrite `in`. Empty if this program has
/// no FFTW.
std::function<void()> raw_fft(const RawFft& what, void* in, void* out, devobj::Queue& q);

namespace cuda {
std::function<void()> raw_fft(const RawFft& what, void* in, void* out, void* stream);
}

}  // namespace bench
