#include "memory.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "devobj/matrix.hpp"
#include "environment.hpp"
#include "kernels/device.hpp"
#include "kernels/kernels.hpp"
#include "queue_impl.hpp"

namespace devobj {
namespace memory {
namespace {
std::atomic<std::int64_t> countdown{0};
std::atomic<std::int64_t> allocations{0};
constexpr std::size_t alignment = 64;
}  // namespace

void fail_allocation(std::int64_t nth) noexcept { countdown = nth; }
std::int64_t allocation_count() noexcept { return allocations; }

bool next_allocation_fails() noexcept {
  ++allocations;
  return countdown > 0 && --countdown == 0;
}

void* allocate_host(std::size_t bytes) noexcept {
  if (next_allocation_fails() || bytes > std::numeric_limits<std::size_t>::max() - alignment) return nullptr;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void release_host(void* pointer) noexcept { std::free(pointer); }

}  // namespace memory

std::size_t checked_bytes(std::int64_t rows, std::int64_t cols, std::size_t element_bytes) {
  require(rows >= 0 && cols >= 0, "allocate: rows and cols must not be negative, but are ", rows, " and ", cols);
  std::int64_t count = 0, bytes = 0;
  if (__builtin_mul_overflow(rows, cols, &count) ||
      __builtin_mul_overflow(count, static_cast<std::int64_t>(element_bytes), &bytes))
    fail(Status::out_of_memory, "allocate: ", rows, " x ", cols, " elements of ", element_bytes,
         " bytes do not fit into the address space");
  return static_cast<std::size_t>(bytes);
}

// ---- Storage ----

// Delegates, so that the destructor releases the memory if filling it fails.
Storage::Storage(std::size_t bytes, Queue& q) : Storage() {
  if (bytes == 0) return;
  owner_ = q.impl();
  if constexpr (cuda_built) {
    if (q.on_cuda()) {
      cuda::DeviceScope scope(q.device());
      if (!memory::next_allocation_fails()) data_ = cuda::allocate(bytes, q.device(), q.stream());
      if (data_ != nullptr && environment().check) cuda::fill_bytes(data_, 0xff, bytes, q.stream());
    }
  }
  if (!q.on_cuda()) {
    data_ = memory::allocate_host(bytes);
    if (data_ != nullptr && environment().check) std::memset(data_, 0xff, bytes);
  }
  if (data_ == nullptr)
    fail(Status::out_of_memory, "allocate: no memory for ", bytes, " bytes on the ", q.on_cuda() ? "GPU" : "host");
  bytes_ = bytes;
}

Storage::~Storage() {
  if (data_ == nullptr) return;
  if constexpr (cuda_built) {
    if (owner_->backend == Backend::cuda) {
      if (owner_->alive()) cuda::release(data_, owner_->stream);
      return;
    }
  }
  // A worker may still be using the memory: its release takes its turn.
  owner_->release_in_order(data_);
}

// ---- PinnedBuffer ----

namespace {

struct Cached {
  void* data;
  std::size_t bytes;
  bool for_cuda;
};
std::mutex cache_mutex;
std::vector<Cached>& cache() {
  static auto* buffers = new std::vector<Cached>;  // lives until the end: buffers may be returned at exit
  return *buffers;
}

void release_buffer(void* data, bool for_cuda) noexcept {
  if constexpr (cuda_built) {
    if (for_cuda) {
      cuda::release_pinned(data);
      return;
    }
  }
  memory::release_host(data);
}

void* take_cached(std::size_t& bytes, bool for_cuda) {
  std::lock_guard lock(cache_mutex);
  auto& buffers = cache();
  auto best = buffers.end();
  for (auto b = buffers.begin(); b != buffers.end(); ++b)
    if (b->for_cuda == for_cuda && b->bytes >= bytes && b->bytes / 4 <= bytes &&
        (best == buffers.end() || b->bytes < best->bytes))
      best = b;
  if (best == buffers.end()) return nullptr;
  void* data = best->data;
  bytes = best->bytes;
  buffers.erase(best);
  return data;
}

}  // namespace

constexpr std::size_t largest_power = std::size_t(1) << 62;

PinnedBuffer::PinnedBuffer(std::size_t bytes, bool for_cuda) : for_cuda_(for_cuda) {
  if (bytes == 0) return;
  // Powers of two, so that the buffers of a sequence of growing sizes are no more than twice the largest together.
  bytes_ = std::bit_ceil(std::min(bytes, largest_power));
  if (bytes > largest_power || memory::next_allocation_fails())
    fail(Status::out_of_memory, "allocate: no pinned memory for ", bytes, " bytes");
  data_ = take_cached(bytes_, for_cuda);
  if (data_ != nullptr) return;
  for (int attempt = 0; attempt < 2 && data_ == nullptr; ++attempt) {
    if (attempt == 1) release_cache();
    if constexpr (cuda_built)
      if (for_cuda) {
        data_ = cuda::allocate_pinned(bytes_);
        continue;
      }
    data_ = std::aligned_alloc(64, (bytes_ + 63) / 64 * 64);
  }
  if (data_ == nullptr) fail(Status::out_of_memory, "allocate: no pinned memory for ", bytes, " bytes");
}

PinnedBuffer::~PinnedBuffer() {
  if (data_ == nullptr) return;
  try {
    std::lock_guard lock(cache_mutex);
    cache().push_back({data_, bytes_, for_cuda_});
  } catch (...) {
    release_buffer(data_, for_cuda_);
  }
}

PinnedBuffer::PinnedBuffer(PinnedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_), for_cuda_(other.for_cuda_) {}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(for_cuda_, other.for_cuda_);
  return *this;
}

void PinnedBuffer::release_cache() noexcept {
  std::lock_guard lock(cache_mutex);
  for (auto& b : cache()) release_buffer(b.data, b.for_cuda);
  cache().clear();
}

}  // namespace devobj
