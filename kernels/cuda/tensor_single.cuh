// Products of single precision on the tensor cores, three of TF32 numbers for each. Source: Ootomo & Yokota, "Recovering single precision
// accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance", 2022.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace devobj::cuda {

/// A number as the sum of two of eleven bits each, but for one bit of 24 at most, and what is below 2^-137. Their exponents have the range
/// of the number's, so that nothing has to be scaled. Bits of floats.
struct alignas(8) SplitFloat {
  std::uint32_t large, small;
};
/// Of any number; of one that is not finite the sum of both parts is NaN.
__device__ inline SplitFloat split(float x) {
  const auto rounded = [](float y) {
    std::uint32_t bits = 0;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(y));
#endif
    return bits;
  };
  const std::uint32_t large = rounded(x);
  return {large, rounded(x - __uint_as_float(large))};
}
/// The same of a finite number that is not next to the largest one, by fewer instructions.
__device__ inline SplitFloat split_finite(float x) {
  constexpr std::uint32_t half = 0x1000, bits = 0xffffe000;
  const std::uint32_t large = (__float_as_uint(x) + half) & bits;
  return {large, (__float_as_uint(x - __uint_as_float(large)) + half) & bits};
}
/// Numbers that are multiplied by others up to 1, sixteen products to a sum, are to be less than this in size, so that no sum is
/// infinite.
inline constexpr float split_below = 0x1p123F;
/// Whether the largest of some numbers is so small that what is below 2^-137 would be missed in it.
__device__ inline bool too_small_to_split(float largest) {
  return largest > 0 && largest < 0x1p-102F;
}

/// c += A B for A 16 x 8, B 8 x 8, c 16 x 8 spread over the lanes of a warp. Lane 4 o + i has of A elements i and i + 4 of row o,
/// a and a_more, and of row o + 8, a_below and a_below_more; of B elements i and i + 4 of column o; c(o, 2 i), c(o, 2 i + 1) and
/// these of row o + 8. In the order of the program, which keeps a product from waiting for the one before.
__device__ inline void multiply_16x8x8(float (&c)[4], std::uint32_t a, std::uint32_t a_below, std::uint32_t a_more,
                                       std::uint32_t a_below_more, std::uint32_t b, std::uint32_t b_more) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a), "r"(a_below), "r"(a_more), "r"(a_below_more), "r"(b), "r"(b_more));
#endif
}

}  // namespace devobj::cuda
