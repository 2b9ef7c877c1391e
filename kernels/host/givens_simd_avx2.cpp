// The rotation kernels in vectors of 32 bytes; cmake/simd.cmake sets this file's instruction set.
#define DEVOBJ_SIMD_NAMESPACE simd_avx2
#define DEVOBJ_SIMD_BYTES 32
#include "kernels/host/givens_simd.inl"
