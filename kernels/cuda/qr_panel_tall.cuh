// qr_panel_tall: Householder QR of a panel of up to 64 columns (complex<double>: 32) and any number of rows, by
// products.
//
// Cholesky-QR, twice, and the Householder vectors from the orthogonal factor (Ballard, Demmel, Grigori, Jacquelin,
// Nguyen, Solomonik: Reconstructing Householder vectors from tall-skinny QR, 2014):
//
//   G = A^H A = R1^H R1,  Q1 = A R1^-1                           product, start_kernel, product
//   Q1^H Q1 = R2^H R2, R2 = I + small,  Q = Q1 R2^-1             product, finish_kernel ...
//   I - Q_top S = L U (no pivots: |U(j, j)| >= 1),  S(j, j) = -sign of L^-1 Q_top's diagonal: LAPACK's signs
//   V = (L, -Q_bottom S U^-1),  T = U L^-H,  tau = diag(T),  R = S R2 R1
//   A, V = Q1 B below the square on top, B = -R2^-1 S U^-1      apply_kernel
//
// start_kernel admits only panels that are well-conditioned up to the scaling of their columns: with D = diag(G)^(1/2),
// ||D R1^-1||_F / sqrt(w) below a small limit. finish_kernel asks that R2 is the unit matrix nearly enough. Otherwise
// (also for NaN, zero columns, and squares out of range) the flag stays 0, nothing is written to A, and the last
// kernel, which is otherwise over at once, factors the panel column by column in device memory with all
// multiprocessors.
#pragma once

#include "kernels/cuda/qr_panel_tall_columns.cuh"
#include "kernels/cuda/qr_panel_tall_gram.cuh"
#include "kernels/cuda/qr_panel_tall_square.cuh"

namespace devobj::cuda {
namespace qr_panel {
namespace tall {

constexpr int apply_threads = 128;
constexpr int apply_rows = 128;  // of a tile

template <class E, int W>
struct ApplyMemory {
  E X[W][apply_rows];
  alignas(16) E B[W][W];  // [l][j] = B(l, j)
};

// A = V = V B below the first w rows, in tiles of rows: 16 x 8 threads, of 8 rows and W / 8 columns each.
template <class E, int W>
__global__ void __launch_bounds__(apply_threads) apply_kernel(Panel<E> panel, const Work<E>* work) {
  constexpr int row_threads = 16, each_rows = apply_rows / row_threads, each_columns = W * row_threads / apply_threads;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto& memory = *reinterpret_cast<ApplyMemory<E, W>*>(shared_bytes);
  if (work->good == 0) return;
  const int t = threadIdx.x, w = static_cast<int>(panel.A.cols);
  const int row = t % row_threads, column = t / row_threads * each_columns;
  for (int e = t; e < W * W; e += apply_threads) memory.B[e % W][e / W] = work->B[e / W][e % W];
  const std::int64_t tiles = (panel.A.rows - w + apply_rows - 1) / apply_rows;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::int64_t i0 = w + tile * apply_rows;
    const std::int64_t i_load = i0 + t;
    static_assert(apply_rows == apply_threads);
#pragma unroll 16
    for (int l = 0; l < W; ++l) memory.X[l][t] = i_load < panel.A.rows && l < w ? panel.V(i_load, l) : E{};
    __syncthreads();
    E y[each_rows][each_columns] = {};
#pragma unroll 2
    for (int l = 0; l < W; ++l) {
      E x[each_rows], b[each_columns];
#pragma unroll
      for (int u = 0; u < each_rows; ++u) x[u] = memory.X[l][row + row_threads * u];
#pragma unroll
      for (int v = 0; v < each_columns; ++v) b[v] = memory.B[l][column + v];
#pragma unroll
      for (int u = 0; u < each_rows; ++u) {
#pragma unroll
        for (int v = 0; v < each_columns; ++v) y[u][v] = sum(y[u][v], product(x[u], b[v]));
      }
    }
#pragma unroll
    for (int v = 0; v < each_columns; ++v) {
#pragma unroll
      for (int u = 0; u < each_rows; ++u) {
        const std::int64_t i = i0 + row + row_threads * u;
        if (i < panel.A.rows && column + v < w) panel.A(i, column + v) = panel.V(i, column + v) = y[u][v];
      }
    }
    __syncthreads();
  }
  for (std::int64_t e = std::int64_t(blockIdx.x) * apply_threads + t; e < panel.above * w;
       e += std::int64_t(gridDim.x) * apply_threads)
    panel.V(e % panel.above - panel.above, e / panel.above) = E{};
}

/// The kernels by products with their shared memory, for panels of up to W columns.
template <class E, int W>
struct Products {
  /// False if the GPU has less shared memory.
  static bool possible() {
    const bool fits =
        allow(finish_kernel<E, W>, sizeof(FinishMemory<E, W>)) && allow(apply_kernel<E, W>, sizeof(ApplyMemory<E, W>));
    if (!fits) cudaGetLastError();
    return fits;
  }
  /// gram = A^H A; `parts` has room for gram_bytes.
  static void gram(Block<E> A, E* parts, Work<E>* work, int processors, cudaStream_t stream) {
    const int w = static_cast<int>(A.cols);
    const auto blocks = static_cast<int>(std::min<std::int64_t>(ceil_div(A.rows, gram_rows), processors));
    gram_kernel<E, W><<<blocks, square_threads, 0, stream>>>(A, w, parts);
    gram_sum_kernel<E, W><<<W * W / warp_size, square_threads, 0, stream>>>(parts, blocks, work);
  }
  static void start(Work<E>* work, int w, cudaStream_t stream) {
    start_kernel<E, W><<<1, square_threads, 0, stream>>>(work, w);
  }
  static void finish(const Panel<E>& panel, Work<E>* work, cudaStream_t stream) {
    finish_kernel<E, W><<<1, square_threads, sizeof(FinishMemory<E, W>), stream>>>(panel, work);
  }
  static void apply(const Panel<E>& panel, const Work<E>* work, int processors, cudaStream_t stream) {
    // as many blocks as there is shared memory for, and registers
    constexpr std::int64_t together = std::min<std::int64_t>(4, 200 * 1024 / sizeof(ApplyMemory<E, W>));
    const std::int64_t tiles = ceil_div(panel.A.rows, apply_rows);
    const auto blocks = static_cast<unsigned>(std::min(tiles, together * processors));
    apply_kernel<E, W><<<blocks, apply_threads, sizeof(ApplyMemory<E, W>), stream>>>(panel, work);
  }

 private:
  template <class Kernel>
  static bool allow(Kernel kernel, std::size_t bytes) {
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)) ==
           cudaSuccess;
  }
};

}  // namespace tall
}  // namespace qr_panel

template <class T>
void qr_panel_tall(View<T> A, View<T> tau, View<T> V, View<T> Tri, Queue& q, bool by_columns) {
  using namespace qr_panel;
  using E = device_t<T>;
  constexpr int W = tall::width<E>;
  if (A.empty()) return;
  require(A.cols <= W && A.cols <= A.rows, "qr_panel_tall: the panel is ", A.rows, " x ", A.cols);
  DeviceScope scope(q.device());
  const std::int64_t m = A.rows, w = A.cols;
  const cudaStream_t stream = stream_of(q);
  const int processors = multiprocessors(q.device());
  // scratch: a line for the counter, the sums of the blocks and a row; the kernels' common work; parts of products
  constexpr std::size_t line = 256, half = std::size_t(1) << 19;
  static_assert(sizeof(tall::Work<E>) <= half);
  require(!tall::has_gram<E> || 2 * half + std::size_t(processors) * W * W * sizeof(E) <= qr_panel_scratch_bytes,
          "qr_panel_tall: ", processors, " multiprocessors");
  const std::size_t sums = 2 * std::size_t(processors) * W;
  require(line + (sums + 2 * W) * sizeof(E) <= half, "qr_panel_tall: ", processors, " multiprocessors");
  char* memory = static_cast<char*>(q.scratch(qr_panel_scratch_bytes));
  Grid<E> grid;
  grid.count = reinterpret_cast<unsigned*>(memory);
  grid.sums = reinterpret_cast<E*>(memory + line);
  grid.row = grid.sums + sums;
  auto* work = reinterpret_cast<tall::Work<E>*>(memory + half);
  check(cudaMemsetAsync(grid.count, 0, sizeof(unsigned), stream), "qr_panel_tall");
  check(cudaMemsetAsync(&work->good, 0, sizeof(int), stream), "qr_panel_tall");

  Panel<E> panel{block_of(A), block_of(V), V.rows - m, block_of(Tri), vector_of(tau)};
  panel.V.data += panel.above;
  const View<T> Q1 = V({V.rows - m, V.rows}, {0, w});
  auto* parts = reinterpret_cast<E*>(memory + 2 * half);
  auto small = [&](E(&matrix)[W][W]) { return View<T>(reinterpret_cast<T*>(&matrix[0][0]), w, w, W); };
  // not on GPUs with less shared memory, nor for a square, whose last tau is 0 in LAPACK
  auto by_products = [&]<int width>() {
    using Kernels = tall::Products<E, width>;
    if (by_columns || m == w || !Kernels::possible()) return;
    auto make_gram = [&](View<T> X) {
      if constexpr (tall::has_gram<E>)
        Kernels::gram(block_of(X), parts, work, processors, stream);
      else
        gemm(adjoint<T>, Op::NoTrans, T(1), X, X, T(0), small(work->gram), q);
    };
    make_gram(A);
    Kernels::start(work, static_cast<int>(w), stream);
    q.launched("qr_panel_tall");
    gemm(Op::NoTrans, Op::NoTrans, T(1), A, small(work->R1_inverse), T(0), Q1, q);
    make_gram(Q1);
    Kernels::finish(panel, work, stream);
    q.launched("qr_panel_tall");
    Kernels::apply(panel, work, processors, stream);
    q.launched("qr_panel_tall");
  };
  constexpr int narrow = 32;
  if (w <= narrow)
    by_products.template operator()<narrow>();
  else
    by_products.template operator()<W>();

  constexpr int bytes = sizeof(SharedMemory<E, W>);
  check(cudaFuncSetAttribute(tall::column_kernel<E>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "qr_panel_tall");
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  // Few blocks, if the panel is not very tall: they must find room beside the update.
  config.gridDim =
      dim3(static_cast<unsigned>(std::min<std::int64_t>(ceil_div(m, qr_panel_tall_rows_beside), processors)));
  config.blockDim = dim3(tall::column_threads);
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, tall::column_kernel<E>, panel, grid, static_cast<const int*>(&work->good)),
        "qr_panel_tall");
  q.launched("qr_panel_tall");
}

}  // namespace devobj::cuda
