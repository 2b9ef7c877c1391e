// Solutions with a triangle of 64 x 64, a tile of trsm_few, for a few right-hand sides.
//
// Substitution takes 64 dependent steps. The inverse X is made while a tile waits for its turn; then the solution is one
// product, and two more correct it:  x = X b,  x = x + X (b - T x).  Without the correction residuals of
// ill-conditioned tiles are tens of thousands of times those of substitution; with it they are about the same (design
// notes).
//
//   columns        0 - 15         16 - 31        32 - 47        48 - 63
//   rows 0 - 3     lanes 0 - 15   lanes 0 - 15   -              -               of the first of 8 warps
//   rows 4 - 7     lanes 16 - 31  lanes 16 - 31  -              -
//   rows 8 - 11    lanes 0 - 15   ...                                           of the second
//   rows 60 - 63   lanes 16 - 31  lanes 16 - 31  lanes 16 - 31  lanes 16 - 31   of the last
//
// A lane has four rows of its columns of T and X in registers before the products begin. A product's sums are exchanged
// within half a warp, and one barrier ends it.
#pragma once

#include "kernels/cuda/triangle_tile.cuh"

namespace devobj::cuda::few {

inline constexpr int size = 64;  // rows of a tile, and its columns
inline constexpr int threads = 256;
inline constexpr int lanes = 16;            // that have the same rows in a product
inline constexpr int parts = size / lanes;  // columns of a lane

/// Elements of a column, read at once.
template <class E>
struct alignas(16) Four {
  E e[4];
};
template <class E>
__device__ const Four<E>& four_at(const E* p) {
  return *reinterpret_cast<const Four<E>*>(p);
}
template <class E>
__device__ Four<E>& four_at(E* p) {
  return *reinterpret_cast<Four<E>*>(p);
}

__device__ inline float quotient(float a, float b) {
  return a / b;
}
__device__ inline double quotient(double a, double b) {
  return a / b;
}
/// With b brought near 1: its parts' inverses may overflow.
__device__ inline cuComplex quotient(cuComplex a, cuComplex b) {
  const float size = fmaxf(fabsf(b.x), fabsf(b.y));
  const int e = size > 0 && isfinite(size) ? -ilogbf(size) : 0;
  return cuCdivf({scalbnf(a.x, e), scalbnf(a.y, e)}, {scalbnf(b.x, e), scalbnf(b.y, e)});
}
__device__ inline cuDoubleComplex quotient(cuDoubleComplex a, cuDoubleComplex b) {
  const double size = fmax(fabs(b.x), fabs(b.y));
  const int e = size > 0 && isfinite(size) ? -ilogb(size) : 0;
  return cuCdiv({scalbn(a.x, e), scalbn(a.y, e)}, {scalbn(b.x, e), scalbn(b.y, e)});
}
template <class E>
__device__ bool is_finite(E a) {
  return isfinite(re(a)) && isfinite(im(a));
}

/// In shared memory. T is a lower triangle, with ones on the diagonal where there is no row. All threads of the block call.
template <class E, int columns>
struct Tile {
  static constexpr int copies = lanes / (4 * columns);  // lanes that have the same element of a product
  // with the gap, the same four rows of eight columns lie in all the banks once
  static constexpr int stride = size + 16 / sizeof(E);

  E right_side[columns][size], solution[columns][size], residual[columns][size];
  alignas(16) E T[size][stride];  // [column][row]
  E X[size][stride];

  /// A thread's part of T or X: four rows of each of its columns.
  struct Part {
    Four<E> e[parts];
  };

  __device__ void set(int row, int column, E value) { T[column][row] = value; }

  /// The first of this thread's rows, and the columns' number `part`.
  __device__ static int first_row() { return threadIdx.x / lanes * 4; }
  __device__ static int column(int part) { return threadIdx.x % lanes + part * lanes; }
  /// The element of a product that this thread ends with.
  __device__ static int my_row() { return first_row() + threadIdx.x % lanes / copies / columns; }
  __device__ static int my_right_side() { return threadIdx.x % lanes / copies % columns; }

  /// Of s, sums for four rows, each for all the right-hand sides: over the lanes that have the same rows, this thread's.
  template <int count, int distance = lanes / 2>
  __device__ static E sum_of_lanes(const E (&s)[count]) {
    constexpr int left = count > 1 ? count / 2 : 1;
    const bool upper = count > 1 && (threadIdx.x & distance);
    E half[left];
#pragma unroll
    for (int i = 0; i < left; ++i) {
      const E mine = upper ? s[i + count / 2] : s[i], other = upper ? s[i] : s[count / 2 + i];
      half[i] = cuda::sum(mine, shuffle_across(other, distance));
    }
    if constexpr (distance > 1)
      return sum_of_lanes<left, distance / 2>(half);
    else
      return half[0];
  }

  /// X = T^-1 but for its 32 x 32 above the diagonal, which are not written; whether all the others are finite.
  __device__ bool invert() {
    bool bad = false;
    const int warp = threadIdx.x / warp_size;
    if (warp < 2) bad = invert_on_diagonal(warp * warp_size);
    __syncthreads();
    bad |= invert_below_diagonal();
    return !__syncthreads_or(bad);
  }

  /// This thread's part of M, T or X; zeros if not `inverted`, so that registers have a value, and are taken from here on.
  __device__ static Part part_of(const E (&M)[size][stride], bool inverted) {
    Part part;
#pragma unroll
    for (int i = 0; i < parts; ++i) part.e[i] = inverted && has(i) ? four_at(&M[column(i)][first_row()]) : Four<E>{};
    return part;
  }

  /// This thread's element of T^-1 right_side, of which it has `b`; if `inverted` by its parts of T and X.
  __device__ E solve(bool inverted, const Part& T_part, const Part& X_part, E b) {
    const int row = my_row(), j = my_right_side();
    if (inverted) {
      const E x = negative(minus_product_with(X_part, right_side));
      solution[j][row] = x;
      __syncthreads();
      const E r = cuda::sum(b, minus_product_with(T_part, solution));
      residual[j][row] = r;
      // an x that is not finite makes such an r
      if (!__syncthreads_or(!is_finite(r))) {
        const E corrected = cuda::sum(x, negative(minus_product_with(X_part, residual)));
        return is_finite(corrected) ? corrected : x;  // the correction alone may overflow
      }
    }
    if (threadIdx.x < warp_size) substitute(threadIdx.x);
    __syncthreads();
    return solution[j][row];
  }

 private:
  /// Whether the part's columns have elements in this thread's rows, or in their half of the tile.
  __device__ static bool has(int part) {
    return part < parts / 2 || threadIdx.x >= threads / 2;
  }

  /// This thread's element of -M v.
  __device__ E minus_product_with(const Part& M, const E (&v)[columns][size]) const {
    // all at once: each read takes as long as many products
    E x[parts][columns];
#pragma unroll
    for (int i = 0; i < parts; ++i)
#pragma unroll
      for (int j = 0; j < columns; ++j) x[i][j] = has(i) ? v[j][column(i)] : E{};
    E s[4 * columns] = {};
#pragma unroll
    for (int half = 0; half < parts; half += parts / 2) {
      if (!has(half)) break;
#pragma unroll
      for (int i = half; i < half + parts / 2; ++i)
#pragma unroll
        for (int j = 0; j < columns; ++j)
#pragma unroll
          for (int k = 0; k < 4; ++k) s[k * columns + j] = minus_product(s[k * columns + j], M.e[i].e[k], x[i][j]);
    }
    return sum_of_lanes(s);
  }

  /// By a warp, a column to a lane: X = T^-1 in the 32 x 32 at (first, first); whether the lane has what is not finite.
  __device__ bool invert_on_diagonal(int first) {
    const int lane = threadIdx.x % warp_size;
    const E reciprocal = quotient(from_parts<E>(1), T[first + lane][first + lane]);
    E x[warp_size];
    inverse_column<false, stride>(
        &T[first][first], [&](int k) { return shuffle(reciprocal, k); }, lane, x);
#pragma unroll
    for (int i = 0; i < warp_size; i += 4) four_at(&X[first + lane][first + i]) = {x[i], x[i + 1], x[i + 2], x[i + 3]};
    bool bad = false;
#pragma unroll
    for (int i = 0; i < warp_size; ++i) bad |= !is_finite(x[i]);
    return bad;
  }

  /// X10 = -X11 (T10 X00), where X00 and X11 are there. A warp has four columns, a lane a row of them; whether the thread
  /// has what is not finite.
  __device__ bool invert_below_diagonal() {
    const int lane = threadIdx.x % warp_size, row = warp_size + lane, first = threadIdx.x / warp_size * 4;
    E p[4] = {};
    const auto put = [&] {
#pragma unroll
      for (int j = 0; j < 4; ++j) X[first + j][row] = p[j];
    };
    // P = -T10 X00
    for (int k = first; k < warp_size; k += 4) {
      Four<E> x[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) x[j] = four_at(&X[first + j][k]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const E t = T[k + i][row];
#pragma unroll
        for (int j = 0; j < 4; ++j) p[j] = minus_product(p[j], t, x[j].e[i]);
      }
    }
    put();
    __syncwarp();
    // X10 = X11 P
#pragma unroll
    for (int j = 0; j < 4; ++j) p[j] = E{};
    for (int k = warp_size; k < size; k += 4) {
      Four<E> y[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) y[j] = four_at(&X[first + j][k]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const E x = negative(X[k + i][row]);
#pragma unroll
        for (int j = 0; j < 4; ++j) p[j] = minus_product(p[j], x, y[j].e[i]);
      }
    }
    __syncwarp();
    put();
    bool bad = false;
#pragma unroll
    for (int j = 0; j < 4; ++j) bad |= !is_finite(p[j]);
    return bad;
  }

  /// solution = T^-1 right_side, by a warp, two rows to a lane.
  __device__ __noinline__ void substitute(int lane) {
    E y[2][columns], d[2], inverse[2];
    bool divides[2];  // where the inverse overflows
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int r = lane + h * warp_size;
      d[h] = T[r][r];
      inverse[h] = quotient(from_parts<E>(1), d[h]);
      divides[h] = !is_finite(inverse[h]);
#pragma unroll
      for (int j = 0; j < columns; ++j) y[h][j] = right_side[j][r];
    }
#pragma unroll
    for (int h = 0; h < 2; ++h)
      for (int k = h * warp_size; k < (h + 1) * warp_size; ++k) {
        const E t0 = T[k][lane], t1 = T[k][lane + warp_size];
#pragma unroll
        for (int j = 0; j < columns; ++j) {
          const E mine = divides[h] ? quotient(y[h][j], d[h]) : product(y[h][j], inverse[h]);
          const E x = shuffle(mine, k % warp_size);
          if (lane == k % warp_size) y[h][j] = x;
          if (lane > k) y[0][j] = minus_product(y[0][j], t0, x);
          if (lane + warp_size > k) y[1][j] = minus_product(y[1][j], t1, x);
        }
      }
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int j = 0; j < columns; ++j) solution[j][lane + h * warp_size] = y[h][j];
  }
};

}  // namespace devobj::cuda::few
