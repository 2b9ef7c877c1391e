// window_upper: what a block of panels does to columns right of it: the exchange of rows and A12 = L11^-1 A12, in single precision.
//
//   L11 (a stream)      A             A block of threads has 64 columns of A in shared memory. Stripe by stripe of 32 rows,
//   +--+               +---------+
//   |D0|               | stripe 0|      b = stripe - (tiles T to the left) (solved stripes)
//   +--+--+            | stripe 1|      stripe = D^-1 b
//   |T |D1|            |   ...   |
//   +--+--+            +---------+    Two warps have 16 columns, each of them 16 rows of a stripe. Products are three of TF32 numbers on the
//                      | rows of |    tensor cores; their sums of up to 64 are added up in single precision.
//                      | windows |
//                      | below   |    L11 is a stream of its tiles of 32 x 32 in the order in which they are needed, diagonal ones as inverses.
//                      +---------+    A tile has its numbers as the lanes load them for products of 16 x 8 by 8 x 8. A ninth warp has the
//                                     tiles copied into a ring.
#include "kernels/cuda/copy_async.cuh"
#include "kernels/cuda/pipeline.cuh"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/cuda/tensor_single.cuh"
#include "kernels/cuda/triangle_tile.cuh"
#include "kernels/randomized.hpp"

namespace devobj::cuda {
namespace {

constexpr int tile = warp_size, eight = 8, halves = 2, half_rows = tile / halves;
constexpr int most_panels = static_cast<int>(window_most_panels),
              panel_cols = static_cast<int>(window_panel_cols<float>);
constexpr int most_order = most_panels * panel_cols, most_below = static_cast<int>(window_rows) - panel_cols;
constexpr int most_rows = most_order + most_below;

constexpr int tile_numbers = tile * tile;
constexpr int tile_bytes = tile_numbers * static_cast<int>(sizeof(float));

__host__ __device__ constexpr int tiles_before(int stripe) {
  return stripe * (stripe + 1) / 2;
}

/// A block's L11 and exchanges, for all columns.
struct Stream {
  const float* tiles;
  const std::int32_t* origin;  // row i becomes the old row origin[i]
};
constexpr std::size_t origin_at = tiles_before(most_order / tile) * std::size_t(tile_bytes);  // bytes of tiles
Stream stream_in(const void* memory) {
  return {static_cast<const float*>(memory),
          reinterpret_cast<const std::int32_t*>(static_cast<const unsigned char*>(memory) + origin_at)};
}

/// A number as two TF32 numbers: its first eleven bits, and the next ones, rounded. The tensor cores pass over all others.
struct Parts {
  std::uint32_t large, small;
  __device__ explicit Parts(std::uint32_t number) : large(number) {
    constexpr std::uint32_t first_bits = 0xffffe000, half = 0x1000;
    small = __float_as_uint(__uint_as_float(number) - __uint_as_float(number & first_bits)) + half;
  }
};

// ---- the stream ----

constexpr int stream_threads = 128, stream_warps = stream_threads / warp_size;

/// Where a tile has a number: four for each lane, of eight columns and half of the rows.
__device__ int place(int row, int col) {
  return ((col / eight * halves + row / half_rows) * warp_size + row % eight * 4 + col % 4) * 4 + col % eight / 4 * 2 +
         row % half_rows / eight;
}

/// A block with a tile, stripe after stripe; the last block has the exchanges.
__global__ void __launch_bounds__(stream_threads)
    window_stream_kernel(const std::int32_t* source, int panels, int step, int rows, Block<float> L, float* tiles,
                         std::int32_t* origin) {
  __shared__ TriangleTile<float> D;
  const int stripes = static_cast<int>(L.cols) / tile, n = static_cast<int>(blockIdx.x), lane = threadIdx.x % warp_size,
            warp = threadIdx.x / warp_size;
  if (n == tiles_before(stripes)) {
    for (int i = threadIdx.x; i < rows; i += stream_threads) {
      int from = i;
      for (int p = panels - 1; p >= 0; --p) {
        const int within = from - p * step;
        if (within >= 0 && within < static_cast<int>(window_rows)) from = p * step + source[p * window_rows + within];
      }
      origin[i] = from;
    }
    return;
  }
  int s = 0;
  while (tiles_before(s + 1) <= n) ++s;
  const int q = n - tiles_before(s);
  tiles += n * tile_numbers;
#pragma unroll
  for (int u = 0; u < tile / stream_warps; ++u) {
    const int col = warp + u * stream_warps;
    const float x = L(s * tile + lane, q * tile + col);
    if (q < s)
      tiles[place(lane, col)] = x;
    else
      D.a[col][lane] = x;
  }
  if (q < s) return;
  __syncthreads();
  if (warp > 0) return;
  float x[tile];  // a column of the inverse
  D.inverse_column<true>(nullptr, lane, x);
#pragma unroll
  for (int r = 0; r < tile; ++r) tiles[place(r, lane)] = x[r];
}

// ---- the solve ----

constexpr int columns = 64, group_columns = 16, eights = group_columns / eight, groups = columns / group_columns;
constexpr int solving = groups * halves, solving_threads = solving * warp_size;  // warps
constexpr int threads = solving_threads + warp_size;
constexpr int stages = 10;
// Columns begin in banks that differ by four, so that eight of them lie in all banks with four numbers each.
using Column = float[most_order + 4];
static_assert(sizeof(Column) / sizeof(float) % 32 == 4);

struct Memory {
  alignas(16) float ring[stages][tile_numbers];
  alignas(16) Column X[columns];
  std::uint64_t filled[stages], empty[stages];
};

/// By the threads that solve; by the two warps of a group.
[[maybe_unused]] __device__ void meet_all() {
  asm volatile("bar.sync 1, %0;" ::"n"(solving_threads) : "memory");
}
[[maybe_unused]] __device__ void meet_in_group(int group) {
  asm volatile("bar.sync %0, %1;" ::"r"(2 + group), "n"(halves * warp_size) : "memory");
}

/// The tiles, by a warp that solves.
class Tiles {
 public:
  __device__ explicit Tiles(Memory& memory) : memory_(memory) {}
  /// The next ones. Those before are given up: by each lane, whose loads from them are over, as an arrival would not wait for these.
  template <int count>
  __device__ void take(const float* (&tiles)[count]) {
    std::uint32_t before[2];
    const int given_up = held_;
    for (int i = 0; i < 2; ++i) before[i] = empty_[i];
#pragma unroll
    for (int i = 0; i < count; ++i) {
      barrier_wait(shared_address(&memory_.filled[stage_]), parity_);
      tiles[i] = memory_.ring[stage_];
      empty_[i] = shared_address(&memory_.empty[stage_]);
      if (++stage_ == stages) stage_ = 0, parity_ ^= 1;
    }
    held_ = count;
    for (int i = 0; i < 2; ++i)
      if (i < given_up) barrier_arrive(before[i]);
  }

 private:
  Memory& memory_;
  std::uint32_t empty_[2] = {};
  int stage_ = 0, parity_ = 0, held_ = 0;
};

/// Sixteen rows of eight columns: of column o elements i, i + 4, i + 8, i + 12 for lane 4 o + i.
[[maybe_unused]] __device__ __forceinline__ void load_eight_columns(const Column* columns, int row,
                                                                    std::uint32_t (&x)[4]) {
  const int lane = threadIdx.x % warp_size;
  const std::uint32_t at = shared_address(&columns[lane % eight][row + lane / eight * 4]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(at)
               : "memory");
}

/// A warp's numbers of a stripe: half of its rows, 16 columns.
using Sums = float[eights][4];

/// sum += a half of `count` tiles times rows k0 ... of the group's columns.
template <int count>
__device__ __forceinline__ void add(const float* const (&tiles)[count], int half, const Column* of_group, int k0,
                                    Sums& sum) {
  constexpr int at_once = 2;  // eights of the depth
  float large[at_once][eights][4] = {}, small[at_once][eights][4] = {};
#pragma unroll
  for (int t = 0; t < count; ++t)
#pragma unroll
    for (int k = 0; k < tile; k += at_once * eight) {
      uint4 a[at_once], a_small[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        a[u] = reinterpret_cast<const uint4*>(
            tiles[t])[((k / eight + u) * halves + half) * warp_size + threadIdx.x % warp_size];
        a_small[u] = {Parts(a[u].x).small, Parts(a[u].y).small, Parts(a[u].z).small, Parts(a[u].w).small};
      }
      std::uint32_t b[eights][2 * at_once], b_small[eights][2 * at_once];
#pragma unroll
      for (int j = 0; j < eights; ++j) {
        load_eight_columns(of_group + j * eight, k0 + t * tile + k, b[j]);
#pragma unroll
        for (int i = 0; i < 2 * at_once; ++i) b_small[j][i] = Parts(b[j][i]).small;
      }
      const auto multiply = [&](float(&c)[at_once][eights][4], const uint4(&x)[at_once],
                                const std::uint32_t(&y)[eights][2 * at_once]) {
#pragma unroll
        for (int u = 0; u < at_once; ++u)
#pragma unroll
          for (int j = 0; j < eights; ++j)
            multiply_16x8x8(c[u][j], x[u].x, x[u].y, x[u].z, x[u].w, y[j][2 * u], y[j][2 * u + 1]);
      };
      multiply(small, a_small, b);
      multiply(large, a, b);
      multiply(small, a, b_small);
    }
#pragma unroll
  for (int j = 0; j < eights; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) sum[j][e] += (large[0][j][e] + large[1][j][e]) + (small[0][j][e] + small[1][j][e]);
}

/// The ninth warp's work, by one thread.
[[maybe_unused]] __device__ void bring_tiles(Memory& memory, const float* tiles, int count) {
  int stage = 0, parity = 1;
  for (int n = 0; n < count; ++n) {
    const std::uint32_t filled = shared_address(&memory.filled[stage]);
    barrier_wait(shared_address(&memory.empty[stage]), parity);
    barrier_expect(filled, tile_bytes);
    bulk_copy(shared_address(memory.ring[stage]), tiles + n * tile_numbers, tile_bytes, filled);
    if (++stage == stages) stage = 0, parity ^= 1;
  }
}

__global__ void __launch_bounds__(threads, 1) window_upper_kernel(Stream from, int order, Block<float> A) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& memory = *reinterpret_cast<Memory*>(bytes);
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size, stripes = order / tile;
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      barrier_init(shared_address(&memory.filled[i]), 1);
      barrier_init(shared_address(&memory.empty[i]), solving_threads);
    }
    barriers_ready();
  }
  __syncthreads();
  if (warp == solving) {
    if (lane == 0) bring_tiles(memory, from.tiles, tiles_before(stripes));
    return;
  }

  // the exchanges: the rows that are solved to shared memory, those below by way of registers
  const int rows = static_cast<int>(A.rows);
  const std::int64_t first = blockIdx.x * std::int64_t(columns);
  const int count = static_cast<int>(min(A.cols - first, std::int64_t(columns)));
  for (int r = lane; r < order; r += warp_size) {
    const int old = from.origin[r];
#pragma unroll
    for (int c = warp; c < columns; c += solving)
      if (c < count)
        copy_async(&memory.X[c][r], &A(old, first + c));
      else
        memory.X[c][r] = 0;
  }
  __pipeline_commit();
  float below[most_below / warp_size][columns / solving];
#pragma unroll
  for (int i = 0; i < most_below / warp_size; ++i) {
    const int r = order + i * warp_size + lane, old = r < rows ? from.origin[r] : 0;
#pragma unroll
    for (int j = 0; j < columns / solving; ++j)
      if (const int c = warp + j * solving; r < rows && c < count) below[i][j] = A(old, first + c);
  }
  __pipeline_wait_prior(0);
  meet_all();
#pragma unroll
  for (int i = 0; i < most_below / warp_size; ++i) {
    const int r = order + i * warp_size + lane;
#pragma unroll
    for (int j = 0; j < columns / solving; ++j)
      if (const int c = warp + j * solving; r < rows && c < count) A(r, first + c) = below[i][j];
  }

  const int half = warp % halves, group = warp / halves;
  Column* const own = memory.X + group * group_columns;
  Tiles tiles(memory);
  const float *two[2], *one[1];
  for (int s = 0; s < stripes; ++s) {
    const int k0 = s * tile;
    // act(x, j, e): of the lane's numbers of the stripe
    const auto each = [&](auto act) {
#pragma unroll
      for (int j = 0; j < eights; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          act(own[j * eight + lane % 4 * 2 + e % 2][k0 + half * half_rows + lane / 4 + e / 2 * eight], j, e);
    };
    Sums left = {}, solution = {};
    int q = 0;
    for (; q + 1 < s; q += 2) {
      tiles.take(two);
      add(two, half, own, q * tile, left);
    }
    if (q < s) {
      tiles.take(one);
      add(one, half, own, q * tile, left);
    }
    each([&](float& x, int j, int e) { x -= left[j][e]; });
    meet_in_group(group);
    tiles.take(one);
    add(one, half, own, k0, solution);
    meet_in_group(group);
    each([&](float& x, int j, int e) { x = solution[j][e]; });
    meet_in_group(group);
    for (int c = half; c < group_columns; c += halves)
      if (group * group_columns + c < count) A(k0 + lane, first + group * group_columns + c) = own[c][k0 + lane];
  }
#endif
}

}  // namespace

std::size_t window_stream_bytes() {
  return origin_at + most_rows * sizeof(std::int32_t);
}

void window_stream(const std::int32_t* source, std::int64_t panels, std::int64_t step, std::int64_t rows, View<float> L,
                   void* stream, Queue& q) {
  require(panels <= most_panels && L.rows == L.cols && L.cols % tile == 0 && L.cols <= most_order && rows >= L.cols &&
              rows <= L.cols + most_below,
          "window_stream: ", panels, " panels, ", rows, " rows, L is ", L.rows, " x ", L.cols);
  DeviceScope scope(q.device());
  auto* const memory = static_cast<unsigned char*>(stream);
  window_stream_kernel<<<static_cast<unsigned>(tiles_before(static_cast<int>(L.cols) / tile) + 1), stream_threads, 0,
                         stream_of(q)>>>(source, static_cast<int>(panels), static_cast<int>(step),
                                         static_cast<int>(rows), block_of(L), reinterpret_cast<float*>(memory),
                                         reinterpret_cast<std::int32_t*>(memory + origin_at));
  q.launched("window_stream");
}

bool window_upper_possible(const Queue& q) {
  return window_lu_possible(q) && shared_memory_limit(q.device()) >= sizeof(Memory);
}

void window_upper(const void* stream, std::int64_t order, View<float> A, Queue& q) {
  if (A.empty()) return;
  require(order % tile == 0 && order <= most_order && A.rows >= order && A.rows <= order + most_below,
          "window_upper: A is ", A.rows, " x ", A.cols, ", L of order ", order);
  DeviceScope scope(q.device());
  allow_shared_memory(window_upper_kernel, q.device(), "window_upper");
  window_upper_kernel<<<static_cast<unsigned>(ceil_div(A.cols, columns)), threads, sizeof(Memory), stream_of(q)>>>(
      stream_in(stream), static_cast<int>(order), block_of(A));
  q.launched("window_upper");
}

}  // namespace devobj::cuda
