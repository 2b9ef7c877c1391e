// The primitive of the QR updates, besides those of kernels.hpp, under the same rules.
#pragma once

#include "kernels/kernels.hpp"

namespace devobj {

/// The CUDA kernel keeps a block in the registers of one thread block: the rows and columns that fit.
inline constexpr std::int64_t qr_block_rows = 576;
template <class T> constexpr std::int64_t qr_block_cols(std::int64_t rows) {
  if (sizeof(T) == 4) return 64;
  return sizeof(T) == 8 && (!is_complex<T> || rows <= 256) ? 32 : rows <= 128 ? 32 : 16;
}
/// The part of a queue's scratch memory that a block of so many columns may need, to be had beforehand by q.scratch(...).
template <class T> constexpr std::size_t qr_block_scratch_bytes(std::int64_t cols) {
  return static_cast<std::size_t>(cols) * sizeof(T);
}

#define DEVOBJ_PRIMITIVES                                                                                              \
  /* A = Q R of a small block (A.rows <= qr_block_rows, A.cols <= qr_block_cols of them; on the host of any size) by   \
     Householder reflectors, signs as LAPACK's geqr2. A gets R, with zeros below its diagonal. With k = min(rows,      \
     cols): V (rows x k) gets the reflectors' vectors with their ones and zeros, Tri (k x k) the upper triangle of     \
     Q = I - V Tri V^H, with zeros below. (qr_block) */                                                                \
  template <class T> void qr_block(View<T> A, View<T> V, View<T> Tri, Queue& q);

namespace host {
DEVOBJ_PRIMITIVES
}
namespace cuda {
DEVOBJ_PRIMITIVES
}
#undef DEVOBJ_PRIMITIVES

template <class T> void qr_block(View<T> A, View<T> V, View<T> Tri, Queue& q) {
  if constexpr (cuda_built)
    if (q.on_cuda()) return cuda::qr_block(A, V, Tri, q);
  host::qr_block(A, V, Tri, q);
}

}  // namespace devobj
