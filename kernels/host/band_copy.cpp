// Bands: their widths, and the ways between full matrices and band storage.
#include <algorithm>

#include "kernels/givens.hpp"

namespace devobj::host {

template <class T>
Bandwidths bandwidths(View<T> A, Queue& q) {
  Bandwidths band;
  q.submit("bandwidths", [&] {
    for (std::int64_t j = 0; j < A.cols; ++j) {
      const T* a = A.data + j * A.ld;
      // outside the band that is known already: from the ends inwards
      std::int64_t first = 0, last = A.rows;
      while (first < std::min(A.rows, j - band.upper) && a[first] == T(0)) ++first;
      while (last > std::max<std::int64_t>(0, j + band.lower + 1) && a[last - 1] == T(0)) --last;
      if (first < A.rows) band.upper = std::max(band.upper, j - first);
      if (last > 0) band.lower = std::max(band.lower, last - 1 - j);
    }
  });
  q.wait();
  return band;
}

template <class T>
void band_pack(View<T> A, Bandwidths band, View<T> AB, Queue& q) {
  q.submit("band_pack", [=] {
    for (std::int64_t j = 0; j < AB.cols; ++j)
      for (std::int64_t r = 0; r < AB.rows; ++r) {
        const std::int64_t i = j + r - band.upper;
        AB.data[r + j * AB.ld] = 0 <= i && i < A.rows ? A.data[i + j * A.ld] : T(0);
      }
  });
}

template <class T>
void band_unpack(View<T> RB, View<T> R, Queue& q) {
  q.submit("band_unpack", [=] {
    for (std::int64_t j = 0; j < R.cols; ++j) {
      T* r = R.data + j * R.ld;
      std::fill(r, r + R.rows, T(0));
      for (std::int64_t i = std::max<std::int64_t>(0, j - RB.rows + 1); i <= j; ++i) r[i] = RB.data[j - i + i * RB.ld];
    }
  });
}

#define INSTANTIATE(T)                                           \
  template Bandwidths bandwidths(View<T>, Queue&);               \
  template void band_pack(View<T>, Bandwidths, View<T>, Queue&); \
  template void band_unpack(View<T>, View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
