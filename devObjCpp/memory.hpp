// Memory behind Storage and the pinned buffers: one place for allocation, and for failures injected by tests.
#pragma once

#include <cstddef>
#include <cstdint>

namespace devobj {

/// Pinned host memory for copies that run beside the caller (plain aligned memory without CUDA), from a process-wide
/// cache: creating one of a size used before costs no system call, and takes of those the one that was given back first,
/// which the caches of the CPU's cores have had most time to forget. Its owner makes sure that copies in and out of it
/// have ended before it is destroyed. Move-only. Error: out_of_memory.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  PinnedBuffer(std::size_t bytes, bool for_cuda);
  ~PinnedBuffer();
  PinnedBuffer(PinnedBuffer&& other) noexcept;
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;
  template <class T> T* as() const noexcept { return static_cast<T*>(data_); }
  /// Frees the cache (not the buffers in use).
  static void release_cache() noexcept;

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool for_cuda_ = false;
};

namespace memory {

/// Tests: the `nth` allocation from now on fails (1: the next; 0: none does), of whatever kind.
void fail_allocation(std::int64_t nth) noexcept;
/// Tests: allocations made since the start of the process.
std::int64_t allocation_count() noexcept;

/// True if this allocation is the one that has to fail.
bool next_allocation_fails() noexcept;
/// 64-byte aligned host memory; null when there is none.
void* allocate_host(std::size_t bytes) noexcept;
void release_host(void* pointer) noexcept;

}  // namespace memory
}  // namespace devobj
