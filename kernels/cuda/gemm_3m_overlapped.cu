// gemm_3m_overlapped: C += alpha A B, alpha 1 or -1, for complex matrices of double precision by three real products instead
// of four, on Hopper's tensor cores, C's way from memory and back beside the products (overlapped_product.cuh).
//
//   re(C) += re(A) re(B) - im(A) im(B) = k + im(A) (-re(B) - im(B)),   k = (re(A) + im(A)) re(B)
//   im(C) += re(A) im(B) + im(A) re(B) = k + re(A) (im(B) - re(B))
//
// k begins with zero and is added to the other two, which begin with C, every 32 of the depth.
//
// The three matrices on each side are written to memory first, in pieces of depth 8 for the rows or columns of a tile, which
// are copied to shared memory as they are: of 16 rows (A) or 8 columns (B) of a piece 16 bytes for each lane, which are what
// it multiplies. Lane 4 o + i has of depth 8 h ... 8 h + 7 elements i and i + 4, in rows o and o + 8, or column o.
#include "kernels/cuda/overlapped_product.cuh"

namespace devobj::cuda {
namespace {

using namespace overlapped;
using Complex = std::complex<double>;

constexpr int real_products = 3;

class ThreeProducts {
 public:
  static constexpr int tile_cols = 48, depth = 8, stages = 4;
  // pieces until what two sums have in common is added to them
  static constexpr int pieces_apart = 4;
  // of 384 threads with 168 registers at the launch
  static constexpr int product_registers = 232, copy_registers = 40;
  static constexpr int eights = tile_cols / warps_wide / 8;
  // 16 bytes of every lane; of 16 rows of A these are two, of 8 columns of B one
  static constexpr int lanes_bytes = warp_size * 16;
  // complex rows of a tile, and the sixteens of them
  static constexpr int rows = tile_rows / 2, sixteens = rows / 16;
  static constexpr int A_bytes = real_products * sixteens * 2 * lanes_bytes,
                       B_bytes = real_products * (tile_cols / 8) * lanes_bytes;

  /// Pieces of A for the rows of a tile, and of B for the columns of a tile, one after the other.
  struct Operands {
    const unsigned char *A, *B;
    int pieces;
  };
  __device__ static void fetch(const Operands& operands, int row, int col, int k, int rank, std::uint32_t to,
                               std::uint32_t filled) {
    static_assert(blocks_beside == 2);
    constexpr int half = A_bytes / blocks_beside;
    const std::int64_t piece_of_A = row * std::int64_t(operands.pieces) + k,
                       piece_of_B = col * std::int64_t(operands.pieces) + k;
    bulk_copy_to(3, to + rank * half, operands.A + piece_of_A * A_bytes + rank * half, half, filled);
    bulk_copy(to + A_bytes, operands.B + piece_of_B * B_bytes, B_bytes, filled);
  }

  __device__ ThreeProducts(const unsigned char* ring, int warp_row, int warp_col, int lane)
      : i_(lane % 4),
        A_(ring + warp_row * (sixteens / warps_high) * 2 * lanes_bytes + lane * 16),
        B_(ring + A_bytes + warp_col * eights * lanes_bytes + lane * 16) {}
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
    constexpr int high = warp_boxes / 2, steps = high * real_products;
    static_assert(steps % 2 == 0 && high == 2);
    bool more = false;
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      const int row = step / real_products, product = step % real_products;
      const bool last = row + 1 == high;
      if (last && product == 0) more = there();
      // what is multiplied next
      if (step + 1 < steps)
        load_A((step + 1) % 2, here, (step + 1) / real_products, (step + 1) % real_products);
      else if (more)
        load_A(0, next, 0, 0);
      const double2(&a)[2] = a_[step % 2];
#pragma unroll
      for (int j = 0; j < eights; ++j)
        multiply_16x8x8(sum_[product][row][j], a[0].x, a[0].y, a[1].x, a[1].y, b_[product][j].x, b_[product][j].y);
      if (last && more) load_B(next, product);
      // each row when the next one's products are on their way
      if (product == 1 && piece % pieces_apart == (row == 0 ? 0 : pieces_apart - 1)) add_common(high - 1 - row);
    }
  }

 private:
  /// What the sums of real and imaginary parts have in common, which is added to both before it becomes large beside them:
  /// it would be rounded with every product.
  __device__ void add_common(int row) {
#pragma unroll
    for (int j = 0; j < eights; ++j)
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
    for (int s = 0; s < 2; ++s)
      a_[into][s] = *reinterpret_cast<const double2*>(A_ + stage * stage_bytes<ThreeProducts> +
                                                      ((product * sixteens + row) * 2 + s) * lanes_bytes);
  }
  __device__ void load_B(int stage, int product) {
#pragma unroll
    for (int j = 0; j < eights; ++j)
      b_[product][j] = *reinterpret_cast<const double2*>(B_ + stage * stage_bytes<ThreeProducts> +
                                                         (product * (tile_cols / 8) + j) * lanes_bytes);
  }
  const int i_;
  const unsigned char *A_, *B_;
  double sum_[real_products][warp_boxes / 2][eights][4];
  double2 a_[2][2], b_[real_products][eights];
};

// ---- the operands' pieces ----

constexpr int split_threads = 256;

/// A thread has 16 bytes of each of the three matrices: two elements of A.
__global__ void __launch_bounds__(split_threads) split_A_kernel(Block<double2> A, int pieces, std::int64_t all, double2* to) {
  const std::int64_t t = blockIdx.x * std::int64_t(split_threads) + threadIdx.x;
  if (t >= all) return;
  // t counts lanes, then the halves of the depth, then the sixteens of a tile, then pieces, then tiles
  constexpr int sixteens = ThreeProducts::sixteens, of_piece = sixteens * 2 * warp_size;
  const int lane = t % warp_size, s = t / warp_size % 2, sixteen = t / (2 * warp_size) % sixteens;
  const std::int64_t piece = t / of_piece;
  const std::int64_t row = piece / pieces * ThreeProducts::rows + sixteen * 16 + lane / 4,
                     k = piece % pieces * ThreeProducts::depth + lane % 4 + 4 * s;
  const auto element = [&](std::int64_t i) { return i < A.rows && k < A.cols ? A(i, k) : double2{}; };
  const double2 a = element(row), below = element(row + 8);
  double2* const at = to + piece * (real_products * of_piece) + t % of_piece;
  at[0] = {a.x + a.y, below.x + below.y};
  at[of_piece] = {a.y, below.y};
  at[2 * of_piece] = {a.x, below.x};
}
/// The same of B, four further on in its depth.
__global__ void __launch_bounds__(split_threads) split_B_kernel(Block<double2> B, int pieces, std::int64_t all, double2* to) {
  const std::int64_t t = blockIdx.x * std::int64_t(split_threads) + threadIdx.x;
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

/// Pieces along the depth, tiles of rows of A, and of columns of B for whole clusters.
struct Pieces {
  std::int64_t depth, high, wide;
  Pieces(std::int64_t rows, std::int64_t cols, std::int64_t k)
      : depth(ceil_div(k, ThreeProducts::depth)),
        high(ceil_div(rows, ThreeProducts::rows)),
        wide(ceil_div(cols, blocks_beside * ThreeProducts::tile_cols) * blocks_beside) {}
  std::size_t bytes_of_A() const { return static_cast<std::size_t>(high * depth) * ThreeProducts::A_bytes; }
  std::size_t bytes_of_B() const { return static_cast<std::size_t>(wide * depth) * ThreeProducts::B_bytes; }
};

template <class Kernel>
void split(Kernel kernel, View<Complex> X, std::int64_t pieces, std::size_t bytes, unsigned char* to, Queue& q) {
  const auto all = static_cast<std::int64_t>(bytes / (real_products * sizeof(double2)));
  kernel<<<static_cast<unsigned>(ceil_div(all, split_threads)), split_threads, 0, stream_of(q)>>>(
      block_of(X), static_cast<int>(pieces), all, reinterpret_cast<double2*>(to));
  q.launched("gemm_3m_overlapped");
}

}  // namespace

bool gemm_3m_overlapped_possible(View<Complex> C, const Queue& q) {
  return reinterpret_cast<std::uintptr_t>(C.data) % 16 == 0 && usable<ThreeProducts>(q.device());
}

std::size_t gemm_3m_overlapped_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  const Pieces pieces(rows, cols, depth);
  return pieces.bytes_of_A() + pieces.bytes_of_B();
}

void gemm_3m_overlapped(int alpha, View<Complex> A, View<Complex> B, View<Complex> C, void* workspace, Queue& q,
                        Spared spared) {
  if (C.empty() || A.empty()) return;
  DeviceScope scope(q.device());
  const Pieces pieces(C.rows, C.cols, A.cols);
  auto* const memory = static_cast<unsigned char*>(workspace);
  split(split_A_kernel, A, pieces.depth, pieces.bytes_of_A(), memory, q);
  split(split_B_kernel, B, pieces.depth, pieces.bytes_of_B(), memory + pieces.bytes_of_A(), q);
  const View<double> real(reinterpret_cast<double*>(C.data), 2 * C.rows, C.cols, 2 * C.ld);
  launch<ThreeProducts>("gemm_3m_overlapped", alpha,
                        {memory, memory + pieces.bytes_of_A(), static_cast<int>(pieces.depth)}, pieces.depth,
                        real_products * A.cols, real, q, spared);
}

}  // namespace devobj::cuda
