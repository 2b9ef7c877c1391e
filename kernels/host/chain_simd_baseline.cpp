// See chain_simd.inl.
#define DEVOBJ_SIMD_SPACE simd_baseline
#include "kernels/host/chain_simd.inl"
