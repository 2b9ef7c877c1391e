// Pieces: a vector cut into pieces whose length does not depend on the number of threads, and the team working on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/host/team.hpp"

namespace devobj::host {

struct Pieces {
  static constexpr std::int64_t length = 1 << 15;
  std::int64_t n, count;
  int threads;

  /// For n elements; `bytes` are moved in all, which decides on the number of threads.
  Pieces(std::int64_t n_, std::size_t bytes) : n(n_), count((n_ + length - 1) / length) {
    constexpr std::size_t grain = std::size_t{1} << 20;
    threads = bytes < 2 * grain ? 1 : threads_for(bytes, grain, Team::shared().size());
  }
  std::int64_t begin(std::int64_t piece) const { return piece * length; }
  std::int64_t size(std::int64_t piece) const { return std::min(length, n - begin(piece)); }

  /// work(piece) for all of them, each thread neighbouring pieces.
  template <class Work> void for_each(const Work& work) const {
    if (threads == 1) {
      for (std::int64_t piece = 0; piece < count; ++piece) work(piece);
      return;
    }
    Team::shared().run(threads, [&](Team::Member& me) {
      const std::int64_t first = count * me.rank() / me.size(), last = count * (me.rank() + 1) / me.size();
      for (std::int64_t piece = first; piece < last; ++piece) work(piece);
    });
  }
};

}  // namespace devobj::host
