// Multiprocessors that products leave to panels: those on which a panel's cluster has room.
#pragma once

#include <utility>

#include "devobj/matrix.hpp"
#include "kernels/device.hpp"
#include "kernels/native.hpp"

namespace devobj {

/// Of one GPU, for the products of one queue, one of which at a time may have them; or none.
class PanelPlaces {
 public:
  PanelPlaces() = default;
  /// None where there are no such clusters.
  explicit PanelPlaces([[maybe_unused]] Queue& q) {
    if constexpr (cuda_built) {
      Matrix<std::int32_t> memory(cuda::lu_panel_places + cuda::spared_counts, 1, q);
      if (!cuda::cluster_places(memory.data, cuda::lu_panel_places, q)) return;
      cuda::fill_bytes(counts_in(memory), 0, cuda::spared_counts * sizeof(std::int32_t), q.stream());
      memory_ = std::move(memory);
    }
  }
  explicit operator bool() const { return !memory_.empty(); }
  /// So many multiprocessors, these first.
  cuda::Spared spared(int count) const { return {count, memory_.data, counts_in(memory_)}; }

 private:
  static std::int32_t* counts_in(const Matrix<std::int32_t>& memory) { return memory.data + cuda::lu_panel_places; }
  Matrix<std::int32_t> memory_;
};

}  // namespace devobj
