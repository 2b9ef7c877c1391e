#define DEVOBJ_SIMD_SPACE simd_avx2
#include "kernels/host/random_fill.inl"
