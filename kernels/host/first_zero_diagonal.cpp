// The first i, from 1, with A(i, i) == 0, or 0: the info of a factorization.
#include "kernels/kernels.hpp"

namespace devobj::host {

template <class T>
std::int64_t first_zero_diagonal(View<T> A, Queue& q) {
  std::int64_t info = 0;
  q.submit("first_zero_diagonal", [=, &info] {
    for (std::int64_t i = 0; i < diagonal(A) && info == 0; ++i)
      if (A.data[i + i * A.ld] == T(0)) info = i + 1;
  });
  q.wait();
  return info;
}

#define INSTANTIATE(T) template std::int64_t first_zero_diagonal(View<T>, Queue&);
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::host
