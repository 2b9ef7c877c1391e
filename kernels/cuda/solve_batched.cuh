// What the kernels of the batched solves share.
#pragma once

#include "kernels/cuda/batched.cuh"

namespace devobj::cuda {

/// What to solve: with ipiv op(A) from its LU, without the upper triangle alone. info may be null.
template <class E>
struct Solve {
  Batch<E> A;
  Op op;
  const std::int32_t* ipiv;
  std::int64_t ldp;
  Strided<std::int32_t> info;
  Batch<E> B;
};

/// Matrices side by side of up to 16 x 16, several in a warp. (solve_batched_small)
template <class E>
void solve_small(const Solve<E>& p, Queue& q);
inline constexpr std::int64_t solve_small_max = 16;

}  // namespace devobj::cuda
