// cluster_places: a cluster that only says where it is.
#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/cuda_common.hpp"
#include "kernels/native.hpp"

namespace devobj::cuda {
namespace {

constexpr int threads = 32;

__global__ void cluster_places_kernel(std::int32_t* places) {
  if (threadIdx.x == 0) places[cluster_rank()] = multiprocessor();
}

}  // namespace

bool cluster_places(std::int32_t* places, int count, Queue& q) {
  DeviceScope scope(q.device());
  if (largest_cluster(cluster_places_kernel, threads, 0) < count) return false;
  const ClusterLaunch launch(count, count, threads, 0, stream_of(q));
  check(cudaLaunchKernelEx(&launch.config, cluster_places_kernel, places), "cluster_places");
  q.launched("cluster_places");
  return true;
}

}  // namespace devobj::cuda
