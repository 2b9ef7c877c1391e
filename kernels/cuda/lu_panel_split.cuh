// A group of boxes minus L21 U12 in single precision (lu_panel_boxes.cuh) on the tensor cores, three products for each
// (tensor_single.cuh).
//
//   a group: 32 rows of 16 columns      lane 4 o + i has rows 4 o ... 4 o + 3, which for two products are rows o and o + 8, and of each
//   of 128 bytes                        eight columns 2 i and 2 i + 1
#pragma once

#include "kernels/cuda/lu_panel_links.cuh"
#include "kernels/cuda/tensor_single.cuh"

namespace devobj::cuda::lu {

/// U12 as it is multiplied: by columns, which begin in different banks.
struct SplitColumns {
  static constexpr int depth = 16, stride = depth + 4;
  static constexpr int together = 16;  // columns of a group
  SplitFloat* columns;
  __host__ __device__ static constexpr int bytes(int count) {
    return (count + together - 1) / together * together * stride * static_cast<int>(sizeof(SplitFloat));
  }
  /// Column c. Whether it can be split; else anything is there.
  __device__ bool put(int c, const float (&x)[depth]) const {
    bool possible = true;
    float largest = 0;
#pragma unroll
    for (int i = 0; i < depth; ++i) {
      columns[c * stride + i] = split_finite(x[i]);
      possible = possible && fabsf(x[i]) < split_below;
      largest = fmaxf(largest, fabsf(x[i]));
    }
    return possible && !too_small_to_split(largest);
  }
};

/// A warp's part of L21, 32 rows; members live in registers.
class SplitTile {
  static constexpr int depth = SplitColumns::depth, deep = 4, steps = depth / deep;  // a lane's elements of a row
  static constexpr int rows = 4, eights = SplitColumns::together / 8, width = 2;

 public:
  static constexpr int box_rows = 32, column_bytes = 128;

  /// From a box of its columns; `live` has bits for the rows.
  __device__ SplitTile(const unsigned char* box, std::uint32_t live, int lane)
      : here_(live >> lane / 4 * 4 & 15), all_(__all_sync(all_lanes, here_ == 15)) {
    float largest[rows] = {};  // of a row, what the lane has of it; a NaN does not count
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      const float4 l = *reinterpret_cast<const float4*>(box + place(lane, s * deep + lane % deep));
      const float of_rows[rows] = {here(0) ? l.x : 0, here(1) ? l.y : 0, here(2) ? l.z : 0, here(3) ? l.w : 0};
#pragma unroll
      for (int i = 0; i < rows; ++i) {
        L_[i][s] = split(-of_rows[i]);
        largest[i] = fmaxf(largest[i], fabsf(of_rows[i]));
      }
    }
    const auto some_too_small = [&] {
      bool too_small = false;
#pragma unroll
      for (int i = 0; i < rows; ++i) too_small = too_small || too_small_to_split(largest[i]);
      return __any_sync(all_lanes, too_small);
    };
    possible_ = !some_too_small();
    if (possible_) return;  // else: what one lane has of a row may be small where the row is not
#pragma unroll
    for (int i = 0; i < rows; ++i)
      for (int distance = 1; distance < deep; distance *= 2)
        largest[i] = fmaxf(largest[i], __shfl_xor_sync(all_lanes, largest[i], distance));
    possible_ = !some_too_small();
  }
  /// Whether all of its rows can be split.
  __device__ bool possible() const {
    return possible_;
  }

  /// The group in the boxes minus the products with the first of U's columns. The small products come first, and the sums are added by
  /// themselves, since the tensor cores truncate.
  __device__ void subtract(unsigned char* group, const SplitFloat* U, int lane) const {
    const SplitFloat* const u = U + lane / 4 * SplitColumns::stride + lane % deep;
    SplitFloat b[eights][steps];
#pragma unroll
    for (int c = 0; c < eights; ++c)
#pragma unroll
      for (int s = 0; s < steps; ++s) b[c][s] = u[8 * c * SplitColumns::stride + s * deep];
    float sum[eights][2][4] = {};
    const auto add = [&](auto part_of_L, auto part_of_U) {
#pragma unroll
      for (int s = 0; s < steps; s += 2)
#pragma unroll
        for (int c = 0; c < eights; ++c)
#pragma unroll
          for (int t = 0; t < 2; ++t)
            multiply_16x8x8(sum[c][t], part_of_L(L_[2 * t][s]), part_of_L(L_[2 * t + 1][s]),
                            part_of_L(L_[2 * t][s + 1]), part_of_L(L_[2 * t + 1][s + 1]), part_of_U(b[c][s]),
                            part_of_U(b[c][s + 1]));
    };
    const auto large = [](const SplitFloat& x) { return x.large; };
    const auto small = [](const SplitFloat& x) { return x.small; };
    add(small, large);
    add(large, small);
    add(large, large);
    each(group, lane, [&](float4& x, int c, int j) {
      x.x = here(0) ? x.x + sum[c][0][j] : x.x;
      x.y = here(1) ? x.y + sum[c][0][2 + j] : x.y;
      x.z = here(2) ? x.z + sum[c][1][j] : x.z;
      x.w = here(3) ? x.w + sum[c][1][2 + j] : x.w;
    });
  }
  /// The same without splitting anything: L from its box, U by columns of `depth` numbers.
  __device__ void subtract_plain(unsigned char* group, const unsigned char* box, const float* U, int lane) const {
    each(group, lane, [&](float4& x, int c, int j) {
      const float* const u = U + (8 * c + lane % 4 * width + j) * depth;
#pragma unroll 1
      for (int k = 0; k < depth; ++k) {
        const float4 l = *reinterpret_cast<const float4*>(box + place(lane, k));
        if (here(0)) x.x = minus_product(x.x, l.x, u[k]);
        if (here(1)) x.y = minus_product(x.y, l.y, u[k]);
        if (here(2)) x.z = minus_product(x.z, l.z, u[k]);
        if (here(3)) x.w = minus_product(x.w, l.w, u[k]);
      }
    });
  }

 private:
  __device__ bool here(int i) const {
    return all_ || (here_ >> i & 1);
  }
  /// Where the lane's four rows of a column are in a box.
  __device__ static int place(int lane, int column) {
    return column * column_bytes + (lane / 4 ^ column % 8) * 16;
  }
  /// act(x, c, j) for the lane's rows of the columns in the boxes, j of each eight, number c.
  template <class Act>
  __device__ static void each(unsigned char* group, int lane, Act act) {
#pragma unroll
    for (int j = 0; j < width; ++j) {
      unsigned char* const at = group + place(lane, lane % 4 * width + j);
#pragma unroll
      for (int c = 0; c < eights; ++c) {
        float4* const piece = reinterpret_cast<float4*>(at + 8 * c * column_bytes);
        float4 x = *piece;
        act(x, c, j);
        *piece = x;
      }
    }
  }

  SplitFloat L_[rows][steps];  // negative
  unsigned here_;              // a bit for each of the lane's rows
  bool all_, possible_;        // of all lanes
};

}  // namespace devobj::cuda::lu
