// window_panel: LU of a panel with pivots from a window of rows, in one block.
//
// A row is held by four neighbouring lanes, its column c by lane c % 4 of them, in registers: slot 0 is the column of the step
// or the one before the next. After four steps the slots move up by one, so that the same instructions serve all columns.
//
//   search     |a| of the step's column: the largest of each warp goes to shared memory       - barrier -
//   publish    all warps find the largest; the pivot's lanes store its row and its inverse      - barrier -
//   eliminate  l = a / pivot, the next column first, whose search comes at once, then the others
//
// L and U gather in shared memory, each row at its old place, and rows are exchanged on the way out.
#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/cuda/single_precision.cuh"
#include "kernels/randomized.hpp"

namespace devobj::cuda {
namespace {

constexpr int most_rows = static_cast<int>(window_rows), lanes_of_row = 4;
constexpr int threads = most_rows * lanes_of_row, warps = threads / warp_size;
constexpr int pitch = most_rows + 8;  // of a column, so that a row's four lanes meet four groups of banks

template <class E>
struct Memory {
  static constexpr int cols = is_device_complex<E> ? 64 : 128, slots = cols / lanes_of_row;
  static constexpr int pad = 16 / sizeof(E);
  E tile[cols][pitch];                     // L and U, by columns
  E pivot_row[lanes_of_row][slots + pad];  // from the step's column on
  E inverse;                               // of the pivot
  unsigned size[warps];                    // bits of the largest |a| of a warp's rows, plus 1; 0: there is none
  int row[warps];                          // where it is
  int left_over[warps];                    // rows that never were pivots
  int source[most_rows];
};

/// One thread of the elimination.
template <class E>
struct Worker {
  using Shared = Memory<E>;
  static constexpr int slots = Shared::slots;
  Shared& memory;
  int lane, warp, row, quarter;
  bool active;  // the row is not a pivot yet
  E a[slots];

  /// The largest of the warp's rows, column x being with lanes `owner`.
  __device__ void search(E x, int owner) {
    unsigned size = 0;
    if (active && quarter == owner) size = (__float_as_uint(magnitude(x)) & 0x7fffffffu) + 1;
    const unsigned largest = __reduce_max_sync(all_lanes, size);
    if (lane == __ffs(__ballot_sync(all_lanes, size == largest)) - 1) {
      memory.size[warp] = largest;
      memory.row[warp] = row;
    }
  }

  /// Step j, whose column is slot 0 of lanes `owner`; `width` slots are in use.
  template <int width, int owner>
  __device__ void step(int j, int cols, std::int64_t offset, std::int32_t* info) {
    __syncthreads();
    const unsigned size = memory.size[lane];
    const unsigned largest = __reduce_max_sync(all_lanes, size);
    const int pivot = memory.row[__ffs(__ballot_sync(all_lanes, size == largest)) - 1];
    if (row == pivot) {
      if (quarter == owner) {
        memory.inverse = inverse_of(a[0]);
        if (is_zero(a[0])) atomicCAS(info, 0, static_cast<int>(offset + j + 1));
        memory.source[j] = row;
      }
#pragma unroll
      for (int i = 0; i < width; ++i) memory.pivot_row[quarter][i] = a[i];
      active = false;
    }
    __syncthreads();

    E l{};
    if (active && quarter == owner) {
      l = product(a[0], memory.inverse);
      memory.tile[j][row] = l;
    }
    l = shuffle(l, lane - quarter + owner);
    const E* const u = memory.pivot_row[quarter];
    if constexpr (owner + 1 < lanes_of_row) {
      a[0] = minus_product(a[0], l, u[0]);
      search(a[0], owner + 1);
#pragma unroll
      for (int i = 1; i < width; ++i) a[i] = minus_product(a[i], l, u[i]);
    } else {
      a[0] = minus_product(a[1], l, u[1]);
      search(a[0], 0);
#pragma unroll
      for (int i = 1; i + 1 < width; ++i) a[i] = minus_product(a[i + 1], l, u[i + 1]);
    }
    // the row of U
    const int column = j - owner + static_cast<int>(threadIdx.x);
    if (threadIdx.x < width * lanes_of_row && column >= j && column < cols)
      memory.tile[column][pivot] = memory.pivot_row[threadIdx.x % lanes_of_row][threadIdx.x / lanes_of_row];
  }

  /// Steps j to j + 4 (width - narrower) - 1.
  template <int width, int narrower>
  __device__ void steps(int& j, int cols, std::int64_t offset, std::int32_t* info) {
    for (int round = narrower; round < width && j < cols; ++round) {
      step<width, 0>(j, cols, offset, info);
      if (++j < cols) step<width, 1>(j, cols, offset, info);
      if (++j < cols) step<width, 2>(j, cols, offset, info);
      if (++j < cols) step<width, 3>(j, cols, offset, info);
      ++j;
    }
  }
};

template <class E>
__global__ void __launch_bounds__(threads, 1)
    window_panel_kernel(Block<E> A, std::int64_t offset, std::int32_t* source, std::int32_t* info) {
  using Shared = Memory<E>;
  constexpr int slots = Shared::slots;
  extern __shared__ __align__(16) unsigned char raw_memory[];
  Shared& memory = *reinterpret_cast<Shared*>(raw_memory);
  const int thread = threadIdx.x, lane = thread % warp_size;
  const int rows = static_cast<int>(A.rows), cols = static_cast<int>(A.cols);

  for (int e = thread; e < Shared::cols * most_rows; e += threads) {
    const int i = e % most_rows, j = e / most_rows;
    memory.tile[j][i] = i < rows && j < cols ? A(i, j) : E{};
  }
  __syncthreads();
  Worker<E> me{memory, lane, thread / warp_size, thread / lanes_of_row, lane % lanes_of_row};
  me.active = me.row < rows;
#pragma unroll
  for (int i = 0; i < slots; ++i) me.a[i] = memory.tile[lanes_of_row * i + me.quarter][me.row];

  me.search(me.a[0], 0);
  int j = 0;
  me.template steps<slots, slots * 3 / 4>(j, cols, offset, info);
  me.template steps<slots * 3 / 4, slots / 2>(j, cols, offset, info);
  me.template steps<slots / 2, slots / 4>(j, cols, offset, info);
  me.template steps<slots / 4, 0>(j, cols, offset, info);

  // rows that never were pivots follow in their order
  const unsigned others = __ballot_sync(all_lanes, me.active && me.quarter == 0);
  if (lane == 0) memory.left_over[me.warp] = __popc(others);
  __syncthreads();
  if (me.active && me.quarter == 0) {
    int place = cols + __popc(others & ((1u << lane) - 1));
    for (int w = 0; w < me.warp; ++w) place += memory.left_over[w];
    memory.source[place] = me.row;
  }
  __syncthreads();
  for (int e = thread; e < cols * most_rows; e += threads) {
    const int i = e % most_rows, k = e / most_rows;
    if (i < rows) A(i, k) = memory.tile[k][memory.source[i]];
  }
  if (thread < rows) source[thread] = memory.source[thread];
}

}  // namespace

bool window_lu_possible(const Queue& q) {
  return shared_memory_limit(q.device()) >= window_lu_memory;
}

template <class S>
void window_panel(View<S> A, std::int64_t offset, std::int32_t* source, std::int32_t* info, Queue& q) {
  if (A.empty()) return;
  using E = device_t<S>;
  require(A.rows <= window_rows && A.cols <= window_panel_cols<S> && A.cols <= A.rows, "window_panel: A is ", A.rows,
          " x ", A.cols, ", at most ", window_rows, " x ", window_panel_cols<S>, ", not wider than tall");
  DeviceScope scope(q.device());
  constexpr std::size_t bytes = sizeof(Memory<E>);
  static_assert(bytes <= window_lu_memory);
  const auto kernel = window_panel_kernel<E>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "window_panel");
  kernel<<<1, threads, bytes, stream_of(q)>>>(block_of(A), offset, source, info);
  q.launched("window_panel");
}

#define INSTANTIATE(S) template void window_panel<S>(View<S>, std::int64_t, std::int32_t*, std::int32_t*, Queue&);
DEVOBJ_FOR_EACH_SINGLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
