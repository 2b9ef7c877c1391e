// gemm_overlapped: C += alpha A B, alpha 1 or -1, in double precision on Hopper's tensor cores, C's way from memory and back
// beside the products (overlapped_product.cuh).
//
// The operands come by tensor maps as C does, A in boxes of 16 rows and columns, B in one box that is 16 deep. Elements are
// dealt to the lanes like this: of depth 8 h ... 8 h + 7 lane 4 o + i multiplies 8 h + 2 i and the next; row o of the tensor
// cores is row 2 o of the box and row o + 8 is row 2 o + 1; columns 2 i and 2 i + 1 are i and i + 4 of eight. So a lane has
// two rows below each other, a pair of C.
//
// A column is aligned if it begins at a multiple of 16 bytes, as all must of a matrix that comes by a tensor map. Of A and B
// copies are made, if need be, that are. C's columns that are not would be from their second row on: from there they are
// updated, by A without its first row, and by the kernel that copies B in their first row. With an odd ld those are every
// other column: C is two matrices of twice its ld then, and there are two products.
#include "kernels/cuda/overlapped_product.cuh"

namespace devobj::cuda {
namespace {

using namespace overlapped;

class RealProduct : public ProductByHalves<RealProduct, 64> {
 public:
  static constexpr int words = 1, depth = 16, stages = 3;
  static constexpr int box_bytes = depth * column_bytes;
  static_assert(depth == box_rows);
  static constexpr int A_bytes = boxes * box_bytes, B_bytes = tile_cols * column_bytes;
  // of 384 threads with 168 registers at the launch
  static constexpr int product_registers = 232, copy_registers = 40;

  __device__ RealProduct(const unsigned char* operands, int warp_row, int warp_col, int lane) : i_(lane % 4) {
    const int o = lane / 4;
    // this lane's pieces of a box for the first and the second of its two steps along the depth
#pragma unroll
    for (int s = 0; s < 2; ++s)
      A_at_[s] = operands + warp_row * warp_boxes * box_bytes + (2 * i_ + s) * 128 + ((o ^ (2 * i_ + s)) * 16);
    // and of its column among eight, for both steps, at depth 0 and 8
    const int column = o % 2 * 4 + o / 2;
#pragma unroll
    for (int h = 0; h < 2; ++h)
      B_at_[h] = operands + A_bytes + (warp_col * 8 * eights + column) * 128 + (((4 * h + i_) ^ column) * 16);
  }
  __device__ int column(int half) const {
    return i_ + 4 * half;
  }
  __device__ void load_A(int into, int stage, int half, int box) {
#pragma unroll
    for (int s = 0; s < 2; ++s)
      a_[into][s] = *reinterpret_cast<const double2*>(A_at_[s] + stage * stage_bytes<RealProduct> + half * 8 * 128 +
                                                      box * box_bytes);
  }
  __device__ void multiply_box(int box, int half) {
#pragma unroll
    for (int j = 0; j < eights; ++j)
      multiply_16x8x8(sum_[box][j], a_[box % 2][0].x, a_[box % 2][0].y, a_[box % 2][1].x, a_[box % 2][1].y,
                      b_[half][j].x, b_[half][j].y);
  }

 private:
  const int i_;
  const unsigned char* A_at_[2];
  double2 a_[2][2];
};

// ---- matrices that are not aligned ----

/// Columns first, first + apart, ... of C, which are aligned from row `down` on; apart is 1 or 2.
struct LikeColumns {
  int first, apart, down;
  View<double> of_C(View<double> C) const {  // of a single column the ld does not matter
    return {C.data + first * C.ld + down, C.rows - down, count(C), aligned_ld(apart * C.ld)};
  }
  View<double> of(View<double> B) const { return {B.data + first * B.ld, B.rows, count(B), apart * B.ld}; }
  std::int64_t count(View<double> X) const { return (X.cols - first + apart - 1) / apart; }
};
struct Likes {
  LikeColumns likes[2];
  int count;
};
Likes likes_of(View<double> C) {
  const int apart = C.ld % 2 == 0 || C.cols == 1 ? 1 : 2;
  Likes all{{}, apart};
  for (int first = 0; first < apart; ++first)
    all.likes[first] = {first, apart, is_aligned(C.data + first * C.ld) ? 0 : 1};
  return all;
}

constexpr int copy_threads = 256, copy_rows = 4 * copy_threads, copy_depth = 512;

/// Copies of A, with and without its first row, where they are wanted: blocks of copy_rows x 1.
__global__ void __launch_bounds__(copy_threads)
    copy_A_kernel(Block<double> A, Block<double> all, Block<double> without) {
  for (std::int64_t j = blockIdx.y; j < A.cols; j += gridDim.y)
    for (int u = 0; u < copy_rows / copy_threads; ++u) {
      const std::int64_t i = blockIdx.x * std::int64_t(copy_rows) + u * copy_threads + threadIdx.x;
      if (i >= A.rows) break;
      const double x = A(i, j);
      if (all.data != nullptr) all(i, j) = x;
      if (without.data != nullptr && i > 0) without(i - 1, j) = x;
    }
}

/// B's copy, if one is wanted, a warp to a column; and C's first row in its columns that are not aligned.
__global__ void __launch_bounds__(copy_threads)
    copy_B_kernel(double sign, Block<double> A, Block<double> B, Block<double> copy, Block<double> C, Likes all) {
  __shared__ double first_row[copy_depth];
  const int lane = threadIdx.x % warp_size;
  const std::int64_t j = blockIdx.x * std::int64_t(copy_threads / warp_size) + threadIdx.x / warp_size;
  const bool first_too = all.likes[all.count == 2 ? j % 2 : 0].down > 0;
  double sum = 0;
  for (std::int64_t k0 = 0; k0 < B.rows; k0 += copy_depth) {
    const int depth = static_cast<int>(min(B.rows - k0, std::int64_t(copy_depth)));
    __syncthreads();
    for (int k = threadIdx.x; k < depth; k += copy_threads) first_row[k] = A(0, k0 + k);
    __syncthreads();
    if (j < B.cols)
      for (int k = lane; k < depth; k += warp_size) {
        const double b = B(k0 + k, j);
        if (copy.data != nullptr) copy(k0 + k, j) = b;
        sum += first_row[k] * b;
      }
  }
  if (j >= B.cols || !first_too) return;
  for (int distance = warp_size / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  if (lane == 0) C(0, j) += sign * sum;
}

/// W = V^T C for the first rows of V and of those columns of C that are not aligned, zero elsewhere.
__global__ void __launch_bounds__(copy_threads)
    first_row_kernel(Block<double> V, Block<double> C, Block<double> W, Likes all) {
  const std::int64_t i = blockIdx.x * std::int64_t(copy_threads) + threadIdx.x;
  if (i >= W.rows) return;
  const double v = V(0, i);
  for (std::int64_t j = blockIdx.y; j < W.cols; j += gridDim.y)
    W(i, j) = all.likes[all.count == 2 ? j % 2 : 0].down > 0 ? v * C(0, j) : 0;
}

constexpr auto name = "gemm_overlapped";

/// Places for copies, one after the other.
struct Places {
  double* free;
  View<double> operator()(std::int64_t rows, std::int64_t cols) {
    const View<double> X(free, rows, cols, aligned_ld(rows));
    free += X.ld * cols;
    return X;
  }
};

/// A from its first row on and from its second, aligned: copies, unless A is. Only what C's columns need.
struct FromRow {
  View<double> row[2];
};
FromRow from_rows_of(View<double> A, const Likes& all, Places& place, Queue& q) {
  FromRow from, copies;
  for (int i = 0; i < all.count; ++i) {
    const int down = all.likes[i].down;
    if (!from.row[down].empty() || A.rows == down) continue;
    from.row[down] = A({down, A.rows}, {0, A.cols});
    if (!has_tensor_map(from.row[down])) from.row[down] = copies.row[down] = place(A.rows - down, A.cols);
  }
  if (!copies.row[0].empty() || !copies.row[1].empty()) {
    const dim3 grid(static_cast<unsigned>(ceil_div(A.rows, std::int64_t(copy_rows))),
                    static_cast<unsigned>(std::min(A.cols, max_grid_y)));
    copy_A_kernel<<<grid, copy_threads, 0, stream_of(q)>>>(block_of(A), block_of(copies.row[0]),
                                                           block_of(copies.row[1]));
    q.launched(name);
  }
  return from;
}

void multiply_there(int alpha, View<double> A, View<double> B, View<double> C, Queue& q, Spared spared,
                    const DisplacedRows<double>& displaced = {}) {
  if (C.empty()) return;
  const RealProduct::Operands operands{tensor_map(name, A, box_rows, RealProduct::depth),
                                       tensor_map(name, B, RealProduct::depth, RealProduct::tile_cols)};
  launch<RealProduct>(name, alpha, operands, ceil_div(A.cols, RealProduct::depth), A.cols, C, q, spared,
                      displaced_of(displaced));
}

}  // namespace

bool gemm_overlapped_usable(int device) {
  return usable<RealProduct>(device);
}

bool gemm_overlapped_aligned(View<double> A, View<double> B, View<double> C) {
  return has_tensor_map(A) && has_tensor_map(B) && has_tensor_map(C);
}

std::size_t gemm_overlapped_workspace(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  return static_cast<std::size_t>(2 * aligned_ld(rows) * depth + aligned_ld(depth) * cols) * sizeof(double);
}

void gemm_overlapped(int alpha, View<double> A, View<double> B, View<double> C, void* workspace, Queue& q,
                     Spared spared, const DisplacedRows<double>& displaced) {
  const bool is_aligned = gemm_overlapped_aligned(A, B, C);
  require(displaced.from == nullptr || (!A.empty() && is_aligned), name,
          ": displaced rows, but no product, or not aligned");
  if (C.empty() || A.empty()) return;
  DeviceScope scope(q.device());
  if (is_aligned) return multiply_there(alpha, A, B, C, q, spared, displaced);
  Places place{static_cast<double*>(workspace)};
  const Likes all = likes_of(C);
  const FromRow of_A = from_rows_of(A, all, place, q);
  View<double> copy_of_B;
  if (!has_tensor_map(B)) copy_of_B = place(B.rows, B.cols);
  const bool first_rows = all.likes[0].down + all.likes[all.count - 1].down > 0;
  if (first_rows || !copy_of_B.empty()) {
    copy_B_kernel<<<static_cast<unsigned>(ceil_div(B.cols, std::int64_t(copy_threads / warp_size))), copy_threads, 0,
                    stream_of(q)>>>(alpha, block_of(A), block_of(B), block_of(copy_of_B), block_of(C), all);
    q.launched(name);
  }
  if (!copy_of_B.empty()) B = copy_of_B;
  for (int i = 0; i < all.count; ++i)
    multiply_there(alpha, of_A.row[all.likes[i].down], all.likes[i].of(B), all.likes[i].of_C(C), q, spared);
}

void project_unaligned(View<double> V, View<double> C, View<double> W, void* workspace, Queue& q) {
  if (W.empty()) return;
  DeviceScope scope(q.device());
  Places place{static_cast<double*>(workspace)};
  const Likes all = likes_of(C);
  const FromRow of_V = from_rows_of(V, all, place, q);
  first_row_kernel<<<dim3(static_cast<unsigned>(ceil_div(W.rows, std::int64_t(copy_threads))),
                          static_cast<unsigned>(std::min(W.cols, max_grid_y))),
                     copy_threads, 0, stream_of(q)>>>(block_of(V), block_of(C), block_of(W), all);
  q.launched("project_unaligned");
  for (int i = 0; i < all.count; ++i) {
    const LikeColumns& like = all.likes[i];
    if (like.count(C) > 0 && C.rows > like.down)
      gemm<double>(Op::Trans, Op::NoTrans, 1, of_V.row[like.down], like.of_C(C), 1, like.of(W), q);
  }
}

}  // namespace devobj::cuda
