#define DEVOBJ_SIMD_SPACE simd_avx512
#include "kernels/host/random_fill.inl"
