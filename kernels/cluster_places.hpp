// Which multiprocessors a cluster's blocks find.
#pragma once

#include <cstdint>

#include "devobj/queue.hpp"

namespace devobj::cuda {

/// The numbers of the multiprocessors of a cluster of `count` blocks, at most 16, to `places` in device memory: where a product that leaves
/// these free (Spared) lets a cluster of a panel begin. False, with nothing done, where there are no such clusters. (cluster_places)
bool cluster_places(std::int32_t* places, int count, Queue& q);

}  // namespace devobj::cuda
