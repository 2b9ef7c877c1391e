// The product of double precision on the tensor cores, the same bits as a loop of fused multiply-adds.
#pragma once

#include <cuda_runtime.h>

namespace devobj::cuda {

/// c += A B for A 8 x 4, B 4 x 8, c 8 x 8 spread over the lanes of a warp. Lane 4 o + i has A(o, i), B(i, o), and c(o, 2 i) and
/// c(o, 2 i + 1).
__device__ inline void multiply_8x4x8(double (&c)[2], double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
}

}  // namespace devobj::cuda
