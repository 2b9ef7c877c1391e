// A warp that takes 32 rows or columns of a matrix through chains of rotations.
//
//   C G      a lane has a row         G^H C   a lane has a column
//
//        -> columns -> (down)             lanes
//   l  x x x x|h h h|. . . .              x x x x    |
//   a  x x x x|h h h|. . . .              x x x x    v  rows (down)
//   n  x x x x|h h h|. . . .              h h h h    P numbers in each lane's registers, which the chains hold
//   e  x x x x|h h h|. . . .              . . . .
//
// A step brings the next number in and gives one out, P places away. Steps go in pieces: the numbers and rotations of a piece
// are fetched to shared memory while the piece before goes on; what comes out replaces what came in, and is stored together.
#pragma once

#include "kernels/cuda/rotation_chains.cuh"

namespace devobj::cuda {

inline constexpr int lanes = warp_size;

/// Steps in a piece.
template <class E>
inline constexpr int walk_piece = sizeof(E) == 16 ? 16 : 32;

/// In shared memory: two pieces of rotations, for all warps that go through the same ones.
template <class E, int P>
struct alignas(32) WalkRotations {
  static constexpr int piece = walk_piece<E>;
  PlaneRotation<E> rotation[2][piece][P];

  /// By `threads` threads; there for all of them after wait_for_fetches and a barrier.
  __device__ void fetch_piece(int buffer, const PlaneRotation<E>* rotations, std::int64_t step, int thread,
                              int threads) {
    constexpr int bytes = piece * P * static_cast<int>(sizeof(PlaneRotation<E>));
    const auto* from = reinterpret_cast<const cuDoubleComplex*>(rotations + step * P);
    auto* to = reinterpret_cast<cuDoubleComplex*>(&rotation[buffer][0][0]);
#pragma unroll 4
    for (int k = thread; k < bytes / 16; k += threads) fetch(to[k], from + k);
  }
};
/// In shared memory: two pieces of a warp's numbers.
template <class E>
struct alignas(32) WalkNumbers {
  E number[2][walk_piece<E>][lanes + 1];
};

/// down: steps 0, 1, ..., otherwise steps - 1, ..., 0. right: C G, a lane has a row.
template <class E, int P, bool down, bool right>
struct Walk {
  using Rotations = WalkRotations<E, P>;
  using Numbers = WalkNumbers<E>;
  static constexpr int piece = walk_piece<E>;

  Rotations& rotations;
  Numbers& numbers;
  Block<E> C;
  std::int64_t first;  // row or column of lane 0
  int lane, mine;      // how many lanes have one
  std::int64_t length;
  E held[P];

  __device__ Walk(Rotations& rotations, Numbers& numbers, Block<E> C, std::int64_t first)
      : rotations(rotations),
        numbers(numbers),
        C(C),
        first(first),
        lane(threadIdx.x % lanes),
        mine(static_cast<int>(max(std::int64_t(0), min(std::int64_t(lanes), (right ? C.rows : C.cols) - first)))),
        length(right ? C.cols : C.rows) {}

  __device__ E* place(std::int64_t i, int of_lane) const {
    return right ? &C(first + of_lane, i) : &C(i, first + of_lane);
  }
  /// The row or column of chain t's number before a step (down) or after it (up).
  __device__ static std::int64_t held_place(std::int64_t step, int t) { return down ? step + P - 1 - t : step + t; }

  /// The chains' numbers before all steps: down before step `step`, up after it.
  __device__ void begin(std::int64_t step) {
#pragma unroll
    for (int t = 0; t < P; ++t) {
      const std::int64_t i = held_place(step, t);
      held[t] = i < length && lane < mine ? *place(i, lane) : E{};
    }
  }
  /// And after all steps they go where they belong.
  __device__ void end(std::int64_t step) {
#pragma unroll
    for (int t = 0; t < P; ++t) {
      const std::int64_t i = held_place(step, t);
      if (i < length && lane < mine) *place(i, lane) = held[t];
    }
  }

  /// For each number of a piece: act(step in the piece, lane).
  template <class Act>
  __device__ void each(const Act& act) const {
#pragma unroll 4
    for (int e = lane; e < piece * lanes; e += lanes) {
      const int i = right ? e / lanes : e % piece, of_lane = right ? lane : e / piece;
      if (of_lane < mine) act(i, of_lane);
    }
  }
  /// The numbers that come in from step `step` on; they are there, for all lanes, after wait_for_fetches and __syncwarp.
  __device__ void fetch_numbers(int buffer, std::int64_t step) const {
    const std::int64_t in = down ? step + P : step;
    each([&](int i, int of_lane) {
      E& to = numbers.number[buffer][i][of_lane];
      if (in + i < length)
        fetch(to, place(in + i, of_lane));
      else
        to = E{};
    });
  }
  /// Steps `step` ... step + count - 1, in the buffer.
  __device__ void go(int buffer, int count) {
#pragma unroll(P == 1 ? 8 : P == 2 ? 4 : P == 4 ? 2 : 1)
    for (int k = 0; k < count; ++k) {
      const int i = down ? k : count - 1 - k;
      E& x = numbers.number[buffer][i][lane];
      x = through<down, right>(x, held, rotations.rotation[buffer][i]);
    }
  }
  /// What came out. All lanes are done with the buffer then.
  __device__ void store(int buffer, std::int64_t step, int count) const {
    const std::int64_t out = down ? step : step + P;
    __syncwarp();
    each([&](int i, int of_lane) {
      if (i < count && out + i < length) *place(out + i, of_lane) = numbers.number[buffer][i][of_lane];
    });
    __syncwarp();
  }
};

}  // namespace devobj::cuda
