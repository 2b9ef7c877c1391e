// Halves of stripes and of tiles of solve_stream in a warp's registers: a pair of warps has a stripe of 32 rows and eight columns.
#pragma once

#include "kernels/cuda/solve_stream.cuh"

namespace devobj::cuda::solve_stream {

/// Of B, that a block has.
constexpr int block_columns = 8;

/// A lane's elements of half a stripe.
template <class E>
struct HalfStripe {
  double of[parts<E>][4] = {};
  /// act(row of the half, column, element)
  template <class Act>
  __device__ void each(Act act) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      E x = from_parts<E>(of[0][e], of[parts<E> - 1][e]);
      act(e / 2 * 8 + outer(), 2 * inner() + e % 2, x);
      of[0][e] = re(x);
      if constexpr (is_device_complex<E>) of[1][e] = im(x);
    }
  }
};

/// A lane's elements of the upper or lower half of a tile.
template <class E>
class HalfTile {
 public:
  __device__ void load(const double* from) {
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece) load(from, piece);
  }
  /// sums += its first `columns` columns times rows k0 ... of X, of which column c begins at X[c].
  template <int columns, class Column>
  __device__ void multiply(HalfStripe<E>& sums, const Column* X, int k0) const {
#pragma unroll
    for (int k = 0; k < columns; k += 8) multiply_by(sums, X, k0, k);
  }
  /// The same with all columns, each of which is one of `next` as soon as it has been multiplied.
  template <class Column>
  __device__ void multiply(HalfStripe<E>& sums, const Column* X, int k0, const double* next) {
#pragma unroll
    for (int k = 0; k < tile; k += 8) {
      multiply_by(sums, X, k0, k);
      load(next, k / 4);
      load(next, k / 4 + 1);
    }
  }

 private:
  __device__ void load(const double* from, int piece) {
#pragma unroll
    for (int part = 0; part < parts<E>; ++part)
      of_[part][piece] = __ldg(reinterpret_cast<const double2*>(from + part * half_doubles) + piece * warp_size +
                               threadIdx.x % warp_size);
  }
  template <class Column>
  __device__ void multiply_by(HalfStripe<E>& sums, const Column* X, int k0, int k) const {
    const E x = X[outer()][k0 + k + inner()], x_more = X[outer()][k0 + k + 4 + inner()];
    const auto multiply = [&](double(&sum)[4], int part, double b, double b_more) {
      const double2 a = of_[part][k / 4], more = of_[part][k / 4 + 1];
      multiply_16x8x8(sum, a.x, a.y, more.x, more.y, b, b_more);
    };
    multiply(sums.of[0], 0, re(x), re(x_more));
    if constexpr (is_device_complex<E>) {
      multiply(sums.of[1], 0, im(x), im(x_more));
      multiply(sums.of[0], 1, negated(im(x)), negated(im(x_more)));
      multiply(sums.of[1], 1, re(x), re(x_more));
    }
  }
  static constexpr int pieces = tile / 4;
  double2 of_[parts<E>][pieces];
};

}  // namespace devobj::cuda::solve_stream
