// qr_reflect_strip: C = Q^H C in one kernel, with Q = I - V T V^H of a strip of at most 64 columns.
//
//   rank 0   V_0   C_0     A cluster has 16 columns of C (complex: 8), and each of its blocks a part of the rows: V's in shared
//   rank 1   V_1   C_1     memory, C's in registers.
//     ...    ...   ...       1  W_r = V_r^H C_r                                           every block r
//                            2  W(:, j) = the sum of all W_r(:, j), X(:, j) = T^H W(:, j)   block j mod blocks
//                            3  C_r -= V_r X                                              every block
// Between these steps blocks send columns of W and X to each other (st.async).
//
// Products are in double precision on the tensor cores, also of single precision numbers, which they multiply exactly, at the
// rate that ordinary units have in single precision. A product of 8 x 4 by 4 x 8 takes its 4 rows of V and C in any order:
// lane 4 o + i gets the rows in step 1 that are its rows of the result in step 3, so that C stays in its registers.
#include <cuda_pipeline_primitives.h>

#include <type_traits>

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/asked_once.hpp"
#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/tensor_double.cuh"
#include "kernels/qr_panel_native.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / warp_size;
constexpr int unit = 16;  // rows of C that a warp has at a time

/// A strip of up to 8 `tiles` columns, `units` units of rows for each warp.
template <class E, int tiles, int units>
struct Shape {
  static constexpr int parts = is_device_complex<E> ? 2 : 1;
  static constexpr int k = 8 * tiles;
  static constexpr int column_tiles = 2 / parts;
  static constexpr int columns = 8 * column_tiles;  // of C
  static constexpr int rows = warps * unit * units;
  static constexpr int messages = columns + max_cluster - 2;  // ceil(columns / blocks) * blocks, at most
  // so that what a quarter of a warp reads at a time lies in different banks
  static constexpr int V_pitch = rows + (sizeof(E) == 4 ? 16 : sizeof(E) == 8 ? 2 : 1);
  static constexpr int W_pitch = k + 2 / parts;
};

template <class E, int tiles, int units>
struct Memory {
  using Sizes = Shape<E, tiles, units>;
  alignas(16) E V[Sizes::k][Sizes::V_pitch];
  alignas(16) wide_e<E> parts[warps][Sizes::columns][Sizes::W_pitch];  // W of each warp
  // columns of W from all blocks: column j / blocks, then block
  alignas(16) wide_e<E> received[Sizes::messages][Sizes::k];
  alignas(16) wide_e<E> X[Sizes::columns][Sizes::W_pitch];
  Mailbox for_W, for_X;
};

/// The lane's row n of 8 in half t of a unit, and column p of 4 in half s of eight: such that what it reads lies side by side.
template <class E>
__device__ constexpr int row_in_unit(int t, int n) {
  return sizeof(E) == 16 ? 8 * t + n : 2 * n + t;
}
template <class E>
__device__ constexpr int column_in_tile(int s, int p) {
  return sizeof(E) == 4 ? 4 * s + p : 2 * p + s;
}

/// `count` elements that lie side by side, at a multiple of their size.
template <class E, int count>
struct alignas(sizeof(E) * count) Piece {
  E of[count];
};
template <int count, class E>
__device__ const Piece<E, count>& piece(const E* first) {
  return *reinterpret_cast<const Piece<E, count>*>(first);
}

/// Of a unit in a column of V: x[t][h] is the element in row row_in_unit(t, 2 i + h).
template <class E>
__device__ void read_rows(const E* V, int i, E (&x)[2][2]) {
  if constexpr (sizeof(E) == 4) {
    const auto all = piece<4>(V + 4 * i);
    x[0][0] = all.of[0], x[1][0] = all.of[1], x[0][1] = all.of[2], x[1][1] = all.of[3];
  } else if constexpr (sizeof(E) == 8) {
    const auto first = piece<2>(V + 4 * i), second = piece<2>(V + 4 * i + 2);
    x[0][0] = first.of[0], x[1][0] = first.of[1], x[0][1] = second.of[0], x[1][1] = second.of[1];
  } else {
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
      for (int h = 0; h < 2; ++h) x[t][h] = V[row_in_unit<E>(t, 2 * i + h)];
  }
}
/// x[t] is the element in row row_in_unit(t, n).
template <class E>
__device__ void read_halves(const E* V, int n, E (&x)[2]) {
  if constexpr (sizeof(E) == 16) {
    x[0] = V[n], x[1] = V[8 + n];
  } else {
    const auto both = piece<2>(V + 2 * n);
    x[0] = both.of[0], x[1] = both.of[1];
  }
}

template <class E>
__device__ E narrowed(double re, double im) {
  return from_parts<E>(static_cast<real_e<E>>(re), static_cast<real_e<E>>(im));
}

/// Fetches the block's rows of V, zeros where it has none.
template <int k, int rows, int pitch, class E>
__device__ void fetch(E (&to)[k][pitch], const Block<E>& V, std::int64_t first) {
  constexpr int at_once = 16 / sizeof(E), pieces = rows / at_once;
  const bool aligned =
      (reinterpret_cast<std::uintptr_t>(V.data) | static_cast<std::uintptr_t>(V.ld) * sizeof(E)) % 16 == 0;
  for (int e = threadIdx.x; e < k * pieces; e += threads) {
    const int j = e / pieces, r = e % pieces * at_once;
    const std::int64_t i = first + r;
    if (aligned && j < V.cols && i + at_once <= V.rows) {
      __pipeline_memcpy_async(&to[j][r], &V(i, j), 16);
    } else {
      for (int s = 0; s < at_once; ++s)
        if (j < V.cols && i + s < V.rows)
          __pipeline_memcpy_async(&to[j][r + s], &V(i + s, j), sizeof(E));
        else
          to[j][r + s] = E{};
    }
  }
  __pipeline_commit();
}

/// c += conj(v) x (step 1) for two tiles of V, as parts: c of [parts][2 tile + 0 or 1]
template <int parts>
__device__ void multiply_conjugate(double (&c)[parts][4], const double (&v)[2][parts], const double (&x)[parts]) {
  multiply_16x4x8(c[0], v[0][0], v[1][0], x[0]);
  if constexpr (parts == 2) {
    multiply_16x4x8(c[0], v[0][1], v[1][1], x[1]);
    multiply_16x4x8(c[1], v[0][0], v[1][0], x[1]);
    multiply_16x4x8(c[1], -v[0][1], -v[1][1], x[0]);
  }
}
/// c -= x v (step 3): the two tiles of a real C's columns, or the parts of a complex one's
__device__ inline void multiply_subtract(double (&c)[4], const double (&x)[2][1], const double (&v)[1]) {
  multiply_16x4x8(c, -x[0][0], -x[1][0], v[0]);
}
__device__ inline void multiply_subtract(double (&c)[4], const double (&x)[1][2], const double (&v)[2]) {
  multiply_16x4x8(c, -x[0][0], -x[0][1], v[0]);
  multiply_16x4x8(c, x[0][1], -x[0][0], v[1]);
}
template <int parts, class E>
__device__ void split(E x, double (&of)[parts]) {
  of[0] = re(x);
  if constexpr (parts == 2) of[1] = im(x);
}

template <class E, int tiles, int units>
__global__ void __launch_bounds__(threads, 1) qr_reflect_strip_kernel(Block<E> V, Block<E> T, Block<E> C, int blocks) {
  using Sizes = Shape<E, tiles, units>;
  constexpr int k = Sizes::k, parts = Sizes::parts, column_tiles = Sizes::column_tiles, columns = Sizes::columns;
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& memory = *reinterpret_cast<Memory<E, tiles, units>*>(bytes);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, o = lane / 4, i = lane % 4;
  const int rank = cluster_rank();
  const int own_columns = (columns - rank + blocks - 1) / blocks;  // rank, rank + blocks, ... of W and X
  if (threadIdx.x == 0) {
    open_mailbox(memory.for_W);
    open_mailbox(memory.for_X);
    if (own_columns > 0) expect_bytes(memory.for_W, own_columns * blocks * k * static_cast<int>(sizeof(wide_e<E>)));
    expect_bytes(memory.for_X, columns * k * static_cast<int>(sizeof(wide_e<E>)));
  }
  __syncthreads();
  cluster_arrive();

  const std::int64_t first_row = std::int64_t(rank) * Sizes::rows,
                     first_column = std::int64_t(blockIdx.x / blocks) * columns;
  fetch<k, Sizes::rows>(memory.V, V, first_row);
  // T's column `x_row`, every fourth element, of which x_part is the first
  constexpr int T_elements = k / 4;
  const int x_row = threadIdx.x / 4, x_part = i;
  E t[T_elements];
#pragma unroll
  for (int s = 0; s < T_elements; ++s) {
    const int l = 4 * s + x_part;
    t[s] = l <= x_row && x_row < T.rows ? T(l, x_row) : E{};
  }
  // the warp's part of C: columns o + 8 n, rows row_in_unit(t, 2 i + h); its part p in c[u][t][2 (n + p) + h]
  double c[units][2][4];
  const auto each_element = [&](auto act) {
#pragma unroll
    for (int u = 0; u < units; ++u)
#pragma unroll
      for (int n = 0; n < column_tiles; ++n)
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            const std::int64_t row = first_row + (warp * units + u) * unit + row_in_unit<E>(half, 2 * i + h);
            act(c[u][half][2 * n + h], c[u][half][2 * (n + parts - 1) + h], row, first_column + 8 * n + o);
          }
  };
  each_element([&](double& real, double& imaginary, std::int64_t row, std::int64_t column) {
    const E value = row < C.rows && column < C.cols ? C(row, column) : E{};
    real = re(value);
    if constexpr (parts == 2) imaginary = im(value);
  });
  __pipeline_wait_prior(0);
  __syncthreads();

  // 1: the warp's W
  double w[tiles / 2][column_tiles][parts][4] = {};
#pragma unroll
  for (int u = 0; u < units; ++u) {
#pragma unroll
    for (int tile = 0; tile < tiles; tile += 2) {
      E v[2][2][2];
#pragma unroll
      for (int next = 0; next < 2; ++next)
        read_rows(&memory.V[8 * (tile + next) + o][(warp * units + u) * unit], i, v[next]);
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          double v_parts[2][parts];
          split<parts>(v[0][half][h], v_parts[0]);
          split<parts>(v[1][half][h], v_parts[1]);
#pragma unroll
          for (int n = 0; n < column_tiles; ++n) {
            double x[parts];
#pragma unroll
            for (int p = 0; p < parts; ++p) x[p] = c[u][half][2 * (n + p) + h];
            multiply_conjugate<parts>(w[tile / 2][n], v_parts, x);
          }
        }
    }
  }
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
    for (int n = 0; n < column_tiles; ++n)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int e = 2 * (tile % 2) + h;
        memory.parts[warp][8 * n + 2 * i + h][8 * tile + o] =
            from_parts<wide_e<E>>(w[tile / 2][n][0][e], w[tile / 2][n][parts - 1][e]);
      }
  __syncthreads();
  cluster_wait();

  // 2: the block's W to the owners of its columns
  for (int e = threadIdx.x; e < columns * k; e += threads) {
    const int j = e / k, l = e % k;
    wide_e<E> total = memory.parts[0][j][l];
#pragma unroll
    for (int other = 1; other < warps; ++other) total = sum(total, memory.parts[other][j][l]);
    send(remote_address(&memory.received[j / blocks * blocks + rank][l], j % blocks), total,
         remote_address(&memory.for_W, j % blocks));
  }
  if (own_columns > 0) {
    wait_for_bytes(memory.for_W, 0);
    for (int e = threadIdx.x; e < own_columns * k; e += threads) {
      const int own = e / k, l = e % k;
      wide_e<E> total = memory.received[own * blocks][l];
      for (int other = 1; other < blocks; ++other) total = sum(total, memory.received[own * blocks + other][l]);
      memory.received[own * blocks][l] = total;
    }
    __syncthreads();
    if (x_row < k)
      for (int own = 0; own < own_columns; ++own) {
        wide_e<E> x{};
#pragma unroll
        for (int s = 0; s < T_elements; ++s)
          if (const int l = 4 * s + x_part; l <= x_row)
            x = plus_conjugate_product(x, widened(t[s]), memory.received[own * blocks][l]);
        x = sum(x, shuffle_across(x, 1));
        x = sum(x, shuffle_across(x, 2));
        if (x_row >= V.cols) x = wide_e<E>{};
        for (int to = x_part; to < blocks; to += 4)
          send(remote_address(&memory.X[own * blocks + rank][x_row], to), x, remote_address(&memory.for_X, to));
      }
  }
  wait_for_bytes(memory.for_X, 0);

  // 3
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      const int j = 8 * tile + column_in_tile<E>(s, i);
      double x[column_tiles][parts];
#pragma unroll
      for (int n = 0; n < column_tiles; ++n) split<parts>(memory.X[8 * n + o][j], x[n]);
#pragma unroll
      for (int u = 0; u < units; ++u) {
        E v[2];
        read_halves(&memory.V[j][(warp * units + u) * unit], o, v);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          double v_parts[parts];
          split<parts>(v[half], v_parts);
          multiply_subtract(c[u][half], x, v_parts);
        }
      }
    }
  each_element([&](double& real, double& imaginary, std::int64_t row, std::int64_t column) {
    if (row < C.rows && column < C.cols) C(row, column) = narrowed<E>(real, imaginary);
  });
}

// ---- launch ----

/// Blocks of the largest cluster of this shape that the device can run; 0 if none.
template <class E, int tiles, int units>
int blocks_possible(int device) {
  static AskedOnce<int> known;
  return known.of(device, [](bool&) {
    return largest_cluster(qr_reflect_strip_kernel<E, tiles, units>, threads, sizeof(Memory<E, tiles, units>));
  });
}

/// Whether any GPU has so much shared memory.
template <class E, int tiles, int units>
inline constexpr bool exists = sizeof(Memory<E, tiles, units>) <= 227 * 1024;

/// Whether a cluster of this shape takes V.
template <class E, int tiles, int units>
bool fits(std::int64_t m, std::int64_t w, int device) {
  using Sizes = Shape<E, tiles, units>;
  return w <= Sizes::k && m <= std::int64_t(blocks_possible<E, tiles, units>(device)) * Sizes::rows;
}

template <class E, int tiles, int units>
void launch(const Block<E>& V, const Block<E>& T, const Block<E>& C, Queue& q) {
  using Sizes = Shape<E, tiles, units>;
  const int blocks = static_cast<int>(std::max<std::int64_t>(2, ceil_div(V.rows, Sizes::rows)));  // a cluster
  const ClusterLaunch launch(ceil_div(C.cols, Sizes::columns) * blocks, blocks, threads,
                             sizeof(Memory<E, tiles, units>), stream_of(q));
  check(cudaLaunchKernelEx(&launch.config, qr_reflect_strip_kernel<E, tiles, units>, V, T, C, blocks),
        "qr_reflect_strip");
  q.launched("qr_reflect_strip");
}

/// act.operator()<tiles, units>() for the first shape that takes V; false if there is none.
template <class E, class Act>
bool with_shape(std::int64_t m, std::int64_t w, int device, Act act) {
  const auto takes = [&]<int tiles, int units>() {
    if constexpr (exists<E, tiles, units>)
      if (fits<E, tiles, units>(m, w, device)) {
        act.template operator()<tiles, units>();
        return true;
      }
    return false;
  };
  return takes.template operator()<4, 1>() || takes.template operator()<4, 2>() || takes.template operator()<4, 4>() ||
         takes.template operator()<8, 1>() || takes.template operator()<8, 2>() || takes.template operator()<8, 4>();
}

}  // namespace

template <class T>
bool qr_reflect_strip_fits(std::int64_t m, std::int64_t w, const Queue& q) {
  if (!q.on_cuda()) return false;
  DeviceScope scope(q.device());
  return with_shape<device_t<T>>(m, w, q.device(), [&]<int, int>() {});
}

template <class T>
void qr_reflect_strip(View<T> V, View<T> Tri, View<T> C, Queue& q) {
  using E = device_t<T>;
  if (C.empty()) return;
  DeviceScope scope(q.device());
  const bool done = with_shape<E>(V.rows, V.cols, q.device(), [&]<int tiles, int units>() {
    launch<E, tiles, units>(block_of(V), block_of(Tri), block_of(C), q);
  });
  require(done, "qr_reflect_strip: V is ", V.rows, " x ", V.cols);
}

#define INSTANTIATE(T)                                               \
  template void qr_reflect_strip(View<T>, View<T>, View<T>, Queue&); \
  template bool qr_reflect_strip_fits<T>(std::int64_t, std::int64_t, const Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
