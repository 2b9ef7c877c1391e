// reflect_batched: B = Q^H B for many matrices, one reflector after the other. A warp has up to four columns of a B in
// registers, lane p rows p, p + 32, ..., and reads each reflector once for all of them.
#include "kernels/cuda/batched_lanes.cuh"

namespace devobj::cuda {
namespace {

constexpr int reflect_threads = 256;
constexpr int reflect_warps = reflect_threads / warp_size;

// m <= 32 R. blockIdx.x is the matrix, blockIdx.y counts blocks of reflect_warps * C columns.
template <class E, int R, int C>
__global__ void __launch_bounds__(reflect_threads)
    reflect_kernel(Batch<E> reflectors, const E* tau, std::int64_t ldt, int k, Batch<E> batch) {
  const Block<E> V = matrix_of(reflectors, blockIdx.x), B = matrix_of(batch, blockIdx.x);
  const int m = static_cast<int>(B.rows), lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  tau += blockIdx.x * ldt;
  for (std::int64_t c0 = (std::int64_t(blockIdx.y) * reflect_warps + warp) * C; c0 < B.cols;
       c0 += std::int64_t(gridDim.y) * reflect_warps * C) {
    E b[C][R];
#pragma unroll
    for (int c = 0; c < C; ++c)
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const int i = lane + r * warp_size;
        b[c][r] = i < m && c0 + c < B.cols ? B(i, c0 + c) : E{};
      }
    for (int j = 0; j < k; ++j) {
      const E tau_j = tau[j];
      if (is_zero(tau_j)) continue;
      E v[R];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const int i = lane + r * warp_size;
        v[r] = i > j && i < m ? V(i, j) : from_parts<E>(i == j ? 1 : 0, 0);
      }
      // b -= v conj(tau) v^H b
#pragma unroll
      for (int c = 0; c < C; ++c) {
        E dot{};
#pragma unroll
        for (int r = 0; r < R; ++r)
          if (lane + r * warp_size >= j) dot = plus_conjugate_product(dot, v[r], b[c][r]);
        const E w = product(conjugate(tau_j), sum_of_lanes<warp_size>(dot));
#pragma unroll
        for (int r = 0; r < R; ++r)
          if (lane + r * warp_size >= j) b[c][r] = minus_product(b[c][r], v[r], w);
      }
    }
#pragma unroll
    for (int c = 0; c < C; ++c)
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const int i = lane + r * warp_size;
        if (i < m && c0 + c < B.cols) B(i, c0 + c) = b[c][r];
      }
  }
}

template <class E, int R>
void launch(const Batch<E>& V, const E* tau, std::int64_t ldt, int k, const Batch<E>& B, Queue& q) {
  constexpr int in_registers = 512 / (R * static_cast<int>(sizeof(E)));
  constexpr int C = in_registers >= 4 ? 4 : in_registers >= 2 ? 2 : 1;
  const dim3 grid(static_cast<unsigned>(B.count),
                  static_cast<unsigned>(std::min(ceil_div(B.cols, reflect_warps * C), max_grid_y)));
  launch_batched("reflect_batched", reflect_kernel<E, R, C>, grid, reflect_threads, 0, q, V, tau, ldt, k, B);
}

}  // namespace

template <class T>
void reflect_batched(Batch<T> V, View<T> tau, Batch<T> B, Queue& q) {
  using E = device_t<T>;
  if (B.empty() || tau.empty()) return;
  DeviceScope scope(q.device());
  const auto call = [&]<int R>() {
    launch<E, R>(batch_of(V), raw(tau.data), tau.ld, static_cast<int>(tau.rows), batch_of(B), q);
  };
  if (B.rows <= 32) return call.template operator()<1>();
  if (B.rows <= 128) return call.template operator()<4>();
  if (B.rows <= 256) return call.template operator()<8>();
  if (B.rows <= 512) return call.template operator()<16>();
  call.template operator()<32>();
}

#define INSTANTIATE(T) template void reflect_batched(Batch<T>, View<T>, Batch<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
