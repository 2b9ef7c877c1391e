// CUB in a namespace of the library's own, so that a program with another CUB, or another CUDA runtime, does not meet it.
// Include this before any part of CUB.
#pragma once

#define CUB_WRAPPED_NAMESPACE devobj_cub

#include <cub/config.cuh>

#include "kernels/cuda/cuda_common.hpp"

namespace devobj::cuda {
namespace cub = ::devobj_cub::cub;

/// Runs a call of CUB, `call(memory, bytes)`: asked for the size of its memory when n or the device is another than the last
/// time, then with memory of the queue's scratch. The `front_bytes` before that are the caller's, at `front` and
/// returned.
template <class Call>
void* call_cub(const char* routine, std::int64_t n, std::size_t front_bytes, Queue& q, void*& front, Call&& call) {
  thread_local std::int64_t last_n = -1;
  thread_local int last_device = -1;
  thread_local std::size_t bytes = 0;
  if (n != last_n || q.device() != last_device) {
    last_n = -1;
    check(call(static_cast<void*>(nullptr), bytes), routine);
    last_n = n;
    last_device = q.device();
  }
  constexpr std::size_t alignment = 256;
  front_bytes = (front_bytes + alignment - 1) / alignment * alignment;
  auto* memory = static_cast<unsigned char*>(q.scratch(front_bytes + bytes));
  front = memory;
  std::size_t given = bytes;
  check(call(static_cast<void*>(memory + front_bytes), given), routine);
  q.launched(routine);
  return memory;
}

}  // namespace devobj::cuda
