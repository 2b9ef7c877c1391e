// perm = the permutation that the swaps of ipiv make of 1 ... perm.size().
#include <utility>

#include "kernels/kernels.hpp"

namespace devobj::host {

void pivots_to_permutation(View<std::int32_t> ipiv, View<std::int32_t> perm, Queue& q) {
  const std::int64_t pivot_inc = ipiv.cols > 1 ? ipiv.ld : 1, inc = perm.cols > 1 ? perm.ld : 1;
  q.submit("pivots_to_permutation", [=] {
    for (std::int64_t i = 0; i < perm.size(); ++i) perm.data[i * inc] = static_cast<std::int32_t>(i + 1);
    for (std::int64_t i = 0; i < ipiv.size(); ++i) {
      const std::int64_t pivot = ipiv.data[i * pivot_inc];
      if (1 <= pivot && pivot <= perm.size()) std::swap(perm.data[i * inc], perm.data[(pivot - 1) * inc]);
    }
  });
}

}  // namespace devobj::host
