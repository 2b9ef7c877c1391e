// lu_panel: the LU factorization of a panel in one kernel, with one exchange between its blocks for each column.
//
//   columns of A (m x nb, column-major)        The rows are spread over all threads; a thread keeps R rows of the W
//    done   sub-panel   rest                   columns of the present sub-panel in registers. Rows do not move: each has
//   +-----+-----------+--------+               a position, the place it would have after LAPACK's swaps, and a row with a
//   |     | a  a  a a |        |  thread's     position before the present step is done.
//   |  L  | a  a  a a |  A     |  rows         A step: every block publishes its largest element of the column together
//   |     | a  a  a a |        |               with its row of the sub-panel; after one barrier all know the pivot's row,
//   +-----+-----------+--------+               scale and update. The window of registers shifts by one column per step:
//                                              the column of the step is always a[.][0].
// After a sub-panel every block solves U12 = L11^-1 A12 for itself (W rows), and each thread subtracts L21 U12 from its
// rows of the rest, whose columns come through a ring in shared memory. At the end the rows are brought to their positions.
//
// Memory order: L is written to A by the owner of the row; U, whose rows have left their places, to the workspace, by
// position. The barrier of a step makes all that the blocks wrote before it visible to all.
#pragma once

#include <cuda_pipeline.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/cuda/lu_panel_links.cuh"

namespace devobj::cuda::lu {

/// Columns of the block's rows on their way from memory: as many as 48 KiB hold, a power of two.
template <class E, int R>
struct Ring {
  static constexpr int column_bytes = R * threads * static_cast<int>(sizeof(E));
  static constexpr int columns = static_cast<int>(std::bit_floor(std::clamp(48u * 1024 / column_bytes, 1u, 32u)));
  static constexpr int bytes = columns * column_bytes;
  static constexpr int at_once = std::min(columns, sizeof(E) * R <= 8 ? 4 : sizeof(E) * R <= 16 ? 2 : 1);
  static constexpr int ahead = columns / at_once - 1;
};

/// The whole work of a block; members live in registers and shared memory.
template <class E, int W, int R, template <class, int> class LinkOf>
struct PanelWork {
  using Link = LinkOf<E, W>;
  struct Shared {
    typename Link::Shared link;
    Candidate winners[turns][warps];
    std::int32_t source[lu_panel_max], pivot[lu_panel_max];  // of each step: its row in A, its position
    E L11[W][W];                                             // L11[k][i] = L11(i, k)
  };

  const Panel<E>& p;
  Shared& shared;
  E *ring, *U12;  // in shared memory; U12 is rest x W, column c is U12[c * W ...]
  Link link;
  const int m, nb, lane, warp;
  int turn = 0;  // of the buffers
  E a[R][W];
  std::int32_t position[R];
  // The results of a step are stored in the next one, while the blocks wait for each other.
  E l[R];
  const E* u = nullptr;
  std::int32_t pivot_row = 0, pivot_position = 0;

  __device__ PanelWork(const Panel<E>& panel, Shared& memory, E* columns)
      : p(panel),
        shared(memory),
        ring(columns),
        U12(columns + Ring<E, R>::bytes / sizeof(E)),
        link(memory.link, panel),
        m(static_cast<int>(panel.A.rows)),
        nb(static_cast<int>(panel.A.cols)),
        lane(threadIdx.x % warp_size),
        warp(threadIdx.x / warp_size) {
#pragma unroll
    for (int r = 0; r < R; ++r) position[r] = row(r) < m ? row(r) : -1;
  }
  __device__ int row(int r) const {
    return (link.rank * R + r) * threads + static_cast<int>(threadIdx.x);
  }
  __device__ void barrier() {
    link.arrive();
    link.wait();
  }

  __device__ void load(int c0, int w) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const bool here = position[r] >= c0;
#pragma unroll
      for (int k = 0; k < W; ++k) a[r][k] = here && k < w ? p.A(row(r), c0 + k) : E{};
    }
  }

  /// Column `step` of L, by the owners of the rows, and row `step` of U, by one warp of the grid.
  __device__ void store(int step, int live) {
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (position[r] > step) p.A(row(r), step) = l[r];
    if (threadIdx.x == 0) {
      shared.source[step] = pivot_row;
      shared.pivot[step] = pivot_position;
    }
    if (link.rank == 0 && warp == step % warps)
      for (int k = lane; k < live && step + k < nb; k += warp_size) p.U[step * nb + step + k] = u[k];
  }

  /// One column: the window's column 0 is column `step` of the panel; `Live` columns of the window are in use.
  template <int Live>
  __device__ void eliminate(int step, bool stored) {
    constexpr int pieces = Slot<E, W>::pieces(Live);
    turn = turn == turns - 1 ? 0 : turn + 1;

    // the thread's, the warp's, the block's candidate
    Candidate mine = candidate_of(a[0][0], position[0], step);
    E value = a[0][0];
    mine.row = row(0);
#pragma unroll
    for (int r = 1; r < R; ++r) {
      Candidate c = candidate_of(a[r][0], position[r], step);
      c.row = row(r);
      if (better<E>(c, mine)) {
        mine = c;
        value = a[r][0];
      }
    }
    const Reciprocal<E> own_inverse(value);  // in the shadow of the search
    int leader = leader_of_warp<E>(mine), leading_warp = warp;
    if constexpr (!Link::warps_publish) {
      if (lane == leader) shared.winners[turn][warp] = mine;
      __syncthreads();
      leading_warp = leader_of_warp<E>(lane < warps ? shared.winners[turn][lane] : Candidate{});
    }

    // published by the leader, with its warp
    if (warp == leading_warp) {
      if (lane == leader) {
        link.stage_head(turn) = mine;
        Slot<E, W>& stage = link.stage(turn);
        stage.inverse = own_inverse;
#pragma unroll
        for (int r = 0; r < R; ++r)
          if (R == 1 || position[r] == mine.position) {
#pragma unroll
            for (int k = 0; k < Live; ++k) stage.row[k] = a[r][k];
          }
      }
      if constexpr (!Link::warps_publish) {
        __syncwarp();
        link.publish(turn, pieces);
      }
    }
    link.published(turn, pieces);
    if (!stored) store(step - 1, W);
    link.receive(turn);

    // the pivot of all
    mine = Candidate{};
    int from = lane;
    for (int i = lane; i < link.candidates; i += warp_size) {
      const Candidate c = link.head(turn, i);
      if (i == lane || better<E>(c, mine)) {
        mine = c;
        from = i;
      }
    }
    leader = leader_of_warp<E>(mine);
    const Slot<E, W>& pivot = link.chosen(turn, __shfl_sync(all_lanes, from, leader), pieces);
    pivot_row = __shfl_sync(all_lanes, mine.row, leader);
    pivot_position = __shfl_sync(all_lanes, mine.position, leader);
    const bool zero = __shfl_sync(all_lanes, mine.high | mine.low, leader) == 0;
    if (zero && threadIdx.x == 0 && link.rank == 0 && *p.info <= 0)
      *p.info = static_cast<std::int32_t>(p.offset + step + 1);
    u = pivot.row;

    // l = a / pivot;  a -= l u, one column to the left
    const Reciprocal<E> inverse = pivot.inverse;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (position[r] == pivot_position)
        position[r] = step;
      else if (position[r] == step)
        position[r] = pivot_position;
      l[r] = zero ? a[r][0] : inverse.times(a[r][0]);
    }
#pragma unroll
    for (int k = 1; k < Live; ++k) {
      const E uk = u[k];
#pragma unroll
      for (int r = 0; r < R; ++r) a[r][k - 1] = minus_product(a[r][k], l[r], uk);
    }
  }

  /// U12 = L11^-1 A12 in every block, and A22 -= L21 U12, for the columns from c0 + W on.
  __device__ void update_rest(int c0) {
    const int rest = nb - c0 - W;
    barrier();  // what the last steps stored
    for (int e = threadIdx.x; e < W * W; e += threads) {
      const int i = e % W, k = e / W;
      shared.L11[k][i] = k < i ? p.A(shared.source[c0 + i], c0 + k) : E{};
    }
    __syncthreads();
    for (int c = threadIdx.x; c < rest; c += threads) {
      E x[W];
#pragma unroll
      for (int i = 0; i < W; ++i) x[i] = p.A(shared.source[c0 + i], c0 + W + c);
#pragma unroll
      for (int k = 0; k < W - 1; ++k) {
        __syncwarp(__activemask());  // keeps the compiler from loading L11 far ahead, which would fill the registers
#pragma unroll
        for (int i = k + 1; i < W; ++i) x[i] = minus_product(x[i], shared.L11[k][i], x[k]);
      }
#pragma unroll
      for (int i = 0; i < W; ++i) U12[c * W + i] = x[i];
      if (link.rank == 0) {
#pragma unroll
        for (int i = 0; i < W; ++i) p.U[(c0 + i) * nb + c0 + W + c] = x[i];
      }
    }
    __syncthreads();

    E* rows[R];
    bool here[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
      here[r] = position[r] >= c0 + W;
      rows[r] = &p.A(here[r] ? row(r) : 0, c0 + W);
#pragma unroll
      for (int k = 0; k < W; ++k) a[r][k] = here[r] ? p.A(row(r), c0 + k) : E{};
    }
    // a few columns at once; more are on their way to shared memory, where a thread finds its own rows
    constexpr int at_once = Ring<E, R>::at_once, ahead = Ring<E, R>::ahead;
    int filled = 0, used = 0;  // columns of the ring
    auto fetch = [&](int c) {
#pragma unroll
      for (int j = 0; j < at_once; ++j)
#pragma unroll
        for (int r = 0; r < R; ++r)
          if (here[r] && c + j < rest)
            __pipeline_memcpy_async(&ring[((filled + j) * R + r) * threads + threadIdx.x], rows[r] + (c + j) * p.A.ld,
                                    sizeof(E));
      __pipeline_commit();
      filled = (filled + at_once) % Ring<E, R>::columns;
    };
    for (int i = 0; i < ahead; ++i) fetch(i * at_once);
    for (int c = 0; c < rest; c += at_once) {
      fetch(c + ahead * at_once);
      __pipeline_wait_prior(ahead);
      E x[at_once][R];
#pragma unroll
      for (int j = 0; j < at_once; ++j)
#pragma unroll
        for (int r = 0; r < R; ++r) x[j][r] = ring[((used + j) * R + r) * threads + threadIdx.x];
      used = (used + at_once) % Ring<E, R>::columns;
#pragma unroll
      for (int k = 0; k < W; ++k)
#pragma unroll
        for (int j = 0; j < at_once; ++j) {
          const E u = U12[min(c + j, rest - 1) * W + k];
#pragma unroll
          for (int r = 0; r < R; ++r) x[j][r] = minus_product(x[j][r], a[r][k], u);
        }
#pragma unroll
      for (int j = 0; j < at_once; ++j)
#pragma unroll
        for (int r = 0; r < R; ++r)
          if (here[r] && c + j < rest) rows[r][(c + j) * p.A.ld] = x[j][r];
    }
  }

  /// The rows go to their positions: top row t gets L of its source and U by position; a displaced top row goes where
  /// the pivot that came was. The blocks share the columns.
  __device__ void place_rows() {
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (position[r] >= 0 && row(r) < nb) p.exchange.displaced_to[row(r)] = position[r] >= nb ? position[r] : -1;
    barrier();
    constexpr int at_once = 8;
    const int t = threadIdx.x, source = t < nb ? shared.source[t] : 0;
    if (link.rank == 0 && t < nb) {
      p.ipiv[t] = static_cast<std::int32_t>(p.offset + shared.pivot[t] + 1);
      p.exchange.source[t] = source;
    }
    const int to = t < nb ? __ldcg(p.exchange.displaced_to + t) : -1;
    for (int c0 = link.rank * at_once; c0 < nb; c0 += link.blocks * at_once) {
      E old[at_once], fresh[at_once];
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        const int c = c0 + j;
        if (t >= nb || c >= nb) continue;
        old[j] = p.A(t, c);
        fresh[j] = c < t ? p.A(source, c) : p.U[t * nb + c];
      }
      __syncthreads();
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        const int c = c0 + j;
        if (t >= nb || c >= nb) continue;
        p.A(t, c) = fresh[j];
        if (to >= 0) p.A(to, c) = old[j];
      }
    }
  }

  __device__ void run() {
    for (int c0 = 0; c0 < nb; c0 += W) {
      const int w = min(W, nb - c0);
      load(c0, w);
      int j = 0;
      for (; j < min(w, W / 2); ++j) eliminate<W>(c0 + j, j == 0);
      for (; j < w; ++j) eliminate<W / 2>(c0 + j, false);
      store(c0 + w - 1, W);
      if (c0 + W < nb) update_rest(c0);
    }
    place_rows();
    if (link.blocks > 1) barrier();  // no block leaves while others read its memory
  }
};

template <class E, int W, int R, template <class, int> class LinkOf>
__global__ void __launch_bounds__(threads, 1) lu_panel_kernel(Panel<E> p) {
  using Work = PanelWork<E, W, R, LinkOf>;
  extern __shared__ __align__(16) unsigned char bytes[];
  __shared__ typename Work::Shared shared;
  Work(p, shared, reinterpret_cast<E*>(bytes)).run();
}

template <class E, int W, int R, template <class, int> class LinkOf>
struct Launch {
  static constexpr auto kernel = lu_panel_kernel<E, W, R, LinkOf>;
  static void run(const Panel<E>& p, LuPanelShape shape, const Start* start, Queue& q) {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(shape.blocks);
    config.blockDim = dim3(threads);
    const std::int64_t rest = std::max<std::int64_t>(p.A.cols - W, 0);
    config.dynamicSmemBytes = rest > 0 ? Ring<E, R>::bytes + rest * W * sizeof(E) : 0;
    config.stream = stream_of(q);
    cudaLaunchAttribute attributes[2]{};
    config.attrs = attributes;
    auto add = [&](cudaLaunchAttributeID id) -> cudaLaunchAttributeValue& {
      attributes[config.numAttrs].id = id;
      return attributes[config.numAttrs++].val;
    };
    if (shape.blocks > 1 && shape.cluster) {
      if (shape.blocks > 8)
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "lu_panel");
      add(cudaLaunchAttributeClusterDimension).clusterDim = {static_cast<unsigned>(shape.blocks), 1, 1};
    } else if (shape.blocks > 1) {
      add(cudaLaunchAttributeCooperative).cooperative = 1;
    }
    if (start != nullptr)
      add(cudaLaunchAttributeLaunchCompletionEvent).launchCompletionEvent = {static_cast<cudaEvent_t>(start->event()),
                                                                             0};
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(config.dynamicSmemBytes)),
          "lu_panel");
    check(cudaLaunchKernelEx(&config, kernel, p), "lu_panel");
  }
};

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

// The widths: 32 columns of 4 bytes with up to four rows per thread fill half of the registers; taller panels have
// narrower windows and more rows.
template <class E>
constexpr int full = 32 * 4 / static_cast<int>(sizeof(E));
template <class E>
constexpr int width_of(int rows) {
  return rows <= 4 ? full<E> : rows == 8 ? full<E> / 2 : full<E> / 4;
}
template <class E, int R, template <class, int> class LinkOf>
using LaunchOf = Launch<E, width_of<E>(R), R, LinkOf>;

/// The shapes that exist: all others are slower for every number of rows (docs/design-notes.md).
template <class E>
void launch_panel(const Panel<E>& p, LuPanelShape shape, const Start* start, Queue& q) {
  if (shape.blocks == 1) {
    if (shape.rows == 1) return LaunchOf<E, 1, BlockLink>::run(p, shape, start, q);
    if (shape.rows == 2) return LaunchOf<E, 2, BlockLink>::run(p, shape, start, q);
  } else if (shape.cluster) {
    if (shape.rows == 1) return LaunchOf<E, 1, ClusterLink>::run(p, shape, start, q);
    if (shape.rows == 2) return LaunchOf<E, 2, ClusterLink>::run(p, shape, start, q);
    if (shape.rows == 4) return LaunchOf<E, 4, ClusterLink>::run(p, shape, start, q);
  } else {
    check(cudaMemsetAsync(p.arrived, 0, sizeof(unsigned), stream_of(q)), "lu_panel");
    if (shape.rows == 2) return LaunchOf<E, 2, GridLink>::run(p, shape, start, q);
    if (shape.rows == 4) return LaunchOf<E, 4, GridLink>::run(p, shape, start, q);
    if (shape.rows == 8) return LaunchOf<E, 8, GridLink>::run(p, shape, start, q);
    if (shape.rows == 16) return LaunchOf<E, 16, GridLink>::run(p, shape, start, q);
  }
  fail(Status::internal_error, "lu_panel: no panel of this shape");
}

template <class E>
constexpr std::size_t slot_bytes = aligned(turns* max_blocks * sizeof(Stage<E, full<E>>));
constexpr std::size_t counter_bytes = 256;

}  // namespace devobj::cuda::lu

namespace devobj::cuda {

template <class T>
std::vector<LuPanelShape> lu_panel_shapes(std::int64_t m) {
  using namespace lu;
  using E = device_t<T>;
  std::vector<LuPanelShape> shapes;
  const auto add = [&](int rows, std::int64_t blocks, bool cluster) {
    shapes.push_back({width_of<E>(rows), rows, static_cast<int>(blocks), cluster});
  };
  for (int rows : {1, 2})
    if (m <= rows * threads) add(rows, 1, true);
  if (clusters_usable(lu_panel_kernel<E, full<E>, 1, ClusterLink>))
    for (int rows : {1, 2, 4})
      for (int blocks = 2; blocks <= max_cluster; blocks *= 2)
        if (m <= std::int64_t(blocks) * rows * threads) add(rows, blocks, true);
  int device = 0, processors = 0;
  check(cudaGetDevice(&device), "lu_panel");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "lu_panel");
  for (int rows : {2, 4, 8, 16}) {
    const std::int64_t blocks = std::max<std::int64_t>(ceil_div(m, std::int64_t(rows) * threads), 2);
    if (blocks <= std::min(processors, max_blocks)) add(rows, blocks, false);
  }
  return shapes;
}

// From measurements (docs/design-notes.md): one block as long as it is the fastest, then a cluster with as few rows per
// thread as possible, then the grid, whose barrier is slower but which has all processors.
template <class T>
LuPanelShape lu_panel_shape(std::int64_t m) {
  for (const LuPanelShape& shape : lu_panel_shapes<T>(m))
    if (shape.blocks == 1 || !shape.cluster || shape.rows == 1 || shape.blocks == max_cluster) return shape;
  return {};
}

template <class T>
std::size_t lu_panel_workspace(std::int64_t cols) {
  using E = device_t<T>;
  return lu::counter_bytes + lu::slot_bytes<E> + lu::aligned(cols * cols * sizeof(E));
}

template <class T>
void lu_panel(View<T> A, View<std::int32_t> ipiv, std::int64_t offset, std::int32_t* info, RowExchange exchange,
              void* workspace, LuPanelShape shape, const Start* start, Queue& q) {
  using namespace lu;
  using E = device_t<T>;
  DeviceScope scope(q.device());
  auto* bytes = static_cast<unsigned char*>(workspace);
  const Panel<E> p{block_of(A),
                   vector_of(ipiv),
                   offset,
                   info,
                   exchange,
                   reinterpret_cast<E*>(bytes + counter_bytes + slot_bytes<E>),
                   bytes + counter_bytes,
                   reinterpret_cast<unsigned*>(bytes)};
  launch_panel<E>(p, shape, start, q);
  q.launched("lu_panel");
}

#define DEVOBJ_INSTANTIATE_LU_PANEL(T)                                                                    \
  template std::vector<LuPanelShape> lu_panel_shapes<T>(std::int64_t);                                    \
  template LuPanelShape lu_panel_shape<T>(std::int64_t);                                                  \
  template std::size_t lu_panel_workspace<T>(std::int64_t);                                               \
  template void lu_panel<T>(View<T>, View<std::int32_t>, std::int64_t, std::int32_t*, RowExchange, void*, \
                            LuPanelShape, const Start*, Queue&);

}  // namespace devobj::cuda
