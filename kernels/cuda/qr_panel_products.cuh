// The products of all rows of a strip that qr_panel_strip needs, on the tensor cores in double precision, and their sum over
// the cluster.
//
// Products see a complex matrix as a real one of twice the columns, first the real parts, then the imaginary ones; a factor on
// the right is then [Re Im; -Im Re].
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/qr_panel_eliminate.cuh"

namespace devobj::cuda::qr_panel {

template <class E>
struct Panel {
  Block<E> A;          // m x w
  Block<E> V;          // its last m rows
  std::int64_t above;  // rows of V before them
  Block<E> T;
  Strided<E> tau;
};

namespace products {

constexpr int warps = 8, threads = warps * warp_size;
constexpr int unit = 16;  // rows that a warp multiplies at a time

/// A strip of up to W columns: as real numbers they are `tiles` tiles wide.
template <class E, int W>
struct Sizes {
  static constexpr int parts = is_device_complex<E> ? 2 : 1, side = W / tile_side, tiles = side * parts;
  static constexpr int gram_tiles = tiles * (tiles + 1) / 2, gram = gram_tiles * 64;
};
template <class E>
constexpr bool two_passes = sizeof(real_e<E>) == 8;
/// The largest ||C R1^-1||_F / sqrt(w), C the columns' norms: rounding errors of G grow by its square.
template <class E>
constexpr double condition_limit = two_passes<E> ? 30 : 500;

/// Squares that are below a rounding error.
constexpr double negligible = std::numeric_limits<double>::epsilon() / 16;

template <class E, int W>
struct Memory {
  using D = wide_e<E>;
  using Here = Sizes<E, W>;
  static constexpr int side = Here::side;
  struct Square {
    Tiles<D, side> P, X;
    Tiles<D, side> T;  // before, R1^-H
    Reconstructed<D> diagonal;
    double sign[W], norms[W], room[warps];
  };
  Tiles<D, side> R;
  double gram[Here::gram];  // tiles on and below the diagonal, by rows
  double received[Here::gram + max_cluster];
  union {
    double parts[warps][Here::gram];  // the warps' sums
    Square square;
  };
  Mailbox slices, whole;
};
static_assert(sizeof(Memory<double, 64>) <= 227 * 1024 && sizeof(Memory<cuComplex, 32>) <= 227 * 1024);

/// The block's shared memory, found anew in each function that is not inline, which would otherwise not know that it is
/// shared.
template <class E, int W>
__device__ Memory<E, W>& shared_memory() {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  return *reinterpret_cast<Memory<E, W>*>(shared_bytes);
}

/// The part of X^H X that the rows begin ... end - 1 make. Not inline, as all of a strip's longer steps: code that is run
/// once has to be fetched first.
template <class E, int W>
__device__ __noinline__ void multiply_by_itself(const Block<E> X, int w, int begin, int end) {
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, o = lane / 4, p = lane % 4;
  // tiles (2 q, b) and (2 q + 1, b), b <= 2 q, together, and those on the diagonal in between
  constexpr int side = Sizes<E, W>::side, tiles = Sizes<E, W>::tiles, parts = Sizes<E, W>::parts, pairs = tiles / 2;
  double sums[pairs * pairs][4] = {}, between[pairs][2] = {};
  real_e<E> next[2][tiles];
  const auto load = [&](int row) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int i = row + 4 * h + p;
      const auto* const x = reinterpret_cast<const real_e<E>*>(&X(i, 0));
#pragma unroll
      for (int a = 0; a < side; ++a) {
        const int j = 8 * a + o;
#pragma unroll
        for (int part = 0; part < parts; ++part)
          next[h][side * part + a] = i < end && j < w ? __ldcg(x + parts * (j * X.ld) + part) : real_e<E>(0);
      }
    }
  };
  load(begin + 8 * warp);
#pragma unroll 1
  for (int row = begin + 8 * warp; row < end; row += 8 * warps) {
    double x[2][tiles];
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int a = 0; a < tiles; ++a) x[h][a] = next[h][a];
    load(row + 8 * warps);
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int q = 0; q < pairs; ++q) {
#pragma unroll
        for (int b = 0; b <= 2 * q; ++b) multiply_16x4x8(sums[q * q + b], x[h][2 * q], x[h][2 * q + 1], x[h][b]);
        multiply_8x4x8(between[q], x[h][2 * q + 1], x[h][2 * q + 1]);
      }
  }
  const auto store = [&](int a, int b, double first, double second) {
    *reinterpret_cast<double2*>(&shared_memory<E, W>().parts[warp][64 * (a * (a + 1) / 2 + b) + 2 * lane]) = {first,
                                                                                                              second};
  };
#pragma unroll
  for (int q = 0; q < pairs; ++q) {
#pragma unroll
    for (int b = 0; b <= 2 * q; ++b) {
      const double(&both)[4] = sums[q * q + b];
      store(2 * q, b, both[0], both[1]);
      store(2 * q + 1, b, both[2], both[3]);
    }
    store(2 * q + 1, 2 * q + 1, between[q][0], between[q][1]);
  }
}

/// Of what multiply_by_itself has made: the lane's part of tile (i, j) of real numbers, straight.
template <int h>
__device__ double real_gram(const double* gram, int i, int j) {
  const int r = fragment_row(), c = fragment_column(h);
  return i >= j ? gram[64 * (i * (i + 1) / 2 + j) + 8 * r + c] : gram[64 * (j * (j + 1) / 2 + i) + 8 * c + r];
}
/// The same as a tile of the matrix.
template <class D, int half>
__device__ Fragment<D> gram_tile(const double* gram, int i, int j) {
  Fragment<D> f = {{{real_gram<0>(gram, i, j), real_gram<1>(gram, i, j)}}};
  if constexpr (is_device_complex<D>) {
    f.x[0][0] += real_gram<0>(gram, half + i, half + j), f.x[0][1] += real_gram<1>(gram, half + i, half + j);
    f.x[1][0] = real_gram<0>(gram, i, half + j) - real_gram<0>(gram, half + i, j);
    f.x[1][1] = real_gram<1>(gram, i, half + j) - real_gram<1>(gram, half + i, j);
  }
  return f;
}

/// gram = the sum of all parts: every block adds up a slice of it, for all.
template <class E, int W>
__device__ __noinline__ void add_up(int rank, int blocks, int turn) {
  auto& memory = shared_memory<E, W>();
  constexpr int gram_size = Sizes<E, W>::gram;
  const int slice = (gram_size + blocks - 1) / blocks, own = min(slice, gram_size - rank * slice);
  if (threadIdx.x == 0 && blocks > 1) {
    expect_bytes(memory.slices, own * blocks * static_cast<int>(sizeof(double)));
    expect_bytes(memory.whole, gram_size * static_cast<int>(sizeof(double)));
  }
  __syncthreads();
#pragma unroll 3
  for (int e = threadIdx.x; e < gram_size; e += threads) {
    double total = memory.parts[0][e];
#pragma unroll
    for (int other = 1; other < warps; ++other) total += memory.parts[other][e];
    if (blocks == 1) {
      memory.gram[e] = total;
    } else {
      const int owner = e / slice;
      send(remote_address(&memory.received[rank * slice + e - owner * slice], owner), total,
           remote_address(&memory.slices, owner));
    }
  }
  if (blocks > 1) {
    wait_for_bytes(memory.slices, turn);
    for (int e = threadIdx.x; e < own; e += threads) {
      double total = memory.received[e];
      for (int other = 1; other < blocks; ++other) total += memory.received[other * slice + e];
      for (int to = 0; to < blocks; ++to)
        send(remote_address(&memory.gram[rank * slice + e], to), total, remote_address(&memory.whole, to));
    }
    wait_for_bytes(memory.whole, turn);
  }
  __syncthreads();
}

/// What multiply_rows does with its result.
enum class Into { V, both, top };
/// The lane's part of a result of multiply_rows for 16 rows, c[tile][2 half + h] in row 8 half + o of the first row on.
template <class E, int tiles>
__device__ __forceinline__ void store_rows(const Block<E>& to, const double (&c)[tiles][4], std::int64_t row,
                                           bool first, bool second, int w) {
  constexpr int parts = is_device_complex<E> ? 2 : 1, side = tiles / parts;
  real_e<E>* const lane = reinterpret_cast<real_e<E>*>(&to(row, 0));
#pragma unroll
  for (int t = 0; t < side; ++t)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int j = 8 * t + fragment_column(h);
      real_e<E>* const x = lane + parts * (j * to.ld);
#pragma unroll
      for (int part = 0; part < parts; ++part) {
        if (first && j < w) x[part] = static_cast<real_e<E>>(c[side * part + t][h]);
        if (second && j < w) x[parts * 8 + part] = static_cast<real_e<E>>(c[side * part + t][2 + h]);
      }
    }
}
/// The rows first_row ... last_row - 1 of from times square.X, 16 to a warp at a time: to V; to A and V, but for the square on
/// top; or, of the square on top, to square.P, with -1 on the diagonal beyond the strip.
template <class E, int W>
__device__ __noinline__ void multiply_rows(const Block<E> from, const Block<E> V, const Block<E> A, int w,
                                           int first_row, int last_row, Into into) {
  using D = wide_e<E>;
  constexpr int side = Sizes<E, W>::side, tiles = Sizes<E, W>::tiles, parts = Sizes<E, W>::parts;
  auto& square = shared_memory<E, W>().square;
  const int warp = threadIdx.x / warp_size;
  const int o = fragment_row(), end_row = into == Into::top ? w : last_row;
#pragma unroll 1
  for (int row0 = first_row + unit * warp; row0 < last_row; row0 += unit * warps) {
    if (into == Into::both && row0 + unit <= w) continue;
    // beyond the last row and column, any finite numbers: what is made of such a row is not used, and X is zero there
    const auto* const first = reinterpret_cast<const real_e<E>*>(&from(min(row0 + o, end_row - 1), 0));
    const auto* const second = reinterpret_cast<const real_e<E>*>(&from(min(row0 + 8 + o, end_row - 1), 0));
    real_e<E> x[2][tiles][2];
#pragma unroll
    for (int k = 0; k < side; ++k)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const std::int64_t at = parts * (min(8 * k + fragment_column(h), w - 1) * from.ld);
#pragma unroll
        for (int part = 0; part < parts; ++part) {
          x[0][side * part + k][h] = __ldcg(first + at + part);
          x[1][side * part + k][h] = __ldcg(second + at + part);
        }
      }
    double c[tiles][4] = {};
#pragma unroll
    for (int k = 0; k < side; ++k)
#pragma unroll
      for (int t = k; t < side; ++t) {
        const Fragment<D> b = square.X(k, t).transposed();
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const auto multiply = [&](int to, int part, double factor) {
            multiply_16x4x8(c[to], double(x[0][side * part + k][h]), double(x[1][side * part + k][h]), factor);
          };
          multiply(t, 0, b.x[0][h]);
          if constexpr (parts == 2) {
            multiply(t, 1, -b.x[1][h]);
            multiply(side + t, 0, b.x[1][h]);
            multiply(side + t, 1, b.x[0][h]);
          }
        }
      }
    if (into == Into::top) {
#pragma unroll
      for (int t = 0; t < tiles; ++t)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int i = row0 + 8 * half + o;
          auto& tile = square.P(i / 8, t % side).x[t / side];
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            const int j = 8 * (t % side) + fragment_column(h);
            double value = c[t][2 * half + h];
            if (i >= w || j >= w) value = i == j && t < side ? -1 : 0;
            tile[o * Tile<D>::pitch + fragment_column(h)] = value;
          }
        }
    } else {
      const int least = into == Into::V ? 0 : w, i = row0 + o;
      const bool stores_first = i >= least && i < end_row, stores_second = i + 8 >= least && i + 8 < end_row;
      store_rows<E, tiles>(V, c, i, stores_first, stores_second, w);
      if (into == Into::both) store_rows<E, tiles>(A, c, i, stores_first, stores_second, w);
    }
  }
}

}  // namespace products
}  // namespace devobj::cuda::qr_panel
