// for_each_matrix: the matrices of a batch shared out over the team.
#pragma once

#include <cstddef>

#include "kernels/batched.hpp"
#include "kernels/host/arithmetic.hpp"
#include "kernels/host/team.hpp"

namespace devobj::host {

/// Up to so many elements a matrix is one thread's, whose code calls no BLAS; larger ones come one after the other,
/// with the threads of the BLAS.
inline constexpr std::int64_t elements_of_one_thread = 512 * 512;

/// work(k) for k = 0 ... count - 1, each of about `operations` operations.
template <class Work>
void for_each_matrix(std::int64_t count, double operations, const Work& work) {
  constexpr double grain = 100000;
  const double most = static_cast<double>(Team::max_threads) * grain;
  const auto total = static_cast<std::size_t>(std::min(most, static_cast<double>(count) * operations));
  const int threads = threads_for(total, static_cast<std::size_t>(grain), Team::shared().size());
  Team::shared().run(threads, [&](Team::Member& me) {
    const std::int64_t first = count * me.rank() / me.size(), last = count * (me.rank() + 1) / me.size();
    for (std::int64_t k = first; k < last; ++k) work(k);
  });
}

}  // namespace devobj::host
