// The inner loops of chains of rotations, compiled for several instruction sets and chosen at run time.
//
// A rotation of neighbours x and y is three shears, three operations where four products would be its formula:
//
//   x = c x + s y        x += t y
//   y = c y - s x        y -= s x          t = s / (1 + c), c >= 0, so that |t| <= 1
//                        x += t y
//
// Source: I. Daubechies, W. Sweldens, Factoring wavelet transforms into lifting steps, 1998, section 7.
#pragma once

#include <cstdint>

namespace devobj::host {

template <class R>
inline constexpr std::int64_t chain_lanes = 128 / sizeof(R);

template <class R>
struct Shears {
  R t, s;
};

template <class R>
struct ChainKernels {
  /// Neighbours are columns, or rows of a strip of chain_lanes. Column i of `from` goes through chains first ... last - 1,
  /// one after the other, and meets what each carries along, carry + t ld_carry, in its rotation g[i step + t]; what
  /// leaves the last chain is column i of `to`, which may be `from`.
  ///
  ///   ascending, i = begin ... end - 1                descending, i = end - 1 ... begin
  ///   carry_t' = c z - s carry_t                      carry_t' = c z + s carry_t
  ///   z'       = c carry_t + s z                      z'       = c carry_t - s z
  ///
  /// A carry's rows are a multiple of chain_lanes, at least `rows`.
  struct Columns {
    const R* from;
    std::int64_t ld_from;
    R* to;
    std::int64_t ld_to;
    R* carry;
    std::int64_t ld_carry;
    std::int64_t rows;
    const Shears<R>* g;
    std::int64_t step;
  };
  void (*ascend)(const Columns& x, std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end);
  void (*descend)(const Columns& x, std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end);
  /// `count` rotations, of which the first makes (f_0, g) to (r_0, 0), each other one (f_k, r_{k-1}) to (r_k, 0), with f's
  /// signs; safe from overflow and underflow. r has count + 1 elements, r[0] = g and r[k + 1] = r_k.
  void (*gather)(const R* f, std::int64_t count, Shears<R>* g, std::int64_t step, R* r);
  /// strip[i lanes + l] = A[i + l lda] for i < rows, l < cols, zero for the other lanes; and back.
  void (*pack)(const R* A, std::int64_t lda, std::int64_t rows, std::int64_t cols, R* strip);
  void (*unpack)(const R* strip, std::int64_t rows, std::int64_t cols, R* A, std::int64_t lda);
};

/// For float and double, on the instruction set that simd.hpp chooses.
template <class R>
const ChainKernels<R>& chain_kernels() noexcept;

}  // namespace devobj::host
