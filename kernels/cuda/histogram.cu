// Histograms of equal bins. Blocks count in shared memory where the bins fit there, and add their counts up at the end.
#include "kernels/bins.hpp"
#include "kernels/cuda/grid.cuh"
#include "kernels/prims.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 512, blocks_at_once = 3;
constexpr std::int64_t shared_bins = 12 * 1024 - 1;  // and one word more: 48 KiB
constexpr std::int64_t most_blocks = blocks_at_once * 132;

template <class T>
struct alignas(16) Pack {
  static constexpr int width = 16 / sizeof(T);
  T element[width];
};
constexpr int packs = 2;  // of a thread, loaded at once
template <class T>
constexpr std::int64_t piece = Pack<T>::width* packs* std::int64_t(threads);

/// Where an element belongs, if it is counted; in doubt Bins::of has to say it.
struct Place {
  int bin;
  bool counted, doubtful;
};
/// Bins::of without branches.
template <class T>
struct FastBins : Bins<T> {
  explicit FastBins(const Bins<T>& bins) : Bins<T>(bins) {}
  __device__ Place place(T x) const {
    const int bin = static_cast<int>(Bins<T>::of(x));
    return {bin, bin >= 0, false};
  }
};
/// float mostly without arithmetic in double: the place x has among the bins is found in float, where it is wrong by less
/// than `doubt`; only where a bin's edge is that near does double decide.
template <>
struct FastBins<float> : Bins<float> {
  static constexpr float shift = 12582912;  // 1.5 2^23: a sum with it is rounded to a whole number
  float fast_scale, certain;                // certain: how far from a bin's middle
  explicit FastBins(const Bins<float>& bins) : Bins<float>(bins), fast_scale(static_cast<float>(bins.scale)) {
    float doubt = static_cast<float>(bins.count) * 0x1p-21f;
    // where float's range or precision does not do, all places are in doubt
    if (!(width < 1e38 && width > 1e-30 && bins.count < (1 << 20) && bins.scale < 1e30)) doubt = 1;
    certain = 0.5f - doubt;
  }
  __device__ Place place(float x) const {
    const bool inside = x >= lower && x < upper;
    const float middle = fmaf(x - lower, fast_scale, -0.5f);  // a whole number in the middle of a bin
    const float shifted = middle + shift, beside = middle - (shifted - shift);
    const bool doubtful = !(fabsf(beside) <= certain);
    return {static_cast<int>(__float_as_uint(shifted) - __float_as_uint(shift)), inside && !doubtful,
            inside && doubtful};
  }
};
/// double: a sum with 1.5 2^52, rounded down, has its whole part in the low word, without a conversion to 64-bit integers.
template <>
struct FastBins<double> : Bins<double> {
  bool few;
  explicit FastBins(const Bins<double>& bins) : Bins<double>(bins), few(bins.count <= 0x7fffffff && bins.scale != 0) {}
  __device__ Place place(double x) const {
    const bool inside = x >= lower && x < upper;
    const int bin = __double2loint(__dadd_rd(__dmul_rn(x - lower, scale), 6755399441055744.0));
    return {min(bin, static_cast<int>(count) - 1), inside && few, inside && !few};
  }
};

// Block b takes pieces b, b + gridDim.x, ...; thread t of it the packs t, t + threads, ... of the piece. `own` says whether the
// block counts for itself first: then what is outside, or in doubt, is counted too, behind the bins, for there to be no branch.
template <class T, bool own, bool aligned>
__global__ void __launch_bounds__(threads, blocks_at_once)
    histogram_kernel(const T* x, std::int64_t n, FastBins<T> bins, std::int32_t* counts) {
  extern __shared__ std::int32_t block_counts[];
  std::int32_t* to = own ? block_counts : counts;
  const int rest = static_cast<int>(bins.count);
  if constexpr (own) {
    for (int k = threadIdx.x; k < bins.count; k += threads) block_counts[k] = 0;
    __syncthreads();
  }
  const auto count = [&](T x) {
    const int bin = static_cast<int>(bins.of(x));
    if (bin >= 0) atomicAdd(to + bin, 1);
  };
  constexpr int width = Pack<T>::width;
  for (std::int64_t begin = blockIdx.x * piece<T>; begin < n; begin += gridDim.x * piece<T>) {
    if (begin + piece<T> <= n) {
      Pack<T> pack[packs];
#pragma unroll
      for (int p = 0; p < packs; ++p) {
        const T* from = x + begin + (p * threads + static_cast<int>(threadIdx.x)) * width;
        if constexpr (aligned)
          pack[p] = *reinterpret_cast<const Pack<T>*>(from);
        else
#pragma unroll
          for (int e = 0; e < width; ++e) pack[p].element[e] = from[e];
      }
      bool doubtful = false;
#pragma unroll
      for (int p = 0; p < packs; ++p)
#pragma unroll
        for (int e = 0; e < width; ++e) {
          const Place place = bins.place(pack[p].element[e]);
          if constexpr (own)
            atomicAdd(to + (place.counted ? place.bin : rest), 1);
          else if (place.counted)
            atomicAdd(to + place.bin, 1);
          doubtful |= place.doubtful;
        }
      if (doubtful) {
#pragma unroll
        for (int p = 0; p < packs; ++p)
#pragma unroll
          for (int e = 0; e < width; ++e)
            if (bins.place(pack[p].element[e]).doubtful) count(pack[p].element[e]);
      }
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

template <class T>
void histogram(View<T> x, T lower, T upper, View<std::int32_t> counts, Queue& q) {
  DeviceScope scope(q.device());
  check(cudaMemsetAsync(counts.data, 0, static_cast<std::size_t>(counts.size()) * sizeof(std::int32_t), stream_of(q)),
        "histogram");
  const std::int64_t n = x.size();
  if (n == 0) return;
  const FastBins<T> bins{Bins<T>(lower, upper, counts.size())};
  const auto blocks = static_cast<unsigned>(std::min(ceil_div(n, piece<T>), most_blocks));
  const bool own = counts.size() <= shared_bins,
             aligned = reinterpret_cast<std::uintptr_t>(x.data) % sizeof(Pack<T>) == 0;
  const auto kernel = own ? (aligned ? histogram_kernel<T, true, true> : histogram_kernel<T, true, false>)
                          : (aligned ? histogram_kernel<T, false, true> : histogram_kernel<T, false, false>);
  const std::size_t shared = own ? static_cast<std::size_t>(counts.size() + 1) * sizeof(std::int32_t) : 0;
  kernel<<<blocks, threads, shared, stream_of(q)>>>(x.data, n, bins, counts.data);
  q.launched("histogram");
}

#define INSTANTIATE(T) template void histogram(View<T>, T, T, View<std::int32_t>, Queue&);
DEVOBJ_FOR_EACH_PRIM(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
