// The tiles of a triangle as numbers of double precision, real or complex, in the order in which a solve multiplies by them, and
// how blocks get them: as a stream from device memory through a ring of shared memory.
//
//   +--+               For stripe after stripe of 32 rows: its tiles T of 32 x 32 left of the diagonal, then the inverse of
//   |D |               the tile D on it. Where the solve refines with D, these are three: D^-1, D, and D^-1 once more.
//   +--+--+
//   |T |D |            A chunk of the stream is 8 KB: a real tile, or the upper or lower half of a complex one. It has the
//   +--+--+            elements as the lanes of a warp load them for products of 16 x 8 by 8 x 8, 16 bytes a lane.
#pragma once

#include "kernels/cuda/exchange_solve_tiles.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/reciprocal.cuh"

namespace devobj::cuda::solve_stream {

using exchange_solve_tiles::multiply_exactly;
using exchange_solve_tiles::threads;
using exchange_solve_tiles::tile;
using exchange_solve_tiles::warps;

/// Of a warp: a tile is read from shared memory for so many. Complex ones would need too many registers.
template <class E>
constexpr int warp_columns = is_device_complex<E> ? 8 : 16;

template <class E>
constexpr int parts = is_device_complex<E> ? 2 : 1;
constexpr int chunk_doubles = tile * tile, chunk_bytes = chunk_doubles * static_cast<int>(sizeof(double));
/// Of a tile: 16 rows of complex numbers each, or all of real ones.
template <class E>
constexpr int chunks = parts<E>;
constexpr int half_rows = tile / 2, half_doubles = half_rows * tile;

/// Whether op(A) is an upper triangle, whose rows are solved, and streamed, from the last one on.
constexpr bool is_reversed(Uplo uplo, Op op) {
  return (uplo == Uplo::Lower) != (op == Op::NoTrans);
}

__host__ __device__ constexpr int stripes_of(std::int64_t rows) {
  return static_cast<int>((rows + tile - 1) / tile);
}
/// Tiles of the stream before a stripe's.
__host__ __device__ constexpr int tiles_before(int stripe, bool refined) {
  return stripe * (stripe - 1) / 2 + (refined ? 3 : 1) * stripe;
}
/// The stream of a triangle of so many rows, in doubles.
template <class E>
__host__ __device__ constexpr std::int64_t doubles_of(std::int64_t rows, bool refined) {
  return tiles_before(stripes_of(rows), refined) * std::int64_t(chunks<E> * chunk_doubles);
}

/// Where a tile has the real part of an element; the imaginary one is half_doubles further on.
template <class E>
__host__ __device__ constexpr int place(int row, int col) {
  const int half = row / half_rows * parts<E> * half_doubles, r = row % half_rows;
  return half + col / 4 * 2 * warp_size + (r % 8 * 4 + col % 4) * 2 + r / 8;
}
template <class E>
__device__ E element(const double* of_tile, int row, int col) {
  const double* const x = of_tile + place<E>(row, col);
  return from_parts<E>(x[0], x[(parts<E> - 1) * half_doubles]);
}
template <class E>
__device__ void set_element(double* of_tile, int row, int col, E x) {
  double* const to = of_tile + place<E>(row, col);
  to[0] = re(x);
  if constexpr (is_device_complex<E>) to[half_doubles] = im(x);
}

/// Two warps with the same columns, each with a half of a stripe's rows.
using Pair = exchange_solve_tiles::Team<2>;

/// A tile's elements, for multiply_exactly.
template <class E>
struct Elements {
  const double* of_tile;
  __device__ E operator()(int row, int col) const { return element<E>(of_tile, row, col); }
};

/// By one warp: X = D^-1 X for `count` columns, of which column c begins at X[c], rows k0 ..., a lane with a row; x_k goes round by
/// shuffle. D is in device memory.
template <int count, class E, int pitch>
__device__ __noinline__ void substitute(const double* D, bool unit, E (*X)[pitch], int k0) {
  const int lane = threadIdx.x % warp_size;
  E x[count];
#pragma unroll
  for (int c = 0; c < count; ++c) x[c] = X[c][k0 + lane];
#pragma unroll 2
  for (int row = 0; row < tile; ++row) {
    const E d = element<E>(D, lane, row);
    const Reciprocal<E> pivot(element<E>(D, row, row));
#pragma unroll
    for (int c = 0; c < count; ++c) {
      E solved = shuffle(x[c], row);
      if (!unit) solved = pivot.times(solved);
      if (lane == row) x[c] = solved;
      if (lane > row) x[c] = minus_product(x[c], d, solved);
    }
  }
#pragma unroll
  for (int c = 0; c < count; ++c) X[c][k0 + lane] = x[c];
}

/// Whether a step of refinement by d has made x = x + d right: not where d is not well below x, or a number is not finite.
template <class E>
__device__ bool is_refined(E x, E d) {
  constexpr double well_below = 0x1p-10;
  return larger_part(d) <= well_below * larger_part(x) && isfinite(re(x)) && isfinite(im(x));
}

/// Of a block, all of whose threads take the chunks: the first `solving` warps, fewer than all, get them, the others
/// help to bring them. On Hopper a warp waits for its chunk alone, which one thread has had copied; elsewhere the block does.
template <int stages>
class Stream {
 public:
  struct Memory {
    alignas(16) double ring[stages * chunk_doubles];
    std::uint64_t filled[stages], empty[stages];
  };
  __device__ Stream(Memory& memory, const double* from, int count, int solving)
      : memory_(memory), from_(from), count_(count), warp_(threadIdx.x / warp_size), solving_(solving) {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      for (int i = 0; i < stages; ++i) {
        barrier_init(shared_address(memory_.filled + i), 1);
        barrier_init(shared_address(memory_.empty + i), solving * warp_size);
      }
      barriers_ready();
    }
    __syncthreads();
#endif
    for (int n = 0; n < stages - 1; ++n) fetch(n);
  }
  __device__ bool wanted() const {
    return warp_ < solving_;
  }
  /// The next chunk; the one before is given up.
  __device__ const double* next() {
    const int n = taken_++, stage = n % stages;
#if __CUDA_ARCH__ >= 900
    if (wanted()) {
      // By each lane, whose loads from the chunk before are over: all of it has been multiplied, as the machine code shows. (A
      // fence would take a tenth of the time.)
      if (n > 0) barrier_arrive(shared_address(memory_.empty + (n - 1) % stages));
      barrier_wait(shared_address(memory_.filled + stage), n / stages % 2);
    } else {
      fetch(n + stages - 1);
    }
#else
    __pipeline_wait_prior(stages - 2);
    __syncthreads();
    fetch(n + stages - 1);
#endif
    return memory_.ring + stage * chunk_doubles;
  }

 private:
  __device__ void fetch(int n) {
    const int stage = n % stages;
    double* const to = memory_.ring + stage * chunk_doubles;
    const double* const from = from_ + n * std::int64_t(chunk_doubles);
#if __CUDA_ARCH__ >= 900
    if (n >= count_ || warp_ != solving_ || threadIdx.x % warp_size != 0) return;
    if (n >= stages) barrier_wait(shared_address(memory_.empty + stage), (n / stages - 1) % 2);
    const std::uint32_t filled = shared_address(memory_.filled + stage);
    barrier_expect(filled, chunk_bytes);
    bulk_copy(shared_address(to), from, chunk_bytes, filled);
#else
    if (n < count_)
      for (int at = 2 * static_cast<int>(threadIdx.x); at < chunk_doubles; at += 2 * static_cast<int>(blockDim.x))
        __pipeline_memcpy_async(to + at, from + at, 2 * sizeof(double));
    __pipeline_commit();
#endif
  }
  Memory& memory_;
  const double* from_;
  int count_, warp_, solving_, taken_ = 0;
};

/// The lane is 4 o + i, as in tensor_double.cuh: o and i.
__device__ inline int outer() {
  return threadIdx.x % warp_size / 4;
}
__device__ inline int inner() {
  return threadIdx.x % 4;
}

/// A warp's sums for a stripe of warp_columns columns, products of tiles and columns of X; X[c] is a column's beginning. All
/// rows of the stripe, or those of one half: 0 or 1 (real numbers only).
template <class E, int halves = 2>
class Sums {
 public:
  __device__ explicit Sums(int half = 0) : first_(half) {}
  /// += the tile, which is taken from the stream, times rows k0 ... of X, unless the warp needs none; `lower`: the tile is zero
  /// above its diagonal.
  template <bool lower, int stages, class Columns>
  __device__ void add(Stream<stages>& stream, bool wanted, const Columns& X, int k0) {
#pragma unroll
    for (int n = 0; n < chunks<E>; ++n) {
      const double* const chunk = stream.next();
      if (!wanted) continue;
#pragma unroll
      for (int k = 0; k < tile; k += 8) {
        E x[eights], more[eights];
#pragma unroll
        for (int j = 0; j < eights; ++j) {
          x[j] = X[8 * j + outer()][k0 + k + inner()];
          more[j] = X[8 * j + outer()][k0 + k + 4 + inner()];
        }
#pragma unroll
        for (int half = n * (parts<E> - 1); half < (chunks<E> == 1 ? halves : n + 1); ++half)
          if (!lower || k < (first_ + half + 1) * half_rows) multiply(half, chunk, k, x, more);
      }
    }
  }
  /// act(row, column, sum) for the lane's elements.
  template <class Act>
  __device__ void each(Act act) const {
#pragma unroll
    for (int half = 0; half < halves; ++half)
#pragma unroll
      for (int j = 0; j < eights; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          act(half_rows * (first_ + half) + e / 2 * 8 + outer(), 8 * j + 2 * inner() + e % 2,
              from_parts<E>(sums_[half][j][0][e], sums_[half][j][parts<E> - 1][e]));
  }

 private:
  static constexpr int eights = warp_columns<E> / 8;
  __device__ void multiply(int half, const double* chunk, int k, const E (&x)[eights], const E (&more)[eights]) {
    const auto* const a =
        reinterpret_cast<const double2*>(chunk + (chunks<E> == 1 ? (first_ + half) * half_doubles : 0)) +
        k / 4 * warp_size + threadIdx.x % warp_size;
    const double2 l = a[0], l_more = a[warp_size];
#pragma unroll
    for (int j = 0; j < eights; ++j)
      multiply_16x8x8(sums_[half][j][0], l.x, l.y, l_more.x, l_more.y, re(x[j]), re(more[j]));
    if constexpr (is_device_complex<E>) {
      const double2 i = a[half_doubles / 2], i_more = a[half_doubles / 2 + warp_size];
#pragma unroll
      for (int j = 0; j < eights; ++j) {
        multiply_16x8x8(sums_[half][j][1], l.x, l.y, l_more.x, l_more.y, im(x[j]), im(more[j]));
        multiply_16x8x8(sums_[half][j][0], i.x, i.y, i_more.x, i_more.y, negated(im(x[j])), negated(im(more[j])));
        multiply_16x8x8(sums_[half][j][1], i.x, i.y, i_more.x, i_more.y, re(x[j]), re(more[j]));
      }
    }
  }
  static_assert(halves == 2 || parts<E> == 1);
  int first_;  // half
  double sums_[halves][eights][parts<E>][4] = {};
};

}  // namespace devobj::cuda::solve_stream
