// project_3m: W = V^H C for complex matrices of double precision by three real products instead of four, on Hopper's tensor
// cores (overlapped_product.cuh). With A = V^H
//
//   re(W) = T1 - T2,   im(W) = T3 - T1 - T2,   T1 = re(A) re(C),   T2 = im(A) im(C),   T3 = (re(A) + im(A)) (re(C) + im(C))
//
// The sums are long and begin with zero: no tile of W is copied, and T1, T2, T3 meet at the end. C, which is large, is copied as it
// lies, by a tensor map: 128 bytes of a column, 8 elements, are the depth of a piece. V, which has few columns, is written out first
// (three_products.cuh).
//
// Of few columns, whose tiles do not come out even on the multiprocessors, the sums are taken in several parts along the depth, which are
// added at the end.
//
// The tensor cores take two numbers of a column at once, which have to be in registers side by side: real parts, imaginary parts, sums.
// Of the depth of a piece lane 4 o + i has elements 2 i and 2 i + 1, of which it loads parts, 8 bytes each. So that the lanes of a load
// meet in no bank, those of columns 2, 3, 6, 7 of eight load imaginary parts where the others load real ones. In these columns
//
//   re(W) = T3 + T1 - T2,   im(W) = T1 + T2,   T1 = re(A) im(C),   T2 = im(A) re(C),   T3 = (re(A) + im(A)) (re(C) - im(C))
#include "kernels/cuda/scale_part.hpp"
#include "kernels/cuda/three_products.cuh"

namespace devobj::cuda {
namespace {

using namespace overlapped;
using three_products::Complex;
using three_products::real_products;
using three_products::warp_eights;
using three_products::warp_sixteens;

class Projection {
 public:
  static constexpr bool adds = false;
  static constexpr int tile_cols = three_products::tile_cols, depth = three_products::piece_depth, stages = 6;
  // of 384 threads with 168 registers at the launch
  static constexpr int product_registers = 240, copy_registers = 24;
  static constexpr int A_bytes = three_products::A_bytes, B_bytes = tile_cols * column_bytes;

  /// Pieces of V^H, and C. The rows of tiles are those of the first part of the sums, then those of the next.
  struct Operands {
    CUtensorMap C;
    const unsigned char* A;
    int pieces, rows_of_part, pieces_of_part;
  };
  __device__ static void fetch(const Operands& operands, int row, int col, int k, int rank, std::uint32_t to,
                               std::uint32_t filled) {
    const int part = row / operands.rows_of_part;
    k += part * operands.pieces_of_part;
    three_products::fetch_A(operands.A, operands.pieces, row - part * operands.rows_of_part, k, rank, to, filled);
    box_copy(to + A_bytes, operands.C, k * box_rows, col * tile_cols, filled, cache_policy(false));
  }

  __device__ Projection(const unsigned char* ring, int warp_row, int warp_col, int lane)
      : i_(lane % 4), A_(ring + three_products::lane_of_A(warp_row, lane)) {
    const int o = lane / 4;
    const bool swapped = o / 2 % 2 == 1;
#pragma unroll
    for (int step = 0; step < 2; ++step)
      C_[step] = ring + A_bytes + (warp_col * 8 * warp_eights + o) * column_bytes + ((2 * i_ + step) ^ o) * 16 +
                 (swapped ? part_bytes : 0);
    to_other_ = swapped ? -part_bytes : part_bytes;
    sign_ = swapped ? -1 : 1;
  }
  __device__ int column(int half) const {
    return 2 * i_ + half;
  }
  __device__ void clear() {
#pragma unroll
    for (int product = 0; product < real_products; ++product)
#pragma unroll
      for (int row = 0; row < warp_sixteens; ++row)
#pragma unroll
        for (int j = 0; j < warp_eights; ++j)
#pragma unroll
          for (int at = 0; at < 4; ++at) sum_[product][row][j][at] = 0;
  }
  __device__ double2 result(int box, int j, int half) const {
    const int at = box % 2 * 2 + half;
    const double t3 = sum_[0][box / 2][j][at], t2 = sum_[1][box / 2][j][at], t1 = sum_[2][box / 2][j][at];
    if (i_ % 2 == 0) return {t1 - t2, t3 - t1 - t2};
    return {t3 + t1 - t2, t1 + t2};
  }

  __device__ void load(int stage) {
#pragma unroll
    for (int j = 0; j < warp_eights; ++j) load_C(j, stage);
    load_A(2, stage, 0);
#pragma unroll
    for (int j = 0; j + 1 < warp_eights; ++j) add_parts(j);
  }
  template <class There>
  __device__ void multiply(int, int here, int next, There there) {
    // the first sixteen rows, product by product
#pragma unroll
    for (int product = real_products - 1; product >= 0; --product) {
      if (product > 0) load_A(product - 1, here, 0);
#pragma unroll
      for (int j = 0; j < warp_eights; ++j) multiply(product, 0, j);
      load_A(product, here, 1);
      if (product == 2) add_parts(warp_eights - 1);
    }
    // the others eight columns after eight, whose next elements are loaded then
#pragma unroll
    for (int j = 0; j < warp_eights; ++j) {
      multiply(2, 1, j);
      if (j + 1 == warp_eights) load_A(2, next, 0);
      multiply(1, 1, j);
      multiply(0, 1, j);
      if (j == 0) there();
      load_C(j, next);
      if (j > 0) add_parts(j - 1);
    }
  }

 private:
  static constexpr int part_bytes = sizeof(double);
  __device__ void multiply(int product, int row, int j) {
    multiply_16x8x8(sum_[product][row][j], a_[product][0].x, a_[product][0].y, a_[product][1].x, a_[product][1].y,
                    c_[product][j][0], c_[product][j][1]);
  }
  __device__ void load_A(int product, int stage, int row) {
#pragma unroll
    for (int step = 0; step < 2; ++step)
      a_[product][step] = three_products::load_A(A_ + stage * stage_bytes<Projection>, product, row, step);
  }
  __device__ void load_C(int j, int stage) {
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      const unsigned char* const at = C_[step] + stage * stage_bytes<Projection> + j * 8 * column_bytes;
      c_[2][j][step] = *reinterpret_cast<const double*>(at);
      c_[1][j][step] = *reinterpret_cast<const double*>(at + to_other_);
    }
  }
  __device__ void add_parts(int j) {
#pragma unroll
    for (int step = 0; step < 2; ++step) c_[0][j][step] = fma(c_[2][j][step], sign_, c_[1][j][step]);
  }
  const int i_;
  const unsigned char *A_, *C_[2];
  double sum_[real_products][warp_sixteens][warp_eights][4];
  double2 a_[real_products][2];
  int to_other_;
  double sign_;
  // what A's three matrices are multiplied by: the sum or difference of the other two, the parts loaded second, those loaded first
  double c_[real_products][warp_eights][2];
};

__global__ void __launch_bounds__(three_products::split_threads)
    split_kernel(Block<double2> V, int pieces, std::int64_t all, double2* to) {
  const auto element = [&](std::int64_t i, std::int64_t k) {
    if (i >= V.cols || k >= V.rows) return double2{};
    const double2 v = V(k, i);
    return double2{v.x, -v.y};
  };
  three_products::split_A(
      element, [](int i, int step) { return 2 * i + step; }, pieces, all, to);
}

constexpr int sum_threads = 256;

/// W = the sum of its parts, which are below each other.
__global__ void __launch_bounds__(sum_threads)
    sum_kernel(Block<double2> W, const double2* parts, int count, std::int64_t apart) {
  const std::int64_t i = blockIdx.x * std::int64_t(sum_threads) + threadIdx.x;
  if (i >= W.rows) return;
  for (std::int64_t j = blockIdx.y; j < W.cols; j += gridDim.y) {
    const double2* const from = parts + j * count * apart + i;
    double2 total = from[0];
    for (int part = 1; part < count; ++part) {
      const double2 x = from[part * apart];
      total.x += x.x, total.y += x.y;
    }
    W(i, j) = total;
  }
}

// parts at most, and clusters' tiles of W up to which there are any
constexpr std::int64_t most_parts = 4, most_divided = 512;

/// How V^H C is divided, into tiles, and into parts along the depth.
struct Division {
  std::int64_t pieces, rows, clusters;  // along the depth; of tiles
  std::int64_t parts = 1, pieces_of_part;

  /// For so many clusters at a time: what takes least, by a model of an H200.
  Division(View<Complex> V, View<Complex> C, std::int64_t at_a_time)
      : pieces(ceil_div(V.rows, std::int64_t(Projection::depth))),
        rows(ceil_div(V.cols, std::int64_t(three_products::rows))),
        clusters(rows * ceil_div(C.cols, std::int64_t(blocks_beside * Projection::tile_cols))) {
    for (std::int64_t count = 2; count <= most_parts && clusters <= most_divided; ++count)
      if (pieces >= 64 * count && time_of(count, at_a_time) < time_of(parts, at_a_time)) parts = count;
    pieces_of_part = ceil_div(pieces, parts);
  }
  std::size_t bytes_of_V() const {
    return static_cast<std::size_t>(rows * parts * pieces_of_part) * Projection::A_bytes;
  }

 private:
  /// In units of what a cluster's tiles take of the whole depth, two at a time.
  double time_of(std::int64_t count, std::int64_t at_a_time) const {
    constexpr double alone = 1.26;  // tiles of one group of warps, while the other has none
    // depth of the products that are made while as many sums as W has elements are written or read
    constexpr double added_depth = 40;
    const std::int64_t all = clusters * count, left = all % (2 * at_a_time);
    const double rounds = double(all - left) / double(at_a_time) + (left == 0 ? 0 : left <= at_a_time ? alone : 2);
    const double added = count == 1 ? 0 : double(count + 1) * added_depth / double(pieces * Projection::depth);
    return rounds / double(count) + added * double(clusters) / double(at_a_time);
  }
};

}  // namespace

std::size_t project_3m_workspace(std::int64_t rows, std::int64_t columns, std::int64_t cols) {
  const std::int64_t most_pieces = ceil_div(rows, std::int64_t(Projection::depth)) + most_parts - 1;
  const std::int64_t tall = ceil_div(columns, std::int64_t(three_products::rows));
  const std::int64_t divided =
      std::min(tall * ceil_div(cols, std::int64_t(blocks_beside * Projection::tile_cols)), most_divided);
  constexpr std::size_t tile_bytes = three_products::rows * Projection::tile_cols * sizeof(Complex);
  return static_cast<std::size_t>(tall * most_pieces) * Projection::A_bytes +
         static_cast<std::size_t>(most_parts * divided) * blocks_beside * tile_bytes;
}

void project_3m(View<Complex> V, View<Complex> C, View<Complex> W, void* workspace, Queue& q, Spared spared) {
  if (W.empty()) return;
  DeviceScope scope(q.device());
  if (C.rows == 0) return scale_part("project_3m", Uplo::General, Complex(0), W, q);
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, q.device()), "project_3m");
  const Division d(V, C, std::max(1, (processors - spared_multiprocessors(spared, processors)) / blocks_beside));
  auto* const memory = static_cast<unsigned char*>(workspace);
  const std::int64_t pieces = d.parts * d.pieces_of_part;
  three_products::split("project_3m", split_kernel, V, pieces, d.bytes_of_V(), memory, q);
  // parts of W, each with all rows of its tiles, below each other
  const std::int64_t apart = d.rows * three_products::rows;
  const View<Complex> parts(reinterpret_cast<Complex*>(memory + d.bytes_of_V()), d.parts * apart, W.cols,
                            d.parts * apart);
  const auto real = [](View<Complex> X) {
    return View<double>(reinterpret_cast<double*>(X.data), 2 * X.rows, X.cols, 2 * X.ld);
  };
  launch<Projection>("project_3m", 1,
                     {tensor_map("project_3m", real(C), box_rows, Projection::tile_cols), memory,
                      static_cast<int>(pieces), static_cast<int>(d.rows), static_cast<int>(d.pieces_of_part)},
                     d.pieces_of_part, real_products * V.rows, real(d.parts == 1 ? W : parts), q, spared);
  if (d.parts == 1) return;
  const dim3 grid(static_cast<unsigned>(ceil_div(W.rows, std::int64_t(sum_threads))),
                  static_cast<unsigned>(std::min<std::int64_t>(W.cols, 65535)));
  sum_kernel<<<grid, sum_threads, 0, stream_of(q)>>>(block_of(W), raw(parts.data), static_cast<int>(d.parts), apart);
  q.launched("project_3m");
}

}  // namespace devobj::cuda
