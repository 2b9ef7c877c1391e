// The eliminations on a small square by which Cholesky-QR makes a reflector, by tiles of 8 x 8 in shared memory: a tile on the
// diagonal is eliminated in the registers of a warp, the others are products on the tensor cores.
//
// Columns one by one, with a barrier for each, take 600 to 900 cycles a column.
#pragma once

#include "kernels/cuda/qr_panel_reflector.cuh"
#include "kernels/cuda/qr_panel_tiles.cuh"

namespace devobj::cuda::qr_panel {

__device__ inline double inverse_of_pivot(double a) {
  return reciprocal(a);
}
__device__ inline cuDoubleComplex inverse_of_pivot(cuDoubleComplex a) {
  const double d = reciprocal(square(a));
  return {a.x * d, -a.y * d};
}

// A warp eliminates a tile alone, so that the number of instructions counts: of the columns that are done any numbers are made,
// and the next pivot is found beside the elimination.

/// M = R^H R of a Hermitian tile; becomes R, and W = R^-H.
template <class D>
__device__ __forceinline__ void factor_tile(Fragment<D>& M, Fragment<D>& W) {
  const int o = fragment_row();
#pragma unroll
  for (int h = 0; h < 2; ++h) W.set(h, from_parts<D>(o == fragment_column(h) ? 1 : 0));
  double pivot = re(element_of(M, 0, 0)), own = 1;  // `own`: the pivot of the lane's row
#pragma unroll
  for (int k = 0; k < tile_side; ++k) {
    const D below = element_of(M, o, k), beside = element_of(M, k, k + 1);
    const double diagonal = re(element_of(M, k + 1, k + 1));
    const Fragment<D> row = row_of(M, k), row_of_W = row_of(W, k);
    const double inverse = reciprocal(pivot);
    if (o == k) own = pivot;
    pivot = fused(-square(beside), inverse, diagonal);
    const D factor = o > k ? scaled(below, inverse) : D{};
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      M.set(h, minus_product(M.of(h), factor, row.of(h)));
      W.set(h, minus_product(W.of(h), factor, row_of_W.of(h)));
    }
  }
  double root, inverse;
  take_root(own, root, inverse);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    M.set(h, o <= fragment_column(h) ? scaled(M.of(h), inverse) : D{});
    W.set(h, scaled(W.of(h), inverse));
  }
}

/// Of a Hermitian positive definite M (upper tiles): M = R, and N = R^-H (lower tiles). All threads call, M must be there
/// for all; ends with a barrier. What is not positive definite leaves NaN in N. The first warp makes the tiles on the
/// diagonal, the next one while the others subtract row k from what is below.
template <class D, int n>
__device__ __forceinline__ void factor_tiles(Tiles<D, n>& M, Tiles<D, n>& N, int warp, int warps) {
  const auto factor_diagonal = [&](int k) {
    Fragment<D> R = M(k, k).straight(), W;
    if (k > 0) {
      const Fragment<D> y = M(k - 1, k).transposed();
      add_product(R, y.conjugated().negated(), y);
    }
    factor_tile(R, W);
    M(k, k).store(R);
    N(k, k).store(W);
  };
  if (warp == 0) factor_diagonal(0);
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    // row k
#pragma unroll 1
    for (int j = warp; j < n; j += warps) {
      if (j == k) continue;
      Tile<D>& to = j > k ? M(k, j) : N(k, j);
      Fragment<D> y;
      add_product(y, N(k, k).straight(), to.transposed());
      __syncwarp();
      to.store(y);
    }
    __syncthreads();
    if (k + 1 == n) break;
    // the rows below; N begins with zeros
    if (warp == 0) {
      factor_diagonal(k + 1);
    } else {
#pragma unroll 1
      for (int i = k + warp; i < n; i += warps - 1) {
        const Fragment<D> left = M(k, i).transposed().conjugated().negated();
        const int j = i == k + 1 ? i + 1 : i;
        add_products<D, true>(&M(i, j), left, &M(k, j), 1, n - j, false);
        add_products<D, true>(&N(i, 0), left, &N(k, 0), 1, k, false);
        add_products<D, true>(&N(i, k), left, &N(k, k), 1, 1, true);
      }
    }
    __syncthreads();
  }
}

/// What is known of a tile P on the diagonal, I - P S = L U.
template <class D>
struct Reconstructed {
  Tile<D> L_inverse, U;
  Tile<D> K;  // -S U^-1, transposed
};
/// What a warp makes of it, with an elimination of its own: P = L below the diagonal and L^-1 P above it, with U and S; or
/// L^-1; or, of P transposed, K.
enum class Make { P, L_inverse, K };
/// S, of eight elements, is written with P. False, then, in the lanes of those of the first w columns that have next to
/// nothing below the diagonal: what is exactly nothing has no reflector in LAPACK.
template <Make make, class D>
__device__ __forceinline__ bool reconstruct_tile(Fragment<D>& P, Reconstructed<D>& made, double* sign, int w) {
  const int lane = threadIdx.x % warp_size, o = fragment_row();
  Fragment<D> F;  // L, or L^-1, or K
#pragma unroll
  for (int h = 0; h < 2; ++h) F.set(h, from_parts<D>(o == fragment_column(h) ? 1 : 0));
  D pivot = element_of(P, 0, 0), own{};  // `own`: the pivot of the lane's row
#pragma unroll
  for (int k = 0; k < tile_side; ++k) {
    const D beside = element_of(P, k, k + 1), below = element_of(P, k + 1, k), diagonal = element_of(P, k + 1, k + 1),
            in_row = element_of(P, o, k);
    const Fragment<D> row = row_of(P, k);
    Fragment<D> row_of_F;
    if constexpr (make != Make::P) row_of_F = row_of(F, k);
    // -S(k, k) / U(k, k)
    const double s = copysign(1.0, re(pivot));
    const D inverse = scaled(inverse_of_pivot(sum(from_parts<D>(1), scaled(pivot, s))), s);
    if (make == Make::P && o == k) own = pivot;
    pivot = minus_product(diagonal, product(below, inverse), beside);
    const D L = o > k ? product(in_row, inverse) : D{};
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      P.set(h, minus_product(P.of(h), L, row.of(h)));
      if constexpr (make == Make::P) {
        if (fragment_column(h) == k) F.set(h, L);
      } else if constexpr (make == Make::L_inverse) {
        F.set(h, minus_product(F.of(h), L, row_of_F.of(h)));
      } else {
        const D B = product(row_of_F.of(h), inverse);
        if (o >= k) F.set(h, o == k ? B : minus_product(F.of(h), B, in_row));
      }
    }
  }
  if constexpr (make == Make::L_inverse) made.L_inverse.store(F);
  if constexpr (make == Make::K) made.K.store(F);
  if constexpr (make != Make::P) return true;

  const double own_sign = -copysign(1.0, re(own));
  const D u = sum(from_parts<D>(1), scaled(own, -own_sign));
  if (lane % 4 == 0) sign[o] = own_sign;
  Fragment<D> U;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int c = fragment_column(h);
    const double column_sign = __shfl_sync(all_lanes, own_sign, 4 * c);
    U.set(h, o == c ? u : o < c ? scaled(P.of(h), -column_sign) : D{});
    if (o > c) P.set(h, F.of(h));
  }
  made.U.store(U);
  constexpr double nothing = 1e-9;
  return o >= w || square(own) < 1 - nothing;
}

/// From P = Q_top, the first rows of a matrix Q with orthonormal columns, and X = R^-1, Q = A R^-1 (upper tiles):
///
///   I - P S = L U,  S(j, j) = -sign of L^-1 P's diagonal (LAPACK's signs; |U(j, j)| >= 1, hence no pivots)
///   P = L below the diagonal,  X = B = -R^-1 S U^-1,  T = U L^-H (upper tiles),  sign = S's diagonal
///
/// in one elimination: step k makes column k of L, B and T from K = -S U^-1 and L^-1 of the tile on the diagonal, L = P K,
/// B = X K, T = (U above + T) L^-H, and row k of P, L^-1 P, whose signs are found later: U(k, j) = -P(k, j) S(j, j); then
/// subtracts L P, B P and T L^H from what is to their right. Three warps make the tiles on the diagonal, the next ones while
/// the others subtract. False in all threads if reconstruct_tile is for one of the w columns. All threads call, P and X must
/// be there for all; ends with a barrier.
template <class D, int n>
__device__ __forceinline__ bool reconstruct_tiles(Tiles<D, n>& P, Tiles<D, n>& X, Tiles<D, n>& T,
                                                  Reconstructed<D>& made, double* sign, int w, int warp, int warps) {
  bool good = true;  // as the first warp knows
  constexpr int makers = 3;
  const auto reconstruct_diagonal = [&](int k) {
    const bool transposed = warp == 2;
    Fragment<D> p = transposed ? P(k, k).transposed() : P(k, k).straight();
    if (k > 0) {
      const Fragment<D> left = P(k, k - 1).straight(), above = P(k - 1, k).transposed();
      add_product(p, (transposed ? above : left).negated(), transposed ? left : above);
    }
    if (warp == 0)
      good = reconstruct_tile<Make::P>(p, made, sign + tile_side * k, w - tile_side * k) && good;
    else if (warp == 1)
      reconstruct_tile<Make::L_inverse>(p, made, nullptr, 0);
    else
      reconstruct_tile<Make::K>(p, made, nullptr, 0);
    return p;
  };
  Fragment<D> diagonal;  // of the first warp, to be stored when the others have read what was there
  if (warp < makers) diagonal = reconstruct_diagonal(0);
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    if (warp == 0) P(k, k).store(diagonal);
      // columns k of L, B and T, row k of P
#pragma unroll 1
    for (int line = warp; line < n; line += warps) {
      Fragment<D> column, row;
      Tile<D>& to = line > k ? P(line, k) : X(line, k);
      add_product(column, to.straight(), made.K.straight());
      if (line > k) {
        add_product(row, made.L_inverse.straight(), P(k, line).transposed());
      } else {
        Fragment<D> above = line == k ? made.U.straight() : T(line, k).straight();
        if (line < k) {
          const Fragment<D> p = P(line, k).straight();
#pragma unroll
          for (int h = 0; h < 2; ++h)
            above.set(h, sum(above.of(h), scaled(p.of(h), -sign[tile_side * k + fragment_column(h)])));
        }
        add_product(row, above, made.L_inverse.straight().conjugated());
      }
      __syncwarp();
      to.store(column);
      (line > k ? P(k, line) : T(line, k)).store(row);
    }
    __syncthreads();
    if (k + 1 == n) break;
    if (warp < makers) {
      diagonal = reconstruct_diagonal(k + 1);
    } else {
      const int j = k + 1;
#pragma unroll 1
      for (int line = warp - makers; line < n + k + 1; line += warps - makers) {
        const int i = line % n;
        if (line < n) {
          Tiles<D, n>& from = i > k ? P : X;
          const int first = i == j ? j + 1 : j;
          add_products<D, true>(&from(i, first), from(i, k).straight().negated(), &P(k, first), 1, n - first, false);
        } else {  // T begins with zeros
          add_products<D, false>(&T(i, j), T(i, k).straight().negated(), &P(j, k), n, n - j, i == k);
        }
      }
    }
    __syncthreads();
  }
  return __syncthreads_and(good);
}

}  // namespace devobj::cuda::qr_panel
