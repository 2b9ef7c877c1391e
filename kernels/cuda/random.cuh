// From quads of words to elements of a matrix: what the kernels of the random numbers share.
#pragma once

#include "kernels/cuda/grid.cuh"
#include "kernels/random.hpp"
#include "kernels/random/slots.hpp"

namespace devobj::cuda {

/// A draw as a kernel sees it.
template <class D>
struct Draw {
  using T = typename D::value;
  static constexpr int per_quad = 4 / D::words;
  /// Bytes of a quad's elements that go out in one store.
  static constexpr int store_bytes = per_quad * sizeof(T) < 16 ? per_quad * int(sizeof(T)) : 16;

  D d;
  random::Slots<per_quad> slots;
  T* data;
  std::int64_t rows, ld;
  bool contiguous, aligned;  // aligned: contiguous, and whole quads lie at multiples of store_bytes

  Draw(D distribution, std::uint64_t slot, View<T> A)
      : d(distribution), slots{slot, A.size()}, data(A.data), rows(A.rows), ld(A.ld), contiguous(A.contiguous()) {
    const auto address =
        reinterpret_cast<std::uintptr_t>(A.data) + static_cast<std::uintptr_t>(slots.element(0)) * sizeof(T);
    aligned = contiguous && address % store_bytes == 0;
  }

  /// The elements of the draw's quad number b, of the generator's block, all of which are in the draw; `aligned` only.
  __device__ void put_whole(random::Quad quad, random::Philox own, std::uint64_t block, std::int64_t b) const {
    T v[per_quad];
    d(quad, own, block, v);
    store_whole(data + slots.element(b), v);
  }
  /// Those of them that are in the draw.
  __device__ void put(random::Quad quad, random::Philox own, std::uint64_t block, std::int64_t b) const {
    T v[per_quad];
    d(quad, own, block, v);
    const std::int64_t e = slots.element(b);
#pragma unroll
    for (int k = 0; k < per_quad; ++k)
      if (e + k >= 0 && e + k < slots.n) *place(e + k) = v[k];
  }
  /// Whether quads [begin, end) are wholly in the draw.
  __device__ bool holds(std::int64_t begin, std::int64_t end) const {
    return slots.element(begin) >= 0 && slots.element(end) <= slots.n;
  }

 private:
  __device__ T* place(std::int64_t e) const {
    if (contiguous) return data + e;
    // 32-bit divisions are several times faster
    if (static_cast<std::uint64_t>(e | rows) >> 32 == 0) {
      const std::uint32_t j = static_cast<std::uint32_t>(e) / static_cast<std::uint32_t>(rows);
      return data + (static_cast<std::uint32_t>(e) - j * static_cast<std::uint32_t>(rows)) + j * ld;
    }
    return data + e % rows + e / rows * ld;
  }
  // One instruction for 16 bytes; from an assignment the compiler sometimes makes four.
  __device__ static void store_whole(T* to, const T (&v)[per_quad]) {
    constexpr int step = store_bytes / int(sizeof(T));
#pragma unroll
    for (int k = 0; k < per_quad; k += step) {
      if constexpr (step == 4)
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to + k), "r"(bits(v[k])), "r"(bits(v[k + 1])),
                     "r"(bits(v[k + 2])), "r"(bits(v[k + 3]))
                     : "memory");
      else if constexpr (step == 2)
        asm volatile("st.global.v2.f64 [%0], {%1, %2};" ::"l"(to + k), "d"(v[k]), "d"(v[k + 1]) : "memory");
      else
        to[k] = v[k];
    }
    static_assert(step == 1 || (step * sizeof(T) == 16 && (step == 4 || std::is_same_v<T, double>)));
  }
  __device__ static std::uint32_t bits(std::int32_t x) {
    return static_cast<std::uint32_t>(x);
  }
  __device__ static std::uint32_t bits(float x) {
    return __float_as_uint(x);
  }
  __device__ static std::uint32_t bits(double) {
    return 0;
  }
};

}  // namespace devobj::cuda
