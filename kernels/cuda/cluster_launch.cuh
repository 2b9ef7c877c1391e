// Launching a kernel whose blocks are clusters.
#pragma once

#include <algorithm>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/shared_memory.hpp"

namespace devobj::cuda {

/// Lets the kernel's blocks begin when those of the kernel before it in the queue have ended or let_next_start(), which saves the time in
/// which that becomes known as ended; they wait_for_previous().
inline cudaLaunchAttribute launch_early() {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

/// The attributes of a launch: clusters of `blocks` blocks, early if it is said. Holds what the configuration points to.
struct ClusterLaunch {
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};
  ClusterLaunch(std::int64_t grid, int blocks, int threads, std::size_t bytes, cudaStream_t stream,
                bool early = false) {
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = static_cast<unsigned>(blocks);
    attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
    attributes[1] = launch_early();
    config.gridDim = dim3(static_cast<unsigned>(grid));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = early ? 2 : 1;
  }
  ClusterLaunch(const ClusterLaunch&) = delete;
  ClusterLaunch& operator=(const ClusterLaunch&) = delete;
};

/// The most blocks, a power of two up to max_cluster, that a cluster of this kernel can have on the current device with so
/// many threads and bytes of shared memory each; 0 if it cannot run in clusters at all. Lets the kernel have them.
template <class Kernel>
int largest_cluster(Kernel* kernel, int threads, std::size_t bytes) {
  int device = 0;
  check(cudaGetDevice(&device), "largest_cluster");
  if (!clusters_usable(kernel) || allow_shared_memory(kernel, device, "largest_cluster") < bytes) return 0;
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  for (int blocks = max_cluster; blocks > 0; blocks /= 2) {
    const ClusterLaunch launch(blocks, blocks, threads, bytes, nullptr);
    int clusters = 0;
    if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch.config) == cudaSuccess && clusters > 0) return blocks;
    cudaGetLastError();
  }
  return 0;
}

}  // namespace devobj::cuda
