// What the kernels of the batched LU share: arguments, and what a column's pivot search publishes.
#pragma once

#include "kernels/cuda/batched.cuh"
#include "kernels/cuda/pivot_candidate.cuh"
#include "kernels/cuda/reciprocal.cuh"

namespace devobj::cuda::lu {

/// A batch to factor. Pivot i of matrix k is ipiv[i + k ldp] = offset + its row, from 1; info(k) becomes offset + the
/// first column with a zero pivot, or 0: when `first`, otherwise only where it is 0 yet.
template <class E>
struct BatchedLu {
  Batch<E> A;
  std::int32_t* ipiv;
  std::int64_t ldp;
  std::int32_t offset;
  bool first;
  Strided<std::int32_t> info;

  __device__ void set_info(std::int64_t k, int zero_column) const {
    if (first || (zero_column > 0 && info[k] == 0)) info[k] = zero_column > 0 ? offset + zero_column : 0;
  }
};

/// One launch for matrices of up to 32 rows and columns. (lu_batched_small)
template <class E>
void lu_small(const BatchedLu<E>& p, Queue& q);
inline constexpr std::int64_t lu_small_max = 32;

/// Matrices side by side of up to 4 x 4, one in a thread. (lu_batched_tiny)
template <class E>
void lu_tiny(const BatchedLu<E>& p, Queue& q);
inline constexpr std::int64_t lu_tiny_max = 4;

/// The rows' exchanges of the columns outside j0 ... j0 + w - 1, w <= 32, by those columns' pivots, and
/// A12 = L11^-1 A12 right of them. (lu_batched_exchange)
template <class E>
void lu_exchange(const Batch<E>& A, const std::int32_t* ipiv, std::int64_t ldp, std::int64_t j0, std::int64_t w,
                 Queue& q);
inline constexpr std::int64_t lu_exchange_max = 32;

}  // namespace devobj::cuda::lu
