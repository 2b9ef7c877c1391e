// exchange_solve for few columns of a column-major matrix, as exchange_solve_subtract does it.
#pragma once

#include "kernels/cuda/grid.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {

/// `exchange`: of one panel, or none. False, with nothing done, where that is not possible. What is launched early behind it
/// (launch_overlapped) is placed beside it. (exchange_solve_subtract.cu)
bool exchange_solve_slices(Block<float> L, Block<float> A, RowExchange exchange, Queue& q);
/// Columns up to which this is faster than 32 x 32 tiles.
inline constexpr std::int64_t exchange_solve_slices_most = 512;

}  // namespace devobj::cuda
