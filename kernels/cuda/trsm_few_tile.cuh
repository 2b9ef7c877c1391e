// Solutions with a triangle of 64 x 64, a tile of trsm_few, for a few right-hand sides.
//
// Substitution takes 64 dependent steps. The inverse X is made while a tile waits for its turn; then the solution is two
// products, and two more correct it:  x = X b,  x = x + X (b - T x).  Without the correction residuals of ill-conditioned
// tiles are a thousand times those of substitution; with it they are the same (design notes).
#pragma once

#include <cfloat>

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/grid.cuh"

namespace devobj::cuda::few {

inline constexpr int size = 64;  // rows of a tile, and its columns
inline constexpr int threads = 256, groups = threads / size;
inline constexpr int share = size / groups;  // columns of a tile, or rows, that a thread has

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
  E right_side[columns][size], solution[columns][size];
  E sums[groups][columns][size];
  E T[size][size + 1], X[size][size + 1];  // [column][row]

  __device__ void set(int row, int column, E value) { T[column][row] = value; }
  __device__ E sum_of_groups(int j, int row) const {
    E s = sums[0][j][row];
#pragma unroll
    for (int g = 1; g < groups; ++g) s = cuda::sum(s, sums[g][j][row]);
    return s;
  }

  /// X = T^-1; whether all of it is finite.
  __device__ __noinline__ bool invert() {
    constexpr int half = size / 2, members = threads / half, rows = half / members;
    static_assert(half == warp_size);
    const int thread = threadIdx.x, lane = thread % warp_size, warp = thread / warp_size;
    if (warp < 2) {
      // a half of the diagonal, a column to a lane
      const int first = warp * half;
      E x[half];
#pragma unroll
      for (int i = 0; i < half; ++i) {
        E s = from_parts<E>(i == lane ? 1 : 0);
#pragma unroll
        for (int k = 0; k < i; ++k) s = minus_product(s, T[first + k][first + i], x[k]);
        x[i] = quotient(s, T[first + i][first + i]);
        X[first + lane][first + i] = x[i];
      }
    } else {
      for (int e = thread - 2 * warp_size; e < half * half; e += threads - 2 * warp_size)
        X[half + e / half][e % half] = E{};
    }
    __syncthreads();
    // X10 = -X11 (T10 X00)
    E p[rows] = {};
    for (int k = 0; k < half; ++k)
#pragma unroll
      for (int i = 0; i < rows; ++i) p[i] = minus_product(p[i], T[k][half + warp * rows + i], X[lane][k]);
#pragma unroll
    for (int i = 0; i < rows; ++i) X[lane][half + warp * rows + i] = p[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < rows; ++i) p[i] = E{};
    for (int k = 0; k < half; ++k)
#pragma unroll
      for (int i = 0; i < rows; ++i)
        p[i] = minus_product(p[i], negative(X[half + k][half + warp * rows + i]), X[lane][half + k]);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < rows; ++i) X[lane][half + warp * rows + i] = p[i];
    __syncthreads();
    bool bad = false;
    for (int e = thread; e < size * size; e += threads) bad = bad || !is_finite(X[e / size][e % size]);
    return !__syncthreads_or(bad);
  }

  /// solution = T^-1 right_side.
  __device__ void solve(bool inverted) {
    const int thread = threadIdx.x;
    if (inverted) {
      bool bad = false;
      multiply(X, right_side);
      if (thread < size)
#pragma unroll
        for (int j = 0; j < columns; ++j) solution[j][thread] = sum_of_groups(j, thread);
      __syncthreads();
      multiply(T, solution);
      E x[columns];
      if (thread < size)
#pragma unroll
        for (int j = 0; j < columns; ++j) {
          x[j] = solution[j][thread];
          solution[j][thread] = cuda::sum(right_side[j][thread], negative(sum_of_groups(j, thread)));
        }
      __syncthreads();
      multiply(X, solution);
      if (thread < size)
#pragma unroll
        for (int j = 0; j < columns; ++j) {
          solution[j][thread] = cuda::sum(x[j], sum_of_groups(j, thread));
          bad = bad || !is_finite(solution[j][thread]);
        }
      if (!__syncthreads_or(bad)) return;
    }
    if (thread < warp_size) substitute(thread);
    __syncthreads();
  }

 private:
  /// sums = M v, by groups of columns.
  __device__ void multiply(const E (&M)[size][size + 1], const E (&v)[columns][size]) {
    const int row = threadIdx.x % size, group = threadIdx.x / size;
    E s[columns] = {};
#pragma unroll
    for (int i = 0; i < share; ++i) {
      const int c = group * share + i;
      const E m = negative(M[c][row]);
#pragma unroll
      for (int j = 0; j < columns; ++j) s[j] = minus_product(s[j], m, v[j][c]);
    }
#pragma unroll
    for (int j = 0; j < columns; ++j) sums[group][j][row] = s[j];
    __syncthreads();
  }

  /// By a warp, two rows to a lane.
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
