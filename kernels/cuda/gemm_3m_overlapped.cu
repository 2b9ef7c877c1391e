// gemm_3m_overlapped: C += alpha A B, alpha 1 or -1, for complex matrices of double precision by three real products instead
// of four, on Hopper's tensor cores, C's way from memory and back beside the products (overlapped_product.cuh).
//
//   re(C) += re(A) re(B) - im(A) im(B) = k + im(A) (-re(B) - im(B)),   k = (re(A) + im(A)) re(B)
//   im(C) += re(A) im(B) + im(A) re(B) = k + re(A) (im(B) - re(B))
//
// k begins with zero and is added to the other two, which begin with C, every 32 of the depth.
//
// The three matrices on each side are written to memory first (three_products.cuh), B's in pieces of depth 8 for the columns of a tile: of
// 8 columns 16 bytes for each lane, lane 4 o + i has elements i and i + 4 of column o.
#include "kernels/cuda/three_products.cuh"

namespace devobj::cuda {
namespace {

using namespace overlapped;
using three_products::Complex;
using three_products::lanes_bytes;
using three_products::real_products;
using three_products::warp_eights;
using three_products::warp_sixteens;

class ThreeProducts {
 public:
  static constexpr bool adds = true;
  static constexpr int words = 2, tile_cols = three_products::tile_cols, depth = three_products::piece_depth,
                       stages = 4;
  // pieces until what two sums have in common is added to them
  static constexpr int pieces_apart = 4;
  // of 384 threads with 168 registers at the launch
  static constexpr int product_registers = 232, copy_registers = 40;
  static constexpr int A_bytes = three_products::A_bytes, B_bytes = real_products * (tile_cols / 8) * lanes_bytes;

  /// Pieces of A for the rows of a tile, and of B for the columns of a tile, one after the other.
  struct Operands {
    const unsigned char *A, *B;
    int pieces;
  };
  __device__ static void fetch(const Operands& operands, int row, int col, int k, int rank, std::uint32_t to,
                               std::uint32_t filled) {
    three_products::fetch_A(operands.A, operands.pieces, row, k, rank, to, filled);
    const std::int64_t piece_of_B = col * std::int64_t(operands.pieces) + k;
    bulk_copy(to + A_bytes, operands.B + piece_of_B * B_bytes, B_bytes, filled);
  }

  __device__ ThreeProducts(const unsigned char* ring, int warp_row, int warp_col, int lane)
      : i_(lane % 4),
        A_(ring + three_products::lane_of_A(warp_row, lane)),
        B_(ring + A_bytes + warp_col * warp_eights * lanes_bytes + lane * 16) {}
  __device__ int column(int half) const { return 2 * i_ + half; }
  __device__ void take(int box, int j, int half, double2 x) {
    const int at = box % 2 * 2 + half;
    sum_[0][box / 2][j][at] = 0;
    sum_[1][box / 2][j][at] = x.x;
    sum_[2][box / 2][j][at] = x.y;
  }
  __device__ double2 result(int box, int j, int half) const {
    const int at = box % 2 * 2 + half;
    const double both = sum_[0][box / 2][j][at];
    return {sum_[1][box / 2][j][at] + both, sum_[2][box / 2][j][at] + both};
  }

  __device__ void load(int stage) {
#pragma unroll
    for (int product = 0; product < real_products; ++product) load_B(stage, product);
    load_A(0, stage, 0, 0);
  }
  template <class There>
  __device__ void multiply(int piece, int here, int next, There there) {
    constexpr int steps = warp_sixteens * real_products;
    static_assert(steps % 2 == 0 && warp_sixteens == 2);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      const int row = step / real_products, product = step % real_products;
      const bool last = row + 1 == warp_sixteens;
      if (last && product == 0) there();
      // what is multiplied next
      if (step + 1 < steps)
        load_A((step + 1) % 2, here, (step + 1) / real_products, (step + 1) % real_products);
      else
        load_A(0, next, 0, 0);
      const double2(&a)[2] = a_[step % 2];
#pragma unroll
      for (int j = 0; j < warp_eights; ++j)
        multiply_16x8x8(sum_[product][row][j], a[0].x, a[0].y, a[1].x, a[1].y, b_[product][j].x, b_[product][j].y);
      if (last) load_B(next, product);
      // each row when the next one's products are on their way
      if (product == 1 && piece % pieces_apart == (row == 0 ? 0 : pieces_apart - 1))
        add_common(warp_sixteens - 1 - row);
    }
  }

 private:
  /// What the sums of real and imaginary parts have in common, which is added to both before it becomes large beside them:
  /// it would be rounded with every product.
  __device__ void add_common(int row) {
#pragma unroll
    for (int j = 0; j < warp_eights; ++j)
#pragma unroll
      for (int at = 0; at < 4; ++at) {
        double& both = sum_[0][row][j][at];
        sum_[1][row][j][at] += both;
        sum_[2][row][j][at] += both;
        both = 0;
      }
  }
  __device__ void load_A(int into, int stage, int row, int product) {
#pragma unroll
    for (int step = 0; step < 2; ++step)
      a_[into][step] = three_products::load_A(A_ + stage * stage_bytes<ThreeProducts>, product, row, step);
  }
  __device__ void load_B(int stage, int product) {
#pragma unroll
    for (int j = 0; j < warp_eights; ++j)
      b_[product][j] = *reinterpret_cast<const double2*>(B_ + stage * stage_bytes<ThreeProducts> +
                                                         (product * (tile_cols / 8) + j) * lanes_bytes);
  }
  const int i_;
  const unsigned char *A_, *B_;
  double sum_[real_products][warp_sixteens][warp_eights][4];
  double2 a_[2][2], b_[real_products][warp_eights];
};

// ---- the operands' pieces ----

__global__ void __launch_bounds__(three_products::split_threads)
    split_A_kernel(Block<double2> A, int pieces, std::int64_t all, double2* to) {
  const auto element = [&](std::int64_t i, std::int64_t k) { return i < A.rows && k < A.cols ? A(i, k) : double2{}; };
  three_products::split_A(
      element, [](int i, int step) { return i + 4 * step; }, pieces, all, to);
}
/// A thread has 16 bytes of each of B's three matrices: two elements, the second four further on in the depth.
__global__ void __launch_bounds__(three_products::split_threads)
    split_B_kernel(Block<double2> B, int pieces, std::int64_t all, double2* to) {
  const std::int64_t t = blockIdx.x * std::int64_t(three_products::split_threads) + threadIdx.x;
  if (t >= all) return;
  constexpr int eights = ThreeProducts::tile_cols / 8, of_piece = eights * warp_size;
  const int lane = t % warp_size, eight = t / warp_size % eights;
  const std::int64_t piece = t / of_piece;
  const std::int64_t col = piece / pieces * ThreeProducts::tile_cols + eight * 8 + lane / 4,
                     k = piece % pieces * ThreeProducts::depth + lane % 4;
  const auto element = [&](std::int64_t p) { return p < B.rows && col < B.cols ? B(p, col) : double2{}; };
  const double2 b = element(k), further = element(k + 4);
  double2* const at = to + piece * (real_products * of_piece) + t % of_piece;
  at[0] = {b.x, further.x};
  at[of_piece] = {-b.x - b.y, -further.x - further.y};
  at[2 * of_piece] = {b.y - b.x, further.y - further.x};
}

/// Pieces along the depth, and tiles of columns of B for whole clusters.
struct Pieces {
  std::int64_t depth, wide;
  Pieces(std::int64_t cols, std::int64_t k)
      : depth(ceil_div(k, ThreeProducts::depth)),
        wide(ceil_div(cols, blocks_beside * ThreeProducts::tile_cols) * blocks_beside) {}
  std::size_t bytes_of_B() const { return static_cast<std::size_t>(wide * depth) * ThreeProducts::B_bytes; }
};

}  // namespace

bool gemm_3m_overlapped_possible(View<Complex> C, const Queue& q) {
  return reinterpret_cast<std::uintptr_t>(C.data) % 16 == 0 && usable<ThreeProducts>(q.device());
}

std::size_t gemm_3m_overlapped_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  return three_products::bytes_of_A(rows, depth) + Pieces(cols, depth).bytes_of_B();
}

void gemm_3m_overlapped(int alpha, View<Complex> A, View<Complex> B, View<Complex> C, void* workspace, Queue& q,
                        Spared spared, const DisplacedRows<Complex>& displaced) {
  require(displaced.from == nullptr || !A.empty(), "gemm_3m_overlapped: displaced rows, but no product");
  if (C.empty() || A.empty()) return;
  DeviceScope scope(q.device());
  const Pieces pieces(C.cols, A.cols);
  const std::size_t of_A = three_products::bytes_of_A(C.rows, A.cols);
  auto* const memory = static_cast<unsigned char*>(workspace);
  three_products::split("gemm_3m_overlapped", split_A_kernel, A, pieces.depth, of_A, memory, q);
  three_products::split("gemm_3m_overlapped", split_B_kernel, B, pieces.depth, pieces.bytes_of_B(), memory + of_A, q);
  const View<double> real(reinterpret_cast<double*>(C.data), 2 * C.rows, C.cols, 2 * C.ld);
  launch<ThreeProducts>("gemm_3m_overlapped", alpha, {memory, memory + of_A, static_cast<int>(pieces.depth)},
                        pieces.depth, real_products * A.cols, real, q, spared, displaced_of(displaced));
}

}  // namespace devobj::cuda
