// The operands of a product as vectors: rows of op(A), columns of op(B).
#pragma once

#include <cstddef>
#include <cstdint>

#include "devobj/blas.hpp"
#include "kernels/cuda/grid.cuh"

namespace devobj::cuda {

/// op(X), vectors x depth: element k of vector v is data[v * next_vector + k * next_element], one of both steps is 1, or if
/// `conjugated` its complex conjugate.
template <class E>
struct Vectors {
  const E* data;
  std::int64_t count, next_vector, next_element;
  bool conjugated;
};

/// The rows of op(X), or its columns.
template <class T>
Vectors<device_t<T>> vectors_of(Op op, View<T> X, bool rows) {
  // a row of X as it lies has its elements ld apart
  const bool lying = rows == (op == Op::NoTrans);
  return {raw(X.data), lying ? X.rows : X.cols, lying ? 1 : X.ld, lying ? X.ld : 1,
          is_complex<T> && op == Op::ConjTrans};
}

// ---- the memory of what is made of them ----
constexpr std::size_t aligned_bytes(std::size_t bytes) {
  return (bytes + 1023) / 1024 * 1024;
}
/// Vectors, or elements along the depth, of whole tiles.
constexpr std::int64_t whole(std::int64_t count, int tile) {
  return ceil_div(count, std::int64_t(tile)) * tile;
}

}  // namespace devobj::cuda
