// For tests of lu_panel: its shapes, their names, and a panel by one of them.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "factor_checks.hpp"
#include "kernels/native.hpp"

namespace devobj::test {

inline std::string name_of(const cuda::LuPanelShape& shape, std::int64_t m, std::int64_t n) {
  return shape_name(m, n) + ": " + std::to_string(shape.blocks) + " blocks of " + std::to_string(shape.threads) +
         " threads, " + std::to_string(shape.rows) + " rows per thread" + (shape.cluster ? ", cluster" : ", grid") +
         (shape.keeps_L ? "" : ", L not kept") + (shape.boxes ? "" : ", no boxes") +
         (shape.stacks ? "" : ", no stacks");
}

/// All that there are, and the one beside products, of which blocks may have no rows.
template <class T>
std::vector<cuda::LuPanelShape> shapes_for(std::int64_t m, std::int64_t n) {
  std::vector<cuda::LuPanelShape> shapes;
  if constexpr (cuda_built) {
    shapes = cuda::lu_panel_shapes<T>(m, n);
    for (std::size_t i = 0, count = shapes.size(); i < count; ++i) {
      if (shapes[i].threads == 32) continue;  // one warp eliminates: none of these
      for (const auto& [keeps_L, boxes, stacks] :
           {std::tuple{false, true, true}, {true, false, true}, {false, false, true}, {true, true, false}}) {
        if (!stacks && !std::is_same_v<T, std::complex<double>>) continue;
        shapes.push_back(shapes[i]);
        shapes.back().keeps_L = keeps_L;
        shapes.back().boxes = boxes;
        shapes.back().stacks = stacks;
      }
    }
    shapes.push_back(cuda::lu_panel_shape<T>(m, n, true));
  }
  return shapes;
}

template <class T>
cuda::LuPanelShape factor_panel(const cuda::LuPanelShape& shape, View<T> A, View<std::int32_t> ipiv,
                                View<std::int32_t> info, Queue& q) {
  Matrix<std::int32_t> lists(A.cols, 2, q);
  const Storage workspace(cuda::lu_panel_workspace<T>(A.cols), q);
  return cuda::lu_panel(A, ipiv, 0, info.data, {lists.view().data, lists.view().data + A.cols, A.cols},
                        const_cast<void*>(workspace.data()), shape, nullptr, q);
}

}  // namespace devobj::test
