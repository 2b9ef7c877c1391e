// trsm_block of few columns, and of all types but double, for trsm_block alone.
#pragma once

#include "kernels/cuda/grid.cuh"

namespace devobj::cuda {

/// B = op(A)^-1 B for at most trsm_block_rows rows, by the refined stream of op(A), which is `reversed` if an upper triangle, and
/// `early`, as trsm_block. (trsm_block_few; float, double, cuComplex, cuDoubleComplex)
template <class S>
void trsm_block_few(const double* triangle, bool reversed, bool unit, Block<S> B, bool early, Queue& q);

}  // namespace devobj::cuda
