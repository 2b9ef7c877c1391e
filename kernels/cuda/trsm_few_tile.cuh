// Solutions with a triangle of 64 x 64 or 128 x 128, a tile of trsm_few, for a few right-hand sides.
//
// Substitution takes a dependent step per row. The inverse X is made while a tile waits for its turn; then the solution is
// one product, and two more correct it:  x = X b,  x = x + X (b - T x).  Without the correction residuals of
// ill-conditioned tiles are thousands of times those of substitution; with it they are mostly the same (design notes).
//
// A warp has eight rows of the products, each half of it four of them; a lane has every 16th column. T and X are in
// registers then, a product's sums are exchanged within the halves, and one barrier ends it.
#pragma once

#include "kernels/cuda/arithmetic.cuh"

namespace devobj::cuda::few {

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
template <class E, int columns, int size>
struct Tile {
  static constexpr int threads = 4 * size;
  static constexpr int lanes = 16;                      // that have a row
  static constexpr int parts = size / lanes;            // columns of a lane
  static constexpr int copies = lanes / (4 * columns);  // lanes that have the same element of a product
  // with the gap, the same four rows of eight columns lie in all the banks once
  static constexpr int stride = size + 16 / sizeof(E);

  alignas(16) E right_side[columns][size];
  E solution[columns][size], residual[columns][size];
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

  /// X = T^-1 but for its blocks of 32 x 32 above the diagonal, which are not written; whether all the others are finite.
  __device__ __noinline__ bool invert() {
    bool bad = false;
    const int warp = threadIdx.x / warp_size;
    if (warp < size / warp_size) bad = invert_on_diagonal(warp * warp_size);
    __syncthreads();
    bad |= merge<warp_size>();
    if constexpr (size > 2 * warp_size) {
      __syncthreads();
      bad |= merge<2 * warp_size>();
    }
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
        return is_finite(corrected) ? corrected : x;
      }
    }
    if (threadIdx.x < warp_size) substitute(threadIdx.x);
    __syncthreads();
    return solution[j][row];
  }

 private:
  /// Whether the part's columns have elements in the rows of this warp, or in the 32 of its block.
  __device__ static bool has(int part) {
    return part * lanes / warp_size <= threadIdx.x / lanes * 4 / warp_size;
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
    for (int block = 0; block < parts; block += 2) {
      if (!has(block)) break;
#pragma unroll
      for (int i = block; i < block + 2; ++i)
#pragma unroll
        for (int j = 0; j < columns; ++j)
#pragma unroll
          for (int k = 0; k < 4; ++k) s[k * columns + j] = minus_product(s[k * columns + j], M.e[i].e[k], x[i][j]);
    }
    return sum_of_lanes(s);
  }

  /// By a warp, a column to a lane: X = T^-1 in the 32 x 32 at (first, first); whether the lane has what is not finite.
  /// Each x[k] is subtracted from all that follow at once, so that a step waits for one product only.
  __device__ bool invert_on_diagonal(int first) {
    const int lane = threadIdx.x % warp_size;
    const E reciprocal = quotient(from_parts<E>(1), T[first + lane][first + lane]);
    E x[warp_size];
#pragma unroll
    for (int i = 0; i < warp_size; ++i) x[i] = from_parts<E>(i == lane ? 1 : 0);
#pragma unroll
    for (int k = 0; k < warp_size; ++k) {
      x[k] = product(x[k], shuffle(reciprocal, k));
#pragma unroll
      for (int i = (k + 1) / 4 * 4; i < warp_size; i += 4) {
        const Four<E> t = four_at(&T[first + k][first + i]);
#pragma unroll
        for (int r = 0; r < 4; ++r)
          if (i + r > k) x[i + r] = minus_product(x[i + r], t.e[r], x[k]);
      }
    }
#pragma unroll
    for (int i = 0; i < warp_size; i += 4) four_at(&X[first + lane][first + i]) = {x[i], x[i + 1], x[i + 2], x[i + 3]};
    bool bad = false;
#pragma unroll
    for (int i = 0; i < warp_size; ++i) bad |= !is_finite(x[i]);
    return bad;
  }

  /// X10 = -X11 (T10 X00) in the size / (2 half) blocks on the diagonal whose X00 and X11 are there. A warp has four
  /// columns of such a block; whether the thread has what is not finite.
  template <int half>
  __device__ bool merge() {
    constexpr int members = half / 4, rows = half / warp_size;  // warps of a block; a lane's rows
    const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const int top = warp / members * (2 * half), bottom = top + half, first = warp % members * 4;
    E* const mine = &X[top + first][bottom];
    E p[4][rows] = {};
    // P = -T10 X00
    for (int k = first; k < half; k += 4) {
      Four<E> x[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) x[j] = four_at(&X[top + first + j][top + k]);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int h = 0; h < rows; ++h) {
          const E t = T[top + k + i][bottom + h * warp_size + lane];
#pragma unroll
          for (int j = 0; j < 4; ++j) p[j][h] = minus_product(p[j][h], t, x[j].e[i]);
        }
    }
    const auto put = [&] {
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int h = 0; h < rows; ++h) mine[j * stride + h * warp_size + lane] = p[j][h];
    };
    put();
    __syncwarp();
    // X10 = X11 P
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int h = 0; h < rows; ++h) p[j][h] = E{};
#pragma unroll
    for (int block = 0; block < rows; ++block)
      for (int k = block * warp_size; k < (block + 1) * warp_size; k += 4) {
        Four<E> y[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) y[j] = four_at(mine + j * stride + k);
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int h = block; h < rows; ++h) {
            const E x = negative(X[bottom + k + i][bottom + h * warp_size + lane]);
#pragma unroll
            for (int j = 0; j < 4; ++j) p[j][h] = minus_product(p[j][h], x, y[j].e[i]);
          }
      }
    __syncwarp();
    put();
    bool bad = false;
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int h = 0; h < rows; ++h) bad |= !is_finite(p[j][h]);
    return bad;
  }

  /// solution = T^-1 right_side, by a warp, every 32nd row to a lane.
  __device__ __noinline__ void substitute(int lane) {
    constexpr int rows = size / warp_size;
    E y[rows][columns], d[rows], inverse[rows];
    bool divides[rows];  // where the inverse overflows
#pragma unroll
    for (int h = 0; h < rows; ++h) {
      const int r = lane + h * warp_size;
      d[h] = T[r][r];
      inverse[h] = quotient(from_parts<E>(1), d[h]);
      divides[h] = !is_finite(inverse[h]);
#pragma unroll
      for (int j = 0; j < columns; ++j) y[h][j] = right_side[j][r];
    }
#pragma unroll
    for (int h = 0; h < rows; ++h)
      for (int k = 0; k < warp_size; ++k) {
        E t[rows];
#pragma unroll
        for (int g = h; g < rows; ++g) t[g] = T[h * warp_size + k][g * warp_size + lane];
#pragma unroll
        for (int j = 0; j < columns; ++j) {
          const E mine = divides[h] ? quotient(y[h][j], d[h]) : product(y[h][j], inverse[h]);
          const E x = shuffle(mine, k);
          if (lane == k) y[h][j] = x;
          if (lane > k) y[h][j] = minus_product(y[h][j], t[h], x);
#pragma unroll
          for (int g = h + 1; g < rows; ++g) y[g][j] = minus_product(y[g][j], t[g], x);
        }
      }
#pragma unroll
    for (int h = 0; h < rows; ++h)
#pragma unroll
      for (int j = 0; j < columns; ++j) solution[j][lane + h * warp_size] = y[h][j];
  }
};

}  // namespace devobj::cuda::few
