// Numbers in single precision that two of eleven bits add up to: those whose last bit is zero. Products of parts (gemm_fp16_parts,
// gemm_three_tf32) lose nothing of them.
//
// Of every second other number such a product loses that bit, in every element that it is multiplied for, and LU's residual is larger by
// that. Where L and U are of two parts themselves, what is subtracted is their product, and the bit is lost once.
#pragma once

#include "kernels/cuda/arithmetic.cuh"

namespace devobj::cuda {

/// Numbers in single precision, real or complex, that are to be of two parts, or of all bits.
template <class E>
constexpr bool has_two_parts = sizeof(real_e<E>) == sizeof(float);
/// The bits to keep.
inline unsigned kept_bits(bool two_parts) {
  return two_parts ? ~1u : ~0u;
}
/// x with these bits only. (A NaN that has been computed stays one: its first bit is set.)
template <class E>
__device__ E of_kept_bits(E x, unsigned kept) {
  const auto of = [kept](float part) { return __uint_as_float(__float_as_uint(part) & kept); };
  if constexpr (has_two_parts<E>)
    return from_parts<E>(of(re(x)), of(im(x)));
  else
    return x;
}
/// The same of what became of `before`; what has not been changed stays as it is.
template <class E>
__device__ E changed_of_kept_bits(E before, E x, unsigned kept) {
  return re(x) == re(before) && im(x) == im(before) ? x : of_kept_bits(x, kept);
}
/// Whether a product with x is exact but near underflow and overflow, so that nothing is to be taken from it.
template <class E>
__device__ bool is_power_of_two(E x) {
  return (__float_as_uint(re(x)) & 0x7fffffu) == 0 && im(x) == 0;
}

}  // namespace devobj::cuda
