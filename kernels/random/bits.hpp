// What the code of the random numbers is written in, so that host and GPU compute the same bits: integers, IEEE sums,
// products, square roots and explicit fused multiply-adds. The files that include this are compiled without the
// compiler's own contraction of a * b + c (cmake/random.cmake).
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

// DEVOBJ_RANDOM: a function of the numbers, on the host or, in CUDA code, on the GPU. DEVOBJ_RANDOM_ANYWHERE: also in
// the host part of CUDA code.
#ifdef __CUDACC__
#define DEVOBJ_RANDOM __device__ __forceinline__
#define DEVOBJ_RANDOM_ANYWHERE __host__ __device__ __forceinline__
#else
#define DEVOBJ_RANDOM inline __attribute__((always_inline))
#define DEVOBJ_RANDOM_ANYWHERE DEVOBJ_RANDOM
#endif

// A loop over the elements of a quad is written out, so that the loop around it becomes vectors.
#if defined(__CUDACC__) || defined(__clang__)
#define DEVOBJ_WRITTEN_OUT _Pragma("unroll")
#else
#define DEVOBJ_WRITTEN_OUT _Pragma("GCC unroll 16")
#endif

namespace devobj::random {

DEVOBJ_RANDOM float as_float(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  return __builtin_bit_cast(float, bits);
#endif
}
/// The float in [1, 2) whose mantissa has the bits of `word` in `mask`. One instruction on a GPU; the compiler makes two.
DEVOBJ_RANDOM float from_one(std::uint32_t word, std::uint32_t mask) {
#ifdef __CUDA_ARCH__
  std::uint32_t bits;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(bits) : "r"(word), "r"(mask), "r"(0x3f800000u));
  return as_float(bits);
#else
  return as_float((word & mask) | 0x3f800000u);
#endif
}
DEVOBJ_RANDOM std::uint32_t bits_of(float x) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(x);
#else
  return __builtin_bit_cast(std::uint32_t, x);
#endif
}
DEVOBJ_RANDOM double as_double(std::uint64_t bits) {
#ifdef __CUDA_ARCH__
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return __builtin_bit_cast(double, bits);
#endif
}
DEVOBJ_RANDOM std::uint64_t bits_of(double x) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint64_t>(__double_as_longlong(x));
#else
  return __builtin_bit_cast(std::uint64_t, x);
#endif
}
/// The 64-bit word of two halves.
DEVOBJ_RANDOM std::uint64_t joined(std::uint32_t high, std::uint32_t low) {
  return static_cast<std::uint64_t>(high) << 32 | low;
}

/// a b + c with one rounding.
DEVOBJ_RANDOM float fused(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}
DEVOBJ_RANDOM double fused(double a, double b, double c) {
#ifdef __CUDA_ARCH__
  return __fma_rn(a, b, c);
#else
  return __builtin_fma(a, b, c);
#endif
}

/// sqrt(a), correctly rounded, for 2^-1000 <= a <= 2^1000.
DEVOBJ_RANDOM double square_root(double a) {
#ifdef __CUDA_ARCH__
  // The steps of the toolkit's own sqrt.rn without its test for zeros, subnormal and infinite numbers.
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
  const double e = __fma_rn(-a, __dmul_rn(y, y), 1.0);
  y = __fma_rn(__fma_rn(e, 0.375, 0.5), __dmul_rn(y, e), y);
  const double g = __dmul_rn(a, y), h = __hiloint2double(__double2hiint(y) - 0x100000, __double2loint(y));  // y / 2
  return __fma_rn(__fma_rn(-g, g, a), h, g);
#else
  return __builtin_sqrt(a);
#endif
}

template <class T>
DEVOBJ_RANDOM T within(T x, T least, T most) {
  x = x < least ? least : x;
  return x > most ? most : x;
}

}  // namespace devobj::random
