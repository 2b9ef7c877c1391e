// trsm_few: B = op(A)^-1 B for a few right-hand sides, in one kernel that reads A once.
//
//   | T0           |      A block takes the next 64 rows of op(A), in the order of the substitution, and subtracts the
//   | A10 T1       |      products with the solutions above as these appear; then it substitutes within its triangle T
//   | A20 A21 T2   |      and publishes its part of the solution. Blocks take rows in order, so that those that one
//                         waits for are always under way.
//
// The solution is published in memory that holds NaN of a kind that no arithmetic makes: what is anything else is there.
#include <cfloat>

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/grid.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

constexpr int size = 64;  // rows of a tile, and its columns
constexpr int threads = 256, groups = threads / size;
constexpr int share = size / groups;  // columns of a tile, or rows, that a thread has

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

template <class E>
__device__ E from_lane(E x, int lane) {
  if constexpr (is_device_complex<E>)
    return {__shfl_sync(~0u, x.x, lane), __shfl_sync(~0u, x.y, lane)};
  else
    return __shfl_sync(~0u, x, lane);
}
template <class E>
__device__ E from_lane_xor(E x, int mask) {
  if constexpr (is_device_complex<E>)
    return {__shfl_xor_sync(~0u, x.x, mask), __shfl_xor_sync(~0u, x.y, mask)};
  else
    return __shfl_xor_sync(~0u, x, mask);
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

template <class E, int columns>
struct Memory {
  E triangle[size][size + 1];  // [column][row]
  E solution[2][columns][size];
  E sums[groups][columns][size];
  E right_side[columns][size];
  int row_block;
};

/// B = T^-1 B. `solution`: columns x rows of B, missing; `taken`: all ones.
template <class E, int columns, bool transposed>
__global__ void __launch_bounds__(threads)
    trsm_few_kernel(Triangle<E, transposed> T, Block<E> B, E* solution, unsigned* taken) {
  extern __shared__ unsigned char raw_memory[];
  auto& memory = *reinterpret_cast<Memory<E, columns>*>(raw_memory);
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
    if (turn > 0) load(0, a);
    // T and the right-hand sides, while the first solutions are made
    for (int e = thread; e < size * size; e += threads) {
      // along A's columns
      const int r = transposed ? e / size : e % size, c = transposed ? e % size : e / size;
      const bool inside = r < height && c < height && (T.forward ? r >= c : r <= c);
      memory.triangle[c][r] = inside ? T(first + r, first + c) : E{};
    }
    if (group < columns) memory.right_side[group][row] = row < height && group < B.cols ? B(first + row, group) : E{};

    E d[2], inverse[2];  // of T's diagonal
    bool divides[2];     // where the inverse overflows
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int r = lane + h * warp_size;
      d[h] = T.unit || r >= height ? from_parts<E>(1) : T(first + r, first + r);
      inverse[h] = quotient(from_parts<E>(1), d[h]);
      divides[h] = !is_finite(inverse[h]);
    }

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
          for (int mask = 16; mask >= groups; mask /= 2) s = cuda::sum(s, from_lane_xor(s, mask));
          if (lane < groups) memory.sums[lane][j][warp * rows + i] = s;
        }
      } else {
        memory.sums[group][j][row] = sum[0][j];
      }
    __syncthreads();

    if (warp == 0) {
      E y[2][columns];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int r = lane + h * warp_size;
#pragma unroll
        for (int j = 0; j < columns; ++j) {
          y[h][j] = memory.right_side[j][r];
#pragma unroll
          for (int g = 0; g < groups; ++g) y[h][j] = cuda::sum(y[h][j], memory.sums[g][j][r]);
        }
      }
      auto eliminate = [&](int k, auto upper_half) {
        constexpr int h = decltype(upper_half)::value;
        const E t0 = memory.triangle[k][lane], t1 = memory.triangle[k][lane + warp_size];
#pragma unroll
        for (int j = 0; j < columns; ++j) {
          const E mine = divides[h] ? quotient(y[h][j], d[h]) : product(y[h][j], inverse[h]);
          const E x = from_lane(mine, k % warp_size);
          if (lane == k % warp_size) y[h][j] = x;
          // rows that are done have zeros in T but for the diagonal
          const bool later0 = T.forward ? lane > k : lane < k;
          const bool later1 = T.forward ? lane + warp_size > k : lane + warp_size < k;
          if (later0) y[0][j] = minus_product(y[0][j], t0, x);
          if (later1) y[1][j] = minus_product(y[1][j], t1, x);
        }
      };
      using First = std::integral_constant<int, 0>;
      using Second = std::integral_constant<int, 1>;
      if (T.forward) {
        for (int k = 0; k < min(height, warp_size); ++k) eliminate(k, First{});
        for (int k = warp_size; k < height; ++k) eliminate(k, Second{});
      } else {
        for (int k = height - 1; k >= warp_size; --k) eliminate(k, Second{});
        for (int k = min(height, warp_size) - 1; k >= 0; --k) eliminate(k, First{});
      }
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int j = 0; j < columns; ++j) {
          const int r = lane + h * warp_size;
          if (r >= height) continue;
          publish(solution + j * n + first + r, y[h][j]);
          if (j < B.cols) B(first + r, j) = y[h][j];
        }
    }
    __syncthreads();
  }
}

template <class E, int columns, bool transposed>
void launch(Triangle<E, transposed> T, Block<E> B, void* workspace, Queue& q) {
  constexpr std::size_t bytes = sizeof(Memory<E, columns>);
  const auto kernel = trsm_few_kernel<E, columns, transposed>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)), "trsm_few");
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, q.device()), "trsm_few");
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(ceil_div(B.rows, size), 2 * processors));
  auto* const taken = static_cast<unsigned*>(workspace);
  E* const solution = reinterpret_cast<E*>(static_cast<unsigned char*>(workspace) + 16);
  fill_bytes(workspace, 0xff, 16 + columns * static_cast<std::size_t>(B.rows) * sizeof(E), q.stream());
  kernel<<<blocks, threads, bytes, stream_of(q)>>>(T, B, solution, taken);
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
