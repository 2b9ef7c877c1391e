// The rotation kernels in vectors of 16 bytes; cmake/simd.cmake sets this file's instruction set.
#define DEVOBJ_SIMD_NAMESPACE simd_baseline
#define DEVOBJ_SIMD_BYTES 16
#include "kernels/host/givens_simd.inl"
