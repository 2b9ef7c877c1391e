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
  /// Whole chains on columns, which go through all chains one after the other, `rows` of each. Column i of `from` meets
  /// the common neighbours of chains first ... last - 1, carry + t rows, by rotation i of each: c[t step + i], s
  /// likewise; what leaves the last chain is column i of `to`, which may be `from`.
  ///
  ///   ascending, i = begin ... end - 1                descending, i = end - 1 ... begin
  ///   carry_t' = c z - s carry_t                      carry_t' = c z + s carry_t
  ///   z'       = c carry_t + s z                      z'       = c carry_t - s z
  struct Columns {
    const R* from;
    std::int64_t ld_from;
    R* to;
    std::int64_t ld_to;
    R* carry;
    std::int64_t rows;
    const R *c, *s;
    std::int64_t step;
  };
  void (*ascend_columns)(const Columns& x, std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end);
  void (*descend_columns)(const Columns& x, std::int64_t first, std::int64_t last, std::int64_t begin,
                          std::int64_t end);
  /// strip[i lanes + l] = A[i + l lda] for i < rows, l < cols, zero for the other lanes; and back.
  void (*pack)(const R* A, std::int64_t lda, std::int64_t rows, std::int64_t cols, R* strip);
  void (*unpack)(const R* strip, std::int64_t rows, std::int64_t cols, R* A, std::int64_t lda);
};

/// For float and double, on the instruction set that simd.hpp chooses.
template <class R>
const ChainKernels<R>& chain_kernels() noexcept;

}  // namespace devobj::host
