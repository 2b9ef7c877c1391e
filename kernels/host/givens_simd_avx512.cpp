// The rotation kernels in vectors of 64 bytes; cmake/simd.cmake sets this file's instruction set.
#define DEVOBJ_SIMD_NAMESPACE simd_avx512
#define DEVOBJ_SIMD_BYTES 64
#include "kernels/host/givens_simd.inl"
