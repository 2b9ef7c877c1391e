// T of a strip's reflector, from what qr_panel_native has in shared memory.
#pragma once

#include "kernels/cuda/qr_panel_exchange.cuh"

namespace devobj::cuda::qr_panel {

/// T from V^H V and tau. Ends with a barrier. Eight columns at a time, a row per thread, by
///   T(j, j) = tau_j, T(i, j) = -tau_j sum_l T(i, l) (V^H V)(l, j);
/// then two blocks of b columns beside each other become one of 2 b by T12 = -T1 (G12 T2). In loops: what a block does once
/// has to be fetched, and unrolled code takes longer to come than to run.
template <class E, int W>
__device__ __forceinline__ void make_triangle(SharedMemory<E, W>& memory, int w) {
  constexpr int side = 8, together = 4;
  const int id = threadIdx.x, threads = blockDim.x;
  for (int e = id; e < (W - w) * W; e += threads) memory.gram[w + e / W][e % W] = E{};
  for (int j = w + id; j < W; j += threads) memory.tau[j] = E{};
  __syncthreads();
  for (int row = id; row < W; row += threads) {
    const int first = row / side * side, i = row % side;
    E t[side];
#pragma unroll
    for (int j = 0; j < side; ++j) {
      E dot{};
#pragma unroll
      for (int l = 0; l < j; ++l) dot = sum(dot, product(t[l], memory.gram[first + j][first + l]));
      const E tau = memory.tau[first + j];
      t[j] = i == j ? tau : i > j || is_zero(tau) ? E{} : product(negative(tau), dot);
      memory.T[first + j][row] = t[j];
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int b = side; b < W; b *= 2) {
    const int tasks = W * b / (2 * together);
    const auto each = [&](auto act) {  // rows i of the left block, columns j to j + together - 1 of the right one
#pragma unroll 1
      for (int task = id; task < tasks; task += threads) {
        const int quad = task / b % (b / together), begin = task / b / (b / together) * 2 * b;
        act(begin, begin + task % b, begin + b + quad * together);
      }
      __syncthreads();
    };
    // X = G12 T2, X(i, j) in gram[j - b][i + b], which is free
    each([&](int begin, int i, int j) {
      E x[together] = {};
#pragma unroll 4
      for (int l = begin + b; l < j + together; ++l) {
        const E g = memory.gram[l][i];
#pragma unroll
        for (int u = 0; u < together; ++u)
          if (l <= j + u) x[u] = sum(x[u], product(g, memory.T[j + u][l]));
      }
#pragma unroll
      for (int u = 0; u < together; ++u) memory.gram[j + u - b][i + b] = x[u];
    });
    each([&](int begin, int i, int j) {
      E t[together] = {};
#pragma unroll 4
      for (int l = begin; l < begin + b; ++l) {
        const E left = memory.T[l][i];  // zero for l < i within eight columns, beyond it nothing
        if (l < i) continue;
#pragma unroll
        for (int u = 0; u < together; ++u) t[u] = sum(t[u], product(left, memory.gram[j + u - b][l + b]));
      }
#pragma unroll
      for (int u = 0; u < together; ++u) memory.T[j + u][i] = negative(t[u]);
    });
  }
}

}  // namespace devobj::cuda::qr_panel
