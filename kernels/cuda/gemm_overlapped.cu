// gemm_overlapped: C += alpha A B, alpha 1 or -1, in double precision on Hopper's tensor cores, C's way from memory and back
// beside the products.
//
// A product of depth k does 2 k operations for the 16 bytes of an element of C that are read and written: up to k = 1024
// that traffic counts, and a kernel that multiplies, then adds to C, then multiplies again waits for it. Here two groups of
// warps in a block have tiles of their own, one behind the other in time: while one begins or ends a tile the other
// multiplies. A tile of C is copied to shared memory ahead, is what the products are added to in registers, and is written
// from there, so that it is rounded with each product and not once more at the end.
//
//        64 columns   64 columns           Threads of a block:
//      +------------+------------+           warps 0 to 3    tiles of 128 x 64 of C, every other one of the block's
//  128 |  block 0   |  block 1   |           warps 4 to 7    the tiles between
// rows |            |            |           warps 8, 9      have the operands of the first, the second group copied into
//      +------------+------------+                           a ring of shared memory of its own, in pieces of depth 16
//                                            warp 10         has the next tile of C copied as soon as one has been read
//
// Two blocks, a cluster, have the same rows: each fetches half of A's for both.
//
// Operands and C come by tensor maps, in boxes of 128 bytes by 16 (A: 16 rows, 16 columns) or 64 (B: depth 16, 64 columns;
// C: 16 rows, 64 columns), in which 16-byte pieces are exchanged so that a warp's loads of operands meet no bank twice, if
// the elements are dealt to the lanes like this: of depth 8 h ... 8 h + 7 lane 4 o + i multiplies 8 h + 2 i and the next;
// row o of the tensor cores is row 2 o of the box and row o + 8 is row 2 o + 1; columns 2 i and 2 i + 1 are i and i + 4 of
// eight. So a lane has two rows below each other, 16 bytes of C.
#include <atomic>

#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/product_tiles.cuh"
#include "kernels/cuda/tensor_double.cuh"
#include "kernels/cuda/tensor_map.hpp"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

constexpr int tile_rows = 128, tile_cols = 64, tile_depth = 16;
constexpr int blocks_beside = 2;
constexpr int box_rows = 16, boxes = tile_rows / box_rows;
constexpr int box_bytes = box_rows * tile_depth * static_cast<int>(sizeof(double));
constexpr int A_bytes = boxes * box_bytes, B_bytes = tile_cols * tile_depth * static_cast<int>(sizeof(double));

constexpr int warp_group = 128, groups = 2;
constexpr int stages = 3, stage_bytes = A_bytes + B_bytes, ring_bytes = stages * stage_bytes;
constexpr int C_box_bytes = box_rows * tile_cols * static_cast<int>(sizeof(double)), C_bytes = boxes * C_box_bytes;
constexpr int alignment = 1024;
constexpr int gemm_bytes = groups * ring_bytes + C_bytes + alignment;
// the last warp group has the copying warps
constexpr int gemm_threads = (groups + 1) * warp_group;
// of 384 threads with 168 registers at the launch
constexpr int product_registers = 232, copy_registers = 40;

// A warp's part of a tile: four boxes high, four times eight columns.
constexpr int warp_boxes = 4, warp_eights = 4, warps_high = boxes / warp_boxes;
static_assert(warps_high * (tile_cols / (8 * warp_eights)) * warp_size == warp_group);

struct Update {
  ProductTiles tiles;
  Block<double> C;
  int sign;  // of alpha: the bit to be changed in a number's upper half, or none
  int depth_tiles;
  bool streamed;                // C, which is too large to stay in the L2 cache
  const std::int32_t* places;  // multiprocessors to avoid, or null
  std::int32_t* counts;        // of clusters that were where none should be, that were given a number, and that ended
};

/// A group's ring in shared memory, by its addresses: a stage is filled when its bytes are there, and empty when the
/// group's warps in both blocks have read it.
struct Ring {
  std::uint32_t memory, filled, empty;
};

/// The place of a tile of C, by its address: filled[g] when the group's is there, read[g] when the group has read it.
struct TileOfC {
  std::uint32_t memory, filled, read;
};

__device__ void fetch_operands(const Update& g, const CUtensorMap& A, const CUtensorMap& B, const Ring& ring,
                               TilesOfBlock tile, int rank) {
  const std::uint64_t policy = cache_policy(false);
  int stage = 0, parity = 1;
  for (; tile.there(); tile.next())
    for (int k = 0; k < g.depth_tiles; ++k) {
      const std::uint32_t to = ring.memory + stage * stage_bytes, filled = ring.filled + 8 * stage;
      barrier_wait(ring.empty + 8 * stage, parity);
      barrier_expect(filled, stage_bytes);
      static_assert(blocks_beside == 2);
#pragma unroll
      for (int b = 0; b < boxes / blocks_beside; ++b) {
        const int box = rank * (boxes / blocks_beside) + b;
        box_copy_to(3, to + box * box_bytes, A, tile.row * tile_rows + box * box_rows, k * tile_depth, filled);
      }
      box_copy(to + A_bytes, B, k * tile_depth, tile.col * tile_cols, filled, policy);
      if (++stage == stages) stage = 0, parity ^= 1;
    }
}

/// The tiles of both groups, in turn: each when the other group has read the one before.
__device__ void fetch_C(const CUtensorMap& C, bool streamed, const TileOfC& at, TilesOfBlock tile) {
  const std::uint64_t policy = cache_policy(streamed);
  for (int group = 0, parity = 0; tile.there(); tile.next()) {
    barrier_wait(at.read + 8 * (1 - group), group == 0 ? parity ^ 1 : parity);
    const std::uint32_t filled = at.filled + 8 * group;
    barrier_expect(filled, C_bytes);
#pragma unroll
    for (int box = 0; box < boxes; ++box)
      box_copy(at.memory + box * C_box_bytes, C, tile.row * tile_rows + box * box_rows, tile.col * tile_cols, filled,
               policy);
    if (group == 1) parity ^= 1;
    group = 1 - group;
  }
}

/// What a lane has of a warp's part of a tile: columns i and i + 4 of each eight, rows 2 o and 2 o + 1 of each box.
using Sums = double[warp_boxes][warp_eights][4];

__device__ double with_sign(double x, int sign) {
  return __hiloint2double(__double2hiint(x) ^ sign, __double2loint(x));
}

/// sum = alpha C, from shared memory
__device__ void load_C(Sums& sum, int sign, const unsigned char* from) {
  const int lane = threadIdx.x % warp_size, o = lane / 4, i = lane % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const unsigned char* const column = from + (i + 4 * half) * 128 + ((o ^ (i + 4 * half)) * 16);
#pragma unroll
    for (int j = 0; j < warp_eights; ++j)
#pragma unroll
      for (int b = 0; b < warp_boxes; ++b) {
        const double2 x = *reinterpret_cast<const double2*>(column + b * C_box_bytes + j * 8 * 128);
        sum[b][j][half] = with_sign(x.x, sign);
        sum[b][j][2 + half] = with_sign(x.y, sign);
      }
  }
}

/// C = alpha sum for the part of C whose first element is at (row, col)
__device__ void store_C(const Update& g, const Sums& sum, std::int64_t row, std::int64_t col) {
  const bool whole = row + warp_boxes * box_rows <= g.C.rows && col + 8 * warp_eights <= g.C.cols;
  const int lane = threadIdx.x % warp_size, o = lane / 4, i = lane % 4;
  row += 2 * o;
  col += i;
  double* const C = &g.C(row, col);
  const std::uint64_t policy = cache_policy(g.streamed);
  auto store_all = [&](auto there) {
#pragma unroll
    for (int j = 0; j < warp_eights; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int b = 0; b < warp_boxes; ++b) {
          double* const to = C + (8 * j + 4 * half) * g.C.ld + b * box_rows;
          const double x = with_sign(sum[b][j][half], g.sign), y = with_sign(sum[b][j][2 + half], g.sign);
          const int rows = there(b * box_rows, 8 * j + 4 * half);
          if (rows >= 2)
            store(reinterpret_cast<double2*>(to), make_double2(x, y), policy);
          else if (rows == 1)
            store(to, x, policy);
        }
  };
  if (whole)
    store_all([](int, int) { return 2; });
  else
    store_all([&](int below, int right) {
      return col + right < g.C.cols
                 ? static_cast<int>(max(min(g.C.rows - row - below, std::int64_t(2)), std::int64_t(0)))
                 : 0;
    });
}

__device__ void multiply(const Update& g, const Ring& ring, const unsigned char* memory, const TileOfC& at,
                         const unsigned char* memory_of_C, TilesOfBlock tile, int group) {
  const int warp = threadIdx.x % warp_group / warp_size, lane = threadIdx.x % warp_size, o = lane / 4, i = lane % 4;
  const int warp_row = warp % warps_high, warp_col = warp / warps_high;
  // this lane's pieces of a box for the first and the second of its two steps along the depth
  const unsigned char* A_at[2];
#pragma unroll
  for (int s = 0; s < 2; ++s)
    A_at[s] = memory + warp_row * warp_boxes * box_bytes + (2 * i + s) * 128 + ((o ^ (2 * i + s)) * 16);
  // and of its column among eight, for both steps, at depth 0 and 8
  const int column = o % 2 * 4 + o / 2;
  const unsigned char* B_at[2];
#pragma unroll
  for (int h = 0; h < 2; ++h)
    B_at[h] = memory + A_bytes + (warp_col * 8 * warp_eights + column) * 128 + (((4 * h + i) ^ column) * 16);

  double2 a[2][2], b[2][warp_eights];
  auto load_A = [&](int into, int stage, int half, int box) {
#pragma unroll
    for (int s = 0; s < 2; ++s)
      a[into][s] = *reinterpret_cast<const double2*>(A_at[s] + stage * stage_bytes + half * 8 * 128 + box * box_bytes);
  };
  auto load_B = [&](int into, int stage, int half) {
#pragma unroll
    for (int j = 0; j < warp_eights; ++j)
      b[into][j] = *reinterpret_cast<const double2*>(B_at[half] + stage * stage_bytes + j * 8 * 128);
  };

  int stage = 0, parity = 0, parity_of_C = 0;
  for (; tile.there(); tile.next(), parity_of_C ^= 1) {
    Sums sum;
    barrier_wait(at.filled + 8 * group, parity_of_C);
    load_C(sum, g.sign, memory_of_C + warp_row * warp_boxes * C_box_bytes + warp_col * 8 * warp_eights * 128);
    __syncwarp();
    if (lane == 0) barrier_arrive(at.read + 8 * group);
    barrier_wait(ring.filled + 8 * stage, parity);
    load_B(0, stage, 0);
    load_A(0, stage, 0, 0);
#pragma unroll 1
    for (int k = 0; k < g.depth_tiles; ++k) {
      const int here = stage;
      if (++stage == stages) stage = 0, parity ^= 1;
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int box = 0; box < warp_boxes; ++box) {
          // what is multiplied next
          if (box + 1 < warp_boxes) {
            load_A((box + 1) % 2, here, half, box + 1);
          } else if (half == 0) {
            load_B(1, here, 1);
            load_A(0, here, 1, 0);
          } else if (k + 1 < g.depth_tiles) {
            barrier_wait(ring.filled + 8 * stage, parity);
            load_B(0, stage, 0);
            load_A(0, stage, 0, 0);
          }
#pragma unroll
          for (int j = 0; j < warp_eights; ++j)
            multiply_16x8x8(sum[box][j], a[box % 2][0].x, a[box % 2][0].y, a[box % 2][1].x, a[box % 2][1].y,
                            b[half][j].x, b[half][j].y);
        }
      // the products are the whole warp's, so that all lanes have what they multiplied
      if (lane < blocks_beside) barrier_arrive_at(ring.empty + 8 * here, lane);
    }
    store_C(g, sum, tile.row * std::int64_t(tile_rows) + warp_row * warp_boxes * box_rows,
            tile.col * std::int64_t(tile_cols) + warp_col * 8 * warp_eights);
  }
}

/// Whether this block is where none should be.
__device__ bool is_avoided(const Update& g) {
  const int here = multiprocessor();
  bool avoided = false;
  for (int i = 0; i < lu_panel_places; ++i) avoided = avoided || __ldcg(g.places + i) == here;
  return avoided;
}
/// The cluster's number among those that multiply, or one that has no tiles. As many clusters as there are too many may
/// leave, so that all tiles are made wherever the clusters are.
__device__ int begin_cluster(const Update& g, bool avoided) {
  const auto too_many = static_cast<int>(gridDim.x) / blocks_beside - g.tiles.turn;
  if (avoided && atomicAdd(g.counts, 1) < too_many) return g.tiles.turn;
  return atomicAdd(g.counts + 1, 1);
}
/// The last one leaves the counts as they were.
__device__ void end_cluster(const Update& g) {
  if (atomicAdd(g.counts + 2, 1) != static_cast<int>(gridDim.x) / blocks_beside - 1) return;
  for (int i = 0; i < spared_counts; ++i) g.counts[i] = 0;
}

/// (Compiled for sm_90a only, where it has barriers: usable() looks for them.)
__global__ void __launch_bounds__(gemm_threads, 1)
    overlapped_kernel(const __grid_constant__ Update g, const __grid_constant__ CUtensorMap A,
                      const __grid_constant__ CUtensorMap B, const __grid_constant__ CUtensorMap C) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char memory[];
  constexpr int of_rings = groups * 2 * stages;
  __shared__ std::uint64_t barriers[of_rings + 2 * groups];
  __shared__ int avoided, number;
  const std::uint32_t start = shared_address(memory), ring_start = (start + alignment - 1) / alignment * alignment;
  const std::uint32_t first_barrier = shared_address(barriers);
  const TileOfC tile_of_C{ring_start + groups * ring_bytes, first_barrier + of_rings * 8,
                          first_barrier + (of_rings + groups) * 8};
  auto ring_of = [&](int group) {
    const std::uint32_t filled = first_barrier + group * 2 * stages * 8;
    return Ring{ring_start + group * ring_bytes, filled, filled + stages * 8};
  };
  constexpr int warps = warp_group / warp_size;
  if (threadIdx.x == 0) {
    for (int group = 0; group < groups; ++group) {
      for (int s = 0; s < stages; ++s) {
        barrier_init(ring_of(group).filled + 8 * s, 1);
        barrier_init(ring_of(group).empty + 8 * s, warps * blocks_beside);
      }
      barrier_init(tile_of_C.filled + 8 * group, 1);
      barrier_init(tile_of_C.read + 8 * group, warps);
    }
    barriers_ready();
    if (g.places != nullptr) avoided = is_avoided(g);
  }
  cluster_arrive();
  cluster_wait();
  const int rank = cluster_rank();
  int cluster = blockIdx.x / blocks_beside;
  if (g.places != nullptr) {
    if (rank == 0 && threadIdx.x == 0) {
      number = begin_cluster(g, avoided || remote_load(&avoided, 1));
      remote_store(&number, 1, number);
    }
    cluster_arrive();
    cluster_wait();
    cluster = number;
  }
  if (threadIdx.x < groups * warp_group) {
    take_registers<product_registers>();
    const int group = threadIdx.x / warp_group;
    const Ring ring = ring_of(group);
    multiply(g, ring, memory + (ring.memory - start), tile_of_C, memory + (tile_of_C.memory - start),
             TilesOfBlock(g.tiles, cluster, rank, group, groups), group);
  } else {
    leave_registers<copy_registers>();
    const int copier = threadIdx.x / warp_size - groups * warps;
    if (threadIdx.x % warp_size == 0) {
      if (copier < groups)
        fetch_operands(g, A, B, ring_of(copier), TilesOfBlock(g.tiles, cluster, rank, copier, groups), rank);
      else if (copier == groups)
        fetch_C(C, g.streamed, tile_of_C, TilesOfBlock(g.tiles, cluster, rank));
    }
    __syncwarp();
  }
  // the other block may still write here, or arrive at this block's barriers
  cluster_arrive();
  cluster_wait();
  if (g.places != nullptr && rank == 0 && threadIdx.x == 0) end_cluster(g);
#endif
}

// Multiplications of the pieces that a cluster makes before it leaves its multiprocessors to others, along the depth: some
// 40 us up to a depth of 256. Below two pieces for each group, the next tiles would not be copied beside products.
constexpr std::int64_t depth_at_once = 1024;

}  // namespace

bool gemm_overlapped_usable(int device) {
  static std::atomic<int> known[64] = {};  // 1: usable, 2: not
  const bool remembered = device >= 0 && device < 64;
  if (remembered && known[device] > 0) return known[device] == 1;
  DeviceScope scope(device);
  cudaFuncAttributes attributes{};
  int major = 0;
  const bool usable = cudaFuncGetAttributes(&attributes, overlapped_kernel) == cudaSuccess &&
                      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
                      major == 9 && attributes.sharedSizeBytes > 0;
  if (!usable) cudaGetLastError();
  if (remembered) known[device] = usable ? 1 : 2;
  return usable;
}

bool gemm_overlapped_possible(View<double> A, View<double> B, View<double> C, const Queue& q) {
  return has_tensor_map(A) && has_tensor_map(B) && has_tensor_map(C) && gemm_overlapped_usable(q.device());
}

void gemm_overlapped(int alpha, View<double> A, View<double> B, View<double> C, Queue& q, Spared spared) {
  if (C.empty() || A.empty()) return;
  DeviceScope scope(q.device());
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, q.device()), "gemm_overlapped");
  const int kept = std::min(spared.count, processors / 8);
  // if others have multiprocessors of their own, blocks stay to the end
  const auto at_once = kept > 0 ? 0 : static_cast<int>(std::max<std::int64_t>(2 * groups, depth_at_once / A.cols));
  const ProductTiles tiles = product_tiles("gemm_overlapped", ceil_div(C.rows, tile_rows), ceil_div(C.cols, tile_cols),
                                           blocks_beside, (processors - kept) / blocks_beside, at_once);
  const bool avoids = kept > 0 && spared.places != nullptr && tiles.clusters() == tiles.turn;
  const Update g{tiles,
                 block_of(C),
                 alpha < 0 ? INT32_MIN : 0,
                 static_cast<int>(ceil_div(A.cols, tile_depth)),
                 outgrows_cache(C.rows * C.cols * std::int64_t(sizeof(double)), q.device()),
                 avoids ? spared.places : nullptr,
                 spared.counts};
  const std::int64_t clusters = avoids ? processors / blocks_beside : tiles.clusters();
  const CUtensorMap map_A = tensor_map("gemm_overlapped", A, box_rows, tile_depth),
                    map_B = tensor_map("gemm_overlapped", B, tile_depth, tile_cols),
                    map_C = tensor_map("gemm_overlapped", C, box_rows, tile_cols);
  check(cudaFuncSetAttribute(overlapped_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, gemm_bytes),
        "gemm_overlapped");
  const ClusterLaunch launch(clusters * blocks_beside, blocks_beside, gemm_threads, gemm_bytes, stream_of(q));
  check(cudaLaunchKernelEx(&launch.config, overlapped_kernel, g, map_A, map_B, map_C), "gemm_overlapped");
  q.launched("gemm_overlapped");
}

}  // namespace devobj::cuda
