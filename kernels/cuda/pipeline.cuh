// The parts of a pipeline on Hopper: barriers that count arrivals and bytes, bulk copies into shared memory, warp group
// products of float16 matrices, and the exchange of registers between warp groups. Compiled for sm_90a only; elsewhere
// the functions do nothing, and kernels made of them must not be launched.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "kernels/cuda/cluster.cuh"
#include "kernels/cuda/cuda_common.hpp"

namespace devobj::cuda {

// ---- barriers: places in shared memory, by their addresses ----

/// By one thread, before a barrier of the cluster (barriers_ready after the last one).
__device__ __forceinline__ void barrier_init(std::uint32_t barrier, int arrivals) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
#endif
}
__device__ __forceinline__ void barriers_ready() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}
__device__ __forceinline__ void barrier_arrive(std::uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
#endif
}
/// At the same barrier of block `rank` of the cluster.
__device__ __forceinline__ void barrier_arrive_at(std::uint32_t barrier, int rank) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(remote_address(barrier, rank)) : "memory");
#endif
}
/// The same, and a wait that follows it: what the arriving thread wrote, and threads that it has met since they wrote, is
/// visible then, in global memory too.
__device__ __forceinline__ void barrier_release_at(std::uint32_t barrier, int rank) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote_address(barrier, rank))
               : "memory");
#endif
}
__device__ __forceinline__ void barrier_acquire(std::uint32_t barrier, int parity) {
#if __CUDA_ARCH__ >= 900
  std::uint32_t over = 0;
  while (!over)
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(over)
        : "r"(barrier), "r"(parity)
        : "memory");
#endif
}
/// By the threads that have read shared memory, before an arrival that lets a copy overwrite it: an arrival does not wait
/// for loads that are under way. By those that have written it, before a copy reads it.
__device__ __forceinline__ void shared_before_copies() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
/// Before copies of global memory that threads have written.
__device__ __forceinline__ void global_stores_before_copies() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
}
/// An arrival that says how many bytes the barrier also waits for.
__device__ __forceinline__ void barrier_expect(std::uint32_t barrier, int bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
#endif
}
/// Until the phase of this parity is over.
__device__ __forceinline__ void barrier_wait(std::uint32_t barrier, int parity) {
#if __CUDA_ARCH__ >= 900
  std::uint32_t over = 0;
  while (!over)
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(over)
        : "r"(barrier), "r"(parity)
        : "memory");
#endif
}

// ---- copies of contiguous memory, multiples of 16 bytes, counted by a barrier ----

__device__ __forceinline__ void bulk_copy(std::uint32_t to, const void* from, int bytes, std::uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
#endif
}
/// To the same place of the cluster's blocks in the mask, each counted by its own barrier.
__device__ __forceinline__ void bulk_copy_to(std::uint16_t blocks, std::uint32_t to, const void* from, int bytes,
                                             std::uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], "
      "%4;" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier), "h"(blocks)
      : "memory");
#endif
}

// ---- what the L2 cache keeps ----

/// Whether a matrix is too large for most of it to be in the cache when it is touched again.
inline bool outgrows_cache(std::int64_t bytes, int device) {
  int cache = 0;
  check(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device), "the size of the L2 cache");
  return bytes > cache / 2;
}
/// For memory that is touched once, `streamed`, which is to leave the cache before what others keep there, or as usual.
__device__ __forceinline__ std::uint64_t cache_policy(bool streamed) {
  std::uint64_t policy = 0;
#if __CUDA_ARCH__ >= 900
  if (streamed)
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  else
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}
__device__ __forceinline__ void store(double* to, double x, std::uint64_t policy) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.global.L2::cache_hint.f64 [%0], %1, %2;" ::"l"(to), "d"(x), "l"(policy) : "memory");
#endif
}
__device__ __forceinline__ void store(double2* to, double2 x, std::uint64_t policy) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.global.L2::cache_hint.v2.f64 [%0], {%1, %2}, %3;" ::"l"(to), "d"(x.x), "d"(x.y), "l"(policy)
               : "memory");
#endif
}
__device__ __forceinline__ void store(float* to, float x, std::uint64_t policy) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(to), "f"(x), "l"(policy) : "memory");
#endif
}
__device__ __forceinline__ float load(const float* from, std::uint64_t policy) {
  float x = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("ld.global.cg.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(x) : "l"(from), "l"(policy) : "memory");
#endif
  return x;
}

// ---- copies of boxes of a matrix that a tensor map describes, from element (row, col) on, counted by a barrier ----

__device__ __forceinline__ void box_copy(std::uint32_t to, const CUtensorMap& map, int row, int col,
                                         std::uint32_t barrier, std::uint64_t policy) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, "
      "%3}], [%4], %5;" ::"r"(to),
      "l"(&map), "r"(row), "r"(col), "r"(barrier), "l"(policy)
      : "memory");
#endif
}
/// A box on its way to the L2 cache.
__device__ __forceinline__ void box_prefetch(const CUtensorMap& map, int row, int col) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1, %2}];" ::"l"(&map), "r"(row), "r"(col) : "memory");
#endif
}
/// From shared memory to what lies in the matrix, in the group of copies that the thread ends next.
__device__ __forceinline__ void box_store(std::uint32_t from, const CUtensorMap& map, int row, int col,
                                          std::uint64_t policy) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;" ::"l"(&map),
      "r"(row), "r"(col), "r"(from), "l"(policy)
      : "memory");
#endif
}
/// The same of a stack of boxes (tensor_map.hpp), from box number `box` of the columns on.
__device__ __forceinline__ void stack_copy(std::uint32_t to, const CUtensorMap& map, int box, int col,
                                           std::uint32_t barrier, std::uint64_t policy) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3, "
      "%4}], [%5], %6;" ::"r"(to),
      "l"(&map), "r"(0), "r"(col), "r"(box), "r"(barrier), "l"(policy)
      : "memory");
#endif
}
__device__ __forceinline__ void stack_store(std::uint32_t from, const CUtensorMap& map, int box, int col,
                                            std::uint64_t policy) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group.L2::cache_hint [%0, {%1, %2, %3}], [%4], %5;" ::"l"(&map),
      "r"(0), "r"(col), "r"(box), "r"(from), "l"(policy)
      : "memory");
#endif
}
__device__ __forceinline__ void stores_end() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}
/// Until all of the thread's groups but so many have read shared memory.
template <int groups>
__device__ __forceinline__ void stores_read() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(groups) : "memory");
#endif
}
/// Until all that the thread has stored is in global memory.
__device__ __forceinline__ void stores_done() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}
/// To the same place of the cluster's blocks in the mask, each counted by its own barrier.
__device__ __forceinline__ void box_copy_to(std::uint16_t blocks, std::uint32_t to, const CUtensorMap& map, int row,
                                            int col, std::uint32_t barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, "
      "%3}], [%4], %5;" ::"r"(to),
      "l"(&map), "r"(row), "r"(col), "r"(barrier), "h"(blocks)
      : "memory");
#endif
}

// ---- registers: `registers` for each thread of a warp group from now on, fewer or more than at the kernel's launch ----

template <int registers>
__device__ __forceinline__ void leave_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
#endif
}
template <int registers>
__device__ __forceinline__ void take_registers() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
#endif
}

// ---- products of a warp group: float16 matrices in shared memory, sums in single precision ----

/// How a warp group's product finds a matrix: vectors of 32 elements (64 bytes) below each other from an address that is a
/// multiple of 512, whose 16-byte pieces lie where piece_of_vector says. Two further on is the next 16 of the elements.
__device__ __forceinline__ std::uint64_t matrix_descriptor(std::uint32_t address) {
  constexpr std::uint64_t eight_vectors = 512, swizzled_64_bytes = 2;
  return (address & 0x3ffff) >> 4 | std::uint64_t(1) << 16 | (eight_vectors >> 4) << 32 | swizzled_64_bytes << 62;
}
/// The place of a vector's 16-byte piece among its four.
__device__ __forceinline__ int piece_of_vector(int vector, int piece) {
  return piece ^ (vector >> 1 & 3);
}

__device__ __forceinline__ void products_begin() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void products_end() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
/// Until at most so many groups of products are still under way.
template <int groups>
__device__ __forceinline__ void products_wait() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
#endif
}
/// What is computed of these before this and after it does not change places with it: with a wait for products, say.
template <int count>
__device__ __forceinline__ void stay(float (&x)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(x[i])::"memory");
}

/// sum = A B^T, or sum += A B^T where `add` is not 0: 64 vectors of A, 160 of B, 16 elements of each. Thread t of the group
/// has of row 16 (t / 32) + t % 32 / 4, and of the eighth row after it, two columns each in sum[4 i], sum[4 i + 1] and
/// sum[4 i + 2], sum[4 i + 3]: 8 i + 2 (t % 4) and the next.
__device__ __forceinline__ void multiply_64x160(float (&sum)[80], std::uint64_t A, std::uint64_t B, int add) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define FOUR(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "setp.ne.b32 p, %82, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n160k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79}, "
      "%80, %81, p, 1, 1, 0, 0;\n\t}"
      : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48), SIXTEEN(64)
      : "l"(A), "l"(B), "r"(add));
#undef SIXTEEN
#undef FOUR
#endif
}

}  // namespace devobj::cuda
