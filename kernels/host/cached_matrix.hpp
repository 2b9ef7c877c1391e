// Memory that a call needs for itself alone, and the next call again.
#pragma once

#include <algorithm>
#include <cstdint>

#include "devObjCpp/environment.hpp"
#include "devObjCpp/memory.hpp"
#include "devobj/matrix.hpp"

namespace devobj::host {

/// A rows x cols matrix with ld = max(1, rows), not initialised, 64-byte aligned. Up to `most_cached` bytes it is from
/// the process's cache of buffers, since a system takes its time to give fresh pages. Work on it has ended when it is
/// destroyed. Error: out_of_memory.
template <class T>
class CachedMatrix : public View<T> {
 public:
  CachedMatrix(std::int64_t rows, std::int64_t cols, Queue& q) {
    const std::size_t bytes = checked_bytes(rows, cols, sizeof(T));
    if (bytes > most_cached || environment().check) {
      own_ = Matrix<T>(rows, cols, q);
      static_cast<View<T>&>(*this) = own_.view();
    } else {
      cached_ = PinnedBuffer(bytes, false);
      static_cast<View<T>&>(*this) = View<T>(cached_.as<T>(), rows, cols);
    }
  }

 private:
  static constexpr std::size_t most_cached = std::size_t{64} << 20;
  PinnedBuffer cached_;
  Matrix<T> own_;
};

}  // namespace devobj::host
