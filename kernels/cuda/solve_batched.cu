// lu_solve_batched, upper_solve_batched: solves with the triangles of many matrices, and the search for zeros on
// diagonals.
//
// A block has C right-hand sides of a matrix in shared memory. A triangle op(A) is taken in blocks of 32:
//
//   op(A) lower      columns of A: diagonal block solved, then x(rest) -= A(rest, K) x(K), a row per thread
//   [ D .   ]        rows of A^T:  x(K) -= A(done, K)^T x(done), a column per warp, then the diagonal block
//   [ . D   ]        The diagonal block: lane i of a warp has x_i; x_k goes round by shuffle, the others subtract.
//   [ . . D ]
#include "kernels/cuda/batched_lanes.cuh"
#include "kernels/cuda/pivots.cuh"
#include "kernels/cuda/reciprocal.cuh"
#include "kernels/cuda/solve_batched.cuh"

namespace devobj::cuda {
namespace {

constexpr int solve_threads = 256;
constexpr int tile = warp_size;

/// C right-hand sides: x[c n + i].
template <class E, int C>
struct RightSides {
  E* x;
  int n;
  __device__ E& operator()(int i, int c) const { return x[c * n + i]; }
};

/// The diagonal block at b0: op(A)(K, K) X(K) = X(K), each warp its columns.
template <class E, int C>
__device__ void solve_tile(const Block<E>& A, int b0, Op op, bool forward, bool unit, const RightSides<E, C>& X) {
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, warps = blockDim.x / warp_size;
  const int w = min(tile, X.n - b0);
  const auto element = [&](int i, int k) {
    if (op == Op::NoTrans) return A(b0 + i, b0 + k);
    const E a = A(b0 + k, b0 + i);
    return op == Op::ConjTrans ? conjugate(a) : a;
  };
  Reciprocal<E> inverse;
  if (!unit && lane < w) inverse = Reciprocal<E>(element(lane, lane));
  for (int c = warp; c < C; c += warps) {
    E x = lane < w ? X(b0 + lane, c) : E{};
#pragma unroll 8
    for (int step = 0; step < w; ++step) {
      const int k = forward ? step : w - 1 - step;
      if (!unit && lane == k) x = inverse.times(x);
      const E x_k = shuffle(x, k);
      if (forward ? lane > k && lane < w : lane < k) x = minus_product(x, element(lane, k), x_k);
    }
    if (lane < w) X(b0 + lane, c) = x;
  }
}

/// op(A) X = X for the upper or lower triangle of A. Begins and ends with a barrier.
template <class E, int C>
__device__ void solve_triangle(const Block<E>& A, Uplo uplo, Op op, bool unit, const RightSides<E, C>& X) {
  const int n = X.n, t = threadIdx.x, threads = blockDim.x;
  const int lane = t % warp_size, warp = t / warp_size, warps = threads / warp_size;
  const bool transposed = op != Op::NoTrans, forward = (uplo == Uplo::Lower) != transposed;
  const int tiles = (n + tile - 1) / tile;
  for (int step = 0; step < tiles; ++step) {
    const int b0 = (forward ? step : tiles - 1 - step) * tile, b1 = min(b0 + tile, n);
    __syncthreads();
    if (transposed) {
      // x(K) -= op(A)(K, done) x(done)
      const int first = forward ? 0 : b1, last = forward ? b0 : n;
      for (int k = b0 + warp; k < b1; k += warps) {
        E dot[C] = {};
        for (int i = first + lane; i < last; i += warp_size) {
          const E a = op == Op::ConjTrans ? conjugate(A(i, k)) : A(i, k);
#pragma unroll
          for (int c = 0; c < C; ++c) dot[c] = sum(dot[c], product(a, X(i, c)));
        }
#pragma unroll
        for (int c = 0; c < C; ++c) dot[c] = sum_of_lanes<warp_size>(dot[c]);
        if (lane == 0) {
#pragma unroll
          for (int c = 0; c < C; ++c) X(k, c) = sum(X(k, c), negative(dot[c]));
        }
      }
      __syncthreads();
    }
    solve_tile(A, b0, op, forward, unit, X);
    __syncthreads();
    if (!transposed) {
      // x(rest) -= A(rest, K) x(K)
      const int first = forward ? b1 : 0, last = forward ? n : b0;
      for (int i = first + t; i < last; i += threads) {
        E x[C];
#pragma unroll
        for (int c = 0; c < C; ++c) x[c] = X(i, c);
#pragma unroll 8
        for (int k = b0; k < b1; ++k) {
          const E a = A(i, k);
#pragma unroll
          for (int c = 0; c < C; ++c) x[c] = minus_product(x[c], a, X(k, c));
        }
#pragma unroll
        for (int c = 0; c < C; ++c) X(i, c) = x[c];
      }
    }
  }
  __syncthreads();
}

/// The pivots' row swaps, 32 at a time, each warp its columns. Begins and ends with a barrier.
template <class E, int C>
__device__ void swap_rows(const std::int32_t* pivot, bool forward, const RightSides<E, C>& X) {
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, warps = blockDim.x / warp_size, n = X.n;
  const int chunks = (n + tile - 1) / tile;
  __syncthreads();
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const int first = (forward ? chunk : chunks - 1 - chunk) * tile, w = min(tile, n - first);
    const std::int32_t* swaps = pivot + first;
    const bool top = lane < w;
    int below = top && swaps[lane] >= first + w ? swaps[lane] : -1;
    for (int i = 0; i < lane && i < w; ++i)
      if (swaps[i] == below) below = -1;
    const std::int64_t from = top ? source_of(first + lane, swaps, first, w, forward) : -1;
    const std::int64_t to_below = below >= 0 ? source_of(below, swaps, first, w, forward) : -1;
    for (int c = warp; c < C; c += warps) {
      const E x = top ? X(static_cast<int>(from), c) : E{}, y = below >= 0 ? X(static_cast<int>(to_below), c) : E{};
      __syncwarp();
      if (top) X(first + lane, c) = x;
      if (below >= 0) X(below, c) = y;
      __syncwarp();
    }
  }
  __syncthreads();
}

// blockIdx.x is the matrix, blockIdx.y counts groups of C right-hand sides.
template <class E, int C>
__global__ void __launch_bounds__(solve_threads) solve_kernel(Solve<E> p) {
  extern __shared__ __align__(16) unsigned char bytes[];
  const std::int64_t matrix = blockIdx.x;
  if (p.info.data != nullptr && p.info[matrix] != 0) return;
  const Block<E> A = matrix_of(p.A, matrix), B = matrix_of(p.B, matrix);
  const int n = static_cast<int>(A.cols), t = threadIdx.x, threads = blockDim.x;
  const RightSides<E, C> X{reinterpret_cast<E*>(bytes), n};
  std::int32_t* const pivot = reinterpret_cast<std::int32_t*>(X.x + C * n);
  if (p.ipiv != nullptr)
    for (int i = t; i < n; i += threads) pivot[i] = read_pivot(p.ipiv[i + matrix * p.ldp], n, i);

  for (std::int64_t c0 = std::int64_t(blockIdx.y) * C; c0 < B.cols; c0 += std::int64_t(gridDim.y) * C) {
    for (int c = 0; c < C; ++c)
      for (int i = t; i < n; i += threads) X(i, c) = c0 + c < B.cols ? B(i, c0 + c) : E{};
    if (p.ipiv == nullptr) {
      solve_triangle(A, Uplo::Upper, Op::NoTrans, false, X);
    } else if (p.op == Op::NoTrans) {
      // X = U^-1 L^-1 P B
      swap_rows(pivot, true, X);
      solve_triangle(A, Uplo::Lower, Op::NoTrans, true, X);
      solve_triangle(A, Uplo::Upper, Op::NoTrans, false, X);
    } else {
      // X = P^T L^-T U^-T B
      solve_triangle(A, Uplo::Upper, p.op, false, X);
      solve_triangle(A, Uplo::Lower, p.op, true, X);
      swap_rows(pivot, false, X);
    }
    for (int c = 0; c < C; ++c)
      for (int i = t; i < n; i += threads)
        if (c0 + c < B.cols) B(i, c0 + c) = X(i, c);
    __syncthreads();
  }
}

// Three pivots more than there are: the compiler reads four at once in source_of.
template <class E>
std::size_t solve_bytes(std::int64_t n, int C) {
  return static_cast<std::size_t>(n) * C * sizeof(E) + static_cast<std::size_t>(n + 3) * sizeof(std::int32_t);
}

template <class E>
void launch(const Solve<E>& p, Queue& q) {
  const std::int64_t n = p.A.cols;
  if (n <= solve_small_max && p.A.stride == n * p.A.ld) return solve_small(p, q);
  const std::size_t limit = shared_memory_limit(q.device());
  const int threads = std::min(solve_threads, round_to_warps(n));
  const auto groups = [&](int C) { return static_cast<unsigned>(std::min(ceil_div(p.B.cols, C), max_grid_y)); };
  if (p.B.cols > 1 && solve_bytes<E>(n, 4) <= limit)
    launch_batched("solve_batched", solve_kernel<E, 4>, dim3(static_cast<unsigned>(p.B.count), groups(4)), threads,
                   solve_bytes<E>(n, 4), q, p);
  else
    launch_batched("solve_batched", solve_kernel<E, 1>, dim3(static_cast<unsigned>(p.B.count), groups(1)), threads,
                   solve_bytes<E>(n, 1), q, p);
}

// A warp per matrix.
template <class E>
__global__ void __launch_bounds__(solve_threads) zero_diagonal_kernel(Batch<E> batch, Strided<std::int32_t> info) {
  const std::int64_t matrix = blockIdx.x * std::int64_t(solve_threads / warp_size) + threadIdx.x / warp_size;
  if (matrix >= batch.count) return;
  const Block<E> A = matrix_of(batch, matrix);
  const int n = static_cast<int>(min(A.rows, A.cols)), lane = threadIdx.x % warp_size;
  int first = n;
  for (int i = lane; i < n; i += warp_size)
    if (is_zero(A(i, i))) first = min(first, i);
  first = __reduce_min_sync(0xffffffffu, first);
  if (lane == 0) info[matrix] = first < n ? first + 1 : 0;
}

}  // namespace

template <class T>
void lu_solve_batched(Op op, Batch<T> LU, View<std::int32_t> ipiv, Vector<std::int32_t> info, Batch<T> B, Queue& q) {
  if (B.empty()) return;
  DeviceScope scope(q.device());
  launch(Solve<device_t<T>>{batch_of(LU), op, ipiv.data, ipiv.ld, strided(info), batch_of(B)}, q);
}

template <class T>
void upper_solve_batched(Batch<T> A, Vector<std::int32_t> info, Batch<T> B, Queue& q) {
  if (B.empty() || A.empty()) return;
  DeviceScope scope(q.device());
  launch(Solve<device_t<T>>{batch_of(A), Op::NoTrans, nullptr, 0, strided(info), batch_of(B)}, q);
}

template <class T>
void zero_diagonal_batched(Batch<T> A, Vector<std::int32_t> info, Queue& q) {
  if (A.count == 0) return;
  DeviceScope scope(q.device());
  const auto blocks = static_cast<unsigned>(ceil_div(A.count, solve_threads / warp_size));
  launch_batched("zero_diagonal_batched", zero_diagonal_kernel<device_t<T>>, dim3(blocks), solve_threads, 0, q,
                 batch_of(A), strided(info));
}

template <class T>
bool solve_batched_possible(std::int64_t n, const Queue& q) {
  DeviceScope scope(q.device());
  return solve_bytes<device_t<T>>(n, 1) <= shared_memory_limit(q.device());
}

#define INSTANTIATE(T)                                                                                      \
  template void lu_solve_batched(Op, Batch<T>, View<std::int32_t>, Vector<std::int32_t>, Batch<T>, Queue&); \
  template void upper_solve_batched(Batch<T>, Vector<std::int32_t>, Batch<T>, Queue&);                      \
  template void zero_diagonal_batched(Batch<T>, Vector<std::int32_t>, Queue&);                              \
  template bool solve_batched_possible<T>(std::int64_t, const Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
