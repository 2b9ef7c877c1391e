// Histograms of equal bins. Blocks count in shared memory where the bins fit there, and add their counts up at the end.
#include "kernels/bins.hpp"
#include "kernels/cuda/grid.cuh"
#include "kernels/prims.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 512;
constexpr int unroll = 8;
constexpr std::int64_t shared_bins = 12 * 1024;  // 48 KiB
constexpr std::int64_t most_blocks = 4 * 132;

/// Bins::of, for float mostly without arithmetic in double: the place x has among the bins is found in float, where it is
/// wrong by less than `doubt`; only where a bin's edge is that near does double decide.
template <class T> struct FastBins : Bins<T> {
  explicit FastBins(const Bins<T>& bins) : Bins<T>(bins) {}
};
template <> struct FastBins<float> : Bins<float> {
  float fast_scale, doubt;
  explicit FastBins(const Bins<float>& bins)
      : Bins<float>(bins), fast_scale(static_cast<float>(bins.scale)), doubt(static_cast<float>(bins.count) * 0x1p-21f) {
    // where float's range or precision does not do, all places are in doubt
    const double width = double(upper) - double(lower);
    if (!(width < 1e38 && width > 1e-30 && bins.count < (1 << 20) && bins.scale < 1e30)) doubt = 1;
  }
  __device__ int of(float x) const {
    if (!(x >= lower && x < upper)) return -1;
    const float place = (x - lower) * fast_scale;
    constexpr float shift = 12582912;  // 1.5 2^23: a sum with it is rounded to a whole number
    const float shifted = place + shift, edge = shifted - shift, beyond = place - edge;
    if (!(fabsf(beyond) > doubt)) return static_cast<int>(Bins<float>::of(x));
    const int nearest = __float_as_int(shifted) - __float_as_int(shift);
    return beyond < 0 ? nearest - 1 : nearest;
  }
};

// Block b takes pieces of threads * unroll elements, b, b + gridDim.x, ...; thread t of it the elements t, t + threads, ... of
// the piece. `own` says whether the block counts for itself first.
template <class T, bool own>
__global__ void __launch_bounds__(threads) histogram_kernel(const T* x, std::int64_t n, FastBins<T> bins, std::int32_t* counts) {
  extern __shared__ std::int32_t block_counts[];
  std::int32_t* to = own ? block_counts : counts;
  if constexpr (own) {
    for (int k = threadIdx.x; k < bins.count; k += threads) block_counts[k] = 0;
    __syncthreads();
  }
  const auto count = [&](T x) {
    const int bin = static_cast<int>(bins.of(x));
    if (bin >= 0) atomicAdd(to + bin, 1);
  };
  constexpr std::int64_t piece = threads * unroll;
  for (std::int64_t begin = blockIdx.x * piece; begin < n; begin += gridDim.x * piece) {
    const T* from = x + begin + threadIdx.x;
    if (begin + piece <= n) {
      T element[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) element[u] = from[u * threads];
#pragma unroll
      for (int u = 0; u < unroll; ++u) count(element[u]);
    } else {
      for (std::int64_t i = begin + threadIdx.x; i < n; i += threads) count(x[i]);
    }
  }
  if constexpr (own) {
    __syncthreads();
    for (int k = threadIdx.x; k < bins.count; k += threads)
      if (block_counts[k] != 0) atomicAdd(counts + k, block_counts[k]);
  }
}

}  // namespace

template <class T> void histogram(View<T> x, T lower, T upper, View<std::int32_t> counts, Queue& q) {
  DeviceScope scope(q.device());
  check(cudaMemsetAsync(counts.data, 0, static_cast<std::size_t>(counts.size()) * sizeof(std::int32_t), stream_of(q)),
        "histogram");
  const std::int64_t n = x.size();
  if (n == 0) return;
  const FastBins<T> bins{Bins<T>(lower, upper, counts.size())};
  const auto blocks = static_cast<unsigned>(std::min(ceil_div(n, threads * unroll), most_blocks));
  if (counts.size() <= shared_bins)
    histogram_kernel<T, true><<<blocks, threads, static_cast<std::size_t>(counts.size()) * sizeof(std::int32_t),
                                stream_of(q)>>>(x.data, n, bins, counts.data);
  else
    histogram_kernel<T, false><<<blocks, threads, 0, stream_of(q)>>>(x.data, n, bins, counts.data);
  q.launched("histogram");
}

#define INSTANTIATE(T) template void histogram(View<T>, T, T, View<std::int32_t>, Queue&);
DEVOBJ_FOR_EACH_PRIM(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
