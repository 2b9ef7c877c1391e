// gemm_overlapped: C += alpha A B, alpha 1 or -1, in double precision on Hopper's tensor cores, C's way from memory and back
// beside the products (overlapped_product.cuh).
//
// The operands come by tensor maps as C does, A in boxes of 16 rows and columns, B in one box that is 16 deep. Elements are
// dealt to the lanes like this: of depth 8 h ... 8 h + 7 lane 4 o + i multiplies 8 h + 2 i and the next; row o of the tensor
// cores is row 2 o of the box and row o + 8 is row 2 o + 1; columns 2 i and 2 i + 1 are i and i + 4 of eight. So a lane has
// two rows below each other, a pair of C.
#include "kernels/cuda/overlapped_product.cuh"

namespace devobj::cuda {
namespace {

using namespace overlapped;

class RealProduct {
 public:
  static constexpr int tile_cols = 64, depth = 16, stages = 3;
  static constexpr int box_bytes = depth * column_bytes;
  static constexpr int A_bytes = boxes * box_bytes, B_bytes = tile_cols * column_bytes;
  // of 384 threads with 168 registers at the launch
  static constexpr int product_registers = 232, copy_registers = 40;
  static constexpr int eights = tile_cols / warps_wide / 8;

  struct Operands {
    CUtensorMap A, B;
  };
  __device__ static void fetch(const Operands& operands, int row, int col, int k, int rank, std::uint32_t to,
                               std::uint32_t filled) {
    static_assert(blocks_beside == 2 && depth == box_rows);
#pragma unroll
    for (int b = 0; b < boxes / blocks_beside; ++b) {
      const int box = rank * (boxes / blocks_beside) + b;
      box_copy_to(3, to + box * box_bytes, operands.A, row * tile_rows + box * box_rows, k * depth, filled);
    }
    box_copy(to + A_bytes, operands.B, k * depth, col * tile_cols, filled, cache_policy(false));
  }

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
  __device__ int column(int half) const { return i_ + 4 * half; }
  __device__ void take(int box, int j, int half, double2 x) {
    sum_[box][j][half] = x.x;
    sum_[box][j][2 + half] = x.y;
  }
  __device__ double2 result(int box, int j, int half) const { return {sum_[box][j][half], sum_[box][j][2 + half]}; }

  __device__ void load(int stage) {
    load_B(0, stage, 0);
    load_A(0, stage, 0, 0);
  }
  template <class There>
  __device__ void multiply(int, int here, int next, There there) {
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
        } else if (there()) {
          load(next);
        }
#pragma unroll
        for (int j = 0; j < eights; ++j)
          multiply_16x8x8(sum_[box][j], a_[box % 2][0].x, a_[box % 2][0].y, a_[box % 2][1].x, a_[box % 2][1].y,
                          b_[half][j].x, b_[half][j].y);
      }
  }

 private:
  __device__ void load_A(int into, int stage, int half, int box) {
#pragma unroll
    for (int s = 0; s < 2; ++s)
      a_[into][s] = *reinterpret_cast<const double2*>(A_at_[s] + stage * stage_bytes<RealProduct> + half * 8 * 128 +
                                                      box * box_bytes);
  }
  __device__ void load_B(int into, int stage, int half) {
#pragma unroll
    for (int j = 0; j < eights; ++j)
      b_[into][j] =
          *reinterpret_cast<const double2*>(B_at_[half] + stage * stage_bytes<RealProduct> + j * 8 * 128);
  }
  const int i_;
  const unsigned char *A_at_[2], *B_at_[2];
  double sum_[warp_boxes][eights][4];
  double2 a_[2][2], b_[2][eights];
};

}  // namespace

bool gemm_overlapped_usable(int device) {
  return usable<RealProduct>(device);
}

bool gemm_overlapped_possible(View<double> A, View<double> B, View<double> C, const Queue& q) {
  return has_tensor_map(A) && has_tensor_map(B) && has_tensor_map(C) && gemm_overlapped_usable(q.device());
}

void gemm_overlapped(int alpha, View<double> A, View<double> B, View<double> C, Queue& q, Spared spared) {
  if (C.empty() || A.empty()) return;
  DeviceScope scope(q.device());
  const RealProduct::Operands operands{tensor_map("gemm_overlapped", A, box_rows, RealProduct::depth),
                                       tensor_map("gemm_overlapped", B, RealProduct::depth, RealProduct::tile_cols)};
  launch<RealProduct>("gemm_overlapped", alpha, operands, ceil_div(A.cols, RealProduct::depth), A.cols, C, q, spared);
}

}  // namespace devobj::cuda
