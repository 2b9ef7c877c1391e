// trsm_few: B = op(A)^-1 B for a few right-hand sides, in one kernel that reads A once.
//
//   | T0           |      A block takes the next 64 rows of op(A), in the order of the substitution, and subtracts the
//   | A10 T1       |      products with the solutions above as these appear; then it solves with its triangle T (by its
//   | A20 A21 T2   |      inverse, trsm_few_tile.cuh) and publishes its part of the solution. Blocks take rows in order, so
//                         that those that one waits for are always under way.
//
// The solution is published in memory that holds NaN of a kind that no arithmetic makes: what is anything else is there.
#include <climits>

#include "kernels/cuda/shared_memory.hpp"
#include "kernels/cuda/trsm_few_tile.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

using few::size;
using few::threads;

inline constexpr int groups = threads / size;  // of threads that have the same rows
inline constexpr int share = size / groups;    // elements of a tile that a thread has
/// Blocks of a multiprocessor: in double precision their tiles fit in the registers of one only.
template <class E>
inline constexpr int resident = sizeof(real_e<E>) < 8 ? 2 : 1;

/// op(A), a lower triangle if `forward`, else an upper one.
template <class E, bool transposed>
struct Triangle {
  Block<E> A;
  bool conjugated, unit, forward;
  /// Where element (i, j) of op(A) is, and what it is there.
  __device__ const E* at(std::int64_t i, std::int64_t j) const {
    return transposed ? A.data + j + i * A.ld : A.data + i + j * A.ld;
  }
  /// An element as it is in op(A).
  __device__ E as_op(E a) const { return transposed && conjugated ? conjugate(a) : a; }
  /// A tile's row or column r in the order of the substitution, and the reverse.
  __device__ int place(int r) const { return forward ? r : size - 1 - r; }
};

template <class E>
using word_e = std::conditional_t<sizeof(real_e<E>) == 8, unsigned long long, unsigned>;
/// All bits are ones, as the memory is filled.
template <class E>
__device__ bool is_missing(real_e<E> x) {
  word_e<E> bits;
  memcpy(&bits, &x, sizeof bits);
  return bits == ~word_e<E>(0);
}
template <class E>
__device__ E wait_for(const E* place) {
  const volatile real_e<E>* const parts = reinterpret_cast<const volatile real_e<E>*>(place);
  for (;;) {
    E x{};
    if constexpr (is_device_complex<E>)
      x = from_parts<E>(parts[0], parts[1]);
    else
      x = parts[0];
    if (!is_missing<E>(re(x)) && !is_missing<E>(im(x))) return x;
  }
}
template <class E>
__device__ real_e<E> publishable(real_e<E> x) {
  return x != x ? real_e<E>(NAN) : x;
}
template <class E>
__device__ void publish(E* place, E x) {
  volatile real_e<E>* const parts = reinterpret_cast<volatile real_e<E>*>(place);
  parts[0] = publishable<E>(re(x));
  if constexpr (is_device_complex<E>) parts[1] = publishable<E>(im(x));
}

template <class E, int columns>
struct Memory {
  alignas(16) E solution[2][columns][size];
  E sums[groups][columns][size];
  int row_block;
  few::Tile<E, columns> tile;
};

/// The tile's triangle, `height` rows and columns of T from `first` on, and if `invert` its inverse; whether that is there.
template <class E, int columns, bool transposed>
__device__ __noinline__ bool prepare(Triangle<E, transposed> T, std::int64_t first, int height, bool invert,
                                     few::Tile<E, columns>& tile) {
  const int row = threadIdx.x % size, group = threadIdx.x / size;
  // a thread has a row of A as it lies
  const E* from = transposed ? T.at(first + group, first + row) : T.at(first + row, first + group);
#pragma unroll 4
  for (int i = group; i < size; i += groups, from += groups * T.A.ld) {
    const int r = transposed ? i : row, c = transposed ? row : i;
    const bool inside = r < height && c < height && (T.forward ? r >= c : r <= c) && !(T.unit && r == c);
    tile.set(T.place(r), T.place(c), inside ? T.as_op(*from) : from_parts<E>(r == c ? 1 : 0));
  }
  __syncthreads();
  return invert && tile.invert();
}

/// B = T^-1 B. `solution`: columns x rows of B, missing; `taken`: all ones. The first `substituted` tiles, whose turn comes
/// before an inverse could be made, are solved by substitution.
template <class E, int columns, bool transposed>
__global__ void __launch_bounds__(threads, resident<E>)
    trsm_few_kernel(Triangle<E, transposed> T, Block<E> B, E* solution, unsigned* taken, int substituted) {
  using Tile = few::Tile<E, columns>;
  extern __shared__ __align__(16) unsigned char raw_memory[];
  auto& memory = *reinterpret_cast<Memory<E, columns>*>(raw_memory);
  Tile& tile = memory.tile;
  const std::int64_t n = B.rows;
  const int blocks = static_cast<int>((n + size - 1) / size);
  const int thread = threadIdx.x;
  // as A lies: a row and `share` columns, of which this group's are the first; transposed: rows and columns as Tile has them
  const int row = thread % size, group = thread / size, first_column = group * share;
  const int my_place = Tile::my_row(), my_right_side = Tile::my_right_side();
  // of a tile's rows
  const auto start = [&](int turn) { return (T.forward ? turn : blocks - 1 - turn) * std::int64_t(size); };

  for (;;) {
    if (thread == 0) memory.row_block = static_cast<int>(atomicAdd(taken, 1u) + 1);
    __syncthreads();
    const int turn = memory.row_block;
    if (turn >= blocks) return;
    const std::int64_t first = start(turn);
    const int height = static_cast<int>(min(std::int64_t(size), n - first));
    const int my_row = T.place(my_place);

    const bool inverted = prepare(T, first, height, turn >= substituted, tile);
    E b = my_row < height && my_right_side < B.cols ? B(first + my_row, my_right_side) : E{};

    // the tile before, in registers, as A has it: conjugated on its way it would have to be there before the next step. The solution
    // is conjugated instead, and at last the sum.
    E a[share] = {};
    const auto load = [&](int before, E(&x)[share]) {
      const std::int64_t left = start(before);
      const int width = static_cast<int>(min(std::int64_t(size), n - left));
      if constexpr (transposed) {
        const E* from = T.at(first + T.place(Tile::first_row()), left + Tile::column(0));
        const int columns_left = width - Tile::column(0);
#pragma unroll
        for (int k = 0; k < 4; ++k, from += T.forward ? T.A.ld : -T.A.ld)
#pragma unroll
          for (int i = 0; i < few::parts; ++i) {
            const bool inside = T.place(Tile::first_row() + k) < height && i * few::lanes < columns_left;
            x[4 * i + k] = inside ? from[i * few::lanes] : E{};
          }
      } else {
        const E* from = T.at(first + row, left + first_column);
        const int inside = row < height ? width - first_column : 0;  // columns
#pragma unroll
        for (int i = 0; i < share; ++i, from += T.A.ld) x[i] = i < inside ? *from : E{};
      }
    };
    // of one row, or of four
    E sum[transposed ? 4 * columns : columns] = {};
    const auto subtract = [&](int before) {
      const std::int64_t at = start(before) + row;
      auto& x = memory.solution[before % 2];
      if (group < columns) x[group][row] = at < n ? T.as_op(wait_for(solution + group * n + at)) : E{};
      __syncthreads();
#pragma unroll
      for (int i = 0; i < share; i += 4)
#pragma unroll
        for (int j = 0; j < columns; ++j)
          if constexpr (transposed) {
            const E y = x[j][Tile::column(i / 4)];
#pragma unroll
            for (int k = 0; k < 4; ++k) sum[k * columns + j] = minus_product(sum[k * columns + j], a[i + k], y);
          } else {
            const few::Four<E> y = few::four_at(&x[j][first_column + i]);
#pragma unroll
            for (int k = 0; k < 4; ++k) sum[j] = minus_product(sum[j], a[i + k], y.e[k]);
          }
    };

    if (turn > 0) load(0, a);
#pragma unroll 1
    for (int before = 0; before + 1 < turn; ++before) {
      E next[share];
      load(before + 1, next);
      subtract(before);
#pragma unroll
      for (int i = 0; i < share; ++i) a[i] = next[i];
    }
    constexpr bool both = sizeof(E) * columns == 4;  // fit in registers beside a
    typename Tile::Part X_part = Tile::part_of(tile.X, inverted), T_part;
    if constexpr (both) T_part = Tile::part_of(tile.T, inverted);
    // what follows is what all the tiles below wait for
    if (turn > 0) subtract(turn - 1);
    if constexpr (!both) T_part = Tile::part_of(tile.T, inverted);
    if constexpr (transposed) {
      b = cuda::sum(b, T.as_op(Tile::sum_of_lanes(sum)));
    } else {
#pragma unroll
      for (int j = 0; j < columns; ++j) memory.sums[group][j][row] = sum[j];
      __syncthreads();
#pragma unroll
      for (int g = 0; g < groups; ++g) b = cuda::sum(b, memory.sums[g][my_right_side][my_row]);
    }
    tile.right_side[my_right_side][my_place] = b;
    __syncthreads();
    const E x = tile.solve(inverted, T_part, X_part, b);
    if (thread % Tile::copies == 0 && my_row < height) {
      publish(solution + my_right_side * n + first + my_row, x);
      if (my_right_side < B.cols) B(first + my_row, my_right_side) = x;
    }
  }
}

template <int columns, class E, bool transposed>
void launch(Triangle<E, transposed> T, Block<E> B, void* workspace, Queue& q) {
  using Shared = Memory<E, columns>;
  std::size_t bytes = sizeof(Shared);
  int substituted = 2;  // in whose time an inverse is made
  if (bytes > shared_memory_limit(q.device())) {
    bytes -= sizeof(Shared::tile.X);  // the last member
    substituted = INT_MAX;
  }
  const auto kernel = trsm_few_kernel<E, columns, transposed>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)), "trsm_few");
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, q.device()), "trsm_few");
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(ceil_div(B.rows, size), resident<E> * processors));
  auto* const taken = static_cast<unsigned*>(workspace);
  E* const solution = reinterpret_cast<E*>(static_cast<unsigned char*>(workspace) + 16);
  fill_bytes(workspace, 0xff, 16 + columns * static_cast<std::size_t>(B.rows) * sizeof(E), q.stream());
  kernel<<<blocks, threads, bytes, stream_of(q)>>>(T, B, solution, taken, substituted);
  q.launched("trsm_few");
}

}  // namespace

template <class T>
std::size_t trsm_few_workspace(std::int64_t rows) {
  return 16 + trsm_few_max * static_cast<std::size_t>(rows) * sizeof(T);
}

template <class T>
void trsm_few(Uplo uplo, Op op, Diag diag, View<T> A, View<T> B, void* workspace, Queue& q) {
  if (B.empty()) return;
  require(B.cols <= trsm_few_max, "trsm_few: B has ", B.cols, " columns, more than ", trsm_few_max);
  DeviceScope scope(q.device());
  const bool forward = (uplo == Uplo::Lower) == (op == Op::NoTrans);
  const auto solve = [&](auto triangle) {
    if (B.cols == 1)
      launch<1>(triangle, block_of(B), workspace, q);
    else
      launch<static_cast<int>(trsm_few_max)>(triangle, block_of(B), workspace, q);
  };
  if (op == Op::NoTrans)
    solve(Triangle<device_t<T>, false>{block_of(A), false, diag == Diag::Unit, forward});
  else
    solve(Triangle<device_t<T>, true>{block_of(A), op == Op::ConjTrans, diag == Diag::Unit, forward});
}

#define INSTANTIATE(T)                                      \
  template std::size_t trsm_few_workspace<T>(std::int64_t); \
  template void trsm_few<T>(Uplo, Op, Diag, View<T>, View<T>, void*, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
