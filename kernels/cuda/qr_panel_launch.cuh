// How a panel of qr_panel_native is spread over the GPU: the cluster's blocks, their warps, or a cooperative launch.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/cuda/asked_once.hpp"
#include "kernels/cuda/cluster_launch.cuh"
#include "kernels/cuda/qr_panel_native.cuh"
#include "kernels/qr_panel_native.hpp"

namespace devobj::cuda {
namespace qr_panel {

/// The shared memory of a panel by products.
template <class E, int G>
constexpr std::size_t products_bytes = std::max(sizeof(products::Memory<E, slots * G>),
                                                sizeof(SharedMemory<E, slots * G>));

/// Blocks of a cluster that the device can run, with all their shared memory: 16, 8, ..., 1 without clusters, 0 if
/// none; and of one that may work by products, which needs more.
struct Possible {
  int blocks = 0, by_products = 0;
};
template <class E, int G>
Possible find_possible(int device) {
  const auto kernel = qr_panel_native_kernel<E, G, false>;
  constexpr int bytes = sizeof(SharedMemory<E, Geometry<E, G>::W>), threads = most_warps * warp_size;
  Possible possible;
  possible.blocks = largest_cluster(kernel, threads, bytes);
  if constexpr (has_products<E, G>)
    if (possible.blocks > 0) possible.by_products = largest_cluster(kernel, threads, products_bytes<E, G>);
  if (possible.by_products > 0) return possible;
  // no clusters, or more shared memory than this GPU has
  if (allow_shared_memory(kernel, device, "qr_panel_native") >= bytes) possible.blocks = std::max(possible.blocks, 1);
  return possible;
}
template <class E, int G>
Possible blocks_possible(int device) {
  static AskedOnce<Possible> known;
  return known.of(device, [&](bool& keep) {
    const Possible possible = find_possible<E, G>(device);
    keep = keep && possible.blocks > 0;
    return possible;
  });
}

/// Whether a panel may be made by products. One that is nearly square is rarely well-conditioned.
template <class E, int G>
bool by_products_at(std::int64_t m, std::int64_t w, int device) {
  return m >= 2 * w &&
         m <= std::int64_t(blocks_possible<E, G>(device).by_products) * most_warps * Geometry<E, G>::rows_of_warp;
}

inline int multiprocessors(int device) {
  int count = 0;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "qr_panel_native");
  return count;
}
/// Rows that the widest cluster holds, and all blocks of a cooperative launch together.
template <class E, int G>
std::int64_t rows_of_cluster(int device) {
  return std::int64_t(blocks_possible<E, G>(device).blocks) * most_warps * Geometry<E, G>::rows_of_warp;
}
template <class E, int G>
std::int64_t rows_of_grid(int device) {
  return std::int64_t(multiprocessors(device)) * most_warps * Geometry<E, G>::rows_of_warp;
}

/// Of eight columns each: 1, 2, 4 or 8; 0 if there are more columns.
inline int groups_of(std::int64_t w) {
  for (int g = 1; g <= 8; g *= 2)
    if (w <= 8 * g) return g;
  return 0;
}

template <class E, int G, bool cooperative>
void launch_kernel(const Panel<E>& panel, int warps, int blocks, bool by_products, Queue& q) {
  constexpr int W = Geometry<E, G>::W;
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(warps * warp_size);
  config.dynamicSmemBytes = by_products ? products_bytes<E, G> : sizeof(SharedMemory<E, W>);
  config.stream = stream_of(q);
  config.attrs = &attribute;
  config.numAttrs = blocks > 1 ? 1 : 0;
  Grid<E> grid = {};
  if constexpr (cooperative) {
    // a line for the counter, the sums, the row
    constexpr std::size_t line = 256;
    const std::size_t sums = 2 * std::size_t(blocks) * W;
    require(line + (sums + 2 * W) * sizeof(E) <= qr_panel_scratch_bytes, "qr_panel_native: ", blocks, " blocks");
    char* memory = static_cast<char*>(q.scratch(qr_panel_scratch_bytes));
    grid.count = reinterpret_cast<unsigned*>(memory);
    grid.sums = reinterpret_cast<E*>(memory + line);
    grid.row = grid.sums + sums;
    check(cudaMemsetAsync(grid.count, 0, sizeof(unsigned), config.stream), "qr_panel_native");
    allow_shared_memory(qr_panel_native_kernel<E, G, true>, q.device(), "qr_panel_native");
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
  } else {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = blocks;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  }
  check(cudaLaunchKernelEx(&config, qr_panel_native_kernel<E, G, cooperative>, panel, grid, by_products),
        "qr_panel_native");
  q.launched("qr_panel_native");
}

template <class E, int G>
void launch(const Panel<E>& panel, Queue& q, QrPanelSpread spread) {
  using Shape = Geometry<E, G>;
  const std::int64_t m = panel.A.rows;
  const auto [possible, possible_by_products] = blocks_possible<E, G>(q.device());
  // Block 0 holds the panel's first W rows.
  const int least_warps = static_cast<int>(ceil_div(Shape::W, Shape::rows_of_warp));
  int warps = spread.warps, blocks = spread.blocks;
  // the fewer rows a block has, the sooner it is done
  constexpr std::int64_t rows_by_products = 128;
  const bool by_products =
      !spread.by_columns && warps == 0 && blocks == 0 && by_products_at<E, G>(m, panel.A.cols, q.device());
  if (by_products) {
    warps = most_warps;
    blocks = static_cast<int>(std::clamp<std::int64_t>(ceil_div(m, rows_by_products),
                                                       ceil_div(m, warps * Shape::rows_of_warp), possible_by_products));
  }
  if (warps == 0) {
    warps = std::max(4, least_warps);
    if (m <= warps * Shape::rows_of_warp)
      warps = std::max(least_warps, static_cast<int>(ceil_div(m, Shape::rows_of_warp)));
    else if (m > std::int64_t(possible) * warps * Shape::rows_of_warp)
      warps = most_warps;
  }
  if (blocks == 0) blocks = static_cast<int>(ceil_div(m, warps * Shape::rows_of_warp));
  constexpr bool may_cooperate = G <= 4;
  require(m <= std::int64_t(blocks) * warps * Shape::rows_of_warp && warps <= most_warps && warps >= least_warps &&
              (blocks == 1 || warps >= cluster_warps) &&
              blocks <= (may_cooperate ? std::max(possible, multiprocessors(q.device())) : possible),
          "qr_panel_native: ", m, " rows in ", blocks, " blocks of ", warps, " warps");
  if constexpr (may_cooperate)
    if (blocks > possible) return launch_kernel<E, G, true>(panel, warps, blocks, false, q);
  launch_kernel<E, G, false>(panel, warps, blocks, by_products, q);
}

}  // namespace qr_panel

template <class T>
std::int64_t qr_panel_width(std::int64_t m, const Queue& q) {
  using E = device_t<T>;
  using namespace qr_panel;
  DeviceScope scope(q.device());
  const int device = q.device();
  // by products a strip of 32 complex columns is as much work as one of 64 real ones
  const bool narrow = is_complex<T> && blocks_possible<E, 4>(device).by_products > 0;
  if (!narrow && m <= rows_of_cluster<E, 8>(device)) return 64;
  if (m <= rows_of_cluster<E, 4>(device)) return 32;
  if (m <= rows_of_cluster<E, 2>(device)) return 16;
  if (m <= rows_of_cluster<E, 1>(device)) return 8;
  // the wider the fewer exchanges, the narrower the fewer multiprocessors are taken from the updates
  if (m <= rows_of_grid<E, 4>(device) / 4) return 32;
  if (m <= rows_of_grid<E, 2>(device) / 2) return 16;
  if (m <= rows_of_grid<E, 1>(device)) return 8;
  return 0;
}

template <class T>
bool qr_panel_by_products(std::int64_t m, std::int64_t w, const Queue& q) {
  using E = device_t<T>;
  using namespace qr_panel;
  DeviceScope scope(q.device());
  switch (groups_of(w)) {
    case 1:
      return by_products_at<E, 1>(m, w, q.device());
    case 2:
      return by_products_at<E, 2>(m, w, q.device());
    case 4:
      return by_products_at<E, 4>(m, w, q.device());
    case 8:
      return by_products_at<E, 8>(m, w, q.device());
    default:
      return false;
  }
}

template <class T>
void qr_panel_native(View<T> A, View<T> tau, View<T> V, View<T> Tri, Queue& q, QrPanelSpread spread) {
  using E = device_t<T>;
  if (A.empty()) return;
  DeviceScope scope(q.device());
  qr_panel::Panel<E> panel{block_of(A), block_of(V), V.rows - A.rows, block_of(Tri), vector_of(tau)};
  panel.V.data += panel.above;
  const int groups = spread.groups != 0 ? spread.groups : qr_panel::groups_of(A.cols);
  require(A.cols <= 8 * groups && A.cols <= A.rows, "qr_panel_native: the panel is ", A.rows, " x ", A.cols);
  switch (groups) {
    case 1:
      return qr_panel::launch<E, 1>(panel, q, spread);
    case 2:
      return qr_panel::launch<E, 2>(panel, q, spread);
    case 4:
      return qr_panel::launch<E, 4>(panel, q, spread);
    default:
      return qr_panel::launch<E, 8>(panel, q, spread);
  }
}

template <class T>
void qr_panel_native(View<T> A, View<T> tau, View<T> V, View<T> Tri, Queue& q) {
  qr_panel_native(A, tau, V, Tri, q, QrPanelSpread{});
}

#define DEVOBJ_INSTANTIATE_QR_PANEL(T)                                             \
  template std::int64_t qr_panel_width<T>(std::int64_t, const Queue&);             \
  template bool qr_panel_by_products<T>(std::int64_t, std::int64_t, const Queue&); \
  template void qr_panel_native<T>(View<T>, View<T>, View<T>, View<T>, Queue&);    \
  template void qr_panel_native<T>(View<T>, View<T>, View<T>, View<T>, Queue&, QrPanelSpread);

}  // namespace devobj::cuda
