// QR of a panel by Givens rotations: tiles of 128 (or 192) rows are brought to triangles, eight triangles (of complex<double>
// four) at a time to one, up to a single triangle; then the same rotations backwards, from the unit matrix, give the
// first columns of Q.
//
//     A      tiles        triangles     triangle
//   +---+   +---+  up                                        down: the same with [I; 0] from the right to the left,
//   |   |   |   | ----->  \                                   which gives Q(:, 0:32), a tile at a time
//   |   |   +---+          \
//   |   |   |   | ----->    \  up                            then Q(:, 0:32) - [S; 0] = Y U, an LU factorization
//   |   |   +---+             ----->  R                      without pivoting with signs S, and A = (I - Y T Y^H) [S R; 0]
//   |   |   |   | ----->    /
//   +---+   +---+
//
// Within a tile the order is greedy (Cosnard, Muller, Robert 1986): in each step half of the rows that begin in a
// column annihilate the others', for all columns at once. A step is a rotation per thread, then a row pair per warp.
#include <cuda_pipeline.h>

#include <vector>

#include "kernels/cuda/rotate.cuh"
#include "kernels/cuda/thread_square.cuh"
#include "kernels/givens.hpp"

namespace devobj::cuda {
namespace {

constexpr int width = static_cast<int>(givens_panel_width);
constexpr int pitch = width + 1;
constexpr int threads = 1024;
constexpr int warps = threads / warp_size;

/// Rows of a leaf, and of the triangles that are merged at a time: as many as shared memory holds.
constexpr int leaf_rows = 128;
template <class E>
constexpr int merge_rows = sizeof(E) == 16 ? 128 : 256;
template <class E>
constexpr int fan_in = merge_rows<E> / width;
/// Leaves of more rows, where they save a level of merging.
constexpr int tall_leaf_rows = 192;
template <class E>
bool has_tall_leaves(std::int64_t m) {
  constexpr std::int64_t merged_twice = fan_in<E> * fan_in<E>;
  return sizeof(E) <= 8 && m > leaf_rows * merged_twice && m <= tall_leaf_rows * merged_twice;
}
constexpr unsigned most_rows = 256;  // a rotation is a number: a + 256 (b + 256 j)

/// The rotations of a tile: of the rows a and b (b's element becomes zero) in column j, in steps that are independent.
struct Schedule {
  int steps = 0;
  std::vector<std::int32_t> begin, rotations;  // rotations: a + 256 (b + 256 j)
};

/// Greedy, for rows whose first nonzero is in column lead[row].
Schedule greedy(std::vector<int> lead) {
  Schedule s;
  s.begin.push_back(0);
  for (;;) {
    std::vector<std::vector<int>> rows(width);
    for (int r = 0; r < static_cast<int>(lead.size()); ++r)
      if (lead[r] < width) rows[lead[r]].push_back(r);
    for (int j = 0; j < width; ++j) {
      const int count = static_cast<int>(rows[j].size()), half = count / 2;
      for (int i = 0; i < half; ++i) {
        const int a = rows[j][i], b = rows[j][count - half + i];
        s.rotations.push_back(a + static_cast<int>(most_rows) * (b + static_cast<int>(most_rows) * j));
        lead[b] = j + 1;
      }
    }
    if (std::ssize(s.rotations) == s.begin.back()) return s;
    s.begin.push_back(static_cast<std::int32_t>(s.rotations.size()));
    ++s.steps;
  }
}

/// The schedules in one array of integers: steps, begin (steps + 1), rotations, of one after the other.
struct Schedules {
  std::vector<std::int32_t> numbers;
  std::int64_t leaf, tall_leaf, merge;  // where each begins
  std::int64_t most = 0, longest = 0;   // the most rotations of a tile, the most integers of a schedule

  explicit Schedules(int rows_of_merge) {
    leaf = add(greedy(std::vector<int>(leaf_rows, 0)));
    tall_leaf = add(greedy(std::vector<int>(tall_leaf_rows, 0)));
    std::vector<int> lead(rows_of_merge);
    for (int r = 0; r < rows_of_merge; ++r) lead[r] = r % width;
    merge = add(greedy(lead));
  }

 private:
  std::int64_t add(const Schedule& s) {
    const std::int64_t begin = std::ssize(numbers);
    numbers.push_back(s.steps);
    numbers.insert(numbers.end(), s.begin.begin(), s.begin.end());
    numbers.insert(numbers.end(), s.rotations.begin(), s.rotations.end());
    most = std::max(most, static_cast<std::int64_t>(std::ssize(s.rotations)));
    longest = std::max(longest, static_cast<std::int64_t>(std::ssize(numbers)) - begin);
    return begin;
  }
};
template <class E>
const Schedules& schedules() {
  static const Schedules all(merge_rows<E>);
  return all;
}

/// What a block has in shared memory: a tile, and the rotations of a step (up) or, after the tile's schedule, all of
/// them (down).
template <class E, int tile_rows>
struct Tile {
  E rows[tile_rows][pitch];
  E sines[tile_rows / 2];
  real_e<E> cosines[tile_rows / 2];
};
/// Rotations of a step that a warp may get.
template <int tile_rows>
constexpr int of_warp = (tile_rows / 2 + warps - 1) / warps;
/// Rows and column of a rotation.
struct Place {
  unsigned number;
  __device__ unsigned a() const { return number % most_rows; }
  __device__ unsigned b() const { return number / most_rows % most_rows; }
  __device__ unsigned j() const { return number / (most_rows * most_rows); }
};

__host__ __device__ constexpr std::int64_t padded(std::int64_t numbers) {
  return (numbers + 3) / 4 * 4;  // of 32 bits, to a multiple of 16 bytes
}

struct StepsOfTile {
  int steps;
  const std::int32_t* begin;
  const Place* rotations;
};
/// The schedule, copied to shared memory behind the tile.
template <class Tile>
__device__ StepsOfTile load_schedule(const std::int32_t* __restrict__ schedule, Tile& tile) {
  auto* numbers = reinterpret_cast<std::int32_t*>(&tile + 1);
  const int steps = schedule[0], count = 2 + steps + schedule[1 + steps];
  for (int i = threadIdx.x; i < count; i += threads) numbers[i] = schedule[i];
  return {steps, numbers + 1, reinterpret_cast<const Place*>(numbers + 2 + steps)};
}

// A block takes a tile of A (its columns beyond the last as zeros) to a triangle in `triangles`, and keeps the
// rotations.
template <class E, int tile_rows>
__global__ void __launch_bounds__(threads)
    up_kernel(Block<E> A, const std::int32_t* __restrict__ schedule, real_e<E>* cosines, E* sines, std::int64_t most,
              Block<E> triangles) {
  constexpr E zero{};
  constexpr int turns = of_warp<tile_rows>;
  extern __shared__ double2 memory[];
  auto& tile = *reinterpret_cast<Tile<E, tile_rows>*>(memory);
  const StepsOfTile order = load_schedule(schedule, tile);
  const std::int64_t row0 = std::int64_t(blockIdx.x) * tile_rows;
  cosines += blockIdx.x * most;
  sines += blockIdx.x * most;
  for (int e = threadIdx.x; e < tile_rows * width; e += threads) {
    const int i = e % tile_rows, j = e / tile_rows;
    tile.rows[i][j] = row0 + i < A.rows && j < A.cols ? A(row0 + i, j) : zero;
  }
  __syncthreads();
  const int own = threadIdx.x, lane = own % warp_size, warp = own / warp_size;
  // a thread's rotation to make, and a warp's to apply, are known a step ahead
  int begin = 0, count = order.steps > 0 ? order.begin[1] : 0;
  Place mine = own < count ? order.rotations[own] : Place{};
  for (int t = 0; t < order.steps; ++t) {
    Place place[turns];
#pragma unroll
    for (int u = 0; u < turns; ++u)
      if (warp + u * warps < count) place[u] = order.rotations[begin + warp + u * warps];
    if (own < count) {
      real_e<E> c;
      E s, top;
      make_rotation_of(tile.rows[mine.a()][mine.j()], tile.rows[mine.b()][mine.j()], c, s, top);
      tile.cosines[own] = c;
      tile.sines[own] = s;
      cosines[begin + own] = c;
      sines[begin + own] = s;
    }
    const int next = begin + count, next_count = t + 1 < order.steps ? order.begin[t + 2] - next : 0;
    if (own < next_count) mine = order.rotations[next + own];
    __syncthreads();
    E x[turns], y[turns];
#pragma unroll
    for (int u = 0; u < turns; ++u)
      if (const int e = warp + u * warps; e < count) {
        x[u] = tile.rows[place[u].a()][lane];
        y[u] = tile.rows[place[u].b()][lane];
        rotate_pair(x[u], y[u], tile.cosines[e], tile.sines[e]);
        if (lane == static_cast<int>(place[u].j())) y[u] = zero;
      }
#pragma unroll
    for (int u = 0; u < turns; ++u)
      if (warp + u * warps < count) {
        tile.rows[place[u].a()][lane] = x[u];
        tile.rows[place[u].b()][lane] = y[u];
      }
    begin = next;
    count = next_count;
    __syncthreads();
  }
  const int i = own % width, j = own / width;
  triangles(std::int64_t(blockIdx.x) * width + i, j) = i <= j ? tile.rows[i][j] : zero;
}

// A block takes its triangle's rows of Q (the unit matrix at the root, where `tops` is null) to a tile's.
template <class E, int tile_rows>
__global__ void __launch_bounds__(threads)
    down_kernel(Block<E> tops, const std::int32_t* __restrict__ schedule, const real_e<E>* __restrict__ cosines,
                const E* __restrict__ sines, std::int64_t most, E one, Block<E> Q) {
  constexpr E zero{};
  constexpr int turns = of_warp<tile_rows>;
  extern __shared__ double2 memory[];
  auto& tile = *reinterpret_cast<Tile<E, tile_rows>*>(memory);
  const StepsOfTile order = load_schedule(schedule, tile);
  const std::int64_t row0 = std::int64_t(blockIdx.x) * tile_rows;
  cosines += blockIdx.x * most;
  sines += blockIdx.x * most;
  for (int e = threadIdx.x; e < tile_rows * width; e += threads) {
    const int i = e % tile_rows, j = e / tile_rows;
    E x = zero;
    if (i < width) x = tops.data != nullptr ? tops(std::int64_t(blockIdx.x) * width + i, j) : i == j ? one : zero;
    tile.rows[i][j] = x;
  }
  // all rotations behind the schedule
  const int all = schedule[1 + schedule[0]];
  E* own_sines = reinterpret_cast<E*>(reinterpret_cast<std::int32_t*>(&tile + 1) + padded(2 + schedule[0] + all));
  auto* own_cosines = reinterpret_cast<real_e<E>*>(own_sines + all);
  for (int e = threadIdx.x; e < all; e += threads) {
    __pipeline_memcpy_async(own_sines + e, sines + e, sizeof(E));
    __pipeline_memcpy_async(own_cosines + e, cosines + e, sizeof(real_e<E>));
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  for (int t = order.steps - 1; t >= 0; --t) {
    const int begin = order.begin[t] + warp, end = order.begin[t + 1];
    E x[turns], y[turns];
    Place place[turns];
#pragma unroll
    for (int u = 0; u < turns; ++u)
      if (const int e = begin + u * warps; e < end) {
        place[u] = order.rotations[e];
        x[u] = tile.rows[place[u].a()][lane];
        y[u] = tile.rows[place[u].b()][lane];
        rotate_pair(x[u], y[u], own_cosines[e], negative(own_sines[e]));
      }
#pragma unroll
    for (int u = 0; u < turns; ++u)
      if (begin + u * warps < end) {
        tile.rows[place[u].a()][lane] = x[u];
        tile.rows[place[u].b()][lane] = y[u];
      }
    __syncthreads();
  }
  for (int e = threadIdx.x; e < tile_rows * width; e += threads) {
    const int i = e % tile_rows, j = e / tile_rows;
    if (row0 + i < Q.rows) Q(row0 + i, j) = tile.rows[i][j];
  }
}

/// -a / |a|, -1 for 0, and |a|
__device__ inline float opposite_phase(float a, float& size) {
  size = fabsf(a);
  return a > 0 ? -1.f : a < 0 ? 1.f : a == 0 ? -1.f : a;
}
__device__ inline double opposite_phase(double a, double& size) {
  size = fabs(a);
  return a > 0 ? -1. : a < 0 ? 1. : a == 0 ? -1. : a;
}
__device__ inline cuComplex opposite_phase(cuComplex a, float& size) {
  size = cuCabsf(a);
  return size == 0 ? cuComplex{-1, 0} : cuComplex{-a.x / size, -a.y / size};
}
__device__ inline cuDoubleComplex opposite_phase(cuDoubleComplex a, double& size) {
  size = cuCabs(a);
  return size == 0 ? cuDoubleComplex{-1, 0} : cuDoubleComplex{-a.x / size, -a.y / size};
}

// One block: from the first k rows of Q and the triangle R
//   Q - S = Y U,  s_j = -q_jj / |q_jj| when its turn comes,  tau_j = 1 + |q_jj|
//   the rows below:  Y = Q U^-1,  W = Y T = Q M with M = -S^H Y1^-H;  W's first rows: (I - Q S^H) Y1^-H
// A's top gets Y below the diagonal and S R on and above it, Y and W their tops, `factors` [U^-1 M]. Step p of the
// elimination makes column p of Y and of X = U^-1, and row p of N = Y1^-1.
template <class E>
__global__ void __launch_bounds__(square_threads)
    reconstruct_kernel(Block<E> Q, Block<E> R, Block<E> A, Strided<E> tau, Block<E> Y, Block<E> W, Block<E> factors) {
  constexpr int tile = width / side;
  __shared__ E row_of_q[2][width], row_of_N[2][width], column_of_q[2][width], column_of_X[2][width], signs[width];
  __shared__ E of_Q[width][pitch], of_N[width][pitch];
  const int k = static_cast<int>(A.cols), r = threadIdx.x % side, c = threadIdx.x / side;
  const E one = from_parts<E>(1);
  Square<E, width> q, X, N;
  q.each([&](E& x, int i, int j) { of_Q[i][j] = x = i < k && j < k ? Q(i, j) : E{}; });
  X.each([&](E& x, int i, int j) { x = i == j ? one : E{}; });
  N.each([&](E& x, int i, int j) { x = i == j ? one : E{}; });
  each_step<tile>(k, [&](int a0, int step_r, int p) {
    const int now = p & 1;
#pragma unroll
    for (int u = 0; u < tile; ++u) {
      if (r == step_r) {
        row_of_q[now][c + side * u] = q.x[a0][u];
        row_of_N[now][c + side * u] = N.x[a0][u];
      }
      if (c == step_r) {
        column_of_q[now][r + side * u] = q.x[u][a0];
        column_of_X[now][r + side * u] = X.x[u][a0];
      }
    }
    __syncthreads();
    const E pivot = row_of_q[now][p];
    real_e<E> size;
    const E sign = opposite_phase(pivot, size), u_pp = sum(pivot, negative(sign)), inverse = inverse_of(u_pp);
    if (threadIdx.x == 0) {
      signs[p] = sign;
      tau[p] = from_parts<E>(1 + size);
    }
#pragma unroll
    for (int a = 0; a < tile; ++a) {
      const int i = r + side * a;
      const E y = i > p ? product(column_of_q[now][i], inverse) : E{};
      const E x = i <= p ? product(column_of_X[now][i], inverse) : E{};
#pragma unroll
      for (int b = 0; b < tile; ++b) {
        const int j = c + side * b;
        const E right = j > p ? row_of_q[now][j] : E{};
        q.x[a][b] = sum(q.x[a][b], negative(product(y, right)));
        X.x[a][b] = sum(X.x[a][b], negative(product(x, right)));
        if (j <= p) N.x[a][b] = sum(N.x[a][b], negative(product(y, row_of_N[now][j])));
        if (j == p) {
          if (i > p) q.x[a][b] = y;
          if (i <= p) X.x[a][b] = x;
        }
      }
    }
    return true;
  });
  __syncthreads();
  N.each([&](E& x, int i, int j) { of_N[i][j] = x; });
  q.each([&](E& x, int i, int j) {
    if (i >= k || j >= k) return;
    A(i, j) = i > j ? x : product(signs[i], R(i, j));
    Y(i, j) = i > j ? x : i == j ? one : E{};
  });
  X.each([&](E& x, int i, int j) {
    if (i < k && j < k) factors(i, j) = x;
  });
  __syncthreads();
  N.each([&](E& w, int i, int j) {
    if (i >= k || j >= k) return;
    factors(i, k + j) = negative(product(conjugate(signs[i]), conjugate(of_N[j][i])));
    w = conjugate(of_N[j][i]);
    for (int p = 0; p < k; ++p)
      w = sum(w, negative(product(product(of_Q[i][p], conjugate(signs[p])), conjugate(of_N[j][p]))));
    W(i, j) = w;
  });
}

/// The tiles of each level, the leaves first, until there is one.
template <class E>
std::vector<std::int64_t> tiles_of(std::int64_t m, int rows_of_leaf) {
  std::vector<std::int64_t> tiles = {ceil_div(m, rows_of_leaf)};
  while (tiles.back() > 1) tiles.push_back(ceil_div(tiles.back(), fan_in<E>));
  return tiles;
}
/// Those of all levels for up to m rows.
template <class E>
std::int64_t all_tiles(std::int64_t m) {
  std::int64_t all = 0;
  for (const std::int64_t tiles : tiles_of<E>(m, leaf_rows)) all += tiles;
  return all;
}

template <class Kernel, class... Arguments>
void launch(Kernel kernel, std::int64_t blocks, std::int64_t bytes, Queue& q, Arguments... arguments) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "givens_panel");
  kernel<<<static_cast<unsigned>(blocks), threads, static_cast<std::size_t>(bytes), stream_of(q)>>>(arguments...);
}

}  // namespace

template <class T>
GivensPanel<T>::GivensPanel(std::int64_t m, Queue& q)
    : schedules_(std::ssize(schedules<device_t<T>>().numbers), 1, q),
      cosines_(schedules<device_t<T>>().most, all_tiles<device_t<T>>(m), q),
      sines_(cosines_.rows, cosines_.cols, q),
      triangles_(cosines_.cols * width, width, q),
      Q_(m, width, q),
      tops_(cosines_.cols * width, width, q),
      YW_(m, 2 * width, q),
      factors_(width, 2 * width, q) {
  const auto& numbers = schedules<device_t<T>>().numbers;
  to_device<std::int32_t>({numbers.data(), std::ssize(numbers), 1, std::ssize(numbers)}, schedules_, q);
}

template <class T>
void GivensPanel<T>::factor(View<T> A, View<T> tau, Queue& q) {
  using E = device_t<T>;
  const Schedules& orders = schedules<E>();
  const std::int64_t m = A.rows, k = A.cols, most = orders.most;
  if (k == 0) return;
  DeviceScope scope(q.device());
  const bool tall = has_tall_leaves<E>(m);
  const std::vector<std::int64_t> tiles = tiles_of<E>(m, tall ? tall_leaf_rows : leaf_rows);
  const std::size_t levels = tiles.size();
  const auto order_bytes = static_cast<std::int64_t>(padded(orders.longest) * sizeof(std::int32_t)),
             rotation_bytes = static_cast<std::int64_t>(most * (sizeof(E) + sizeof(real_e<E>)));

  // The triangles that level l makes begin at row begin[l].
  std::vector<std::int64_t> begin(levels + 1, 0);
  for (std::size_t l = 0; l < levels; ++l) begin[l + 1] = begin[l] + tiles[l] * width;
  auto of_level = [&](const Matrix<T>& M, std::size_t l) { return M({begin[l], begin[l + 1]}, {0, width}); };
  auto schedule = [&](std::size_t l) { return schedules_.data + (l > 0 ? orders.merge : tall ? orders.tall_leaf : orders.leaf); };
  auto first_rotation = [&](std::size_t l) { return begin[l] / width * most; };

  for (std::size_t l = 0; l < levels; ++l) {
    auto up = [&]<int rows>(View<T> from) {
      launch(up_kernel<E, rows>, tiles[l], sizeof(Tile<E, rows>) + order_bytes, q, block_of(from), schedule(l),
             cosines_.data + first_rotation(l), raw(sines_.data) + first_rotation(l), most,
             block_of(of_level(triangles_, l)));
    };
    if (l > 0)
      up.template operator()<merge_rows<E>>(of_level(triangles_, l - 1));
    else if (tall)
      up.template operator()<tall_leaf_rows>(A);
    else
      up.template operator()<leaf_rows>(A);
  }
  for (std::size_t l = levels; l-- > 0;) {
    auto down = [&]<int rows>(View<T> to) {
      launch(down_kernel<E, rows>, tiles[l], sizeof(Tile<E, rows>) + order_bytes + rotation_bytes, q,
             l + 1 == levels ? Block<E>{nullptr, 0, 0, 1} : block_of(of_level(tops_, l)), schedule(l),
             cosines_.data + first_rotation(l), raw(sines_.data) + first_rotation(l), most, raw_value(T(1)),
             block_of(to));
    };
    const View<T> leaves = Q_({0, m}, {0, width});
    if (l > 0)
      down.template operator()<merge_rows<E>>(of_level(tops_, l - 1));
    else if (tall)
      down.template operator()<tall_leaf_rows>(leaves);
    else
      down.template operator()<leaf_rows>(leaves);
  }
  const Range columns{0, k}, both{0, 2 * k}, below{k, m};
  const View<T> top = A(columns, columns);
  Y = YW_({0, m}, columns);
  W = YW_({0, m}, {k, 2 * k});
  reconstruct_kernel<E><<<1, square_threads, 0, stream_of(q)>>>(
      block_of(Q_.view()), block_of(of_level(triangles_, levels - 1)), block_of(top), vector_of(tau), block_of(Y),
      block_of(W), block_of(factors_.view()));
  q.launched("givens_panel");
  if (below.size() == 0) return;
  // the rows below: [Y W] = Q [U^-1 M]
  gemm(Op::NoTrans, Op::NoTrans, T(1), Q_(below, columns), factors_(columns, both), T(0), YW_(below, both), q);
  lacpy(Uplo::General, Y(below, columns), A(below, columns), q);
}

#define INSTANTIATE(T) template class GivensPanel<T>;
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
