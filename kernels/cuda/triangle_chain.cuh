// Solutions with the triangles L and U of a panel, for a strip of columns:
//
//   | T00             |     The tiles of 32 x 32 on the diagonal are inverted first, by a warp each. Then the chain, a few warps,
//   | T10 T11         |     goes from tile to tile:
//   | T20 T21 T22     |       given = x's rows of the tile       - barrier of the chain -
//   | T30 T31 T32 T33 |       solution = inverse given           - barrier of the chain -   x -= T solution, the next rows first
//
// A warp of the chain has a part of each tile's rows, a lane one row of it in one column: a product is 32 steps long. Other
// warps of the block follow with rows of their own, a row to a thread (Follower): the chain announces each tile's
// solution and does not wait for them.
#pragma once

#include "kernels/cuda/single_precision.cuh"
#include "kernels/cuda/triangle_tile.cuh"

namespace devobj::cuda {

/// The block's barriers. The chain waits where T and the inverses of U are ready, which others announce, and for itself; from
/// `first_of_solutions` others wait for the chain's solutions.
enum ChainBarrier : int { T_ready, U_ready, of_chain, first_of_solutions };

__device__ __forceinline__ void meet(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
/// Takes part without waiting for the others.
__device__ __forceinline__ void announce(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

enum class Triangle { L, U };

/// In shared memory. LU: at least as many rows as columns, at most `order` of these. Without rows or columns it is padded by
/// those of the identity.
template <class E>
struct TriangleChain {
  using Tile = TriangleTile<E>;
  static constexpr int order = is_device_complex<E> ? 64 : 128, tile = Tile::order, tiles = order / tile;
  static constexpr int warps = tiles;  // of the chain: each of them inverts a tile before
  static constexpr int threads = warps * warp_size;
  static constexpr int strip = warps;        // columns of the right-hand sides
  static constexpr int part = tile / warps;  // rows of a tile that a warp of the chain has
  static constexpr int stride = order + Piece<E>::size;
  static_assert(part * strip == warp_size);

  Tile T[tiles][tiles];  // of L and U; on the diagonal the inverses of L's
  Tile inverse_of_U[tiles];
  E reciprocal[tiles][tile];  // of U's diagonal
  alignas(16) E given[strip][Tile::stride];
  alignas(16) E solution[2][strip][stride];  // with L, then with U

  // ---- tiles ----

  /// A row of A within a tile, or zeros. To be called long before these are needed.
  __device__ static void fetch(Block<E> A, int row, int first, E (&a)[tile]) {
    const int inside = row < A.rows ? static_cast<int>(A.cols) - first : 0;
    const E* next = A.data + (row + first * A.ld);
#pragma unroll
    for (int k = 0; k < tile; ++k, next += A.ld) a[k] = k < inside ? *next : E{};
  }
  /// By a warp, a lane with a row each: a tile of the diagonal, of which invert_lower makes L's inverse.
  __device__ void put_lower(int i, int lane, const E (&l)[tile]) {
#pragma unroll
    for (int k = 0; k < tile; ++k) T[i][i].a[k][lane] = l[k];
  }
  __device__ void invert_lower(int i, int lane) {
    __syncwarp();
    T[i][i].invert_unit_lower(lane);
  }
  /// The same for U of `n` columns.
  __device__ void put_upper(int i, int lane, int n, const E (&u)[tile]) {
    Tile& U = inverse_of_U[i];
#pragma unroll
    for (int k = 0; k < tile; ++k) U.a[lane][k] = u[k];
    reciprocal[i][lane] = i * tile + lane < n ? inverse_of(U.a[lane][lane]) : from_parts<E>(1);
  }
  __device__ void invert_upper(int i, int lane) {
    __syncwarp();
    inverse_of_U[i].invert_upper(reciprocal[i], lane);
  }

  /// The tiles off the diagonal, those of L alone or of U too, on their way to T by `helpers` warps.
  template <int helpers, Triangle last>
  struct Staging {
    static constexpr int pieces = tile / Piece<E>::size, turns = (pieces + helpers - 1) / helpers;
    static constexpr int pairs = tiles * (tiles - 1) / (last == Triangle::L ? 2 : 1);
    int helper, lane;
    Piece<E> fetched[pairs * turns];

    __device__ void fetch(Block<E> LU) {
      for_each([&](int i, int j, int k, Piece<E>& piece) {
        const int row = i * tile + lane, column = j * tile + k;
        const int inside = row < LU.rows ? static_cast<int>(LU.cols) - column : 0;
        const E* next = LU.data + (row + column * LU.ld);
#pragma unroll
        for (int e = 0; e < Piece<E>::size; ++e, next += LU.ld) piece.e[e] = e < inside ? *next : E{};
      });
    }
    __device__ void put(TriangleChain& chain) {
      for_each([&](int i, int j, int k, Piece<E>& piece) { piece_at(&chain.T[i][j].a[lane][k]) = piece; });
    }

   private:
    /// use(i, j, k, piece): columns from k in tile (i, j).
    template <class Use>
    __device__ void for_each(Use use) {
      int next = 0;
#pragma unroll
      for (int j = 0; j < tiles; ++j)
#pragma unroll
        for (int i = last == Triangle::L ? j + 1 : 0; i < tiles; ++i) {
          if (i == j) continue;
#pragma unroll
          for (int turn = 0; turn < turns; ++turn, ++next) {
            const int k = (helper + turn * helpers) * Piece<E>::size;
            if (pieces % helpers == 0 || k < tile) use(i, j, k, fetched[next]);
          }
        }
    }
  };

  // ---- the chain ----

  /// A thread's place in the chain: a row of each tile, a column of the strip.
  struct Place {
    int row, column;
    __device__ explicit Place(int thread)
        : row(thread / warp_size * part + thread % part), column(thread % warp_size / part) {}
  };

  /// x = L^-1 x, or x = U^-1 x: the thread's row of each tile, all of them by the chain. `listeners` threads beside the
  /// chain, if any, wait for each solution (Follower). store(t, x[t]) when it is final. Rows from `n` are no part of
  /// the triangle.
  template <Triangle triangle, int listeners, class Store>
  __device__ void solve(Place place, int n, E (&x)[tiles], Store store) {
    constexpr int step = triangle == Triangle::L ? 1 : -1, begin = step > 0 ? 0 : tiles - 1;
    E(&solved)[stride] = solution[static_cast<int>(triangle)][place.column];
    E before[tile], now[tile];
#pragma unroll
    for (int i = 0; i < tiles; ++i) {
      const int t = begin + i * step;
      if (i > 0) x[t] = minus_row(T[t][t - step], place.row, before, x[t]);
      given[place.column][place.row] = x[t];
      meet(of_chain, threads);
      read(given[place.column], now);
      if (i > 0)
#pragma unroll
        for (int later = i + 1; later < tiles; ++later) {
          const int s = begin + later * step;
          x[s] = minus_row(T[s][t - step], place.row, before, x[s]);
        }
      x[t] = negative(minus_row(triangle == Triangle::L ? T[t][t] : inverse_of_U[t], place.row, now, E{}));
      solved[t * tile + place.row] = t * tile + place.row < n ? x[t] : E{};
      if (listeners > 0) announce(solution_barrier(triangle, t), threads + listeners);
      store(t, x[t]);
      if (i + 1 == tiles) break;
      meet(of_chain, threads);
      read(&solved[t * tile], before);
    }
  }

  // ---- the others ----

  /// A row beside the triangle's columns. Two tiles of it are fetched before the chain is there.
  template <Triangle triangle, int listeners>
  struct Follower {
    static constexpr int step = triangle == Triangle::L ? 1 : -1, begin = step > 0 ? 0 : tiles - 1;
    static_assert(tiles % 2 == 0);
    Block<E> A;
    int row;  // of A; there is none if it is not less than A.rows
    E a[2][tile];

    __device__ Follower(Block<E> A, int row) : A(A), row(row) {
      fetch(A, row, begin * tile, a[0]);
      fetch(A, row, (begin + step) * tile, a[1]);
    }
    /// x -= A solution, a row of the strip. By `listeners` threads.
    __device__ void follow(const TriangleChain& chain, E (&x)[strip]) {
#pragma unroll 1
      for (int pair = 0; pair < tiles; pair += 2)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int t = begin + (pair + i) * step;
          meet(solution_barrier(triangle, t), threads + listeners);
          subtract(a[i], &chain.solution[static_cast<int>(triangle)][0][t * tile], x);
          if (pair + 2 < tiles) fetch(A, row, (t + 2 * step) * tile, a[i]);
        }
    }
  };

 private:
  __device__ static int solution_barrier(Triangle triangle, int t) {
    return first_of_solutions + static_cast<int>(triangle) * tiles + t;
  }
  __device__ static void read(const E* from, E (&v)[tile]) {
#pragma unroll
    for (int k = 0; k < tile; k += Piece<E>::size) {
      const Piece<E> p = piece_at(from + k);
#pragma unroll
      for (int i = 0; i < Piece<E>::size; ++i) v[k + i] = p.e[i];
    }
  }
  __device__ static void subtract(const E (&a)[tile], const E* solved, E (&x)[strip]) {
#pragma unroll
    for (int k = 0; k < tile; k += Piece<E>::size) {
      Piece<E> s[strip];
#pragma unroll
      for (int c = 0; c < strip; ++c) s[c] = piece_at(solved + c * stride + k);
#pragma unroll
      for (int i = 0; i < Piece<E>::size; ++i)
#pragma unroll
        for (int c = 0; c < strip; ++c) x[c] = minus_product(x[c], a[k + i], s[c].e[i]);
    }
  }
  /// x - the tile's row times v, in four sums
  __device__ static E minus_row(const Tile& A, int row, const E (&v)[tile], E x) {
    E s[4] = {x};
#pragma unroll
    for (int k = 0; k < tile; k += Piece<E>::size) {
      const Piece<E> a = piece_at(&A.a[row][k]);
#pragma unroll
      for (int i = 0; i < Piece<E>::size; ++i) s[(k + i) % 4] = minus_product(s[(k + i) % 4], a.e[i], v[k + i]);
    }
    return sum(sum(s[0], s[1]), sum(s[2], s[3]));
  }
};

}  // namespace devobj::cuda
