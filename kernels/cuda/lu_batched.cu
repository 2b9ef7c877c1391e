// lu_batched: LU of many matrices, those that fit in shared memory by one kernel, larger ones by blocks of columns.
//
//   columns of a matrix, in shared memory    A block has a matrix, thread t its row t. Rows do not move: each has a
//    done   window      rest                 position, where LAPACK's swaps would have brought it, below the present
//   +-----+---------+----------+             step if it is done.
//   |     | a a a a |          |  row t      window   W columns of the row in registers. A step: every warp publishes
//   |  L  | a a a a |   A22    |                      its candidate with its row, one barrier, all scale and subtract.
//   |     | a a a a |          |             rest     U12 = L11^-1 A12, a column per thread; A22 -= L21 U12, a row
//   +-----+---------+----------+                      per thread
//
// At the end the rows go to their positions. Larger matrices: the same kernel on panels of nb columns, and between them
//   exchange   the rows' exchanges of all other columns, U12 = L11^-1 A12   (lu_batched_exchange)
//   update     A22 -= L21 U12                                               (gemm_batched)
#include "kernels/cuda/lu_batched.cuh"

namespace devobj::cuda {
namespace lu {
namespace {

/// Columns of a window: 16 registers.
template <class E>
constexpr int window = 64 / static_cast<int>(sizeof(E));

template <class E>
struct Published {
  Candidate head;
  alignas(16) Reciprocal<E> inverse;
  alignas(16) E row[window<E>];
};
template <class E>
struct alignas(16) WindowRow {
  E x[window<E>];
};

template <class E>
struct LuMemory {
  E* A;                  // m x n, column-major with an odd ld: rows and columns are read without conflicts of banks
  WindowRow<E>* U12;     // U12[c].x[i] = U(c0 + i, c)
  E* L11;                // L11[i + k W] = L(c0 + i, c0 + k)
  Published<E>* told;    // [step % 2][warp]
  std::int32_t* source;  // the pivot's row of each step
  std::size_t bytes;

  __host__ __device__ LuMemory(unsigned char* start, int m, int n, int warps) {
    constexpr int W = window<E>;
    SharedLayout layout(start);
    A = layout.take<E>(std::size_t(ld(m)) * n);
    U12 = layout.take<WindowRow<E>>(n);
    L11 = layout.take<E>(W * W);
    told = layout.take<Published<E>>(2 * warps);
    source = layout.take<std::int32_t>(m < n ? m : n);
    bytes = layout.bytes();
  }
  __host__ __device__ static int ld(int m) { return m | 1; }
};

// A block per matrix, a thread per row.
template <class E, int most_threads>
__global__ void __launch_bounds__(most_threads) lu_block_kernel(BatchedLu<E> p) {
  constexpr int W = window<E>;
  extern __shared__ __align__(16) unsigned char bytes[];
  const std::int64_t matrix = blockIdx.x;
  const Block<E> A = matrix_of(p.A, matrix);
  const int m = static_cast<int>(A.rows), n = static_cast<int>(A.cols), k = min(m, n);
  const int t = threadIdx.x, threads = blockDim.x, lane = t % warp_size, warp = t / warp_size;
  const int warps = threads / warp_size, ld = LuMemory<E>::ld(m);
  const LuMemory<E> memory(bytes, m, n, warps);
  E* const row = memory.A + t;  // this thread's: row[c ld]

  if (t < m) {
#pragma unroll 8
    for (int c = 0; c < n; ++c) row[c * ld] = A(t, c);
  }
  std::int32_t position = t < m ? t : -1;
  int zero_column = 0;

  for (int c0 = 0; c0 < k; c0 += W) {
    const int steps = min(W, k - c0);
    const bool in_window = position >= c0;
    E a[W];
#pragma unroll
    for (int c = 0; c < W; ++c) a[c] = in_window && c0 + c < n ? row[(c0 + c) * ld] : E{};

#pragma unroll
    for (int j = 0; j < W; ++j) {
      if (j < steps) {
        const int step = c0 + j;
        Published<E>* const told = memory.told + step % 2 * warps;
        Candidate mine = candidate_of(a[j], position, step);
        mine.row = t;
        if (lane == leader_of_warp<E>(mine, true)) {
          Published<E>& own = told[warp];
          own.head = mine;
          own.inverse = Reciprocal<E>(a[j]);
#pragma unroll
          for (int c = j + 1; c < W; ++c) own.row[c] = a[c];
        }
        __syncthreads();
        const Candidate of_warp = told[lane < warps ? lane : 0].head;
        const Published<E>& pivot = told[leader_of_warp<E>(of_warp, lane < warps)];
        const bool zero = (pivot.head.high | pivot.head.low) == 0;
        if (zero && zero_column == 0) zero_column = step + 1;
        if (position == pivot.head.position)
          position = step;
        else if (position == step)
          position = pivot.head.position;
        if (t == 0) {
          memory.source[step] = pivot.head.row;
          p.ipiv[step + matrix * p.ldp] = p.offset + pivot.head.position + 1;
        }
        // l = a / pivot;  a -= l u
        if (position > step) {
          if (!zero) a[j] = pivot.inverse.times(a[j]);
#pragma unroll
          for (int c = j + 1; c < W; ++c) a[c] = minus_product(a[c], a[j], pivot.row[c]);
        }
      }
    }
    if (in_window) {
#pragma unroll
      for (int c = 0; c < W; ++c)
        if (c0 + c < n) row[(c0 + c) * ld] = a[c];
    }
    if (c0 + W >= n) continue;

    // U12 = L11^-1 A12
    __syncthreads();
    for (int e = t; e < W * W; e += threads) {
      const int i = e % W, l = e / W;
      memory.L11[e] = l < i && i < steps ? memory.A[memory.source[c0 + i] + (c0 + l) * ld] : E{};
    }
    __syncthreads();
    for (int c = c0 + W + t; c < n; c += threads) {
      E* const column = memory.A + c * ld;
      E x[W];
#pragma unroll
      for (int i = 0; i < W; ++i) x[i] = i < steps ? column[memory.source[c0 + i]] : E{};
#pragma unroll
      for (int l = 0; l < W - 1; ++l) {
#pragma unroll
        for (int i = l + 1; i < W; ++i) x[i] = minus_product(x[i], memory.L11[i + l * W], x[l]);
      }
#pragma unroll
      for (int i = 0; i < W; ++i) {
        memory.U12[c].x[i] = x[i];
        if (i < steps) column[memory.source[c0 + i]] = x[i];
      }
    }
    __syncthreads();
    // A22 -= L21 U12
    if (position >= c0 + W) {
#pragma unroll 2
      for (int c = c0 + W; c < n; ++c) {
        const WindowRow<E> u = memory.U12[c];
        E x = row[c * ld];
#pragma unroll
        for (int l = 0; l < W; ++l) x = minus_product(x, a[l], u.x[l]);
        row[c * ld] = x;
      }
    }
  }

  __syncthreads();
  if (t < m) {
#pragma unroll 8
    for (int c = 0; c < n; ++c) A(position, c) = row[c * ld];
  }
  if (t == 0) p.set_info(matrix, zero_column);
}

template <class E>
std::size_t block_bytes(std::int64_t m, std::int64_t n) {
  return LuMemory<E>(nullptr, static_cast<int>(m), static_cast<int>(n), round_to_warps(m) / warp_size).bytes;
}

template <class E>
void lu_block(const BatchedLu<E>& p, Queue& q) {
  const int threads = round_to_warps(p.A.rows);
  const auto kernel = threads <= 256 ? lu_block_kernel<E, 256> : lu_block_kernel<E, 1024>;
  launch_batched("lu_batched", kernel, dim3(static_cast<unsigned>(p.A.count)), threads,
                 block_bytes<E>(p.A.rows, p.A.cols), q, p);
}

/// Columns of a panel of m rows: as many as let two blocks share a multiprocessor, otherwise as fit; 0 if none do.
template <class E>
std::int64_t panel_columns(std::int64_t m, std::size_t limit) {
  for (std::size_t part : {limit / 2 - 1024, limit})
    for (std::int64_t nb = lu_exchange_max; nb >= window<E>; nb /= 2)
      if (block_bytes<E>(m, nb) <= part) return nb;
  return 0;
}

}  // namespace
}  // namespace lu

template <class T>
void lu_batched(Batch<T> A, View<std::int32_t> ipiv, Vector<std::int32_t> info, Queue& q) {
  using E = device_t<T>;
  if (A.count == 0) return;
  DeviceScope scope(q.device());
  if (A.empty()) {
    check(cudaMemset2DAsync(info.data, info.inc * sizeof(std::int32_t), 0, sizeof(std::int32_t),
                            static_cast<std::size_t>(A.count), stream_of(q)),
          "lu_batched");
    return q.launched("lu_batched");
  }
  const std::size_t limit = shared_memory_limit(q.device());
  const std::int64_t m = A.rows, n = A.cols, k = std::min(m, n);
  lu::BatchedLu<E> p{batch_of(A), ipiv.data, ipiv.ld, 0, true, strided(info)};
  if (std::max(m, n) <= lu::lu_tiny_max && A.stride == n * A.ld) return lu::lu_tiny(p, q);
  if (std::max(m, n) <= lu::lu_small_max) return lu::lu_small(p, q);
  if (lu::block_bytes<E>(m, n) <= limit) return lu::lu_block(p, q);

  const std::int64_t nb = lu::panel_columns<E>(m, limit);
  require(nb > 0, "lu_batched: ", m, " rows are too many for this GPU's shared memory");
  for (std::int64_t j = 0; j < k; j += nb) {
    const std::int64_t w = std::min(nb, k - j);
    const Range K{j, j + w}, rest{j + w, n}, below{j, m}, under{j + w, m};
    p.A = batch_of(A(below, K));
    p.ipiv = ipiv.data + j;
    p.offset = static_cast<std::int32_t>(j);
    p.first = j == 0;
    lu::lu_block(p, q);
    // the others' rows change places, U12 = L11^-1 A12
    if (w < n) lu::lu_exchange(batch_of(A), ipiv.data, ipiv.ld, j, w, q);
    // A22 -= L21 U12
    gemm_batched(A(under, K), A(K, rest), A(under, rest), q);
  }
}

#define INSTANTIATE(T) template void lu_batched(Batch<T>, View<std::int32_t>, Vector<std::int32_t>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
