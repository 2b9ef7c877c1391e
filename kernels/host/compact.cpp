// y = the x_i with flags_i != 0: the pieces count theirs, then each copies them to their place.
#include <vector>

#include "kernels/host/pieces.hpp"
#include "kernels/prims.hpp"

namespace devobj::host {

template <class T>
std::int64_t compact(View<T> x, View<std::int32_t> flags, View<T> y, Queue& q) {
  std::int64_t total = 0;
  q.submit("compact", [=, &total] {
    const Pieces pieces(x.size(), (2 * sizeof(T) + 8) * static_cast<std::size_t>(x.size()));
    std::vector<std::int64_t> counts(static_cast<std::size_t>(pieces.count));
    pieces.for_each([&](std::int64_t p) {
      const std::int32_t* f = flags.data + pieces.begin(p);
      std::int64_t count = 0;
      for (std::int64_t i = 0; i < pieces.size(p); ++i) count += f[i] != 0;
      counts[p] = count;
    });
    for (std::int64_t& count : counts) {  // to where a piece's elements begin
      const std::int64_t here = count;
      count = total;
      total += here;
    }
    pieces.for_each([&](std::int64_t p) {
      const std::int32_t* f = flags.data + pieces.begin(p);
      const T* from = x.data + pieces.begin(p);
      T* to = y.data + counts[p];
      for (std::int64_t i = 0; i < pieces.size(p); ++i)
        if (f[i] != 0) *to++ = from[i];
    });
  });
  q.wait();
  return total;
}

#define INSTANTIATE(T) template std::int64_t compact(View<T>, View<std::int32_t>, View<T>, Queue&);
DEVOBJ_FOR_EACH_PRIM(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
