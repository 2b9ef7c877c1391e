// lu_panel: the launch of its kernels, and which shape is launched for which panel.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/cuda/asked_once.hpp"
#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/lu_panel_follow.cuh"
#include "kernels/cuda/lu_panel_grid_link.cuh"
#include "kernels/cuda/lu_panel_kernel.cuh"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/cuda/tensor_map.hpp"
#include "kernels/cuda/two_parts.cuh"
#include "kernels/cuda/vectors.cuh"

namespace devobj::cuda::lu {

// The widths: rows of 128 bytes with up to four of them per thread fill half of the registers; taller panels have narrower
// windows and more rows. Of real numbers in single precision 64 bytes are faster: less is published.
template <class E>
constexpr int width_of(int rows) {
  const int bytes = rows <= 4 ? 128 : rows <= 8 ? 64 : 32;
  return std::min(bytes, sizeof(E) == 4 ? 64 : 128) / static_cast<int>(sizeof(E));
}
/// What the shapes depend on, of the current device; asked once, since a factorization wants many shapes before it begins.
struct Machine {
  bool clusters = false;
  int processors = 0;
};
template <class E>
Machine machine_of() {
  static AskedOnce<Machine> known;
  int device = 0;
  check(cudaGetDevice(&device), "lu_panel");
  return known.of(device, [&](bool& keep) {
    Machine machine;
    machine.clusters = clusters_usable(lu_panel_kernel<E, width_of<E>(1), 1, usual_threads, ClusterLink>);
    check(cudaDeviceGetAttribute(&machine.processors, cudaDevAttrMultiProcessorCount, device), "lu_panel");
    keep = keep && machine.clusters;
    return machine;
  });
}

/// Complex columns as real ones.
template <class E>
View<real_e<E>> as_numbers(const Block<E>& A) {
  constexpr std::int64_t parts = sizeof(E) / sizeof(real_e<E>);
  return {reinterpret_cast<real_e<E>*>(A.data), A.rows * parts, A.cols, A.ld * parts};
}

/// Blocks of so many threads, with `bytes` of dynamic shared memory each.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LuPanelShape& shape, int threads, std::size_t bytes,
            const Start* start, Queue& q, const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = bytes;
  config.stream = stream_of(q);
  cudaLaunchAttribute attributes[3]{};
  config.attrs = attributes;
  auto add = [&](cudaLaunchAttributeID id) -> cudaLaunchAttributeValue& {
    attributes[config.numAttrs].id = id;
    return attributes[config.numAttrs++].val;
  };
  if (shape.blocks > 1 && shape.cluster) {
    if (shape.blocks > 8)
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "lu_panel");
    add(cudaLaunchAttributeClusterDimension).clusterDim = {static_cast<unsigned>(shape.blocks), 1, 1};
  } else if (shape.blocks > 1) {
    add(cudaLaunchAttributeCooperative).cooperative = 1;
  }
  if (shape.early) attributes[config.numAttrs++] = launch_early();
  if (start != nullptr)
    add(cudaLaunchAttributeLaunchCompletionEvent).launchCompletionEvent = {static_cast<cudaEvent_t>(start->event()), 0};
  check(cudaLaunchKernelEx(&config, kernel, arguments...), "lu_panel");
}

template <class E, int W, int R, int T, template <class, int, int> class LinkOf>
struct Launch {
  static constexpr auto kernel = lu_panel_kernel<E, W, R, T, LinkOf>;
  static LuPanelShape run(Panel<E> p, LuPanelShape shape, const Start* start, Queue& q) {
    const std::size_t most = allow_shared_memory(kernel, q.device(), "lu_panel");
    BoxMaps maps{};
    // (The copy engine stores 16 bytes at least. A single block has no barrier that empties the multiprocessor's cache, which the
    // copy engine passes by.)
    if constexpr (RestUpdate<E, W, R, T, LinkOf>::can_copy_boxes) {
      const View<real_e<E>> numbers = as_numbers(p.A);
      p.boxes = shape.boxes && p.A.cols > 2 * W && has_tensor_map(numbers) &&
                (shape.padded || numbers.rows % copied_numbers<real_e<E>> == 0) &&
                RestMemory<E, W>::bytes(p.A.cols, true) <= most && (shape.cluster || machine_of<E>().clusters);
      // (beside the letters of a grid a copy for each box is the faster)
      if (p.boxes) maps = Boxes<E, W>::maps_of(numbers, shape.stacks && shape.cluster);
    }
    const std::size_t of_rest = RestMemory<E, W>::bytes(p.A.cols, p.boxes), with_L = of_rest + KeptL<E, W, R, T>::bytes;
    // (a single block is not faster with it)
    p.keeps_L = shape.keeps_L && KeptL<E, W, R, T>::possible && shape.blocks > 1 && p.A.cols > W && with_L <= most;
    p.block_rows =
        even_rows<E> ? static_cast<int>(whole(ceil_div(p.A.rows, std::int64_t(shape.blocks)), updating)) : R * T;
    launch(kernel, shape, T + updating, p.keeps_L ? with_L : of_rest, start, q, p, maps);
    shape.keeps_L = p.keeps_L;
    shape.boxes = p.boxes;
    shape.stacks = maps.has_stacks;
    return shape;
  }
};

/// The kernel in which one warp of a block eliminates, and four follow.
template <class E, int most_blocks>
struct LaunchFollowing {
  static constexpr int W = width_of<E>(eliminated_rows);
  static constexpr auto kernel = lu_panel_follow_kernel<E, W, most_blocks>;
  static LuPanelShape run(const Panel<E>& p, LuPanelShape shape, const Start* start, Queue& q) {
    allow_shared_memory(kernel, q.device(), "lu_panel");
    launch(kernel, shape, following_threads, sizeof(FollowMemory<E, W>), start, q, p);
    shape.keeps_L = shape.boxes = shape.stacks = false;
    return shape;
  }
};

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

// The workspace: the places of a cluster, and the progress; the grid's counter and, right after it, its letters; U.
constexpr std::size_t places_bytes = 256, counter_bytes = 256;
static_assert(lu_panel_progress_at + sizeof(std::int32_t) <= places_bytes);
static_assert(lu_panel_places >= max_cluster);
template <class E>
std::size_t letters_bytes(int blocks) {
  return aligned(GridLink<E, width_of<E>(1), usual_threads>::bytes_of_letters(blocks));
}

template <class E, int R, int T, template <class, int, int> class LinkOf>
using LaunchOf = Launch<E, width_of<E>(R), R, T, LinkOf>;

/// Rows per thread in a cluster, at most, of 2, 3, 4, 6 and 8. With four the step of complex<double> is slower than a grid's.
template <class E>
constexpr int cluster_rows = sizeof(E) == 16            ? 3
                             : std::is_same_v<E, float> ? 8
                                                        : 4;

/// Blocks of a cluster with few threads each, at most. In fp32 more are slower than half as many of the usual ones.
template <class E>
constexpr int few_blocks = std::is_same_v<E, float> ? 8 : max_cluster;

/// Rows of complex columns up to which one block with a row to each of the usual threads is faster than two with few of them.
template <class E>
constexpr std::int64_t one_block_most = sizeof(E) == 16 ? 224 : usual_threads;

/// Whether one row to each of more_threads is faster than two to each of the usual ones. In other types it is for a panel by itself, but
/// not beside products.
template <class E>
constexpr bool has_more_threads = std::is_same_v<E, double>;

/// act(launch of the shape's kernel), for a panel of so many columns. The shapes that exist: all others are slower for every number of
/// rows (docs/design-notes.md).
template <class E, class Act>
auto with_launch(const LuPanelShape& shape, std::int64_t cols, const Act& act) {
  constexpr int usual = usual_threads, few = few_threads;
  const int R = shape.rows;
  if constexpr (can_follow<E>)
    if (shape.threads == warp_size && cols <= followed_columns)
      return shape.blocks == 1   ? act(LaunchFollowing<E, 1>())
             : shape.blocks <= 8 ? act(LaunchFollowing<E, 8>())
                                 : act(LaunchFollowing<E, max_cluster>());
  if (shape.blocks == 1) {
    if (shape.threads == few && R == 1) return act(LaunchOf<E, 1, few, BlockLink>());
    if (shape.threads == usual && R == 2) return act(LaunchOf<E, 2, usual, BlockLink>());
    if constexpr (is_device_complex<E>) {
      if (shape.threads == usual && R == 1) return act(LaunchOf<E, 1, usual, BlockLink>());
    } else {
      if (shape.threads == few && R == 2) return act(LaunchOf<E, 2, few, BlockLink>());
    }
  } else if (shape.threads == few) {
    if (shape.cluster && R == 1) return act(LaunchOf<E, 1, few, ClusterLink>());
  } else if (shape.threads == more_threads) {
    if constexpr (has_more_threads<E>)
      if (shape.cluster && R == 1) return act(LaunchOf<E, 1, more_threads, ClusterLink>());
  } else if (shape.cluster) {
    if (R == 1) return act(LaunchOf<E, 1, usual, ClusterLink>());
    if (R == 2) return act(LaunchOf<E, 2, usual, ClusterLink>());
    if (R == 3) return act(LaunchOf<E, 3, usual, CrowdedClusterLink>());
    if constexpr (cluster_rows<E> >= 4)
      if (R == 4) return act(LaunchOf<E, 4, usual, CrowdedClusterLink>());
    if constexpr (cluster_rows<E> >= 8) {
      if (R == 6) return act(LaunchOf<E, 6, usual, CrowdedClusterLink>());
      if (R == 8) return act(LaunchOf<E, 8, usual, CrowdedClusterLink>());
    }
  } else {
    if (R == 2) return act(LaunchOf<E, 2, usual, GridLink>());
    if (R == 4) return act(LaunchOf<E, 4, usual, GridLink>());
    if (R == 8) return act(LaunchOf<E, 8, usual, GridLink>());
    if (R == 16) return act(LaunchOf<E, 16, usual, GridLink>());
  }
  fail(Status::internal_error, "lu_panel: no panel of this shape");
}

/// The shapes for a panel. No list on the heap: a factorization asks for each of its blocks before its first kernel.
class Shapes {
 public:
  void add(const LuPanelShape& shape) { of_[count_++] = shape; }
  const LuPanelShape* begin() const { return of_; }
  const LuPanelShape* end() const { return of_ + count_; }

 private:
  LuPanelShape of_[16];  // there are 15 in all
  int count_ = 0;
};
template <class T>
Shapes shapes_of(std::int64_t m, std::int64_t n) {
  using E = device_t<T>;
  Shapes shapes;
  const auto add = [&](int rows, int threads, std::int64_t blocks, bool cluster) {
    shapes.add({width_of<E>(rows), rows, static_cast<int>(blocks), cluster, threads});
  };
  const auto blocks_of = [&](int rows, int threads) {  // blocks without rows would be waited for
    return std::max<std::int64_t>(ceil_div(m, std::int64_t(rows) * threads), 2);
  };
  const auto one_block = [&](int rows, int threads) {
    if (m <= rows * threads) add(rows, threads, 1, true);
  };
  const auto cluster = [&](int rows, int threads) {
    if (blocks_of(rows, threads) <= max_cluster) add(rows, threads, blocks_of(rows, threads), true);
  };
  const Machine machine = machine_of<E>();
  const auto follow = [&] {
    const std::int64_t blocks = ceil_div(m, std::int64_t(followed_rows));
    if (can_follow<E> && machine.clusters && n <= followed_columns && blocks <= max_cluster)
      add(eliminated_rows, warp_size, blocks, true);
  };
  // for 129 to 256 rows one block is the fastest
  const bool one = m > followed_rows && m <= 2 * followed_rows;
  if (!one) follow();
  one_block(1, few_threads);
  const bool usual_first = m <= one_block_most<E>;
  if (!is_complex<T>)
    one_block(2, few_threads);
  else if (usual_first)
    one_block(1, usual_threads);
  if (one) follow();
  if (machine.clusters) {
    if (blocks_of(1, few_threads) <= few_blocks<E>) cluster(1, few_threads);
    cluster(1, usual_threads);
    if (has_more_threads<E>) cluster(1, more_threads);
    for (int rows : {2, 3, 4, 6, 8})
      if (rows <= cluster_rows<E>) cluster(rows, usual_threads);
  }
  if (is_complex<T> && !usual_first) one_block(1, usual_threads);
  one_block(2, usual_threads);
  for (int rows : {2, 4, 8, 16})
    if (blocks_of(rows, usual_threads) <= std::min(machine.processors, max_blocks))
      add(rows, usual_threads, blocks_of(rows, usual_threads), false);
  return shapes;
}

}  // namespace devobj::cuda::lu

namespace devobj::cuda {

template <class T>
std::vector<LuPanelShape> lu_panel_shapes(std::int64_t m, std::int64_t n) {
  const lu::Shapes shapes = lu::shapes_of<T>(m, n);
  return {shapes.begin(), shapes.end()};
}

// From measurements (docs/design-notes.md), the first of the list: of few columns and rows in single precision the kernel in which one warp of
// a block eliminates; else one block as long as that is the fastest, then a cluster with as few threads and rows per thread as possible, then
// the grid, whose letters take longer, but which has all processors.
// Beside products a cluster of more than one row per thread, or of more_threads, has all blocks it can: then those of the panels to come
// find room where it was. (Not where one warp eliminates: there each block costs time.) In single precision a grid has half of the blocks
// that are the fastest by themselves, and leaves the others to the products.
template <class T>
LuPanelShape lu_panel_shape(std::int64_t m, std::int64_t n, bool beside_products) {
  const lu::Shapes shapes = lu::shapes_of<T>(m, n);
  if (shapes.begin() == shapes.end()) return {};
  LuPanelShape shape = *shapes.begin();
  if (beside_products && shape.cluster && shape.blocks > 1 && (shape.rows > 1 || shape.threads == lu::more_threads) &&
      shape.threads != warp_size)
    shape.blocks = max_cluster;
  if (beside_products && std::is_same_v<T, float> && !shape.cluster)
    for (const LuPanelShape& other : shapes)
      if (!other.cluster && other.rows == 4) return other;
  return shape;
}

template <class T>
std::size_t lu_panel_workspace(std::int64_t cols) {
  using E = device_t<T>;
  return lu::places_bytes + lu::counter_bytes + lu::letters_bytes<E>(lu::max_blocks) +
         lu::aligned(cols * cols * sizeof(E));
}

template <class T>
LuPanelShape lu_panel(View<T> A, View<std::int32_t> ipiv, std::int64_t offset, std::int32_t* info, RowExchange exchange,
                      void* workspace, LuPanelShape shape, const Start* start, Queue& q) {
  using namespace lu;
  using E = device_t<T>;
  DeviceScope scope(q.device());
  auto* const bytes = static_cast<unsigned char*>(workspace);
  unsigned char *const counter = bytes + places_bytes, *const letters = counter + counter_bytes;
  const Panel<E> p{block_of(A),
                   vector_of(ipiv),
                   offset,
                   info,
                   exchange,
                   reinterpret_cast<E*>(letters + letters_bytes<E>(max_blocks)),
                   letters,
                   reinterpret_cast<unsigned*>(counter),
                   reinterpret_cast<std::int32_t*>(bytes + lu_panel_places_at),
                   0,
                   false,
                   false,
                   kept_bits(shape.two_parts)};
  if (shape.blocks > 1 && !shape.cluster)
    check(cudaMemsetAsync(p.arrived, 0, counter_bytes + letters_bytes<E>(shape.blocks), stream_of(q)), "lu_panel");
  shape = with_launch<E>(shape, A.cols, [&](auto of_shape) { return of_shape.run(p, shape, start, q); });
  q.launched("lu_panel");
  return shape;
}

template <class T>
void lu_panel_load(const LuPanelShape& shape, std::int64_t cols, Queue& q) {
  DeviceScope scope(q.device());
  lu::with_launch<device_t<T>>(
      shape, cols, [&](auto of_shape) { return allow_shared_memory(of_shape.kernel, q.device(), "lu_panel"); });
}

#define DEVOBJ_INSTANTIATE_LU_PANEL(T)                                                                            \
  template std::vector<LuPanelShape> lu_panel_shapes<T>(std::int64_t, std::int64_t);                              \
  template LuPanelShape lu_panel_shape<T>(std::int64_t, std::int64_t, bool);                                      \
  template std::size_t lu_panel_workspace<T>(std::int64_t);                                                       \
  template void lu_panel_load<T>(const LuPanelShape&, std::int64_t, Queue&);                                      \
  template LuPanelShape lu_panel<T>(View<T>, View<std::int32_t>, std::int64_t, std::int32_t*, RowExchange, void*, \
                                    LuPanelShape, const Start*, Queue&);

}  // namespace devobj::cuda
