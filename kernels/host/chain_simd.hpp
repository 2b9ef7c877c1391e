// The inner loops of chains of rotations, compiled for several instruction sets and chosen at run time.
//
// Rotation i acts on neighbours i and i + 1: x_i = c x_i + s x_{i+1}, x_{i+1} = c x_{i+1} - s x_i. Neighbours are
// vectors of chain_lanes numbers, `step` elements apart; chains of consecutive rotations keep the common one in
// registers.
#pragma once

#include <cstdint>

namespace devobj::host {

template <class R>
inline constexpr std::int64_t chain_lanes = 128 / sizeof(R);

template <class R>
struct ChainKernels {
  /// Rotations first, first + 1, ..., last - 1 on x; c and s count from rotation 0.
  void (*ascend)(R* x, std::int64_t step, const R* c, const R* s, std::int64_t first, std::int64_t last);
  /// Rotations last - 1, ..., first.
  void (*descend)(R* x, std::int64_t step, const R* c, const R* s, std::int64_t first, std::int64_t last);
  /// strip[i lanes + l] = A[i + l lda] for i < rows, l < cols, zero for the other lanes; and back.
  void (*pack)(const R* A, std::int64_t lda, std::int64_t rows, std::int64_t cols, R* strip);
  void (*unpack)(const R* strip, std::int64_t rows, std::int64_t cols, R* A, std::int64_t lda);
};

/// For float and double, on the instruction set that simd.hpp chooses.
template <class R>
const ChainKernels<R>& chain_kernels() noexcept;

}  // namespace devobj::host
