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

using few::groups;
using few::share;
using few::size;
using few::threads;

/// op(A), a lower triangle if `forward`, else an upper one.
template <class E, bool transposed>
struct Triangle {
  Block<E> A;
  bool conjugated, unit, forward;
  __device__ E operator()(std::int64_t i, std::int64_t j) const {
    const E a = transposed ? A(j, i) : A(i, j);
    return conjugated ? conjugate(a) : a;
  }
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
/// The element at a place where another block publishes it.
template <class E>
__device__ E wait_for(const E* place) {
  using R = real_e<E>;
  const volatile R* const parts = reinterpret_cast<const volatile R*>(place);
  if constexpr (is_device_complex<E>) {
    R x, y;
    do {
      x = parts[0];
      y = parts[1];
    } while (is_missing<E>(x) || is_missing<E>(y));
    return from_parts<E>(x, y);
  } else {
    R x;
    do x = parts[0];
    while (is_missing<E>(x));
    return x;
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
  E solution[2][columns][size];
  E right_side[columns][size];
  int row_block;
  few::Tile<E, columns> tile;
};

/// B = T^-1 B. `solution`: columns x rows of B, missing; `taken`: all ones. The first `substituted` tiles, whose turn comes
/// before an inverse could be made, are solved by substitution.
template <class E, int columns, bool transposed>
__global__ void __launch_bounds__(threads, sizeof(E) < 16 ? 2 : 1)
    trsm_few_kernel(Triangle<E, transposed> T, Block<E> B, E* solution, unsigned* taken, int substituted) {
  extern __shared__ unsigned char raw_memory[];
  auto& memory = *reinterpret_cast<Memory<E, columns>*>(raw_memory);
  few::Tile<E, columns>& tile = memory.tile;
  const std::int64_t n = B.rows;
  const int blocks = static_cast<int>((n + size - 1) / size);
  const int thread = threadIdx.x, lane = thread % warp_size, warp = thread / warp_size;
  // in a tile: row and the first column (A as it lies), or lane's column and the first row (transposed)
  const int row = thread % size, group = thread / size;

  for (;;) {
    if (thread == 0) memory.row_block = static_cast<int>(atomicAdd(taken, 1u) + 1);
    __syncthreads();
    const int turn = memory.row_block;
    if (turn >= blocks) return;
    const std::int64_t first = (T.forward ? turn : blocks - 1 - turn) * std::int64_t(size);
    const int height = static_cast<int>(min(std::int64_t(size), n - first));

    // in the order of the substitution
    const auto place = [&](int r) { return T.forward ? r : size - 1 - r; };

    // the tile before, in registers: share elements of it
    E a[share], next[share];
    auto load = [&](int before, E(&x)[share]) {
      const std::int64_t left = (T.forward ? before : blocks - 1 - before) * std::int64_t(size);
      const int width = static_cast<int>(min(std::int64_t(size), n - left));
#pragma unroll
      for (int i = 0; i < share; ++i) {
        const int r = transposed ? warp * (size / 8) + i / 2 : row;
        const int c = transposed ? lane + i % 2 * warp_size : group * share + i;
        x[i] = r < height && c < width ? T(first + r, left + c) : E{};
      }
    };
    // of one row, or of eight, for some of the columns
    constexpr int rows = transposed ? size / 8 : 1;
    E sum[rows][columns] = {};
    // T and the right-hand sides, while the first solutions are made
    for (int e = thread; e < size * size; e += threads) {
      // along A's columns
      const int r = transposed ? e / size : e % size, c = transposed ? e % size : e / size;
      const bool inside = r < height && c < height && (T.forward ? r >= c : r <= c) && !(T.unit && r == c);
      tile.set(place(r), place(c), inside ? T(first + r, first + c) : from_parts<E>(r == c ? 1 : 0));
    }
    if (group < columns) memory.right_side[group][row] = row < height && group < B.cols ? B(first + row, group) : E{};
    __syncthreads();
    const bool inverted = turn >= substituted && tile.invert();
    if (turn > 0) load(0, a);

    for (int before = 0; before < turn; ++before) {
      const std::int64_t left = (T.forward ? before : blocks - 1 - before) * std::int64_t(size);
      if (before + 1 < turn) load(before + 1, next);
      const int half = before % 2;
      if (group < columns)
        memory.solution[half][group][row] = left + row < n ? wait_for(solution + group * n + left + row) : E{};
      __syncthreads();
#pragma unroll
      for (int j = 0; j < columns; ++j)
#pragma unroll
        for (int i = 0; i < share; ++i) {
          const int c = transposed ? lane + i % 2 * warp_size : group * share + i;
          E& to = sum[transposed ? i / 2 : 0][j];
          to = minus_product(to, a[i], memory.solution[half][j][c]);
        }
#pragma unroll
      for (int i = 0; i < share; ++i) a[i] = next[i];
    }
#pragma unroll
    for (int j = 0; j < columns; ++j)
      if constexpr (transposed) {
#pragma unroll
        for (int i = 0; i < rows; ++i) {
          E s = sum[i][j];
#pragma unroll
          for (int mask = 16; mask >= groups; mask /= 2) s = cuda::sum(s, shuffle_across(s, mask));
          if (lane < groups) tile.sums[lane][j][warp * rows + i] = s;
        }
      } else {
        tile.sums[group][j][row] = sum[0][j];
      }
    __syncthreads();

    if (thread < size)
#pragma unroll
      for (int j = 0; j < columns; ++j)
        tile.right_side[j][place(row)] = cuda::sum(memory.right_side[j][row], tile.sum_of_groups(j, row));
    __syncthreads();
    tile.solve(inverted);
    if (thread < height)
#pragma unroll
      for (int j = 0; j < columns; ++j) {
        const E x = tile.solution[j][place(row)];
        publish(solution + j * n + first + row, x);
        if (j < B.cols) B(first + row, j) = x;
      }
    __syncthreads();
  }
}

template <class E, int columns, bool transposed>
void launch(Triangle<E, transposed> T, Block<E> B, void* workspace, Queue& q) {
  using Shared = Memory<E, columns>;
  std::size_t bytes = sizeof(Shared);
  int substituted = 4;  // in whose time an inverse is made
  if (bytes > shared_memory_limit(q.device())) {
    bytes -= sizeof(Shared::tile.X);  // the last member
    substituted = INT_MAX;
  }
  const auto kernel = trsm_few_kernel<E, columns, transposed>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)), "trsm_few");
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, q.device()), "trsm_few");
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(ceil_div(B.rows, size), 2 * processors));
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
      launch<device_t<T>, 1>(triangle, block_of(B), workspace, q);
    else
      launch<device_t<T>, static_cast<int>(trsm_few_max)>(triangle, block_of(B), workspace, q);
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
