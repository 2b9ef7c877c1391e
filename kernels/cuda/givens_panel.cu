// QR of a panel by Givens rotations: tiles of 128 rows (or 192 or 256) are brought to triangles, eight triangles at a
// time to one, up to a single triangle; then the same rotations backwards, from the unit matrix, give the first columns
// of Q.
//
//     A      tiles        triangles     triangle
//   +---+   +---+  up                                        down: the same with [I; 0] from the right to the left,
//   |   |   |   | ----->  \                                   which gives Q(:, 0:32), a tile at a time
//   |   |   +---+          \
//   |   |   |   | ----->    \  up                            then Q(:, 0:32) - [S; 0] = Y U, an LU factorization
//   |   |   +---+             ----->  R                      without pivoting with signs S, and A = (I - Y T Y^H) [S R; 0]
//   |   |   |   | ----->    /
//   +---+   +---+
#include <vector>

#include "kernels/cuda/givens_down.cuh"
#include "kernels/cuda/givens_reconstruct.cuh"
#include "kernels/cuda/givens_up.cuh"

namespace devobj::cuda {
namespace {

using namespace givens;

constexpr int merge_slots = width;  // a triangle per warp
constexpr int leaf_slots[] = {16, 24, 32};

/// The tiles of each level, the leaves first, until there is one.
std::vector<std::int64_t> tiles_of(std::int64_t m, int slots) {
  std::vector<std::int64_t> tiles = {ceil_div(m, warps * slots)};
  while (tiles.back() > 1) tiles.push_back(ceil_div(tiles.back(), warps));
  return tiles;
}
/// Rows of a leaf for each warp: the fewest with which there are as few levels as can be.
int slots_of(std::int64_t m) {
  int best = leaf_slots[0];
  for (const int slots : leaf_slots)
    if (tiles_of(m, slots).size() < tiles_of(m, best).size()) best = slots;
  return best;
}
/// f(the leaves' slots as a constant)
template <class F>
void with_slots(int slots, F f) {
  if (slots == leaf_slots[0])
    f.template operator()<leaf_slots[0]>();
  else if (slots == leaf_slots[1])
    f.template operator()<leaf_slots[1]>();
  else
    f.template operator()<leaf_slots[2]>();
}

/// Where the tiles of each level, and their rotations, begin.
struct Levels {
  std::vector<std::int64_t> tiles, first_tile = {0}, first_rotation = {0};

  Levels(std::int64_t m, int slots) : tiles(tiles_of(m, slots)) {
    for (std::size_t l = 0; l < tiles.size(); ++l) {
      first_tile.push_back(first_tile[l] + tiles[l]);
      const std::int64_t of_tile = l == 0 ? width * (slots + 1) * warps : rotations_of_tile<merge_slots>;
      first_rotation.push_back(first_rotation[l] + tiles[l] * of_tile);
    }
  }
};
/// The most rotations, and triangles, of panels of up to m rows.
std::int64_t most_rotations(std::int64_t m) {
  std::int64_t most = 0;
  for (const int slots : leaf_slots) most = std::max(most, Levels(m, slots).first_rotation.back());
  return most;
}
std::int64_t most_triangles(std::int64_t m) {
  return Levels(m, leaf_slots[0]).first_tile.back();
}

template <class E, int slots, bool of_triangles>
void launch_up(Block<E> A, std::int64_t tiles, Rotation<E>* rotations, E* triangles, bool overlaps, Queue& q) {
  const std::int64_t own = sizeof(UpMemory<E, slots>),
                     bytes = of_triangles ? own : std::max(own, staged_bytes<E>(slots));
  launch_overlapped("givens_panel", overlaps, up_kernel<E, slots, of_triangles>, tiles, up_threads, bytes, q, A,
                    rotations, triangles);
}
template <class E, int slots, bool of_triangles>
void launch_down(const E* tops, std::int64_t tiles, const Rotation<E>* rotations, Block<E> Q, bool overlaps, Queue& q) {
  const std::int64_t own = sizeof(DownMemory<E, slots>),
                     bytes = of_triangles ? own : std::max(own, staged_bytes<E>(slots));
  launch_overlapped("givens_panel", overlaps, down_kernel<E, slots, of_triangles>, tiles, threads, bytes, q, tops,
                    rotations, Q);
}

}  // namespace

template <class T>
GivensPanel<T>::GivensPanel(std::int64_t m, Queue& q)
    : rotations_(sizeof(Rotation<device_t<T>>) / sizeof(T), most_rotations(m), q),
      triangles_(width, most_triangles(m) * width, q),
      tops_(width, triangles_.cols, q),
      Q_(m, width, q),
      YW_(m, 2 * width, q),
      factors_(width, factors_columns, q) {
  DeviceScope scope(q.device());
  overlaps_ = overlap_usable(finish_kernel<device_t<T>>, q.device());
}

template <class T>
void GivensPanel<T>::factor(View<T> A, View<T> tau, Queue& q) {
  using E = device_t<T>;
  const std::int64_t m = A.rows, k = A.cols;
  if (k == 0) return;
  DeviceScope scope(q.device());
  const int slots = slots_of(m);
  const Levels levels(m, slots);
  const std::size_t root = levels.tiles.size() - 1;
  const View<T> Q = Q_({0, m}, {0, width});
  Y = YW_({0, m}, {0, k});
  W = YW_({0, m}, {k, 2 * k});
  // by rows
  auto of_level = [&](const Matrix<T>& M, std::size_t l) {
    return block_of(M({0, width}, {levels.first_tile[l] * width, levels.first_tile[l + 1] * width}));
  };
  auto rotations = [&](std::size_t l) {
    return reinterpret_cast<Rotation<E>*>(rotations_.data) + levels.first_rotation[l];
  };

  with_slots(slots, [&]<int leaf>() {
    launch_up<E, leaf, false>(block_of(A), levels.tiles[0], rotations(0), of_level(triangles_, 0).data, overlaps_, q);
  });
  for (std::size_t l = 1; l <= root; ++l)
    launch_up<E, merge_slots, true>(of_level(triangles_, l - 1), levels.tiles[l], rotations(l),
                                    of_level(triangles_, l).data, overlaps_, q);
  auto tops = [&](std::size_t l) { return l == root ? nullptr : of_level(tops_, l).data; };
  for (std::size_t l = root; l > 0; --l)
    launch_down<E, merge_slots, true>(tops(l), levels.tiles[l], rotations(l), of_level(tops_, l - 1), overlaps_, q);
  with_slots(slots, [&]<int leaf>() {
    launch_down<E, leaf, false>(tops(0), levels.tiles[0], rotations(0), block_of(Q), overlaps_, q);
  });

  const Range columns{0, k};
  const View<T> top = A(columns, columns);
  launch_overlapped("givens_panel", overlaps_, reconstruct_kernel<E>, 1, square_threads, 0, q, block_of(Q),
                    of_level(triangles_, root), block_of(top), vector_of(tau), block_of(Y), block_of(factors_.view()));
  launch_overlapped("givens_panel", overlaps_, finish_kernel<E>, ceil_div(m, finish_rows<E>), finish_threads, 0, q,
                    block_of(Q), block_of(factors_.view()), block_of(A), block_of(Y), block_of(W));
}

#define INSTANTIATE(T) template class GivensPanel<T>;
DEVOBJ_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace devobj::cuda
