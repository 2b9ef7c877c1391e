// The exchange of rows in exchange_solve's kernels: those that come go to shared memory, those that leave to where they belong.
#pragma once

#include "kernels/cuda/exchange_solve_tiles.cuh"

namespace devobj::cuda::exchange_solve_tiles {

/// What a block of `threads` threads exchanges: `columns` columns of A from `first` on. `by_rows`: A is given by its transpose.
template <class E, int columns, bool by_rows>
class Rows {
 public:
  __device__ Rows(Block<E> A, std::int64_t first, Column<E>* X) : A_(A), first_(first), X_(X) {}
  __device__ bool has(int c) const { return first_ + c < (by_rows ? A_.rows : A_.cols); }
  __device__ E& at(std::int64_t t, int c) const { return by_rows ? A_(first_ + c, t) : A_(t, first_ + c); }

  /// Exchanges part after part and leaves the first w rows in X, zeros below them to most_rows. `from`, `to`: lists in shared
  /// memory. `meanwhile` is called by all threads while the rows of the first part are on their way, which are the latest of
  /// cp.async's groups; when all is done, all threads have what the others wrote.
  template <class Meanwhile>
  __device__ void exchange(RowExchange exchange, int part_rows, int w, std::int32_t* from, std::int32_t* to,
                           Meanwhile meanwhile) const {
    const int id = threadIdx.x;
    const bool several = exchange.rows > part_rows;
    for (std::int64_t top = 0; top == 0 || top < exchange.rows; top += part_rows) {
      const int moved = static_cast<int>(min(static_cast<std::int64_t>(part_rows), exchange.rows - top));
      const int rows = moved > 0 ? moved : w;
      if (id < rows) {
        const std::int32_t source = moved > 0 ? exchange.source[top + id] : id;
        const std::int32_t displaced_to = moved > 0 ? exchange.displaced_to[top + id] : -1;
        from[id] = source;
        to[id] = source != id ? displaced_to : -1;
      }
      __syncthreads();
      // the rows that come, to shared memory
#pragma unroll
      for (int u = 0; u < share; ++u) {
        const int t = row_of(u), c = column_of(u);
        if (t >= rows || !has(c))
          X_[c][t] = E{};
        else if (by_rows)
          copy_async(&X_[c][t], &at(top + from[t], c));
        else
          __pipeline_memcpy_async(&X_[c][t], &at(top + from[t], c), sizeof(E));
      }
      __pipeline_commit();
      // those that leave, to where they go when all that come have been read
      E old[at_once];
      const auto leave = [&](int u0) {
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
          const int t = row_of(u0 + u), c = column_of(u0 + u);
          if (t < rows && has(c) && to[t] >= 0) old[u] = at(top + t, c);
        }
      };
      const auto arrive = [&](int u0) {
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
          const int t = row_of(u0 + u), c = column_of(u0 + u);
          if (t < rows && has(c) && to[t] >= 0) at(top + to[t], c) = old[u];
        }
      };
      leave(0);
      if (top == 0) meanwhile();
      __pipeline_wait_prior(0);
      __syncthreads();
      arrive(0);
#pragma unroll
      for (int u0 = at_once; u0 < share; u0 += at_once) {
        leave(u0);
        arrive(u0);
      }
      if (several) {
        __syncthreads();
#pragma unroll 4
        for (int u = 0; u < share; ++u) {
          const int t = row_of(u), c = column_of(u);
          if (t < rows && has(c) && from[t] != t) at(top + t, c) = X_[c][t];
        }
      }
      __syncthreads();
    }
    if (several) {
#pragma unroll 4
      for (int u = 0; u < share; ++u) {
        const int t = row_of(u), c = column_of(u);
        X_[c][t] = t < w && has(c) ? at(t, c) : E{};
      }
      __syncthreads();
    }
  }

  /// By each member of a team: its share of a solved stripe of the team's columns back to A.
  template <int team_columns, int members>
  __device__ void store(const Team<members>& team, int k0, int w) const {
    const int lane = threadIdx.x % warp_size;
#pragma unroll
    for (int n = 0; n < tile * team_columns / warp_size / members; ++n) {
      const int u = n * members + team.member;
      const int i = by_rows ? lane / 8 + u % 8 * 4 : lane % 8 + u % 4 * 8;
      const int c = team.number * team_columns + (by_rows ? lane % 8 + u / 8 * 8 : lane / 8 + u / 4 * 4);
      if (k0 + i < w && has(c)) at(k0 + i, c) = X_[c][k0 + i];
    }
  }

 private:
  // A thread's share of most_rows x columns; neighbours have what lies side by side, and in other banks.
  static constexpr int share = most_rows * columns / threads, eights = columns / 8;
  static constexpr int at_once = share < 128 / int(sizeof(E)) ? share : 128 / int(sizeof(E));
  __device__ static int row_of(int u) {
    const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
    return by_rows ? lane / 8 + (warp / eights + u * (warps / eights)) * 4 : lane % 8 + (warp + warps * (u % 2)) * 8;
  }
  __device__ static int column_of(int u) {
    const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
    return by_rows ? lane % 8 + warp % eights * 8 : lane / 8 + u / 2 * 4;
  }
  Block<E> A_;
  std::int64_t first_;
  Column<E>* X_;
};

}  // namespace devobj::cuda::exchange_solve_tiles
