// How the blocks of a lu_panel that is a cooperative grid agree on a pivot: letters in global memory.
#pragma once

#include <cstddef>

#include "kernels/cuda/lu_panel_links.cuh"

namespace devobj::cuda::lu {

/// Blocks of a cooperative grid: they write to each other in global memory. A letter is of pieces of 16 bytes, three words and the
/// number of its step, so that who finds that number has the piece too: nobody waits for a fence, or for a barrier of the grid.
template <class E, int W, int T>
struct GridLink {
  using Slot = lu::Slot<E, W>;
  static constexpr bool warps_publish = false, loads_early = false, copies_boxes = has_boxes<E>, sends_L11 = false;
  static constexpr int words_in_piece = 3;
  // Of a slot: the candidate and `live` elements of its row; what divides by it.
  __host__ __device__ static constexpr int words(int live) {
    return (static_cast<int>(sizeof(Candidate)) + live * static_cast<int>(sizeof(E))) / 4;
  }
  static constexpr int words_of_inverse =
      (sizeof(E) + sizeof(typename Reciprocal<E>::R)) / 4;  // without what may follow
  __host__ __device__ static constexpr int pieces_of(int words) {
    return (words + words_in_piece - 1) / words_in_piece;
  }
  static constexpr int first_of_inverse = pieces_of(words(W)), pieces = first_of_inverse + pieces_of(words_of_inverse);
  static_assert(pieces <= warp_size && offsetof(Slot, row) == sizeof(Candidate));
  static constexpr std::size_t bytes_of_letters(int blocks) { return sizeof(int4) * turns * blocks * pieces; }

  struct Shared {
    Slot chosen[turns];
    alignas(16) E row[W];
  };
  Shared& shared;
  const int blocks, rank;
  int4* letters;
  unsigned* arrived;
  unsigned target = 0;  // of the barrier
  int step = 0;         // published so far
  __device__ static void open(Shared&) {}
  __device__ void opened(const Panel<E>&) {}
  __device__ GridLink(Shared& memory, const Panel<E>& p)
      : shared(kept_address(memory)),
        blocks(gridDim.x),
        rank(blockIdx.x),
        letters(reinterpret_cast<int4*>(p.letters)),
        arrived(p.arrived) {}

  __device__ void boundary() {
    meet_teams<T>();
    if (threadIdx.x < T) {
      target += blocks;
      if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1u);
        unsigned seen;
        do {
          asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
        } while (seen < target);
        __threadfence();
      }
    }
    meet<Meeting::all, T>();
  }

  __device__ int4* piece(int turn, int from, int number) const {
    return letters + (turn * blocks + from) * pieces + number;
  }
  /// A piece whose words are those of `source` from `first` on, of `count`.
  template <class Source>
  __device__ void send(int turn, int number, int first, int count, Source source) const {
    std::uint32_t words[words_in_piece];
#pragma unroll
    for (int k = 0; k < words_in_piece; ++k) words[k] = first + k < count ? source(first + k) : 0u;
    store_whole(piece(turn, rank, number), make_int4(words[0], words[1], words[2], step + 1));
  }
  __device__ E* stage() {
    return shared.row;
  }
  template <int live>
  __device__ void publish(int turn, const Candidate& head) {
    const int number = threadIdx.x % warp_size;
    const auto* const of_head = reinterpret_cast<const std::uint32_t*>(&head);
    const auto* const of_row = reinterpret_cast<const std::uint32_t*>(shared.row);
    constexpr int in_head = sizeof head / 4;
    if (number < pieces_of(words(live)))
      send(turn, number, number * words_in_piece, words(live),
           [&](int i) { return i < in_head ? of_head[i] : of_row[i - in_head]; });
  }
  __device__ void publish(int turn, const Reciprocal<E>& inverse) {
    std::uint32_t of_inverse[words_of_inverse];
    memcpy(of_inverse, &inverse, sizeof of_inverse);
    if (threadIdx.x % warp_size == 0)
#pragma unroll
      for (int i = 0; i < pieces - first_of_inverse; ++i)
        send(turn, first_of_inverse + i, i * words_in_piece, words_of_inverse, [&](int w) { return of_inverse[w]; });
  }
  template <int>
  __device__ void published(int) {
    ++step;
  }
  /// The first warp reads the candidates of all blocks, and the chosen one's row, for the block.
  template <int live>
  __device__ Pivot<E, W> receive(int turn, int lane) {
    Slot& chosen = shared.chosen[turn];
    if (threadIdx.x < warp_size) {
      Candidate mine;
      int from = lane;
      constexpr int at_once = 2;
      for (int first = lane; first < blocks; first += at_once * warp_size) {
        int4 heads[at_once];
        bool wait;
        do {
          wait = false;
#pragma unroll
          for (int k = 0; k < at_once; ++k)
            if (first + k * warp_size < blocks) {
              heads[k] = load_whole(piece(turn, first + k * warp_size, 0));
              wait |= heads[k].w != step;
            }
        } while (wait);
#pragma unroll
        for (int k = 0; k < at_once; ++k) {
          const int i = first + k * warp_size;
          if (i >= blocks) continue;
          Candidate c;
          c.high = static_cast<std::uint32_t>(heads[k].x);
          c.low = static_cast<std::uint32_t>(heads[k].y);
          c.position = heads[k].z;
          if (i == lane || better<E>(c, mine)) {
            mine = c;
            from = i;
          }
        }
      }
      from = __shfl_sync(all_lanes, from, leader_of_warp<E>(mine, lane < blocks));
      const bool of_inverse = lane >= first_of_inverse;
      if (lane < pieces_of(words(live)) || (of_inverse && lane < pieces)) {
        const int4* const at = piece(turn, from, lane);
        int4 found;
        do found = load_whole(at);
        while (found.w != step);
        const std::uint32_t three[] = {std::uint32_t(found.x), std::uint32_t(found.y), std::uint32_t(found.z)};
        const int first = (of_inverse ? lane - first_of_inverse : lane) * words_in_piece;
        auto* const to = reinterpret_cast<std::uint32_t*>(of_inverse ? static_cast<void*>(&chosen.inverse) : &chosen);
#pragma unroll
        for (int k = 0; k < words_in_piece; ++k)
          if (first + k < (of_inverse ? words_of_inverse : words(live))) to[first + k] = three[k];
      }
    }
    meet<Meeting::eliminating, T>();
    return {&chosen, chosen.inverse};
  }

 private:
  /// 16 bytes of global memory at once: as they were stored, all.
  __device__ static void store_whole(int4* to, int4 words) {
    const auto low = std::uint64_t(std::uint32_t(words.y)) << 32 | std::uint32_t(words.x);
    const auto high = std::uint64_t(std::uint32_t(words.w)) << 32 | std::uint32_t(words.z);
    asm volatile(
        "{ .reg .b128 whole;\n\t"
        "mov.b128 whole, {%1, %2};\n\t"
        "st.relaxed.gpu.global.b128 [%0], whole; }" ::"l"(__cvta_generic_to_global(to)),
        "l"(low), "l"(high)
        : "memory");
  }
  __device__ static int4 load_whole(const int4* from) {
    std::uint64_t low, high;
    asm volatile(
        "{ .reg .b128 whole;\n\t"
        "ld.relaxed.gpu.global.b128 whole, [%2];\n\t"
        "mov.b128 {%0, %1}, whole; }"
        : "=l"(low), "=l"(high)
        : "l"(__cvta_generic_to_global(from))
        : "memory");
    return make_int4(static_cast<int>(low), static_cast<int>(low >> 32), static_cast<int>(high),
                     static_cast<int>(high >> 32));
  }
};

}  // namespace devobj::cuda::lu
