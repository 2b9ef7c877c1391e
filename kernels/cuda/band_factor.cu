// Givens QR of a band matrix: one rotation after the other, by one warp for narrow bands and one block for wide ones.
// The time is that of n kl dependent rotations.
#include <cuda_pipeline.h>

#include "devobj/matrix.hpp"
#include "kernels/cuda/generate.cuh"
#include "kernels/cuda/rotate.cuh"
#include "kernels/givens.hpp"

namespace devobj::cuda {
namespace {

constexpr int most_subdiagonals = 4;  // of the warp's kernel
constexpr int chunk = 32;             // rows read at a time, one chunk ahead

// Row i of A as a column: its columns i - kl ... i + ku; the rest of `length` is room for what fills in.
template <class E>
struct RowOfBand {
  Block<E> AB;
  std::int64_t lower, upper, n;
  E zero;
  __device__ E operator()(std::int64_t p, std::int64_t i) const {
    const std::int64_t j = i - lower + p;
    return p <= lower + upper && 0 <= j && j < n ? AB(upper + i - j, j) : zero;
  }
};

// One warp; a lane has the columns congruent to it modulo 32, a register for each of the kl + 1 rows in the window:
//
//        lane   j  j+1 ...  j+w-1               rows come from `chunks` in shared memory, which is filled one chunk
//        ahead
//   v[0] row j  f   x   x   x                   f and g are broadcast, all lanes find c and s
//   v[1]        g   x   x   x    w = kl + ku + 1 <= 32
template <class E, int kl>
__global__ void __launch_bounds__(warp_size)
    band_factor_warp_kernel(const E* __restrict__ rows, int width, std::int64_t n, Block<real_e<E>> C, Block<E> S,
                            Block<E> RB) {
  constexpr E zero{};
  extern __shared__ double2 memory[];
  E* chunks = reinterpret_cast<E*>(memory);  // two of them
  const int lane = threadIdx.x, elements = chunk * width;
  auto fetch = [&](std::int64_t k) {
    const std::int64_t begin = k * elements, end = n * width;
    E* to = chunks + (k % 2) * elements;
    for (int e = lane; e < elements; e += warp_size)
      if (begin + e < end) __pipeline_memcpy_async(to + e, rows + begin + e, sizeof(E));
    __pipeline_commit();
  };
  // row i's element of this lane, whose window of columns starts at `first`
  auto element = [&](std::int64_t i, std::int64_t first) {
    const int p = static_cast<int>((lane - first) & (warp_size - 1));
    return i < n && p < width ? chunks[((i / chunk) % 2) * elements + (i % chunk) * width + p] : zero;
  };
  fetch(0);
  fetch(1);
  __pipeline_wait_prior(0);
  __syncwarp();
  E v[kl + 1];
  // rows 0 ... kl: row i's first column is i - kl, those left of column 0 are zero and their lanes' turn comes later
#pragma unroll
  for (int q = 0; q <= kl; ++q) {
    v[q] = element(q, q - kl);
    const int p = (lane - (q - kl)) & (warp_size - 1);
    if (q - kl + p < 0) v[q] = zero;
  }
  for (std::int64_t j = 0; j < n; ++j) {
    const int at = static_cast<int>(j & (warp_size - 1));
#pragma unroll
    for (int r = kl - 1; r >= 0; --r) {
      const E f = shuffle(v[r], at), g = shuffle(v[r + 1], at);
      real_e<E> c;
      E s, top;
      make_rotation_of(f, g, c, s, top);
      if (!is_zero(g)) {
        rotate_pair(v[r], v[r + 1], c, s);
        if (lane == at) {
          v[r] = top;
          v[r + 1] = zero;
        }
      }
      if (lane == r) {
        C(r, j) = c;
        S(r, j) = s;
      }
    }
    const int p = (lane - at) & (warp_size - 1);
    if (p < width) RB(p, j) = v[0];
#pragma unroll
    for (int q = 0; q < kl; ++q) v[q] = v[q + 1];
    const std::int64_t next = j + 1 + kl;
    if (next % chunk == 0) {  // a new chunk begins, and the one before it is used up
      __pipeline_wait_prior(0);
      __syncwarp();
      if ((next / chunk + 1) * chunk < n) fetch(next / chunk + 1);
    }
    v[kl] = element(next, j + 1);
  }
}

// One block; the rows stay in memory. Row i's column j is at W(j - i + kl, i).
template <class E>
__global__ void __launch_bounds__(threads_per_block)
    band_factor_block_kernel(Block<E> W, std::int64_t kl, Block<real_e<E>> C, Block<E> S, Block<E> RB) {
  constexpr E zero{};
  const std::int64_t n = W.cols;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t r = kl - 1; r >= 0; --r) {
      const std::int64_t i = j + r;
      real_e<E> c = 1;
      E s = zero, top = zero;
      bool turns = false;
      if (i + 1 < n) {
        const E f = W(j - i + kl, i), g = W(j - i - 1 + kl, i + 1);
        turns = !is_zero(g);
        if (turns) make_rotation_of(f, g, c, s, top);
      }
      __syncthreads();
      if (turns)
        for (std::int64_t p = threadIdx.x; p < min(RB.rows, n - j); p += blockDim.x) {
          E &x = W(j + p - i + kl, i), &y = W(j + p - i - 1 + kl, i + 1);
          rotate_pair(x, y, c, s);
          if (p == 0) {
            x = top;
            y = zero;
          }
        }
      if (threadIdx.x == 0) {
        C(r, j) = c;
        S(r, j) = s;
      }
      __syncthreads();
    }
    for (std::int64_t p = threadIdx.x; p < RB.rows; p += blockDim.x) RB(p, j) = j + p < n ? W(p + kl, j) : zero;
  }
}

template <class T, int kl = 1>
void launch_warp(std::int64_t lower, View<T> rows, View<real_t<T>> C, View<T> S, View<T> RB, Queue& q) {
  if constexpr (kl <= most_subdiagonals) {
    if (lower != kl) return launch_warp<T, kl + 1>(lower, rows, C, S, RB, q);
    const std::size_t bytes = 2 * chunk * rows.rows * sizeof(T);
    band_factor_warp_kernel<device_t<T>, kl><<<1, warp_size, bytes, stream_of(q)>>>(
        raw(rows.data), static_cast<int>(rows.rows), rows.cols, block_of(C), block_of(S), block_of(RB));
  }
}

}  // namespace

template <class T>
void band_factor(View<T> AB, Bandwidths band, View<real_t<T>> C, View<T> S, View<T> RB, Queue& q) {
  using E = device_t<T>;
  const std::int64_t n = AB.cols, kl = band.lower, ku = band.upper, width = kl + ku + 1;
  if (n == 0) return;
  DeviceScope scope(q.device());
  const bool by_warp = 1 <= kl && kl <= most_subdiagonals && width <= warp_size;
  Matrix<T> rows(by_warp ? width : width + kl, n, q);
  generate<E>("band_factor", Uplo::General, block_of(rows.view()),
              RowOfBand<E>{block_of(AB), kl, ku, n, raw_value(T(0))}, q);
  if (by_warp)
    launch_warp(kl, rows.view(), C, S, RB, q);
  else
    band_factor_block_kernel<E>
        <<<1, threads_per_block, 0, stream_of(q)>>>(block_of(rows.view()), kl, block_of(C), block_of(S), block_of(RB));
  q.launched("band_factor");
}

#define INSTANTIATE(T) template void band_factor<T>(View<T>, Bandwidths, View<real_t<T>>, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
