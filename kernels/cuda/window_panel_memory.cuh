// What the blocks of window_panel keep in shared memory (window_panel.cu has the scheme).
#pragma once

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/cluster.cuh"
#include "kernels/randomized.hpp"

namespace devobj::cuda::window {

constexpr int most_rows = static_cast<int>(window_rows), threads = most_rows / 2, warps = threads / warp_size;
constexpr int most_blocks = 8;

/// A thread's rows are two neighbours, so that of equal candidates the one with the lowest row is the lowest thread's. In
/// shared memory a row's place is its slot: even rows, then odd ones.
__device__ inline int row_at(int slot) {
  return slot % threads * 2 + slot / threads;
}
__device__ inline int slot_of(int row) {
  return row % 2 * threads + row / 2;
}

template <class E>
struct Memory {
  static constexpr int width = is_device_complex<E> ? 8 : 16;  // of a strip
  static constexpr int group = 16 / sizeof(E);                 // columns of L that are sent together
  static constexpr int groups = width / group;
  static constexpr int most_cols = width * most_blocks;
  static_assert(most_cols == window_panel_cols<std::conditional_t<is_device_complex<E>, std::complex<float>, float>>);
  static_assert(most_cols <= threads);

  struct alignas(16) Piece {  // of a row
    E of[group];
  };

  // of each strip, the block's own among them
  Piece L[most_blocks][groups][most_rows];
  alignas(16) int pivot[most_blocks][groups][4];  // slots; -1: none
  Mailbox box[most_blocks][groups];

  // of each step of the block's own strip
  struct Candidate {
    Piece row[groups];  // from the step's column on
    struct alignas(16) Head {
      E inverse;
      int slot;
    } head;
  };
  struct Step {
    alignas(16) unsigned size[warps];  // of the candidates: the bits of |x|, and 1; 0: there is none
    Candidate of[warps];
  };
  Step steps[width];
  /// Row k of U in the block's own strip, from column k on: the candidate that was the pivot.
  __device__ const E* row_of_U(int strip, int k) const {
    const int chosen = pivot[strip][k / group][k % group];
    return reinterpret_cast<const E*>(steps[k].of[chosen % threads / warp_size].row);
  }

  // to follow the strips on the left
  Piece A12[most_cols][groups];
  Piece U12[most_cols][groups];
  Piece group_of_U[warps][group][groups];  // each warp's copy of the rows of U12 in use

  int left_over[warps];   // rows that never were pivots
  int source[most_rows];  // of the panel's rows in the end
};

}  // namespace devobj::cuda::window
