#define DEVOBJ_SIMD_SPACE simd_baseline
#include "kernels/host/random_fill.inl"
