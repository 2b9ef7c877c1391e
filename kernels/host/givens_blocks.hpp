// What the rotations of a slab's columns are for the other slabs: I - V T V^H.
#pragma once

#include <cstdint>

#include "kernels/host/cached_matrix.hpp"
#include "kernels/host/slabs.hpp"

namespace devobj::host {

/// Blocks of reflectors: V in the place of a slab of A, from its first row on, and what belongs to it.
template <class T>
class GivensBlocks {
  using R = real_t<T>;
  static constexpr int P = Slabs<T>::P;
  static constexpr std::int64_t K = Slabs<T>::width, lines = K * line<R>;

 public:
  GivensBlocks(std::int64_t count, Queue& q) : memory_(3 * lines + line<R>, count, q) {}
  /// What belongs to block p is going to be written: its cache lines may be in other cores.
  void fetch(std::int64_t p) const { givens_kernels<R, P>().fetch(minus_T(p), 3 * K + 1); }
  R* minus_T(std::int64_t p) const { return memory_.data + p * memory_.ld; }
  R* minus_TH(std::int64_t p) const { return minus_T(p) + lines; }
  /// R's rows of slab p from its first row on.
  R* triangle(std::int64_t p) const { return minus_TH(p) + lines; }
  R* signs(std::int64_t p) const { return triangle(p) + lines; }

 private:
  const CachedMatrix<R> memory_;
};

}  // namespace devobj::host
