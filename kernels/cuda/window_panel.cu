// window_panel: LU of a panel with pivots from a window of rows, in one cluster.
//
//   block   0    1    2   ...     A block holds a strip of columns, a thread two rows of it in registers. The blocks factor
//         +----+----+----+----    their strips in turn, and each sends its L, a group of columns at a time, to the blocks on
//         | LU |    |    |        its right, which follow. The next two get a group as soon as it is done, so that the first
//         |    |    |    |        lacks only the last group when the strip ends; the others get theirs after that.
//         +----+----+----+----
//
// A step of a strip, from one pivot to the next:
//
//   the warps' largest |a|           | its row published, and 1 / a | barrier | the largest of these | l = a / pivot,
//   beside it a -= l u of the step                                                                   | next column a -= l u
//   before in the other columns
//
// The registers hold the strip from the step's column on: a -= l u moves it by a column, so that the steps are one loop. What
// leaves them is in shared memory: L by rows, as it is sent, and U among the candidates. To follow a group:
//
//   the rows that were pivots published | barrier | U12 = L11^-1 A12, by each warp for itself | a -= L U12
//
// Rows that were pivots already are computed on, to no use. Rows stay where they are until the panel is written.
//
// Blocks wait for letters (cluster.cuh), not for each other: for those of the strips on the left before their own, and for
// the pivots of the strips on the right before they end, so that no letter finds a block gone. A letter, a candidate, a row
// of U12 has a place of its own, used once; only a warp's copy of U12 is written again, after a barrier.
#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/kept.cuh"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/cuda/window_panel_strip.cuh"

namespace devobj::cuda {
namespace {

using window::Memory;
using window::Rows;
using window::threads;

/// The rows' order in the end: the pivots', then those that never were one, in theirs.
template <class E>
__device__ void order_rows(Memory<E>& memory, const Rows<E>& rows, int cols) {
  const unsigned others[] = {__ballot_sync(all_lanes, rows.live[0] != 0), __ballot_sync(all_lanes, rows.live[1] != 0)};
  if (rows.lane == 0) memory.left_over[rows.warp] = __popc(others[0]) + __popc(others[1]);
  __syncthreads();
  if (rows.thread < cols) {
    constexpr int width = Memory<E>::width, group = Memory<E>::group;
    const int k = rows.thread % width;
    memory.source[rows.thread] = window::row_at(memory.pivot[rows.thread / width][k / group][k % group]);
  }
  int place = cols + __popc(others[0] & rows.lower_lanes) + __popc(others[1] & rows.lower_lanes);
  for (int w = 0; w < rows.warp; ++w) place += memory.left_over[w];
  for (int r = 0; r < 2; ++r)
    if (rows.live[r] != 0) memory.source[place++] = 2 * rows.thread + r;
  __syncthreads();
}

/// Row i of the block's strip of `cols` columns, the first being column `first` of the panel.
template <class E>
__device__ void write_row(const Memory<E>& memory, Block<E> A, int i, int first, int cols) {
  constexpr int width = Memory<E>::width, group = Memory<E>::group;
  const int slot = window::slot_of(memory.source[i]);
  E x[width];
#pragma unroll
  for (int p = 0; p < Memory<E>::groups; ++p) {
    const auto piece = i < first ? memory.U12[i][p] : memory.L[first / width][p][slot];
#pragma unroll
    for (int j = 0; j < group; ++j) x[p * group + j] = piece.of[j];
  }
  if (const int k = i - first; k >= 0 && k < cols) {
    const E* const u = memory.row_of_U(first / width, k);
#pragma unroll
    for (int c = 0; c < width; ++c)
      if (c >= k) x[c] = u[c - k];
  }
#pragma unroll
  for (int c = 0; c < width; ++c)
    if (c < cols) A(i, first + c) = x[c];
}

template <class E>
__global__ void __launch_bounds__(threads, 1)
    window_panel_kernel(Block<E> A, std::int64_t offset, std::int32_t* source, std::int32_t* info) {
  constexpr int width = Memory<E>::width, group = Memory<E>::group, groups = Memory<E>::groups;
  extern __shared__ __align__(16) unsigned char raw_memory[];
  Memory<E>& memory = kept_address(*reinterpret_cast<Memory<E>*>(raw_memory));
  const int height = static_cast<int>(A.rows), cols = static_cast<int>(A.cols);
  const int strips = static_cast<int>(ceil_div(cols, width)), rank = kept(cluster_rank());
  const int first = rank * width, mine = min(max(cols - first, 0), width);
  const int thread = kept(threadIdx.x), lane = thread % warp_size;
  const auto groups_of = [&](int strip) { return static_cast<int>(ceil_div(min(cols - strip * width, width), group)); };

  {
    const int strip = thread / groups, g = thread % groups;
    const bool used = strip < strips && mine > 0, gets_letters = used && strip != rank && g < groups_of(strip);
    if (used && strip == rank)
      for (int& pivot : memory.pivot[rank][g]) pivot = -1;
    if (gets_letters) open_mailbox(memory.box[strip][g]);
    __syncwarp();
    if (gets_letters) expect_bytes(memory.box[strip][g], Rows<E>::bytes_of(rank, strip));
  }
  Rows<E> rows{thread, lane, thread / warp_size, (1u << lane) - 1, {}, {}};
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const bool here = 2 * thread + r < height;
    rows.live[r] = here ? 0x7fffffffu : 0;
#pragma unroll
    for (int c = 0; c < width; ++c) rows.a[r][c] = c < mine && here ? A(2 * thread + r, first + c) : E{};
  }
  __syncwarp();
  cluster_arrive();
  cluster_wait();
  if (mine == 0) return;

  for (int strip = 0; strip < strips; ++strip) {
    if (strip == rank) {
      rows.factor(memory, mine, first, strips, offset, info);
      continue;
    }
    for (int g = 0; g < groups_of(strip); ++g) {
      wait_for_bytes(memory.box[strip][g], 0);
      if (strip < rank)
        rows.follow(memory, strip, g);
      else
        rows.mark(memory.pivot[strip][g]);
    }
  }

  order_rows(memory, rows, cols);
  for (int i = thread; i < height; i += threads) {
    write_row(memory, A, i, first, mine);
    if (rank == 0) source[i] = memory.source[i];
  }
}

}  // namespace

bool window_lu_possible(const Queue& q) {
  DeviceScope scope(q.device());
  constexpr std::size_t bytes = std::max(sizeof(Memory<float>), sizeof(Memory<cuComplex>));
  return clusters_usable(window_panel_kernel<float>) && shared_memory_limit(q.device()) >= bytes;
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
