// The eliminations on a small square by which Cholesky-QR makes a reflector, by tiles of 8 x 8 in shared memory: a tile on the
// diagonal is eliminated in the registers of a warp, the others are products on the tensor cores.
//
// Columns one by one, with a barrier for each, take 600 to 900 cycles a column.
#pragma once

#include "kernels/cuda/qr_panel_reflector.cuh"
#include "kernels/cuda/tensor_double.cuh"

namespace devobj::cuda::qr_panel {

inline constexpr int tile_side = 8;

/// What a lane has of a tile: of lane 4 o + p, straight, the elements (o, 2 p + h), or, transposed, the elements (2 p + h, o). Real
/// parts, then imaginary ones. Straight is a result of the tensor cores and a left operand, whose columns they then take in the
/// order 0, 2, 4, 6, 1, 3, ...; transposed is a right operand for that.
template <class D>
struct Fragment {
  static constexpr int parts = is_device_complex<D> ? 2 : 1;
  double x[parts][2] = {};

  __device__ D of(int h) const { return from_parts<D>(x[0][h], x[parts - 1][h]); }
  __device__ void set(int h, D value) {
    x[0][h] = re(value);
    if constexpr (parts == 2) x[1][h] = im(value);
  }
  __device__ Fragment conjugated() const {
    Fragment result = *this;
    if constexpr (parts == 2)
      for (int h = 0; h < 2; ++h) result.x[1][h] = -x[1][h];
    return result;
  }
  __device__ Fragment negated() const {
    Fragment result;
    for (int part = 0; part < parts; ++part)
      for (int h = 0; h < 2; ++h) result.x[part][h] = -x[part][h];
    return result;
  }
};
__device__ inline int fragment_row() {
  return static_cast<int>(threadIdx.x) % warp_size / 4;
}
__device__ inline int fragment_column(int h) {
  return 2 * (static_cast<int>(threadIdx.x) % 4) + h;
}

/// A tile in shared memory, so that no access of a fragment meets in a bank.
template <class D>
struct alignas(16) Tile {
  static constexpr int parts = Fragment<D>::parts, pitch = tile_side + 2;
  double x[parts][tile_side * pitch];

  __device__ Fragment<D> straight() const {
    Fragment<D> f;
    for (int part = 0; part < parts; ++part) {
      const auto pair = *reinterpret_cast<const double2*>(&x[part][fragment_row() * pitch + fragment_column(0)]);
      f.x[part][0] = pair.x, f.x[part][1] = pair.y;
    }
    return f;
  }
  __device__ Fragment<D> transposed() const {
    Fragment<D> f;
    for (int part = 0; part < parts; ++part)
      for (int h = 0; h < 2; ++h) f.x[part][h] = x[part][fragment_column(h) * pitch + fragment_row()];
    return f;
  }
  __device__ void store(const Fragment<D>& f) {
    for (int part = 0; part < parts; ++part)
      *reinterpret_cast<double2*>(&x[part][fragment_row() * pitch + fragment_column(0)]) = {f.x[part][0], f.x[part][1]};
  }
  __device__ void store_transposed(const Fragment<D>& f) {
    for (int part = 0; part < parts; ++part)
      for (int h = 0; h < 2; ++h) x[part][fragment_column(h) * pitch + fragment_row()] = f.x[part][h];
  }
  __device__ D operator()(int i, int j) const {
    return from_parts<D>(x[0][i * pitch + j], x[parts - 1][i * pitch + j]);
  }
};

/// c += a b, b transposed
template <class D>
__device__ __forceinline__ void add_product(Fragment<D>& c, const Fragment<D>& a, const Fragment<D>& b) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    multiply_8x4x8(c.x[0], a.x[0][h], b.x[0][h]);
    if constexpr (is_device_complex<D>) {
      multiply_8x4x8(c.x[0], -a.x[1][h], b.x[1][h]);
      multiply_8x4x8(c.x[1], a.x[0][h], b.x[1][h]);
      multiply_8x4x8(c.x[1], a.x[1][h], b.x[0][h]);
    }
  }
}

/// A triangle of tiles; (i, j), i <= j, of an upper one, (j, i) of a lower one.
template <class D, int n>
struct Triangle {
  static constexpr int count = n * (n + 1) / 2;
  Tile<D> tile[count];
  __device__ Tile<D>& operator()(int i, int j) { return tile[j * (j + 1) / 2 + i]; }
  __device__ const Tile<D>& operator()(int i, int j) const { return tile[j * (j + 1) / 2 + i]; }
  /// act(i, j) for all tiles, dealt out to the warps.
  template <class Act>
  __device__ static void each(int warp, int warps, Act act) {
    int j = 0;
#pragma unroll 1
    for (int t = warp; t < count; t += warps) {
      while ((j + 1) * (j + 2) / 2 <= t) ++j;
      act(t - j * (j + 1) / 2, j);
    }
  }
};
template <class D, int n>
struct SquareOfTiles {
  Tile<D> tile[n][n];
  __device__ Tile<D>& operator()(int i, int j) { return tile[i][j]; }
  __device__ const Tile<D>& operator()(int i, int j) const { return tile[i][j]; }
};

/// An element of a fragment of the warp: row i, column pair + odd, pair even.
template <class D>
__device__ __forceinline__ D element_of(const Fragment<D>& f, int i, int pair, int odd) {
  return shuffle(f.of(odd), 4 * i + pair / 2);
}
/// The row k of a fragment: element h is that in the lane's column.
template <class D>
__device__ __forceinline__ Fragment<D> row_of(const Fragment<D>& f, int k) {
  Fragment<D> row;
#pragma unroll
  for (int h = 0; h < 2; ++h) row.set(h, shuffle(f.of(h), 4 * k + static_cast<int>(threadIdx.x) % 4));
  return row;
}

template <class D>
__device__ D choose_element(bool first, D a, D b) {
  if constexpr (is_device_complex<D>)
    return {first ? a.x : b.x, first ? a.y : b.y};
  else
    return first ? a : b;
}
__device__ inline double inverse_of_pivot(double a) {
  return reciprocal(a);
}
__device__ inline cuDoubleComplex inverse_of_pivot(cuDoubleComplex a) {
  const double d = reciprocal(square(a));
  return {a.x * d, -a.y * d};
}

/// M = R^H R of a Hermitian tile; becomes R, and W = R^-H.
template <class D>
__device__ __forceinline__ void factor_tile(Fragment<D>& M, Fragment<D>& W) {
  const int o = fragment_row();
#pragma unroll
  for (int h = 0; h < 2; ++h) W.set(h, from_parts<D>(o == fragment_column(h) ? 1 : 0));
  double own = 1;  // pivot of the lane's row
#pragma unroll 1
  for (int pair = 0; pair < tile_side; pair += 2) {
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      const int k = pair + odd;
      const double pivot = re(element_of(M, k, pair, odd));
      const D below = element_of(M, o, pair, odd);
      const Fragment<D> row = row_of(M, k), row_of_W = row_of(W, k);
      own = o == k ? pivot : own;
      const D factor = o > k ? scaled(below, reciprocal(pivot)) : D{};
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        M.set(h, minus_product(M.of(h), factor, row.of(h)));
        W.set(h, minus_product(W.of(h), factor, row_of_W.of(h)));
      }
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

/// Of a Hermitian positive definite M (upper tiles): M = R, and N = R^-H (lower tiles, N(j, i) is its tile in row i). All threads
/// call, M must be there for all; ends with a barrier. What is not positive definite leaves NaN in N. The first warp makes the
/// tiles on the diagonal, the next one while the others subtract row k from what is below.
template <class D, int n>
__device__ __forceinline__ void factor_tiles(Triangle<D, n>& M, Triangle<D, n>& N, int warp, int warps) {
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
  for (int k = 0; k + 1 < n; ++k) {
    // row k
#pragma unroll 1
    for (int j = warp; j < n; j += warps) {
      if (j == k) continue;
      Tile<D>& to = j > k ? M(k, j) : N(j, k);
      Fragment<D> y;
      add_product(y, N(k, k).straight(), to.transposed());
      __syncwarp();
      to.store(y);
    }
    __syncthreads();
    // the rows below
    if (warp == 0) {
      factor_diagonal(k + 1);
    } else {
#pragma unroll 1
      for (int i = k + warp; i < n; i += warps - 1) {
        const Fragment<D> a = M(k, i).transposed().conjugated().negated();
#pragma unroll 2
        for (int j = 0; j < n; ++j) {
          if ((j > k && j < i) || (i == k + 1 && j == i)) continue;
          Tile<D>& to = j >= i ? M(i, j) : N(j, i);
          Fragment<D> c;
          if (j != k) c = to.straight();  // N begins with zeros there
          add_product(c, a, (j >= i ? M(k, j) : N(j, k)).transposed());
          to.store(c);
        }
      }
    }
    __syncthreads();
  }
  // the last row of N
#pragma unroll 1
  for (int j = warp; j < n - 1; j += warps) {
    Fragment<D> y;
    add_product(y, N(n - 1, n - 1).straight(), N(j, n - 1).transposed());
    __syncwarp();
    N(j, n - 1).store(y);
  }
  __syncthreads();
}

/// What is known of a tile P on the diagonal, I - P S = L U.
template <class D>
struct Reconstructed {
  Tile<D> L_inverse, U;
  Tile<D> K;  // -S U^-1, transposed
};
/// Makes it, P = L below the diagonal and L^-1 P above it, and S. False if one of the first w columns has next to nothing
/// below the diagonal: what is exactly nothing has no reflector in LAPACK.
template <class D>
__device__ __forceinline__ bool reconstruct_tile(Fragment<D>& P, Reconstructed<D>& made, double* sign, int w) {
  const int lane = threadIdx.x % warp_size, o = fragment_row();
  Fragment<D> L_inverse, K, U;
  bool good = true;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const D unit = from_parts<D>(o == fragment_column(h) ? 1 : 0);
    L_inverse.set(h, unit);
    K.set(h, unit);
  }
#pragma unroll 1
  for (int pair = 0; pair < tile_side; pair += 2) {
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      const int k = pair + odd;
      const D pivot = element_of(P, k, pair, odd), below = element_of(P, o, pair, odd);
      const Fragment<D> row = row_of(P, k), row_of_L = row_of(L_inverse, k), column_of_K = row_of(K, k);
      // element (k, o)
      const D left = shuffle(P.of(0), 4 * k + o / 2), right = shuffle(P.of(1), 4 * k + o / 2);
      const D beside = choose_element(o % 2 == 0, left, right);
      const double s = -copysign(1.0, re(pivot));
      const D u = sum(from_parts<D>(1), scaled(pivot, -s)), inverse = scaled(inverse_of_pivot(u), -s);
      if (lane == 0) sign[k] = s;
      constexpr double nothing = 1e-9;
      good = good && (k >= w || square(pivot) < 1 - nothing);
      const D L = o > k ? product(below, inverse) : D{};
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int c = fragment_column(h);
        // row k of U is P's with the signs of its columns, which come later
        if (o == k && c == k) U.set(h, u);
        if (c == k && o < k) U.set(h, scaled(P.of(h), -s));
        if (c > k) P.set(h, minus_product(P.of(h), L, row.of(h)));
        if (c == k && o > k) P.set(h, L);
        L_inverse.set(h, minus_product(L_inverse.of(h), L, row_of_L.of(h)));
        const D B = product(column_of_K.of(h), inverse);
        if (o == k) K.set(h, B);
        if (o > k) K.set(h, minus_product(K.of(h), B, beside));
      }
    }
  }
  made.L_inverse.store(L_inverse);
  made.K.store(K);
  made.U.store(U);
  return good;
}

/// From P = Q_top, the first rows of a matrix Q with orthonormal columns, and X = R^-1, Q = A R^-1 (upper tiles):
///
///   I - P S = L U,  S(j, j) = -sign of L^-1 P's diagonal (LAPACK's signs; |U(j, j)| >= 1, hence no pivots)
///   P = L below the diagonal,  X = B = -R^-1 S U^-1,  T = U L^-H (upper tiles),  sign = S's diagonal
///
/// in one elimination: step k makes column k of L, B and T from K = -S U^-1 and L^-1 of the tile on the diagonal, L = P K, B = X K,
/// T = (U above + T) L^-H, and row k of P, L^-1 P, whose signs are found later: U(k, j) = -P(k, j) S(j, j); then subtracts
/// L P, B P and T L^H from what is to their right. The first warp makes the tiles on the diagonal, the next one while the others
/// subtract. False in all threads if one of the first w columns has next to nothing below the diagonal. All threads call, P and X must
/// be there for all; ends with a barrier.
template <class D, int n>
__device__ __forceinline__ bool reconstruct_tiles(SquareOfTiles<D, n>& P, Triangle<D, n>& X, Triangle<D, n>& T,
                                                  Reconstructed<D>& made, double* sign, int w, int warp, int warps) {
  bool good = true;  // as the first warp knows
  const auto reconstruct_diagonal = [&](int k) {
    Fragment<D> p = P(k, k).straight();
    if (k > 0) add_product(p, P(k, k - 1).straight().negated(), P(k - 1, k).transposed());
    if (!reconstruct_tile(p, made, sign + tile_side * k, w - tile_side * k)) good = false;
    P(k, k).store(p);
  };
  if (warp == 0) reconstruct_diagonal(0);
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    // columns k of L, B and T, row k of P
#pragma unroll 1
    for (int task = warp; task < 2 * n; task += warps) {
      const int line = task % n;
      Fragment<D> c;
      if (task < n) {
        Tile<D>& to = line > k ? P(line, k) : X(line, k);
        add_product(c, to.straight(), made.K.straight());
        to.store(c);
      } else if (line > k) {
        add_product(c, made.L_inverse.straight(), P(k, line).transposed());
        __syncwarp();
        P(k, line).store(c);
      } else {
        Fragment<D> above = line == k ? made.U.straight() : T(line, k).straight();
        if (line < k) {
          const Fragment<D> p = P(line, k).straight();
#pragma unroll
          for (int h = 0; h < 2; ++h)
            above.set(h, sum(above.of(h), scaled(p.of(h), -sign[tile_side * k + fragment_column(h)])));
        }
        add_product(c, above, made.L_inverse.straight().conjugated());
        T(line, k).store(c);
      }
    }
    __syncthreads();
    if (k + 1 == n) break;
    if (warp == 0) {
      reconstruct_diagonal(k + 1);
    } else {
#pragma unroll 1
      for (int line = warp - 1; line < n + k + 1; line += warps - 1) {
        const int i = line % n;
        const bool of_T = line >= n;
        const Fragment<D> a = (of_T ? T(i, k) : i > k ? P(i, k) : X(i, k)).straight().negated();
#pragma unroll 2
        for (int j = k + 1; j < n; ++j) {
          if (!of_T && i == k + 1 && j == i) continue;
          Tile<D>& to = of_T ? T(i, j) : i > k ? P(i, j) : X(i, j);
          Fragment<D> c;
          if (!of_T || i < k) c = to.straight();  // T begins with zeros
          add_product(c, a, of_T ? P(j, k).straight().conjugated() : P(k, j).transposed());
          to.store(c);
        }
      }
    }
    __syncthreads();
  }
  return __syncthreads_and(good);
}

}  // namespace devobj::cuda::qr_panel
