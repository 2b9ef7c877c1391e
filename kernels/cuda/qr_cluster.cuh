// What a thread-block cluster is made of on sm_90 and later: ranks, remote shared memory, stores that count at a
// barrier. On older GPUs these functions are not called; they compile to traps.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace devobj::cuda::cluster {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}
/// The address of this block's shared variable in the block `rank` of the cluster.
__device__ inline std::uint32_t remote_address(std::uint32_t address, int rank) {
  std::uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  return remote;
}
__device__ inline void barrier_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ inline void barrier_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// ---- a barrier in shared memory that counts bytes ----

/// For one arrival per phase.
__device__ inline void mailbox_open(std::uint64_t* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// The phase's arrival: it ends when so many bytes have come.
__device__ inline void mailbox_expect(std::uint64_t* barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
__device__ inline void mailbox_wait(std::uint64_t* barrier, std::uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra over;\n"
      "bra again;\n"
      "over:\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}
/// *address = value in another block, whose barrier counts the bytes.
__device__ inline void send(std::uint32_t address, float value, std::uint32_t barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(address),
               "r"(__float_as_uint(value)), "r"(barrier)
               : "memory");
}
__device__ inline void send(std::uint32_t address, double value, std::uint32_t barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(address),
               "l"(__double_as_longlong(value)), "r"(barrier)
               : "memory");
}
__device__ inline void send(std::uint32_t address, float2 value, std::uint32_t barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(address),
               "r"(__float_as_uint(value.x)), "r"(__float_as_uint(value.y)), "r"(barrier)
               : "memory");
}
__device__ inline void send(std::uint32_t address, double2 value, std::uint32_t barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];" ::"r"(address),
               "l"(__double_as_longlong(value.x)), "l"(__double_as_longlong(value.y)), "r"(barrier)
               : "memory");
}

#else

__device__ inline std::uint32_t shared_address(const void*) {
  __trap();
}
__device__ inline std::uint32_t remote_address(std::uint32_t, int) {
  __trap();
}
__device__ inline void barrier_arrive() {
  __trap();
}
__device__ inline void barrier_wait() {
  __trap();
}
__device__ inline void mailbox_open(std::uint64_t*) {
  __trap();
}
__device__ inline void mailbox_expect(std::uint64_t*, std::uint32_t) {
  __trap();
}
__device__ inline void mailbox_wait(std::uint64_t*, std::uint32_t) {
  __trap();
}
template <class E>
__device__ inline void send(std::uint32_t, E, std::uint32_t) {
  __trap();
}

#endif

}  // namespace devobj::cuda::cluster
