// Thread-block clusters (Hopper): rank, the other blocks' shared memory, and the barrier. For older GPUs the functions
// compile to nothing; a launcher must not choose a cluster there (clusters_usable).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace devobj::cuda {

inline constexpr int max_cluster = 16;  // blocks; more than 8 must be allowed for a kernel by an attribute

__device__ inline int cluster_rank() {
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return static_cast<int>(rank);
}

/// The number of the multiprocessor that this block is on.
__device__ inline int multiprocessor() {
  unsigned number = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return static_cast<int>(number);
}

/// Whether this lane, always the same, is the one that acts for the warp, all of whose lanes are here. The compiler knows then that
/// what it hands to the copy engine is one lane's; of `lane == 0` it does not, and goes through the lanes in a loop.
__device__ __forceinline__ bool elected() {
  std::uint32_t here = 1;
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "elect.sync _|p, 0xffffffff;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(here));
#else
  here = threadIdx.x % 32 == 0;
#endif
  return here != 0;
}

/// A clock that all blocks share.
__device__ inline std::uint64_t nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// The two halves of the cluster's barrier: what a thread wrote before it arrived, in shared or global memory, all see
/// after they waited.
__device__ inline void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
/// The same where what the threads have read, and wait for no longer, may change after it. What they wrote is not concerned, but for
/// mailboxes and barriers that were opened with a fence of their own.
__device__ inline void cluster_arrive_relaxed() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}
__device__ inline void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/// In a kernel that is launched early (launch_early), before it reads or writes global memory: until the kernel before it in the
/// queue has ended.
__device__ inline void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// In a kernel before one that is launched early: that one may be placed as soon as there is room.
__device__ inline void let_next_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Letters between blocks: 16-byte pieces written into another block's shared memory, counted there by a mailbox. The
/// mailbox opens when its own thread has said how many bytes to expect and all of them are there; what was sent is then
/// visible to whoever waited. It can be used again at once, with the other parity.
struct Mailbox {
  std::uint64_t barrier;
};
__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}
/// By one thread, before a barrier of the cluster.
__device__ inline void open_mailbox(Mailbox& box) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&box)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}
/// By one thread, once for each opening.
__device__ inline void expect_bytes(Mailbox& box, int bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&box)), "r"(bytes)
               : "memory");
#endif
}
/// By any thread.
__device__ inline void wait_for_bytes(Mailbox& box, int parity) {
#if __CUDA_ARCH__ >= 900
  std::uint32_t open = 0;
  while (!open)
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(open)
        : "r"(shared_address(&box)), "r"(parity)
        : "memory");
#endif
}
/// The address that a place in this block's shared memory has in block `rank`.
__device__ inline std::uint32_t remote_address(std::uint32_t address, int rank) {
  std::uint32_t there = 0;
#if __CUDA_ARCH__ >= 900
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
#endif
  return there;
}
__device__ inline std::uint32_t remote_address(const void* pointer, int rank) {
  return remote_address(shared_address(pointer), rank);
}
/// A number in the shared memory of block `rank`.
__device__ inline int remote_load(const int* number, int rank) {
  int value = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(value) : "r"(remote_address(number, rank)) : "memory");
#endif
  return value;
}
__device__ inline void remote_store(int* number, int rank, int value) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.shared::cluster.s32 [%0], %1;" ::"r"(remote_address(number, rank)), "r"(value) : "memory");
#endif
}
/// Sends a piece to a remote address, counted by the mailbox at another.
__device__ inline void send_piece(std::uint32_t to, int4 piece, std::uint32_t box) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
      "r"(piece.x), "r"(piece.y), "r"(piece.z), "r"(piece.w), "r"(box)
      : "memory");
#endif
}

/// The same with an element.
__device__ inline void send(std::uint32_t to, float value, std::uint32_t box) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to),
               "r"(__float_as_uint(value)), "r"(box)
               : "memory");
#endif
}
__device__ inline void send(std::uint32_t to, double value, std::uint32_t box) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(to),
               "l"(__double_as_longlong(value)), "r"(box)
               : "memory");
#endif
}
__device__ inline void send(std::uint32_t to, float2 value, std::uint32_t box) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(to),
               "r"(__float_as_uint(value.x)), "r"(__float_as_uint(value.y)), "r"(box)
               : "memory");
#endif
}
__device__ inline void send(std::uint32_t to, double2 value, std::uint32_t box) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];" ::"r"(to),
               "l"(__double_as_longlong(value.x)), "l"(__double_as_longlong(value.y)), "r"(box)
               : "memory");
#endif
}

/// True if this kernel was compiled for clusters and the current device has them.
template <class Kernel>
bool clusters_usable(Kernel* kernel) {
  cudaFuncAttributes attributes{};
  int device = 0, supported = 0;
  if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess || cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&supported, cudaDevAttrClusterLaunch, device) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return supported != 0 && attributes.ptxVersion >= 90;
}

}  // namespace devobj::cuda
