// perm = the permutation that the swaps of ipiv make of 1 ... perm.size().
#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/pivots.cuh"
#include "kernels/kernels.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 128;

// A thread follows one place of perm back through all swaps.
__global__ void __launch_bounds__(threads)
    pivots_to_permutation_kernel(Strided<std::int32_t> ipiv, Strided<std::int32_t> perm) {
  const std::int64_t place = std::int64_t(blockIdx.x) * threads + threadIdx.x;
  const std::int64_t row = source_of(place, ipiv, 0, ipiv.n, perm.n, true);
  if (place < perm.n) perm[place] = static_cast<std::int32_t>(row + 1);
}

}  // namespace

void pivots_to_permutation(View<std::int32_t> ipiv, View<std::int32_t> perm, Queue& q) {
  if (perm.empty()) return;
  DeviceScope scope(q.device());
  pivots_to_permutation_kernel<<<static_cast<unsigned>(ceil_div(perm.size(), threads)), threads, 0, stream_of(q)>>>(
      vector_of(ipiv), vector_of(perm));
  q.launched("pivots_to_permutation");
}

}  // namespace devobj::cuda
