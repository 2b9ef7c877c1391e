// What a lane adds to C in gemm_residues's product, and the parts of it that are plain products. gemm_residues.cu says when.
#pragma once

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/residue_copies.cuh"
#include "kernels/cuda/tensor_double.cuh"

namespace devobj::cuda {
namespace residues {

/// What a lane has of a tile: of two columns, 8 apart, four neighbouring doubles of every box: rows, two by two, or complex numbers.
template <class E>
struct LanePart {
  std::int64_t row, col;  // the first
  unsigned char* ring;    // the group's part of stage 0, its column there
  const Block<E>& of;

  /// C += alpha (x, y) in box b: in one of the columns, the first or the second two doubles.
  template <bool in_place>
  __device__ __forceinline__ void add(double alpha, double x, double y, int b, int half, int right,
                                      std::uint32_t stage) const {
    const int lane = threadIdx.x % warp_size;
    if constexpr (!in_place) {
      auto* const c =
          reinterpret_cast<double2*>(ring + stage * Tiles<E>::stage_bytes + b % Tiles<E>::stage_boxes * box_bytes +
                                     right * 8 * 128 + ((2 * (lane % 4) + half) ^ (lane / 4)) * 16);
      const double2 before = *c;
      *c = make_double2(fma(x, alpha, before.x), fma(y, alpha, before.y));
    } else {
      static_assert(!is_device_complex<E>);
      const std::int64_t r = row + b * box_rows<E> + 2 * half, c = col + 8 * right;
      if (c >= of.cols) return;
      if (r < of.rows) of(r, c) = fma(x, alpha, of(r, c));
      if (r + 1 < of.rows) of(r + 1, c) = fma(y, alpha, of(r + 1, c));
    }
  }
};

/// A warp has added to its part of stage c of C.
template <class E>
__device__ __forceinline__ void stage_added(const Places& at, Stage<E>& stage, std::uint32_t group, int c) {
  shared_before_copies();
  __syncwarp();
  if (threadIdx.x % warp_size == 0) barrier_arrive(at.added + 8 * (group * Tiles<E>::C_stages + c));
  stage.next();
}

/// C += alpha A B for the warp's part, by products of double precision: the tensor cores have C's columns as rows, and of its
/// rows eight at a time, such that a lane gets its own.
template <bool in_place, class E>
__device__ __noinline__ void add_plain_product(const Product<E>& g, const LanePart<E>& part, const Places& at,
                                               Stage<E>& stage, std::uint32_t group) {
  using Of = Tiles<E>;
  constexpr int parts = is_device_complex<E> ? 2 : 1;  // of a number
  constexpr int rows = box_rows<E> / 4, eights = box_rows<E> / 8, boxes = Of::stage_boxes;
  const int outer = threadIdx.x % warp_size / 4, inner = threadIdx.x % 4;
  const auto vector = [inner](const Vectors<E>& of, std::int64_t number) {
    return of.data + min(number, of.count - 1) * of.next_vector + inner * of.next_element;
  };
#pragma unroll 1
  for (int c = 0; c < Of::C_stages; ++c) {
    double sum[boxes][eights][parts][4] = {};
    // where a row or column has a NaN nothing else counts
    bool counts = false;
#pragma unroll
    for (int b = 0; b < boxes; ++b)
#pragma unroll
      for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          const float both = g.A.size[part.row + (c * boxes + b) * box_rows<E> + i] + g.B.size[part.col + 8 * j];
          counts = counts || both == both;
          if (both != both)
#pragma unroll
            for (int p = 0; p < parts; ++p) sum[b][i / 2][p][2 * j + i % 2] = both;
        }
    const E *x[boxes][eights], *y[2];
#pragma unroll
    for (int j = 0; j < 2; ++j) y[j] = vector(g.columns, part.col + 8 * j);
#pragma unroll
    for (int b = 0; b < boxes; ++b)
#pragma unroll
      for (int h = 0; h < eights; ++h)
        x[b][h] = vector(g.rows, part.row + (c * boxes + b) * box_rows<E> - rows * inner + outer / 2 * (2 * eights) +
                                     2 * h + outer % 2);
    const int depth = __any_sync(~0u, counts) ? g.depth : 0;
#pragma unroll 2
    for (int k = inner; k - inner < depth; k += 8) {
      E a[2][2], of_b[boxes][eights][2];
      const auto load = [&](E(&to)[2], const E*& from, const Vectors<E>& of) {
#pragma unroll
        for (int s = 0; s < 2; ++s) {
          to[s] = k + 4 * s < depth ? from[4 * s * of.next_element] : E{};
          if constexpr (is_device_complex<E>)
            if (of.conjugated) to[s].y = -to[s].y;
        }
        from += 8 * of.next_element;
      };
#pragma unroll
      for (int j = 0; j < 2; ++j) load(a[j], y[j], g.columns);
#pragma unroll
      for (int b = 0; b < boxes; ++b)
#pragma unroll
        for (int h = 0; h < eights; ++h) load(of_b[b][h], x[b][h], g.rows);
      const auto multiply = [&](double(&to)[4], const E(&right)[2], auto of_left, auto of_right) {
        multiply_16x8x8(to, of_left(a[0][0]), of_left(a[1][0]), of_left(a[0][1]), of_left(a[1][1]), of_right(right[0]),
                        of_right(right[1]));
      };
      const auto real = [](E z) { return re(z); };
      const auto imaginary = [](E z) { return im(z); };
#pragma unroll
      for (int b = 0; b < boxes; ++b)
#pragma unroll
        for (int h = 0; h < eights; ++h) {
          double(&to)[parts][4] = sum[b][h];
          multiply(to[0], of_b[b][h], real, real);
          if constexpr (is_device_complex<E>) {
            multiply(
                to[0], of_b[b][h], [](E z) { return -im(z); }, imaginary);
            multiply(to[1], of_b[b][h], real, imaginary);
            multiply(to[1], of_b[b][h], imaginary, real);
          }
        }
    }
    if constexpr (!in_place) barrier_wait(at.filled + 8 * stage.number, stage.parity);
#pragma unroll
    for (int b = 0; b < boxes; ++b)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          // two rows, or one number's parts
          double first, second;
          if constexpr (is_device_complex<E>) {
            first = sum[b][0][0][2 * j + half];
            second = sum[b][0][1][2 * j + half];
          } else {
            first = sum[b][half][0][2 * j];
            second = sum[b][half][0][2 * j + 1];
          }
          part.template add<in_place>(g.alpha, first, second, c * boxes + b, half, j, stage.number);
        }
    if constexpr (!in_place) stage_added(at, stage, group, c);
  }
}

}  // namespace residues
}  // namespace devobj::cuda
