// CUDA code of the tests' own, as a user's program has it; the tests themselves are C++.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/native.hpp"

namespace devobj::test {

/// Adds 1 to each of n elements.
void add_one(double* x, int n, cudaStream_t stream);

/// Lets the blocks of stay and locate have so many bytes of shared memory; to be called before these.
cudaError_t allow_shared_memory(int bytes);
struct Places {
  int number[cuda::lu_panel_places];
};
/// Blocks of a warp, with so many bytes of shared memory each, which stay so many nanoseconds on multiprocessors that are none of `avoided`.
void stay(int blocks, int bytes, const Places& avoided, long long ns, cudaStream_t stream);
/// place[i] = the multiprocessor of block i of such blocks.
void locate(int blocks, int bytes, std::int32_t* place, cudaStream_t stream);

/// CUB's y = the inclusive sums of x; without memory, how many bytes of it that takes.
cudaError_t inclusive_sum(void* memory, std::size_t& bytes, const std::int32_t* x, std::int32_t* y, std::int64_t n,
                          cudaStream_t stream);

}  // namespace devobj::test
