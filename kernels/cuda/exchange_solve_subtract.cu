// exchange_solve_subtract: all that a factored panel does to a few columns, in one kernel; exchange_solve_slices: without the product.
//
//     L (m x w)     A (m x n)      The blocks of a cluster have the same few columns of A (a slice) and part of the rows below
//   +-----------+  +-+-+-+-+     each. Every one of them
//   |    L11    |  | | |U| |       gathers the rows that come to the top, and those of the old top that go to its own rows,
//   +-----------+  +-+-+-+-+       solves U = L11^-1 (top) for itself,
//   |   part 0  |  | | | | |       subtracts L U from its own rows.
//   +-----------+  +-+-+-+-+
//   |   part 1  |  | | | | |     The cluster's barrier is between what is gathered and what is written. Nothing else is exchanged.
//   +-----------+  +-+-+-+-+
#include <algorithm>
#include <type_traits>

#include "kernels/cuda/asked_once.hpp"
#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/exchange_solve_slices.hpp"
#include "kernels/cuda/exchange_solve_subtract.cuh"
#include "kernels/cuda/overlapped_launch.cuh"

namespace devobj::cuda {
namespace {

using namespace exchange_solve_subtract_block;

/// Instead of a product.
struct NoProduct {
  using Memory = char;
  __device__ explicit NoProduct(Memory&) {}
};

/// Of a block that `subtracts`, or of one that does without the product, and has all rows below L11.
template <class E, int w, bool subtracts>
struct Slice {
  using Product = std::conditional_t<subtracts, exchange_solve_subtract_block::Product<E, w>, NoProduct>;
  struct Memory {
    alignas(16) Row<E, w> L[w], X[columns], top[columns];
    typename Product::Memory product;
  };
};

/// Begins to fetch what L11 has below its diagonal.
template <class E, int w>
__device__ void fetch(Row<E, w>* L, const Block<E>& stored) {
  // a warp has eight rows of every fourth column, or more
  constexpr int groups = w / 8, step = 4 * warps / groups;
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const int row = warp % groups * 8 + lane % 8, first = warp / groups * 4 + lane / 8;
  const E* from = &stored(row, first);
#pragma unroll
  for (int k = 0; k < w; k += step, from += step * stored.ld)
    if (first + k < row) copy_async(&L[row][first + k], from);
}

/// By all threads.
__device__ void wait_for(Progress progress) {
  if (progress.steps == nullptr) return;
  if (threadIdx.x == 0) {
    std::int32_t done = 0;
    do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(done) : "l"(progress.steps) : "memory");
    while (done < progress.step);
  }
  __syncthreads();
}
__global__ void reach_kernel(Progress progress) {
  __threadfence();
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(progress.steps), "r"(progress.step) : "memory");
}

template <class E, int w, bool subtracts>
__global__ void __launch_bounds__(threads) exchange_solve_subtract_kernel(Block<E> L, Block<E> A, RowExchange exchange,
                                                                          Progress updated, int parts, int part_rows) {
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& memory = *reinterpret_cast<typename Slice<E, w, subtracts>::Memory*>(bytes);
  const int id = threadIdx.x, warp = id / warp_size, part = static_cast<int>(blockIdx.x) % parts;
  const std::int64_t first_column = blockIdx.x / parts * std::int64_t(columns);
  const int cols = static_cast<int>(min(A.cols - first_column, std::int64_t(columns)));
  const int first_row = w + part * part_rows;
  const int rows = max(min(static_cast<int>(A.rows) - first_row, part_rows), 0);
  A.data += first_column * A.ld;

  typename Slice<E, w, subtracts>::Product product(memory.product);
  if constexpr (subtracts) wait_for(updated);
  wait_for_previous();
  if constexpr (!subtracts) let_next_start();  // which multiplies by L21: complete now

  // A thread has a row of some columns.
  const int t = id % w;
  const bool exchanges = subtracts || exchange.rows > 0;
  const std::int32_t from = exchanges ? exchange.source[t] : t;
  std::int32_t to = exchanges ? exchange.displaced_to[t] : -1;
  fetch<E, w>(memory.L, L);
  __pipeline_commit();
  if (from == t || to < first_row || to >= first_row + rows) to = -1;
  const auto own = [&](auto act) {
#pragma unroll
    for (int c = 0; c < columns; c += threads / w) act(c + id / w);
  };
  own([&](int c) {
    if (c < cols)
      copy_async(&memory.X[c][t], &A(from, c));
    else
      memory.X[c][t] = E{};
    if (to >= 0 && c < cols) copy_async(&memory.top[c][t], &A(t, c));
  });
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  if (warp < inverting_warps<E, w>) invert_tiles<E, w>(memory.L, warp);
  __pipeline_wait_prior(0);
  cluster_arrive_relaxed();
  const E* L21 = &L(first_row, 0);
  if constexpr (subtracts) product.load(L21, L.ld, rows);
  cluster_wait();
  own([&](int c) {
    if (to >= 0 && c < cols) A(to, c) = memory.top[c][t];
  });
  __syncthreads();
  constexpr bool C_beside_solve = subtracts && !by_tensor_cores<E>;  // which it delays in double precision
  if constexpr (C_beside_solve)
    if (rows > 0) product.load_C({&A(first_row, 0), rows, cols, A.ld}, rows, cols);
  solve<E, w>(memory.L, memory.X);
  if constexpr (subtracts)
    for (int row = 0, pass = 0; row < rows; row += product.pass_rows, ++pass) {
      const int left = rows - row;
      const Block<E> C{&A(first_row + row, 0), left, cols, A.ld};
      if (pass > 0) {
        __syncthreads();  // all are done with the product's memory
        product.load(L21 + row, L.ld, left);
      }
      if (!C_beside_solve || pass > 0) product.load_C(C, left, cols);
      product.arrived(pass);
      __syncthreads();
      product.multiply(memory.X, C, left, cols);
    }
  own([&](int c) {  // each block stores some columns
    if (c < cols && c * parts / columns == part) A(t, c) = memory.X[c][t];
  });
}

/// The blocks of a cluster: as many as that the clusters of w columns are on the GPU at once (of an H100: 15 of 8 blocks, 17 of 6).
template <int w>
constexpr int most_parts = w == 64 ? 8 : 6;
/// Rows of a block, if there are not more than most_parts of them.
template <class E>
constexpr std::int64_t rows_of_part = std::is_same_v<E, float> ? 128 : 64;
/// Rows up to which that is faster than exchange_solve and a product, in the LU, whose products of the rest leave it more
/// multiprocessors in single precision.
template <class E>
constexpr std::int64_t most_rows = std::is_same_v<E, float> ? 6000 : 4000;

/// Whether there are such clusters on the current device, which is asked once.
template <class E, int w>
bool possible(int device) {
  static AskedOnce<int> largest;  // a power of two
  return most_parts<w> <= largest.of(device, [](bool&) {
    return largest_cluster(exchange_solve_subtract_kernel<E, w, true>, threads,
                           sizeof(typename Slice<E, w, true>::Memory));
  });
}

template <class E, int w>
bool launch(Block<E> L, Block<E> A, RowExchange exchange, Progress updated, Queue& q) {
  constexpr auto kernel = exchange_solve_subtract_kernel<E, w, true>;
  if (!possible<E, w>(q.device())) return false;
  const std::int64_t rows = L.rows - w,
                     parts = std::clamp<std::int64_t>(ceil_div(rows, rows_of_part<E>), 1, most_parts<w>);
  const auto part_rows = static_cast<int>(ceil_div(rows, 4 * parts) * 4);  // aligned, if L is
  allow_shared_memory(kernel, q.device(), "exchange_solve_subtract");
  const ClusterLaunch launch(ceil_div(A.cols, columns) * parts, static_cast<int>(parts), threads,
                             sizeof(typename Slice<E, w, true>::Memory), stream_of(q), true);
  check(cudaLaunchKernelEx(&launch.config, kernel, L, A, exchange, updated, static_cast<int>(parts), part_rows),
        "exchange_solve_subtract");
  q.launched("exchange_solve_subtract");
  return true;
}

}  // namespace

bool exchange_solve_slices(Block<float> L, Block<float> A, RowExchange exchange, Queue& q) {
  constexpr int w = 128;
  constexpr auto kernel = exchange_solve_subtract_kernel<float, w, false>;
  if (L.rows != w || (exchange.rows != 0 && exchange.rows != w) || A.rows > INT32_MAX ||
      !possible<float, w>(q.device()))
    return false;
  allow_shared_memory(kernel, q.device(), "exchange_solve");
  const ClusterLaunch launch(ceil_div(A.cols, columns), 1, threads, sizeof(Slice<float, w, false>::Memory),
                             stream_of(q));
  check(cudaLaunchKernelEx(&launch.config, kernel, L, A, exchange, Progress{}, 1, static_cast<int>(A.rows)),
        "exchange_solve");
  return true;
}

void reach(Progress progress, Queue& q) {
  DeviceScope scope(q.device());
  reach_kernel<<<1, 1, 0, stream_of(q)>>>(progress);
  q.launched("reach");
}

template <class T>
bool exchange_solve_subtract_may_wait(const Queue& q) {
  // of 64 or 128 columns, or fewer
  constexpr int most_blocks = std::max(64 * most_parts<64>, 128 * most_parts<128>) / columns;
  DeviceScope scope(q.device());
  if (!possible<device_t<T>, 64>(q.device())) return false;
  int processors = 0, shared_by_processes = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, q.device()), "exchange_solve_subtract");
  constexpr auto mps_enabled = static_cast<cudaDeviceAttr>(133);  // which older toolkits do not name
  if (cudaDeviceGetAttribute(&shared_by_processes, mps_enabled, q.device()) != cudaSuccess) {
    cudaGetLastError();  // an older driver cannot tell
    return false;
  }
  return processors >= most_blocks + most_blocks / 4 && shared_by_processes == 0;
}

template <class T>
bool exchange_solve_subtract(View<T> L, View<T> A, RowExchange exchange, Progress updated, Queue& q) {
  using E = device_t<T>;
  if (A.empty()) return true;
  if (A.rows > most_rows<E> || A.cols > L.cols) return false;
  DeviceScope scope(q.device());
  if (L.cols == 64) return launch<E, 64>(block_of(L), block_of(A), exchange, updated, q);
  if constexpr (std::is_same_v<E, float>)  // for others it is not faster
    if (L.cols == 128) return launch<E, 128>(block_of(L), block_of(A), exchange, updated, q);
  return false;
}

#define INSTANTIATE(T)                                                                    \
  template bool exchange_solve_subtract(View<T>, View<T>, RowExchange, Progress, Queue&); \
  template bool exchange_solve_subtract_may_wait<T>(const Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
