// The other side of mode rng: cuRAND's generators on a GPU, the C++ standard library's on the host.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "devobj/queue.hpp"

namespace bench {

/// Fills `count` elements of `type` (s, d, or i for int32) at `out` with the numbers of `routine`; empty if the peer
/// has none.
using Fill = std::function<void()>;

/// One peer with a generator of its own, for one queue.
struct RngPeer {
  std::string name;
  std::function<Fill(const std::string& routine, char type, void* out, std::int64_t count)> fill;
};

/// cuRAND's pseudorandom generators in their default order, and cudaMemset as the memory's limit.
std::vector<RngPeer> curand_peers(devobj::Queue& q);
/// std::minstd_rand, mt19937, mt19937_64 with the standard distributions, on one thread, and memset on all cores as the
/// memory's limit.
std::vector<RngPeer> std_peers();

}  // namespace bench
