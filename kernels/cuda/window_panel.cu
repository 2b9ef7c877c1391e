// window_panel: LU of a panel with pivots from a window of rows, in one cluster.
//
//   block   0    1    2   ...     A block holds a strip of columns, a thread a row of them in registers, from the first step to
//         +----+----+----+----    the last. The blocks factor their strips in turn. In each step
//         | LU |    |    |          search   each warp publishes its largest |a|, and that row        - barrier -
//         |    |    |    |          follow   all find the largest of these, l = a / pivot, a -= l u
//         +----+----+----+----    and then a block sends its strip's L to the blocks to the right, which follow:
//                                   U = L11^-1 A12 for the rows that were pivots, a -= L U for those that were not.
//
// Rows stay where they are until the panel is written. Blocks wait for letters (cluster.cuh), not for each other.
#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/cuda/single_precision.cuh"
#include "kernels/randomized.hpp"

namespace devobj::cuda {
namespace {

constexpr int most_rows = static_cast<int>(window_rows), threads = most_rows, warps = threads / warp_size;

constexpr int most_blocks = 8;

template <class E>
struct Memory {
  static constexpr int width = is_device_complex<E> ? 8 : 16;  // of a strip
  static constexpr int pieces = width * sizeof(E) / 16;        // of a row of it
  static_assert(width * most_blocks ==
                window_panel_cols<std::conditional_t<is_device_complex<E>, std::complex<float>, float>>);

  // from another block, by strips: a row of L is a row here, with a gap against conflicts of banks
  struct Letter {
    alignas(16) E l[most_rows][width + 16 / sizeof(E)];
  };
  Letter letters[most_blocks - 1];
  alignas(16) int pivot[most_blocks][width];  // the rows; the block's own among them
  Mailbox box[most_blocks];
  // for every other step: of each warp
  alignas(16) E row_of[2][warps][width];
  E inverse[2][warps];
  unsigned size[2][warps];  // bits of |a|, plus 1; 0: there is none
  int row[2][warps];
  // to follow another block's strip
  alignas(16) E A12[width][width];
  alignas(16) E U12[width][width];
  int left_over[warps];  // rows that never were pivots
  E staged[width][most_rows];
};

/// A row of a strip, a thread's.
template <class E>
struct Row {
  using Shared = Memory<E>;
  static constexpr int width = Shared::width;
  int row, lane, warp;
  int place;  // among the panel's rows in the end, or -1
  E a[width];

  /// LU of the block's own strip of `cols` columns, the first being column `first` of the panel.
  __device__ void factor(Shared& memory, int cols, int first, std::int64_t offset, std::int32_t* info) {
    int* const pivot = memory.pivot[first / width];
#pragma unroll
    for (int k = 0; k < width; ++k) {
      if (k >= cols) break;
      const int turn = k % 2;
      const unsigned size = place < 0 ? (__float_as_uint(magnitude(a[k])) & 0x7fffffffu) + 1 : 0;
      const unsigned largest = __reduce_max_sync(all_lanes, size);
      if (lane == __ffs(__ballot_sync(all_lanes, size == largest)) - 1) {
        memory.size[turn][warp] = largest;
        memory.row[turn][warp] = row;
        memory.inverse[turn][warp] = inverse_of(a[k]);
#pragma unroll
        for (int c = k + 1; c < width; ++c) memory.row_of[turn][warp][c] = a[c];
      }
      __syncthreads();
      const unsigned of_warp = memory.size[turn][lane % warps];
      const unsigned of_all = __reduce_max_sync(all_lanes, of_warp);
      const int best = __ffs(__ballot_sync(all_lanes, of_warp == of_all)) - 1;
      if (row == memory.row[turn][best]) {
        place = first + k;
        pivot[k] = row;
        if (is_zero(a[k])) atomicCAS(info, 0, static_cast<int>(offset + first + k + 1));
      }
      if (place < 0) {
        a[k] = product(a[k], memory.inverse[turn][best]);
#pragma unroll
        for (int c = k + 1; c < width; ++c) a[c] = minus_product(a[c], a[k], memory.row_of[turn][best][c]);
      }
    }
  }

  /// Sends a strip's L to the blocks to the right of it, its pivots to all.
  __device__ void send(Shared& memory, int strip, int strips) const {
    __syncthreads();
    for (int n = 1; n < strips; ++n) {
      const int to = (strip + n) % strips;  // the next one first
      const std::uint32_t box = remote_address(&memory.box[strip], to);
      if (to > strip) {
        const std::uint32_t place = remote_address(&memory.letters[strip].l[row][0], to);
#pragma unroll
        for (int p = 0; p < pieces; ++p) {
          int4 piece;
          memcpy(&piece, &a[p * width / pieces], sizeof piece);
          send_piece(place + p * sizeof piece, piece, box);
        }
      }
      if (row < width / 4) {
        const int4 piece = reinterpret_cast<const int4*>(memory.pivot[strip])[row];
        send_piece(remote_address(&memory.pivot[strip][4 * row], to), piece, box);
      }
    }
  }
  static constexpr int pieces = Shared::pieces;
  /// What a block gets in its mailbox for a strip.
  __device__ static int bytes_of(int rank, int strip) {
    return width * static_cast<int>(sizeof(int)) + (strip < rank ? most_rows * pieces * 16 : 0);
  }

  /// The elimination by another block's strip, in whose step `step` the row was the pivot, or -1.
  __device__ void follow(Shared& memory, int strip, int step) {
    const int thread = row;
    const auto& L = memory.letters[strip].l;
    E l[width];
#pragma unroll
    for (int k = 0; k < width; ++k) l[k] = L[row][k];
    if (step >= 0)
#pragma unroll
      for (int c = 0; c < width; ++c) memory.A12[step][c] = a[c];
    __syncthreads();
    if (thread < width) {
      E u[width];
#pragma unroll
      for (int k = 0; k < width; ++k) u[k] = memory.A12[k][thread];
#pragma unroll
      for (int k = 1; k < width; ++k) {
        const E* const row_of_L = L[memory.pivot[strip][k]];
#pragma unroll
        for (int earlier = 0; earlier < k; ++earlier) u[k] = minus_product(u[k], row_of_L[earlier], u[earlier]);
      }
#pragma unroll
      for (int k = 0; k < width; ++k) memory.U12[k][thread] = u[k];
    }
    __syncthreads();
    if (step >= 0) {
#pragma unroll
      for (int c = 0; c < width; ++c) a[c] = memory.U12[step][c];
    } else if (place < 0) {
#pragma unroll
      for (int k = 0; k < width; ++k)
#pragma unroll
        for (int c = 0; c < width; ++c) a[c] = minus_product(a[c], l[k], memory.U12[k][c]);
    }
  }
};

template <class E>
__global__ void __launch_bounds__(threads)
    window_panel_kernel(Block<E> A, std::int64_t offset, std::int32_t* source, std::int32_t* info) {
  constexpr int width = Memory<E>::width;
  extern __shared__ __align__(16) unsigned char raw_memory[];
  Memory<E>& memory = *reinterpret_cast<Memory<E>*>(raw_memory);
  const int rows = static_cast<int>(A.rows), cols = static_cast<int>(A.cols);
  const int strips = (cols + width - 1) / width, rank = cluster_rank();
  const int first = rank * width, mine = min(max(cols - first, 0), width);
  const int thread = threadIdx.x;

  if (thread == 0 && mine > 0)
    for (int strip = 0; strip < strips; ++strip) {
      if (strip == rank) continue;
      open_mailbox(memory.box[strip]);
      expect_bytes(memory.box[strip], Row<E>::bytes_of(rank, strip));
    }
  Row<E> row{thread, thread % warp_size, thread / warp_size, thread < rows ? -1 : most_rows, {}};
#pragma unroll
  for (int c = 0; c < width; ++c) row.a[c] = c < mine && thread < rows ? A(thread, first + c) : E{};
  __syncwarp();
  cluster_arrive();
  cluster_wait();
  if (mine == 0) return;

  for (int strip = 0; strip < strips; ++strip) {
    if (rank == strip) {
      row.factor(memory, mine, first, offset, info);
      row.send(memory, strip, strips);
      continue;
    }
    wait_for_bytes(memory.box[strip], 0);
    int step = -1;
#pragma unroll
    for (int k = 0; k < width; ++k)
      if (strip * width + k < cols && memory.pivot[strip][k] == thread) step = k;
    if (rank > strip) row.follow(memory, strip, step);
    if (step >= 0) row.place = strip * width + step;
  }

  // rows that never were pivots follow in their order
  const unsigned others = __ballot_sync(all_lanes, row.place < 0);
  if (row.lane == 0) memory.left_over[row.warp] = __popc(others);
  __syncthreads();
  if (row.place < 0) {
    row.place = cols + __popc(others & ((1u << row.lane) - 1));
    for (int w = 0; w < row.warp; ++w) row.place += memory.left_over[w];
  }
  if (thread < rows) {
#pragma unroll
    for (int c = 0; c < width; ++c) memory.staged[c][row.place] = row.a[c];
    if (rank == 0) source[row.place] = thread;
  }
  __syncthreads();
  if (thread < rows)
    for (int c = 0; c < mine; ++c) A(thread, first + c) = memory.staged[c][thread];
}

}  // namespace

bool window_lu_possible(const Queue& q) {
  DeviceScope scope(q.device());
  return clusters_usable(window_panel_kernel<float>) && shared_memory_limit(q.device()) >= sizeof(Memory<cuComplex>);
}

template <class S>
void window_panel(View<S> A, std::int64_t offset, std::int32_t* source, std::int32_t* info, Queue& q) {
  if (A.empty()) return;
  using E = device_t<S>;
  require(A.rows <= window_rows && A.cols <= window_panel_cols<S> && A.cols <= A.rows, "window_panel: A is ", A.rows,
          " x ", A.cols, ", at most ", window_rows, " x ", window_panel_cols<S>, ", not wider than tall");
  DeviceScope scope(q.device());
  const auto strips = static_cast<unsigned>(ceil_div(A.cols, Memory<E>::width));
  const auto blocks = static_cast<int>(std::bit_ceil(strips));
  constexpr std::size_t bytes = sizeof(Memory<E>);
  const auto kernel = window_panel_kernel<E>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "window_panel");
  const ClusterLaunch launch(blocks, blocks, threads, bytes, stream_of(q));
  check(cudaLaunchKernelEx(&launch.config, kernel, block_of(A), offset, source, info), "window_panel");
  q.launched("window_panel");
}

#define INSTANTIATE(S) template void window_panel<S>(View<S>, std::int64_t, std::int32_t*, std::int32_t*, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
