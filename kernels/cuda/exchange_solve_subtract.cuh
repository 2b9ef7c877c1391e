// What a block of exchange_solve_subtract computes with L11 and its columns in shared memory: X = L11^-1 X, and C -= L X for many
// rows of C and L in global memory.
#pragma once

#include "kernels/cuda/exchange_solve_tiles.cuh"
#include "kernels/cuda/pipeline.cuh"

namespace devobj::cuda::exchange_solve_subtract_block {

using exchange_solve_tiles::by_tensor_cores;
using exchange_solve_tiles::Piece;
using exchange_solve_tiles::piece;

constexpr int threads = 512;
constexpr int warps = threads / warp_size;
constexpr int columns = 8;  // of a block
constexpr int tile = 16;    // rows of L11 whose diagonal tile is inverted

/// Rows that are read or written side by side begin in different banks.
template <class E, int w>
using Row = E[w + (sizeof(E) == 16 ? 2 : exchange_solve_tiles::padded<E>(0))];

/// Whether two lanes have the real and the imaginary parts of a column that is inverted: of complex numbers in double precision, where
/// a warp's instructions are what takes the time.
template <class E>
constexpr bool inverted_by_parts = sizeof(E) == 16;
/// Warps that invert L's diagonal tiles: one for two tiles, or for one.
template <class E, int w>
constexpr int inverting_warps = w / tile / (inverted_by_parts<E> ? 1 : 2);

/// By one of them: its tiles = their inverses. What is on and above the diagonal is not read. A lane has a column of a tile, or parts.
template <class E, int w>
__device__ void invert_tiles(Row<E, w>* L, int warp) {
  const int lane = threadIdx.x % warp_size, column = lane % tile;
  if constexpr (inverted_by_parts<E>) {
    using R = real_e<E>;
    const int top = warp * tile;
    const bool imaginary = lane >= tile;
    R x[tile];
#pragma unroll
    for (int i = 0; i < tile; ++i) x[i] = R(i == column && !imaginary);
#pragma unroll
    for (int k = 0; k < tile; ++k) {
      const R other = with_sign(__shfl_xor_sync(all_lanes, x[k], tile), imaginary ? INT32_MIN : 0);
#pragma unroll
      for (int i = k + 1; i < tile; ++i) {
        const E d = L[top + i][top + k];
        x[i] = fused(d.y, other, fused(-d.x, x[k], x[i]));  // as minus_product
      }
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < tile; ++i) reinterpret_cast<R*>(&L[top + i][top + column])[imaginary] = x[i];
  } else {
    const int top = (2 * warp + lane / tile) * tile;
    E x[tile];
    exchange_solve_tiles::inverse_column(x, column, [&](int i, int k) -> const E& { return L[top + i][top + k]; });
    __syncwarp();
#pragma unroll
    for (int i = 0; i < tile; ++i) L[top + i][top + column] = x[i];
  }
}

/// Some columns of 16 rows of X. In single precision a warp has four, a thread one row of two.
template <class E, int w, bool = by_tensor_cores<E>>
class RowsOfX {
 public:
  __device__ RowsOfX(const Row<E, w>* L, Row<E, w>* X) : L_(L), X_(X) {
    if (!wanted()) return;
#pragma unroll
    for (int c = 0; c < 2; ++c) x_[c] = X_[column() + c][row()];
  }
  __device__ static bool wanted() {
    return first() < w;
  }
  /// The first row.
  __device__ static int first() {
    return threadIdx.x / (2 * warp_size) * tile;
  }
  /// -= L X, of the 16 rows of X from k0 on.
  __device__ void subtract(int k0) {
    sum(k0, tile, [&](int c, E l, E x) { x_[c] = minus_product(x_[c], l, x); });
  }
  /// Times their diagonal tile's inverse, into X; its zeros, which would make a NaN of an infinity, are left out.
  __device__ void solve() {
    store(x_);
    __syncwarp();
    E solved[2] = {};
    sum(first(), row() - first() + 1, [&](int c, E l, E x) { solved[c] = minus_product(solved[c], negative(l), x); });
    __syncwarp();
    store(solved);
  }

 private:
  __device__ static int row() {
    return first() + threadIdx.x % tile;
  }
  __device__ static int column() {
    return threadIdx.x / tile % 4 * 2;
  }
  /// add(c, L(row, k), X(k, c)) for some columns from k0 on.
  template <class Add>
  __device__ void sum(int k0, int count, Add add) const {
#pragma unroll
    for (int k = 0; k < tile; k += Piece<E>::size) {
      const Piece<E> l = piece(L_[row()][k0 + k]);
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const Piece<E> x = piece(X_[column() + c][k0 + k]);
#pragma unroll
        for (int v = 0; v < Piece<E>::size; ++v)
          if (k + v < count) add(c, l.of[v], x.of[v]);
      }
    }
  }
  __device__ void store(const E (&x)[2]) const {
#pragma unroll
    for (int c = 0; c < 2; ++c) X_[column() + c][row()] = x[c];
  }
  const Row<E, w>* L_;
  Row<E, w>* X_;
  E x_[2];
};

/// Real numbers as the tensor cores multiply them, where those of complex matrices are real ones: the row (re, im) of L by the
/// columns (re, -im) and (im, re) of X. A lane has number i of a row of L, and of column n of X.
template <class E>
struct Numbers {
  static constexpr int parts = is_device_complex<E> ? 2 : 1;
  static constexpr int columns = 8 / parts;  // of X at once
  __device__ static int i() { return threadIdx.x % 4; }
  __device__ static int n() { return threadIdx.x % warp_size / 4; }
  /// From the row's first number on.
  __device__ static const double* of_L(const E* row) { return reinterpret_cast<const double*>(row) + i(); }
  /// From number i of the first column's n-th on, of which a sum has those with_sign(sign(false)), a difference those with_sign(sign(true)).
  template <int pitch>
  __device__ static const double* of_X(const E (*first_column)[pitch], int k) {
    return reinterpret_cast<const double*>(&first_column[n() / parts][k + i() / parts]) + (i() + n()) % parts;
  }
  __device__ static int sign(bool minus) { return (i() % parts > n() % parts) != minus ? INT32_MIN : 0; }
};

/// Double precision: a warp has eight real columns.
template <class E, int w>
class RowsOfX<E, w, true> {
  using N = Numbers<E>;

 public:
  __device__ RowsOfX(const Row<E, w>* L, Row<E, w>* X)
      : L_(L), X_(X + threadIdx.x / warp_size % N::parts * N::columns) {
    if (!wanted()) return;
    each(
        [&](int row, int column, double& re, double& im) {
          const E x = X_[column][row];
          im = x_im(x), re = x_re(x);
        },
        x_);
  }
  __device__ static bool wanted() { return first() < w; }
  __device__ static int first() { return threadIdx.x / warp_size / N::parts * tile; }
  __device__ void subtract(int k0) { add<true>(x_, k0); }
  __device__ void solve() {
    store(x_);
    __syncwarp();
    double solved[4] = {};
    if (!add<false>(solved, first()))  // without the inverse's zeros
      each(
          [&](int row, int column, double& re, double& im) {
            E total{};
            for (int k = first(); k <= row; ++k) total = minus_product(total, negative(L_[row][k]), X_[column][k]);
            im = x_im(total), re = x_re(total);
          },
          solved);
    __syncwarp();
    store(solved);
  }

 private:
  __device__ static double x_re(E x) { return re(x); }
  __device__ static double x_im(E x) { return im(x); }
  /// sums -= or += L X, of the 16 rows of X from k0 on; not done, and false, if X is not finite and the sums are positive.
  template <bool minus>
  __device__ bool add(double (&sums)[4], int k0) const {
    constexpr int steps = N::parts, exponent = 0x7ff00000;
    const double* const x = N::of_X(X_, k0);
    double b[steps][4];
    bool finite = true;
#pragma unroll
    for (int s = 0; s < steps; ++s)
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        b[s][j] = with_sign(x[16 * s + 4 * j], N::sign(minus));
        // (isfinite waits for the unit that multiplies)
        finite = finite && (__double2hiint(b[s][j]) & exponent) != exponent;
      }
    if (!minus && !__all_sync(all_lanes, finite)) return false;
    const double* const upper = N::of_L(&L_[first() + N::n()][k0]);
    const double* const lower = N::of_L(&L_[first() + 8 + N::n()][k0]);
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      double a[4], a_below[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) a[j] = upper[16 * s + 4 * j], a_below[j] = lower[16 * s + 4 * j];
      multiply_16x16x8(sums, a, a_below, b[s]);
    }
    return true;
  }
  /// act(row, column, its parts) for the lane's elements.
  template <class Act, class Sums>
  __device__ static void each(Act act, Sums& x) {
#pragma unroll
    for (int e = 0; e < 4; e += N::parts)
      act(first() + N::n() + e / 2 * 8, N::parts == 2 ? N::i() : 2 * N::i() + e % 2, x[e], x[e + N::parts - 1]);
  }
  __device__ void store(double (&x)[4]) const {
    each([&](int row, int column, double& re, double& im) { X_[column][row] = from_parts<E>(re, im); }, x);
  }
  const Row<E, w>* L_;
  Row<E, w>* X_;
  double x_[4];
};

/// By all threads of a block: X = L^-1 X, where L's diagonal tiles have been inverted.
template <class E, int w>
__device__ void solve(const Row<E, w>* L, Row<E, w>* X) {
  RowsOfX<E, w> rows(L, X);
#pragma unroll 1
  for (int k0 = 0; k0 < w; k0 += tile) {
    if (rows.first() == k0) rows.solve();
    __syncthreads();
    if (rows.first() > k0 && rows.wanted()) rows.subtract(k0);
  }
}

/// C -= L X for pass_rows rows of C, by all threads of a block. For rows and columns that do not exist the last one stands.
///
/// Single precision: a lane has some rows, 32 apart, of all columns; eight warps share the rows, each with an eighth of the depth,
/// and add up what they have through shared memory. L comes to registers, 64 columns at a time.
template <class E, int w, bool = by_tensor_cores<E>>
class Product {
  static constexpr int lane_rows = 16 / sizeof(E), shares = 8, group_rows = lane_rows * warp_size;
  static constexpr int at_once = Piece<E>::size, depth = 8;

 public:
  static constexpr int pass_rows = warps / shares * group_rows;
  struct Memory {
    E sums[warps][columns][group_rows];
  };
  __device__ explicit Product(Memory& memory) : shared_(memory) {}

  /// Begins to load the first of so many rows of L.
  __device__ void load(const E* L, std::int64_t ld, int rows) {
    from_ = L + share() * depth * ld;
    ld_ = ld;
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) at_[r] = min(group() * group_rows + lane() + r * warp_size, rows - 1);
    if (wanted(rows)) next();
  }
  __device__ void arrived(int) const {}
  /// C becomes what the elements are to be, of which `rows` rows and `cols` columns exist.
  __device__ void load_C(Block<E> C, int rows, int cols) {
#pragma unroll
    for (int u = 0; u < outputs; ++u) C_[u] = C(min(own_row(), rows - 1), min(own_column(u), cols - 1));
  }
  /// C - L X, stored.
  __device__ void multiply(const Row<E, w>* X, Block<E> C, int rows, int cols) {
    if (wanted(rows)) {
      E sums[columns][lane_rows] = {};
#pragma unroll
      for (int k0 = 0; k0 < w; k0 += shares * depth) {
        if (k0 > 0) next();
#pragma unroll
        for (int k = 0; k < depth; k += at_once) {
#pragma unroll
          for (int c = 0; c < columns; ++c) {
            const Piece<E> x = piece(X[c][k0 + share() * depth + k]);
#pragma unroll
            for (int v = 0; v < at_once; ++v)
#pragma unroll
              for (int r = 0; r < lane_rows; ++r) sums[c][r] = minus_product(sums[c][r], L_[k + v][r], x.of[v]);
          }
        }
      }
#pragma unroll
      for (int c = 0; c < columns; ++c)
#pragma unroll
        for (int r = 0; r < lane_rows; ++r) shared_.sums[warp()][c][lane() + r * warp_size] = sums[c][r];
    }
    __syncthreads();
#pragma unroll
    for (int u = 0; u < outputs; ++u) {
      E total = C_[u];
#pragma unroll
      for (int s = 0; s < shares; ++s)
        total = sum(total, shared_.sums[group() * shares + s][own_column(u)][own_row() % group_rows]);
      if (own_row() < rows && own_column(u) < cols) C(own_row(), own_column(u)) = total;
    }
  }

 private:
  static constexpr int group_threads = shares * warp_size, outputs = columns * group_rows / group_threads;
  __device__ static int lane() {
    return threadIdx.x % warp_size;
  }
  __device__ static int warp() {
    return threadIdx.x / warp_size;
  }
  __device__ static int group() {
    return warp() / shares;
  }
  __device__ static int share() {
    return warp() % shares;
  }
  // of the elements that a thread adds up
  __device__ static int own_row() {
    return group() * group_rows + threadIdx.x % group_rows;
  }
  __device__ static int own_column(int u) {
    return threadIdx.x % group_threads / group_rows + u * (group_threads / group_rows);
  }
  __device__ static bool wanted(int rows) {
    return group() * group_rows < rows;
  }
  /// The thread's part of the next 64 columns of L.
  __device__ void next() {
    const E* from = from_;
#pragma unroll
    for (int k = 0; k < depth; ++k, from += ld_)
#pragma unroll
      for (int r = 0; r < lane_rows; ++r) L_[k][r] = from[at_[r]];
    from_ += shares * depth * ld_;
  }
  Memory& shared_;
  const E* from_;
  std::int64_t ld_;
  int at_[lane_rows];
  E L_[depth][lane_rows], C_[outputs];
};

/// Double precision: a warp has 16 rows of eight real columns. L comes to shared memory.
template <class E, int w>
class Product<E, w, true> {
  using N = Numbers<E>;

 public:
  static constexpr int pass_rows = 16 * warps / N::parts;
  struct Memory {
    alignas(16) E L[w][pass_rows + 4];  // so that the columns of a tile begin in different banks
    std::uint64_t arrived;
  };
  __device__ explicit Product(Memory& memory) : shared_(memory) {
    if (threadIdx.x != 0) return;
    barrier_init(shared_address(&shared_.arrived), 1);
    barriers_ready();
  }

  /// Begins to load the first of so many rows of L: a column by a bulk copy, where it lies so that it can be. By all threads, after
  /// a barrier.
  __device__ void load(const E* L, std::int64_t ld, int rows) {
    const int id = threadIdx.x, count = min(rows, pass_rows);
    if (count <= 0) return;
    bulk_ = (reinterpret_cast<std::uintptr_t>(L) | ld * sizeof(E)) % 16 == 0 && count * sizeof(E) % 16 == 0;
    if (!bulk_) {
      constexpr int step = threads / pass_rows;
      const int i = id % pass_rows;
      if (i < count)
#pragma unroll 8
        for (int k = id / pass_rows; k < w; k += step)
          __pipeline_memcpy_async(&shared_.L[k][i], L + i + k * ld, sizeof(E));
      __pipeline_commit();
      return;
    }
    const int bytes = count * static_cast<int>(sizeof(E));
    if (id == 0) barrier_expect(shared_address(&shared_.arrived), w * bytes);
    // by one lane of some warps that invert no tiles, since lanes begin their copies one after the other
    constexpr int copying = warps / 2;
    const int first = id / warp_size - copying;
    if (first >= 0 && id % warp_size == 0)
      for (int k = first; k < w; k += copying)
        bulk_copy(shared_address(shared_.L[k]), L + k * ld, bytes, shared_address(&shared_.arrived));
  }
  /// Waits for it, after so many passes.
  __device__ void arrived(int pass) {
    if (bulk_)
      barrier_wait(shared_address(&shared_.arrived), pass % 2);
    else
      __pipeline_wait_prior(0);
  }
  /// C becomes what the elements are to be, of which `rows` rows and `cols` columns exist.
  __device__ void load_C(Block<E> C, int rows, int cols) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < width; ++j) C_[i][j] = C(min(row() + 8 * i, rows - 1), min(column() + j, cols - 1));
  }
  /// C - L X, stored.
  __device__ void multiply(const Row<E, w>* X, Block<E> C, int rows, int cols) {
    if (warp_row() >= rows) return;
    // One of two sums begins from C: what is subtracted cancels, so that it stays smaller than a sum that C is added to at the end.
    double sums[2][4] = {};
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j) sums[0][2 * i + j] = N::parts == 2 && j == 1 ? im(C_[i][0]) : re(C_[i][j % width]);
    const auto* const l = reinterpret_cast<const double*>(&shared_.L[N::i() / N::parts][row()]) + N::i() % N::parts;
    const double* const x = N::of_X(X + first_column(), 0);
    constexpr int next = sizeof(shared_.L[0]) / sizeof(double) * 4 / N::parts;  // four numbers further on
#pragma unroll
    for (int s = 0; s < w * N::parts / 16; ++s) {
      double a[4], a_below[4], b[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const double* const at = l + (4 * s + j) * next;
        a[j] = at[0], a_below[j] = at[8 * N::parts];
        b[j] = with_sign(x[16 * s + 4 * j], N::sign(true));
      }
      multiply_16x16x8(sums[s % 2], a, a_below, b);
    }
    shared_before_copies();  // of the next pass
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < width; ++j)
        if (row() + 8 * i < rows && column() + j < cols)
          C(row() + 8 * i, column() + j) =
              from_parts<E>(sums[0][2 * i + j] + sums[1][2 * i + j], sums[0][2 * i + 1] + sums[1][2 * i + 1]);
  }

 private:
  static constexpr int width = 2 / N::parts;  // of a lane
  __device__ static int warp_row() {
    return threadIdx.x / warp_size / N::parts * 16;
  }
  __device__ static int row() {
    return warp_row() + N::n();
  }
  __device__ static int first_column() {
    return threadIdx.x / warp_size % N::parts * N::columns;
  }
  __device__ static int column() {
    return first_column() + N::i() * width;
  }
  Memory& shared_;
  bool bulk_ = false;
  E C_[2][width];
};

}  // namespace devobj::cuda::exchange_solve_subtract_block
