// share: a loop over columns or tiles, on several threads if it moves much memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/host/team.hpp"

namespace devobj::host {

/// work(begin, end) for pieces of [0, n) that together cover it, each once, at most one at a time for a thread.
/// `bytes` are moved in all; below 4 MiB the caller does everything.
template <class Work>
void share(std::int64_t n, std::size_t bytes, const Work& work) {
  constexpr std::size_t grain = std::size_t{2} << 20;
  constexpr std::int64_t pieces_of_a_thread = 4;
  if (bytes < 2 * grain) return work(std::int64_t{0}, n);
  Team& team = Team::shared();
  team.run(threads_for(bytes, grain, team.size()), [&](Team::Member& me) {
    const std::int64_t pieces = std::min<std::int64_t>(n, me.size() * pieces_of_a_thread);
    for (std::int64_t piece = me.rank(); piece < pieces; piece += me.size())
      work(n * piece / pieces, n * (piece + 1) / pieces);
  });
}

}  // namespace devobj::host
