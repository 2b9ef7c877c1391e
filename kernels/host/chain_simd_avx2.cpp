// See chain_simd.inl.
#define DEVOBJ_SIMD_SPACE simd_avx2
#include "kernels/host/chain_simd.inl"
