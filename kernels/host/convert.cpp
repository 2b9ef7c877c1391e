// narrow, narrow_rows and widen: between double and single precision.
#include <atomic>

#include "kernels/host/share.hpp"
#include "kernels/host/single_precision.hpp"
#include "kernels/precision.hpp"

namespace devobj::host {

template <class T>
void narrow(View<T> A, View<single_t<T>> S, std::int32_t* misfit, Queue& q) {
  q.submit("narrow", [=] {
    std::atomic<bool> all_fit = true;
    share(A.cols, A.size() * (sizeof(T) + sizeof(single_t<T>)), [=, &all_fit](std::int64_t begin, std::int64_t end) {
      bool fit = true;
      for (std::int64_t j = begin; j < end; ++j)
        for (std::int64_t i = 0; i < A.rows; ++i) {
          const T a = A.data[i + j * A.ld];
          S.data[i + j * S.ld] = to_single(a);
          fit = fit && fits_single(a);
        }
      if (!fit) all_fit = false;
    });
    *misfit = all_fit ? 0 : 1;
  });
}

template <class T>
void narrow_rows(View<T> A, const std::int32_t* rows, View<single_t<T>> S, Queue& q) {
  q.submit("narrow_rows", [=] {
    for (std::int64_t j = 0; j < A.cols; ++j)
      for (std::int64_t i = 0; i < A.rows; ++i) S.data[i + j * S.ld] = to_single(A.data[rows[i] - 1 + j * A.ld]);
  });
}

template <class T>
void widen(View<single_t<T>> S, bool add, View<T> A, Queue& q) {
  q.submit("widen", [=] {
    share(A.cols, A.size() * (sizeof(T) + sizeof(single_t<T>)), [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t j = begin; j < end; ++j)
        for (std::int64_t i = 0; i < A.rows; ++i) {
          T& a = A.data[i + j * A.ld];
          const T s(S.data[i + j * S.ld]);
          a = add ? a + s : s;
        }
    });
  });
}

#define INSTANTIATE(T)                                                                   \
  template void narrow<T>(View<T>, View<single_t<T>>, std::int32_t*, Queue&);            \
  template void narrow_rows<T>(View<T>, const std::int32_t*, View<single_t<T>>, Queue&); \
  template void widen<T>(View<single_t<T>>, bool, View<T>, Queue&);
DEVOBJ_FOR_EACH_DOUBLE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
