// T of the block reflector I - V T V^H. LAPACK's larft, forward and columnwise, from G = V^H V.
#include <cstddef>

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/kernels.hpp"

namespace devobj::cuda {
namespace {

constexpr int rows_per_block = 4;
constexpr int panel = 8;                   // columns of T found together
constexpr int slices = warp_size / panel;  // of the sums over l

// Column j of T is T(0:j, j) = -tau_j T(0:j, 0:j) G(0:j, j), T(j, j) = tau_j. Row i of T needs nothing of the other
// rows, so that a warp finds it alone, without a block's barrier, eight columns J at a time:
//
//              l               J              lane = 8 slice + c, column j = J0 + c, l = i + slice, i + slice + 4, ...
//    row i  [ t t t t t t t t | ? ? ? ? ? ? ? ? ]
//
//   dot_j = sum over l < J0 of T(i, l) G(l, j), the slices added up;
//   then for l = J0, J0 + 1, ...: T(i, l) is known from dot_l, and dot_j += T(i, l) G(l, j) for j > l.
template <class E>
__global__ void __launch_bounds__(rows_per_block* warp_size) larft_kernel(Block<E> G, Strided<E> tau, Block<E> T) {
  constexpr E zero{};
  extern __shared__ double2 memory[];
  const int k = static_cast<int>(T.rows), lane = threadIdx.x, c = lane % panel, slice = lane / panel;
  const int i = blockIdx.x * rows_per_block + threadIdx.y;
  if (i >= k) return;
  E* row = reinterpret_cast<E*>(memory) + threadIdx.y * k;
  const int start = i / panel * panel;
  for (int j = lane; j < start; j += warp_size) T(i, j) = zero;

  for (int J0 = start; J0 < k; J0 += panel) {
    const int j = J0 + c;
    const bool inside = j < k;
    const E tau_j = inside ? tau[j] : zero;
    E above[panel];  // G(J, j)
#pragma unroll
    for (int p = 0; p < panel; ++p) above[p] = inside && p < c ? G(J0 + p, j) : zero;

    // dot = T(i, i:J0) G(i:J0, j)
    E dot = zero;
#pragma unroll 4
    for (int l = i + slice; l < J0; l += slices)
      if (inside) dot = sum(dot, product(row[l], G(l, j)));
#pragma unroll
    for (int distance = panel; distance < warp_size; distance *= 2) dot = sum(dot, shuffle(dot, lane ^ distance));

    // T(i, j) = -tau_j dot_j; a column with tau_j = 0 is zero whatever G is.
    const auto entry = [&] { return j == i ? tau_j : j < i || is_zero(tau_j) ? zero : product(negative(tau_j), dot); };
#pragma unroll
    for (int p = 0; p < panel; ++p) {
      const E t = shuffle(entry(), p);  // T(i, J0 + p)
      if (p < c && J0 + p >= i) dot = sum(dot, product(t, above[p]));
    }
    if (slice == 0 && inside) row[j] = T(i, j) = entry();
    __syncwarp();
  }
}

}  // namespace

template <class T>
void larft(View<T> G, View<T> tau, View<T> Tri, Queue& q) {
  if (Tri.empty()) return;
  DeviceScope scope(q.device());
  const std::int64_t k = Tri.rows;
  require(k <= 256, "larft: k must be at most 256, but is ", k);
  const dim3 block(warp_size, rows_per_block);
  const std::size_t row_bytes = rows_per_block * k * sizeof(T);
  larft_kernel<<<static_cast<unsigned>(ceil_div(k, rows_per_block)), block, row_bytes, stream_of(q)>>>(
      block_of(G), vector_of(tau), block_of(Tri));
  q.launched("larft");
}

#define INSTANTIATE(T) template void larft(View<T>, View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
