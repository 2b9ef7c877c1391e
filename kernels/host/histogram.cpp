// Histograms of equal bins: each thread counts on its own, then the counts are added up.
#include <algorithm>
#include <vector>

#include "kernels/bins.hpp"
#include "kernels/host/pieces.hpp"
#include "kernels/prims.hpp"

namespace devobj::host {

template <class T>
void histogram(View<T> x, T lower, T upper, View<std::int32_t> counts, Queue& q) {
  q.submit("histogram", [=] {
    const Bins<T> bins(lower, upper, counts.size());
    const auto count = [&](const T* from, std::int64_t n, std::int32_t* to) {
      for (std::int64_t i = 0; i < n; ++i)
        if (const std::int64_t bin = bins.of(from[i]); bin >= 0) ++to[bin];
    };
    std::fill_n(counts.data, counts.size(), 0);
    const Pieces pieces(x.size(), sizeof(T) * static_cast<std::size_t>(x.size()));
    const std::int64_t n = x.size();
    if (pieces.threads == 1 || counts.size() > n / pieces.threads) return count(x.data, n, counts.data);
    std::vector<std::vector<std::int32_t>> own(static_cast<std::size_t>(pieces.threads));
    Team::shared().run(pieces.threads, [&](Team::Member& me) {
      std::vector<std::int32_t>& mine = own[me.rank()];
      mine.assign(static_cast<std::size_t>(counts.size()), 0);
      const std::int64_t first = n * me.rank() / me.size(), last = n * (me.rank() + 1) / me.size();
      count(x.data + first, last - first, mine.data());
    });
    for (const auto& mine : own)
      for (std::size_t k = 0; k < mine.size(); ++k) counts.data[k] += mine[k];
  });
}

#define INSTANTIATE(T) template void histogram(View<T>, T, T, View<std::int32_t>, Queue&);
DEVOBJ_FOR_EACH_PRIM(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
