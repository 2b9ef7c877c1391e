// See chain_simd.inl.
#define DEVOBJ_SIMD_SPACE simd_avx512
#include "kernels/host/chain_simd.inl"
