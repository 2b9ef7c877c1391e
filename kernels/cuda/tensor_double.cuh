// Products of double precision on the tensor cores. Of depth 4 they are the same bits as a loop of fused multiply-adds.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace devobj::cuda {

/// -x if `sign` is INT32_MIN, x if it is 0, without the unit that multiplies: a negation there waits for the products under way.
__device__ inline double with_sign(double x, int sign) {
  return __hiloint2double(__double2hiint(x) ^ sign, __double2loint(x));
}
/// -x, likewise.
__device__ inline double negated(double x) {
  return with_sign(x, INT32_MIN);
}

/// c += A B for A 8 x 4, B 4 x 8, c 8 x 8 spread over the lanes of a warp. Lane 4 o + i has A(o, i), B(i, o), and c(o, 2 i) and
/// c(o, 2 i + 1).
__device__ inline void multiply_8x4x8(double (&c)[2], double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
}

/// The same for A 16 x 4 and c 16 x 8, of which the lane has A(o, i) and A(o + 8, i), c(o, 2 i), c(o, 2 i + 1) and these of
/// row o + 8. A Hopper GPU does twice as many of these multiplications in a cycle.
__device__ inline void multiply_16x4x8(double (&c)[4], double a, double a_below, double b) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a), "d"(a_below), "d"(b));
#else
  multiply_8x4x8(reinterpret_cast<double(&)[2]>(c[0]), a, b);
  multiply_8x4x8(reinterpret_cast<double(&)[2]>(c[2]), a_below, b);
#endif
}

/// The same for A 16 x 8 and B 8 x 8, in an order of additions that the GPU chooses: elements i and i + 4 of each row of A
/// and column of B are a and b, and their `more`.
__device__ inline void multiply_16x8x8(double (&c)[4], double a, double a_below, double a_more, double a_below_more,
                                       double b, double b_more) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a), "d"(a_below), "d"(a_more), "d"(a_below_more), "d"(b), "d"(b_more));
#else
  multiply_16x4x8(c, a, a_below, b);
  multiply_16x4x8(c, a_more, a_below_more, b_more);
#endif
}

/// The same for A 16 x 16 and B 16 x 8: elements i, i + 4, i + 8, i + 12 of row o of A are a, those of row o + 8 a_below, those of
/// column o of B b.
__device__ inline void multiply_16x16x8(double (&c)[4], const double (&a)[4], const double (&a_below)[4],
                                        const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
      "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a_below[0]), "d"(a[1]), "d"(a_below[1]), "d"(a[2]), "d"(a_below[2]), "d"(a[3]), "d"(a_below[3]),
        "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
  for (int j = 0; j < 4; ++j) multiply_16x4x8(c, a[j], a_below[j], b[j]);
#endif
}

}  // namespace devobj::cuda
