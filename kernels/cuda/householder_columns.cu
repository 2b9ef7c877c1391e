// QR by one reflector after the other, a kernel each: every column right of it is read once and written once, so that
// the memory's speed is the limit. LAPACK's geqr2, larfg, larf.
#include <cooperative_groups.h>

#include <cfloat>

#include "kernels/cuda/rotate.cuh"
#include "kernels/householder.hpp"

namespace devobj::cuda {
namespace {

constexpr int most_threads = 1024;
constexpr int most_warps = most_threads / warp_size;
template <class E>
constexpr int most_places = sizeof(E) == 16 ? 8 : 16;  // rows of a thread for which there are registers

__device__ inline double square(float a) {
  return double(a) * a;
}
__device__ inline double square(double a) {
  return a * a;
}
__device__ inline double square(cuComplex a) {
  return double(a.x) * a.x + double(a.y) * a.y;
}
__device__ inline double square(cuDoubleComplex a) {
  return a.x * a.x + a.y * a.y;
}
/// The largest part, NaN if there is one.
__device__ inline double size_of(float a) {
  return fabs(double(a));
}
__device__ inline double size_of(double a) {
  return fabs(a);
}
template <class E>
__device__ inline double size_of(E a) {
  const double x = fabs(double(a.x)), y = fabs(double(a.y));
  return x > y || x != x ? x : y;
}
__device__ inline double real_part(float a) {
  return a;
}
__device__ inline double real_part(double a) {
  return a;
}
template <class E>
__device__ inline double real_part(E a) {
  return a.x;
}
template <class E>
__device__ inline double imaginary_part(E a) {
  if constexpr (is_device_complex<E>) return a.y;
  return 0;
}
template <class E>
__device__ inline E from_parts(double re, double im) {
  if constexpr (is_device_complex<E>)
    return {static_cast<real_e<E>>(re), static_cast<real_e<E>>(im)};
  else
    return static_cast<E>(re);
}

template <class E>
__device__ E shuffle_down(E x, int distance) {
  if constexpr (is_device_complex<E>)
    return {__shfl_down_sync(0xffffffffu, x.x, distance), __shfl_down_sync(0xffffffffu, x.y, distance)};
  else
    return __shfl_down_sync(0xffffffffu, x, distance);
}

struct Add {
  template <class E>
  __device__ E operator()(E a, E b) const {
    return sum(a, b);
  }
};

/// What a reflector is made of: ||x||^2, the largest part of x, and alpha, which one thread contributes.
struct Norms {
  double squares = 0, most = 0, re = 0, im = 0;
};
__device__ inline Norms shuffle_down(Norms n, int distance) {
  return {shuffle_down(n.squares, distance), shuffle_down(n.most, distance), shuffle_down(n.re, distance),
          shuffle_down(n.im, distance)};
}
__device__ inline double larger_part(double a, double b) {
  return a > b || a != a ? a : b;
}
struct Merge {
  __device__ Norms operator()(Norms a, Norms b) const {
    return {a.squares + b.squares, larger_part(a.most, b.most), a.re + b.re, a.im + b.im};
  }
};

/// The blocks that share a column: a cluster, or one block where there are none.
template <bool clusters>
struct Group {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  __device__ static int rank() {
    if constexpr (clusters) return static_cast<int>(cooperative_groups::this_cluster().block_rank());
    return 0;
  }
  __device__ static int size() {
    if constexpr (clusters) return static_cast<int>(cooperative_groups::this_cluster().num_blocks());
    return 1;
  }
  __device__ static void barrier() {
    if constexpr (clusters)
      cooperative_groups::this_cluster().sync();
    else
      __syncthreads();
  }
  template <class V>
  __device__ static V of(V& value, int rank) {
    if constexpr (clusters) return *cooperative_groups::this_cluster().map_shared_rank(&value, rank);
    return value;
  }
#else  // never launched with clusters
  __device__ static int rank() {
    return 0;
  }
  __device__ static int size() {
    return 1;
  }
  __device__ static void barrier() {
    __syncthreads();
  }
  template <class V>
  __device__ static V of(V& value, int) {
    return value;
  }
#endif
};

/// Room for one reduction: one of a kernel's own for each, so that none waits for the readers of the one before.
template <class V>
struct Room {
  V of_warp[most_warps];
  V of_block;
};
/// The group's values combined, in every thread, in one order.
template <bool clusters, class V, class Combine>
__device__ V combined(V x, Room<V>& room, Combine combine) {
  const int warps = blockDim.x / warp_size, lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2) x = combine(x, shuffle_down(x, distance));
  if (lane == 0) room.of_warp[warp] = x;
  __syncthreads();
  if (warp == 0) {
    x = lane < warps ? room.of_warp[lane] : V{};
#pragma unroll
    for (int distance = warp_size / 2; distance > 0; distance /= 2) x = combine(x, shuffle_down(x, distance));
    if (lane == 0) room.of_block = x;
  }
  Group<clusters>::barrier();
  V all = Group<clusters>::of(room.of_block, 0);
  for (int r = 1; r < Group<clusters>::size(); ++r) all = combine(all, Group<clusters>::of(room.of_block, r));
  return all;
}

/// The rows below the reflector's own that a thread has: `places` in registers, or all of them in memory (places = 0).
template <class E, int places, bool clusters>
struct ColumnPart {
  static constexpr int size = places == 0 ? 1 : places;
  // The most are only in blocks of most_threads: offsets are constants then, and need no registers.
  static constexpr bool full = places == most_places<E> && !clusters;
  E value[size];

  template <class F>
  __device__ void each(std::int64_t rows, F f) {
    const std::int64_t first = threadIdx.x + std::int64_t(Group<clusters>::rank()) * blockDim.x,
                       step = full ? most_threads : std::int64_t(Group<clusters>::size()) * blockDim.x;
    if constexpr (places > 0) {
#pragma unroll
      for (int r = 0; r < places; ++r) {
        const std::int64_t i = first + r * step;
        if (i < rows) f(i, value[r]);
      }
    } else {
      for (std::int64_t i = first; i < rows; i += step) f(i, value[0]);
    }
  }
};

// Group k (a block, or a cluster of blocks) has column j + k. It applies reflector j - 1, H^H a = a - conj(tau) v (v^H
// a), and the group of column j then makes reflector j of it:
//
//              j-1  j             row j - 1:  R(j-1, k), the v's 1
//            +----+---+---+---+   rows below: v in column j - 1, written by the launch before
//    j - 1   |  R | r | r | r |
//    j       |  v | a | a | a |   a thread has every so-many-th row, in registers
//            |  v | a | a | a |
template <class E, int places, bool clusters>
__global__ void __launch_bounds__(most_threads, 1) reflect_kernel(Block<E> A, Strided<E> tau, std::int64_t j) {
  using In = Group<clusters>;
  __shared__ Room<E> dots;
  __shared__ Room<Norms> norms[2];
  const std::int64_t k = j + blockIdx.x / In::size(), rows = A.rows - j;  // below row j - 1
  E* a = &A(0, k) + j;
  ColumnPart<E, places, clusters> mine;
  constexpr bool kept = places > 0;
  const bool leader = threadIdx.x == 0 && In::rank() == 0;
  if constexpr (kept) mine.each(rows, [&](std::int64_t i, E& x) { x = a[i]; });

  if (j > 0) {
    const E* v = &A(0, j - 1) + j;
    const E t = conjugate(tau[j - 1]), top = a[-1];
    E dot{};
    mine.each(rows, [&](std::int64_t i, E& x) { dot = sum(dot, product(conjugate(v[i]), kept ? x : a[i])); });
    dot = sum(combined<clusters>(dot, dots, Add{}), top);
    const E factor = negative(product(t, dot));
    if (!is_zero(t)) {
      if (leader) a[-1] = sum(top, factor);
      mine.each(rows, [&](std::int64_t i, E& x) {
        const E y = sum(kept ? x : a[i], product(v[i], factor));
        if (kept) x = y;
        if (!kept || k != j) a[i] = y;
      });
    }
  }
  if (k == j && j < min(A.rows, A.cols)) {
    // reflector j: alpha = row j, x = the rows below
    Norms n;
    mine.each(rows, [&](std::int64_t i, E& x) {
      const E y = kept ? x : a[i];
      if (i == 0) {
        n.re = real_part(y);
        n.im = imaginary_part(y);
      } else {
        n.squares += square(y);
        n.most = larger_part(n.most, size_of(y));
      }
    });
    n = combined<clusters>(n, norms[0], Merge{});
    double unit = 1;
    const double size = larger_part(n.most, larger_part(fabs(n.re), fabs(n.im)));
    if (!(size > 0x1p-480 && size < 0x1p480) && size > 0) {
      // sums of squares that could over- or underflow: in units of the largest part
      int exponent = 0;
      if (size < DBL_MAX) frexp(size, &exponent);
      unit = ldexp(1.0, -exponent / 2);  // twice: 2^-exponent itself may overflow
      Norms again;
      mine.each(rows, [&](std::int64_t i, E& x) {
        const E y = kept ? x : a[i];
        const double p = real_part(y) * unit * unit, r = imaginary_part(y) * unit * unit;
        if (i > 0) again.squares += p * p + r * r;
      });
      n.squares = combined<clusters>(again, norms[1], Merge{}).squares;
      n.re = n.re * unit * unit;
      n.im = n.im * unit * unit;
    }
    const bool identity = n.most == 0 && n.im == 0;  // nothing to annihilate
    const double beta = -copysign(sqrt(n.re * n.re + n.im * n.im + n.squares), n.re);
    // scale = 1 / (alpha - beta), in double precision: it may be larger than any float
    const double dr = n.re - beta, norm = dr * dr + n.im * n.im;
    const double sr = dr / norm, si = -n.im / norm;
    if (leader) tau[j] = identity ? E{} : from_parts<E>((beta - n.re) / beta, -n.im / beta);
    mine.each(rows, [&](std::int64_t i, E& x) {
      const E y = kept ? x : a[i];
      const double p = real_part(y) * unit * unit, r = imaginary_part(y) * unit * unit;
      if (identity)
        a[i] = y;
      else
        a[i] = i == 0 ? from_parts<E>(beta / unit / unit, 0) : from_parts<E>(p * sr - r * si, p * si + r * sr);
    });
  }
  if constexpr (clusters) In::barrier();  // no block ends while others read its room
}

template <class T, int places, bool clusters>
void launch(View<T> A, View<T> tau, std::int64_t j, std::int64_t columns, int threads, int blocks, Queue& q) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(columns * blocks));
  config.blockDim = dim3(threads);
  config.stream = stream_of(q);
  cudaLaunchAttribute cluster;
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  config.attrs = &cluster;
  config.numAttrs = clusters ? 1 : 0;
  check(cudaLaunchKernelEx(&config, reflect_kernel<device_t<T>, places, clusters>, block_of(A), vector_of(tau), j),
        "householder_columns");
}

template <class T, bool clusters>
void reflect(View<T> A, View<T> tau, std::int64_t j, std::int64_t columns, int threads, int blocks, Queue& q) {
  constexpr int most = most_places<T>;
  const std::int64_t places = ceil_div(A.rows - j, std::int64_t(threads) * blocks);
  if (places <= 1)
    launch<T, 1, clusters>(A, tau, j, columns, threads, blocks, q);
  else if (places <= 2)
    launch<T, 2, clusters>(A, tau, j, columns, threads, blocks, q);
  else if (places <= 4)
    launch<T, 4, clusters>(A, tau, j, columns, threads, blocks, q);
  else if (places <= most / 2)
    launch<T, most / 2, clusters>(A, tau, j, columns, threads, blocks, q);
  else if (places <= most)
    launch<T, most, clusters>(A, tau, j, columns, threads, blocks, q);
  else
    launch<T, 0, clusters>(A, tau, j, columns, threads, blocks, q);
}

bool has_clusters(int device) {
  int clusters = 0;
  check(cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, device), "householder_columns");
  return clusters != 0;
}

}  // namespace

template <class T>
void householder_columns(View<T> A, View<T> tau, Queue& q) {
  const std::int64_t k = diagonal(A);
  if (k == 0) return;
  DeviceScope scope(q.device());
  const bool clusters = has_clusters(q.device());
  constexpr std::int64_t most = most_places<T>, few = most / 2;
  constexpr std::int64_t resident = 132 * most_threads;  // threads that run at once, about
  for (std::int64_t j = 0; j <= k; ++j) {
    // reflector j - 1 reaches all columns from j on; column j, if it has a reflector, goes on to make it
    const std::int64_t rows = std::max<std::int64_t>(1, A.rows - j), columns = j == 0 ? 1 : A.cols - j;
    if (columns <= 0) break;
    // all at once if the GPU has room for it, in small blocks, whose barriers are quick; otherwise a block for a
    // column, if it can hold one: clusters are slow to begin
    const bool at_once = rows * columns <= few * resident;
    const std::int64_t each = rows * columns <= few / 2 * resident    ? few / 2
                              : at_once || rows <= few * most_threads ? few
                                                                      : most,
                       rows_of_block = at_once ? 256 * each : most * most_threads;
    int blocks = 1;
    while (clusters && blocks < 8 && rows > blocks * rows_of_block) blocks *= 2;
    const int threads = each == most ? most_threads
                                     : static_cast<int>(std::clamp<std::int64_t>(
                                           ceil_div(rows, blocks * each * warp_size) * warp_size, 128, most_threads));
    if (blocks > 1)
      reflect<T, true>(A, tau, j, columns, threads, blocks, q);
    else
      reflect<T, false>(A, tau, j, columns, threads, 1, q);
  }
  q.launched("householder_columns");
}

template <class T>
void householder_panel(View<T> A, View<T> tau, Queue& q) {
  householder_columns(A, tau, q);
}

#define INSTANTIATE(T)                                            \
  template void householder_columns<T>(View<T>, View<T>, Queue&); \
  template void householder_panel<T>(View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
