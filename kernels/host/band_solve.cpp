// B = R^-1 B for a band triangle stored by rows.
#include "kernels/givens.hpp"
#include "kernels/host/share.hpp"

namespace devobj::host {

template <class T>
void band_solve(View<T> RB, View<T> B, Queue& q) {
  if (B.empty()) return;
  q.submit("band_solve", [=] {
    const std::int64_t n = B.rows, reach = RB.rows;
    share(B.cols, static_cast<std::size_t>(n) * B.cols * sizeof(T) * reach, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        T* b = B.data + c * B.ld;
        for (std::int64_t i = n - 1; i >= 0; --i) {
          const T* r = RB.data + i * RB.ld;
          T sum = b[i];
          for (std::int64_t p = 1; p < std::min(reach, n - i); ++p) sum -= r[p] * b[i + p];
          b[i] = sum / r[0];
        }
      }
    });
  });
}

#define INSTANTIATE(T) template void band_solve<T>(View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
