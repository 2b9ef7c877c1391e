// A strip of up to 64 columns (complex: 32) by Cholesky-QR, in one cluster: products of all rows on the tensor cores, and
// eliminations on the square of order w, which every block makes for itself.
//
//   in single precision, computed in double precision
//     1  G = A^H A                                   each block its rows, summed over the cluster
//     2  G = R1^H R1, R1^-1                          factor_tiles
//     3  P = A_top R1^-1; L, T, B from P and R1^-1   reconstruct_tiles
//     4  V = A B below the square on top
//   in double precision, where the square of the condition counts, 1 and 2, then
//     3  Q1 = A R1^-1, to V;  G = Q1^H Q1 = R2^H R2, R2 = I + Z to first order
//     4  P = Q1_top R2^-1, R = S R2 R1; L, T, B from P and R2^-1
//     5  V = Q1 B below the square on top
//
// A panel that is not well-conditioned up to the scaling of its columns, or has a column that needs no reflector, is left
// as it is. (Yamamoto, Nakatsukasa, Yanagisawa, Fukaya: Roundoff error analysis of the CholeskyQR2 algorithm, 2015; Ballard
// and others: Reconstructing Householder vectors from tall-skinny QR, 2014.)
#pragma once

#include "kernels/cuda/qr_panel_products.cuh"

namespace devobj::cuda::qr_panel::products {

/// A block's part of the work.
template <class E, int W>
struct Strip {
  using D = wide_e<E>;
  static constexpr int side = Sizes<E, W>::side;
  Panel<E> panel;
  int rank, blocks;
  int warp = static_cast<int>(threadIdx.x) / warp_size;
  int m = static_cast<int>(panel.A.rows), w = static_cast<int>(panel.A.cols);
  int begin = 0, end = 0;  // its rows
  Memory<E, W>& memory = shared_memory<E, W>();

  __device__ __forceinline__ bool factor() {
    const int share = ((m + unit - 1) / unit + blocks - 1) / blocks * unit;
    begin = min(rank * share, m), end = min(begin + share, m);
    if (threadIdx.x == 0) {
      open_mailbox(memory.slices);
      open_mailbox(memory.whole);
    }
    __syncthreads();
    if (blocks > 1) cluster_arrive();

    multiply_by_itself<E, W>(panel.A, w, begin, end);
    if (blocks > 1) cluster_wait();
    add_up<E, W>(rank, blocks, 0);
    if (!make_R1()) return false;
    if constexpr (two_passes<E>) {
      multiply_rows<E, W>(panel.A, panel.V, panel.A, w, begin, end, Into::V);
      if (blocks > 1) cluster_arrive();  // the top of Q1 is in V
      __syncthreads();
      multiply_by_itself<E, W>(panel.V, w, begin, end);
      if (blocks > 1) cluster_wait();
      add_up<E, W>(rank, blocks, 1);
      if (!make_R2()) return false;
    }
    const Block<E>& from = two_passes<E> ? panel.V : panel.A;
    multiply_rows<E, W>(from, panel.V, panel.A, w, 0, W, Into::top);
    if constexpr (two_passes<E>) multiply_R();
    if (blocks > 1) cluster_arrive();  // this block needs the top no more
    __syncthreads();
    auto& square = memory.square;
    const bool good = reconstruct_tiles(square.P, square.X, square.T, square.diagonal, square.sign, w, warp, warps);
    if (blocks > 1) cluster_wait();
    if (!good) return false;
    if (rank == 0) write_square();
    multiply_rows<E, W>(from, panel.V, panel.A, w, begin, end, Into::both);
    return true;
  }

 private:
  /// Whether row i or column j is beyond the strip's.
  __device__ bool outside(int i, int j) const { return i >= w || j >= w; }

  /// R = R1 and X = R1^-1. False if the panel is not well-conditioned.
  __device__ __forceinline__ bool make_R1() {
    auto& square = memory.square;
    // squares within the range, and none of them NaN
    constexpr double low = Range2<double>::good_low, high = Range2<double>::good_high;
    bool good = true;
    each_upper_tile<side>(warp, warps, [&](int i, int j) {
      Fragment<D> g = gram_tile<D, side>(memory.gram, i, j);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int row = 8 * i + fragment_row(), column = 8 * j + fragment_column(h);
        if (outside(row, column)) g.set(h, from_parts<D>(row == column ? 1 : 0));
        if (row == column) {
          good = good && g.x[0][h] >= low && g.x[0][h] <= high;
          square.norms[row] = g.x[0][h];
        }
      }
      memory.R(i, j).store(g);
    });
    if (!__syncthreads_and(good)) return false;
    factor_tiles(memory.R, square.T, warp, warps);
    double squares = 0;  // of C R1^-1
    each_upper_tile<side>(warp, warps, [&](int i, int j) {
      Fragment<D> n = square.T(j, i).straight();
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int row = 8 * j + fragment_row(), column = 8 * i + fragment_column(h);
        if (row < w) squares += devobj::cuda::square(n.of(h)) * square.norms[column];
      }
      square.X(i, j).store_transposed(n.conjugated());
    });
    return block_sum(squares, square.room) <= condition_limit<E> * condition_limit<E> * w;
  }
  /// R2 = I + Z, Z + Z^H = Q1^H Q1 - I: X = R2^-1 = I - Z. False if what the first order leaves out counts.
  __device__ __forceinline__ bool make_R2() {
    bool good = true;
    each_upper_tile<side>(warp, warps, [&](int i, int j) {
      Fragment<D> x = gram_tile<D, side>(memory.gram, i, j);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int row = 8 * i + fragment_row(), column = 8 * j + fragment_column(h);
        D z = outside(row, column) ? D{} : x.of(h);
        if (row == column && row < w) z = sum(z, from_parts<D>(-1));
        good = good && square(z) * w < negligible;
        x.set(h, row > column ? D{} : row == column ? from_parts<D>(1 - re(z) / 2) : negative(z));
      }
      memory.square.X(i, j).store(x);
    });
    return __syncthreads_and(good);
  }
  /// R = R2 R1, in R1's place.
  __device__ __forceinline__ void multiply_R() {
    // (I + Z) R1 = 2 R1 - X R1, from above; two columns of tiles to a warp, a long one and a short one
    constexpr int takers = warps / 2, turns = side > takers ? 2 : 1;
    const int taker = warp - (warps - takers);
#pragma unroll 1
    for (int t = 0; t < turns && 0 <= taker && taker < side; ++t) {
      const int j = t == 0 ? taker : side - 1 - taker;
#pragma unroll 1
      for (int i = 0; i <= j; ++i) {
        const Fragment<D> r = memory.R(i, j).straight();
        Fragment<D> c;
#pragma unroll
        for (int h = 0; h < 2; ++h) c.set(h, scaled(r.of(h), 2.0));
#pragma unroll 2
        for (int k = i; k <= j; ++k)
          add_product(c, memory.square.X(i, k).straight().negated(), memory.R(k, j).transposed());
        __syncwarp();
        memory.R(i, j).store(c);
      }
    }
  }

  /// R, V and T on top, and tau.
  __device__ __forceinline__ void write_square() {
    const auto narrow = [](D x) { return from_parts<E>(static_cast<real_e<E>>(re(x)), static_cast<real_e<E>>(im(x))); };
    const auto& square = memory.square;
#pragma unroll 1
    for (int e = threadIdx.x; e < W * W; e += threads) {
      const int i = e % W, j = e / W, a = i / 8, b = j / 8, r = i % 8, c = j % 8;
      if (outside(i, j)) continue;
      if (i > j) {
        panel.A(i, j) = panel.V(i, j) = narrow(square.P(a, b)(r, c));
        panel.T(i, j) = E{};
        continue;
      }
      const D R = scaled(memory.R(a, b)(r, c), square.sign[i]), T = square.T(a, b)(r, c);
      panel.A(i, j) = i == j ? from_parts<E>(static_cast<real_e<E>>(re(R))) : narrow(R);
      panel.V(i, j) = from_parts<E>(i == j ? 1 : 0);
      panel.T(i, j) = narrow(T);
      if (i == j) panel.tau[i] = narrow(T);
    }
  }
};

}  // namespace devobj::cuda::qr_panel::products
