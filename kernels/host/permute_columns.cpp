// Rows of A gathered by a permutation, A given by its transpose At: column dst[i] of At = the old column src[i].
#include <algorithm>
#include <vector>

#include "kernels/host/share.hpp"
#include "kernels/kernels.hpp"

namespace devobj::host {

template <class T>
void permute_columns(View<T> At, std::int64_t count, const std::int32_t* dst, const std::int32_t* src, Queue& q) {
  q.submit("permute_columns", [=] {
    constexpr std::int64_t strip = 512 / sizeof(T);  // positions that are moved together
    share((At.rows + strip - 1) / strip, 2 * At.rows * count * sizeof(T), [=](std::int64_t begin, std::int64_t end) {
      std::vector<T> held(count * strip);
      for (std::int64_t first = begin * strip; first < std::min(At.rows, end * strip); first += strip) {
        const std::int64_t n = std::min(strip, At.rows - first);
        for (std::int64_t i = 0; i < count; ++i)
          std::copy_n(At.data + first + src[i] * At.ld, n, held.data() + i * strip);
        for (std::int64_t i = 0; i < count; ++i)
          std::copy_n(held.data() + i * strip, n, At.data + first + dst[i] * At.ld);
      }
    });
  });
}

#define INSTANTIATE(T) \
  template void permute_columns(View<T>, std::int64_t, const std::int32_t*, const std::int32_t*, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
