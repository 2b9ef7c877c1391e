// B = factor A.
#include "kernels/fft.hpp"
#include "kernels/host/share.hpp"

namespace devobj::host {

template <class R>
void fft_copy(R factor, View<R> A, View<R> B, Queue& q) {
  q.submit("fft_copy", [=] {
    share(A.cols, 2 * A.size() * sizeof(R), [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t j = begin; j < end; ++j)
        for (std::int64_t i = 0; i < A.rows; ++i) B.data[i + j * B.ld] = factor * A.data[i + j * A.ld];
    });
  });
}

template void fft_copy<float>(float, View<float>, View<float>, Queue&);
template void fft_copy<double>(double, View<double>, View<double>, Queue&);

}  // namespace devobj::host
