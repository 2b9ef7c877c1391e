// solve_streamed of few columns, and of complex ones, for solve_streamed alone.
#pragma once

#include "kernels/cuda/grid.cuh"

namespace devobj::cuda {

/// B = L^-1 B for at most solve_streamed_rows rows w, as solve_streamed; `by_rows`: B is given by its transpose. (solve_streamed_few)
void solve_streamed_few(const double* L, int w, Block<double> B, bool by_rows, Queue& q);
void solve_streamed_few(const double* L, int w, Block<cuDoubleComplex> B, bool by_rows, Queue& q);

}  // namespace devobj::cuda
