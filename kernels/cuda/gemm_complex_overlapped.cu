// gemm_complex_overlapped: C += alpha A B, alpha 1 or -1, for complex matrices of double precision by four real products on
// Hopper's tensor cores, C's way from memory and back beside the products (overlapped_product.cuh).
//
//   re(C)     re(A)  -im(A)   re(B)
//         +=                             for each element: 8 x 8 elements of C and a depth of 4 are a product of 16 x 8 x 8
//   im(C)     im(A)   re(A)   im(B)
//
// The operands come by tensor maps, as they lie: eight complex numbers below each other, 16 real rows, are 128 bytes, in which
// 16-byte pieces, a number each, are exchanged. A's boxes are 8 rows high and 8 columns deep, B's 8 deep. Of depth
// 8 h ... 8 h + 7 lane 4 o + i has in row o of A and column o of B first 8 h + 2 i, then the next: so the eight lanes that load
// together meet no bank twice. Columns 2 i and 2 i + 1 are those of C.
#include "kernels/cuda/overlapped_product.cuh"

namespace devobj::cuda {
namespace {

using namespace overlapped;
using Complex = std::complex<double>;

/// In a register of which the compiler does not know what is in it: the grid has one dimension.
__device__ inline int unknown_zero() {
  int zero;
  asm("mov.u32 %0, %%ctaid.z;" : "=r"(zero));
  return zero;
}

class FourProducts : public ProductByHalves<FourProducts, 64> {
 public:
  static constexpr int words = 2, depth = box_rows / 2, stages = 4;
  static constexpr int box_bytes = depth * column_bytes;
  static constexpr int A_bytes = boxes * box_bytes, B_bytes = tile_cols * column_bytes;
  // of 384 threads with 168 registers at the launch
  static constexpr int product_registers = 232, copy_registers = 40;

  __device__ FourProducts(const unsigned char* ring, int warp_row, int warp_col, int lane)
      : i_(lane % 4), zero_(unknown_zero()) {
    const int o = lane / 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int k = 2 * i_ + half;
      A_at_[half] = ring + warp_row * warp_boxes * box_bytes + k * column_bytes + ((o ^ k) * 16);
      B_at_[half] = ring + A_bytes + (warp_col * 8 * eights + o) * column_bytes + ((k ^ o) * 16);
    }
  }
  __device__ int column(int half) const {
    return 2 * i_ + half;
  }
  __device__ void load_A(int into, int stage, int half, int box) {
    a_[into] = *reinterpret_cast<const double2*>(A_at_[half] + stage * stage_bytes<FourProducts> + box * box_bytes);
  }
  __device__ void multiply_box(int box, int half) {
    const double2 a = a_[box % 2];
    const double minus_im = with_sign(a.y, INT32_MIN), re_again = the_same(a.x);
#pragma unroll
    for (int j = 0; j < eights; ++j)
      multiply_16x8x8(sum_[box][j], a.x, a.y, minus_im, re_again, b_[half][j].x, b_[half][j].y);
  }

 private:
  /// Another register: an operand of the tensor cores is eight registers in a row, and where one has two places in it ptxas
  /// copies all eight for each product.
  __device__ double the_same(double x) const {
    return __hiloint2double(__double2hiint(x) ^ zero_, __double2loint(x) ^ zero_);
  }
  const int i_;
  const int zero_;
  const unsigned char* A_at_[2];
  double2 a_[2];
};

bool begins_aligned(View<Complex> X) {
  return reinterpret_cast<std::uintptr_t>(X.data) % 16 == 0;
}
View<double> as_it_lies(View<Complex> X) {
  return {reinterpret_cast<double*>(X.data), 2 * X.rows, X.cols, 2 * X.ld};
}

}  // namespace

bool gemm_complex_overlapped_possible(View<Complex> A, View<Complex> B, View<Complex> C, const Queue& q) {
  return begins_aligned(A) && begins_aligned(B) && begins_aligned(C) && usable<FourProducts>(q.device());
}

void gemm_complex_overlapped(int alpha, View<Complex> A, View<Complex> B, View<Complex> C, Queue& q, Spared spared,
                             const DisplacedRows<Complex>& displaced) {
  require(displaced.from == nullptr || !A.empty(), "gemm_complex_overlapped: displaced rows, but no product");
  if (C.empty() || A.empty()) return;
  DeviceScope scope(q.device());
  constexpr auto name = "gemm_complex_overlapped";
  const FourProducts::Operands operands{tensor_map(name, as_it_lies(A), box_rows, FourProducts::depth),
                                        tensor_map(name, as_it_lies(B), box_rows, FourProducts::tile_cols)};
  launch<FourProducts>(name, alpha, operands, ceil_div(A.cols, FourProducts::depth), 2 * A.cols, as_it_lies(C), q,
                       spared, displaced_of(displaced));
}

}  // namespace devobj::cuda
