// Pivots that are a row of a larger matrix, for routines that need them side by side.
#pragma once

#include "devobj/matrix.hpp"
#include "kernels/native.hpp"

namespace devobj {

/// The elements of ipiv side by side: ipiv itself, or a copy in `memory`.
inline View<std::int32_t> contiguous_pivots(View<std::int32_t> ipiv, Matrix<std::int32_t>& memory, Queue& q) {
  if (ipiv.contiguous() || ipiv.empty()) return ipiv;
  memory = Matrix<std::int32_t>(ipiv.rows, ipiv.cols, q);
  copy(ipiv, memory.view(), q);
  return memory;
}

/// Takes the memory that laswp needs for n rows on a GPU, before anything changes.
inline void reserve_for_laswp([[maybe_unused]] std::int64_t n, [[maybe_unused]] Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) q.workspace(cuda::laswp_workspace(n, n));
}

}  // namespace devobj
