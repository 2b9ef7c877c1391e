// The rotations of a band matrix, applied to B. A staircase is up to eight of every column's rotations: see
// kernels/host/givens_simd.hpp for its order, and band_rotate on the host for that of the staircases.
#include <cuda_pipeline.h>

#include "kernels/cuda/rotate.cuh"
#include "kernels/givens.hpp"

namespace devobj::cuda {
namespace {

constexpr int widest = 8;
constexpr int chunk = 32;  // steps between two visits to memory

// One warp has 32 columns of B, a lane each, and goes through all rows with a window of width + 1 of them in registers:
//
//      rows of B      +--------- 32 columns ---------+
//      u0 + width ... |  `lines`: read with a lane   |  a lane takes its row k from the tile, does the rotations of
//      step k
//        32 of them   |  per row, used with a lane   |  and leaves the finished row in its place; the tile is written
//                     |  per column                  |  back `width` rows further up (down: the window goes down)
//                     +------------------------------+
//
// The next tile and the next chunk of rotations are on their way meanwhile.
template <class E, int width, bool down>
__global__ void __launch_bounds__(warp_size)
    band_rotate_kernel(Block<real_e<E>> C, Block<E> S, std::int64_t first, bool inverse, Block<E> B) {
  using R = real_e<E>;
  constexpr E zero{};
  struct Stage {
    E lines[chunk][warp_size + 1];
    E sines[chunk][width];
    R cosines[chunk][width];
  };
  extern __shared__ double2 memory[];
  Stage* stages = reinterpret_cast<Stage*>(memory);
  const int lane = threadIdx.x;
  const std::int64_t n = B.rows, steps = n - first, c0 = std::int64_t(blockIdx.x) * warp_size;
  const int columns = static_cast<int>(min(std::int64_t(warp_size), B.cols - c0));
  const std::int64_t chunks = ceil_div(steps, chunk);
  constexpr int in = down ? width : 0, out = down ? 0 : width;  // rows of a step that are read and written

  // Step `lane` of chunk k (in the order of work) is step u of the staircase.
  auto step_of = [&](std::int64_t k, int s) { return down ? k * chunk + s : steps - 1 - (k * chunk + s); };
  auto fetch = [&](std::int64_t k) {
    Stage& stage = stages[k % 2];
    const std::int64_t u = step_of(k, lane), row = first + u + in;
    const bool there = 0 <= u && u < steps && row < n;
    for (int c = 0; c < columns; ++c)
      if (there)
        __pipeline_memcpy_async(&stage.lines[lane][c], &B(row, c0 + c), sizeof(E));
      else
        stage.lines[lane][c] = zero;
#pragma unroll
    for (int r = 0; r < width; ++r)
      if (0 <= u && u < steps && first + r < C.rows) {
        __pipeline_memcpy_async(&stage.cosines[lane][r], &C(first + r, u), sizeof(R));
        __pipeline_memcpy_async(&stage.sines[lane][r], &S(first + r, u), sizeof(E));
      } else {
        stage.cosines[lane][r] = 1;
        stage.sines[lane][r] = zero;
      }
    __pipeline_commit();
  };

  fetch(0);
  E w[width + 1];
#pragma unroll
  for (int q = 0; q < width; ++q) {
    const std::int64_t row = down ? first + q : first + steps + q;
    w[down ? q : q + 1] = row < n && lane < columns ? B(row, c0 + lane) : zero;
  }
  for (std::int64_t k = 0; k < chunks; ++k) {
    if (k + 1 < chunks) {
      fetch(k + 1);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncwarp();
    Stage& stage = stages[k % 2];
    const int of_chunk = static_cast<int>(min(std::int64_t(chunk), steps - k * chunk));
#pragma unroll 4
    for (int s = 0; s < of_chunk; ++s) {
      w[in] = stage.lines[s][lane];
#pragma unroll
      for (int i = 0; i < width; ++i) {
        const int q = down ? width - 1 - i : i;
        const E sine = stage.sines[s][q];
        rotate_pair(w[q], w[q + 1], stage.cosines[s][q], inverse ? negative(sine) : sine);
      }
      stage.lines[s][lane] = w[out];
#pragma unroll
      for (int i = 0; i < width; ++i) {
        if constexpr (down)
          w[i] = w[i + 1];
        else
          w[width - i] = w[width - 1 - i];
      }
    }
    __syncwarp();
    const std::int64_t u = step_of(k, lane), row = first + u + out;
    if (0 <= u && u < steps && row < n)
      for (int c = 0; c < columns; ++c) B(row, c0 + c) = stage.lines[lane][c];
    __syncwarp();
  }
  if constexpr (!down) {
#pragma unroll
    for (int q = 0; q < width; ++q)
      if (first + q < n && lane < columns) B(first + q, c0 + lane) = w[q + 1];
  }
}

template <class E, int width, bool down>
void launch(View<real_e<E>> C, Block<E> S, std::int64_t first, bool inverse, Block<E> B, Queue& q) {
  const auto kernel = band_rotate_kernel<E, width, down>;
  const int bytes = 2 * (chunk * (warp_size + 1) * sizeof(E) + chunk * width * (sizeof(E) + sizeof(real_e<E>)));
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "band_rotate");
  kernel<<<static_cast<unsigned>(ceil_div(B.cols, warp_size)), warp_size, bytes, stream_of(q)>>>(block_of(C), S, first,
                                                                                                 inverse, B);
}

template <class E>
void launch(int width, View<real_e<E>> C, Block<E> S, std::int64_t first, bool inverse, Block<E> B, Queue& q) {
  auto of_width = [&]<int w>() {
    inverse ? launch<E, w, false>(C, S, first, inverse, B, q) : launch<E, w, true>(C, S, first, inverse, B, q);
  };
  switch (width) {
    case 1:
      return of_width.template operator()<1>();
    case 2:
      return of_width.template operator()<2>();
    case 3:
      return of_width.template operator()<3>();
    case 4:
      return of_width.template operator()<4>();
    default:
      return of_width.template operator()<widest>();
  }
}

}  // namespace

template <class T>
void band_rotate(bool inverse, View<real_t<T>> C, View<T> S, View<T> B, Queue& q) {
  const std::int64_t kl = C.rows, count = ceil_div(kl, widest);
  if (B.empty()) return;
  DeviceScope scope(q.device());
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = (inverse ? i : count - 1 - i) * widest;
    if (first >= B.rows) continue;
    const auto width = static_cast<int>(std::min<std::int64_t>(kl - first, widest));
    launch<device_t<T>>(width, C, block_of(S), first, inverse, block_of(B), q);
    q.launched("band_rotate");
  }
}

#define INSTANTIATE(T) template void band_rotate<T>(bool, View<real_t<T>>, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
