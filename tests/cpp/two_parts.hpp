// For tests of what keeps L and U of two parts (kernels/cuda/two_parts.cuh).
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>

namespace devobj::test {

/// Whether the last bit of a number in single precision is zero, of a complex one that of both parts: then two numbers of eleven bits
/// add up to it.
inline bool of_two_parts(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits % 2 == 0;
}
inline bool of_two_parts(std::complex<float> x) {
  return of_two_parts(x.real()) && of_two_parts(x.imag());
}

}  // namespace devobj::test
