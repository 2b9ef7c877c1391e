// What the kernels of the batched QR share.
#pragma once

#include "kernels/cuda/batched.cuh"

namespace devobj::cuda {

/// A batch to factor, its tau unless that is null and, unless info.data is null, least squares: min || B - A X ||, the
/// first n rows of B overwritten by X. info(k) becomes the first i with R(i, i) = 0, from 1, or 0; otherwise part k of
/// B becomes Q^H B.
template <class E>
struct SmallQr {
  Batch<E> A;
  E* tau;
  std::int64_t ldt;
  Strided<std::int32_t> info;
  Batch<E> B;
};

/// Matrices side by side of up to 16 x 16, several in a warp. (qr_batched_small)
template <class E>
void qr_small(const SmallQr<E>& p, Queue& q);
inline constexpr std::int64_t qr_small_max = 16;
/// Right-hand sides of a matrix that the same kernel takes.
inline constexpr std::int64_t least_squares_sides_max = 64;

}  // namespace devobj::cuda
