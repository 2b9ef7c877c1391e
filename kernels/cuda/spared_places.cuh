// Products whose blocks stay to the end and leave multiprocessors to kernels on other queues: above all those where such a kernel
// was (Spared, native.hpp).
//
// With places to avoid, as many clusters of two blocks are launched as the GPU has room for. Those that fit beside the spared
// multiprocessors, `turn` of them, multiply; the others leave, if they can those that are in the wrong place.
#pragma once

#include <algorithm>

#include "kernels/cuda/cluster.cuh"
#include "kernels/native.hpp"

namespace devobj::cuda {

/// An argument of such a kernel.
struct SparedPlaces {
  const std::int32_t* places = nullptr;  // multiprocessors to avoid, or null
  // of clusters that were where none should be, that were given a number, and that ended
  std::int32_t* counts = nullptr;
};

/// In the shared memory of each of the two blocks.
struct PlaceOfBlock {
  int avoided, number;
};

/// By a block's first thread, before a barrier of the cluster.
__device__ inline void look_at_place(const SparedPlaces& g, PlaceOfBlock& block) {
  if (g.places == nullptr) return;
  const int here = multiprocessor();
  bool avoided = false;
  for (int i = 0; i < lu_panel_places; ++i) avoided = avoided || __ldcg(g.places + i) == here;
  block.avoided = avoided;
}

/// By one thread: the cluster's number among those that multiply; one that has no tiles has turn or more. As many clusters as there
/// are too many may leave avoided places, so that all tiles are made wherever the clusters are. They leave when all others have
/// begun: where one leaves sooner, the next to begin takes its place, while other multiprocessors are not free yet. But they do not wait
/// for ever: a panel of a queue of higher priority keeps the others from beginning while it has no place, and it may be this one.
__device__ inline int begin_cluster(const SparedPlaces& g, int turn, bool avoided) {
  const int too_many = static_cast<int>(gridDim.x) / 2 - turn;
  if (avoided && atomicAdd(g.counts, 1) < too_many) {
    constexpr std::uint64_t most_ns = 150'000;  // the small kernels that may run beside a product take up to 100'000
    const std::uint64_t start = nanoseconds();
    while (__ldcg(g.counts + 1) < turn && nanoseconds() - start < most_ns) __nanosleep(200);
    return turn;
  }
  return atomicAdd(g.counts + 1, 1);
}

/// By all threads after that barrier: the cluster's number, which is that of the grid where no place is avoided.
__device__ inline int number_of_cluster(const SparedPlaces& g, int turn, PlaceOfBlock& block, int rank) {
  if (g.places == nullptr) return static_cast<int>(blockIdx.x) / 2;
  if (rank == 0 && threadIdx.x == 0) {
    block.number = begin_cluster(g, turn, block.avoided || remote_load(&block.avoided, 1));
    remote_store(&block.number, 1, block.number);
  }
  cluster_arrive();
  cluster_wait();
  return block.number;
}

/// By all threads at the end. The last cluster leaves the counts as they were.
__device__ inline void end_cluster(const SparedPlaces& g, int rank) {
  if (g.places == nullptr || rank != 0 || threadIdx.x != 0) return;
  if (atomicAdd(g.counts + 2, 1) != static_cast<int>(gridDim.x) / 2 - 1) return;
  for (int i = 0; i < spared_counts; ++i) g.counts[i] = 0;
}

/// How many of a GPU's multiprocessors a product leaves to others.
inline int spared_multiprocessors(const Spared& spared, int processors) {
  return std::min(spared.count, processors / 4);
}

}  // namespace devobj::cuda
