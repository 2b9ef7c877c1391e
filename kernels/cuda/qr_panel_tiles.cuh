// Small squares as tiles of 8 x 8 in shared memory, and what a warp has of a tile: for products on the tensor cores.
#pragma once

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/tensor_double.cuh"

namespace devobj::cuda::qr_panel {

inline constexpr int tile_side = 8;

/// What a lane has of a tile: of lane 4 o + p, straight, the elements (o, 2 p + h), or, transposed, the elements (2 p + h, o). Real
/// parts, then imaginary ones. Straight is a result of the tensor cores and a left operand, whose columns they then take in the
/// order 0, 2, 4, 6, 1, 3, ...; transposed is a right operand for that.
template <class D>
struct Fragment {
  static constexpr int parts = is_device_complex<D> ? 2 : 1;
  double x[parts][2] = {};

  __device__ D of(int h) const { return from_parts<D>(x[0][h], x[parts - 1][h]); }
  __device__ void set(int h, D value) {
    x[0][h] = re(value);
    if constexpr (parts == 2) x[1][h] = im(value);
  }
  __device__ Fragment conjugated() const {
    Fragment result = *this;
    if constexpr (parts == 2)
#pragma unroll
      for (int h = 0; h < 2; ++h) result.x[1][h] = -x[1][h];
    return result;
  }
  __device__ Fragment negated() const {
    Fragment result;
#pragma unroll
    for (int part = 0; part < parts; ++part)
#pragma unroll
      for (int h = 0; h < 2; ++h) result.x[part][h] = -x[part][h];
    return result;
  }
};
__device__ inline int fragment_row() {
  return static_cast<int>(threadIdx.x) % warp_size / 4;
}
__device__ inline int fragment_column(int h) {
  return 2 * (static_cast<int>(threadIdx.x) % 4) + h;
}

/// A tile in shared memory, so that no access of a fragment meets in a bank.
template <class D>
struct alignas(16) Tile {
  static constexpr int parts = Fragment<D>::parts, pitch = tile_side + 2;
  double x[parts][tile_side * pitch];

  __device__ Fragment<D> straight() const {
    Fragment<D> f;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      const auto pair = *reinterpret_cast<const double2*>(&x[part][fragment_row() * pitch + fragment_column(0)]);
      f.x[part][0] = pair.x, f.x[part][1] = pair.y;
    }
    return f;
  }
  __device__ Fragment<D> transposed() const {
    Fragment<D> f;
#pragma unroll
    for (int part = 0; part < parts; ++part)
#pragma unroll
      for (int h = 0; h < 2; ++h) f.x[part][h] = x[part][fragment_column(h) * pitch + fragment_row()];
    return f;
  }
  __device__ void store(const Fragment<D>& f) {
#pragma unroll
    for (int part = 0; part < parts; ++part)
      *reinterpret_cast<double2*>(&x[part][fragment_row() * pitch + fragment_column(0)]) = {f.x[part][0], f.x[part][1]};
  }
  __device__ void store_transposed(const Fragment<D>& f) {
#pragma unroll
    for (int part = 0; part < parts; ++part)
#pragma unroll
      for (int h = 0; h < 2; ++h) x[part][fragment_column(h) * pitch + fragment_row()] = f.x[part][h];
  }
  __device__ D operator()(int i, int j) const {
    return from_parts<D>(x[0][i * pitch + j], x[parts - 1][i * pitch + j]);
  }
};

/// c += a b, b transposed
template <class D>
__device__ __forceinline__ void add_product(Fragment<D>& c, const Fragment<D>& a, const Fragment<D>& b) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    multiply_8x4x8(c.x[0], a.x[0][h], b.x[0][h]);
    if constexpr (is_device_complex<D>) {
      multiply_8x4x8(c.x[0], -a.x[1][h], b.x[1][h]);
      multiply_8x4x8(c.x[1], a.x[0][h], b.x[1][h]);
      multiply_8x4x8(c.x[1], a.x[1][h], b.x[0][h]);
    }
  }
}

/// A square of tiles, or a triangle of them.
template <class D, int n>
struct Tiles {
  Tile<D> tile[n][n];
  __device__ Tile<D>& operator()(int i, int j) { return tile[i][j]; }
  __device__ const Tile<D>& operator()(int i, int j) const { return tile[i][j]; }
};
/// act(i, j) for the tiles of an upper triangle, dealt out to the warps.
template <int n, class Act>
__device__ __forceinline__ void each_upper_tile(int warp, int warps, Act act) {
  int j = 0;
#pragma unroll 1
  for (int t = warp; t < n * (n + 1) / 2; t += warps) {
    while ((j + 1) * (j + 2) / 2 <= t) ++j;
    act(t - j * (j + 1) / 2, j);
  }
}
/// A warp: to[e] += left right[e] for `count` tiles, `step` apart among the tiles on the right; in `to` they lie side by side.
/// `fresh`: to has zeros.
template <class D, bool right_transposed>
__device__ __forceinline__ void add_products(Tile<D>* to, const Fragment<D>& left, const Tile<D>* right, int step,
                                             int count, bool fresh) {
#pragma unroll 2
  for (int e = 0; e < count; ++e) {
    Fragment<D> c;
    if (!fresh) c = to[e].straight();
    const Tile<D>& tile = right[e * step];
    add_product(c, left, right_transposed ? tile.transposed() : tile.straight().conjugated());
    to[e].store(c);
  }
}

/// An element of a fragment of the warp: row i, column j, j the same in all lanes; any number beyond the tile.
template <class D>
__device__ __forceinline__ D element_of(const Fragment<D>& f, int i, int j) {
  return shuffle(f.of(j % 2), (4 * i + j / 2) % warp_size);
}
/// The row k of a fragment: element h is that in the lane's column.
template <class D>
__device__ __forceinline__ Fragment<D> row_of(const Fragment<D>& f, int k) {
  Fragment<D> row;
#pragma unroll
  for (int h = 0; h < 2; ++h) row.set(h, shuffle(f.of(h), 4 * k + static_cast<int>(threadIdx.x) % 4));
  return row;
}

}  // namespace devobj::cuda::qr_panel
